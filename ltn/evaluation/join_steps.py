"""The steps of a join: each takes one variable, whose values all tables with it allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
Columns = dict[Hashable, Column]

# How many rows tell which variable comes next.
_SAMPLE = 2**12
# Numbers up to this many times those of the rows are looked up in a table of all numbers that may occur.
_MOST_TIMES = 4
# Such a table may always have this size.
_LEAST = 2**20


class JoinTable(NamedTuple):
    """Columns of one length by name, no two rows of which are equal; the table itself is named in errors."""

    name: str
    columns: Mapping[Hashable, Column]

    @property
    def height(self) -> int:
        """The number of its rows."""
        return len(next(iter(self.columns.values())))

    def keep(self, rows: Column) -> JoinTable:
        """Some of the rows, by their places or as a mask."""
        return JoinTable(self.name, {name: column[rows] for name, column in self.columns.items()})


class Filter(NamedTuple):
    """A condition on some columns: for which rows it holds, from these columns."""

    columns: Collection[Hashable]
    holds: Callable[[Mapping[Hashable, Column]], NDArray[np.bool_]]


def distinct(numbers: Column) -> Column:
    """The distinct ones of some whole numbers from 0 up, ascending."""
    # NumPy's own way takes ten times as long for millions of them.
    if (numbers[1:] > numbers[:-1]).all():
        return numbers
    if int(numbers.max()) < _MOST_TIMES * len(numbers):
        return np.flatnonzero(np.bincount(numbers)).astype(numbers.dtype)
    ascending = np.sort(numbers)
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])]


class JoinRows(NamedTuple):
    """Some rows of a join, as far as its variables were taken; at first one row without columns."""

    height: int
    columns: Columns


class _Numbers:
    """A number from 0 up for each combination that some columns of one length have; `size` for others."""

    def __init__(self, columns: Sequence[Column], height: int):
        self.own, self.size = np.zeros(height, np.int64), 1
        self._parts: list[tuple[int, Column | None]] = []
        for column in columns:
            width, known = 1 + int(column.max(initial=-1)), None
            self.own, self.size = self.own * width + column, self.size * width
            if self.size > _MOST_TIMES * height + _LEAST:
                known = distinct(self.own)
                self.own, self.size = np.searchsorted(known, self.own), len(known)
            self._parts.append((width, known))

    def of(self, columns: Sequence[Column], height: int) -> Column:
        """The numbers of other rows."""
        numbers, is_other = np.zeros(height, np.int64), np.zeros(height, bool)
        for column, (width, known) in zip(columns, self._parts, strict=True):
            is_other |= column >= width
            numbers = np.where(is_other, 0, numbers * width + column)
            if known is not None:
                places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
                is_other |= known[places] != numbers
                numbers = places
        return np.where(is_other, self.size, numbers)


class _Index:
    """The values of a column of a table, ascending, by those of the columns that are given."""

    def __init__(self, table: JoinTable, given: Sequence[Hashable], name: Hashable):
        self._given = given
        self._numbers = _Numbers([table.columns[each] for each in given], table.height)
        column = table.columns[name]
        self._width = 1 + int(column.max(initial=-1))
        self._keys = distinct(self._numbers.own * self._width + column)
        groups, values = np.divmod(self._keys, max(self._width, 1))
        self.values = values.astype(column.dtype)
        # The last group is that of all other rows, and is empty.
        self._counts = np.bincount(groups, minlength=self._numbers.size + 1)
        self._starts = np.cumsum(self._counts) - self._counts

    @property
    def average(self) -> float:
        """How many values there are for what the table knows."""
        return len(self.values) / max(int(np.count_nonzero(self._counts)), 1)

    def groups(self, rows: JoinRows) -> Column:
        """The group of values that each row has."""
        return self._numbers.of([rows.columns[each] for each in self._given], rows.height)

    def runs(self, groups: Column) -> tuple[Column, Column]:
        """Where the values of groups begin, and how many there are."""
        return self._starts[groups], self._counts[groups]

    def holds(self, groups: Column, values: Column) -> NDArray[np.bool_]:
        """Whether values are in groups."""
        if not len(self._keys):
            return np.zeros(len(groups), bool)
        keys = groups * self._width + values
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: NDArray[np.bool_] = (self._keys[places] == keys) & (values < self._width)
        return found


class JoinStep:
    """A variable that rows get: its values are those that all tables with it have for a row."""

    def __init__(self, name: Hashable, indexes: Sequence[_Index], filters: Sequence[Filter] = ()):
        self.name = name
        self.indexes = indexes
        self.filters = filters

    @property
    def is_free(self) -> bool:
        """Whether nothing filters the values of one table."""
        return len(self.indexes) == 1 and not self.filters

    def candidates(self, rows: JoinRows) -> Candidates:
        """The values that rows may have."""
        return Candidates(self, rows)


class Candidates:
    """For each of some rows the values of the table that has the fewest for it.

    Attributes:
        starts, counts: where those of each row begin in the index of that table, and how many there are.
        count: how many there are of all rows.
    """

    def __init__(self, step: JoinStep, rows: JoinRows):
        self._step = step
        self._rows = rows
        self._groups = [index.groups(rows) for index in step.indexes]
        self._source = np.zeros(rows.height, np.int8)
        runs = (index.runs(groups) for index, groups in zip(step.indexes, self._groups, strict=True))
        self.starts, self.counts = next(runs)
        for number, (starts, counts) in enumerate(runs, start=1):
            fewer = counts < self.counts
            self._source[fewer] = number
            self.starts = np.where(fewer, starts, self.starts)
            self.counts = np.where(fewer, counts, self.counts)
        self._ends = np.cumsum(self.counts)
        self.count = int(self._ends[-1]) if rows.height else 0

    def take(self, places: Column) -> JoinRows:
        """Of the candidates at some places, those that all tables and filters allow."""
        step, row = self._step, np.searchsorted(self._ends, places, side="right")
        at = self.starts[row] + places - (self._ends[row] - self.counts[row])
        source = self._source[row]
        values = step.indexes[0].values[at] if len(step.indexes) == 1 else None
        if values is None:
            values = np.empty(len(places), step.indexes[0].values.dtype)
            for number, index in enumerate(step.indexes):
                own = np.flatnonzero(source == number)
                values[own] = index.values[at[own]]
            for number, (index, groups) in enumerate(zip(step.indexes, self._groups, strict=True)):
                holds = source == number
                others = np.flatnonzero(~holds)
                holds[others] = index.holds(groups[row[others]], values[others])
                row, values, source = row[holds], values[holds], source[holds]
        columns = {name: column[row] for name, column in self._rows.columns.items()} | {step.name: values}
        for each in step.filters if len(values) else ():
            holds = each.holds(columns)
            columns = {name: column[holds] for name, column in columns.items()}
        return JoinRows(len(columns[step.name]), columns)


def in_order(
    tables: Sequence[JoinTable], filters: Sequence[Filter] = (), first: Collection[Hashable] = ()
) -> list[JoinStep]:
    """The variables, each as soon as it has the fewest values for some rows of what comes before it.

    Those of `first` come before the others.
    """
    known: dict[Any, _Index] = {}

    def step_of(name: Hashable) -> JoinStep:
        indexes = []
        for number, table in enumerate(tables):
            if name in table.columns:
                given = tuple(each for each in sample.columns if each in table.columns)
                key = (number, given, name)
                if key not in known:
                    known[key] = _Index(table, given, name)
                indexes.append(known[key])
        there = {*sample.columns, name}
        return JoinStep(
            name, indexes, [f for f in filters if name in f.columns and there.issuperset(f.columns)]
        )

    def values_of(step: JoinStep) -> tuple[float, float]:
        return step.candidates(sample).count, min(index.average for index in step.indexes)

    steps, sample = [], JoinRows(1, Columns())
    rest = list(dict.fromkeys(name for table in tables for name in table.columns))
    while rest:
        # What shares no table with the rows so far comes last.
        linked = [
            name
            for name in rest
            if any(name in t.columns and t.columns.keys() & sample.columns for t in tables)
        ]
        next_ones = [name for name in rest if name in first] or linked or rest
        steps.append(min(map(step_of, next_ones), key=values_of))
        rest.remove(steps[-1].name)
        found = steps[-1].candidates(sample)
        places = np.linspace(0, max(found.count - 1, 0), min(found.count, _SAMPLE), dtype=np.int64)
        sample = found.take(places)
    return steps
