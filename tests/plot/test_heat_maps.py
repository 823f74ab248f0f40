"""Heat maps: each cell has the truth of its pair; names and values can be read at every size."""

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
import ltn.plot
from tests.plot.drawn import image, names, written


def test_heat_map_over_two_variables(people: ltn.Theory) -> None:
    answer: Any = people.query("F(x, y)")
    figure = ltn.plot.heat_map(answer, title="F(x, y)")
    axes = figure.axes[0]
    np.testing.assert_allclose(image(figure).get_array(), answer.tensor)
    assert names(axes.get_xticklabels()) == names(axes.get_yticklabels()) == list("abcd")
    assert (axes.get_ylabel(), axes.get_xlabel(), axes.get_title()) == ("x", "y", "F(x, y)")
    assert written(figure) == [f"{value:.2f}" for value in answer.tensor.numpy().ravel()]
    assert image(figure).get_clim() == (0.0, 1.0)


def test_heat_map_over_one_variable_is_a_row(people: ltn.Theory) -> None:
    answer: Any = people.query("S(x)")
    figure = ltn.plot.heat_map(answer)
    np.testing.assert_allclose(image(figure).get_array(), answer.tensor[None])
    assert names(figure.axes[0].get_xticklabels()) == list("abcd")
    assert names(figure.axes[0].get_yticklabels()) == []


@pytest.mark.parametrize("count", [3, 5, 12, 20])
def test_heat_map_with_long_names_stays_readable(count: int) -> None:
    theory = ltn.Theory()
    kinds = theory.domain("kinds", values=[f"penguin_{number:02d}" for number in range(count)])
    theory.variable("k", kinds)
    theory.predicate("P", (kinds,), lambda k: 0.0 * tf.cast(k[:, 0], tf.float32) + 0.95)
    answer: Any = theory.query("P(k)")
    figure = ltn.plot.heat_map(answer)
    figure.draw_without_rendering()
    labels = figure.axes[0].get_xticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert not any(left.overlaps(right) for left, right in itertools.pairwise(boxes))
    assert labels[0].get_rotation() == (0 if count <= 5 else 90)
    assert {text.get_color() for text in figure.axes[0].texts} == {"white"}


def test_heat_map_of_many_individuals_stays_readable() -> None:
    figure = ltn.plot.heat_map(ltn.Formula(np.full((100, 21), 0.5), ["x", "y"]))
    assert written(figure) == []
    assert names(figure.axes[0].get_yticklabels())[:3] == ["0", "3", "6"]
    assert len(figure.axes[0].get_xticks()) == 21
    assert max(figure.get_size_inches()) <= 14


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (ltn.Formula(0.5, []), ltn.LogicValueError, r"this one has 0. To see it, float\(answer\)"),
        (ltn.Formula(np.zeros((1, 1, 1)), list("xyz")), ltn.LogicValueError, "3: x, y, z.*take"),
        (ltn.Formula(np.zeros((0, 2)), list("xy")), ltn.LogicValueError, r"nothing to draw.*\(0, 2\)"),
        (ltn.Term(np.zeros((2, 1)), ["x"]), ltn.LogicTypeError, "got a term"),
        (np.zeros(2), ltn.LogicTypeError, "got a ndarray"),
    ],
)
def test_mistakes_in_heat_maps(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.heat_map(answer)


@pytest.mark.parametrize("length", [1, 6, 18])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 500), (41, 41), (500, 7), (500, 500)])
def test_names_in_heat_maps_never_overlap(rows: int, columns: int, length: int) -> None:
    answer = ltn.Formula(np.full((rows, columns), 0.5), ["x", "y"])
    if length > 1:
        answer.individuals = {
            variable: [f"{number:0>{length}}" for number in range(count)]
            for variable, count in (("x", rows), ("y", columns))
        }
    figure = ltn.plot.heat_map(answer)
    figure.draw_without_rendering()
    for labels in (figure.axes[0].get_xticklabels(), figure.axes[0].get_yticklabels()):
        boxes = [label.get_window_extent() for label in labels]
        assert boxes
        assert not any(one.overlaps(two) for one, two in itertools.pairwise(boxes))


def test_wide_letters_do_not_overlap() -> None:
    answer = ltn.Formula(np.zeros(9), ["x"])
    answer.individuals = {"x": ["W" * 9] * 7 + ["i" * 11] * 2}
    figure = ltn.plot.heat_map(answer)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert not any(one.overlaps(two) for one, two in itertools.pairwise(boxes))


def test_numerals_stand_upright_only_where_many_more_fit_so() -> None:
    labels = ltn.plot.heat_map(ltn.Formula(np.full((2, 300), 0.5), ["x", "y"])).axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {0}
    assert len(labels) > 20


def test_names_that_differ_at_the_end_are_told_apart() -> None:
    answer = ltn.Formula(np.zeros(3), ["x"])
    answer.individuals = {"x": [f"an_individual_with_the_number_{number}" for number in range(3)]}
    labels = names(ltn.plot.heat_map(answer).axes[0].get_xticklabels())
    assert len(set(labels)) == 3
    assert max(map(len, labels)) == 18


@pytest.mark.parametrize(
    ("said", "title", "expected"),
    [
        (None, None, "Truth of a formula over x and y"),
        ("F(x, y) & S(x)", None, "Truth of F(x, y) ∧ S(x)"),
        ("F(x, y)", "Friends", "Friends"),
        ("F(x, y)", "", ""),
    ],
)
def test_the_title_of_a_heat_map_names_the_formula(
    said: str | None, title: str | None, expected: str
) -> None:
    answer: Any = ltn.Formula(np.zeros((2, 2)), ["x", "y"])
    if said is not None:
        answer.text = said
    assert ltn.plot.heat_map(answer, title).axes[0].get_title() == expected


def test_a_cell_without_a_number_is_grey() -> None:
    cells = image(ltn.plot.heat_map(ltn.Formula(tf.constant([0.5, float("nan")]), ["x"])))
    grey = cells.to_rgba(np.ma.masked_invalid([[np.nan]]))[0, 0]
    np.testing.assert_allclose(grey[:3], [0xBD / 255] * 3)
