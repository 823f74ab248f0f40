"""The paper's smokers: its two queries after learning, and what refutation tells of them."""

from typing import Any

import keras
import pytest

import ltn
from ltn.reasoning import Verdict
from tests.reasoning.small import GRAPH_ATOL, assert_same, satisfaction, state_of
from tests.theory.section4 import smokers
from tests.theory.theories import truth
from tests.tolerance import assert_close

# Whoever has cancer smokes; whoever has it is a friend of all.
PHI1 = "forall[p=5] x: C(x) -> S(x)"
PHI2 = "forall[p=5] x, y: C(x) | C(y) -> F(x, y)"
# Of their cancer nothing is known.
SECOND_GROUP = "ijklmn"
SETTINGS: dict[str, Any] = {"q": 0.8, "seed": 0, "verbose": 0}


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    """The theory after the paper's thousand epochs."""
    keras.utils.set_random_seed(0)
    return smokers(epochs=1000)


@pytest.fixture(scope="module")
def refuted(theory: ltn.Theory) -> Verdict:
    return theory.entails(PHI1, restarts=2, **SETTINGS)


def test_after_learning_the_first_query_holds_and_the_second_does_not(theory: ltn.Theory) -> None:
    before = state_of(theory)
    assert satisfaction(theory) > 0.8
    # Little is left to learn.
    settings = {**SETTINGS, "method": "brave", "restarts": 1, "steps": 50}
    first, second = (theory.entails(phi, **settings) for phi in (PHI1, PHI2))
    assert first
    assert (first.case, first.share) == ("assumed", 1.0)
    assert not second
    assert (second.case, second.share) == ("refuted", 0.0)
    assert_same(state_of(theory), before)


def test_learning_afresh_answers_the_second_query_alike(theory: ltn.Theory) -> None:
    settings = {**SETTINGS, "restarts": 2, "steps": 1000, "optimizer": keras.optimizers.Adam(0.001)}
    verdict = theory.entails(PHI2, method="brave", **settings)
    assert verdict.restarts == 2
    assert (verdict.runs.satisfaction >= 0.8).all()
    assert verdict.share == 0.0


def test_refutation_finds_that_the_first_does_not_follow(theory: ltn.Theory, refuted: Verdict) -> None:
    assert refuted.case == "refuted"
    assert refuted.counterexample is not None
    found = refuted.counterexample.apply_to(theory)
    assert satisfaction(found) >= 0.8
    assert_close(satisfaction(found), refuted.satisfaction, atol=GRAPH_ATOL)
    assert_close(truth(found, PHI1), refuted.value, atol=GRAPH_ATOL)
    # The axioms leave open who of the second group has cancer: there somebody has it without smoking.
    assert any(truth(found, f"C({name})") > 0.7 and truth(found, f"S({name})") < 0.3 for name in SECOND_GROUP)


def test_the_counterexample_names_people_and_networks(refuted: Verdict) -> None:
    assert list(refuted.grounding.constants) == list("abcdefghijklmn")
    assert {name.split("/")[0] for name in refuted.grounding.weights} == {"S", "C", "F"}
    assert refuted.grounding.constants["j"].shape == (5,)


def test_friends_of_smokers_have_cancer(theory: ltn.Theory) -> None:
    # No axiom says so; it follows from two of them.
    text = "forall x, y: F(x, y) & S(x) -> C(y)"
    verdict = theory.entails(text, restarts=4, steps=200, **SETTINGS)
    assert verdict.case == "assumed"
    # Each start was a fair trial.
    assert (verdict.runs.satisfaction >= 0.8).all()


def test_nothing_satisfies_the_theory_to_a_high_degree(theory: ltn.Theory) -> None:
    # f and g smoke and have no cancer, while smoking causes it.
    verdict = theory.entails(PHI1, restarts=2, steps=150, **{**SETTINGS, "q": 0.95})
    assert verdict.case == "unsatisfied"
    assert verdict
    assert 0.8 < verdict.satisfaction < 0.95
    assert "Ask with a lower q" in str(verdict)
