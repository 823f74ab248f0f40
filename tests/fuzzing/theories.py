"""Random theories: each is evaluated and trained in every form, saved and loaded, to equal numbers.

The forms are eager, compiled, and compiled by XLA. Their numbers differ by roundings alone, which the
tolerances allow for.
"""

import dataclasses
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

import ltn
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge.data import read_batch
from tests.fuzzing.texts import assert_truths
from tests.fuzzy_ops.cases import AGGREGATORS, CONNECTIVES, LOG_AGGREGATORS
from tests.theory.random_formulas import closed_formulas, with_options_of
from tests.theory.worlds import Array, World, declared, worlds
from tests.tolerance import assert_close

# Some fifty operations of float32 below a formula, which the forms order differently; truths near 1 whose
# negation has lost five of its digits.
TOLERANCE = 1e-4
# Slopes pass through as many operations again, and grow towards truth 0 and 1: of the largest of them.
STEP_TOLERANCE = 1e-3
# By gradient descent alone: other optimizers divide a slope by its own size, roundings included.
RATE = 0.1
FORMS: dict[str, dict[str, Any]] = {
    "eager": {"run_eagerly": True},
    "compiled": {"jit_compile": False},
    "XLA": {"jit_compile": True},
}

QUANTIFYING = ("Forall", "Exists", "SatAgg")
# What each symbol of a semantics may be, by the names of the cases.
CHOICES: dict[str, tuple[str, ...]] = {
    "Not": ("not standard", "not godel"),
    "And": ("and min", "and prod", "and prod stable", "and luk"),
    "Or": ("or max", "or probsum", "or probsum stable", "or luk"),
    "Implies": (
        *("kleene-dienes", "godel", "reichenbach", "reichenbach stable", "goguen", "goguen stable", "luk"),
        *("sigmoidal", "sigmoidal steep"),
    ),
    "Equiv": ("equiv luk", "equiv stable"),
    **dict.fromkeys(QUANTIFYING, tuple(name for name in AGGREGATORS if "log" not in name)),
}
LOG_CHOICES = {
    "Exists": ("logmeanexp", "logmeanexp p=3", "logsumodds p=3"),
}
PRESETS = ("stable_product", "product", "godel", "lukasiewicz", "log_product")


def semantics_of(preset: str, operators: Sequence[tuple[str, str]]) -> Any:
    """A preset in which some symbols have other operators, by the names of their cases."""
    aggregators = AGGREGATORS | LOG_AGGREGATORS
    changed = {
        symbol: aggregators[name].operator if symbol in QUANTIFYING else CONNECTIVES[name][0]
        for symbol, name in operators
    }
    return ltn.semantics.get(preset).replace(**changed)


@dataclasses.dataclass(frozen=True)
class Case:
    """A theory and the data that it is trained on.

    Attributes:
        world: the groundings and the data.
        preset: the name of a semantics.
        operators: the operators that replace some of its own, by symbol; each by the name of its case.
        axioms: their texts.
        weights: their weights, numbers or "learned".
        chunk: how many combinations a quantifier evaluates at once, or None.
        weighted: whether the rows of the data have weights.
    """

    world: World
    preset: str
    operators: tuple[tuple[str, str], ...]
    axioms: tuple[str, ...]
    weights: tuple[float | str, ...]
    chunk: int | None
    weighted: bool

    def __repr__(self) -> str:
        fields = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        parts = (f"{name}={value.name if name == 'world' else repr(value)}" for name, value in fields)
        return f"Case({', '.join(parts)})"

    @property
    def semantics(self) -> Any:
        """The operators."""
        return semantics_of(self.preset, self.operators)

    def theory(self) -> ltn.Theory:
        """The theory with its axioms."""
        theory = declared(self.world, self.semantics).theory
        theory.chunk = self.chunk
        for number, (axiom, weight) in enumerate(zip(self.axioms, self.weights, strict=True)):
            theory.axiom(axiom, f"axiom_{number}", weight)
        return theory

    @property
    def data(self) -> dict[str, Array]:
        """What is given for each row; y has individuals of its own."""
        return {name: values for name, values in self.world.data.items() if name != "y"}

    @property
    def rows(self) -> int:
        """How many rows the data have."""
        return len(self.data["x"])

    @property
    def row_weights(self) -> Array | None:
        """How often each row counts."""
        return np.array([1.0, 0.0, 2.5, 0.5])[: self.rows] if self.weighted else None


