"""Joins: they have the rows of plain loops, go through few combinations, and are counted first."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltn.evaluation import join_steps, joins
from ltn.evaluation.join_steps import Filter, JoinTable, distinct
from ltn.evaluation.joins import TooManyTuplesError, join

VALUES = 4
Rows = set[tuple[int, ...]]


def table(columns: str, rows: Any) -> JoinTable:
    """A table whose columns have names of one letter."""
    array = np.array(sorted(rows), np.int32).reshape(-1, len(columns))
    return JoinTable(f"t({', '.join(columns)})", dict(zip(columns, array.T, strict=True)))


def rows_of(found: JoinTable, names: str) -> list[tuple[int, ...]]:
    return sorted(zip(*(found.columns[name].tolist() for name in names), strict=True))


def by_loops(tables: list[tuple[str, Rows]], less: list[str]) -> list[tuple[int, ...]]:
    names = "".join(dict.fromkeys("".join(columns for columns, _ in tables)))
    found = []
    for row in itertools.product(range(VALUES), repeat=len(names)):
        value = dict(zip(names, row, strict=True))
        if all(tuple(value[name] for name in columns) in rows for columns, rows in tables) and all(
            value[one] < value[other] for one, other in less
        ):
            found.append(row)
    return found


COLUMNS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map("".join)
TABLES = st.lists(
    COLUMNS.flatmap(
        lambda columns: st.tuples(
            st.just(columns), st.sets(st.tuples(*[st.integers(0, VALUES - 1)] * len(columns)), max_size=12)
        )
    ),
    min_size=1,
    max_size=4,
)


@given(TABLES, st.sampled_from([1, 3, 2**20]), st.booleans(), st.data())
def test_the_rows_are_those_of_plain_loops(
    tables: list[tuple[str, Rows]], block: int, sorts: bool, data: st.DataObject
) -> None:
    names = "".join(dict.fromkeys("".join(columns for columns, _ in tables)))
    pairs = ["".join(pair) for pair in itertools.permutations(names, 2)]
    less = data.draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []
    filters = [Filter(pair, lambda found, pair=pair: found[pair[0]] < found[pair[1]]) for pair in less]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "_BLOCK", block)
        patch.setattr(join_steps, "_SAMPLE", block)
        if sorts:
            # As for numbers that no table could hold.
            patch.setattr(join_steps, "_MOST_TIMES", 0)
            patch.setattr(join_steps, "_LEAST", 0)
        found = join([table(columns, rows) for columns, rows in tables], filters)
    assert rows_of(found, names) == by_loops(tables, less)


def test_a_triangle_does_not_go_through_all_paths_of_two_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 1000
    # Through node 0 there are a million paths, and around it a thousand triangles.
    edges = {(0, n) for n in range(1, count)} | {(n, 0) for n in range(1, count)}
    edges |= {(n, n + 1) for n in range(1, count - 1)}
    monkeypatch.setattr(joins, "_MOST_SEEN", 10 * count)
    found = join([table(columns, edges) for columns in ("ab", "bc", "ac")])
    expected = {
        (a, b, c) for a, b in edges for c in (0, b + 1, a + 1, a - 1) if (b, c) in edges and (a, c) in edges
    }
    expected |= {
        (n, 0, m) for n in range(1, count) for m in (n - 1, n, n + 1) if (n, m) in edges and (0, m) in edges
    }
    assert set(rows_of(found, "abc")) == expected


def test_a_filter_counts_as_soon_as_its_columns_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = [(n,) for n in range(1000)]
    monkeypatch.setattr(joins, "_MOST_SEEN", 1_100_000)
    few = Filter("ab", lambda found: found["a"] == found["b"])
    found = join([table(name, everyone) for name in "abc"], [few, Filter("bc", lambda f: f["b"] == f["c"])])
    assert rows_of(found, "abc") == [(n, n, n) for n in range(1000)]


def test_memory_holds_a_block_of_what_is_not_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = np.random.default_rng(0).integers(0, 100, (1000, 2)).tolist()
    sizes: list[int] = []
    take = join_steps.Candidates.take

    def counting(candidates: Any, places: Any) -> Any:
        sizes.append(len(places))
        return take(candidates, places)

    monkeypatch.setattr(join_steps.Candidates, "take", counting)
    monkeypatch.setattr(joins, "_BLOCK", 50)
    monkeypatch.setattr(join_steps, "_SAMPLE", 20)
    whole = {tuple(edge) for edge in edges}
    found = join([table(columns, whole) for columns in ("ab", "bc", "ca")])
    assert max(sizes) == 50
    assert sum(sizes) > 2000
    assert set(rows_of(found, "abc")) == {
        (a, b, c) for a, b in whole for c in range(100) if (b, c) in whole and (c, a) in whole
    }


def test_the_number_is_known_before_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [(n, 0) for n in range(300)] + [(0, n) for n in range(1, 300)]
    monkeypatch.setattr(joins, "MOST_ROWS", 1000)
    monkeypatch.setattr(joins, "_together", None)
    with pytest.raises(
        TooManyTuplesError, match=r"The join of t\(a, b\) with t\(b, c\) has 90,299 tuples, more than 1,000"
    ):
        join([table("ab", edges), table("bc", edges)])
    with pytest.raises(TooManyTuplesError, match=r"has more than 1,000 tuples: .* as forall\[sample=4096\]"):
        join([table("ab", edges), table("bc", edges)], [Filter("abc", lambda found: found["a"] >= 0)])
    monkeypatch.setattr(joins, "_MOST_SEEN", 2000)
    with pytest.raises(TooManyTuplesError, match=r"t\(c, d\) goes through more than 2,000 combinations"):
        join([table(columns, edges) for columns in ("ab", "bc", "cd")])


@given(st.lists(st.integers(0, 30), max_size=40))
def test_distinct_numbers_ascend(numbers: list[int]) -> None:
    for factor in (1, 10**6):
        array = np.array(numbers, np.int64) * factor
        assert distinct(array).tolist() == sorted(set(array.tolist()))
