"""Queries and reports: what is true, of whom, under which operators; and what a theory says of itself."""

from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import classifier, degrees, labelled_points, pmean, pmean_error, smokers, truth
from tests.tolerance import assert_close

# What the stable operators add: 1e-4 for each projection of a truth value.
STABLE = 5e-4


@pytest.fixture(scope="module")
def towns() -> ltn.Theory:
    """Named people with an age, in named towns; exact operators."""
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    places = theory.domain("towns", values=["Rome", "Seoul"])
    ages = theory.domain("ages")
    theory.constants("Alice, Bob, Charlie", people, values=[[0.0, 0.25], [0.5, 0.5], [1.0, 0.75]])
    theory.variables("x, y", people)
    theory.variable("u", places)
    theory.variable("n", ages, values=[0.5, 2.5])
    theory.variable("p", people)
    theory.function("age", people, ages, lambda x: 10.0 * x[:, 1:])
    theory.predicate("young", people, lambda x: x[:, 1])
    theory.predicate("lives_in", (people, places), lambda args: tf.abs(args[0][:, 0] - args[1][:, 0]))
    theory.predicate("knows", (people, people), lambda args: args[0][:, 0] * args[1][:, 1])
    return theory


NAMES = ["Alice", "Bob", "Charlie"]


class TestTheFourTypes:
    """Truth and value queries, on the theory's own groundings or on unseen data."""

    def test_truth(self, towns: ltn.Theory) -> None:
        found = towns.query("young(Alice) & lives_in(Bob, Rome)")
        assert isinstance(found, ltn.Formula)
        assert found.free_vars == []
        assert float(found) == 0.125

    def test_value(self, towns: ltn.Theory) -> None:
        found = towns.query("age(Alice) + 1")
        assert isinstance(found, ltn.Term)
        assert found.tensor.numpy().tolist() == [3.5]

    def test_generalisation_truth(self, towns: ltn.Theory) -> None:
        found = towns.query("young(x)", x=[[0.0, 0.125], [0.0, 0.625]])
        assert found.tensor.numpy().tolist() == [0.125, 0.625]

    def test_generalisation_value(self, towns: ltn.Theory) -> None:
        found = towns.query("age(x)", x=[[0.0, 0.125]])
        assert found.tensor.numpy().tolist() == [[1.25]]

    def test_data_come_by_keyword_or_as_a_dictionary(self, towns: ltn.Theory) -> None:
        unseen = np.array([[1.0, 0.5]])
        assert towns.query("knows(x, y)", x=unseen).tensor.shape == (1, 3)
        assert towns.query("knows(x, y)", {"x": unseen}).tensor.shape == (1, 3)
        assert towns.query("knows(x, y)", {"x": unseen}, y=unseen).tensor.numpy().tolist() == [[0.5]]
        with pytest.raises(ltn.LogicValueError, match="twice for x"):
            towns.query("young(x)", {"x": unseen}, x=unseen)

    def test_a_variable_may_be_called_p(self, towns: ltn.Theory) -> None:
        """`p` by keyword is the hyper-parameter; the dictionary has no such word."""
        assert towns.query("young(p)", {"p": [[0.0, 0.125]]}).tensor.numpy().tolist() == [0.125]
        assert truth(towns, "exists p: young(p)", {"p": [[0.0, 0.25], [0.0, 0.75]]}, p=1) == 0.5

    def test_nobody_at_all(self, towns: ltn.Theory) -> None:
        nobody = np.zeros((0, 2))
        assert truth(towns, "forall x: young(x)", x=nobody) == 1.0
        assert truth(towns, "exists x: young(x)", x=nobody) == 0.0

    def test_free_variables_are_axes_in_order_of_appearance(self, towns: ltn.Theory) -> None:
        found = towns.query("lives_in(y, u) & young(x)")
        assert found.free_vars == ["y", "u", "x"]
        assert found.tensor.shape == (3, 2, 3)
        bound = towns.query("exists u: lives_in(y, u) & young(x)")
        assert bound.free_vars == ["y", "x"]

    def test_a_formula_with_free_variables_is_no_number(self, towns: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"'x'.*each combination"):
            truth(towns, "young(x)")

    def test_a_tree(self, towns: ltn.Theory) -> None:
        assert truth(towns, ltn.language.parse("young(Alice)")) == 0.25

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("yung(x)", r"did you mean 'young'\?\n    yung\(x\)\n    \^\^\^\^"),
            ("lives_in(Bob, Charlie)", r"Argument 2.*'towns'.*\n.*\n +\^{7}"),
            ("young(x", "not closed"),
            ("forall x: exists x: young(x)", "already bound"),
        ],
    )
    def test_mistakes_are_pointed_at(self, towns: ltn.Theory, query: str, message: str) -> None:
        with pytest.raises(ltn.LogicError, match=f"(?s){message}"):
            towns.query(query)

    @pytest.mark.parametrize("query", [5, None, ["young(x)"]])
    def test_what_is_no_text(self, towns: ltn.Theory, query: Any) -> None:
        with pytest.raises(ltn.LogicTypeError, match="text"):
            towns.query(query)

    def test_missing_data_are_named_with_the_formula(self) -> None:
        theory = classifier()
        with pytest.raises(ltn.LogicValueError, match=r"In `A\(x\)`.*'x' has no individuals"):
            theory.query("A(x)")

    def test_misspelt_data(self, towns: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"'X'.*Did you mean 'x'"):
            towns.query("young(x)", X=[[0.0, 1.0]])

    def test_queries_change_nothing(self, towns: ltn.Theory) -> None:
        before = towns.hyperparameters
        towns.query("exists x: young(x)", p=9)
        assert towns.hyperparameters == before

    def test_a_query_follows_training(self) -> None:
        theory = smokers()
        theory.compile(keras.optimizers.SGD(0.5))
        before = truth(theory, "S(a)")
        theory.fit(epochs=3, verbose=0)
        after = truth(theory, "S(a)")
        assert after != before
        assert_close(after, theory.query("S(x)").to_frame().truth["a"])