@st.composite
def theories(draw: st.DrawFn, most: int = 3) -> Case:
    """Any theory in the language of `worlds`, under any operators, of so many axioms at most."""
    preset = draw(st.sampled_from(PRESETS))
    choices = LOG_CHOICES if preset == "log_product" else CHOICES
    symbols = draw(st.lists(st.sampled_from(list(choices)), max_size=3, unique=True))
    operators = tuple((symbol, draw(st.sampled_from(choices[symbol]))) for symbol in symbols)
    semantics = semantics_of(preset, operators)
    trees = draw(st.lists(closed_formulas(), min_size=1, max_size=most))
    weights: st.SearchStrategy[float | str] = st.sampled_from([1.0, 1.0, 2.5, 0.0, "learned"])
    return Case(
        draw(worlds(fewest=1)),
        preset,
        operators,
        tuple(str(with_options_of(semantics, tree)) for tree in trees),
        tuple(draw(weights) for _ in trees),
        draw(st.sampled_from([None, None, None, 1, 5])),
        draw(st.sampled_from([False, False, True])),
    )


def check(case: Case, counts: Counter[str]) -> None:
    """Evaluate, save, load and train a theory."""
    theory = case.theory()
    tally(theory, case, counts)
    with as_written():
        expected = numbers(theory(case.data))
    for value in expected.values():
        assert_truths(value)
    check_file(theory, case, expected)
    start = theory.get_weights()
    logs, steps = {}, {}
    for form, settings in FORMS.items():
        theory.set_weights(start)
        logs[form], steps[form] = trained(theory, case, settings)
    theory.set_weights(start)
    if case.row_weights is None:
        compare(logs["eager"], {name: value[0] for name, value in expected.items()})
    for form in ("compiled", "XLA"):
        compare(logs[form], logs["eager"])
    for form in ("compiled", "XLA"):
        compare_steps(steps[form], steps["eager"])


def tally(theory: ltn.Theory, case: Case, counts: Counter[str]) -> None:
    """Count what occurs in a theory, to see that a search has seen all of it."""
    counts["theories"] += 1
    counts[f"under {case.preset}"] += 1
    for symbol, name in case.operators:
        counts[f"with {symbol} {name}"] += 1
    trees = [axiom.tree for axiom in theory.axiom_list if axiom.tree is not None]
    for kind in {type(node).__name__ for tree in trees for node in tree.walk()}:
        counts[f"with a node {kind}"] += 1
    data = {name: tf.constant(values) for name, values in case.data.items()}
    plan = theory.evaluation(theory.space, read_batch(theory.signature, data), chunk=case.chunk).plan(trees)
    for module in {type(step).__module__ for step in plan.steps}:
        if "guards" in module:
            counts[f"with tuples of {module.rpartition('.')[2]} guards"] += 1


def numbers(values: dict[str, Any]) -> dict[str, Array]:
    """The values as arrays."""
    return {name: np.asarray(value) for name, value in values.items()}


def check_file(theory: ltn.Theory, case: Case, expected: dict[str, Array]) -> None:
    """The theory that was saved and loaded has the same weights and the same values, bit by bit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "theory.keras"
        theory.save(path)
        loaded = ltn.load(path)
    for mine, theirs in zip(loaded.get_weights(), theory.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    with as_written():
        found = numbers(loaded(case.data))
    assert list(found) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def trained(theory: ltn.Theory, case: Case, settings: dict[str, Any]) -> tuple[dict[str, float], list[Array]]:
    """The logs of one step, and by how much it moves each weight."""
    before = theory.get_weights()
    theory.compile(keras.optimizers.SGD(RATE), **settings)
    history = theory.fit(
        case.data, batch_size=case.rows, epochs=1, shuffle=False, sample_weight=case.row_weights, verbose=0
    )
    logs = {name: value for name, [value] in history.history.items()}
    assert np.all(np.isfinite(list(logs.values()))), logs
    moves = [after - start for after, start in zip(theory.get_weights(), before, strict=True)]
    assert all(np.all(np.isfinite(move)) for move in moves), "weights that are not finite"
    return logs, moves


def compare(found: dict[str, float], expected: dict[str, float]) -> None:
    """The same truths."""
    for name, value in expected.items():
        assert_close(found[name], value, TOLERANCE, TOLERANCE)


def compare_steps(found: Sequence[Array], expected: Sequence[Array]) -> None:
    """The same moves of the weights."""
    scale = max(1.0, *(float(np.max(np.abs(move))) for move in expected))
    for mine, theirs in zip(found, expected, strict=True):
        assert_close(mine, theirs, STEP_TOLERANCE, STEP_TOLERANCE * RATE * scale)
