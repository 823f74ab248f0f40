"""Natural joins of tables of whole numbers: counted first, and made then."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicValueError

Column = NDArray[Any]

# The most rows that a join has: memory must hold them.
MOST_ROWS = 2**27
# Numbers up to this many times those of the rows are counted in a table of all numbers that may occur.
_MOST_TIMES = 4


class JoinTable(NamedTuple):
    """Columns of one length by name; the table itself is named in errors."""

    name: str
    columns: Mapping[Hashable, Column]

    @property
    def height(self) -> int:
        """The number of its rows."""
        return len(next(iter(self.columns.values())))

    def keep(self, rows: Column) -> JoinTable:
        """Some of the rows, by their places or as a mask."""
        return JoinTable(self.name, {name: column[rows] for name, column in self.columns.items()})


def join(tables: Sequence[JoinTable]) -> JoinTable:
    """The natural join: all combinations of a row of each table that agree where columns have one name.

    The tables are taken one after the other, each time the one with which the fewest rows are left; what
    shares no column comes last. The number of rows is known before they are made.
    """
    rest = sorted(tables, key=lambda table: table.height)
    found = rest.pop(0)
    while rest:
        linked = [table for table in rest if found.columns.keys() & table.columns.keys()]
        best = min((_Match(found, table) for table in linked or rest), key=lambda match: match.count)
        if best.count > MOST_ROWS:
            raise LogicValueError(
                f"The join of {found.name} with {best.right.name} has {best.count:,} tuples, more than "
                f"{MOST_ROWS:,}: join a further relation that leaves fewer of them, or bind fewer variables "
                "under one guard."
            )
        rest = [table for table in rest if table is not best.right]
        found = best.make()
    return found


def distinct(numbers: Column) -> Column:
    """The distinct ones of some whole numbers, ascending."""
    # NumPy's own way takes ten times as long for millions of them.
    if (numbers[1:] > numbers[:-1]).all():
        return numbers
    ascending = np.sort(numbers)
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])]


class _Match:
    """How two tables are joined: for each row of the left one, how many of the right one agree with it."""

    def __init__(self, left: JoinTable, right: JoinTable):
        self.left = left
        self.right = right
        shared = [name for name in left.columns if name in right.columns]
        numbers, self._right_numbers, size = _numbers(left, right, shared)
        per_number = np.bincount(self._right_numbers, minlength=size)
        self._starts = (np.cumsum(per_number) - per_number)[numbers]
        self._counts = per_number[numbers]
        self.count = int(self._counts.sum())

    def make(self) -> JoinTable:
        """The rows of the join, in the order of the left table."""
        order = np.argsort(self._right_numbers, kind="stable")
        of_left = np.repeat(np.arange(self.left.height), self._counts)
        ends = np.cumsum(self._counts)
        # The places in `order` are runs of neighbours, one for each row of the left table.
        of_right = order[
            np.arange(self.count) + np.repeat(self._starts - (ends - self._counts), self._counts)
        ]
        columns = {name: column[of_right] for name, column in self.right.columns.items()}
        columns |= {name: column[of_left] for name, column in self.left.columns.items()}
        return JoinTable(f"{self.left.name} & {self.right.name}", columns)


def _numbers(left: JoinTable, right: JoinTable, shared: Sequence[Hashable]) -> tuple[Column, Column, int]:
    """A number from 0 up for each row of both tables, the same where they agree; and how many there are.

    A row of the left table that agrees with none may have any number that no row on the right has.
    """
    numbers = [np.zeros(left.height, np.int64), np.zeros(right.height, np.int64)]
    size = 1
    for name in shared:
        columns = [left.columns[name], right.columns[name]]
        width = 1 + max((int(column.max()) for column in columns if len(column)), default=0)
        numbers = [whole * width + column for whole, column in zip(numbers, columns, strict=True)]
        size *= width
        if size > _MOST_TIMES * (left.height + right.height) + 2**20:
            known = distinct(numbers[1])
            places = np.searchsorted(known, numbers[0])
            at = np.minimum(places, max(len(known) - 1, 0))
            is_known = known[at] == numbers[0] if len(known) else np.zeros(left.height, bool)
            numbers = [np.where(is_known, places, len(known)), np.searchsorted(known, numbers[1])]
            size = len(known) + 1
    return numbers[0], numbers[1], size
