"""Joins whose rows have numbers, and are read by them: so many may be too many for memory.

Of `cites(a, b) & cites(b, c)` the pairs a, b are held, and for each of them how many c there are. The row
number r is that of the pair in whose range r falls, with a value from the index of the last table. Tables
that share no variables are joined apart, and numbered row-major.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.evaluation.join_steps import JoinRows, JoinTable, in_order
from ltn.evaluation.joins import make
from ltn.evaluation.tuples import unravel

# Numbers of rows stay below, so that an int64 holds them.
_MOST = 2**62


class NumberedJoin:
    """The rows of a join by their numbers.

    Args:
        parts: joins that share no variables; the first has all columns by which rows are grouped.
        axes: the columns that are read.
        counts: how many rows each group has; those of a group are neighbours.
    """

    def __init__(self, parts: Sequence[_Part], axes: Sequence[str], counts: NDArray[np.int64]):
        self._parts = parts
        self._axes = axes
        self.counts = counts

    @classmethod
    def of(
        cls, tables: Sequence[JoinTable], axes: Sequence[str], sizes: Sequence[int]
    ) -> NumberedJoin | None:
        """The join of some tables; None where its rows have no such numbers.

        Args:
            tables: what is joined.
            axes: the columns that are read; rows are grouped by the first of them.
            sizes: of the columns by which rows are grouped, how many values each may have.
        """
        grouped = axes[: len(sizes)]
        found = [_Part(part, grouped) for part in _apart(tables)]
        parts = sorted(found, key=lambda part: not part.columns.keys() >= {*grouped})
        rest = math.prod(part.count for part in parts[1:])
        if not parts[0].columns.keys() >= {*grouped} or parts[0].count * rest > _MOST:
            return None
        counts, *_ = [parts[0].group(grouped, sizes), *(part.group((), ()) for part in parts[1:])]
        return cls(parts, axes, counts * rest)

    def read(self, numbers: tf.Tensor) -> list[tf.Tensor]:
        """The columns at some rows."""
        found: dict[Hashable, tf.Tensor] = {}
        sizes = [tf.constant(part.count, tf.int64) for part in self._parts]
        for part, own in zip(self._parts, unravel(numbers, sizes), strict=True):
            found |= part.read(own)
        return [found[axis] for axis in self._axes]


class _Part:
    """A join of linked tables; its last variable is not taken where one table alone tells its values."""

    def __init__(self, tables: Sequence[JoinTable], first: Sequence[str]):
        steps = in_order(tables, first=first) if len(tables) > 1 else []
        self._last = steps[-1] if steps and steps[-1].is_free else None
        rows = tables[0] if not steps else make(steps if self._last is None else steps[:-1], tables)
        self.columns = dict(rows.columns)
        self._starts, self._counts = np.arange(rows.height), np.ones(rows.height, np.int64)
        if self._last is not None:
            candidates = self._last.candidates(JoinRows(rows.height, self.columns))
            self._starts, self._counts = candidates.starts, candidates.counts
        self.count = int(self._counts.sum())

    def group(self, names: Sequence[str], sizes: Sequence[int]) -> NDArray[np.int64]:
        """Order the rows by some columns, and count those of each group."""
        groups = np.zeros(len(self._starts), np.int64)
        for name, size in zip(names, sizes, strict=True):
            groups = groups * size + self.columns[name]
        order = np.argsort(groups, kind="stable")
        self.columns = {name: column[order] for name, column in self.columns.items()}
        self._starts, self._counts = self._starts[order], self._counts[order]
        ends = np.append(0, np.cumsum(self._counts))
        edges = np.searchsorted(groups[order], np.arange(math.prod(sizes) + 1))
        # Not in the graph of the training step that is being compiled.
        with tf.init_scope():
            self._ends = tf.constant(ends[1:])
            self._offsets = tf.constant(self._starts - ends[:-1])
            self._values = None if self._last is None else tf.constant(self._last.indexes[0].values)
            self._held = {name: tf.constant(column) for name, column in self.columns.items()}
        return np.diff(ends[edges])

    def read(self, numbers: tf.Tensor) -> dict[Hashable, tf.Tensor]:
        """The columns at some rows."""
        row = tf.searchsorted(self._ends, numbers, side="right", out_type=tf.int64)
        found = {name: tf.gather(column, row) for name, column in self._held.items()}
        if self._last is not None:
            found[self._last.name] = tf.gather(self._values, tf.gather(self._offsets, row) + numbers)
        return found


def _apart(tables: Sequence[JoinTable]) -> list[list[JoinTable]]:
    """The tables, those together that share variables, also by way of others."""
    parts: list[list[JoinTable]] = []
    for table in tables:
        linked = [part for part in parts if any(table.columns.keys() & other.columns for other in part)]
        parts = [part for part in parts if not any(part is other for other in linked)]
        parts.append([*(other for part in linked for other in part), table])
    return parts
