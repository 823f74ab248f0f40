"""Aggregation under a guard, for the library's aggregators and for any other callable."""

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ltn.fuzzy_ops import Aggregator


def aggregate(
    operator: Callable[..., Any],
    xs: tf.Tensor,
    axis: tuple[int, ...],
    mask: tf.Tensor | None,
    empty: float,
    **kwargs: Any,
) -> tf.Tensor:
    """Aggregate `xs` along `axis` where `mask` selects, `empty` where nothing is selected.

    `xs` and `mask` have the same axes, of size 1 where the one does not depend on a variable of the other.
    """
    if isinstance(operator, Aggregator):
        return operator(xs, axis=axis, mask=mask, empty=empty, **kwargs)
    if mask is None and all(xs.shape[a] for a in axis):
        return operator(xs, axis=axis, **kwargs)
    mask = tf.ones_like(xs, tf.bool) if mask is None else mask & tf.ones_like(xs, tf.bool)
    if "mask" not in inspect.signature(operator).parameters:
        return _row_by_row(operator, xs, axis, mask, empty, **kwargs)
    some = tf.reduce_any(mask, axis, keepdims=True)
    # Where nothing is selected all is, lest a mean of nothing put NaN into the gradient.
    value = operator(xs, axis=axis, mask=mask | ~some, **kwargs)
    return tf.where(tf.squeeze(some, axis), value, tf.constant(empty, xs.dtype))


def _row_by_row(
    operator: Callable[..., Any],
    xs: tf.Tensor,
    axis: tuple[int, ...],
    mask: tf.Tensor,
    empty: float,
    **kwargs: Any,
) -> tf.Tensor:
    """Call an operator that knows no mask on the selected values alone, once per remaining individual."""
    kept = [a for a in range(mask.shape.rank) if a not in axis]
    turned = tf.transpose(mask, [*kept, *axis])
    sizes, bound = tf.split(tf.shape(turned), [len(kept), len(axis)])

    def as_rows(tensor: tf.Tensor) -> tf.Tensor:
        return tf.reshape(tensor, [tf.reduce_prod(sizes), tf.reduce_prod(bound)])

    def one_row(row: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        values, selected = row
        return tf.cond(
            tf.reduce_any(selected),
            lambda: operator(tf.boolean_mask(values, selected), axis=(0,), **kwargs),
            lambda: tf.constant(empty, xs.dtype),
        )

    values = tf.broadcast_to(tf.transpose(xs, [*kept, *axis]), tf.shape(turned))
    rows = tf.map_fn(one_row, (as_rows(values), as_rows(turned)), fn_output_signature=xs.dtype)
    return tf.ensure_shape(tf.reshape(rows, sizes), [mask.shape[a] for a in kept])
