"""How a theory and what it answers look in notebooks, and how a report looks where it is printed."""

import pickle
from html.parser import HTMLParser
from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import classifier, degrees, labelled_points

LONG = "forall x: " + " & ".join(["I(x)"] * 30)


class Reader(HTMLParser):
    """The text of a page, and whether its elements are closed in order."""

    def __init__(self, page: str | None) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.tags: set[str] = set()
        self.feed(page or "")
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data}\n"


def bars(page: str | None) -> int:
    """How many bars of truth a page has."""
    return (page or "").count("linear-gradient")


def page_of(shown: Any) -> str:
    """What a notebook shows."""
    return str(shown._repr_html_())


@pytest.fixture
def theory() -> ltn.Theory:
    theory = degrees([0.25, 0.5], "product")
    theory.axiom("forall x: I(x)", name="all", weight=2.0)
    theory.axiom("exists x: ~I(x)", name="some", weight="learned")
    return theory


class TestTheory:
    def test_it_shows_domains_symbols_and_axioms_in_signs(self, theory: ltn.Theory) -> None:
        page = Reader(theory._repr_html_())
        for text in ("Domains", "Predicates", "I(", "all", "∀x: I(x)", "∃x: ¬I(x)", "2", "0.5, learned"):
            assert text in page.text
        assert "script" not in page.tags
        assert "style" not in page.tags

    def test_it_evaluates_nothing(self) -> None:
        theory = ltn.Theory()
        asked: list[int] = []
        points = theory.domain("points", values=[0.0, 1.0])
        theory.variable("x", points)

        def ask(x: tf.Tensor) -> tf.Tensor:
            asked.append(1)
            return x

        theory.predicate("P", points, ask)
        theory.axiom("forall x: P(x)")
        before = len(asked)
        page = theory._repr_html_()
        assert len(asked) == before
        assert bars(page) == 0
        assert "not measured yet" in page

    def test_the_satisfaction_is_the_one_that_was_measured_last(self) -> None:
        theory = classifier()
        data = labelled_points(8)
        report = theory.report(data).set_index("axiom").satisfaction
        page = theory._repr_html_()
        assert bars(page) == len(theory.axiom_list)
        assert "by report" in page
        assert f">{report['positive']:.3f}<" in page
        theory.compile(keras.optimizers.SGD(0.5))
        history = theory.fit(data, verbose=0).history
        page = theory._repr_html_()
        assert "by the last epoch of fit" in page
        assert f">{history['positive'][-1]:.3f}<" in page
        for names in (True, False):
            theory["positive"].measured = None
            logs = theory.evaluate(data, verbose=0, return_dict=names)
            found = logs["positive"] if names else logs[theory.metrics_names.index("positive")]
            assert theory["positive"].measured == (found, "evaluate")

    def test_under_other_operators_it_was_not_measured(self, theory: ltn.Theory) -> None:
        for options in ({"semantics": "godel"}, {"p": 5}, {"p_forall": 5}):
            theory.report(**options)
            assert bars(theory._repr_html_()) == 0
        theory.report({"x": [0.25]})
        assert theory["all"].measured == (0.25, "report")

    def test_a_new_axiom_does_not_inherit_what_was_measured(self, theory: ltn.Theory) -> None:
        theory.report()
        theory.remove("all")
        theory.axiom("exists x: I(x)", name="all")
        assert theory["all"].measured is None

    def test_what_is_not_active(self, theory: ltn.Theory) -> None:
        theory["all"].active = False
        assert "not active" in theory._repr_html_()

    def test_names_are_escaped(self) -> None:
        page = ltn.Theory(name="a<b>&")._repr_html_()
        assert "a&lt;b&gt;&amp;" in page
        assert "a<b>&" in Reader(page).text.replace("\n", "")

    def test_an_axiom_of_python_code(self, theory: ltn.Theory) -> None:
        theory.axiom(lambda: ltn.Formula(0.5, []), name="code")
        assert "<lambda>" in Reader(theory._repr_html_()).text

    def test_many_symbols_and_axioms(self) -> None:
        theory = ltn.Theory()
        for i in range(45):
            theory.proposition(f"p{i}", 0.5)
        theory.axioms("\n".join(["p0"] * 201))
        page = Reader(theory._repr_html_()).text
        assert "and 5 more" in page
        assert "1 more axioms are not shown" in page
        assert "axiom_200" in page


