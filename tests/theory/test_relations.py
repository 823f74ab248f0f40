"""Relations: what a join selects is what plain loops select; in bodies they are crisp; saved, changed, shown."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.errors import LogicValueError
from ltn.evaluation import joins
from ltn.evaluation.guards.joined import JoinedTuples
from ltn.evaluation.guards.search import SearchedTuples
from ltn.fuzzy_ops.base import as_written
from ltn.language import parse
from tests.tolerance import assert_close

Pairs = list[tuple[int, ...]]
COUNT = 6
NAMES = ["ann", "bob", "cat", "dan", "eve", "fay"]
CHOSEN = ["eve", "bob", "bob"]
# The places of the individuals of each variable.
FIXED = {"x": range(COUNT), "y": range(COUNT), "z": range(COUNT), "w": [4, 1, 1]}
KNOWS: Pairs = [(0, 1), (1, 2), (2, 0), (1, 1), (4, 1), (4, 5), (0, 5)]
LIKES: Pairs = [(1, 2), (2, 1), (0, 3), (5, 4), (4, 4), (1, 5)]
OLD: Pairs = [(1,), (2,), (4,)]
BETWEEN: Pairs = [(0, 1, 2), (1, 1, 1), (4, 5, 0), (2, 0, 1), (0, 5, 4)]


def related(rows: Mapping[str, Any] | None = None) -> ltn.Theory:
    """People with fixed features, and what is known of them."""
    theory = ltn.Theory("product", name="people")
    people = theory.domain("people", values={name: [n, n * n / 10] for n, name in enumerate(NAMES)})
    theory.variables("x, y, z", people)
    theory.variable("w", people, values=CHOSEN)
    theory.variables("h, t", people)
    theory.variable("n", theory.domain("numbers"))
    given = {"knows": KNOWS, "likes": LIKES, "old": OLD, "between": BETWEEN} | dict(rows or {})
    for name, of in given.items():
        arity = {"old": 1, "between": 3}.get(name, 2)
        theory.relation(name, [people] * arity, np.array(list(of), int).reshape(-1, arity))
    return theory


def declared() -> ltn.Theory:
    """The same, with networks P and F."""
    theory = related()
    people = theory.signature.domains["people"]
    keras.utils.set_random_seed(0)
    theory.predicate("P", people, ltn.Predicate.MLP([2], (4,)))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([2, 2], (4,)))
    return theory


THEORY = declared()
FEATURES = THEORY.signature.domains["people"].features
assert FEATURES is not None
# Data of the variables that range over data.
DATA_PLACES = {"h": [1, 4, 0, 1], "t": [2, 2, 5, 1]}
DATA = {name: FEATURES[places] for name, places in DATA_PLACES.items()} | {"n": np.float32([0, 2, 1, 5])}


def tuples_of(guard: str, theory: ltn.Theory = THEORY, data: Mapping[str, Any] = DATA) -> Pairs:
    """The tuples that a guard selects, as the rows of its variables."""
    names = theory.signature.free_variables(parse(guard))
    tree = parse(f"forall {', '.join(names)} where {guard}: {' & '.join(f'{name} = {name}' for name in names)}")
    tensors = {name: tf.reshape(tf.constant(data[name], tf.float32), [len(data[name]), -1]) for name in data}
    found = theory.evaluation(theory.space, tensors).instances(tree)
    count = len(found.values)
    columns = []
    for name in names:
        rows = found.rows[name]
        columns.append(np.arange(count) if rows is None else rows)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def tuples_by_loops(guard: str, rows: Mapping[str, Iterable[tuple[int, ...]]] | None = None) -> Pairs:
    known = {"knows": KNOWS, "likes": LIKES, "old": OLD, "between": BETWEEN} | dict(rows or {})
    sets = {name: {tuple(row) for row in of} for name, of in known.items()}
    code = guard.replace("~", " not ").replace("&", " and ").replace("|", " or ").replace("->", "<=").replace(" = ", " == ")
    names = THEORY.signature.free_variables(parse(guard))
    places = FIXED | DATA_PLACES
    holds: dict[str, Any] = {
        name: lambda *row, of=of: tuple(map(int, row)) in of for name, of in sets.items()
    } | {name: number for number, name in enumerate(NAMES)}
    found = []
    for row in itertools.product(*(range(len(places[name])) for name in names)):
        individuals = {name: places[name][place] for name, place in zip(names, row, strict=True)}
        if eval(code, holds | individuals):
            found.append(row)
    return sorted(found)


# Each of them is joined.
JOINED = [
    "knows(x, y)",
    "knows(y, x)",
    "knows(x, x)",
    "knows(x, bob)",
    "knows(x, y) & likes(y, z)",
    "knows(x, y) & likes(y, z) & knows(z, x)",
    "knows(x, y) & likes(z, w)",
    "knows(x, y) & old(x) & ~old(y)",
    "old(x) & ~knows(x, y) & likes(y, x)",
    "knows(x, y) & x != y",
    "knows(x, y) & (likes(x, y) | old(y))",
    "between(x, y, z)",
    "between(x, bob, z) & ~likes(z, x)",
    "between(x, x, y) & knows(x, z)",
    "knows(w, x)",
    "knows(x, w) & likes(w, y) & w != x",
    "~knows(x, y) & old(x)",
    "knows(x, y) & z = y",
    "knows(x, h)",
    "knows(x, h) & likes(h, y)",
    "knows(h, x) & likes(x, y) & knows(y, t)",
    "between(h, x, t)",
    "between(h, x, y) & ~likes(t, x)",
    "knows(x, h) & old(t)",
]


@pytest.mark.parametrize("guard", JOINED)
def test_the_tuples_are_those_of_plain_loops(guard: str) -> None:
    assert tuples_of(guard) == tuples_by_loops(guard)
    names = THEORY.signature.free_variables(parse(guard))
    plan = THEORY.plan(f"forall {', '.join(names)} where {guard}: P({names[0]})", DATA)
    strategies = {line.strategy for line in plan.lines if line.strategy}
    assert not strategies & {"searched"} and strategies & {"joined", "looked up"}


@pytest.mark.parametrize("guard", ["~knows(x, y)", "knows(x, y) | likes(y, x)", "knows(h, t)", "old(h) -> old(t)"])
def test_other_guards_are_searched_and_select_the_same(guard: str) -> None:
    assert tuples_of(guard) == tuples_by_loops(guard)


PLACES = st.integers(0, COUNT - 1)
TABLES = st.fixed_dictionaries(
    {
        "knows": st.sets(st.tuples(PLACES, PLACES), max_size=12),
        "likes": st.sets(st.tuples(PLACES, PLACES), max_size=12),
        "old": st.sets(st.tuples(PLACES), max_size=6),
        "between": st.sets(st.tuples(PLACES, PLACES, PLACES), max_size=20),
    }
)
TERMS = st.sampled_from(["x", "y", "z", "w", "h", "bob", "fay"])
ATOMS = st.one_of(
    st.builds("{}({}, {})".format, st.sampled_from(["knows", "likes"]), TERMS, TERMS),
    st.builds("old({})".format, TERMS),
    st.builds("between({}, {}, {})".format, TERMS, TERMS, TERMS),
)
LITERALS = st.one_of(ATOMS, ATOMS, ATOMS.map("~{}".format), st.builds("{} != {}".format, *[st.sampled_from("xyz")] * 2))


@given(TABLES, st.lists(LITERALS, min_size=1, max_size=4))
def test_random_relations_and_guards_select_what_loops_select(
    rows: dict[str, set[tuple[int, ...]]], literals: list[str]
) -> None:
    guard = " & ".join(literals)
    if not THEORY.signature.free_variables(parse(guard)):
        return
    assert tuples_of(guard, related(rows)) == tuples_by_loops(guard, rows)


def by_predicates() -> ltn.Theory:
    """The same theory, in which what is known is Python code on features; its guards are searched."""
    theory = ltn.Theory("product", name="people")
    people = theory.domain("people", values={name: [n, n * n / 10] for n, name in enumerate(NAMES)})
    theory.variables("x, y, z", people)
    theory.variable("w", people, values=CHOSEN)
    theory.variables("h, t", people)
    theory.variable("n", theory.domain("numbers"))
    for name, known in {"knows": KNOWS, "likes": LIKES, "old": OLD, "between": BETWEEN}.items():
        table = np.zeros([COUNT] * len(known[0]), bool)
        table[tuple(np.array(known).T)] = True

        def holds(arguments: Any, table: tf.Tensor = tf.constant(table)) -> tf.Tensor:
            columns = arguments if isinstance(arguments, list) else [arguments]
            return tf.gather_nd(table, tf.stack([tf.cast(each[:, 0], tf.int32) for each in columns], axis=1))

        theory.predicate(name, [people] * len(known[0]), holds)
    for name in "PF":
        theory.predicate(name, [people] * (1 if name == "P" else 2), THEORY.symbols[name])
    return theory


PLAIN = by_predicates()
FORMULAS = [
    "forall x, y where knows(x, y): P(x) <-> P(y)",
    "forall x: exists y where knows(x, y): F(x, y)",
    "exists x: forall y where knows(x, y): F(x, y)",
    "forall x, y where knows(x, y): exists z where likes(y, z) & z != x: F(x, z) & P(y)",
    "forall x, y where knows(x, y) & ~likes(x, y): P(x) -> F(y, x)",
    "forall x, y: knows(x, y) -> P(y)",
    "forall x, y, z where knows(x, y) & likes(y, z): F(x, z) | ~knows(x, z)",
    "(forall x, y where knows(x, y): P(y)) & (forall x, y where likes(x, y): P(x)) & (exists x where old(x): P(x))",
    "forall x: P(x) & exists y where knows(x, y): P(y)",
    "forall x, y where knows(x, y) & P(x) > 0.4: P(y)",
    "forall w: exists y where knows(w, y): F(w, y)",
    "forall x where old(x): exists y: F(x, y) & knows(y, x)",
    "forall diag(h, t): exists x where knows(h, x): F(x, t)",
    "forall diag(h, t): forall x where between(h, x, t): P(x)",
    "forall h: exists x, y where knows(h, x) & likes(x, y): P(y) | F(h, x)",
    "forall diag(h, t) where ~knows(h, t): F(h, t)",
    "forall x, y where knows(x, y) & n > 1: P(x)",
]


def slopes(theory: ltn.Theory, text: str, dense: bool = False) -> tuple[tf.Tensor, list[tf.Tensor]]:
    tensors = {name: tf.reshape(tf.constant(values, tf.float32), [4, -1]) for name, values in DATA.items()}
    weights = [w.value for name in "PF" for w in theory.symbols[name].trainable_weights]
    with tf.GradientTape() as tape:
        [value] = theory.evaluation(theory.space, tensors, dense).ground([parse(text)])
        total = tf.reduce_sum(value.tensor)
    return value.tensor, tape.gradient(total, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("text", FORMULAS)
def test_values_and_gradients_are_those_of_a_predicate_in_python(text: str, dense: bool) -> None:
    with as_written():
        found, expected = slopes(THEORY, text, dense), slopes(PLAIN, text)
    for one, other in zip(found, expected, strict=True):
        # The order of sums differs.
        tf.nest.map_structure(lambda a, b: assert_close(a, b, rtol=1e-5, atol=1e-5), one, other)
