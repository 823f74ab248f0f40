"""The paper's example: A or B does not entail A, which refutation finds and learning does not."""

from typing import Any

import pytest

from tests.reasoning.small import GRAPH_ATOL, either, satisfaction
from tests.theory.theories import truth
from tests.tolerance import assert_close

PAPER: dict[str, Any] = {"q": 0.95, "alpha": 0.05, "beta": 10.0}


def test_refutation_ends_where_only_b_is_true() -> None:
    theory = either()
    verdict = theory.entails("A", **PAPER, restarts=1, verbose=0)
    assert not verdict
    assert verdict.case == "refuted"
    assert verdict.restarts == 1
    assert verdict.counterexample is not None
    assert verdict.counterexample.propositions == pytest.approx({"A": 0.0, "B": 1.0}, abs=0.05)
    example = verdict.counterexample.apply_to(theory)
    assert satisfaction(example) >= 0.95
    assert truth(example, "A") < 0.05


def test_the_search_itself_converges_there() -> None:
    # Not only the best grounding that it passed: the last step is at the optimum too.
    last = either().entails("A", **PAPER, restarts=1, verbose=0).curve.iloc[-1]
    assert last["satisfaction"] > 0.95
    assert last["value"] < 0.01
    assert last["loss"] < 0.01


def test_it_first_satisfies_the_theory_and_then_turns_to_the_formula() -> None:
    # As the paper tells of its figure.
    curve = either().entails("A", **PAPER, restarts=1, verbose=0).curve
    assert curve["satisfaction"].iloc[0] == 0.0
    reached = int((curve["satisfaction"] >= 0.95).idxmax())
    assert reached > 0
    assert curve["value"].iloc[reached] > 0.5
    assert curve["value"].iloc[reached:].min() < 0.01


def test_refutation_finds_it_from_every_start() -> None:
    for seed in range(3):
        verdict = either().entails("A", **PAPER, restarts=3, steps=100, seed=seed, verbose=0)
        assert verdict.case == "refuted"


def test_the_mirror_image_is_refuted_too() -> None:
    verdict = either().entails("B", **PAPER, restarts=1, verbose=0)
    assert verdict.counterexample is not None
    assert verdict.counterexample.propositions == pytest.approx({"A": 1.0, "B": 0.0}, abs=0.05)


def test_querying_after_learning_says_in_ten_runs_that_it_follows() -> None:
    theory = either()
    for seed in range(10):
        verdict = theory.entails("A", **PAPER, method="brave", restarts=1, seed=seed, verbose=0)
        assert verdict
        assert (verdict.case, verdict.method, verdict.share) == ("assumed", "brave", 1.0)
        assert verdict.grounding.propositions == pytest.approx({"A": 1.0, "B": 1.0}, abs=0.05)
        assert verdict.counterexample is None


def test_the_theory_allows_anything_for_a() -> None:
    with pytest.warns(UserWarning, match="does not pin `A` down"):
        found = either().bounds("A", **PAPER, restarts=2, seed=0, verbose=0)
    assert_close([found.low, found.high], [0.0, 1.0], atol=0.02)
    assert found.satisfaction >= 0.95


def test_the_axiom_itself_follows() -> None:
    verdict = either().entails("A | B", **PAPER, restarts=2, seed=0, slack=1, verbose=0)
    assert verdict.case == "assumed"
    assert_close(verdict.value, verdict.satisfaction, atol=10 * GRAPH_ATOL)
