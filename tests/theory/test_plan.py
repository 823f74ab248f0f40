"""Plans for people: what `theory.plan` tells is what is really run."""

import re

import numpy as np
import pandas as pd
import pytest

import ltn
from ltn.errors import LogicValueError
from ltn.evaluation.table import Line, PlanTable
from tests.theory.counting import Digits, People, images
from tests.theory.test_speed_rules import pairs

ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"
SUMS = np.arange(32) % 19
DATA = {"x": images(32), "y": images(32, seed=1), "n": SUMS}


def tuples(table: pd.DataFrame) -> dict[str, int]:
    """The number of tuples, by strategy."""
    found = table[table.strategy != ""]
    return dict(zip(found.strategy, found.tuples.astype(int), strict=True))


class TestRows:
    @pytest.mark.parametrize(
        "text",
        [
            "forall x, y: F(x, y) -> F(y, x)",
            "forall x: S(x) & ~F(x, x) & exists y: F(x, y)",
            "forall x, y where lower(x, y): F(x, y) & S(x)",
            "forall x where number(x) > 0: S(x) & exists y where lower(x, y): F(x, y)",
            "forall x, y where S(x) > 0.5: F(x, f(y))",
            "S(a) & F(a, b) | forall x: S(f(x))",
        ],
    )
    def test_are_those_that_networks_received(self, text: str) -> None:
        people = People()
        told = people.theory.plan(text).rows
        people.forget()
        people.theory.query(text)
        run = {name: getattr(people, name).counted() for name in ("S", "F", "R", "f")}
        counted = {name: sum(rows) for name, rows in run.items() if rows}
        assert {name: rows for name, rows in told.items() if name in run} == counted

    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            # What the outer guard's tuples need, and the inner one's, is read from one run on everyone.
            ("forall d1 where d1 > 2: P(d1) & exists d2 where d1 > 4: P(d1) & P(d2)", 10),
            ("forall d1 where d1 > 2: P(d1) & exists d2 where d2 > d1: P(d1)", 7),
        ],
    )
    def test_of_nested_guards_are_no_more_than_needed(self, text: str, rows: int) -> None:
        theory = ltn.Theory("product")
        theory.variables("d1, d2", theory.domain("digits", values=range(10)))
        theory.predicate("P", theory.signature.domains["digits"], ltn.Predicate.MLP([1], (2,)))
        assert theory.plan(text).rows == {"P": rows}

    def test_of_all_axioms_are_those_of_a_training_step(self) -> None:
        people = People(["forall x, y: F(x, y) -> F(y, x)", "forall x: S(x)", "S(a) & ~F(a, a)"])
        told = people.theory.plan().rows
        people.forget()
        people.theory({})
        assert told == {"F": sum(people.F.counted()), "S": sum(people.S.counted())}

    def test_in_chunks_are_those_of_one_slice(self) -> None:
        people = People()
        people.theory.chunk = 10
        table = people.theory.plan("forall x, y: F(x, y)")
        assert table.rows == {"F": 10}
        assert "10 combinations at a time" in str(table)


class TestTuples:
    def test_are_those_that_are_selected(self) -> None:
        digits = Digits([ADDITION])
        found = tuples(digits.theory.plan("axiom_1", DATA).to_frame())
        assert found == {"looked up": int(np.sum(np.minimum(SUMS, 18 - SUMS) + 1))}

    def test_of_each_strategy(self) -> None:
        people = People()
        assert tuples(people.theory.plan("forall x, y where lower(x, y): F(x, y)").to_frame()) == {
            "searched": len(pairs(people))
        }
        digits = Digits()
        fixed = digits.theory.plan("forall d1, d2 where d1 < d2: digit(x, d1)", x=images(3)).to_frame()
        assert tuples(fixed) == {"fixed": 45}
        text = "forall x, d1, d2 where d1 < d2 & norm(x) >= 0: digit(x, d1)"
        assert tuples(digits.theory.plan(text, x=images(3)).to_frame()) == {"fixed": 45, "filtered": 3 * 45}


class TestTable:
    def test_shapes_begin_with_the_axes_and_memory_is_that_of_the_values(self) -> None:
        digits = Digits([ADDITION])
        frame = digits.theory.plan("axiom_1", DATA).to_frame()
        atoms = frame[frame.step == "atom digit"]
        assert atoms["shape"].tolist() == [(32, 10)] * 2
        assert atoms["axes"].tolist() == [("diag(x, y, n)", "d1"), ("diag(x, y, n)", "d2")]
        assert atoms["memory"].tolist() == [4 * 32 * 10] * 2
        assert frame["shape"].iloc[-1] == ()

    def test_steps_read_steps_before_them(self) -> None:
        frame = Digits([ADDITION]).theory.plan("axiom_1", DATA).to_frame()
        for number, reads in frame.reads.items():
            assert all(int(read) < int(str(number)) for read in reads)

    def test_the_text_has_a_line_for_each_step(self) -> None:
        table = Digits([ADDITION]).theory.plan("axiom_1", DATA)
        lines = str(table).splitlines()
        assert len(lines) == 2 + len(table.lines)
        assert "run digit, 2 calls" in str(table)
        assert "looked up" in str(table)

    def test_the_text_shows_numbers_and_sizes_as_people_read_them(self) -> None:
        run = Line("1", "run digit", (), (), None, "digit", 12800, None, "", 1536)
        guard = Line("2", "tuples 1", ("1",), ("tuples 1",), None, "", None, 45000, "fixed", 1023)
        value = Line("3", "atom digit", ("1", "2"), ("x", "y"), (4, 5), "", None, None, "", 5 << 20)
        text = str(PlanTable([run, guard, value]))
        assert [re.split(" {2,}", line) for line in text.splitlines()[1:]] == [
            ["1", "run digit", "12,800", "1.5 KiB"],
            ["2", "tuples 1", "1", "tuples 1", "45,000 fixed", "1023 B"],
            ["3", "atom digit", "1 2", "x, y", "(4, 5)", "5.0 MiB"],
            ["3 steps, 5.0 MiB of values"],
        ]
        # There is no larger unit.
        assert str(PlanTable([run._replace(memory=3 << 50)])).endswith("1 steps, 3072.0 TiB of values")

    def test_formulas_are_text_trees_axioms_or_their_names(self) -> None:
        people = People(["forall x: S(x)"])
        [axiom] = people.theory.axiom_list
        texts = {str(people.theory.plan(formula)) for formula in (str(axiom), axiom.tree, axiom, "axiom_1")}
        assert len(texts) == 1


class TestErrors:
    def test_without_axioms(self) -> None:
        with pytest.raises(LogicValueError, match="no formula to plan"):
            ltn.Theory().plan()

    def test_of_python_code(self) -> None:
        theory = ltn.Theory()
        A = theory.proposition("A")
        theory.axiom(lambda: A, name="code")
        with pytest.raises(LogicValueError, match="'code' is Python code: only formulas have a plan"):
            theory.plan("code")

    def test_of_a_variable_without_data(self) -> None:
        with pytest.raises(LogicValueError, match="The variable 'x' has no individuals"):
            Digits([ADDITION]).theory.plan("axiom_1")
