"""Random formulas built with `ltn.core`: one value and one gradient, eager, compiled, and compiled by XLA."""

import dataclasses
from collections import Counter
from typing import Any

import tensorflow as tf
from hypothesis import strategies as st

from ltn.language import parse
from tests.theory.built_with_core import closed_value
from tests.theory.by_loops import StableProductLoops
from tests.theory.random_formulas import closed_formulas
from tests.theory.worlds import World, declared, worlds
from tests.tolerance import assert_close

# Some fifty operations of float32 below a formula, which the forms order differently.
TOLERANCE = 1e-5
# Slopes pass through as many operations again, and grow towards truth 0 and 1: of the largest of them.
SLOPE_TOLERANCE = 1e-4


@dataclasses.dataclass(frozen=True)
class Case:
    """A formula in a world."""

    world: World
    formula: str

    def __repr__(self) -> str:
        return f"Case({self.world.name}, {self.formula!r})"


def formulas() -> st.SearchStrategy[Case]:
    """Closed formulas in the language of `worlds`, whose data may be empty."""
    return st.builds(Case, worlds(), closed_formulas().map(str))


def check(case: Case, counts: Counter[str]) -> None:
    """Compare all forms with each other, and the value with that of plain loops."""
    counts["formulas"] += 1
    tree = parse(case.formula)
    problem = declared(case.world, "stable_product")
    weights = problem.weights

    def evaluate(data: dict[str, tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            value = closed_value(problem, tree, data)
        slopes = tape.gradient(value, weights, unconnected_gradients="zero")
        return value, [tf.convert_to_tensor(slope) for slope in slopes]

    data = {name: tf.constant(values) for name, values in case.world.data.items()}
    value, slopes = evaluate(data)
    assert_close(value, StableProductLoops(case.world).truth(tree, {}), TOLERANCE, TOLERANCE)
    scale = max(1.0, *(float(tf.reduce_max(tf.abs(slope))) for slope in slopes))
    forms: tuple[dict[str, Any], ...] = ({"jit_compile": False}, {"jit_compile": True})
    for form in forms:
        compiled_value, compiled_slopes = tf.function(evaluate, autograph=False, **form)(data)
        assert_close(compiled_value, value, TOLERANCE, TOLERANCE)
        for compiled, slope in zip(compiled_slopes, slopes, strict=True):
            assert_close(compiled, slope, SLOPE_TOLERANCE, SLOPE_TOLERANCE * scale)
