"""Questions about diagonals: free variables that share an axis, `digit(x, d) for diag(x, d)`."""

from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
import ltn.plot
from ltn.language import Node, parse
from ltn.language.statements import Diagonals
from tests.language.trees import names, trees
from tests.theory.by_loops import StableProductLoops
from tests.theory.random_formulas import fewer, free, open_formulas
from tests.theory.worlds import World, declared, worlds
from tests.tolerance import assert_close

IMAGES = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
LABELS = [0, 2, 1, 1, 0]
DATA = {"x": IMAGES, "d": LABELS}


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    theory = ltn.Theory("product")
    images, digits = theory.domain("images", shape=4), theory.domain("digits", values=range(3))
    theory.variables("x, y", images)
    theory.variables("d, e", digits)
    towns = ["Rome", "Lima", "Oslo", "Bern", "Kyiv"]
    theory.variable("town", theory.domain("towns", values=towns), values=towns)
    network = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))
    theory.function("double", images, images, lambda x: 2.0 * x)
    theory.define("shows(x, d): digit(x, d)")
    return theory


@given(trees(), st.lists(st.lists(names(), min_size=2, max_size=3).map(tuple), min_size=1, max_size=3))
def test_what_is_printed_is_read_as_the_same(body: Node, groups: list[tuple[str, ...]]) -> None:
    question = Diagonals(body, tuple(groups))
    assert parse(str(question)) == question


@fewer(2)
@given(world=worlds(fewest=1), formula=open_formulas())
def test_they_are_the_diagonals_of_the_table(world: World, formula: Node) -> None:
    """x, l, k and h have one number of individuals, in each world."""
    group = [variable for variable in free(formula) if variable in ("x", "l", "k", "h")]
    if len(group) < 2:
        return
    theory, loops = declared(world, "stable_product").theory, StableProductLoops(world)
    others = [variable for variable in free(formula) if variable not in group]
    order = list(dict.fromkeys(group[0] if variable in group else variable for variable in free(formula)))
    expected = loops.over(
        order, lambda rows: loops.truth(formula, rows | dict.fromkeys(group, rows[group[0]]))
    )
    found = theory.query(Diagonals(formula, (tuple(group),)), world.data)
    assert len(found.free_vars) == 1 + len(others)
    assert_close(found.tensor, expected, 1e-5, 1e-5)


def test_one_row_for_each_tuple(theory: ltn.Theory) -> None:
    table = theory.query("digit(x, e)", DATA).tensor.numpy()
    expected = table[np.arange(5), LABELS]
    for text in ("digit(x, d) for diag(x, d)", "shows(x, d) for diag(d, x)", "~~digit(x, d) for diag(d, x)"):
        np.testing.assert_allclose(theory.query(text, DATA).tensor, expected, rtol=1e-6)
    found = theory.query("digit(x, d) for diag(x, d)", DATA)
    assert found.free_vars == ["diag(x, d)"]
    assert found.text == "digit(x, d) for diag(x, d)"
    assert theory.plan("digit(x, d) for diag(x, d)", DATA).rows == {"digit": 5}


def test_of_terms_too(theory: ltn.Theory) -> None:
    found = theory.query("double(x) - y for diag(x, y)", x=IMAGES, y=IMAGES)
    np.testing.assert_allclose(found.tensor, IMAGES, rtol=1e-6)
    assert found.free_vars == ["diag(x, y)"]


def test_a_frame_has_a_level_for_each_variable(theory: ltn.Theory) -> None:
    found = theory.query("digit(x, d) & town = town for diag(x, d, town)", DATA)
    frame = found.to_frame()
    assert frame.index.names == ["x", "d", "town"]
    assert frame.index[1] == (1, 2.0, "Lima")
    assert found.take("diag(x, d, town)", [3]).to_frame().index.tolist() == [(3, 1.0, "Bern")]
    mixed = theory.query("digit(x, d) | digit(y, e) for diag(x, d)", DATA, y=IMAGES[:2])
    frame = mixed.to_frame()
    assert frame.index.names == ["x", "d", "y"]
    assert frame.shape == (10, 3)
    np.testing.assert_allclose(frame.to_numpy(), mixed.tensor.numpy().reshape(10, 3))
    both = theory.query("digit(x, d) | digit(y, e) for diag(x, d), diag(y, e)", DATA, y=IMAGES[:2], e=[0, 1])
    frame = both.to_frame()
    assert isinstance(frame.columns, pd.MultiIndex)
    assert frame.columns.names == ["y", "e"]
    assert frame.loc[(1, 2.0), (1, 1.0)] == pytest.approx(float(both.tensor[1, 1]))


