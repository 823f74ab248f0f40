"""Every operator computes what the paper defines, however it is called."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn import fuzzy_ops as fo
from tests.fuzzy_ops import cases
from tests.fuzzy_ops import reference as ref
from tests.fuzzy_ops.cases import (
    AGGREGATORS,
    CONNECTIVES,
    COUNTS,
    ON_LOG_TRUTHS,
    POWER_MEANS,
    POWERS,
    AggregatorCase,
)
from tests.tolerance import assert_close


def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray[Any, Any]:
    # float32, so that operator and reference see the same numbers: comparisons as x <= y have to agree.
    return np.random.default_rng(len(shape)).uniform(low, high, shape).astype(np.float32)


DEGREES = np.concatenate([np.array([0.0, 1.0, 0.5, 1e-6, 1.0 - 1e-6], np.float32), uniform(18)])
CUBE = uniform(3, 4, 5)
CUBE[0, 0], CUBE[0, 1], CUBE[1, :2, 3] = 0.0, 1.0, [0.0, 1.0]

connectives = pytest.mark.parametrize(("operator", "reference"), CONNECTIVES.values(), ids=CONNECTIVES.keys())
ON_NUMBERS = {**AGGREGATORS, **ON_LOG_TRUTHS, **COUNTS}
aggregators = pytest.mark.parametrize("case", ON_NUMBERS.values(), ids=ON_NUMBERS.keys())


def operands(operator: Any, xs: Any, ys: Any) -> tuple[Any, ...]:
    return (xs, ys)[: operator.arity]


@pytest.mark.parametrize(
    ("kind", "covered"),
    [
        (fo.Connective, {type(operator) for operator, _ in CONNECTIVES.values()}),
        (fo.Aggregator, {type(case.operator) for case in AGGREGATORS.values()}),
    ],
)
def test_every_public_operator_has_a_definition_here(kind: type, covered: set[type]) -> None:
    assert covered == cases.public_operators(kind)


def test_projections() -> None:
    assert fo.eps == ref.EPS
    assert_close(fo.not_zeros(DEGREES), [ref.project_from_zero(float(x)) for x in DEGREES])
    assert_close(fo.not_ones(DEGREES), [ref.project_from_one(float(x)) for x in DEGREES])


@connectives
def test_connective_on_all_pairs_by_broadcasting(operator: Any, reference: ref.Connective) -> None:
    pair = operands(operator, DEGREES[:, None], DEGREES[None, :])
    assert_close(operator(*pair), ref.elementwise(reference, *pair))


@pytest.mark.parametrize(("x", "y"), [((3, 1), (2, 1, 4)), ((), (3,)), ((0, 2), (1, 2))], ids=str)
@connectives
def test_connective_broadcasts_as_numpy(
    operator: Any, reference: ref.Connective, x: tuple[int, ...], y: tuple[int, ...]
) -> None:
    pair = operands(operator, uniform(*x), uniform(*y))
    value, expected = operator(*pair), ref.elementwise(reference, *pair)
    assert tuple(value.shape) == expected.shape
    assert_close(value, expected)


@pytest.mark.parametrize(
    ("s", "b0"), [(0.01, -0.5), (1.0, -2.0), (1.0, 1.0), (9.0, -0.5), (9.0, 0.0), (9.0, 1.0), (100.0, -0.5)]
)
def test_sigmoidal_is_exact_for_any_slope_and_offset(s: float, b0: float) -> None:
    pair = DEGREES[:, None], DEGREES[None, :]
    value = fo.Implies_Sigmoidal(fo.Implies_Reichenbach(stable=False), s, b0)(*pair)
    # The steepest sigmoid multiplies the rounding of its argument by s.
    assert_close(value, ref.elementwise(ref.sigmoidal(ref.reichenbach, s, b0), *pair), atol=2e-6 + 1e-7 * s)


# Some with the reduced axes kept, some without.
AXES = [(None, 0), (None, 1), (0, 0), (-1, 1), ((0, 2), 1), ((-1, 0), 0), ([1, 2], 0)]


@pytest.mark.parametrize(("axis", "keepdims"), AXES, ids=str)
@aggregators
def test_aggregator_along_axes(case: AggregatorCase, axis: Any, keepdims: int) -> None:
    value = case.operator(CUBE, axis=axis, keepdims=bool(keepdims))
    expected = ref.aggregate(case.reference, CUBE, case.of_nothing, axis, bool(keepdims))
    assert tuple(value.shape) == expected.shape
    assert_close(value, expected)


def test_axis_may_be_a_numpy_integer() -> None:
    assert_close(fo.Aggreg_Mean()(CUBE, axis=np.int64(1)), CUBE.mean(1))


def test_no_axis_keeps_every_size() -> None:
    # As in NumPy, axis=() aggregates each value alone: axes of size 1 are not the aggregator's to drop.
    value = fo.Aggreg_Mean()(CUBE[:1], axis=())
    assert tuple(value.shape) == (1, 4, 5)
    assert_close(value, CUBE[:1])


@pytest.mark.parametrize("given", [float, tf.constant], ids=["number", "tensor"])
@pytest.mark.parametrize("case", POWER_MEANS.values(), ids=POWER_MEANS.keys())
def test_power_means_for_every_p(case: AggregatorCase, given: Callable[[float], Any]) -> None:
    value = case.operator(CUBE, axis=2, p=given(float(case.operator.p)))
    assert_close(value, ref.aggregate(case.reference, CUBE, case.of_nothing, 2))


@pytest.mark.parametrize(("size", "p"), [(1e-2, 100), (1e-3, 20), (1e-4, 100), (1e-7, 20), (1e-7, 100)])
@pytest.mark.parametrize("stable", [True, False])
def test_powers_that_underflow(size: float, p: float, stable: bool) -> None:
    xs = uniform(10, high=size)
    assert np.all(xs**p == 0.0)  # so that the definition as written would give 0
    # Relative, without absolute slack: the values are tiny themselves.
    assert_close(fo.Aggreg_pMean(p, stable)(xs), ref.power_mean(p, stable)(xs.tolist()), atol=0.0)
    # Near 1 a float32 is a multiple of 6e-8, so the errors are taken as the operator receives them.
    near_one = np.float32(1.0) - xs
    expected = ref.power_mean_error(p, stable)(near_one.tolist())
    assert_close(fo.Aggreg_pMeanError(p, stable)(near_one), expected)


@pytest.mark.parametrize("p", [100.0, 1e3, 1e4])
def test_large_p_approaches_maximum_and_minimum(p: float) -> None:
    xs = uniform(200, 8).astype(np.float64)
    # The largest of n values alone gives max * n^(-1/p), all of them together at most max.
    slack = 1.0 - 8 ** (-1.0 / p)
    above = fo.Aggreg_pMean(stable=False)(xs, axis=1, p=p).numpy()
    below = fo.Aggreg_pMeanError(stable=False)(xs, axis=1, p=p).numpy()
    assert np.all(above <= xs.max(1) + 1e-12)
    assert np.all(above >= xs.max(1) - slack)
    assert np.all(below >= xs.min(1) - 1e-12)
    assert np.all(below <= xs.min(1) + slack)


FULL = uniform(3, 4, 5, low=-0.6, high=0.4) < 0.0
FULL[1, 2], FULL[2, :, 1] = False, False
MASKS: dict[str, tuple[Any, Any]] = {
    "same shape, all axes": (FULL, None),
    "same shape, one axis": (FULL, -1),
    "same shape, two axes": (FULL, (0, 1)),
    "numbers": (FULL.astype(np.float32), -1),
    "broadcast": (np.array([[True], [False], [True], [True]]), -1),
    "broadcast, reduced": (np.array([[True], [False], [True], [True]]), 1),
    "first axis": (np.array([True, False, True]).reshape(3, 1, 1), (0, 1)),
    # The axis counts in the broadcast shape, here (2, 3, 4, 5).
    "more axes": (np.array([True, False]).reshape(2, 1, 1, 1), 3),
    "more axes, reduced": (np.array([True, False]).reshape(2, 1, 1, 1), (0, 2)),
    "nothing": (False, None),
    "everything": (True, 0),
}


@pytest.mark.parametrize(("mask", "axis"), MASKS.values(), ids=MASKS.keys())
@aggregators
def test_mask_selects(case: AggregatorCase, mask: Any, axis: Any) -> None:
    value = case.operator(CUBE, axis=axis, mask=mask)
    expected = ref.aggregate(case.reference, CUBE, case.of_nothing, axis, mask=mask)
    assert tuple(value.shape) == expected.shape
    assert_close(value, expected)


@pytest.mark.parametrize("outside", [np.nan, np.inf, -np.inf, 7.0])
@aggregators
def test_values_outside_the_mask_have_no_influence(case: AggregatorCase, outside: float) -> None:
    value = case.operator(np.where(FULL, CUBE, np.float32(outside)), axis=2, mask=FULL)
    assert_close(value, case.operator(CUBE, axis=2, mask=FULL), rtol=0.0, atol=0.0)


@aggregators
def test_empty_selection(case: AggregatorCase) -> None:
    # Of nothing an operator gives the truth value of its quantifier, or the logarithm of it.
    log = isinstance(case.operator, fo.Aggreg_LogProd | cases.OfLogs)
    for override, expected in ((None, case.of_nothing), (0.25, np.log(0.25) if log else 0.25)):
        calls = [
            case.operator(np.zeros((3, 0), np.float32), axis=1, empty=override),
            case.operator(CUBE[..., 0], axis=1, mask=False, empty=override),
        ]
        for value in calls:
            assert tuple(value.shape) == (3,)
            assert_close(value, np.full(3, expected))


@pytest.mark.parametrize(("operator", "expected"), [(fo.Aggreg_pMean(), 0.0), (fo.Aggreg_pMeanError(), 1.0)])
def test_power_means_of_nothing_are_those_of_their_quantifier(operator: Any, expected: float) -> None:
    assert float(operator(np.zeros((0,)))) == expected
    assert operator(np.zeros((2, 0, 0)), axis=(1, 2), keepdims=True).numpy().tolist() == [[[expected]]] * 2


@connectives
def test_connective_dtypes(operator: Any, reference: ref.Connective) -> None:
    double = operator(*operands(operator, DEGREES.astype(np.float64), np.float32(0.3)))
    assert double.dtype == tf.float64
    # Exact to float64 precision, hence not computed in float32 on the way.
    expected = ref.elementwise(reference, *operands(operator, DEGREES, np.float32(0.3)))
    assert_close(double, expected, rtol=1e-12, atol=1e-12)
    for pair in [(1, 0), (True, False), (1.0, 0.0), (np.int64(1), np.bool_(False)), ([1], [0.0])]:
        value = operator(*operands(operator, *pair))
        assert value.dtype == tf.float32
        assert_close(value, ref.elementwise(reference, *operands(operator, *pair)))


@aggregators
def test_aggregator_dtypes(case: AggregatorCase) -> None:
    double = case.operator(CUBE[1:].astype(np.float64), axis=(0, 2), mask=FULL[1:])
    assert double.dtype == tf.float64
    expected = ref.aggregate(case.reference, CUBE[1:], case.of_nothing, (0, 2), mask=FULL[1:])
    assert_close(double, expected, rtol=1e-12, atol=1e-12)
    for xs in ([1, 1], [True, True], [1.0, 1.0], np.array([1, 1], np.int64)):
        value = case.operator(xs)
        assert value.dtype == tf.float32
        assert_close(value, case.reference([1.0, 1.0]))


@pytest.mark.parametrize("p", [1.1, tf.constant(1.1, tf.float64)], ids=["number", "tensor"])
def test_p_keeps_the_precision_of_the_values(p: Any) -> None:
    # 1.1 is no float32: rounded to one on the way, it would be wrong from the eighth digit on.
    xs = CUBE.astype(np.float64)
    assert_close(fo.Aggreg_pMean(p)(xs), ref.power_mean(1.1, True)(xs.ravel().tolist()), rtol=1e-12, atol=0.0)


def test_sigmoidal_keeps_the_precision_of_the_values() -> None:
    value = fo.Implies_Sigmoidal(fo.Implies_Luk(), s=9.3, b0=-0.7)(np.float64(0.8), np.float64(0.1))
    expected = ref.sigmoidal(ref.lukasiewicz_implication, 9.3, -0.7)(0.8, 0.1)
    assert_close(value, expected, rtol=1e-12, atol=0.0)


def test_truth_values_stay_in_the_unit_interval() -> None:
    # Not even by rounding: one step above 1 is negative once negated, and a power of it NaN.
    xs, ys = uniform(2, 30000)
    xs[::3], ys[1::3], ys[2::3] = 1.0, 1.0, 1.0 - 1e-6 * ys[2::3]
    rows = np.stack([xs, ys, 1.0 - 1e-6 * xs], axis=1)
    values = [operator(*operands(operator, xs, ys)) for operator, _ in CONNECTIVES.values()]
    truths = [case for name, case in AGGREGATORS.items() if not name.startswith("logprod")]
    values += [case.operator(rows, axis=1) for case in [*truths, *POWER_MEANS.values()]]
    assert np.min(np.stack(values)) >= 0.0
    assert np.max(np.stack(values)) <= 1.0


def value_and_gradients(function: Callable[..., tf.Tensor], *tensors: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = function(*tensors)
    return [value, *tape.gradient(value, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO)]


def assert_modes_agree(function: Callable[..., tf.Tensor], *tensors: tf.Tensor) -> None:
    eager = value_and_gradients(function, *tensors)
    for jit in (False, True):
        graph = tf.function(lambda *ts: value_and_gradients(function, *ts), autograph=False, jit_compile=jit)
        for actual, expected in zip(graph(*tensors), eager, strict=True):
            # XLA has its own approximation of pow and fuses operations: a few float32 digits more.
            assert_close(actual, expected, rtol=2e-5, atol=5e-6)


@pytest.mark.parametrize("operator", [operator for operator, _ in CONNECTIVES.values()], ids=CONNECTIVES)
def test_connective_agrees_eager_graph_and_xla(operator: Any) -> None:
    assert_modes_agree(operator, *operands(operator, *interior_pairs(1)))


@aggregators
def test_aggregator_agrees_eager_graph_and_xla(case: AggregatorCase) -> None:
    xs = tf.constant(CUBE[1:] * 0.9 + 0.05)
    assert_modes_agree(lambda xs: case.operator(xs, axis=2, mask=FULL[1:]), xs)


def interior_pairs(seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Pairs inside the unit square and away from x = y and x + y = 1, where the operators have kinks."""
    xs, ys = np.random.default_rng(seed).uniform(0.02, 0.98, (2, 60)).astype(np.float32)
    smooth = (abs(xs - ys) > 0.01) & (abs(xs + ys - 1.0) > 0.01)
    return tf.constant(xs[smooth]), tf.constant(ys[smooth])


