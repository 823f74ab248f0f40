"""The operators of a theory, others for one question, and the hyper-parameters of one axiom."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import degrees, pmean, pmean_error, some_by_odds, truth
from tests.tolerance import assert_close

# What the stable operators add: 1e-4 for each projection of a truth value.
STABLE = 5e-4


@dataclass(frozen=True)
class Clipped(ltn.fuzzy_ops.And_Prod):
    """A product whose stable form is another than its parent's."""

    @classmethod
    def _evaluate(cls, *operands: tf.Tensor, stable: bool) -> tf.Tensor:
        x, y = operands
        return tf.maximum(x, 0.25) * tf.maximum(y, 0.25) if stable else x * y


class Forced(ltn.fuzzy_ops.And_Prod):
    """A product that is never stable, whatever it is told."""

    def __init__(self) -> None:
        super().__init__(stable=True)

    def __call__(self, *operands: Any, **overrides: Any) -> tf.Tensor:
        return super().__call__(*operands, stable=False)


class TestOperatorsOfOnesOwn:
    @pytest.mark.parametrize(
        ("And", "expected"),
        [
            (Clipped(), 0.25),
            (Clipped(stable=False), 0.0),
            (Forced(), 0.0),
            (ltn.fuzzy_ops.And_Prod(), 1e-4),
            (ltn.fuzzy_ops.And_Prod(stable=False), 0.0),
            (lambda x, y: tf.minimum(x, y) + 0.125, 0.125),
        ],
    )
    def test_formulas_are_what_the_operator_makes_of_them(self, And: Any, expected: float) -> None:
        theory = degrees([0.0, 1.0], semantics=ltn.Semantics(And=And))
        found = theory.query("I(x) & I(y)")
        assert isinstance(found, ltn.Formula)
        assert_close(found.tensor[0, 1], expected)


class TestXor:
    @pytest.mark.parametrize(
        ("semantics", "expected"),
        [
            ("product", (0.3 + 0.8 - 0.24) * (1 - 0.24)),
            # The negation of the product's normal form is 1 minus its truth, as that of a truth is.
            ("log_product", (0.3 + 0.8 - 0.24) * (1 - 0.24)),
            ("godel", 0.7),
            ("lukasiewicz", 1 - abs(1 - 0.3 - 0.8)),
        ],
    )
    def test_it_is_either_and_not_both(self, semantics: str, expected: float) -> None:
        theory = ltn.Theory(semantics)
        theory.proposition("A", 0.3)
        theory.proposition("B", 0.8)
        assert_close(theory.query("A xor B").tensor, expected)
        assert_close(theory.query("~(B xor A)").tensor, 1 - expected)

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product", "godel", "lukasiewicz"])
    def test_of_crisp_truths_it_is_inequality(self, semantics: str) -> None:
        theory = ltn.Theory(semantics)
        theory.proposition("A", 1.0)
        theory.proposition("B", 0.0)
        for formula, expected in (("A xor B", 1), ("B xor A", 1), ("A xor A", 0), ("B xor B", 0)):
            assert_close(theory.query(formula).tensor, expected, atol=STABLE)


