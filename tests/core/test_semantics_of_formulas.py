"""Random formulas and the paper's worked numbers: tensors against plain loops."""

import math
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.language import parse
from tests.theory.built_with_core import closed_value
from tests.theory.by_loops import StableProductLoops
from tests.theory.random_formulas import closed_formulas, jumps
from tests.theory.worlds import World, declared, worlds
from tests.tolerance import assert_close

# Some fifty operations of float32 below a formula.
TOLERANCE = 1e-5
# Slopes pass through as many again, and grow towards truth 0 and 1: of the largest of them.
SLOPE_TOLERANCE = 1e-4


@given(world=worlds(), text=closed_formulas().map(str))
def test_values_agree_with_loops(world: World, text: str) -> None:
    problem = declared(world, "stable_product")
    value = closed_value(problem, parse(text), world.data)
    assert_close(value, StableProductLoops(world).truth(parse(text), {}), TOLERANCE, TOLERANCE)


@given(world=worlds(), text=closed_formulas().map(str), seed=st.integers(0, 99))
def test_gradients_agree_with_loops(world: World, text: str, seed: int) -> None:
    """Along a random direction, in which all that is learned moves at once."""
    problem, tree = declared(world, "stable_product"), parse(text)
    weights = {name: [weight.value for weight in found] for name, found in problem.parameters.items()}
    with tf.GradientTape() as tape:
        value = closed_value(problem, tree, world.data)
    found = tape.gradient(value, weights, unconnected_gradients="zero")
    found = {
        name: [tf.convert_to_tensor(slope).numpy() for slope in slopes] for name, slopes in found.items()
    }
    rng = np.random.default_rng(seed)
    direction = {name: [rng.normal(size=slope.shape) for slope in slopes] for name, slopes in found.items()}
    if jumps(tree):
        direction["constants"] = [np.zeros_like(way) for way in direction["constants"]]
    h = 1e-5
    above, below = (StableProductLoops(world.moved(direction, step)).truth(tree, {}) for step in (h, -h))
    slope = sum(np.sum(g * d) for name in found for g, d in zip(found[name], direction[name], strict=True))
    scale = max(1.0, *(float(np.max(np.abs(g))) for slopes in found.values() for g in slopes))
    assert_close(slope, (above - below) / (2.0 * h), SLOPE_TOLERANCE, SLOPE_TOLERANCE * scale)


def test_a_guard_differs_from_an_implication() -> None:
    """The paper's worked example: 0.833... for the implication, 0.75 for the guard."""
    x = ltn.Variable("x", [0, 1, 2])
    guard = ltn.Predicate.Lambda(lambda x: tf.gather([0.0, 1.0, 1.0], tf.cast(x[:, 0], tf.int32)))
    phi = ltn.Predicate.Lambda(lambda x: tf.gather([0.2, 0.7, 0.8], tf.cast(x[:, 0], tf.int32)))
    semantics = ltn.semantics.product.replace(Forall=ltn.fuzzy_ops.Aggreg_Mean())
    _, _, _, Implies, _, Forall, _, _ = semantics.wrap()
    assert_close(Forall(x, Implies(guard(x), phi(x))).tensor, (1 + 0.7 + 0.8) / 3)
    assert_close(Forall(x, phi(x), mask=guard(x)).tensor, 0.75)


def test_the_three_orders_of_quantification() -> None:
    """They agree for a bisymmetric aggregator, as a p-mean on a full grid, and differ for another."""
    values = np.array([[0.1, 0.9], [0.4, 0.2], [0.8, 0.6]])
    x, y = ltn.Variable("x", range(3)), ltn.Variable("y", range(2))
    phi = ltn.Formula(values, ["x", "y"])

    def three_orders(aggregator: Any) -> list[float]:
        Forall = ltn.Wrapper_Quantifier(aggregator, "forall")
        orders = (Forall((x, y), phi), Forall(x, Forall(y, phi)), Forall(y, Forall(x, phi)))
        return [float(formula.tensor) for formula in orders]

    bisymmetric = 1 - ((1 - values) ** 3).mean() ** (1 / 3)
    assert_close(three_orders(ltn.fuzzy_ops.Aggreg_pMeanError(p=3, stable=False)), [bisymmetric] * 3)
    errors = (1 - values) ** 2
    assert_close(
        three_orders(lambda xs, axis: 1.0 - tf.reduce_mean(tf.square(1.0 - xs), axis)),
        [1 - errors.mean(), 1 - (errors.mean(1) ** 2).mean(), 1 - (errors.mean(0) ** 2).mean()],
    )


def test_example_of_formulas_and_tensors() -> None:
    """The paper's example: f(x, y) = x y, p(x, y) = sigmoid(x + y), three values of x and two of y."""
    v, w = [0.5, 1.0, 2.0], [-0.3, -1.5]
    x, y = ltn.Variable("x", v), ltn.Variable("y", w)
    f = ltn.Function.Lambda(lambda args: args[0] * args[1])
    p = ltn.Predicate.Lambda(lambda args: tf.sigmoid(args[0] + args[1]))
    fxy, pxf = f([x, y]), p([x, f([x, y])])
    assert fxy.free_vars == pxf.free_vars == ["x", "y"]
    assert fxy.tensor.shape == (3, 2, 1)
    assert pxf.tensor.shape == (3, 2)
    for i, vi in enumerate(v):
        for j, wj in enumerate(w):
            assert_close(fxy.tensor[i, j, 0], vi * wj)
            assert_close(pxf.tensor[i, j], 1 / (1 + math.exp(-(vi + vi * wj))))


def test_a_function_may_have_features() -> None:
    f = ltn.Function.Lambda(lambda args: tf.concat(args, axis=1))
    x, y = ltn.Variable("x", np.ones((3, 2))), ltn.Variable("y", np.zeros((4, 3)))
    assert f([x, y]).tensor.shape == (3, 4, 5)
    assert f([y, x]).free_vars == ["y", "x"]


@pytest.mark.parametrize("name", ["stable_product", "product", "godel", "lukasiewicz"])
def test_python_operators_follow_the_semantics_in_force(name: str) -> None:
    a, b = ltn.Formula([0.2, 0.9], ["x"]), ltn.Formula([0.5, 0.6, 0.4], ["y"])
    Not, And, Or, Implies, Equiv, *_ = ltn.semantics.get(name).wrap()
    with ltn.using(name):
        pairs = [(~a, Not(a)), (a & b, And(a, b)), (a | b, Or(a, b)), (a >> b, Implies(a, b))]
        pairs.append((a.iff(b), Equiv(a, b)))
    for operator, wrapper in pairs:
        np.testing.assert_array_equal(operator.tensor, wrapper.tensor)
        assert operator.free_vars == wrapper.free_vars
