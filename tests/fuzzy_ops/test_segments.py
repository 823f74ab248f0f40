"""Aggregation by segment gives what a mask gives on the same values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn import fuzzy_ops as fo
from ltn.errors import LogicTypeError, LogicValueError
from tests.fuzzy_ops.cases import AGGREGATORS, COUNTS, ON_LOG_TRUTHS, AggregatorCase, OfLogs
from tests.fuzzy_ops.traces import traces_of
from tests.tolerance import assert_close

Array = np.ndarray[Any, Any]
Function = Callable[[tf.Tensor], tf.Tensor]

CASES = AGGREGATORS | ON_LOG_TRUTHS | COUNTS
aggregators = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
# Together they use every statistic: both extremes, product, sum, mean, and the largest value spread out.
FEW: list[Any] = [fo.Aggreg_Min(), fo.Aggreg_ProbSum(), fo.Aggreg_OrLuk(), fo.Aggreg_pMean(6, stable=False)]
FEW += [fo.Aggreg_LogMeanExp(p=3), OfLogs(fo.Aggreg_LogSumOdds())]


def table(seed: int) -> tuple[Array, Array]:
    """Values (rows, columns, features) with ties and ends, and a mask (rows, columns); two rows are empty."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.02, 0.98, (6, 7, 3)).astype(np.float32)
    # Ties among the extremes of row 1, and single and double zeros and ones in rows 2 and 3.
    values[1, :5] = 0.25
    values[2, 0, 0], values[2, :2, 1], values[3, 1, 0], values[3, 1:3, 1] = 0.0, 0.0, 1.0, 1.0
    mask = rng.random((6, 7)) < 0.4
    mask[[0, 4]], mask[1:4, :3] = False, True
    return values, mask


def both(
    operator: Any, axis: tuple[int, ...], seed: int, **kwargs: Any
) -> tuple[Function, Function, tf.Tensor]:
    """The dense masked form and the segmented one, as functions of one table of values."""
    values, mask = table(seed)
    chosen = np.argwhere(mask)

    def dense(xs: tf.Tensor) -> tf.Tensor:
        return operator(xs, axis=(1, *(a + 1 for a in axis)), mask=mask[..., np.newaxis], **kwargs)

    def segmented(xs: tf.Tensor) -> tf.Tensor:
        return operator.segments(tf.gather_nd(xs, chosen), chosen[:, 0], len(mask), axis, **kwargs)

    return dense, segmented, tf.constant(values)


