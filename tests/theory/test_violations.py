"""Violations: which groundings break which axiom, against plain loops; labels, counts, limits, slices."""

import itertools
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from benchmarks import violations as benchmark
from ltn.evaluation import claim_slices
from ltn.theory.violations import Violations
from tests.theory.theories import classifier, degrees, labelled_points
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

PETS = np.array([[0.75, 1.0], [1.0, 0.25], [0.5, 0.0], [0.125, 0.9], [0.9, 0.875]], np.float32)
TOPICS = ["ai", "db", "ml"]
AXIOMS = """
    dogs: forall x: dog(x) -> animal(x)
    symmetric: forall x, y where dog(x) > 0.6: near(x, y) -> near(y, x)
    paired: forall diag(x, l) where l = 1: ~dog(x)
    nested: forall t: forall x where first(t) > 0.5: dog(x) & animal(x)
    closed: forall t: first(t) | dog_star
    fact: dog_star & first(ai)
"""


def theory_of(semantics: Any = "product", axioms: str = AXIOMS) -> ltn.Theory:
    """Pets in the unit square."""
    theory = ltn.Theory(semantics)
    pets = theory.domain("pets", shape=2)
    theory.variables("x, y, z", pets)
    topics = theory.domain("topics", values=TOPICS)
    theory.variable("t", topics)
    theory.variable("l", theory.domain("labels"))

    theory.predicate("dog", pets, lambda x: _note("dog", x)[:, 0])
    theory.predicate("animal", pets, lambda x: x[:, 1])
    theory.predicate("near", (pets, pets), lambda pair: _note("near", pair[0])[:, 0] * pair[1][:, 1])
    theory.predicate("first", topics, lambda t: t[:, 0] < 0.5)
    theory.proposition("dog_star", 0.25)
    theory.axioms(axioms)
    for rows in RAN.values():
        rows.clear()
    return theory


def _note(network: str, x: Any) -> Any:
    RAN[network].append(int(x.shape[0]))
    return x


def data_of(count: int = len(PETS)) -> dict[str, Any]:
    return {"pets": PETS[:count], "l": np.array([1, 0, 1, 1, 0], np.float32)[:count]}


# How many rows each run of a network had, since the last theory was made.
RAN: dict[str, list[int]] = {"dog": [], "near": []}
# (axiom, {variable: place}, truth, atoms), by loops.
Row = tuple[str, dict[str, Any], float, dict[str, float]]


def by_loops() -> Iterator[Row]:
    dog, animal = PETS.astype(float).T
    near = np.outer(dog, animal)
    for i in range(len(PETS)):
        yield "dogs", {"x": i}, 1 - dog[i] * (1 - animal[i]), {"dog(x)": dog[i], "animal(x)": animal[i]}
    for i, j in itertools.product(range(len(PETS)), repeat=2):
        if dog[i] > 0.6:
            atoms = {"near(x, y)": near[i, j], "near(y, x)": near[j, i]}
            yield "symmetric", {"x": i, "y": j}, 1 - near[i, j] * (1 - near[j, i]), atoms
    for i, label in enumerate(data_of()["l"]):
        if label == 1:
            yield "paired", {"x": i, "l": i}, 1 - dog[i], {"dog(x)": dog[i]}
    for i in range(len(PETS)):
        atoms = {"dog(x)": dog[i], "animal(x)": animal[i]}
        yield "nested", {"t": "ai", "x": i}, dog[i] * animal[i], atoms
    for t in TOPICS:
        first = float(t == "ai")
        yield "closed", {"t": t}, 1 - 0.75 * (1 - first), {"first(t)": first, "dog_star": 0.25}
    yield "fact", {}, 0.25, {"dog_star": 0.25, "first(ai)": 1.0}


def as_rows(found: pd.DataFrame) -> list[Row]:
    variables = [column for column in found.columns if column not in ("axiom", "truth", "atoms")]
    return [
        (
            row["axiom"],
            {variable: row[variable] for variable in variables if not pd.isna(row[variable])},
            row["truth"],
            row["atoms"],
        )
        for _, row in found.iterrows()
    ]


