"""Reports: the table of the axioms, and what a theory says of itself."""

import pytest

import ltn
from tests.theory.theories import classifier, degrees, labelled_points, pmean, pmean_error, smokers
from tests.tolerance import assert_close


class TestReports:
    def test_the_table_of_axioms(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x: I(x)", name="all", weight=2)
        theory.axiom("exists x: I(x)", name="some", weight="learned")
        report = theory.report()
        assert report.columns.tolist() == ["axiom", "satisfaction", "violated", "weight", "formula"]
        assert report.axiom.tolist() == ["all", "some"]
        assert report.formula.tolist() == ["forall x: I(x)", "exists x: I(x)"]
        assert report.weight.tolist() == [2.0, 0.5]
        assert_close(report.satisfaction, [pmean_error([0.2, 0.6], 2), pmean([0.2, 0.6], 2)])
        assert report.violated.tolist() == [0.5, pmean([0.2, 0.6], 2) < 0.5]

    def test_on_all_the_data_at_once(self) -> None:
        theory = classifier()
        data = labelled_points(70)
        theory.compile()
        logs = theory.evaluate(data, batch_size=70, verbose=0, return_dict=True)
        report = theory.report(data)
        assert_close(report.satisfaction, [logs["positive"], logs["negative"]])

    def test_under_other_operators(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("exists x: I(x)")
        assert_close(theory.report(semantics="godel").satisfaction, [0.6])
        assert_close(theory.report(p=4).satisfaction, [pmean([0.2, 0.6], 4)])
        assert_close(theory.report(p_exists=4).satisfaction, [pmean([0.2, 0.6], 4)])
        assert_close(theory.report({"x": [0.2]}).satisfaction, [0.2])
        assert_close(theory.report(x=[0.2]).satisfaction, [0.2])

    def test_other_operators_for_a_theory_with_weights(self) -> None:
        """The table needs no aggregate of the axioms."""
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("exists x: I(x)", weight=2)
        theory.axiom("forall x: I(x)")
        assert_close(theory.report(semantics="godel").satisfaction, [0.6, 0.2])
        assert_close(theory.report(semantics="lukasiewicz").satisfaction, [0.8, 0.0])

    def test_missing_data(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="'x' has no individuals"):
            classifier().report()

    def test_of_a_theory_without_axioms(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="no axioms"):
            degrees([0.5]).report()


class TestSelfDescription:
    @pytest.fixture(scope="class")
    @classmethod
    def theory(cls) -> ltn.Theory:
        theory = smokers(name="smoking")
        towns = theory.domain("towns", values=["Rome", "Seoul"], equality="smooth", alpha=2.0)
        ages = theory.domain("ages", bounds=(0, 120))
        theory.function("age", theory.signature.domains["people"], ages, ltn.Function.MLP([3], 1, (4,)))
        theory.constant("capital", theory.signature.domains["people"], [0.0, 0.0, 0.0])
        theory.variable("u", towns)
        theory.proposition("p", 0.5, trainable=True)
        theory.axiom("p", name="learned", weight="learned")
        theory.axiom("p", name="heavy", weight=2.5)
        return theory

    def test_the_representation_is_one_line(self, theory: ltn.Theory) -> None:
        assert repr(theory) == (
            "<Theory 'smoking': 3 domains, 7 constants, 3 variables, 1 function, 2 predicates, "
            "2 propositions, 7 axioms>"
        )
        assert repr(ltn.Theory(name="nothing")) == "<Theory 'nothing': empty>"

    def test_the_summary_tells_domains_symbols_parameters_and_axioms(
        self, theory: ltn.Theory, capsys: pytest.CaptureFixture[str]
    ) -> None:
        theory.summary()
        text = capsys.readouterr().out
        for line in (
            f"Theory 'smoking', {theory.count_params()} parameters",
            "  people: shape (3,)",
            "  towns: shape (1,), individuals Rome, Seoul, equality exp(-2 distance)",
            "  ages: shape (1,), bounds (0.0, 120.0)",
            "  a, b, c, d: people, 12 parameters",
            "  capital: people, given",
            "  u: towns",
            "  age(people): ages, 21 parameters",
            "  S(people), 21 parameters",
            "  F(people, people), 33 parameters",
            "  p, learned",
            "  symmetric: forall x, y: F(x, y) -> F(y, x)",
            "  heavy: p  (weight 2.5)",
            "  learned: p  (weight 0.5)",
        ):
            assert line in text.splitlines(), f"{line!r} is not in\n{text}"

    def test_the_summary_goes_where_it_is_sent(self, theory: ltn.Theory) -> None:
        lines: list[str] = []
        theory.summary(print_fn=lines.append)
        assert "Axioms:" in "\n".join(lines)

    def test_what_is_declared_prints_readably(self, theory: ltn.Theory) -> None:
        numbers = theory.domain("numbers", values=[0.25, 0.75])
        x = theory.variable("number", numbers)
        assert "0.25" in repr(x)
        empty = theory.variable("later", theory.domain("points", shape=2))
        assert "later" in repr(empty)
