"""Aggregation by parts: values and gradients are those of all values at once."""

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn.fuzzy_ops as fo
from ltn.errors import LogicTypeError
from tests.fuzzy_ops.cases import AggregatorCase
from tests.fuzzy_ops.test_segments import aggregators, assert_agree, table, value_and_gradients

# Of unequal size, and one that is empty.
CUTS = [0, 3, 3, 4]


def by_parts(operator: Any, mask: tf.Tensor | None = None, empty: float | None = None) -> Any:
    """The aggregate along axis 1 of a table whose columns come in parts."""

    def joined(xs: tf.Tensor) -> tf.Tensor:
        parts = [
            operator.part(xs[:, a:b], 1, None if mask is None else mask[:, a:b])
            for a, b in itertools.pairwise([*CUTS, xs.shape[1]])
        ]
        return operator.join(parts, empty)

    return joined


@pytest.mark.parametrize("guarded", [False, True])
@aggregators
def test_values_and_gradients_are_those_of_all_at_once(case: AggregatorCase, guarded: bool) -> None:
    values, selected = table(seed=0)
    # The logarithm of 0 has no gradient in either form.
    xs = tf.maximum(values, 0.02) if isinstance(case.operator, fo.Aggreg_LogProd) else tf.constant(values)
    mask = tf.constant(selected[..., np.newaxis]) if guarded else None
    whole = value_and_gradients(lambda xs: case.operator(xs, axis=1, mask=mask, empty=0.25), xs)
    assert_agree(value_and_gradients(by_parts(case.operator, mask, 0.25), xs), whole)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@aggregators
def test_ties_and_the_ends_of_the_unit_interval(case: AggregatorCase, value: float) -> None:
    # The logarithm of 0 has no gradient in either form.
    xs = tf.fill([1, 9], 0.02 if value == 0.0 and isinstance(case.operator, fo.Aggreg_LogProd) else value)
    whole = value_and_gradients(lambda xs: case.operator(xs, axis=1), xs)
    assert_agree(value_and_gradients(by_parts(case.operator), xs), whole)


@aggregators
def test_parts_of_segments(case: AggregatorCase) -> None:
    xs, ids = tf.constant([0.2, 0.2, 0.9, 0.4, 0.2]), tf.constant([0, 0, 2, 0, 2])

    def joined(xs: tf.Tensor) -> tf.Tensor:
        parts = [
            case.operator.part(xs[a:b], (), ids=ids[a:b], count=3)
            for a, b in itertools.pairwise([0, 1, 3, 5])
        ]
        return case.operator.join(parts, 0.25)

    whole = value_and_gradients(lambda xs: case.operator.segments(xs, ids, 3, empty=0.25), xs)
    assert_agree(value_and_gradients(joined, xs), whole)


@aggregators
def test_parts_of_segments_under_a_mask(case: AggregatorCase) -> None:
    """A value outside the mask is in no segment; the mask leaves nothing of segment 1."""
    xs, ids = tf.constant([0.2, 0.2, 0.9, 0.4, 0.2, 0.7]), np.array([0, 0, 2, 0, 2, 1])
    mask = np.array([True, False, True, True, True, False])

    def joined(xs: tf.Tensor) -> tf.Tensor:
        parts = [
            case.operator.part(xs[a:b], (), mask[a:b], ids[a:b], count=3)
            for a, b in itertools.pairwise([0, 1, 3, 6])
        ]
        return case.operator.join(parts, 0.25)

    def of_the_others(xs: tf.Tensor) -> tf.Tensor:
        return case.operator.segments(tf.boolean_mask(xs, mask), ids[mask], 3, empty=0.25)

    assert_agree(value_and_gradients(joined, xs), value_and_gradients(of_the_others, xs))


def test_nothing_at_all_is_empty() -> None:
    forall = fo.Aggreg_pMeanError()
    parts = [forall.part(tf.zeros([0, 2]), 0), forall.part(tf.zeros([3, 2]), 0, mask=tf.zeros([3, 2]))]
    assert forall.join(parts, 0.75).numpy().tolist() == [0.75, 0.75]


def test_hyperparameters_are_those_of_the_call() -> None:
    exists, xs = fo.Aggreg_pMean(2), tf.constant([0.1, 0.5, 0.9])
    parts = [exists.part(xs[:1], 0, p=7), exists.part(xs[1:], 0, p=7)]
    assert_agree([exists.join(parts, p=7)], [exists(xs, p=7)])
    with pytest.raises(LogicTypeError, match="no hyper-parameter `q`"):
        exists.part(xs, 0, q=1)


@pytest.mark.parametrize("operator", [fo.Aggreg_Min(), fo.Aggreg_Max(), fo.Aggreg_Mean(), fo.Aggreg_pMean()])
def test_what_is_not_a_number_is_not_lost(operator: Any) -> None:
    parts = [operator.part([0.3], 0), operator.part([0.5, np.nan], 0)]
    assert np.isnan(operator.join(parts))
    assert np.isnan(operator.join([operator.part([np.nan], 0)]))