class TestFrames:
    def test_rows_are_labelled_with_the_names_of_constants(self, towns: ltn.Theory) -> None:
        frame = towns.query("young(x)").to_frame()
        expected = pd.DataFrame(
            {"truth": np.array([0.25, 0.5, 0.75], np.float32)}, index=pd.Index(NAMES, name="x")
        )
        pd.testing.assert_frame_equal(frame, expected)

    def test_columns_with_those_of_a_finite_domain(self, towns: ltn.Theory) -> None:
        frame = towns.query("lives_in(x, u)").to_frame()
        expected = pd.DataFrame(
            np.array([[0, 1], [0.5, 0.5], [1, 0]], np.float32),
            index=pd.Index(NAMES, name="x"),
            columns=pd.Index(["Rome", "Seoul"], name="u"),
        )
        pd.testing.assert_frame_equal(frame, expected)

    def test_of_three_variables_two_label_the_rows(self, towns: ltn.Theory) -> None:
        frame = towns.query("knows(x, y) & lives_in(x, u)").to_frame()
        assert frame.index.names == ["x", "y"]
        assert frame.columns.name == "u"
        assert frame.shape == (9, 2)
        assert frame.loc[("Charlie", "Bob"), "Rome"] == 0.5

    def test_of_none_there_is_one_number(self, towns: ltn.Theory) -> None:
        frame = towns.query("young(Alice)").to_frame()
        assert frame.shape == (1, 1)
        assert frame.truth[0] == 0.25

    def test_unseen_data_have_numbers_for_names(self, towns: ltn.Theory) -> None:
        frame = towns.query("lives_in(x, u)", x=[[0.25, 0.0], [0.75, 0.0]]).to_frame()
        assert frame.index.tolist() == [0, 1]
        assert frame["Rome"].tolist() == [0.25, 0.75]

    def test_chosen_constants_keep_their_names(self, towns: ltn.Theory) -> None:
        theory = ltn.Theory()
        people = theory.domain("people")
        theory.constants("a, b, c", people, values=[0.1, 0.2, 0.3])
        theory.variable("x", people, values=["c", "a"])
        theory.predicate("I", people, lambda x: x)
        assert_close(theory.query("I(x)").to_frame().truth[["c", "a"]], [0.3, 0.1])

    def test_individuals_of_a_finite_domain_of_numbers_are_numerals(self) -> None:
        theory = degrees([0.0, 0.5, 1.0])
        assert theory.query("I(x)").to_frame().index.tolist() == ["0", "0.5", "1"]

    def test_of_a_term_there_is_a_column_per_feature(self, towns: ltn.Theory) -> None:
        frame = towns.query("x").to_frame()
        assert frame.index.tolist() == NAMES
        assert frame.loc["Bob"].tolist() == [0.5, 0.5]
        assert towns.query("age(x) + age(y)").to_frame().loc[("Alice", "Bob")].tolist() == [7.5]

    def test_what_is_computed_with_a_query_keeps_its_labels(self, towns: ltn.Theory) -> None:
        """The answer is a `Formula` of `core`: it can be combined and cut."""
        found, young = towns.query("lives_in(x, u)"), towns.query("young(x)")
        assert found.take("u", 0).free_vars == ["x"]
        assert isinstance(found, ltn.Formula)
        assert isinstance(young, ltn.Formula)
        with ltn.using("product"):
            both = found & young
        assert both.free_vars == ["x", "u"]
        assert both.tensor.numpy()[2, 0] == 0.75


