"""Diagonals of unequal sizes: the same error wherever they are bound."""

from typing import Any

import pytest

import ltn

MESSAGE = r"The variables of diag\(x, y\) must have the same number of individuals; got 3, 5"
DATA = {"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0, 3.0, 4.0]}


def theory_of(**settings: Any) -> ltn.Theory:
    theory = ltn.Theory("product", **settings)
    numbers = theory.domain("numbers")
    theory.variables("x, y", numbers)
    theory.variable("u", numbers, DATA["x"])
    theory.variable("v", numbers, DATA["y"])
    theory.predicate("R", (numbers, numbers), ltn.Predicate.MLP([1, 1], (2,)))
    return theory


@pytest.mark.parametrize("settings", [{}, {"chunk": 2}])
def test_in_a_formula(settings: dict[str, Any]) -> None:
    with pytest.raises(ltn.LogicValueError, match=r"In `forall diag\(x, y\): R\(x, y\)`: " + MESSAGE):
        theory_of(**settings).query("forall diag(x, y): R(x, y)", DATA)


def test_under_a_guard_that_is_found_when_the_plan_is_made() -> None:
    with pytest.raises(ltn.LogicValueError, match=r"diag\(u, v\) must have the same number .* got 3, 5"):
        theory_of().query("forall diag(u, v) where u < v: R(u, v)")


def test_the_error_names_the_axiom_that_has_the_diagonal() -> None:
    theory = theory_of()
    theory.axiom("forall x, y: R(x, y)")
    theory.axiom("forall diag(x, y): R(x, y)")
    with pytest.raises(ltn.LogicValueError, match=r"In `forall diag\(x, y\): R\(x, y\)`: " + MESSAGE):
        theory.report(DATA)