def in_order(rows: Any) -> list[Row]:
    return sorted(rows, key=lambda row: (row[0], sorted((name, str(at)) for name, at in row[1].items())))


def assert_same_rows(found: pd.DataFrame, expected: Any, tolerance: float = 1e-5) -> None:
    mine, theirs = in_order(as_rows(found)), in_order(expected)
    assert [row[:2] for row in mine] == [row[:2] for row in theirs]
    for (_, _, truth, atoms), (_, _, other, others) in zip(mine, theirs, strict=True):
        assert truth == pytest.approx(other, abs=tolerance)
        assert atoms == pytest.approx(others, abs=tolerance)


def frame_of(count: int = len(PETS), index: Any = None) -> pd.DataFrame:
    data = data_of(count)
    return pd.DataFrame({"pets": list(data["pets"]), "l": data["l"]}, index=index)


class TestTable:
    # The projections of the stable operators shift truths by 1e-4; the logarithm sees through them.
    @pytest.mark.parametrize(
        ("semantics", "tolerance"), [("product", 1e-5), ("stable_product", 1e-3), ("log_product", 1e-5)]
    )
    @pytest.mark.parametrize("threshold", [0.0, 0.3, 0.55, 1.0])
    def test_it_has_what_plain_loops_find(self, semantics: str, tolerance: float, threshold: float) -> None:
        found = theory_of(semantics).violations(frame_of(), threshold)
        expected = [row for row in by_loops() if row[2] < threshold]
        if semantics == "stable_product" and threshold == 1.0:
            # They are never quite 1.
            expected = list(by_loops())
        assert_same_rows(found, expected, tolerance)
        assert list(found.columns) == ["axiom", "x", "y", "l", "t", "truth", "atoms"]
        for axiom, part in found.groupby("axiom"):
            assert part.truth.is_monotonic_increasing, axiom
        assert list(dict.fromkeys(found.axiom)) == [a for a in _names() if a in set(found.axiom)]

    def test_of_one_axiom_its_rows_are_chosen_as_pandas_does(self) -> None:
        found = theory_of().violations(frame_of())
        chosen = found[found.axiom == "dogs"]
        assert chosen.x.tolist() == [1]
        assert type(chosen) is pd.DataFrame

    def test_negated_quantifiers_are_closed_under_every_semantics(self) -> None:
        for semantics in ("product", "log_product"):
            found = theory_of(semantics, "none: ~exists x: dog(x)").violations(data_of())
            assert list(found.columns) == ["axiom", "truth", "atoms"]
            assert len(found) == 1
            assert list(found.atoms[0]) == ["exists x: dog(x)"]

    def test_a_quantified_part_is_one_atom(self) -> None:
        found = theory_of(axioms="some: forall x: ~(exists[p=1] y: near(x, y))").violations(data_of(1))
        assert_same_rows(found, [("some", {"x": 0}, 0.25, {"exists[p=1] y: near(x, y)": 0.75})])

    def test_a_use_of_a_definition_is_one_atom(self) -> None:
        text = "define likes(x): exists[p=1] y: near(x, y)\nlikers: forall x: ~likes(x)"
        found = theory_of(axioms=text).violations(data_of(1))
        assert_same_rows(found, [("likers", {"x": 0}, 0.25, {"likes(x)": 0.75})])

    def test_relations_select_and_are_atoms(self) -> None:
        theory = ltn.Theory("product")
        people = theory.domain("people", shape=1)
        theory.constants("ann, bob, eve", people, values=[[0.25], [0.5], [1.0]])
        theory.variables("x, y", people)
        theory.relation("knows", (people, people), [("ann", "bob"), ("bob", "eve"), ("eve", "ann")])
        theory.predicate("old", people, lambda x: x[:, 0])
        theory.axiom("forall x, y where knows(x, y): old(x) -> old(y) & knows(y, x)", name="known")
        assert_same_rows(
            theory.violations(),
            [
                ("known", {"x": "eve", "y": "ann"}, 0.0, {"old(x)": 1.0, "old(y)": 0.25, "knows(y, x)": 0.0}),
            ],
        )

    @pytest.mark.parametrize(("guard", "rows"), [("1 = 2", 0), ("1 = 1", 2)])
    def test_guards_without_variables(self, guard: str, rows: int) -> None:
        theory = degrees([0.2, 0.1], "product")
        theory.axiom(f"forall x where {guard}: I(x)", name="guarded")
        found = theory.violations()
        assert (len(found), found.total, found.groundings()["guarded"]) == (rows, rows, rows)
        assert list(found.columns) == ["axiom", "x", "truth", "atoms"]

    def test_a_variable_may_have_the_name_of_a_column(self) -> None:
        theory = ltn.Theory("product")
        truth = theory.variable("truth", theory.domain("numbers"))
        theory.predicate("P", theory.signature.domains["numbers"], lambda x: x[:, 0])
        theory.axiom(f"forall {truth.label}: P({truth.label})", name="all")
        found = theory.violations({"truth": [0.25, 0.75]})
        assert list(found.columns) == ["axiom", "variable truth", "truth", "atoms"]

    def test_under_other_operators_and_options(self) -> None:
        theory = theory_of(axioms="both: forall x: exists[p=1] y: near(x, y) & dog(x)")
        theory.set_hyperparameters(axiom="both", p_forall=4)
        assert_close(theory.violations(data_of(1), 1.0).truth, [0.75 * 0.75])
        assert_close(theory.violations(data_of(1), 1.0, semantics="godel").truth, [0.75])

    def test_samples_are_drawn_where_they_are_asked_for(self) -> None:
        theory = theory_of(axioms="few: forall[sample=3] x, y: near(x, y)")
        assert theory.violations(data_of()).groundings()["few"] == 25
        assert theory.violations(data_of(), sample=4).groundings()["few"] == 4


