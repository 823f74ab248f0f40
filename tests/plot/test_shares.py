"""Shares of violated groundings as bars, and the violations of rows beside them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import names, written


def theory_of(count: int = 2) -> ltn.Theory:
    theory = ltn.Theory("product")
    numbers = theory.domain("numbers")
    theory.variable("x", numbers)
    theory.predicate("P", numbers, lambda x: x[:, 0])
    theory.axioms(
        "\n".join(f"a{number}: forall x where x > {number / count}: ~P(x)" for number in range(count))
    )
    return theory


def test_a_bar_for_each_axiom_and_one_for_each_number_of_violations() -> None:
    figure = ltn.plot.violations(theory_of().violations({"x": [0.1, 0.2, 0.6, 0.7]}))
    axes: Any = figure.axes[0]
    assert names(axes.get_yticklabels()) == ["a1", "a0"]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [1.0, 0.5])
    assert written(figure) == ["100.0%  2 of 2", "50.0%  2 of 4"]
    assert axes.get_title() == "4 violations, a truth below 0.5"
    low, high = axes.get_ylim()
    assert low > high, "what is violated most stands on top"
    beside: Any = figure.axes[1]
    assert [bar.get_height() for bar in beside.patches] == [2, 0, 2]
    assert names(beside.get_xticklabels()) == ["0", "1", "2"]
    assert beside.get_title() == "2 of 4 rows in violations"


def test_many_axioms_and_violations_are_bounded() -> None:
    found = theory_of(60).violations({"x": [0.99, 0.25]})
    figure = ltn.plot.violations(found, most=5)
    assert len(figure.axes[0].patches) == 5
    assert written(figure)[-1] == "and 55 axioms of whose groundings at most 100.0% are violated"
    assert names(figure.axes[1].get_xticklabels())[-1] == "10+"
    assert ltn.plot.violations(found).get_size_inches()[1] < 15


def test_without_rows_or_violations() -> None:
    theory = ltn.Theory("product")
    theory.proposition("A", 0.75)
    theory.axiom("A", name="it_holds")
    figure = ltn.plot.violations(theory.violations())
    assert len(figure.axes) == 1
    assert written(figure) == ["0.0%  0 of 1"]
    assert figure.axes[0].get_title() == "0 violations, a truth below 0.5"


def test_some_rows_do_not_tell_how_many_there_were() -> None:
    found = theory_of().violations({"x": [0.1, 0.7]})
    wrong: Any
    for wrong in (found[found.axiom == "a0"], pd.DataFrame(), None):
        with pytest.raises(ltn.LogicTypeError, match="whole: some of its rows"):
            ltn.plot.violations(wrong)
