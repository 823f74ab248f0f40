"""Pictures: what they show is what the theory says; nothing is left open, and mistakes are explained."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
import ltn.plot
from tests.plot.drawn import curves, image, legend, names, written

LOGS = {
    "loss": [0.7, 0.5, 0.3],
    "satisfaction": [0.3, 0.5, 0.7],
    "friends": [0.2, 0.4, 0.6],
    "symmetric": [0.8, 0.9, 1.0],
    "learning_rate": [0.001, 0.001, 0.0005],
    "norm_of_weights": [3.0, 3.5, 4.0],
    "val_loss": [0.8, 0.6, 0.4],
    "val_satisfaction": [0.2, 0.4, 0.6],
    "val_friends": [0.1, 0.3, 0.5],
}


@pytest.fixture(scope="module")
def plane() -> ltn.Theory:
    theory = ltn.Theory("product")
    domain = theory.domain("plane", shape=2)
    theory.variables("x, y", domain)
    theory.variable("u", theory.domain("square", shape=2, bounds=(-2, 2)))
    theory.variable("s", theory.domain("simplex", shape=2, bounds="simplex"))
    theory.variable("n", theory.domain("numbers"))
    theory.predicate("A", domain, lambda x: x[:, 0] * (1 - x[:, 1]))
    theory.predicate("near", (domain, domain), lambda xs: 0.5 + 0 * xs[0][:, 0])
    theory.predicate("B", theory.signature.domains["square"], lambda u: (u[:, 0] + 2) / 4)
    theory.predicate("C", theory.signature.domains["simplex"], lambda s: s[:, 0])
    theory.predicate("D", theory.signature.domains["numbers"], lambda n: n[:, 0])
    return theory


def test_pictures_can_be_saved(people: ltn.Theory, tmp_path: Path) -> None:
    answer: Any = people.query("F(x, y)")
    figures = {
        "curves.png": ltn.plot.training(LOGS),
        "bars.png": ltn.plot.report(people.report()),
        "map.pdf": ltn.plot.heat_map(answer),
        "tree.svg": ltn.plot.tree(people, "spreads"),
    }
    for name, figure in figures.items():
        figure.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000


def test_notebooks_show_pictures_also_without_pyplot(people: ltn.Theory) -> None:
    figure: Any = ltn.plot.tree(people, "wet")
    assert figure._repr_png_().startswith(b"\x89PNG")


# Training


@pytest.mark.parametrize("wrapped", [False, True])
def test_training_draws_a_curve_for_the_theory_and_each_axiom(wrapped: bool) -> None:
    history = keras.callbacks.History()
    history.history, history.epoch = LOGS, [0, 1, 2]
    figure = ltn.plot.training(history if wrapped else LOGS)
    drawn = curves(figure)
    assert set(drawn) == {
        *("satisfaction", "friends", "symmetric"),
        *("validation of satisfaction", "validation of friends"),
    }
    for name in ("satisfaction", "friends"):
        np.testing.assert_array_equal(drawn[name].get_xdata(), [1, 2, 3])
        np.testing.assert_array_equal(drawn[name].get_ydata(), LOGS[name])
        validation = drawn[f"validation of {name}"]
        np.testing.assert_array_equal(validation.get_ydata(), LOGS[f"val_{name}"])
        assert validation.get_color() == drawn[name].get_color()
        assert (drawn[name].get_linestyle(), validation.get_linestyle()) == ("-", "--")
    assert drawn["satisfaction"].get_color() == "black"
    assert drawn["satisfaction"].get_linewidth() > 2 * drawn["friends"].get_linewidth()
    assert figure.axes[0].get_ylim() == (0.0, 1.0)
    assert legend(figure) == ["satisfaction  0.70", "symmetric  1.00", "friends  0.60", "validation"]


def test_training_of_a_theory(people: ltn.Theory) -> None:
    people.compile(keras.optimizers.Adam(1e-4))
    history = people.fit(epochs=2, verbose=0)
    drawn = curves(ltn.plot.training(history))
    assert set(drawn) == {"satisfaction", "spreads", "everyone", "wet"}
    np.testing.assert_array_equal(drawn["everyone"].get_ydata(), history.history["everyone"])
    later = people.fit(epochs=7, initial_epoch=5, verbose=0)
    np.testing.assert_array_equal(curves(ltn.plot.training(later))["wet"].get_xdata(), [6, 7])


@pytest.mark.parametrize("chosen", ["friends", ["friends"]])
def test_training_of_chosen_axioms(chosen: Any) -> None:
    assert {name for name in curves(ltn.plot.training(LOGS, chosen)) if "validation" not in name} == {
        "satisfaction",
        "friends",
    }
    assert "friends" not in curves(ltn.plot.training(LOGS, []))


def test_an_axiom_looks_the_same_where_others_are_left_out() -> None:
    whole, part = (curves(ltn.plot.training(LOGS, chosen))["symmetric"] for chosen in (None, "symmetric"))
    assert part.get_color() == whole.get_color()


def test_training_tells_many_axioms_apart() -> None:
    logs = {f"_axiom_{number}": [0.1, number / 40] for number in range(40)}
    figure = ltn.plot.training({"satisfaction": [0.1, 0.2]} | logs)
    looks = {(line.get_color(), line.get_marker(), line.get_linewidth()) for line in curves(figure).values()}
    assert len(looks) == 41
    assert "_axiom_7  0.17" in legend(figure)


def test_training_with_validation_in_some_epochs_only() -> None:
    logs = {"satisfaction": [0.1] * 6, "val_satisfaction": [0.2, 0.3]}
    validation = curves(ltn.plot.training(logs))["validation of satisfaction"]
    np.testing.assert_array_equal(validation.get_xdata(), [3, 6])


def test_training_of_one_epoch_is_seen() -> None:
    figure = ltn.plot.training({"satisfaction": [0.5], "all": [0.4]})
    assert {line.get_marker() for line in curves(figure).values()} == {"o"}
    np.testing.assert_array_equal(figure.axes[0].get_xticks(), [1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ltn.plot.training([0.1]), ltn.LogicTypeError, "theory.fit returned.*got a list"),
        (lambda: ltn.plot.training({"loss": [1.0]}), ltn.LogicValueError, "'satisfaction'.*holds: loss"),
        (lambda: ltn.plot.training({}), ltn.LogicValueError, "holds: nothing"),
        (lambda: ltn.plot.training(LOGS, ["freinds"]), ltn.LogicValueError, "did you mean 'friends'"),
        (lambda: ltn.plot.training(LOGS, ["loss"]), ltn.LogicValueError, "no axiom 'loss'"),
        (lambda: ltn.plot.report({}), ltn.LogicTypeError, r"theory.report\(data\).*got a dict"),
        (lambda: ltn.plot.report(pd.DataFrame({"axiom": ["a"]})), ltn.LogicValueError, "lacks formula, sat"),
    ],
)
def test_mistakes_in_training_and_report(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


# Report


def test_report_draws_a_bar_for_each_axiom(people: ltn.Theory) -> None:
    frame = people.report()
    axes: Any = ltn.plot.report(frame).axes[0]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], frame["satisfaction"])
    assert names(axes.get_yticklabels()) == ["spreads", "everyone", "wet"]
    texts = [text.get_text() for text in axes.texts]
    assert "∀[p=6] x, y where x ≠ y: F(x, y) → S(y)" in texts
    assert [text for text in texts if text.startswith("0.")] == [f"{v:.3f}" for v in frame["satisfaction"]]
    low, high = axes.get_ylim()
    assert low > high, "the first axiom stands on top"


def test_report_of_weights_code_and_long_formulas() -> None:
    frame = pd.DataFrame(
        {
            "axiom": ["heavy", "code", "a_name_of_more_than_thirty_characters"],
            "formula": ["A & B", "<lambda>", " & ".join(f"proposition_{i}" for i in range(50))],
            "weight": [2.5, 1.0, 1.0],
            "satisfaction": [0.0, float("nan"), 1.0],
        }
    )
    figure = ltn.plot.report(frame)
    heavy, code, long = names(figure.axes[0].get_yticklabels())
    assert (heavy, code) == ("heavy\nweight 2.5", "code")
    assert len(long) <= 24
    assert long.startswith("a_name_of")
    assert {"A ∧ B", "<lambda>", "nan"} <= set(written(figure))
    assert max(len(line) for text in written(figure) for line in text.splitlines()) <= 76


def test_report_without_axioms_is_refused(people: ltn.Theory) -> None:
    with pytest.raises(ltn.LogicValueError, match="no rows"):
        ltn.plot.report(people.report().iloc[:0])


# Surface


def test_surface_shows_the_truth_at_each_place(plane: ltn.Theory) -> None:
    figure = ltn.plot.surface(plane, "A(x)", resolution=11)
    values = image(figure).get_array()
    assert values.shape == (11, 11)
    # Rows go up with the second feature, columns with the first.
    np.testing.assert_allclose([values[0, 10], values[0, 5], values[10, 10]], [1.0, 0.5, 0.0], atol=1e-6)
    assert image(figure).get_clim() == (0.0, 1.0)
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((0.0, 1.0), (0.0, 1.0))
    assert figure.axes[0].get_title() == "Truth of A(x)"
    assert figure.axes[0].get_xlabel() == "first feature of x"
    assert legend(figure) == ["truth 0.5"]


def test_surface_without_a_line_where_truth_never_is_one_half(plane: ltn.Theory) -> None:
    figure = ltn.plot.surface(plane, "A(x) & ~A(x)", resolution=5)
    assert not figure.legends
    assert not figure.axes[0].collections


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("B(u)", {}, ((-2.0, 2.0), (-2.0, 2.0))),
        ("B(u)", {"bounds": (0, 1)}, ((0.0, 1.0), (0.0, 1.0))),
        ("A(x)", {"bounds": ((0, 1), (0.5, 0.75))}, ((0.0, 1.0), (0.5, 0.75))),
        ("A(x)", {"points": [[0.1, 0.2], [0.9, 0.3]]}, ((0.0, 1.0), (0.0, 1.0))),
        ("near(x, x)", {"points": [[0.0, 0.5], [2.0, 0.5]]}, ((-0.1, 2.1), (0.0, 1.0))),
    ],
)
def test_the_rectangle_of_a_surface(plane: ltn.Theory, query: str, options: Any, expected: Any) -> None:
    axes = ltn.plot.surface(plane, query, resolution=4, **options).axes[0]
    np.testing.assert_allclose((axes.get_xlim(), axes.get_ylim()), expected)


def test_surface_with_points_data_and_options(plane: ltn.Theory) -> None:
    query = "forall y: near(x, y) -> A(y)"
    data = {"y": [[0.1, 0.9], [0.8, 0.2]]}
    groups = {"in A": [[0.9, 0.1]], "not in A": [[0.1, 0.9], [0.2, 0.8]]}
    figure = ltn.plot.surface(plane, query, "x", resolution=3, points=groups, data=data, p_forall=1)
    truth = plane.query(query, data, x=[[0.0, 0.0]], p_forall=1).tensor.numpy()
    np.testing.assert_allclose(image(figure).get_array(), np.full((3, 3), truth[0]))
    assert legend(figure)[-2:] == ["in A", "not in A"]
    for drawn, group in zip(figure.axes[0].collections[-2:], groups.values(), strict=True):
        np.testing.assert_allclose(np.asarray(drawn.get_offsets(), float), np.asarray(group))


@pytest.mark.parametrize(
    ("query", "options", "error", "message"),
    [
        ("near(x, y)", {}, ltn.LogicValueError, "one free variable; `near\\(x, y\\)` has 2: x, y. Quantify"),
        ("forall x: A(x)", {"data": {"x": [[0, 0]]}}, ltn.LogicValueError, "has none. Leave out"),
        ("x", {}, ltn.LogicTypeError, "`x` is a term"),
        ("D(n)", {}, ltn.LogicValueError, "two features.*'numbers' of 'n' has the shape \\(1,\\).*heat_map"),
        ("C(s)", {}, ltn.LogicValueError, "has the bounds 'simplex'"),
        ("A(x)", {"variable": "y"}, ltn.LogicValueError, "is 'x'; got `variable` 'y'"),
        ("A(x)", {"bounds": (1, 0)}, ltn.LogicValueError, "low < high; got \\(1, 0\\)"),
        ("A(x)", {"bounds": "all"}, ltn.LogicValueError, "`bounds` are.*got 'all'"),
        ("A(x)", {"resolution": 1}, ltn.LogicValueError, "`resolution`.*at least 2; got 1"),
        ("A(x)", {"points": [1.0, 2.0]}, ltn.LogicValueError, "shape \\(n, 2\\).*have the shape \\(2,\\)"),
        ("B(u)", {"bounds": (0, 9)}, ltn.LogicValueError, "leave the bounds \\(-2.0, 2.0\\)"),
    ],
)
def test_mistakes_in_surfaces(
    plane: ltn.Theory, query: str, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.surface(plane, query, **options)


# Heat map


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
    assert labels[0].get_rotation() == (0 if count == 3 else 90)
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


# Tree
