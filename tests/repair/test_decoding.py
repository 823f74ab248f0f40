"""Labels of whole theories: the most likely that break no rule, the limit of time, and the lack of SciPy."""

import itertools
import sys

import numpy as np
import pytest

import ltn
from ltn.errors import LogicValueError
from tests.repair.rules import repaired, theory_of


def test_exactly_one_label_is_the_most_likely_one() -> None:
    theory = theory_of(["forall x: exactly 1 k where k != f: is(x, k)"])
    rows = np.random.default_rng(0).random((20, 6)).astype(np.float32)
    found = repaired(theory, rows, decode="crisp")
    log_odds = np.log(rows[:, :5]) - np.log1p(-rows[:, :5])
    assert found[:, :5].tolist() == np.eye(5)[log_odds.argmax(axis=1)].tolist()
    assert found[:, 5].tolist() == (rows[:, 5] >= 0.5).astype(float).tolist()


@pytest.mark.parametrize(
    ("count", "allowed"), [("at least 3", [3, 4, 5, 6]), ("at most 2", [0, 1, 2]), ("exactly 2", [2])]
)
def test_counts_leave_the_best_of_all_labels(count: str, allowed: list[int]) -> None:
    theory = theory_of([f"forall x: {count} k: is(x, k)", "forall x: is(x, a) -> is(x, f)"])
    every = itertools.product([0.0, 1.0], repeat=6)
    legal = [labels for labels in every if sum(labels) in allowed and labels[0] <= labels[5]]
    rows = np.random.default_rng(1).uniform(0.05, 0.95, (10, 6)).astype(np.float32)
    likelihood = np.log(rows) @ np.array(legal).T + np.log1p(-rows) @ (1.0 - np.array(legal)).T
    best = [list(legal[number]) for number in likelihood.argmax(axis=1)]
    assert repaired(theory, rows, decode="crisp").tolist() == best


def test_it_finds_the_labels_of_a_decoder_by_hand_without_being_told_which_are_allowed() -> None:
    """Ten digits and their attributes: of two to the fifteen label vectors the rules leave ten."""
    digits = [f"d{number}" for number in range(10)]
    members = {
        "even": (0, 2, 4, 6, 8),
        "prime": (2, 3, 5, 7),
        "small": (0, 1, 2, 3, 4),
        "square": (0, 1, 4, 9),
        "round": (0, 6, 8, 9),
    }
    has = np.array([[number in own for own in members.values()] for number in range(10)])
    theory = ltn.Theory()
    labels = theory.domain("labels", values=[*digits, *members])
    images = theory.domain("images", shape=15)
    theory.variable("x", images)
    theory.variables("d, a", labels)
    theory.relation("digit", labels, digits)
    for name, pairs in (("has", np.argwhere(has)), ("lacks", np.argwhere(~has))):
        theory.relation(name, (labels, labels), [(digits[d], list(members)[a]) for d, a in pairs])
    theory.predicate("is", (images, labels), ltn.Predicate.FromProbabilities(lambda args: args[0]))
    theory.axiom("forall x: exactly 1 d where digit(d): is(x, d)")
    theory.axiom("forall x, d, a where has(d, a): is(x, d) -> is(x, a)")
    theory.axiom("forall x, d, a where lacks(d, a): is(x, d) -> ~is(x, a)")
    logits = np.random.default_rng(2).normal(scale=3.0, size=(40, 15))
    rows = (1.0 / (1.0 + np.exp(-logits))).astype(np.float32)
    allowed = np.hstack([np.eye(10), has])
    likelihood = np.log(rows) @ allowed.T + np.log1p(-rows) @ (1.0 - allowed).T
    found = theory.repair({"x": rows}, decode="crisp")
    assert np.asarray(found["is"].tensor).tolist() == allowed[likelihood.argmax(axis=1)].tolist()
    assert found.gap == 0.0


def test_changes_are_the_labels_that_are_not_the_rounded_truths() -> None:
    theory = theory_of(["forall x: ~(is(x, a) & is(x, b))"], count=2)
    found = theory.repair({"x": [[0.9, 0.75], [0.25, 0.75]]}, decode="crisp")
    assert found["is"].to_frame().to_numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.changes[["individuals", "to", "axiom"]].to_numpy().tolist() == [[(0, "b"), 0.0, "axiom_1"]]
    assert found.gap == 0.0
    assert theory.repair({"x": [[0.9, 0.75]]}).gap is None


def test_when_the_time_is_over_labels_break_no_rule_and_the_gap_tells_what_may_be_missing() -> None:
    theory = theory_of(["forall x: is(x, a) | is(x, b)", "forall x: is(x, a) | is(x, c)"], count=3)
    row = [[0.375, 0.25, 0.25]]
    found = theory.repair({"x": row}, decode="crisp", time_limit=1e-9)
    labels = np.asarray(found["is"].tensor)[0]
    assert labels[0] or (labels[1] and labels[2])
    best = np.log(0.375 / 0.625)
    reached = labels @ np.log(np.array([0.375, 0.25, 0.25]) / np.array([0.625, 0.75, 0.75]))
    assert found.gap is not None
    # At least what is missing, and at most what all outputs alone would gain, which is nothing here.
    assert best - reached <= found.gap + 1e-6
    assert found.gap == pytest.approx(-reached, abs=1e-5)


def test_without_scipy_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    theory = theory_of(["forall x: is(x, a)"])
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(
        LogicValueError, match=r"not installed: install it with pip install 'ltn-keras\[repair\]'"
    ):
        theory.repair({"x": [[0.5] * 6]}, decode="crisp")
    assert isinstance(theory.repair({"x": [[0.5] * 6]}), ltn.repair.Repaired)