class TestOtherOperators:
    VALUES = (0.2, 0.6, 1.0)

    @pytest.fixture
    def theory(self) -> ltn.Theory:
        return degrees(self.VALUES, "product", p_forall=2, p_exists=2)

    def test_p_is_that_of_both_quantifiers(self, theory: ltn.Theory) -> None:
        assert_close(truth(theory, "exists x: I(x)", p=5), pmean(self.VALUES, 5))
        assert_close(truth(theory, "forall x: I(x)", p=5), pmean_error(self.VALUES, 5))

    def test_a_p_in_the_text_stays(self, theory: ltn.Theory) -> None:
        assert_close(truth(theory, "exists[p=3] x: I(x)", p=5), pmean(self.VALUES, 3))

    def test_one_kind_of_quantifier(self, theory: ltn.Theory) -> None:
        assert_close(truth(theory, "forall x: I(x)", p_forall=7), pmean_error(self.VALUES, 7))
        assert_close(truth(theory, "exists x: I(x)", p_forall=7), pmean(self.VALUES, 2))
        assert_close(truth(theory, "exists x: I(x)", p_exists=7), pmean(self.VALUES, 7))

    def test_p_of_one_kind_wins_over_that_of_both(self, theory: ltn.Theory) -> None:
        assert_close(truth(theory, "exists x: I(x)", p=3, p_exists=7), pmean(self.VALUES, 7))
        assert_close(truth(theory, "forall x: I(x)", p=3, p_exists=7), pmean_error(self.VALUES, 3))

    def test_another_semantics_by_name_or_as_an_object(self, theory: ltn.Theory) -> None:
        assert_close(truth(theory, "exists x: I(x)", semantics="godel"), 1.0)
        assert_close(truth(theory, "forall x: I(x)", semantics=ltn.semantics.godel), 0.2)
        assert truth(theory, "forall x: I(x)", semantics="lukasiewicz") == 0.0

    def test_with_hyperparameters_of_its_own(self, theory: ltn.Theory) -> None:
        found = truth(theory, "exists x: I(x)", semantics="stable_product", p=6)
        assert_close(found, pmean(self.VALUES, 6), atol=STABLE)
        found = truth(theory, "exists x: I(x)", semantics="stable_product", p_exists=6)
        assert_close(found, pmean(self.VALUES, 6), atol=STABLE)

    def test_log_product_on_a_theory_of_truths_and_the_other_way_round(self) -> None:
        truths, logs = degrees(self.VALUES, "stable_product"), degrees(self.VALUES, "log_product")
        formula = "forall x: I(x) | ~I(x)"
        either = 1.0 - np.array(self.VALUES) * (1.0 - np.array(self.VALUES))
        geometric = float(np.prod(either) ** (1 / 3))
        assert_close(truth(truths, formula, semantics="log_product"), geometric)
        assert_close(truth(logs, formula), geometric)
        assert_close(truth(logs, formula, semantics="godel"), 0.6)
        assert_close(truth(logs, "exists x: I(x)", semantics="product"), pmean(self.VALUES, 2))

    def test_log_product_answers_with_truths(self) -> None:
        theory = degrees(self.VALUES, "log_product")
        found = theory.query("I(x)")
        assert_close(found.tensor, self.VALUES)
        assert_close(theory.query("~I(x)").tensor, 1.0 - np.array(self.VALUES))
        # exists = (1/alpha) log mean exp(alpha l).
        assert_close(truth(theory, "exists x: I(x)", p=3), pmean(self.VALUES, 3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"p": 3, "semantics": "godel"}, "have no `p`"),
            ({"p": 0.5}, "at least 1"),
            ({"semantics": "goedel"}, "no semantics 'goedel'"),
            ({"p_forall": "high"}, "`p`"),
        ],
    )
    def test_impossible_ones(self, theory: ltn.Theory, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ltn.LogicError, match=message):
            theory.query("exists x: I(x)", **options)

    def test_the_schedule_of_one_axiom_is_not_that_of_queries(self) -> None:
        theory = degrees(self.VALUES, "product")
        theory.axiom("exists x: I(x)", name="some")
        theory.set_hyperparameters(axiom="some", p_exists=8)
        assert_close(theory.report().satisfaction[0], pmean(self.VALUES, 8))
        assert_close(truth(theory, "exists x: I(x)"), pmean(self.VALUES, 2))

    def test_queries_follow_the_current_hyperparameters(self, theory: ltn.Theory) -> None:
        theory.set_hyperparameters(p_exists=4)
        assert_close(truth(theory, "exists x: I(x)"), pmean(self.VALUES, 4))
        assert_close(truth(theory, "exists x: I(x)", p=9), pmean(self.VALUES, 9))