def _names() -> list[str]:
    return [line.split(":")[0].strip() for line in AXIOMS.strip().splitlines()]


class TestIndividuals:
    def test_by_the_index_of_the_frame(self) -> None:
        found = theory_of().violations(frame_of(index=list("abcde")))
        assert set(found.x.dropna()) <= set("abcde")
        assert found[found.axiom == "dogs"].x.tolist() == ["b"]
        assert found[found.axiom == "paired"].l.tolist() == ["a"]
        assert found.counts("rows").index.tolist() == list("abcde")

    @pytest.mark.parametrize("start", [0, 100])
    def test_by_a_numbered_index(self, start: int) -> None:
        found = theory_of().violations(frame_of(index=pd.RangeIndex(start, start + 5)))
        assert found[found.axiom == "dogs"].x.tolist() == [start + 1]
        assert found.x.dtype == "Int64", "numbers stay whole where some are missing"
        assert found.counts("rows").index.tolist() == [start + number for number in range(5)]

    def test_numbers_of_a_frame_too(self) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        theory.variable("x", numbers)
        theory.predicate("P", numbers, lambda x: x[:, 0])
        theory.axiom("forall x: P(x)", name="all")
        assert theory.violations(pd.DataFrame({"x": [0.9, 0.25]})).x.tolist() == [1]
        assert theory.violations({"x": [0.9, 0.25]}).x.tolist() == [0.25], "as `explain` shows them"

    def test_named_individuals_in_data(self) -> None:
        theory = theory_of(axioms="is: forall diag(x, t): dog(x) & first(t)")
        frame = pd.DataFrame({"x": list(PETS[:2]), "t": ["db", "ai"]}, index=["one", "two"])
        assert as_rows(theory.violations(frame))[0][:2] == ("is", {"x": "one", "t": "db"})

    def test_all_forms_of_data_give_the_same(self) -> None:
        theory, data = theory_of(), data_of()
        expected = theory.violations(data)
        batches = tf.data.Dataset.from_tensor_slices(data).batch(2)
        assert theory.violations(batches).equals(expected)
        assert theory.violations(**data).equals(expected)
        assert batches is not None
        weighted = tf.data.Dataset.from_tensor_slices((data, None, np.arange(5.0))).batch(2)
        assert theory.violations(weighted).equals(expected), "whatever rows weigh"


