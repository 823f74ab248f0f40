"""Folding: all values of a selection as one, by an associative operation, a pair at a time.

Each value is a row of numbers, such as the first coefficients of a polynomial, and what pairs give is a
longer row. Pairs of pairs are combined next, so that n values take log2(n) rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ltn.checks import size_of

# Where the number of values is not known when tracing, so many at a time are combined in pairs, and what they
# give one after the other: a loop over pairs would change shapes, which XLA does not compile.
_BLOCK = 64


class Folding(NamedTuple):
    """How values are combined.

    Attributes:
        combine: two tensors of rows, element by element; the result may have longer rows.
        nothing: the row that changes nothing, by its length and dtype.
        longest: the length at which rows stop to grow.
    """

    combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
    nothing: Callable[[int | tf.Tensor, tf.DType], tf.Tensor]
    longest: int


def fold_rows(values: tf.Tensor, folding: Folding) -> tf.Tensor:
    """All values along axis 0, of shape (n, *rest, row), as one: (*rest, longer row)."""
    n, rest = size_of(values, 0), [size_of(values, axis) for axis in range(1, values.shape.rank)]
    if not isinstance(n, int):
        return _fold_blocks(values, n, rest, folding)
    if n == 0:
        return tf.broadcast_to(folding.nothing(rest[-1], values.dtype), rest)
    while n > 1:
        if n % 2:
            one = tf.broadcast_to(folding.nothing(size_of(values, -1), values.dtype), tf.shape(values[:1]))
            values = tf.concat([values, one], 0)
        values, n = folding.combine(values[0::2], values[1::2]), (n + 1) // 2
    return values[0]


def _fold_blocks(values: tf.Tensor, n: tf.Tensor, rest: list[int | tf.Tensor], folding: Folding) -> tf.Tensor:
    # One at least: XLA has no loop over nothing.
    blocks = tf.maximum((n + _BLOCK - 1) // _BLOCK, 1)
    padding = tf.broadcast_to(folding.nothing(rest[-1], values.dtype), [blocks * _BLOCK - n, *rest])
    # The values of a block need not be neighbours.
    grouped = tf.reshape(tf.concat([values, padding], 0), [_BLOCK, blocks, *rest])
    start = tf.broadcast_to(folding.nothing(folding.longest, values.dtype), [*rest[:-1], folding.longest])

    def join(found: tf.Tensor, block: tf.Tensor) -> tf.Tensor:
        # The shorter rows first: combining takes memory by their length.
        return tf.ensure_shape(folding.combine(block, found), found.shape)

    return tf.foldl(join, fold_rows(grouped, folding), start)


def fold_segments(values: tf.Tensor, ids: tf.Tensor, count: tf.Tensor, folding: Folding) -> tf.Tensor:
    """The values of each segment, of shape (K, *rest, row), as one: (count, *rest, longer row)."""
    order = tf.argsort(ids, stable=True)
    sorted_ids, rows = tf.gather(ids, order), tf.gather(values, order)

    def round_of(ids: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        places = tf.range(tf.size(ids))
        rank = places - tf.searchsorted(ids, ids)
        first = tf.boolean_mask(places, rank % 2 == 0)
        second = tf.minimum(first + 1, tf.size(ids) - 1)
        kept = tf.gather(ids, first)
        is_pair = (second > first) & (tf.gather(ids, second) == kept)
        partner = tf.gather(rows, second)
        alone = folding.nothing(size_of(rows, -1), rows.dtype)
        is_pair = tf.reshape(is_pair, [-1] + [1] * (rows.shape.rank - 1))
        return kept, folding.combine(tf.gather(rows, first), tf.where(is_pair, partner, alone))

    def are_pairs(ids: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any(ids[1:] == ids[:-1])

    shapes = tf.TensorShape([None]), tf.TensorShape([None, *rows.shape[1:-1], None])
    found_ids, found = tf.while_loop(are_pairs, round_of, (sorted_ids, rows), shapes)
    # At most one row each.
    placed = tf.math.unsorted_segment_sum(found, found_ids, count)
    some = tf.math.unsorted_segment_sum(tf.ones_like(found_ids), found_ids, count) > 0
    some = tf.reshape(some, [-1] + [1] * (rows.shape.rank - 1))
    return tf.where(some, placed, folding.nothing(size_of(found, -1), rows.dtype))
