"""Names of any characters: in quotes in a text, as they are in Python, tables, pictures and files."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import ltn
import ltn.plot
from ltn.language.names import written
from tests.language.trees import names

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"  # Keras, on NumPy 2
)

# The names of a theory, plain and not.
PLAIN = {
    "domain": "drugs",
    "a": "a",
    "b": "b",
    "c": "c",
    "x": "x",
    "y": "y",
    "P": "P",
    "R": "R",
    "f": "f",
    "A": "A",
    "first": "first",
    "second": "second",
}
QUOTED = {
    "domain": "drugs & co",
    "a": "/m/08966",
    "b": "or",
    "c": "L'Aquila \\ #1",
    "x": "tuples 1",
    "y": "diag(x, y)",
    "P": "co-occurs/with",
    "R": "'",
    "f": "größer als",
    "A": "it rains, often",
    "first": "each: one",
    "second": "A & B",
}


def declared(called: dict[str, str]) -> ltn.Theory:
    """A theory with symbols of all kinds; equal numbers for all names."""
    theory = ltn.Theory("product")
    domain = theory.domain(called["domain"], shape=2)
    values = np.array([[0.1, 0.2], [0.5, 0.3], [0.9, 0.8]], np.float32)
    theory.constants([called[name] for name in "abc"], domain, values)
    theory.variables([called["x"], called["y"]], domain)
    dense = keras.layers.Dense(1, activation="sigmoid", kernel_initializer="ones")
    theory.predicate(called["P"], domain, keras.Sequential([keras.Input((2,)), dense]))
    theory.predicate(called["R"], (domain, domain), lambda pair: pair[0][:, 0] <= pair[1][:, 0])
    scale = keras.layers.Dense(2, kernel_initializer="identity")
    theory.function(called["f"], domain, domain, keras.Sequential([keras.Input((2,)), scale]))
    theory.proposition(called["A"], 0.7, trainable=True)
    return theory


def text(called: dict[str, str]) -> str:
    name = {key: written(each) for key, each in called.items()}
    return """
        {first} [weight=2]: forall {x}, {y} where {R}({x}, {y}): {P}({x}) -> {P}({f}({y}))  # it's so
        {second}: exists diag({x}, {y}): {P}({x}) & {P}({y}) & {A} | {P}({a}) & {R}({b}, {c})
        third: forall {x}: exists {y} where {P}({y}) > 0.2: {R}({x}, {y})
    """.format(**name)


@pytest.fixture(scope="module")
def theories() -> tuple[ltn.Theory, ltn.Theory]:
    made = declared(PLAIN), declared(QUOTED)
    for theory, called in zip(made, (PLAIN, QUOTED), strict=True):
        theory.axioms(text(called))
    return made


def truths(theory: ltn.Theory) -> list[float]:
    return list(theory.report()["satisfaction"])


def test_a_name_changes_no_value(theories: tuple[ltn.Theory, ltn.Theory]) -> None:
    plain, quoted = theories
    np.testing.assert_array_equal(truths(plain), truths(quoted))
    for theory in theories:
        theory.compile(keras.optimizers.SGD(0.1))
    logs = [theory.fit(epochs=2, verbose=0).history["satisfaction"] for theory in theories]
    np.testing.assert_array_equal(*logs)


def test_tables_show_the_names_as_they_are(theories: tuple[ltn.Theory, ltn.Theory]) -> None:
    _, theory = theories
    answer = theory.query("'co-occurs/with'('tuples 1') & '\\''('tuples 1', 'diag(x, y)')")
    assert answer.free_vars == ["tuples 1", "diag(x, y)"]
    frame = answer.to_frame()
    assert list(frame.index) == list(frame.columns) == ["/m/08966", "or", "L'Aquila \\ #1"]
    assert list(theory.report()["axiom"]) == ["each: one", "A & B", "third"]
    assert list(theory.explain("each: one").columns) == ["tuples 1", "diag(x, y)", "truth"]
    assert "'diag(x, y)'" in str(theory.plan("third"))


def test_a_variable_is_no_diagonal_of_its_name() -> None:
    """The axis of the variable `diag(x, y)` is another than that of diag(x, y)."""
    theory = ltn.Theory("product")
    domain = theory.domain("numbers", values=range(3))
    theory.variables(["x", "y", "diag(x, y)"], domain)
    theory.predicate("R", (domain, domain, domain), lambda d: (d[0] + 2 * d[1] + 3 * d[2])[:, 0] / 20)
    found = theory.query("forall[p=1] diag(x, y), 'diag(x, y)': R(x, y, 'diag(x, y)')")
    pairs = [(i + 2 * i + 3 * k) / 20 for i in range(3) for k in range(3)]
    np.testing.assert_allclose(found.tensor, np.mean(pairs), rtol=1e-6)


def test_data_come_by_the_names_as_they_are() -> None:
    theory = declared(QUOTED)
    rows = np.random.default_rng(0).uniform(size=(4, 2)).astype(np.float32)
    assert theory.query("'co-occurs/with'('tuples 1')", {"tuples 1": rows}).tensor.shape == (4,)
    theory.axiom("forall 'tuples 1': 'co-occurs/with'('tuples 1')", name="/")
    theory.compile("sgd")
    history = theory.fit({"tuples 1": rows}, epochs=1, validation_data={"tuples 1": rows}, verbose=0).history
    assert {"/", "val_/"} <= set(history)


def test_files_keep_the_names(theories: tuple[ltn.Theory, ltn.Theory], tmp_path: Path) -> None:
    _, theory = theories
    twin = theory.copy()
    np.testing.assert_array_equal(truths(twin), truths(theory))
    theory.write(tmp_path / "knowledge.txt")
    again = declared(QUOTED)
    again.axioms(tmp_path / "knowledge.txt")
    assert [str(axiom) for axiom in again.axiom_list] == [str(axiom) for axiom in theory.axiom_list]
    assert [axiom.name for axiom in again.axiom_list] == ["each: one", "A & B", "third"]
    theory.save_weights(tmp_path / "theory.weights.h5")
    again.load_weights(tmp_path / "theory.weights.h5")
    np.testing.assert_array_equal(truths(again), truths(theory))


def test_a_saved_theory_keeps_the_names(tmp_path: Path) -> None:
    theory = ltn.Theory("product")
    things = theory.domain("a * b", values=["/m/1", "forall", "x'y"])
    theory.variable("x y", things)
    theory.predicate("is a/an", things, ltn.Predicate.MLP([1]))
    theory.axiom("forall 'x y': 'is a/an'('x y') & 'is a/an'('forall')", name="all of them")
    theory.save(tmp_path / "theory.keras")
    loaded = ltn.load(tmp_path / "theory.keras")
    assert truths(loaded) == truths(theory)
    assert loaded["all of them"].formula == theory["all of them"].formula
    folder = str(tmp_path / "served")
    theory.export(folder, verbose=False)
    served = tf.saved_model.load(folder)
    np.testing.assert_allclose(served.serve()["all of them"], truths(theory), rtol=1e-6)


def test_domains_and_their_products_are_told_apart() -> None:
    theory = ltn.Theory()
    a, b, both = (theory.domain(name, shape=1) for name in ("a", "b", "a * b"))
    assert (a * b).name == "a * b" == both.name
    assert (both * a).name == "'a * b' * a"
    theory.variable("x", a * b)
    theory.variable("y", a)
    theory.predicate("P", (both, a), lambda pair: pair[0][:, 0])
    with pytest.raises(ltn.LogicTypeError, match=r"'P' takes 2 arguments, P\(a \* b, a\); got 3"):
        theory.query("P(x, y)")


@pytest.mark.parametrize("name", ["a/b", "/m/08966", "größer", "-", "a b", "x'"])
def test_layers_have_names_that_keras_and_tensorflow_take(name: str) -> None:
    theory = ltn.Theory()
    domain = theory.domain("numbers", shape=2)
    [head] = ltn.Predicate.heads(keras.layers.Dense(1), [name]).values()
    for symbol in (
        theory.predicate(f"{name}1", domain, keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])),
        theory.function(
            f"{name}2", domain, domain, keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
        ),
        theory.predicate(name, domain, head),
    ):
        model = keras.Sequential([keras.Input((2,)), symbol])
        model.compile("sgd", "mse")
        model.fit(np.zeros((2, 2)), np.zeros((2, 1)), verbose=0)
        assert int(model.optimizer.iterations) == 1


@settings(max_examples=20)
@given(st.lists(names(), min_size=4, max_size=4, unique=True).filter(lambda n: not {"abs", "norm"} & set(n)))
def test_any_names_do(called: list[str]) -> None:
    theory = ltn.Theory("product")
    domain, P, x, c = called
    theory.domain(domain, values=[c])
    theory.variable(x, theory.signature.domains[domain])
    theory.predicate(P, theory.signature.domains[domain], lambda x: x[:, 0] + 0.5)
    axiom = theory.axiom(f"forall {written(x)}: {written(P)}({written(x)}) -> {written(P)}({written(c)})")
    assert float(theory.query(str(axiom)).tensor) == pytest.approx(0.75)


CARETS = [
    (
        "forall 'tuples 1': 'co-occurs/with'('tuples 2')",
        "There is no variable, constant .* 'tuples 2'",
        "'tuples 2'",
    ),
    (
        "'co-occurs with'('/m/08966')",
        "There is no predicate .*; did you mean 'co-occurs/with'",
        "'co-occurs with'",
    ),
    (r"'\''('or')", r"''' takes 2 arguments, '\\''\(drugs & co, drugs & co\); got 1", r"'\''('or')"),
    ("co-occurs/with('or')", "There is no variable, .* 'co'; did you mean 'co-occurs/with', in quotes", "co"),
    ("'co-occurs/with'", "write it with its arguments, 'co-occurs/with'", "'co-occurs/with'"),
    ("'it rains, often'('or')", "is a proposition: write it without arguments", "'it rains, often'"),
    ("forall 'or': 'or' = 'or'", "A quantifier binds variables; 'or' is a constant", "'or'"),
    ("'co-occurs/with'('tuples 1", r"A name in quotes ends with a quote on the same line", "'"),
    ('"co-occurs/with"(x)', "Names stand in single quotes", '"'),
    (r"'a\b'(x)", "a backslash stands before a quote or a backslash", r"'a\b'"),
    ("''('or')", "a name has at least one character", "''"),
]


@pytest.mark.parametrize(("formula", "message", "marked"), CARETS)
def test_errors_point_at_the_name_with_its_quotes(
    theories: tuple[ltn.Theory, ltn.Theory], formula: str, message: str, marked: str
) -> None:
    with pytest.raises(ltn.LogicError, match=message) as caught:
        theories[1].query(formula)
    shown, carets = str(caught.value).split("\n")[-2:]
    start = carets.index("^")
    assert shown[start:].startswith(marked)
    assert carets.count("^") == len(marked)


def test_comments_and_labels_know_quotes() -> None:
    theory = ltn.Theory("product")
    for name in ("a # b", "c: d", "x'"):
        theory.proposition(name, 0.5)
    axioms = theory.axioms("""
        # it's a comment
        'is: it' [weight=2]: 'a # b' & x'  # the 'rest' is one too
            | 'c: d'
        'c: d' -> x' # 'unfinished
    """)
    assert [axiom.name for axiom in axioms] == ["is: it", "axiom_2"]
    assert [str(axiom) for axiom in axioms] == ["'a # b' & x' | 'c: d'", "'c: d' -> x'"]


def test_pictures_show_the_names_as_they_are(theories: tuple[ltn.Theory, ltn.Theory]) -> None:
    _, theory = theories

    def said(figure: Any) -> set[str]:
        return {each.get_text() for axis in figure.axes for each in axis.texts}

    assert {"co-occurs/with", "/m/08966"} <= said(ltn.plot.tree(theory, "'co-occurs/with'('/m/08966')"))
    assert {QUOTED[name] for name in "abc"} <= said(
        ltn.plot.relation(theory, "'\\''('tuples 1', 'diag(x, y)')")
    )
