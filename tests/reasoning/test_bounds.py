"""Bounds: the lowest and the highest truth of a formula, and warnings where they say little."""

import warnings
from typing import Any

import pytest

from tests.reasoning.small import (
    GRAPH_ATOL,
    chain,
    contradiction,
    either,
    people,
    propositions,
    satisfaction,
)
from tests.theory.theories import truth
from tests.tolerance import assert_close

RUNS: dict[str, Any] = {"restarts": 2, "steps": 150, "seed": 0, "verbose": 0}


def test_low_and_high_come_first() -> None:
    low, high, reached, q, lowest, highest = chain().bounds("B", **RUNS)
    assert low is not None
    assert high is not None
    assert 0.9 < low < 0.95 < 0.99 < high <= 1.0
    assert q == 0.95
    assert reached >= q
    assert lowest is not None
    assert highest is not None


def test_they_are_what_can_be_computed_by_hand() -> None:
    # One axiom: its own truth lies between q and 1, that of its negation between 0 and 1 - q.
    theory = propositions("A", ["A"], start=0.5)
    for text, expected in (("A", (0.9, 1.0)), ("~A", (0.0, 0.1))):
        low, high, *_ = theory.bounds(text, q=0.9, **RUNS)
        # The stable operators move truths by 1e-4; a search ends near its limit only.
        assert_close([low, high], expected, atol=5e-3)


def test_they_lie_in_the_unit_interval_in_order() -> None:
    for text in ("A", "A <-> B"):
        low, high, *_ = propositions("AB", ["A", "B"], 0.3).bounds(text, **RUNS)
        assert low is not None
        assert high is not None
        assert 0.0 <= low <= high <= 1.0


def test_the_groundings_give_the_numbers() -> None:
    theory = people(["S(a)", "forall x: S(x) -> S(b)"])
    found = theory.bounds("S(b)", restarts=2, steps=100, seed=0, verbose=0)
    assert found.lowest is not None
    assert found.highest is not None
    for value, grounding in ((found.low, found.lowest), (found.high, found.highest)):
        copy = grounding.apply_to(theory)
        assert satisfaction(copy) >= 0.95
        assert_close(truth(copy, "S(b)"), value, atol=GRAPH_ATOL)


def test_no_warning_where_the_theory_pins_the_formula_down() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = chain().bounds("B", **RUNS)
    assert found.low is not None
    assert found.low > 0.75


def test_a_warning_where_it_does_not() -> None:
    with pytest.warns(UserWarning, match=r"does not pin `A` down.*from 0\.\d+ to [01]\.\d+") as caught:
        either().bounds("A", **RUNS)
    # It points to the line that asked.
    assert [warning.filename for warning in caught] == [__file__]


def test_what_nothing_satisfies_has_no_bounds() -> None:
    with pytest.warns(UserWarning, match=r"q = 0\.9: the best was 0\.500\. Ask with a lower q") as caught:
        found = contradiction().bounds("A", q=0.9, **RUNS)
    assert [warning.filename for warning in caught] == [__file__]
    assert (found.low, found.high, found.lowest, found.highest) == (None, None, None, None)
    assert found.q == 0.9
    assert_close(found.satisfaction, 0.5, atol=1e-3)


@pytest.mark.filterwarnings("ignore:The theory does not pin")
def test_the_same_seed_gives_the_same_bounds() -> None:
    theory = propositions("ABC", ["A | B", "B | C"])
    one, other = (theory.bounds("A | C", **{**RUNS, "steps": 20}) for _ in range(2))
    assert one[:4] == other[:4]
