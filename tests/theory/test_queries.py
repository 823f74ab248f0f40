"""Queries and explanations: what is true, of whom, and of whom an axiom is least true."""

from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import classifier, degrees, labelled_points, smokers, truth
from tests.tolerance import assert_close


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

    @pytest.mark.parametrize(("guard", "rows"), [("1 = 2", 0), ("1 = 1", 2)])
    def test_a_guard_without_variables_selects_all_or_nobody(self, guard: str, rows: int) -> None:
        theory = degrees([0.5, 0.1], "product")
        theory.axiom(f"forall x where {guard}: I(x)", name="guarded")
        assert len(theory.explain("guarded")) == rows

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


class TestOptionsOfQuantifiers:
    @pytest.mark.parametrize("option", ["q", "axis", "mask", "empty", "weights"])
    def test_unknown_ones_are_refused_also_where_an_aggregator_has_such_an_argument(
        self, option: str
    ) -> None:
        formula = f"forall[{option}=0] x: I(x)"
        with pytest.raises(
            ltn.LogicTypeError, match=rf"In `forall\[{option}=0\].*no hyper-parameter `{option}`"
        ):
            degrees([0.5]).query(formula)

    @pytest.mark.parametrize("option", ["q", "axis", "empty", "traced"])
    def test_under_other_operators_those_that_they_lack_are_left_out(self, option: str) -> None:
        theory = degrees([0.5, 0.25])
        assert truth(theory, f"forall[{option}=0] x: I(x)", semantics="godel") == 0.25
