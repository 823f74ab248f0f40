"""Pictures: what they show is what the theory says; nothing is left open, and mistakes are explained."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from matplotlib.backends.backend_agg import FigureCanvasAgg

import ltn
import ltn.plot
from ltn.language import parse

ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"
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
def people() -> ltn.Theory:
    """A small theory of friends, untrained."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("stable_product", p_exists=1)
    domain = theory.domain("people", shape=3)
    theory.constants("a b c d", domain, trainable=True)
    theory.variables("x, y, z", domain)
    theory.predicate("S", domain, ltn.Predicate.MLP([3], (4,)))
    theory.predicate("F", (domain, domain), ltn.Predicate.MLP([3, 3], (4,)))
    theory.proposition("rain", 0.25)
    theory.axioms(
        """
        spreads: forall[p=6] x, y where x != y: F(x, y) -> S(y)
        everyone: forall x: exists y: F(x, y)
        wet: rain
        """
    )
    return theory


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


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    before = plt.get_fignums(), matplotlib.get_backend()
    yield
    assert (plt.get_fignums(), matplotlib.get_backend()) == before


def curves(figure: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in figure.axes[0].lines}


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def written(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def names(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def image(figure: Any) -> Any:
    return figure.axes[0].images[0]


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


def truth(theory: ltn.Theory, formula: str, **options: Any) -> str:
    return f"{float(theory.query(formula, **options)):.3f}"


def over_individuals(values: Any) -> str:
    return f"mean {np.mean(values):.3f}\n{np.min(values):.3f} – {np.max(values):.3f}"  # noqa: RUF001


def test_tree_shows_the_truth_of_every_part(people: ltn.Theory) -> None:
    figure = ltn.plot.tree(people, "(forall x: exists y: F(x, y)) & rain & ~S(a)")
    inner = people.query("exists y: F(x, y)").tensor
    assert written(figure) == [
        *("∧", truth(people, "(forall x: exists y: F(x, y)) & rain & ~S(a)")),
        *("∀ x", truth(people, "forall x: exists y: F(x, y)")),
        *("∃ y", over_individuals(inner)),
        *("F", over_individuals(people.query("F(x, y)").tensor), "x", "y"),
        *("rain", "0.250"),
        *("¬", truth(people, "~S(a)"), "S", truth(people, "S(a)"), "a"),
    ]
    assert figure.get_suptitle() == "(∀x: ∃y: F(x, y)) ∧ rain ∧ ¬S(a)"


def test_tree_of_an_axiom_with_guard_and_options(people: ltn.Theory) -> None:
    by_name, by_axiom, by_node = (
        ltn.plot.tree(people, formula)  # type: ignore[arg-type]
        for formula in ("spreads", people.find("spreads"), people.find("spreads").tree)
    )
    quantifier, value, implies, stated = written(by_name)[:4]
    assert quantifier == "∀ x, y  (p = 6)\nwhere x ≠ y"
    assert value == f"{people.report()['satisfaction'][0]:.3f}"
    pairs = people.query("F(x, y) -> S(y)").tensor.numpy()
    # Only the pairs that the guard selects count.
    assert (implies, stated) == ("→", over_individuals(pairs[~np.eye(4, dtype=bool)]))
    assert written(by_name) == written(by_axiom) == written(by_node)
    assert by_name.get_suptitle().startswith("spreads:  ∀")


def test_tree_uses_what_was_set_for_the_axiom(people: ltn.Theory) -> None:
    people.set_hyperparameters("everyone", p_exists=8)
    stated = written(ltn.plot.tree(people, "everyone"))[1]
    assert stated == f"{people.report()['satisfaction'][1]:.3f}"
    assert stated != truth(people, "forall x: exists y: F(x, y)")


def test_tree_with_data_and_other_operators(people: ltn.Theory) -> None:
    data = {"x": np.eye(3)}
    for options in ({}, {"p": 6}, {"semantics": "godel"}, {"p_forall": 3}):
        figure = ltn.plot.tree(people, "forall x: S(x) | rain", data, **options)
        assert written(figure)[1] == truth(people, "forall x: S(x) | rain", data=data, **options)


def test_tree_in_log_space_is_the_normal_form(people: ltn.Theory) -> None:
    figure: Any = ltn.plot.tree(people, parse("forall x: S(x) -> rain"), semantics="log_product")
    labels = written(figure)
    assert [label for label in labels if label[0] not in "m0"] == ["∀ x", "∨", "¬", "S", "x", "rain"]  # noqa: RUF001
    assert labels[1] == truth(people, "forall x: S(x) -> rain", semantics="log_product")
    assert figure.get_suptitle() == "∀x: S(x) → rain"
    assert "evaluated as  ∀x: ¬S(x) ∨ rain" in [text.get_text() for text in figure.texts]  # noqa: RUF001


@pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
def test_tree_of_the_addition_of_digits(semantics: str) -> None:
    theory = ltn.Theory(semantics)
    images, digits = theory.domain("images", shape=(2, 2)), theory.domain("digits", values=range(3))
    theory.variables("x, y", images)
    theory.variable("n", theory.domain("results"))
    theory.variables("d1, d2", digits)
    layers = [keras.Input((2, 2)), keras.layers.Flatten(), keras.layers.Dense(3)]
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(keras.Sequential(layers), "softmax"))
    theory.axiom(ADDITION, name="addition")
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=(5, 2, 2)), "y": rng.normal(size=(5, 2, 2)), "n": [0, 1, 2, 3, 4]}
    labels = written(ltn.plot.tree(theory, "addition", data))
    assert labels[:2] == ["∀ diag(x, y, n)", f"{theory.report(data)['satisfaction'][0]:.3f}"]
    sums = theory.query("exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)", data).tensor.numpy()
    assert labels[2:4] == [
        "∃ d1, d2\nwhere d1 + d2 = n",
        over_individuals(np.einsum("nxy->xyn", sums)[range(5), range(5), range(5)]),
    ]
    assert [labels[index] for index in (4, 6, 8, 9, 10, 12, 13)] == [
        "∧",
        "digit",
        "x",
        "d1",
        "digit",
        "y",
        "d2",
    ]


