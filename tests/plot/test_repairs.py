"""Repairs as pictures: the truths before and after, what changed in a frame."""

from typing import Any

import numpy as np
import pytest

import ltn.plot
from tests.plot.drawn import names, written
from tests.repair.rules import implications, theory_of

ROWS = [[0.25, 0.5, 0.75], [0.75, 0.5, 0.25], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]


@pytest.fixture(scope="module")
def repaired() -> ltn.repair.Repaired:
    theory = theory_of(implications([(0, 1), (1, 2)]), count=3)
    return theory.repair({"x": ROWS}, direction="raise")


def test_the_rows_that_changed_are_drawn_before_and_after(repaired: ltn.repair.Repaired) -> None:
    figure: Any = ltn.plot.repair(repaired)
    before, after, *_ = figure.axes
    shown: list[Any] = [axes.images[0].get_array() for axes in (before, after)]
    np.testing.assert_array_equal(shown[0], np.array(ROWS)[1:])
    np.testing.assert_array_equal(shown[1], np.asarray(repaired["is"].tensor)[1:])
    assert names(before.get_xticklabels()) == ["a", "b", "c"]
    assert names(before.get_yticklabels()) == ["x 1", "x 2", "x 3"]
    assert [len(axes.patches) for axes in (before, after)] == [4, 4]
    assert [axes.get_title() for axes in (before, after)] == ["before", "after"]
    assert written(figure) == [f"{truth:.2f}" for row in ROWS[1:] for truth in row]


def test_of_many_rows_some_are_drawn_and_the_others_counted(repaired: ltn.repair.Repaired) -> None:
    figure: Any = ltn.plot.repair(repaired, "is", most=2)
    assert figure.axes[0].images[0].get_array().shape == (2, 3)
    assert figure.get_supxlabel() == "1 more row changed."
    chosen: Any = ltn.plot.repair(repaired, "is(x, b)", rows=[0, 3])
    assert names(chosen.axes[0].get_yticklabels()) == ["x 0", "x 3"]
    np.testing.assert_array_equal(chosen.axes[1].images[0].get_array(), [[0.5], [1.0]])


def test_a_repair_that_changes_nothing_and_one_of_a_proposition_are_drawn() -> None:
    theory = theory_of(implications([(0, 1)]), count=2)
    figure: Any = ltn.plot.repair(theory.repair({"x": [[0.25, 0.75]]}))
    assert figure.axes[0].images[0].get_array().shape == (1, 2)
    theory.proposition("A", 0.25)
    theory.axiom("A")
    figure = ltn.plot.repair(theory.repair({"x": [[0.25, 0.75]]}), "A")
    assert figure.axes[1].images[0].get_array().shape == (1, 1)