class TestCounts:
    def test_of_axioms_and_rows(self) -> None:
        found = theory_of().violations(frame_of(), 0.55)
        expected = [row for row in by_loops() if row[2] < 0.55]
        assert found.counts().to_dict() == {n: sum(row[0] == n for row in expected) for n in _names()}
        all_of = {n: sum(row[0] == n for row in by_loops()) for n in _names()}
        assert found.groundings().to_dict() == all_of
        assert found.shares().to_dict() == {n: found.counts()[n] / all_of[n] for n in _names()}
        assert found.total == len(found) == len(expected)
        rows = [{at for at in row[1].values() if isinstance(at, int)} for row in expected]
        assert found.counts("rows").tolist() == [sum(i in of for of in rows) for i in range(len(PETS))]

    def test_a_row_counts_once_for_each_violation(self) -> None:
        theory = theory_of(axioms="three: forall x, y, z: near(x, y) & near(y, z)")
        found = theory.violations({"pets": PETS[2:4]}, 1.0)
        assert found.counts("rows").tolist() == [7, 7], "one of 8 is without each"

    def test_data_that_are_no_rows(self) -> None:
        theory = theory_of(axioms="all: forall x, t: dog(x) & first(t)")
        found = theory.violations({"x": PETS, "l": [1.0]})
        with pytest.raises(ltn.LogicValueError, match="their columns differ: 'x' has 5, 'l' has 1"):
            found.counts("rows")
        other = degrees([0.1], "product")
        other.axiom("forall x: I(x)")
        with pytest.raises(ltn.LogicValueError, match="no data came"):
            other.violations().counts("rows")

    def test_what_was_counted_cannot_be_changed(self) -> None:
        found = theory_of().violations(frame_of())
        for counted in (found.counts(), found.counts("rows"), found.groundings()):
            counted[:] = 0
        assert found.counts().sum() == found.total > 0
        assert found.counts("rows").sum() > 0


class TestLimit:
    def test_the_worst_of_each_axiom_stay(self) -> None:
        whole = theory_of().violations(frame_of(), 1.0)
        assert theory_of().violations(frame_of(), 1.0, limit=None).equals(whole)
        found = theory_of().violations(frame_of(), 1.0, limit=9)
        assert len(found) == 9
        assert found.total == whole.total == len(whole) > 9
        for by in ("axioms", "rows"):
            assert found.counts(by).equals(whole.counts(by))
        assert set(found.axiom) == set(whole.axiom), "none has all of the room"
        for axiom, part in found.groupby("axiom"):
            assert_close(part.truth, whole[whole.axiom == axiom].truth[: len(part)])

    def test_what_one_axiom_does_not_need_is_for_the_others(self) -> None:
        found = theory_of(axioms="a: dog_star\nb: forall x: dog(x)\nc: forall x: animal(x)").violations(
            {"x": np.full((20, 2), 0.25)}, limit=11
        )
        assert found.axiom.value_counts().to_dict() == {"a": 1, "b": 5, "c": 5}

    def test_all(self) -> None:
        theory = theory_of(axioms="many: forall x, y: near(x, y)")
        data = {"pets": np.full((150, 2), 0.5, np.float32)}
        assert len(theory.violations(data)) == 10_000
        assert len(theory.violations(data, limit=None)) == theory.violations(data).total == 150**2


