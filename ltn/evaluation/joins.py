"""Natural joins of tables of whole numbers: variable by variable, and block by block.

For `cites(a, b) & cites(b, c) & cites(a, c)` there is no table of all paths a, b, c of which a few are then
kept. The values of c for a pair a, b are taken from the table that has the fewest for this pair, and the
other one filters them at once. So the work is never more, up to a logarithm, than the largest result that
tables of these sizes can have; and memory holds the result and a block of rows for each variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ltn.errors import LogicValueError
from ltn.evaluation.join_steps import Columns, Filter, JoinRows, JoinStep, JoinTable, in_order

# The most rows that a join has: memory must hold them.
MOST_ROWS = 2**27
# The most combinations that a join goes through to find them: minutes.
_MOST_SEEN = 2**32
# How many of them it goes through at once.
_BLOCK = 2**20


class TooManyTuplesError(LogicValueError):
    """Tuples that memory does not hold."""


def join(tables: Sequence[JoinTable], filters: Sequence[Filter] = ()) -> JoinTable:
    """The natural join: all combinations of a row of each table that agree where columns have one name.

    The variables are taken one after the other, each time the one with the fewest values for the rows so far.
    A table or a filter counts from the moment when its columns are there. Where nothing filters the last
    variable, the number of rows is known before they are made.
    """
    if len(tables) == 1 and not filters:
        return tables[0]
    return make(in_order(tables, filters), tables)


def make(steps: Sequence[JoinStep], tables: Sequence[JoinTable]) -> JoinTable:
    """The rows that have the variables of some steps."""
    *others, last = steps

    def blocks() -> Iterator[JoinRows]:
        found: Iterable[JoinRows] = [JoinRows(1, {})]
        for step in others:
            found = _extended(found, step, tables)
        yield from found

    if last.is_free:
        count = sum(last.candidates(rows).count for rows in blocks())
        if count > MOST_ROWS:
            raise _too_many(tables, f"{count:,} tuples, more than {MOST_ROWS:,}")
    parts, count = [], 0
    for part in _extended(blocks(), last, tables):
        parts.append(part.columns)
        count += part.height
        if count > MOST_ROWS:
            raise _too_many(tables, f"more than {MOST_ROWS:,} tuples")
    columns = {name: column for table in tables for name, column in table.columns.items()}
    taken = {step.name: columns[step.name] for step in steps}
    return JoinTable(" & ".join(table.name for table in tables), _together(parts, taken))


def _extended(found: Iterable[JoinRows], step: JoinStep, tables: Sequence[JoinTable]) -> Iterator[JoinRows]:
    """The rows with a further variable, in blocks."""
    seen = 0
    for rows in found:
        candidates = step.candidates(rows)
        seen += candidates.count
        if seen > _MOST_SEEN:
            raise TooManyTuplesError(
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
    "quantifier draw some of them in each training step, as forall[sample=4096], and reports by "
    "theory.report(sample=4096)."
)


def _too_many(tables: Sequence[JoinTable], count: str) -> TooManyTuplesError:
    return TooManyTuplesError(f"The join of {_listed(tables)} has {count}: {_ADVICE}")


def _listed(tables: Sequence[JoinTable]) -> str:
    return " with ".join(table.name for table in tables)
