"""Verdicts: the paper's three cases, their numbers, what they say, and the share after learning."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ltn.language import parse
from ltn.reasoning import Grounding, Verdict
from tests.reasoning.small import (
    GRAPH_ATOL,
    QUICK,
    chain,
    contradiction,
    either,
    people,
    propositions,
    satisfaction,
)
from tests.theory.theories import truth
from tests.tolerance import assert_close

RUNS: dict[str, Any] = {"restarts": 3, "steps": 100, "seed": 0, "verbose": 0}


@pytest.fixture(scope="module")
def refuted() -> Verdict:
    return either().entails("A", **RUNS)


@pytest.fixture(scope="module")
def assumed() -> Verdict:
    return chain().entails("B", **RUNS)


@pytest.fixture(scope="module")
def unsatisfied() -> Verdict:
    return contradiction().entails("A", **RUNS)


class TestCases:
    def test_a_counterexample_refutes(self, refuted: Verdict) -> None:
        assert not refuted
        assert (refuted.case, refuted.method, refuted.formula) == ("refuted", "refutation", "A")
        assert refuted.counterexample is refuted.grounding
        assert refuted.satisfaction >= refuted.q
        assert refuted.value < refuted.level

    def test_without_one_it_is_assumed(self, assumed: Verdict) -> None:
        assert assumed
        assert assumed.case == "assumed"
        assert assumed.counterexample is None
        assert assumed.satisfaction >= assumed.q
        assert assumed.value >= assumed.level

    def test_where_nothing_satisfies_the_theory_all_follows(self, unsatisfied: Verdict) -> None:
        assert unsatisfied
        assert unsatisfied.case == "unsatisfied"
        assert unsatisfied.counterexample is None
        # Of A and ~A the p-mean of the errors with p = 2 is least at 1/2.
        assert_close(unsatisfied.satisfaction, 0.5, atol=1e-3)
        assert unsatisfied.share is None

    def test_slack_one_is_the_papers_definition(self) -> None:
        theory = chain()
        lenient, strict = theory.entails("B", **RUNS), theory.entails("B", slack=1, **RUNS)
        assert (lenient.case, strict.case) == ("assumed", "refuted")
        # Five times the error of the axioms, which the search brings close to what q allows.
        assert lenient.level == pytest.approx(1.0 - 5.0 * (1.0 - lenient.satisfaction), abs=1e-5)
        assert 0.75 <= lenient.level < 0.8
        assert strict.level == pytest.approx(0.95)
        assert strict.q == 0.95
        assert 0.75 < strict.value < 0.95
        assert strict.satisfaction >= 0.95

    def test_the_level_is_never_below_a_half(self) -> None:
        assert chain().entails("B", q=0.8, **QUICK).level == 0.5

    def test_a_tree_is_asked_as_its_text(self) -> None:
        theory = either()
        by_text, by_tree = theory.entails("~A", **QUICK), theory.entails(parse("~A"), **QUICK)
        assert by_tree.formula == by_text.formula == "~A"
        pd.testing.assert_frame_equal(by_tree.curve, by_text.curve)


class TestNumbers:
    def test_they_are_those_of_the_grounding(
        self, refuted: Verdict, assumed: Verdict, unsatisfied: Verdict
    ) -> None:
        for verdict, theory in ((refuted, either()), (assumed, chain()), (unsatisfied, contradiction())):
            found = verdict.grounding.apply_to(theory)
            assert_close(satisfaction(found), verdict.satisfaction, atol=GRAPH_ATOL)
            assert_close(truth(found, verdict.formula), verdict.value, atol=GRAPH_ATOL)

    def test_they_are_those_of_the_grounding_for_networks(self) -> None:
        theory = people(["S(a)", "forall x: S(x) -> S(b)"])
        verdict = theory.entails("forall x: S(x)", restarts=2, steps=60, seed=0, verbose=0)
        found = verdict.grounding.apply_to(theory)
        assert_close(found.predict(verbose=0)["satisfaction"][0], verdict.satisfaction, atol=GRAPH_ATOL)
        assert_close(truth(found, "forall x: S(x)"), verdict.value, atol=GRAPH_ATOL)

    def test_the_curve_begins_at_the_theory_as_it_is(self) -> None:
        theory = people(["S(a)", "~S(b)"])
        first = theory.entails("S(b)", **QUICK).curve.iloc[0]
        assert_close(first["satisfaction"], satisfaction(theory), atol=GRAPH_ATOL)
        assert_close(first["value"], truth(theory, "S(b)"), atol=GRAPH_ATOL)

    def test_the_curve_is_of_the_papers_objective(self, refuted: Verdict) -> None:
        first_round = refuted.curve[refuted.curve.restart == 1].iloc[:100]
        gap = 0.95 - first_round.satisfaction
        penalty = np.where(gap >= 0.0, 10.0 * gap, 0.05 * np.expm1(gap))
        # The penalty multiplies rounding by ten.
        assert_close(first_round.loss, first_round.value + penalty, atol=GRAPH_ATOL)

    def test_alpha_and_beta_are_those_of_the_objective(self) -> None:
        first = either().entails("A", q=0.9, alpha=0.5, beta=2.0, **QUICK).curve.iloc[0]
        assert_close(first["loss"], 2.0 * 0.9)

    def test_tables_have_a_row_for_each_start_and_each_step(self, assumed: Verdict) -> None:
        assert assumed.restarts == len(assumed.runs) == 3
        assert list(assumed.runs.columns) == ["satisfaction", "value"]
        assert list(assumed.curve.columns) == ["restart", "step", "loss", "satisfaction", "value"]
        assert sorted(set(assumed.curve.restart)) == [1, 2, 3]
        assert assumed.steps == len(assumed.curve) >= 300
        for _, of_run in assumed.curve.groupby("restart"):
            assert list(of_run.step) == list(range(len(of_run)))
        assert np.isfinite(assumed.curve.to_numpy()).all()

    def test_the_deciding_run_is_the_lowest_of_those_that_satisfy(self, assumed: Verdict) -> None:
        satisfying = assumed.runs[assumed.runs.satisfaction >= 0.95]
        assert assumed.value == satisfying.value.min()

    def test_the_best_run_decides_where_none_satisfies(self, unsatisfied: Verdict) -> None:
        assert unsatisfied.satisfaction == unsatisfied.runs.satisfaction.max()

    def test_refutation_stops_at_the_first_counterexample(self, refuted: Verdict) -> None:
        assert refuted.restarts == 1
        assert len(refuted.runs) == 1


class TestTexts:
    def test_a_refutation_tells_its_numbers(self, refuted: Verdict) -> None:
        text = str(refuted)
        assert text.startswith("`A` does not follow: a grounding that satisfies the theory (")
        assert f"{refuted.satisfaction:.3f}, q = 0.95) gives it {refuted.value:.3f}" in text
        assert text.endswith("Found from starting point 1.")

    def test_what_is_assumed_is_called_assumed(self, assumed: Verdict) -> None:
        text = str(assumed)
        assert "`B` is assumed to follow: no counterexample was found from 3 starting points" in text
        assert f"its lowest value was {assumed.value:.3f}" in text
        assert "below q = 0.95" in text
        assert "slack=1" in text

    def test_nothing_is_said_of_slack_where_it_made_no_difference(self) -> None:
        text = str(propositions("A", ["A"], 0.5).entails("A", slack=5, restarts=1, verbose=0))
        assert "assumed to follow: no counterexample was found from 1 starting point;" in text
        assert "slack" not in text

    def test_an_unsatisfied_theory_is_named_as_the_reason(self, unsatisfied: Verdict) -> None:
        text = str(unsatisfied)
        assert text.startswith("`A` follows only because nothing was found that satisfies the theory to q = ")
        assert "the best of 3 starting points reached 0.500" in text
        assert text.endswith("Ask with a lower q, or with more restarts.")

    def test_a_query_after_learning_is_told_as_such(self) -> None:
        text = str(chain().entails("B", method="brave", **RUNS))
        assert "`B` is assumed to follow: it holds in all 3 groundings learned from 3 starting points" in text

    def test_none_claims_a_proof(self, refuted: Verdict, assumed: Verdict, unsatisfied: Verdict) -> None:
        brave = [either().entails(text, method="brave", **RUNS) for text in ("A", "~A", "A | B")]
        for verdict in (refuted, assumed, unsatisfied, *brave):
            for text in (str(verdict), repr(verdict)):
                assert "prove" not in text.lower()
                assert "proof" not in text.lower()
            assert ("assumed" in str(verdict)) == (verdict.case == "assumed")


class TestAfterLearning:
    def test_every_start_is_learned_from(self) -> None:
        # Unlike refutation it does not end with the first counterexample.
        verdict = either().entails("~A", method="brave", **RUNS)
        assert verdict.case == "refuted"
        assert verdict.restarts == 3

    def test_the_share_counts_the_groundings_that_satisfy_the_formula(self) -> None:
        verdict = either().entails("A", method="brave", **{**RUNS, "restarts": 8})
        satisfying = verdict.runs[verdict.runs.satisfaction >= verdict.q]
        assert len(satisfying) == 8
        expected = np.mean(satisfying.value >= verdict.level)
        assert verdict.share == pytest.approx(expected)
        assert 0.0 < expected <= 1.0
        assert bool(verdict) == (expected == 1.0)

    def test_the_formula_is_not_looked_at_while_learning(self) -> None:
        theory = people(["S(a)", "~S(b)"])
        one, other = (theory.entails(text, method="brave", **QUICK) for text in ("S(a)", "~S(a)"))
        pd.testing.assert_series_equal(one.curve.loss, other.curve.loss)
        assert_close(one.curve.value, 1.0 - other.curve.value, atol=GRAPH_ATOL)

    def test_its_loss_is_that_of_learning(self) -> None:
        curve = chain().entails("B", method="brave", **QUICK).curve
        assert_close(curve.loss, 1.0 - curve.satisfaction)

    def test_learning_finds_what_satisfies_the_theory_most(self) -> None:
        verdict = chain().entails("B", method="brave", **RUNS)
        assert verdict.satisfaction > 0.99
        assert isinstance(verdict.grounding, Grounding)
        assert_close(verdict.runs.satisfaction, np.ones(3), atol=0.01)
