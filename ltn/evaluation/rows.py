"""Rows of a table, with their gradient: a sum over all rows that were read at one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ltn._private import custom_gradient
from ltn.core import axes

# Up to this many numbers in a row, a sum for each column is faster than a sum of rows.
_MOST_COLUMNS = 8


def rows_of(table: tf.Tensor, index: tf.Tensor, ascending: bool = False, static: bool = False) -> tf.Tensor:
    """The rows (K, *rest) at the places `index`, (K,), of a table (n, *rest).

    `ascending` promises that no index is less than the one before; `static` that XLA compiles it.
    """

    @custom_gradient
    def read(table: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        count = axes.size_of(table, 0)
        return tf.gather(table, index), lambda upstream: _sums(upstream, index, count, ascending, static)

    return read(table)


def _sums(rows: tf.Tensor, index: tf.Tensor, count: axes.Size, ascending: bool, static: bool) -> tf.Tensor:
    """The sums (n, *rest) of the rows that have the same index."""

    @custom_gradient
    def add_up(rows: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        total = _add_up(rows, index, count, ascending, static)
        return total, lambda upstream: rows_of(upstream, index, ascending, static)

    return add_up(rows)


def _add_up(rows: tf.Tensor, index: tf.Tensor, count: Any, ascending: bool, static: bool) -> tf.Tensor:
    # TensorFlow's own sum over rows in any order takes several times as long where they are short.
    width = rows.shape[1:].num_elements()
    if static:
        return tf.math.unsorted_segment_sum(rows, index, count)
    if ascending:
        found = tf.math.segment_sum(rows, index)
        missing = count - tf.shape(found)[0]
        padded = tf.pad(found, [[0, missing], *[[0, 0]] * (rows.shape.rank - 1)])
        return tf.ensure_shape(padded, [count if isinstance(count, int) else None, *rows.shape[1:]])
    if not width or width > _MOST_COLUMNS or rows.dtype.size < 4:
        return tf.math.unsorted_segment_sum(rows, index, count)
    columns = tf.unstack(tf.reshape(rows, [tf.size(index), width]), axis=1)
    size = tf.cast(count, index.dtype)
    sums = [
        tf.raw_ops.DenseBincount(input=index, size=size, weights=column, binary_output=False)
        for column in columns
    ]
    return tf.reshape(tf.stack(sums, axis=1), [count, *rows.shape[1:]])