class TestSemantics:
    def test_by_name_as_an_object_and_with_hyperparameters(self) -> None:
        assert ltn.Theory("godel").semantics == ltn.semantics.godel
        own = ltn.semantics.product.replace(Exists=ltn.fuzzy_ops.Aggreg_Max())
        assert ltn.Theory(own).semantics == own
        theory = ltn.Theory("stable_product", p_forall=4, p_exists=6, p_satagg=3)
        assert theory.hyperparameters["p_forall"] == 4
        assert theory.semantics.Exists == ltn.fuzzy_ops.Aggreg_pMean(p=6)
        assert theory.semantics.SatAgg == ltn.fuzzy_ops.Aggreg_pMeanError(p=3)

    def test_unknown_ones(self) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"no semantics 'goedel'.*godel"):
            ltn.Theory("goedel")
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `p_foral`"):
            ltn.Theory(p_foral=2)
        with pytest.raises(ltn.LogicValueError, match="`p` must be"):
            ltn.Theory(p_forall=0)

    @pytest.mark.parametrize(
        "semantics",
        ["product", "godel", "lukasiewicz", "stable_product", "log_product", "log_product_mean"],
    )
    def test_each_preset_grounds_the_axioms_by_its_operators(self, semantics: str) -> None:
        """On 0.25, 0.75 and 1.0, by hand."""
        theory = degrees([0.25, 0.75, 1.0], semantics)
        theory.axiom("exists x: I(x)", name="some")
        theory.axiom("forall x: I(x) | ~I(x)", name="either")
        either = {
            "product": [1 - 0.75 * 0.25, 1 - 0.75 * 0.25, 1.0],
            "godel": [0.75, 0.75, 1.0],
            "lukasiewicz": [1.0, 1.0, 1.0],
        }
        errors = 1.0 - np.array(either["product"])
        expected = {
            "product": (np.sqrt((0.0625 + 0.5625 + 1.0) / 3), 1.0 - np.sqrt(np.mean(errors**2))),
            "godel": (1.0, 0.75),
            "lukasiewicz": (1.0, 1.0),
            "log_product": (1.0, (0.8125 * 0.8125) ** (1 / 3)),
            "log_product_mean": ((0.25 + 0.75 + 1.0) / 3, (0.8125 * 0.8125) ** (1 / 3)),
        }
        expected["stable_product"] = expected["product"]
        # The stable operators move truths by 1e-4 each.
        atol = 5e-4 if semantics == "stable_product" else 2e-6
        assert_close(theory.report().satisfaction, expected[semantics], atol=atol)


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
        assert truth(theory, "exists x: I(x)", p=3) == 1.0
        few = "exists x where x < 1: I(x)"
        assert_close(truth(theory, few, p=3), some_by_odds(self.VALUES[:2], 3))
        # exists = (1/alpha) log mean exp(alpha l).
        assert_close(truth(theory, few, semantics="log_product_mean", p=3), pmean(self.VALUES[:2], 3))

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


class TestFlags:
    """`stable` is true or false: it is compiled in, and is no variable."""

    @staticmethod
    def theory() -> ltn.Theory:
        theory = degrees([0.2, 0.6], "stable_product")
        theory.axiom("forall x: I(x)", name="all")
        theory.axiom("exists x: I(x)", name="some")
        theory.compile("sgd")
        return theory

    @pytest.mark.parametrize("off", [False, 0, np.False_])
    def test_of_all_axioms(self, off: Any) -> None:
        theory = self.theory()
        before = theory.report().satisfaction
        theory.set_hyperparameters(stable_forall=off)
        assert theory.hyperparameters["stable_forall"] is False
        assert_close(theory.report().satisfaction[0], pmean_error([0.2, 0.6], 2))
        assert_close(theory.evaluate(verbose=0, return_dict=True)["all"], pmean_error([0.2, 0.6], 2))
        theory.set_hyperparameters(stable_forall=True)
        assert theory.report().satisfaction.tolist() == before.tolist()

    @pytest.mark.parametrize("off", [False, 0])
    def test_of_one_axiom(self, off: Any) -> None:
        theory = self.theory()
        before = theory.report().satisfaction
        theory.set_hyperparameters("all", stable_forall=off, p_forall=4)
        assert theory.hyperparameters["all.stable_forall"] is False
        found = theory.report().satisfaction
        assert_close(found[0], pmean_error([0.2, 0.6], 4))
        assert found[1] == before[1]
        assert_close(theory.evaluate(verbose=0, return_dict=True)["all"], found[0])
        assert theory.copy().hyperparameters == theory.hyperparameters

    def test_that_stay_as_they_are_compile_nothing_again(self) -> None:
        theory = self.theory()
        theory.set_hyperparameters("all", stable_forall=False)
        version = theory.version
        theory.set_hyperparameters("all", stable_forall=False)
        theory.set_hyperparameters(stable_forall=True)
        assert theory.version == version

    def test_in_a_text_are_numbers(self) -> None:
        assert_close(truth(self.theory(), "forall[stable=0] x: I(x)"), pmean_error([0.2, 0.6], 2))
