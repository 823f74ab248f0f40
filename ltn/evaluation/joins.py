"""Natural joins of tables of whole numbers: variable by variable, and block by block.

For `cites(a, b) & cites(b, c) & cites(a, c)` there is no table of all paths a, b, c of which a few are then
kept. The values of c for a pair a, b are taken from the table that has the fewest for this pair, and the other
one filters them at once. So the work is never more, up to a logarithm, than the largest result that tables of
these sizes can have; and memory holds the result and a block of rows for each variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicValueError

Column = NDArray[Any]
Columns = dict[Hashable, Column]

# The most rows that a join has: memory must hold them.
MOST_ROWS = 2**27
# The most combinations that a join goes through to find them: minutes.
_MOST_SEEN = 2**32
# How many of them it goes through at once.
_BLOCK = 2**20
# How many rows tell which variable comes next.
_SAMPLE = 2**12
# Numbers up to this many times those of the rows are looked up in a table of all numbers that may occur.
_MOST_TIMES = 4


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


def join(tables: Sequence[JoinTable], filters: Sequence[Filter] = ()) -> JoinTable:
    """The natural join: all combinations of a row of each table that agree where columns have one name.

    The variables are taken one after the other, each time the one with the fewest values for the rows so far.
    A table or a filter counts from the moment when its columns are there. Where nothing filters the last
    variable, the number of rows is known before they are made.
    """
    if len(tables) == 1 and not filters:
        return tables[0]
    name = " & ".join(table.name for table in tables)
    *others, last = _in_order(tables, filters)

    def blocks() -> Iterator[_Rows]:
        found: Iterable[_Rows] = [_Rows(1, {})]
        for step in others:
            found = _extended(found, step, tables)
        yield from found

    if last.is_free:
        count = 0
        for rows in blocks():
            count += last.candidates(rows).count
        if count > MOST_ROWS:
            raise _too_large(tables, f"{count:,}")
    parts, count = [], 0
    for part in _extended(blocks(), last, tables):
        parts.append(part.columns)
        count += part.height
        if count > MOST_ROWS:
            raise _too_large(tables, f"more than {MOST_ROWS:,}")
    return JoinTable(name, _together(parts, {n: c for table in tables for n, c in table.columns.items()}))


def distinct(numbers: Column) -> Column:
    """The distinct ones of some whole numbers from 0 up, ascending."""
    # NumPy's own way takes ten times as long for millions of them.
    if (numbers[1:] > numbers[:-1]).all():
        return numbers
    if int(numbers.max()) < _MOST_TIMES * len(numbers):
        return np.flatnonzero(np.bincount(numbers)).astype(numbers.dtype)
    ascending = np.sort(numbers)
    return ascending[np.concatenate([[True], ascending[1:] != ascending[:-1]])]


class _Rows(NamedTuple):
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
            if self.size > _MOST_TIMES * height + _BLOCK:
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
    """The values of a column of a table, by those of the columns that are given: ascending for each of them."""

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
        return len(self.values) / max(np.count_nonzero(self._counts), 1)

    def groups(self, rows: _Rows) -> Column:
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


class _Step:
    """A variable that rows get: its values are those that all tables with it have for a row."""

    def __init__(self, name: Hashable, indexes: Sequence[_Index], filters: Sequence[Filter] = ()):
        self.name = name
        self.indexes = indexes
        self.filters = filters

    @property
    def is_free(self) -> bool:
        """Whether nothing filters the values of one table."""
        return len(self.indexes) == 1 and not self.filters

    def candidates(self, rows: _Rows) -> _Candidates:
        """The values that rows may have."""
        return _Candidates(self, rows)


class _Candidates:
    """For each of some rows the values of the table that has the fewest for it."""

    def __init__(self, step: _Step, rows: _Rows):
        self._step = step
        self._rows = rows
        self._groups = [index.groups(rows) for index in step.indexes]
        self._source = np.zeros(rows.height, np.int8)
        runs = (index.runs(groups) for index, groups in zip(step.indexes, self._groups, strict=True))
        self._starts, self._counts = next(runs)
        for number, (starts, counts) in enumerate(runs, start=1):
            fewer = counts < self._counts
            self._source[fewer] = number
            self._starts = np.where(fewer, starts, self._starts)
            self._counts = np.where(fewer, counts, self._counts)
        self._ends = np.cumsum(self._counts)
        self.count = int(self._ends[-1]) if rows.height else 0

    def take(self, places: Column) -> _Rows:
        """Of the candidates at some places, those that all tables and filters allow."""
        step, row = self._step, np.searchsorted(self._ends, places, side="right")
        at = self._starts[row] + places - (self._ends[row] - self._counts[row])
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
        return _Rows(len(columns[step.name]), columns)


def _in_order(tables: Sequence[JoinTable], filters: Sequence[Filter]) -> list[_Step]:
    """The variables, each as soon as it has the fewest values for some rows of what comes before it."""
    known: dict[Any, _Index] = {}

    def step_of(name: Hashable) -> _Step:
        indexes = []
        for number, table in enumerate(tables):
            if name in table.columns:
                given = tuple(each for each in sample.columns if each in table.columns)
                key = (number, given, name)
                if key not in known:
                    known[key] = _Index(table, given, name)
                indexes.append(known[key])
        there = {*sample.columns, name}
        return _Step(name, indexes, [f for f in filters if name in f.columns and there.issuperset(f.columns)])

    def values_of(step: _Step) -> tuple[float, float]:
        return step.candidates(sample).count, min(index.average for index in step.indexes)

    steps, sample = [], _Rows(1, Columns())
    rest = list(dict.fromkeys(name for table in tables for name in table.columns))
    while rest:
        # What shares no table with the rows so far comes last.
        linked = [
            name for name in rest if any(name in t.columns and t.columns.keys() & sample.columns for t in tables)
        ]
        steps.append(min(map(step_of, linked or rest), key=values_of))
        rest.remove(steps[-1].name)
        found = steps[-1].candidates(sample)
        places = np.linspace(0, max(found.count - 1, 0), min(found.count, _SAMPLE), dtype=np.int64)
        sample = found.take(places)
    return steps


def _extended(found: Iterable[_Rows], step: _Step, tables: Sequence[JoinTable]) -> Iterator[_Rows]:
    """The rows with a further variable, in blocks."""
    seen = 0
    for rows in found:
        candidates = step.candidates(rows)
        seen += candidates.count
        if seen > _MOST_SEEN:
            raise LogicValueError(
                f"The join of {_listed(tables)} goes through more than {_MOST_SEEN:,} combinations: {_ADVICE}"
            )
        for low in range(0, candidates.count, _BLOCK):
            block = candidates.take(np.arange(low, min(low + _BLOCK, candidates.count)))
            if block.height:
                yield block


def _together(parts: list[Columns], columns: Columns) -> Columns:
    """Parts of a table as one; each is forgotten as soon as it is there."""
    whole: Columns = {}
    for name, column in columns.items():
        whole[name] = np.concatenate([column[:0], *(part.pop(name) for part in parts)])
    return whole


_ADVICE = (
    "join a further relation that leaves fewer of them, bind fewer variables under one guard, or let the "
    "quantifier draw some of the tuples of a smaller guard in each training step, as forall[sample=4096]."
)


def _too_large(tables: Sequence[JoinTable], count: str) -> LogicValueError:
    return LogicValueError(
        f"The join of {_listed(tables)} has {count} tuples, more than {MOST_ROWS:,}: {_ADVICE}"
    )


def _listed(tables: Sequence[JoinTable]) -> str:
    return " with ".join(table.name for table in tables)
