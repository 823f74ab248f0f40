"""Entailment decides as classical logic does, but for the misses that the table explains."""

import functools
import os
from typing import NamedTuple

import pytest

import ltn
from ltn.reasoning import Verdict
from tests.reasoning.entailments import CLASSICAL, TABLE, Entailment, theory_of
from tests.reasoning.small import satisfaction

# LTN_TEST_SEEDS=5 asks each row from more starting points, as the table was made.
SEEDS = range(int(os.environ.get("LTN_TEST_SEEDS", "2")))


class Decided(NamedTuple):
    """A theory that was asked, and what it answered."""

    theory: ltn.Theory
    verdict: Verdict


@functools.cache
def decided(row: Entailment) -> list[Decided]:
    """With the default settings, from every seed. Cached: all tests of a row look at the same searches."""
    theories = [theory_of(row, seed, **CLASSICAL) for seed in SEEDS]
    return [
        Decided(theory, theory.entails(row.formula, seed=seed, verbose=0))
        for seed, theory in zip(SEEDS, theories, strict=True)
    ]


def missed(row: Entailment) -> list[Decided]:
    return [found for found in decided(row) if bool(found.verdict) != row.follows]


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_row(row: Entailment) -> None:
    misses = missed(row)
    # No miss without an explanation, and no explanation that is out of date.
    assert bool(misses) == bool(row.miss), [found.verdict for found in misses]
    for found in decided(row):
        assert found in misses or found.verdict.case == row.case
        assert_witnessed(found, row.formula)


def assert_witnessed(found: Decided, formula: str) -> None:
    """A refutation has a counterexample that is one when the theory is evaluated anew; nothing else has."""
    theory, verdict = found
    if verdict.case != "refuted":
        assert verdict.counterexample is None
        return
    assert verdict.counterexample is not None
    shown = verdict.counterexample.apply_to(theory)
    assert satisfaction(shown) >= verdict.q
    assert float(shown.query(formula)) < verdict.level


def test_share() -> None:
    assert len(TABLE) >= 30
    misses = sum(len(missed(row)) for row in TABLE)
    assert 1.0 - misses / (len(TABLE) * len(SEEDS)) >= 0.95


@pytest.mark.parametrize(
    ("axiom", "formula", "case"),
    [
        # Of three individuals all must be about true for sqrt((1 + 1 + P(a)^2) / 3) >= 0.95: P(a) >= 0.84.
        ("exists x: P(x)", "P(a)", "assumed"),
        # One alone gives sqrt(0.95^2 / 3) = 0.55.
        ("P(a)", "exists x: P(x)", "refuted"),
        # `~forall` is `exists ~`, and so asks for all of them.
        ("~(forall x: P(x))", "forall x: ~P(x)", "assumed"),
    ],
)
def test_a_mean_with_the_default_p_does_not_mean_some(axiom: str, formula: str, case: str) -> None:
    """Each is decided against classical logic, and as the table has it with a high p."""
    [row] = [row for row in TABLE if (row.axioms, row.formula) == (axiom, formula)]
    theory = theory_of(row, seed=0)
    verdict = theory.entails(formula, seed=0, verbose=0)
    assert verdict.case == case != row.case
    assert_witnessed(Decided(theory, verdict), formula)


def test_a_mean_lets_one_of_many_axioms_fall() -> None:
    theory = ltn.Theory()
    for number in range(50):
        theory.proposition(f"a{number}", trainable=True)
        theory.axiom(f"a{number}")
    fallen = theory.entails("a0", restarts=1, verbose=0)
    # All the error of a mean square of (1 - 0.95)^2 is on one of fifty.
    assert fallen.case == "refuted"
    assert abs(fallen.value - (1.0 - 0.05 * 50**0.5)) < 0.01
    assert theory.entails("a0", restarts=1, p_satagg=200, verbose=0).case == "assumed"


def test_what_a_formula_pulls_down_is_still_found_satisfiable() -> None:
    theory = ltn.Theory()
    people = theory.domain("people", shape=4)
    theory.constants("a b c d e", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("P", (people, people), ltn.Predicate.MLP([4, 4], (8, 8)))
    for name in "HR":
        theory.predicate(name, people, ltn.Predicate.MLP([4], (8, 8)))
    theory.axioms(
        "P(a, b)\nR(a)\nforall x: ~P(x, x)\nforall x, y: P(x, y) & R(x) -> R(y)\nforall x: R(x) -> H(x)"
    )
    verdict = theory.entails("H(b)", restarts=4, seed=0, p=200, p_satagg=200, verbose=0)
    assert verdict.case == "assumed"