class TestSlices:
    SLICED = (
        AXIOMS
        + """
    likes: forall x: exists y: near(x, y) & ~dog(y)
    others: forall y: dog(y) -> animal(y)
    three: forall x: forall y, z where near(x, y) > 0.2: near(y, z) -> near(x, z)
    none: ~exists x: dog(x)
"""
    )

    @pytest.mark.parametrize("semantics", ["product", "log_product"])
    @pytest.mark.parametrize(("rows", "chunk"), [(2, None), (3, 60), (2**13, 20)])
    def test_they_change_nothing(
        self, semantics: str, rows: int, chunk: int | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theory = theory_of(semantics, self.SLICED)
        whole = theory.violations(frame_of(4), 0.7)
        report = theory.report(frame_of(4))
        monkeypatch.setattr(claim_slices, "_MOST_ROWS", rows)
        theory.chunk = chunk
        found = theory.violations(frame_of(4), 0.7)
        assert_same_rows(found, as_rows(whole))
        for by in ("axioms", "rows"):
            assert found.counts(by).equals(whole.counts(by))
        assert theory.report(frame_of(4)).violated.equals(report.violated)

    def test_relations_and_named_individuals(self) -> None:
        theory = ltn.Theory("product")
        people = theory.domain("people", shape=1)
        values = np.linspace(0.1, 0.9, 6)[:, np.newaxis]
        theory.constants([f"p{n}" for n in range(6)], people, values=values)
        theory.variables("x, y, z", people)
        knows = [(0, 1), (1, 2), (5, 0), (2, 2), (4, 1), (1, 5)]
        theory.relation("knows", (people, people), knows)
        theory.predicate("old", people, lambda x: x[:, 0])
        theory.axioms("""
            known: forall x, y where knows(x, y): old(x) -> old(y)
            chain: forall x, y, z where knows(x, y) & knows(y, z): old(x) & old(z)
            given: forall diag(x, y): old(x) -> old(y) & ~knows(x, y)
            somebody: forall x: exists y where knows(x, y): old(y)
        """)
        for data in (None, {"x": ["p5", "p0", "p1"], "y": ["p0", "p0", "p2"]}):
            chosen = theory.axiom_list if data else [theory[name] for name in ("known", "chain", "somebody")]
            theory["given"].active = bool(data)
            theory.chunk = None
            whole = theory.violations(data, 0.8)
            assert set(whole.axiom) == {axiom.name for axiom in chosen}
            theory.chunk = 4
            assert_same_rows(theory.violations(data, 0.8), as_rows(whole))

    def test_networks_run_once_for_all_axioms_on_few_rows_at_a_time(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claim_slices, "_MOST_ROWS", 8)
        rules = [f"a{n}: forall x: dog(x) -> animal(x)" for n in range(20)]
        rules += [f"b{n}: forall y: ~dog(y)" for n in range(5)]
        rules += [f"c{n}: forall diag(x, l) where l = {n}: dog(x)" for n in range(5)]
        theory = theory_of(axioms="\n".join(rules))
        points = np.random.default_rng(0).uniform(size=(20, 2))
        found = theory.violations({"pets": points, "l": np.arange(20) % 3})
        assert RAN["dog"] == [8, 8, 4]
        assert found.groundings().sum() == 25 * 20 + 20
        assert found.counts()["a0"] == (1 - points[:, 0] * (1 - points[:, 1]) < 0.5).sum()

    def test_all_is_evaluated_at_once_where_it_is_little(self) -> None:
        theory = theory_of(axioms=self.SLICED)
        theory.violations(data_of())
        assert RAN["dog"] == [5]

    def test_combinations_of_several_variables_are_bounded(self) -> None:
        theory = theory_of(axioms="three: forall x, y, z: near(x, y) -> near(y, z)")
        theory.chunk = 50
        points = np.random.default_rng(1).uniform(size=(12, 2))
        found = theory.violations({"pets": points}, limit=5)
        near = np.outer(*points.T)
        violated = 1 - near[:, :, np.newaxis] * (1 - near[np.newaxis]) < 0.5
        assert (found.total, found.groundings()["three"], len(found)) == (violated.sum(), 12**3, 5)
        # Of one x there are 12 * 12 combinations, so y has slices too: x and y, and y and z.
        assert max(RAN["near"]) <= 12 + 4 * 12


class TestWhichAxioms:
    def test_weights_do_not_matter_and_inactive_ones_are_left_out(self) -> None:
        theory = theory_of()
        theory["dogs"].weight = 0.0
        theory["paired"].active = False
        found = theory.violations(frame_of())
        assert "dogs" in set(found.axiom)
        assert "paired" not in found.counts()
        for axiom in theory.axiom_list:
            axiom.active = False
        with pytest.raises(ltn.LogicValueError, match="no axiom of the theory is active"):
            theory.violations(frame_of())

    def test_python_code_has_one_grounding(self) -> None:
        theory = ltn.Theory("product")
        A = theory.proposition("A", 0.25)
        theory.axiom(lambda: A, name="code")
        found = theory.violations()
        assert as_rows(found) == [("code", {}, 0.25, {})]
        assert theory.report().violated.tolist() == [1.0]

    def test_truths_that_are_not_numbers(self) -> None:
        def undefined(x: Any) -> Any:
            return tf.where(x > 0.8, math.nan, 1.0 - x)

        theory = theory_of(ltn.semantics.product.replace(Not=undefined), "no: forall x: ~dog(x)")
        with pytest.raises(ltn.errors.NotFiniteError, match="'no' is NaN for 2 of 5 groundings"):
            theory.violations(frame_of())
        assert math.isnan(theory.report(frame_of()).violated[0])


class TestMistakes:
    def test_missing_individuals(self) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"In `forall x: dog.*'x' has no individuals"):
            theory_of().violations({"l": [1.0]})

    def test_a_diagonal_of_different_lengths(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="same number of individuals"):
            theory_of().violations({"pets": PETS, "l": [1.0]})