def test_explanations_name_each_variable(theory: ltn.Theory) -> None:
    found = theory.explain("digit(x, d) for diag(x, d)", DATA, worst=2)
    truths = theory.query("digit(x, d) for diag(x, d)", DATA).tensor.numpy()
    worst = np.argsort(truths)[:2]
    assert found["x"].tolist() == worst.tolist()
    assert found["d"].tolist() == [LABELS[row] for row in worst]
    np.testing.assert_allclose(found["truth"], truths[worst], rtol=1e-6)


def test_heat_maps_name_the_tuples(theory: ltn.Theory) -> None:
    answer = theory.query("digit(x, d) & digit(x, e) for diag(x, d)", DATA)
    assert isinstance(answer, ltn.Formula)
    figure = ltn.plot.heat_map(answer)
    assert figure.axes[0].get_yticklabels()[1].get_text() == "1, 2.0"
    assert figure.axes[0].get_ylabel() == "diag(x, d)"


def test_in_compiled_code_of_unknown_sizes(theory: ltn.Theory) -> None:
    question = parse("digit(x, d) for diag(x, d)")
    evaluate = tf.function(
        lambda data: theory.evaluation(theory.space, data).ground([question])[0].tensor,
        input_signature=[{"x": tf.TensorSpec([None, 4]), "d": tf.TensorSpec([None, 1])}],
        autograph=False,
    )
    labels = tf.constant(LABELS, tf.float32)[:, tf.newaxis]
    expected = theory.query("digit(x, d) for diag(x, d)", DATA).tensor
    np.testing.assert_allclose(evaluate({"x": IMAGES, "d": labels}), expected, rtol=1e-6)


WRONG = [
    ("digit(x, d) for diag(x, e)", "A diagonal pairs free variables; 'e' does not occur in", 24, 1),
    ("forall d: digit(x, d) for diag(x, d)", "A diagonal pairs free variables; 'd' is bound in", 34, 1),
    ("digit(x, d) for diag(x, q)", "There is no variable 'q'", 24, 1),
    ("digit(x, d) for diag(x, digit)", "A diagonal pairs variables; 'digit' is a predicate", 24, 5),
    ("digit(x, d) for diag(x, x)", "The variable 'x' stands twice in the diagonals", 24, 1),
    ("digit(x, d) for diag(x)", r"Expected ',', found '\)'", 22, 1),
    ("digit(x, d) for x", "Expected a variable or 'diag', found 'x'", 16, 1),
    ("P(x) for diag(x, d)", "There is no predicate or function 'P'", 0, 1),
]


@pytest.mark.parametrize(("text", "message", "start", "width"), WRONG)
def test_wrong_ones_are_shown_at_their_place(
    theory: ltn.Theory, text: str, message: str, start: int, width: int
) -> None:
    with pytest.raises(ltn.LogicError, match=message) as caught:
        theory.query(text, DATA)
    assert str(caught.value).split("\n")[-1] == " " * (4 + start) + "^" * width


def test_lengths_must_agree(theory: ltn.Theory) -> None:
    text = "digit(x, d) for diag(x, d)"
    with pytest.raises(ltn.LogicValueError, match=r"diag\(x, d\) must have the same number .* got 5, 2"):
        theory.query(text, x=IMAGES, d=[0, 1])
    with pytest.raises(
        ltn.LogicValueError, match=r"pairs the data of 'x' with all individuals .*: give data for 'd'"
    ):
        theory.query(text, x=IMAGES)


ELSEWHERE: list[tuple[str, str]] = [
    ("axiom", "The formula has the free variables x, d, but must be closed"),
    ("entails", "diagonals are for queries, plans and explanations"),
    ("define", "Expected"),
]


@pytest.mark.parametrize(("method", "message"), ELSEWHERE)
def test_nothing_else_takes_them(theory: ltn.Theory, method: str, message: str) -> None:
    call: Any = getattr(theory, method)
    with pytest.raises(ltn.LogicValueError, match=message):
        call("digit(x, d) for diag(x, d)")
    with pytest.raises(ltn.LogicValueError, match="diagonals are for queries, plans and explanations"):
        ltn.plot.tree(theory, "digit(x, d) for diag(x, d)", DATA)