class TestReports:
    def test_the_table_of_axioms(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x: I(x)", name="all", weight=2)
        theory.axiom("exists x: I(x)", name="some", weight="learned")
        report = theory.report()
        assert report.columns.tolist() == ["axiom", "formula", "weight", "satisfaction"]
        assert report.axiom.tolist() == ["all", "some"]
        assert report.formula.tolist() == ["forall x: I(x)", "exists x: I(x)"]
        assert report.weight.tolist() == [2.0, 0.5]
        assert_close(report.satisfaction, [pmean_error([0.2, 0.6], 2), pmean([0.2, 0.6], 2)])

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


class TestExplanations:
    def test_the_worst_come_first(self, towns: ltn.Theory) -> None:
        theory = degrees([0.5, 0.1, 0.9, 0.3], "product")
        theory.axiom("forall x: I(x)", name="all")
        found = theory.explain("all", worst=3)
        assert found.columns.tolist() == ["x", "truth"]
        assert_close(found.truth, [0.1, 0.3, 0.5])
        assert found.x.tolist() == ["0.1", "0.3", "0.5"]
        assert len(theory.explain("all")) == 4
        assert len(theory.explain("all", worst=100)) == 4

    @pytest.mark.parametrize("worst", [-1, "all"])
    def test_a_number_of_them_that_makes_no_sense(self, worst: Any) -> None:
        theory = degrees([0.5, 0.1], "product")
        theory.axiom("forall x: I(x)", name="all")
        with pytest.raises(ltn.LogicError, match="`worst`"):
            theory.explain("all", worst=worst)

    def test_several_variables_and_names(self) -> None:
        theory = ltn.Theory("product")
        people = theory.domain("people")
        towns = theory.domain("towns", values=["Rome", "Seoul"])
        theory.constants("a, b", people, values=[0.25, 0.5])
        theory.variable("x", people)
        theory.variable("u", towns)
        theory.predicate("lives_in", (people, towns), lambda args: tf.abs(args[0] - args[1])[:, 0])
        theory.axiom("forall x: forall u: lives_in(x, u)", name="all")
        found = theory.explain("all", worst=2)
        assert found.to_dict("list") == {"x": ["a", "b"], "u": ["Rome", "Rome"], "truth": [0.25, 0.5]}

    def test_the_innermost_formula_is_what_is_claimed(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x: exists[p=1] y: I(x) & I(y)", name="all")
        found = theory.explain("all")
        assert_close(found.truth, [0.2 * 0.4, 0.6 * 0.4])

    def test_a_guard_selects_what_is_shown(self) -> None:
        theory = degrees([0.5, 0.1, 0.9, 0.3], "product")
        theory.axiom("forall x where x > 0.2: I(x)", name="large")
        assert_close(theory.explain("large").truth, [0.3, 0.5, 0.9])
        theory.axiom("forall x, y where x < y: ~I(x) | I(y)", name="pairs")
        found = theory.explain("pairs", worst=10)
        assert len(found) == 6
        assert (found.x.astype(float) < found.y.astype(float)).all()
        expected = 1.0 - found.x.astype(float) * (1.0 - found.y.astype(float))
        assert_close(found.truth, expected)

    def test_a_guard_that_selects_nobody(self) -> None:
        theory = degrees([0.5, 0.1], "product")
        theory.axiom("forall x where x > 0.9: I(x)", name="none")
        found = theory.explain("none")
        assert len(found) == 0
        assert found.columns.tolist() == ["x", "truth"]

    def test_a_guard_on_an_inner_quantifier(self) -> None:
        theory = degrees([0.1, 0.5, 0.9], "product")
        theory.axiom("forall x: forall y where x < y: I(y)", name="above")
        found = theory.explain("above", worst=10)
        assert sorted(zip(found.x, found.y, strict=True)) == [("0.1", "0.5"), ("0.1", "0.9"), ("0.5", "0.9")]

    def test_a_diagonal_has_one_row_per_tuple(self) -> None:
        data = labelled_points(6)
        theory = classifier()
        found = theory.explain("positive", data, worst=10)
        positive = np.flatnonzero(data["l"] == 1.0)
        assert found.columns.tolist() == ["x", "l", "truth"]
        # Points are shown by their row, numbers as they are.
        assert sorted(found.x) == positive.tolist()
        assert found.l.tolist() == [1.0] * len(positive)
        truths = theory.query("A(x)", x=data["x"]).tensor.numpy()
        assert_close(found.truth, truths[found.x])
        assert found.truth.is_monotonic_increasing

    def test_without_a_universal_quantifier_there_is_one_row(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("exists[p=1] x: I(x)", name="some")
        found = theory.explain("some")
        assert found.columns.tolist() == ["truth"]
        assert_close(found.truth, [0.4])

    def test_a_variable_that_only_the_guard_mentions(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x, y where x < y: I(x)", name="smaller")
        assert theory.explain("smaller").to_dict("list") == {
            "x": ["0.2"],
            "y": ["0.6"],
            "truth": pytest.approx([0.2]),
        }

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product", "godel"])
    def test_under_every_semantics(self, semantics: str) -> None:
        theory = degrees([0.5, 0.1], semantics)
        axiom = theory.axiom("forall x: ~~I(x)", name="all")
        assert_close(theory.explain(axiom).truth, [0.1, 0.5])

    def test_of_a_negated_existential_the_log_product_sees_through(self) -> None:
        theory = degrees([0.5, 0.1], "log_product")
        theory.axiom("~exists x: I(x)", name="none")
        assert_close(theory.explain("none").truth, [0.5, 0.9])

    def test_an_axiom_that_does_not_exist(self) -> None:
        theory = degrees([0.5])
        theory.axiom("forall x: I(x)", name="all")
        with pytest.raises(ltn.LogicValueError, match="no axiom 'al'; did you mean 'all'"):
            theory.explain("al")

    def test_an_axiom_in_python(self) -> None:
        theory = ltn.Theory()
        A = theory.proposition("A")
        theory.axiom(lambda: A, name="code")
        with pytest.raises(ltn.LogicValueError, match="'code' is Python code"):
            theory.explain("code")

    def test_the_options_are_those_of_queries(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x: exists y: I(x) & I(y)", name="all")
        assert_close(theory.explain("all", p=1).truth, [0.08, 0.24])
        assert_close(theory.explain("all", semantics="godel").truth, [0.2, 0.6])
        assert_close(theory.explain("all", p_exists=1, y=[0.6]).truth, [0.12, 0.36])


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


class TestOneAxiomsOwnHyperparameters:
    """What was set for one axiom counts in questions, unless they set it themselves."""

    @pytest.fixture
    def theory(self) -> ltn.Theory:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("forall x: exists y: I(x) & I(y)", name="own")
        theory.set_hyperparameters("own", p_exists=1)
        return theory

    def test_in_explanations_and_reports(self, theory: ltn.Theory) -> None:
        assert_close(theory.explain("own").truth, [0.2 * 0.4, 0.6 * 0.4])
        assert_close(theory.report(p_forall=1).satisfaction, [0.4 * 0.4])

    def test_but_a_question_comes_first(self, theory: ltn.Theory) -> None:
        strict = pmean([0.2, 0.6], 8)
        assert_close(theory.explain("own", p_exists=8).truth, [0.2 * strict, 0.6 * strict])
        assert_close(theory.report(p_forall=1, p_exists=8).satisfaction, [0.4 * strict])
        assert_close(theory.report(semantics="godel").satisfaction, [0.2])

    def test_options_of_the_text_are_left_out_where_other_operators_have_none(self) -> None:
        theory = degrees([0.2, 0.6], "product")
        theory.axiom("exists[p=4] x: I(x)")
        assert_close(theory.report(semantics="godel").satisfaction, [0.6])

    def test_the_summary_shows_numbers(self, theory: ltn.Theory) -> None:
        theory.set_hyperparameters(p_forall=3)
        lines: list[str] = []
        theory.summary(print_fn=lines.append)
        assert "  Forall: Aggreg_pMeanError(p=3.0, stable=False)" in lines[0].splitlines()
