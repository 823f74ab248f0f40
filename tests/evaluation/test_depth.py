"""Formulas of any depth: they are planned, evaluated and trained without recursion."""

import keras
import numpy as np
import pytest

import ltn
from ltn.evaluation.frames import Frames
from ltn.language.syntax import Binary
from ltn.language.tree import Node
from tests.tolerance import assert_close

# Far beyond what Python's recursion allows.
LEVELS = 5000
POINTS = [[0.1, 0.2], [0.3, 0.4]]


def theory_of(semantics: str, text: str) -> ltn.Theory:
    theory = ltn.Theory(semantics)
    points = theory.domain("points", shape=2)
    theory.variables("x, y", points, POINTS)
    theory.predicate("P", points, ltn.Predicate.MLP([2], (2,)))
    theory.proposition("A", 0.25, trainable=True)
    theory.axiom(text, name="deep")
    return theory


def implications(levels: int) -> str:
    """`(P(x) -> (P(x) -> ... A))`."""
    return f"forall x: {'(P(x) -> ' * levels}A{')' * levels}"


def test_implications_are_evaluated_and_trained_eagerly() -> None:
    theory = theory_of("product", implications(LEVELS))
    truths = theory.query("P(x)").tensor.numpy().astype(float)
    value = np.full(2, 0.25)
    for _ in range(LEVELS):
        value = 1.0 - truths + truths * value
    expected = 1.0 - np.sqrt(np.mean((1.0 - value) ** 2))
    assert_close(theory.report().satisfaction[0], expected, rtol=1e-4)  # float32, thousands of operations
    theory.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    theory.fit(verbose=0)
    assert all(np.isfinite(weight).all() for weight in theory.get_weights())


def test_gradients_reach_the_bottom() -> None:
    theory = theory_of("product", f"{'~' * LEVELS}A")
    theory.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    theory.fit(verbose=0)
    # The loss is 1 - A: its slope is -1.
    assert_close(theory.query("A").tensor, 0.75)


def test_in_log_space_the_normal_form_may_be_deep() -> None:
    theory = theory_of("log_product", f"forall x: {'(~P(x) & (A | ' * 1000}A{'))' * 1000}")
    assert np.isfinite(theory.report().satisfaction[0])


def test_in_log_space_trees_are_not_compared_level_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal trees that are not the same each level is compared with all below it: quadratic time."""
    compared = []
    equal = Node.__eq__

    def compare(one: Node, other: object) -> bool:
        compared.append(isinstance(one, Binary) and one is not other)
        return equal(one, other)

    theory = theory_of("log_product", f"forall x: {'(P(x) <-> ' * 100}A{')' * 100}")
    monkeypatch.setattr(Node, "__eq__", compare)
    theory.report()
    assert sum(compared) < 10


def test_compiled_training_is_not_limited_by_the_recursion_of_python() -> None:
    # As 5000 levels are, in a minute; TensorFlow takes its time for each operation and its gradient.
    theory = theory_of("product", implications(400))
    theory.compile(keras.optimizers.SGD(0.5))
    history = theory.fit(epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()


def test_terms_are_as_deep_as_formulas() -> None:
    theory = ltn.Theory("product")
    numbers = theory.domain("numbers")
    theory.variable("n", numbers, [0.0, 1.0])
    deep = f"{'(n + ' * LEVELS}n{')' * LEVELS}"
    assert_close(theory.query(deep).tensor[:, 0], [0.0, LEVELS + 1.0])


def test_quantifiers_may_be_nested_as_deep_as_there_are_variables() -> None:
    levels = 300
    theory = ltn.Theory("godel")
    points = theory.domain("points", shape=2)
    names = [f"x{number}" for number in range(levels)]
    for name in names:
        theory.variable(name, points, POINTS)
    theory.predicate("P", points, ltn.Predicate.MLP([2], (2,)))
    text = "".join(f"forall {name}: P({name}) & (" for name in names) + f"P({names[0]})" + ")" * levels
    least = np.min(theory.query("P(x0)").tensor)
    assert_close(float(theory.query(text)), least)


def test_guards_may_be_nested_as_deep() -> None:
    """Each guard draws tuples from those of the one before; the first variable is looked for in all of them.

    That takes time quadratic in the number of guards.
    """
    frames = Frames(lambda variable: None)
    frame = {"x": frames.bind(["x"])}
    for level in range(1100):
        frame |= {"y": frames.bind([f"y{level}"])}
        label = frames.add(level, list(frame.values()), frame, None, None).label
        frame = {"x": label}
    assert frames.place(frame) == {"x": "x"}