class TestParts:
    def test_an_axiom(self, theory: ltn.Theory) -> None:
        theory.report({"x": [0.5]})
        page = theory["all"]._repr_html_()
        assert bars(page) == 1
        assert "∀x: I(x)" in Reader(page).text
        assert ">0.500<" in page

    def test_formulas(self, theory: ltn.Theory) -> None:
        closed = page_of(theory.query("forall x: I(x)", p=1))
        assert bars(closed) == 1
        assert "∀x: I(x)" in closed
        assert ">0.375<" in closed
        open_formula = page_of(theory.query("~I(x)"))
        assert bars(open_formula) == 2
        assert "¬I(x)" in open_formula
        assert ">0.750<" in open_formula
        assert "Proposition" in ltn.Proposition(0.3, trainable=True)._repr_html_()

    def test_names_of_individuals_and_two_variables(self) -> None:
        formula = ltn.Formula(np.full((2, 1), 0.5), ["x", "y"])
        formula.individuals = {"x": ["<a>", "b"]}
        page = formula._repr_html_()
        assert "&lt;a&gt;" in page
        assert bars(page) == 2

    def test_a_large_formula_is_cut(self) -> None:
        page = ltn.Formula(np.zeros((30, 2000)), ["x", "y"])._repr_html_()
        assert bars(page) == 100
        assert "the first 10 of 2,000 individuals" in page
        assert "the first 10 of 30" in page

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
    def test_nothing(self, shape: tuple[int, ...]) -> None:
        assert bars(ltn.Formula(np.zeros(shape), ["x", "y"][: len(shape)])._repr_html_()) == 0

    def test_a_formula_in_a_graph_has_no_value(self) -> None:
        pages: list[str] = []

        @tf.function(autograph=False)
        def compiled(truth: tf.Tensor) -> tf.Tensor:
            pages.append(ltn.Formula(truth, [])._repr_html_())
            return truth

        compiled(tf.constant(0.5))
        assert "Formula(tensor=&lt;shape" in pages[0]

    def test_a_plan(self, theory: ltn.Theory) -> None:
        plan = theory.plan("all")
        page = Reader(plan._repr_html_())
        for line in plan.lines:
            assert line.step in page.text
        assert "steps" in page.text

    def test_a_verdict(self) -> None:
        theory = ltn.Theory("product")
        for name in "AB":
            theory.proposition(name, 0.0, trainable=True)
        theory.axiom("A | B")
        verdict = theory.entails("A & B", verbose=0, restarts=1, steps=50)
        page = Reader(verdict._repr_html_())
        assert "A ∧ B" in page.text
        assert "A & B" not in page.text
        assert bars(verdict._repr_html_()) == 2
        assert "`A & B`" in repr(verdict)


class TestReports:
    @pytest.fixture
    def report(self, theory: ltn.Theory) -> pd.DataFrame:
        theory.axiom(LONG, name="an_axiom_with_a_long_name")
        return theory.report()

    def test_it_prints_on_80_columns(self, report: pd.DataFrame) -> None:
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            lines = str(report).split("\n")
        assert lines[0].split() == ["axiom", "satisfaction", "violated", "weight", "formula"]
        assert len(lines) == 4
        assert max(map(len, lines)) <= 80
        assert lines[3].endswith("...")
        assert "an_axiom_with_a_long_name" in lines[3]
        assert lines[1].endswith("forall x: I(x)")

    def test_names_that_leave_little_room(self, theory: ltn.Theory) -> None:
        theory.axiom(LONG, name="an_axiom_with_quite_a_long_name")
        with pd.option_context("display.width", 80, "display.max_columns", 0):
            lines = str(theory.report()).split("\n")
        assert len(lines) == 4
        assert max(map(len, lines)) <= 80
        assert lines[-1].endswith("...")

    def test_names_that_leave_no_room(self, theory: ltn.Theory) -> None:
        theory.axiom("forall x: I(x)", name="a" * 90)
        assert "satisfaction" in str(theory.report())

    def test_settings_of_pandas_hold(self, report: pd.DataFrame) -> None:
        with pd.option_context("display.width", 1000, "display.max_colwidth", 20):
            assert max(map(len, str(report).split("\n"))) < 90
        with pd.option_context("display.width", 1000, "display.max_colwidth", None):
            assert LONG in str(report)
        with pd.option_context("display.notebook_repr_html", False):
            assert report._repr_html_() is None
        with pd.option_context("display.max_rows", 1):
            assert "2 more rows are not shown" in (report._repr_html_() or "")

    def test_its_page_has_bars_and_signs(self, report: pd.DataFrame) -> None:
        page = report._repr_html_()
        assert bars(page) == 3
        assert "∀x: I(x)" in Reader(page).text

    def test_some_of_its_rows_look_alike(self, report: pd.DataFrame) -> None:
        assert bars(report.sort_values("satisfaction")._repr_html_()) == 3
        assert bars(report[report.satisfaction < 0.0]._repr_html_()) == 0
        assert bars(report.head(1)._repr_html_()) == 1

    def test_other_columns_are_left_to_pandas(self, report: pd.DataFrame) -> None:
        for other in (report[["axiom"]], report.T, report.drop(columns="formula").rename(columns=str.upper)):
            assert bars(other._repr_html_()) == 0
            assert str(other) == str(pd.DataFrame(other))
        Reader(report.describe()._repr_html_())
        Reader(report.assign(satisfaction="?")._repr_html_())

    def test_otherwise_it_is_a_data_frame(self, report: pd.DataFrame) -> None:
        plain = pd.DataFrame({name: report[name].to_numpy() for name in report})
        assert report.equals(plain)
        assert plain.equals(report)
        assert pickle.loads(pickle.dumps(report)).equals(report)
        assert isinstance(report.set_index("axiom").satisfaction, pd.Series)
        assert pd.concat([report, plain]).shape == (6, 5)
        assert report.merge(plain, on="axiom").shape == (3, 9)
        assert report.to_csv() == plain.to_csv()