class TestPrinted:
    def test_on_80_columns(self) -> None:
        theory = theory_of()
        theory.axiom(
            "forall x: dog(x) & animal(x) & dog(x) & near(x, x)", name="an_axiom_with_a_quite_long_name"
        )
        found = theory.violations(frame_of(), limit=8)
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            lines = str(found).split("\n")
        assert lines[0].split() == ["axiom", "x", "y", "l", "t", "truth", "atoms"]
        assert len(lines) == 1 + 8 + 2
        assert max(map(len, lines)) <= 80
        assert lines[-2].startswith(f"{found.total} violations, a truth below 0.5, of ")
        assert lines[-1].startswith("The table has 8 rows, the worst of each axiom")
        assert "NaN" not in str(found)
        assert "..." in str(found), "many atoms are cut"

    def test_many_rows(self) -> None:
        found = theory_of().violations(frame_of(), 1.0)
        with pd.option_context("display.max_rows", 2):
            assert f"{len(found) - 2} more rows are not shown." in str(found)
            page = found._repr_html_()
        assert page is not None
        assert page.count("<tr") == 1 + 2
        assert f"{len(found) - 2} more rows are not shown." in page
        with pd.option_context("display.notebook_repr_html", False):
            assert found._repr_html_() is None

    def test_none(self) -> None:
        found = theory_of(axioms="dogs: forall x: dog(x) -> animal(x)").violations(frame_of(1))
        assert str(found) == "No violations, a truth below 0.5, of 1 grounding of 1 axiom."
        assert found.columns.tolist() == ["axiom", "x", "truth", "atoms"]
        assert "<table" not in (found._repr_html_() or "")

    def test_without_some_columns_it_is_left_to_pandas(self) -> None:
        found = theory_of().violations(frame_of())
        del found["atoms"]
        assert str(found) == str(pd.DataFrame(found))
        assert found._repr_html_() == pd.DataFrame(found)._repr_html_()

    def test_it_can_be_pickled(self) -> None:
        found = theory_of().violations(frame_of())
        again = pickle.loads(pickle.dumps(found))
        assert isinstance(again, Violations)
        assert again.equals(found)
        assert again.counts("rows").equals(found.counts("rows"))


class TestReport:
    def test_it_has_the_shares(self) -> None:
        theory = theory_of()
        assert theory.report(frame_of()).violated.tolist() == theory.violations(frame_of()).shares().tolist()

    def test_axioms_that_are_not_active_too(self) -> None:
        theory = degrees([0.1, 0.9], "product")
        theory.axiom("forall x: I(x)", name="all")
        theory["all"].active = False
        assert theory.report().violated.tolist() == [0.5]

    def test_of_networks(self) -> None:
        theory, data = classifier(), labelled_points(40)
        truths = theory.query("A(x)", x=data["x"]).numpy()
        positive, negative = truths[data["l"] == 1], 1.0 - truths[data["l"] == 0]
        shares = [(positive < 0.5).mean(), (negative < 0.5).mean()]
        assert_close(theory.report(data).violated, shares)


def test_the_benchmark_prints_rows_per_second(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--axioms", "2", "--rows", "50", "--rounds", "1"])
    said = capsys.readouterr().out
    assert "2 axioms, 50 rows: " in said
    assert "rows per second" in said
    assert "times the network alone" in said
