"""Ranks of true answers among all individuals, against plain loops over tables with many ties."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.errors import NotFiniteError
from tests.tolerance import assert_close

HEADS, KINDS, TAILS = ["a", "b", "c"], ["r", "s"], ["u", "v", "w", "z"]
SIZES = (len(HEADS), len(KINDS), len(TAILS))
VARIABLES = ("h", "k", "t")
# Their sigmoids are 1 in float32 from 20 on.
LOGITS = [-30.0, -1.0, 0.0, 2.0, 25.0, 40.0]
Row = tuple[int, int, int]

rows_of = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), max_size=8)
tables = st.lists(st.sampled_from(LOGITS), min_size=int(np.prod(SIZES)), max_size=int(np.prod(SIZES)))


def theory_of(semantics: str, **settings: Any) -> ltn.Theory:
    """Individuals with names, and a learned number for each triple of them."""
    theory = ltn.Theory(semantics, **settings)
    domains = [
        theory.domain(name, values=values)
        for name, values in (("heads", HEADS), ("kinds", KINDS), ("tails", TAILS))
    ]
    theory.variables("h, other", domains[0])
    theory.variable("k", domains[1])
    theory.variable("t", domains[2])
    theory.predicate("holds", domains, ltn.Predicate.table(domains))
    return theory


@pytest.fixture(scope="module")
def theories() -> list[ltn.Theory]:
    return [theory_of("product"), theory_of("log_product"), theory_of("godel", chunk=9)]


def set_table(theory: ltn.Theory, numbers: Any) -> None:
    theory.symbols["holds"].network.numbers.assign(np.reshape(numbers, SIZES))


def by_loops(scores: np.ndarray, rows: Sequence[Row], of: str, known: Sequence[Row] = ()) -> list[float]:
    """The ranks by their definition; `scores` has an axis for each variable."""
    axis, found = VARIABLES.index(of), []
    for row in rows:
        above, equal = 0, 0
        for individual in range(SIZES[axis]):
            other = tuple(individual if place == axis else row[place] for place in range(3))
            if other != row and other in known:
                continue
            above += bool(scores[other] > scores[row])
            equal += bool(scores[other] == scores[row])
        # The mean of the places that those which are equal take together.
        found.append(float(np.mean([above + 1 + place for place in range(equal)])))
    return found


def named(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    return [(HEADS[h], KINDS[k], TAILS[t]) for h, k, t in rows]


class TestRandomTables:
    @given(tables, rows_of.filter(bool), rows_of, rows_of, st.sampled_from(VARIABLES))
    def test_are_ranked_as_by_loops_under_all_semantics(
        self,
        theories: list[ltn.Theory],
        table: list[float],
        rows: list[Row],
        train: list[Row],
        valid: list[Row],
        of: str,
    ) -> None:
        scores = np.reshape(table, SIZES)
        for theory in theories:
            set_table(theory, table)
            raw = theory.rank(named(rows), "holds(h, k, t)", of)
            assert raw.ranks.tolist() == by_loops(scores, rows, of)
            filtered = theory.rank(named(rows), "holds(h, k, t)", of, [named(train), named(valid)])
            assert filtered.ranks.tolist() == by_loops(scores, rows, of, [*rows, *train, *valid])

    @given(tables, rows_of.filter(bool), rows_of, st.sampled_from(VARIABLES), st.integers(1, 60))
    def test_of_any_formula_are_ranked_by_the_values_of_a_query(
        self,
        theories: list[ltn.Theory],
        table: list[float],
        rows: list[Row],
        known: list[Row],
        of: str,
        chunk: int,
    ) -> None:
        formula = "exists other: holds(h, k, t) | ~holds(other, k, t)"
        theory = theories[0]
        # The sums of a mean may be in another order than in a query where truths do not end in zeros.
        set_table(theory, np.where(np.array(table) > 0.0, 40.0, 0.0))
        scores = theory.query(formula).tensor.numpy()
        theory.chunk = chunk
        try:
            found = theory.rank(named(rows), formula, of, [named(known)])
        finally:
            theory.chunk = None
        assert found.ranks.tolist() == by_loops(scores, rows, of, [*rows, *known])


def test_a_formula_that_begins_with_a_quantifier(theories: list[ltn.Theory]) -> None:
    set_table(theories[0], np.cos(np.arange(np.prod(SIZES))))
    scores = theories[0].query("forall other: holds(other, k, t)").tensor.numpy()
    found = theories[0].rank({"k": ["s"], "t": ["w"]}, "forall other: holds(other, k, t)", "t")
    assert found.ranks.tolist() == [1.0 + (scores[1] > scores[1, 2]).sum()]


def test_relations_are_tables_of_known_rows() -> None:
    theory = theory_of("product")
    domains = [theory.signature.variables[variable] for variable in VARIABLES]
    known = theory.relation("known", domains, [("a", "s", "z"), ("c", "r", "u"), ("a", "s", "v")])
    set_table(theory, np.arange(np.prod(SIZES)))
    rows = [("a", "s", "v"), ("c", "r", "v"), ("b", "r", "u")]
    assert theory.rank(rows, "holds(h, k, t)", "t", [known]).ranks.tolist() == [2.0, 3.0, 4.0]
    assert theory.rank(known, "holds(h, k, t)", "t", [known]).ranks.tolist() == [2.0, 1.0, 4.0]
    # What is known may be ranked too: all that is not is false.
    assert theory.rank(known, "known(h, k, t)", "t").ranks.tolist() == [1.5, 1.5, 1.0]


@pytest.mark.parametrize("chunk", [None, 1])
def test_definitions_are_ranked_by_what_they_stand_for(chunk: int | None) -> None:
    theory = theory_of("lukasiewicz", chunk=chunk)
    set_table(theory, np.cos(np.arange(np.prod(SIZES))))
    theory.define("some(t): exists other, k: holds(other, k, t) & holds(a, k, t)")
    theory.define("same(h, k, t): holds(h, k, t)")
    scores = theory.query("some(t)").tensor.numpy()
    above, equal = ((scores > score).sum() for score in scores), ((scores == score).sum() for score in scores)
    expected = [1.0 + more + (same - 1) / 2 for more, same in zip(above, equal, strict=True)]
    assert theory.rank({"t": TAILS}, "some(t)", "t").ranks.tolist() == expected
    rows = named([(0, 1, 2), (2, 0, 3)])
    atom, defined = (theory.rank(rows, f"{name}(h, k, t)", "t") for name in ("holds", "same"))
    assert atom.ranks.tolist() == defined.ranks.tolist()


def test_a_variable_alone_is_ranked(theories: list[ltn.Theory]) -> None:
    set_table(theories[0], np.arange(np.prod(SIZES)))
    found = theories[0].rank({"t": ["u", "z"]}, "holds(b, s, t)", "t", [[("w",)]])
    assert found.ranks.tolist() == [3.0 - 1.0, 1.0]


def test_the_operators_and_data_of_a_question(theories: list[ltn.Theory]) -> None:
    set_table(theories[0], np.cos(np.arange(np.prod(SIZES))))
    formula, rows = "forall other: holds(other, k, t)", [(1, 2), (0, 3), (1, 0)]
    table = {"k": [KINDS[k] for k, _ in rows], "t": [TAILS[t] for _, t in rows]}
    for question in ({"semantics": "godel"}, {"p": 7}, {"other": ["c"]}):
        scores = theories[0].query(formula, **question).tensor.numpy()
        found = theories[0].rank(table, formula, "t", **question).ranks
        assert found.tolist() == [1.0 + (scores[k] > scores[k, t]).sum() for k, t in rows]


def test_several_variables_are_ranked_one_by_one(theories: list[ltn.Theory]) -> None:
    set_table(theories[0], np.resize(LOGITS, SIZES))
    rows = [(0, 1, 2), (2, 0, 0)]
    both = theories[0].rank(named(rows), "holds(h, k, t)", ("t", "h"), [named([(1, 1, 2)])])
    alone = [theories[0].rank(named(rows), "holds(h, k, t)", of, [named([(1, 1, 2)])]) for of in "th"]
    assert both.ranks.tolist() == np.stack([each.ranks for each in alone], axis=1).tolist()
    assert both.mrr == pytest.approx((alone[0].mrr + alone[1].mrr) / 2)
    assert both.hits(2) == pytest.approx((alone[0].hits(2) + alone[1].hits(2)) / 2)
    frame = both.to_frame()
    assert list(frame) == ["h", "k", "t", "rank of t", "rank of h"]
    assert frame.iloc[0, :3].tolist() == ["a", "s", "w"]
    assert frame["rank of h"].tolist() == alone[1].ranks.tolist()


@pytest.fixture(scope="module")
def learned() -> ltn.Theory:
    theory = ltn.Theory("stable_product")
    things, kinds = theory.domain("things", shape=2), theory.domain("kinds", shape=2)
    theory.constants(["p", "m", "n", "q"], things, initializer="glorot_normal")
    theory.constants(["r", "s"], kinds, initializer="glorot_normal")
    theory.variables("h, t", things)
    theory.variable("k", kinds)
    theory.predicate("holds", (things, kinds, things), ltn.Predicate.ComplEx())
    theory.relation("nothing", (things, kinds, things), np.zeros((0, 3), int))
    return theory


class TestForms:
    """Learned individuals, whose features are two numbers: data give them by name or by index."""

    ROWS = ((0, 1, 2), (3, 0, 1), (1, 1, 2))
    NAMES = (("p", "s", "n"), ("q", "r", "m"), ("m", "s", "n"))
    KNOWN = (("p", "s", "q"), ("q", "r", "n"))

    def expected(self, learned: ltn.Theory) -> list[float]:
        """By NumPy: the truth of ComplEx is a sigmoid, so its order is that of the score."""
        things, kinds = (table.tensor.numpy() @ [1.0, 1.0j] for table in learned.individuals)
        found = []
        for (h, k, t), hidden in zip(self.ROWS, ([3], [2], []), strict=True):
            scores = np.real(things[h] * kinds[k] * things.conj())
            scores[hidden] = -np.inf
            found.append(1.0 + (scores > scores[t]).sum())
        return found

    @pytest.mark.parametrize(
        "form",
        [
            lambda names, _: names,
            lambda _, places: places,
            lambda names, _: np.array(names),
            lambda _, places: np.array(places),
            lambda names, _: pd.DataFrame(names),
            lambda _, places: pd.DataFrame(places),
            lambda names, _: pd.DataFrame(names, columns=["h", "k", "t"])[["t", "h", "k"]],
            lambda names, _: dict(zip("hkt", map(list, zip(*names, strict=True)), strict=True)),
            lambda _, places: dict(zip("hkt", tf.unstack(tf.constant(places), axis=1), strict=True)),
            lambda names, _: tf.data.Dataset.from_tensor_slices(
                dict(zip("hkt", map(list, zip(*names, strict=True)), strict=True))
            ).batch(2),
            lambda names, _: (pd.DataFrame(names, columns=["h", "k", "t"])).astype("category"),
        ],
    )
    def test_all_give_the_same(self, learned: ltn.Theory, form: Any) -> None:
        places = {"p": 0, "m": 1, "n": 2, "q": 3, "r": 0, "s": 1}
        known = form(self.KNOWN, [tuple(places[name] for name in row) for row in self.KNOWN])
        found = learned.rank(form(self.NAMES, self.ROWS), "holds(h, k, t)", "t", [known])
        assert found.ranks.tolist() == self.expected(learned)
        assert found.to_frame()[["h", "k", "t"]].to_numpy().tolist() == [list(row) for row in self.NAMES]

    def test_tables_without_rows_hide_nothing(self, learned: ltn.Theory) -> None:
        raw = learned.rank(self.NAMES, "holds(h, k, t)", "t")
        empty = [
            [],
            {"h": [], "k": [], "t": []},
            np.zeros((0, 3), int),
            pd.DataFrame(columns=["h", "k", "t"]),
        ]
        tables = [*empty, learned.known["nothing"]]
        found = learned.rank([self.NAMES[0]], "holds(h, k, t)", "t", tables)
        assert found.ranks.tolist() == raw.ranks[:1].tolist()
        assert (found.is_filtered, raw.is_filtered) == (True, False)

    def test_batches_do_not_change_ranks(self, learned: ltn.Theory) -> None:
        tables = [learned.individuals[0].tensor.numpy(), learned.individuals[1].tensor.numpy()]
        rows = [(h, k, t) for h in range(4) for k in range(2) for t in range(4)]
        whole = learned.rank(rows, "holds(h, k, t)", ("h", "t"), [self.ROWS]).ranks
        for chunk in (1, 8, 100):
            learned.chunk = chunk
            assert (
                learned.rank(rows, "holds(h, k, t)", ("h", "t"), [self.ROWS]).ranks.tolist() == whole.tolist()
            )
        learned.chunk = None
        assert_close(tables[0], learned.individuals[0].tensor)


@pytest.fixture(scope="module")
def seen() -> ltn.Theory:
    theory = ltn.Theory("product")
    images, digits = theory.domain("images", shape=3), theory.domain("digits", values=[3, 5, 7])
    theory.variable("x", images)
    theory.variable("d", digits, values=[3])
    theory.predicate("is", (images, digits), lambda pair: pair[0][:, 0] / pair[1][:, 0])
    return theory


class TestFeatures:
    """Individuals that are not known are told apart by their features."""

    def test_of_other_variables(self, seen: ltn.Theory) -> None:
        images = np.array([[1.0, 0, 0], [1.0, 0, 1.0], [2.0, 1.0, 0]])
        found = seen.rank({"x": images, "d": [7, 7, 5]}, "is(x, d)", "d", [{"x": images[:1], "d": [3]}])
        # Among all individuals of the domain, whatever the variable was declared to range over.
        assert found.ranks.tolist() == [2.0, 3.0, 2.0]
        assert found.to_frame().to_numpy().tolist() == [[0, 7, 2], [1, 7, 3], [2, 5, 2]]

    def test_of_the_ranked_variable(self, seen: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match="known individuals of its domain 'images'"):
            seen.rank({"x": np.ones((1, 3)), "d": [3]}, "is(x, d)", "x")


def test_memory_is_bounded_by_the_chunk() -> None:
    theory, seen = ltn.Theory("product", chunk=50), []

    def record(pair: list[tf.Tensor]) -> tf.Tensor:
        seen.append(len(pair[0]))
        return pair[0][:, 0] / 20.0 + 0.0 * pair[1][:, 0]

    things = theory.domain("things", values=range(10))
    theory.variables("x, y, z", things)
    theory.predicate("before", (things, things), record)
    rows = [(number, (3 * number) % 10) for number in range(10)] * 3
    theory.rank(rows, "before(x, y)", "y")
    assert (max(seen), sum(seen)) == (50, 300)
    # One row alone has 100 combinations.
    seen.clear()
    theory.rank(rows, "exists z: before(x, z) & before(z, y)", "y")
    assert max(seen) <= 100


def test_saturated_truths_differ_by_their_logarithms() -> None:
    theory = theory_of("product")
    set_table(theory, np.linspace(20.0, 60.0, np.prod(SIZES)))
    assert theory.query("holds(h, k, t)").tensor.numpy().min() == 1.0
    rows = [(0, 0, place) for place in range(len(TAILS))]
    assert theory.rank(named(rows), "holds(h, k, t)", "t").ranks.tolist() == [4.0, 3.0, 2.0, 1.0]


def test_values_without_an_order_are_refused() -> None:
    theory = ltn.Theory("product")
    points = theory.domain("points", values=[0.0, 1.0, 4.0], equality="smooth")
    theory.variables("x, y", points)
    theory.function("root", points, points, lambda x: tf.sqrt(x - 1.0))
    rows = [(1.0, 1.0), (0.0, 4.0)]
    with pytest.raises(NotFiniteError, match="are NaN for 3 of 3 individuals of 'y' in row 1"):
        theory.rank(rows, "root(x) = y", "y")


def test_means_and_looks() -> None:
    theory = ltn.Theory("product")
    things = theory.domain("things", values=["a", "b", "c"])
    theory.variable("x", things)
    theory.predicate("P", things, lambda x: x[:, 0] / 2.0)
    found = theory.rank({"x": ["a", "c"]}, "P(x)", "x", [[("b",)]])
    assert found.ranks.tolist() == [1.0, 1.0]
    raw = theory.rank({"x": ["a", "c"]}, "P(x)", "x")
    assert raw.mrr == pytest.approx((1 / 3 + 1) / 2)
    assert (raw.hits(1), raw.hits(2), raw.hits(3)) == (0.5, 0.5, 1.0)
    assert repr(raw) == (
        "Ranks of x in `P(x)`, raw: 2 rows, MRR 0.667, hits@1 0.500, hits@3 1.000, hits@10 1.000"
    )
    page = raw._repr_html_()
    assert all(part in page for part in ("raw: 2 rows", "hits@10", "66.7%"))