@connectives
def test_connective_gradient(operator: Any, reference: ref.Connective) -> None:
    pair = operands(operator, *interior_pairs(2))
    _, *gradients = value_and_gradients(operator, *pair)
    points = zip(*(tensor.numpy().astype(float) for tensor in pair), strict=True)
    expected = np.array([ref.gradient(reference, *point) for point in points])
    # Slopes up to 10, after a sigmoid or a quotient of slope as much.
    assert_close(np.stack(gradients, 1), expected, rtol=2e-5, atol=2e-5)


EVERY_AGGREGATOR = {**ON_NUMBERS, **POWER_MEANS}


@pytest.mark.parametrize("case", EVERY_AGGREGATOR.values(), ids=EVERY_AGGREGATOR.keys())
def test_aggregator_gradient(case: AggregatorCase) -> None:
    # One row nearly false, one in between, one nearly true: on both sides of the Lukasiewicz kinks.
    ranges = [(0.01, 0.15), (0.2, 0.8), (0.85, 0.99)]
    rows = np.stack([uniform(6, low=low, high=high) for low, high in ranges])
    _, gradients = value_and_gradients(lambda xs: case.operator(xs, axis=1), tf.constant(rows))
    expected = [ref.gradient(lambda *xs: case.reference(xs), *row) for row in rows.astype(float).tolist()]
    # 1 - x loses digits as x tends to 1, and the power 100 multiplies the relative error that this leaves.
    assert_close(gradients, expected, rtol=2e-6 * (1.0 + max(POWERS)), atol=2e-6)