def test_tree_where_a_guard_selects_nobody(people: ltn.Theory) -> None:
    labels = written(ltn.plot.tree(people, "forall x where x != x: S(x)"))
    assert labels == ["∀ x\nwhere x ≠ x", "1.000", "S", "no individuals", "x"]


def test_boxes_of_a_tree_do_not_overlap(people: ltn.Theory) -> None:
    formula = (
        "forall x, y: (F(x, y) & F(y, a) | ~S(x)) <-> (x = y -> exists z where z != y & z != x: F(z, b))"
    )
    figure = ltn.plot.tree(people, formula)
    boxes = [patch.get_window_extent() for patch in figure.axes[0].patches]
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [text.get_window_extent(renderer) for text in (*figure.axes[0].texts, figure.texts[0])]
    assert len(boxes) == 21
    assert not [1 for i, one in enumerate(boxes) for two in boxes[:i] if one.overlaps(two)]
    # Each text lies in one box, but for the title, which lies in none.
    *inside, title = [sum(box.overlaps(text) for box in boxes) for text in texts]
    assert set(inside) == {1}
    assert title == 0


@pytest.mark.parametrize(
    ("formula", "error", "message"),
    [
        ("x", ltn.LogicTypeError, "`x` is a term"),
        (3, ltn.LogicTypeError, "A query is text, or a syntax tree; got 3"),
        ("T(x)", ltn.LogicValueError, "T"),
        (" & ".join(["rain"] * 100), ltn.LogicValueError, "199 parts.*more than 150.*subformulas"),
    ],
)
def test_mistakes_in_trees(people: ltn.Theory, formula: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.tree(people, formula)


def test_an_axiom_in_python_has_no_tree() -> None:
    theory = ltn.Theory()
    rain = theory.proposition("rain", 0.25)
    theory.axiom(lambda: rain, name="code")
    with pytest.raises(ltn.LogicValueError, match="'code' is Python code"):
        ltn.plot.tree(theory, "code")
