"""Trees of formulas: each box has the truth of its part, and boxes do not overlap."""

from typing import Any

import keras
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import ltn
import ltn.plot
from ltn.language import parse
from tests.plot.drawn import written

ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"


def truth(theory: ltn.Theory, formula: str, **options: Any) -> str:
    return f"{float(theory.query(formula, **options)):.3f}"


def over_individuals(values: Any) -> str:
    return f"mean {np.mean(values):.3f}\n{np.min(values):.3f} – {np.max(values):.3f}"


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
    assert [label for label in labels if label[0] not in "m0"] == ["∀ x", "∨", "¬", "S", "x", "rain"]
    assert labels[1] == truth(people, "forall x: S(x) -> rain", semantics="log_product")
    assert figure.get_suptitle() == "∀x: S(x) → rain"
    assert "evaluated as  ∀x: ¬S(x) ∨ rain" in [text.get_text() for text in figure.texts]


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
