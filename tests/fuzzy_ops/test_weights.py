"""Weights: a value of weight w counts w times."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn import fuzzy_ops as fo
from ltn.errors import LogicValueError
from tests.fuzzy_ops.cases import AGGREGATORS, ON_LOG_TRUTHS, AggregatorCase
from tests.fuzzy_ops.test_segments import FEW, value_and_gradients
from tests.tolerance import assert_close

CASES = AGGREGATORS | ON_LOG_TRUTHS
aggregators = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())

XS = tf.constant(np.random.default_rng(0).uniform(0.05, 0.95, (4, 5)).astype(np.float32))
WEIGHTS = np.array([[1, 3, 0, 2, 1], [0, 0, 0, 4, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])


def repeated(operator: Any) -> Callable[[tf.Tensor], tf.Tensor]:
    """Each row with each value as often as its weight says."""

    def value(xs: tf.Tensor) -> tf.Tensor:
        rows = zip(tf.unstack(xs), WEIGHTS, strict=True)
        return tf.stack([operator(tf.repeat(row, weights)) for row, weights in rows])

    return value


@aggregators
def test_whole_weights_are_repetitions(case: AggregatorCase) -> None:
    operator = case.operator
    expected = value_and_gradients(repeated(operator), XS)
    # In float64, which the values do not become by it.
    weights = tf.constant(WEIGHTS, tf.float64)
    actual = value_and_gradients(lambda xs: operator(xs, axis=1, weights=weights), XS)
    assert actual[0].dtype == tf.float32
    for got, wanted in zip(actual, expected, strict=True):
        assert_close(got, wanted, rtol=1e-5, atol=1e-5)
    # Among the segments of tuples too, and next to a mask.
    turned = tf.transpose(XS)
    by_segment = operator.segments(turned, [0] * 5, 1, weights=WEIGHTS.T)
    assert_close(by_segment, expected[0][tf.newaxis], rtol=1e-5)
    masked = operator(XS, axis=1, weights=np.maximum(WEIGHTS, 1), mask=WEIGHTS)
    assert_close(masked, expected[0], rtol=1e-5)


@aggregators
def test_parts_have_weights(case: AggregatorCase) -> None:
    operator = case.operator
    expected = operator(XS, axis=1, weights=WEIGHTS)
    halves = [
        operator.part(XS[:, part], axis=1, weights=WEIGHTS[:, part]) for part in (slice(0, 2), slice(2, 5))
    ]
    assert_close(operator.join(halves), expected, rtol=1e-5)
    turned = tf.transpose(XS)
    segments = [
        operator.part(turned[part], (), ids=[0] * len(turned[part]), count=1, weights=WEIGHTS.T[part])
        for part in (slice(0, 2), slice(2, 5))
    ]
    assert_close(operator.join(segments), expected[tf.newaxis], rtol=1e-5)
    masked = operator.part(XS, axis=1, mask=WEIGHTS, weights=np.maximum(WEIGHTS, 1))
    assert_close(operator.join([masked]), expected, rtol=1e-5)


@pytest.mark.parametrize("operator", FEW, ids=str)
def test_weights_may_be_one_number_and_a_weight_of_zero_leaves_out(operator: Any) -> None:
    assert_close(operator(XS, axis=1, weights=1), operator(XS, axis=1), rtol=1e-5)
    nothing, slopes = value_and_gradients(
        lambda xs: operator(xs, axis=1, weights=0.0, empty=0.25), XS * np.nan
    )
    assert_close(nothing, np.full(4, operator([], empty=0.25)))
    assert_close(slopes, np.zeros((4, 5)))


MEANS = [
    fo.Aggreg_Mean(),
    fo.Aggreg_pMean(3),
    fo.Aggreg_pMeanError(2),
    fo.Aggreg_LogMean(),
    fo.Aggreg_LogMeanExp(2),
]


@pytest.mark.parametrize("operator", MEANS, ids=str)
def test_means_depend_on_the_proportion_of_the_weights_only(operator: Any) -> None:
    weights = np.array([0.3, 0.1, 0.0, 2.5, 1.0])
    expected = operator(XS, axis=1, weights=weights)
    for scale in (1e-3, 1e3):
        assert_close(operator(XS, axis=1, weights=scale * weights), expected, rtol=1e-5)
    if operator == fo.Aggreg_Mean():
        assert_close(expected, np.average(XS, axis=1, weights=weights))


def test_products_and_totals_take_powers_and_multiples() -> None:
    xs, weights = np.array([0.9, 0.95, 0.99]), np.array([0.5, 1.5, 0.25])
    assert_close(fo.Aggreg_Prod()(xs, weights=weights), np.prod(xs**weights))
    assert_close(fo.Aggreg_ProbSum()(xs, weights=weights), 1.0 - np.prod((1.0 - xs) ** weights))
    assert_close(fo.Aggreg_AndLuk()(xs, weights=weights), 1.0 - np.sum(weights * (1.0 - xs)))
    assert_close(fo.Aggreg_OrLuk()(1.0 - xs, weights=weights), np.sum(weights * (1.0 - xs)))


@aggregators
def test_gradients_are_finite_at_both_ends(case: AggregatorCase) -> None:
    # The logarithm of 0 has none; what is not stable stays away from it.
    low = 0.01 if case.operator == CASES["logprod"].operator else 0.0
    ends = tf.constant([[low, low], [low, 1.0], [1.0, 1.0]])
    weights = tf.constant([0.25, 1.0, 2.0])[:, tf.newaxis, tf.newaxis]
    results = value_and_gradients(lambda xs, w: case.operator(xs, axis=2, weights=w), ends, weights)
    assert all(np.all(np.isfinite(result)) for result in results)


def test_weights_broadcast_and_count_in_the_broadcast_shape() -> None:
    value = fo.Aggreg_Mean()([0.2, 0.8], axis=1, weights=[[1, 1], [3, 1]])
    assert_close(value, [0.5, 0.35])


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, np.nan], [1.0, np.inf]], ids=str)
def test_mistakes_are_explained(weights: Any) -> None:
    with pytest.raises(LogicValueError, match=r"`weights` must be finite numbers from 0 up; got \[1\.0"):
        fo.Aggreg_Mean()([0.1, 0.2], weights=weights)
    with pytest.raises(LogicValueError, match=r"Aggreg_Mean\(\) cannot broadcast .*\(3,\) and \(2,\)"):
        fo.Aggreg_Mean()([0.1, 0.2, 0.3], weights=weights)
