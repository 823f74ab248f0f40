"""Random formulas and the paper's worked numbers: tensors against plain loops."""

import math
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from tests.core.formulas import Grounding, Node, by_loops, by_ltn, formulas, groundings, is_guarded
from tests.tolerance import assert_close

# A sum over up to 5^4 combinations, each with some ten roundings.
GRADIENT_TOLERANCE = 1e-5


@st.composite
def problems(draw: st.DrawFn) -> tuple[Grounding, Node]:
    grounding = draw(groundings())
    return grounding, draw(formulas(grounding))


def value_and_gradients(grounding: Grounding, formula: Node, **compiled: Any) -> tuple[Any, list[Any]]:
    def evaluate(*tensors: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = by_ltn(formula, grounding.with_arrays(tensors))
        return value, tape.gradient(value, tensors, unconnected_gradients="zero")

    tensors = [tf.constant(array, tf.float32) for array in grounding.arrays()]
    function = tf.function(evaluate, **compiled) if compiled else evaluate
    value, gradients = function(*tensors)
    return value.numpy(), [gradient.numpy() for gradient in gradients]


def slopes(grounding: Grounding, formula: Node) -> list[Any]:
    """Central differences of the loops, exact to about 1e-8."""
    h = 1e-5
    arrays = [array.astype(np.float64) for array in grounding.arrays()]
    result = [np.zeros_like(array) for array in arrays]
    for k, array in enumerate(arrays):
        for index in np.ndindex(array.shape):
            values = []
            for step in (h, -h):
                moved = [other.copy() for other in arrays]
                moved[k][index] += step
                values.append(by_loops(formula, grounding.with_arrays(moved)))
            result[k][index] = (values[0] - values[1]) / (2.0 * h)
    return result


@given(problems())
def test_values_agree_with_loops(problem: tuple[Grounding, Node]) -> None:
    grounding, formula = problem
    value = by_ltn(formula, grounding)
    assert_close(value, by_loops(formula, grounding))


@given(problems())
def test_gradients_agree_with_loops(problem: tuple[Grounding, Node]) -> None:
    grounding, formula = problem
    _, gradients = value_and_gradients(grounding, formula)
    expected = slopes(grounding, formula)
    for k, (gradient, slope) in enumerate(zip(gradients, expected, strict=True)):
        # The first feature decides guards, where a central difference sees the jump of the selection.
        individuals = k < len(gradients) - 1
        smooth = np.s_[..., 1:] if individuals and is_guarded(formula) else np.s_[...]
        assert_close(gradient[smooth], slope[smooth], GRADIENT_TOLERANCE, GRADIENT_TOLERANCE)


@given(problems())
def test_eager_and_compiled_agree(problem: tuple[Grounding, Node]) -> None:
    value, gradients = value_and_gradients(*problem)
    for jit_compile in (False, True):
        compiled_value, compiled_gradients = value_and_gradients(*problem, jit_compile=jit_compile)
        assert_close(compiled_value, value)
        for compiled, gradient in zip(compiled_gradients, gradients, strict=True):
            assert_close(compiled, gradient, GRADIENT_TOLERANCE, GRADIENT_TOLERANCE)


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