def value_and_gradients(function: Callable[..., tf.Tensor], *tensors: tf.Tensor) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = function(*tensors)
        # Different for every cell of the result, so that none can take another's gradient.
        cells = tf.cast(tf.reshape(tf.range(tf.size(value)), tf.shape(value)) + 1, value.dtype)
        weighted = tf.reduce_sum(value * cells)
    slopes = tape.gradient(weighted, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [value, *slopes]


def assert_agree(actual: list[tf.Tensor], expected: list[tf.Tensor]) -> None:
    for got, wanted in zip(actual, expected, strict=True):
        assert got.shape == wanted.shape
        assert np.all(np.isfinite(wanted))
        # Sums in another order, times factors up to 18.
        assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@aggregators
def test_values_and_gradients_are_those_of_the_mask(case: AggregatorCase) -> None:
    for seed, axis, empty in ((0, (), None), (1, (1,), 0.25)):
        dense, segmented, xs = both(case.operator, axis, seed, empty=empty)
        if isinstance(case.operator, fo.Aggreg_LogProd):
            xs = tf.maximum(xs, 0.02)  # the logarithm of 0 has no gradient in either form
        expected = value_and_gradients(dense, xs)
        in_graph = tf.function(lambda xs, f=segmented: value_and_gradients(f, xs), autograph=False)
        # One in each mode: what runs is the same.
        assert_agree(in_graph(xs) if axis else value_and_gradients(segmented, xs), expected)


@pytest.mark.parametrize(
    "operator",
    [fo.Aggreg_pMean(), fo.Aggreg_pMeanError(), fo.Aggreg_LogMeanExp(), OfLogs(fo.Aggreg_LogSumOdds())],
    ids=str,
)
def test_p_is_a_number_or_a_tensor_and_learns(operator: Any) -> None:
    values, mask = table(2)
    chosen = np.argwhere(mask)
    xs, p = tf.constant(values * 0.9 + 0.05), tf.constant(5.0)

    def segmented(xs: tf.Tensor, p: Any) -> tf.Tensor:
        return operator.segments(tf.gather_nd(xs, chosen), chosen[:, 0], 6, (1,), p=p)

    dense = value_and_gradients(
        lambda xs, p: operator(xs, axis=(1, 2), mask=mask[..., np.newaxis], p=p), xs, p
    )
    assert_agree(value_and_gradients(segmented, xs, p), dense)
    assert_close(segmented(xs, 5), dense[0])


@pytest.mark.parametrize("operator", [*FEW, COUNTS["prod exactly 2"].operator], ids=str)
def test_compiled_for_any_number_of_tuples_and_segments(operator: Any) -> None:
    def gradients(xs: tf.Tensor, ids: tf.Tensor, count: tf.Tensor) -> list[tf.Tensor]:
        return value_and_gradients(lambda xs: operator.segments(xs, ids, count, axis=1), xs)

    specs = [tf.TensorSpec((None, None, 2)), tf.TensorSpec((None,), tf.int64), tf.TensorSpec((), tf.int32)]
    compiled = tf.function(gradients, input_signature=specs, autograph=False)
    nothing = float(operator(np.zeros(0, np.float32)))
    # Without tuples, without values in them, and without segments; the first two segments have some at best.
    for tuples, width, count in ((4, 3, 5), (0, 3, 5), (4, 0, 5), (0, 0, 0)):
        xs = tf.random.uniform((tuples, width, 2), 0.1, 0.9)
        ids = np.arange(tuples) % 2
        value, slope = compiled(xs, ids, count)
        assert_agree([value, slope], gradients(xs, ids, count))
        assert value.shape == (count, 2)
        assert np.all(value[2:] == nothing)
        assert np.all(value[:2] == nothing) == (tuples * width == 0)


@pytest.mark.parametrize("operator", FEW, ids=str)
@pytest.mark.parametrize("tuples", [0, 4])
def test_xla(operator: Any, tuples: int) -> None:
    xs, ids = tf.random.uniform((tuples, 3), 0.1, 0.9), tf.range(tuples) % 2

    def gradients(xs: tf.Tensor) -> list[tf.Tensor]:
        return value_and_gradients(lambda xs: operator.segments(xs, ids, 3), xs)

    for jit_compile in (False, True):
        compiled = tf.function(gradients, autograph=False, jit_compile=jit_compile)
        assert_agree(compiled(xs), gradients(xs))


@pytest.mark.usefixtures("compiled_at_once")
def test_new_numbers_of_tuples_and_segments_do_not_retrace() -> None:
    operator: Any = fo.Aggreg_pMean(p=4)

    def call(tuples: int) -> None:
        operator.segments(np.full((tuples, 1, 1, 1, 2), 0.5), np.zeros(tuples, np.int32), tuples + 1)

    call(1)
    call(2)
    before = traces_of(operator)
    for tuples in (0, *range(3, 10)):
        call(tuples)
    assert traces_of(operator) == before


def test_calls_with_other_ranks_keep_their_shapes() -> None:
    for rank in range(1, 5):
        value = fo.Aggreg_Prod().segments(np.full([2] * rank, 0.5), [0, 0], 1, tuple(range(1, rank)))
        assert_close(value, [0.5 ** (2**rank)])


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
@pytest.mark.parametrize("operator", FEW, ids=str)
def test_dtypes(operator: Any, dtype: tf.DType) -> None:
    xs = tf.cast([0.5, 0.25, 0.75], dtype)
    value = operator.segments(xs, tf.constant([1, 1, 0], tf.int64), 2)
    assert value.dtype == dtype
    rtol = 1e-12 if dtype == tf.float64 else 2e-2
    assert_close(
        tf.cast(value, tf.float64), tf.cast([operator(xs[2:]), operator(xs[:2])], tf.float64), rtol=rtol
    )


def test_mistakes_are_explained() -> None:
    operator = fo.Aggreg_Mean()
    with pytest.raises(LogicValueError, match=r"ids of shape \(2,\) for values of shape \(3,\)"):
        operator.segments([0.1, 0.2, 0.3], [0, 1], 2)
    with pytest.raises(LogicValueError, match=r"ids of shape \(1, 1\) for values of shape \(1,\)"):
        operator.segments([0.1], [[0]], 2)
    with pytest.raises(LogicValueError, match=r"for values of shape \(\)"):
        operator.segments(0.1, [0], 2)
    with pytest.raises(LogicTypeError, match=r"`ids` and `count` must be integers; got \[0\.5\] and 2"):
        operator.segments([0.1], [0.5], 2)
    with pytest.raises(
        LogicValueError, match=r"`count`, the number of segments, must be one integer; got \[2\]"
    ):
        operator.segments([0.1], [0], [2])
    with pytest.raises(
        LogicValueError, match="`axis` names axes beside that of the tuples, from 1 up; got 0"
    ):
        operator.segments([[0.1]], [0], 2, axis=0)
    with pytest.raises(LogicTypeError, match="Aggreg_Mean has no hyper-parameter `p`"):
        operator.segments([0.1], [0], 2, p=3)
