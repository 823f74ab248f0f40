"""Relations: joins select what plain loops select; networks run once for each individual that occurs."""

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
from ltn.evaluation.guards import complement
from ltn.fuzzy_ops.base import as_written
from ltn.language import Domain, parse
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


def with_people() -> tuple[ltn.Theory, Domain]:
    """People with fixed features, and variables about them."""
    theory = ltn.Theory("product", name="people")
    people = theory.domain("people", values={name: [n, n * n / 10] for n, name in enumerate(NAMES)})
    theory.variables("x, y, z", people)
    theory.variable("w", people, values=CHOSEN)
    theory.variables("h, t", people)
    theory.variable("n", theory.domain("numbers"))
    return theory, people


def related(rows: Mapping[str, Any] | None = None) -> ltn.Theory:
    """People with fixed features, and what is known of them."""
    theory, people = with_people()
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
FEATURES = np.array(THEORY.signature.domains["people"].features)
# Data of the variables that range over data.
DATA_PLACES = {"h": [1, 4, 0, 1], "t": [2, 2, 5, 1]}
DATA = {name: FEATURES[places] for name, places in DATA_PLACES.items()} | {
    "n": np.array([0, 2, 1, 5], np.float32)
}


def tuples_of(guard: str, theory: ltn.Theory = THEORY, data: Mapping[str, Any] = DATA) -> Pairs:
    """The tuples that a guard selects, as the rows of its variables."""
    names = theory.signature.free_variables(parse(guard))
    tree = parse(
        f"forall {', '.join(names)} where {guard}: {' & '.join(f'{name} = {name}' for name in names)}"
    )
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
    code = (
        guard.replace("~", " not ")
        .replace("&", " and ")
        .replace("|", " or ")
        .replace("->", "<=")
        .replace(" = ", " == ")
    )
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
    "knows(x, y) | knows(y, x)",
    "(knows(x, y) | likes(y, x) | between(x, y, bob)) & ~old(x)",
    "(knows(x, y) & likes(y, z) | between(x, y, z)) & z != x",
    "(knows(x, h) | likes(h, x)) & old(x)",
]


@pytest.mark.parametrize("guard", JOINED)
def test_the_tuples_are_those_of_plain_loops(guard: str) -> None:
    assert tuples_of(guard) == tuples_by_loops(guard)
    names = THEORY.signature.free_variables(parse(guard))
    plan = THEORY.plan(f"forall {', '.join(names)} where {guard}: P({names[0]})", DATA)
    strategies = {line.strategy for line in plan.lines if line.strategy}
    assert "searched" not in strategies
    assert strategies & {"joined", "looked up"}


@pytest.mark.parametrize("guard", ["~knows(x, y)", "knows(x, y) | old(x)", "knows(h, t)", "old(h) -> old(t)"])
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
LITERALS = st.one_of(
    ATOMS,
    ATOMS,
    st.builds("({} | {})".format, ATOMS, ATOMS),
    ATOMS.map("~{}".format),
    st.builds("{} != {}".format, *[st.sampled_from("xyz")] * 2),
)


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
    theory, people = with_people()
    for name, known in {"knows": KNOWS, "likes": LIKES, "old": OLD, "between": BETWEEN}.items():
        table = np.zeros([COUNT] * len(known[0]), bool)
        table[tuple(np.array(known).T)] = True

        def holds(arguments: Any, table: Any = table) -> tf.Tensor:
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
    "(forall x, y where knows(x, y): P(y)) & (forall x, y where likes(x, y): P(x))",
    "(forall x, y where knows(x, y): P(y)) -> exists z where old(z): P(z)",
    "forall x: P(x) & exists y where knows(x, y): P(y)",
    "forall x, y where knows(x, y) & P(x) > 0.4: P(y)",
    "forall w: exists y where knows(w, y): F(w, y)",
    "forall x where old(x): exists y: F(x, y) & knows(y, x)",
    "forall diag(h, t): exists x where knows(h, x): F(x, t)",
    "forall diag(h, t): forall x where between(h, x, t): P(x)",
    "forall h: exists x, y where knows(h, x) & likes(x, y): P(y) | F(h, x)",
    "forall diag(h, t) where ~knows(h, t): F(h, t)",
    "forall x, y where knows(x, y) & n > 1: P(x)",
    "forall x, y where knows(x, y) & ~knows(bob, ann): P(x)",
    "exists x, y where knows(x, y) & P(bob) > 0.2 & knows(x, bob) > 0.5: F(x, y)",
    "forall x where old(x): forall y where knows(x, y): forall z where likes(y, z): F(x, z)",
    "exists diag(x, y) where knows(x, y): P(x)",
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


def test_compiled_by_tensorflow_and_xla_the_values_and_gradients_are_the_same() -> None:
    # One function of all formulas: each is traced and compiled with the others.
    trees = [parse(text) for text in FORMULAS]
    weights = [w.value for name in "PF" for w in THEORY.symbols[name].trainable_weights]
    tensors = {name: tf.reshape(tf.constant(values, tf.float32), [4, -1]) for name, values in DATA.items()}

    def ground(dense: bool) -> Any:
        with tf.GradientTape() as tape:
            found = THEORY.evaluation(THEORY.space, tensors, dense).ground(trees)
            total = tf.add_n([tf.reduce_sum(value.tensor) for value in found])
        return [value.tensor for value in found], tape.gradient(total, weights)

    with as_written():
        eager = ground(dense=False)
        compiled = tf.function(lambda: ground(dense=False), autograph=False)()
        xla = tf.function(lambda: ground(dense=True), autograph=False, jit_compile=True)()
    for other in (compiled, xla):
        # The order of sums differs; the gradients are those of all formulas together.
        tf.nest.map_structure(lambda a, b: assert_close(a, b, rtol=1e-5, atol=1e-5), eager, other)


def test_of_nobody_everything_holds_and_nothing_exists() -> None:
    frame = THEORY.query("forall y where knows(x, y): P(y) & ~P(y)").to_frame()
    assert frame.truth[["dan", "fay"]].tolist() == [1.0, 1.0]
    assert (frame.truth[["ann", "bob", "cat", "eve"]] < 1.0).all()
    frame = THEORY.query("exists y where knows(x, y): P(y) | ~P(y)").to_frame()
    assert frame.truth[["dan", "fay"]].tolist() == [0.0, 0.0]
    empty = related({"knows": [], "between": []})
    assert float(empty.query("forall x, y where knows(x, y): likes(x, y)").tensor) == 1.0
    assert float(empty.query("exists x, y, z where between(x, y, z) & knows(y, z): old(x)").tensor) == 0.0


def test_individuals_that_are_known_may_be_paired_with_data() -> None:
    data = {"h": FEATURES[[1, 4, 5]]}
    # w is eve, bob, bob; h is bob, eve, fay.
    found = THEORY.query("exists diag(w, h) where likes(w, h) | knows(w, h): h = h", data)
    assert float(found.tensor) == 1.0
    found = THEORY.query("forall diag(w, h) where knows(w, h) & old(x): F(w, h)", data)
    assert_close(found.tensor.numpy()[[1, 2, 4]], THEORY.query("F(eve, bob)").tensor.numpy().repeat(3))
    assert found.tensor.numpy()[[0, 3, 5]].tolist() == [1.0] * 3


def test_in_bodies_they_are_crisp_under_logarithms_too() -> None:
    theory = ltn.Theory("log_product")
    people = theory.domain("people", values=NAMES)
    theory.variables("x, y", people)
    theory.relation("knows", (people, people), np.array(KNOWS))
    truths = theory.query("knows(x, y)").tensor.numpy()
    expected = np.zeros((COUNT, COUNT))
    expected[tuple(np.array(KNOWS).T)] = 1.0
    # The logarithm of 0 is that of a very small number.
    assert_close(truths, expected, atol=1e-6)
    assert_close(theory.query("~knows(x, y)").tensor, 1.0 - expected, atol=1e-6)


def test_constants_whose_features_are_learned_are_joined_too() -> None:
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    theory.constants("ann bob cat", people, trainable=True)
    theory.variables("x, y", people)
    theory.relation("knows", (people, people), [("ann", "bob"), (1, 2)])
    theory.predicate("P", people, ltn.Predicate.MLP([2], (3,)))
    theory.axiom("forall x, y where knows(x, y): P(x) & P(y)", name="known")
    theory.axiom("forall x, y where ~knows(x, y): P(x) | P(y)", name="unknown")
    tuples = dict(theory.plan("known").to_frame().query("strategy != ''")[["strategy", "tuples"]].values)
    assert tuples == {"joined": 2}
    theory.compile(keras.optimizers.Adam(0.1))
    before = theory.individuals[0].tensor.numpy()
    theory.fit(epochs=2, verbose=0)
    assert (theory.individuals[0].tensor.numpy() != before).any(axis=1).all()
    # Individuals that are declared later are no rows of it, and are among those that are not known.
    theory.constants(["dan"], people, trainable=True)
    assert theory.plan("unknown").to_frame().tuples.max() == 16 - 2
    theory.known["knows"].add([("dan", "ann")])
    assert theory.plan("known").to_frame().tuples.max() == 3


def test_data_by_name_are_joined_whose_features_are_learned() -> None:
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    theory.constants("ann bob cat", people, trainable=True)
    theory.variables("h, y", people)
    theory.relation("knows", (people, people), [("ann", "bob"), ("ann", "cat"), ("bob", "cat")])
    theory.predicate("P", people, ltn.Predicate.MLP([2], (3,)))
    truths = theory.query("P(y)").tensor.numpy()
    found = theory.query("forall y where knows(h, y): P(y)", h=["bob", "cat", "bob"])
    assert_close(found.tensor, [truths[2], 1.0, truths[2]])
    assert theory.query("knows(h, y)", h=["cat", "ann"]).tensor.numpy().tolist() == [[0, 0, 0], [0, 1, 1]]
    # One formula with data by name and with data by features has two plans.
    with pytest.raises(LogicValueError, match="`h` cannot be found among them by its features"):
        theory.query("knows(h, y)", h=np.zeros((2, 2)))


def counted(domain_size: int, rows: Mapping[str, np.ndarray]) -> tuple[ltn.Theory, list[int]]:
    """A theory of many individuals, and how many of them its predicate P was asked about in each run."""
    theory, seen = ltn.Theory("product"), []
    nodes = theory.domain("nodes", values=np.arange(domain_size, dtype=np.float32))
    theory.variables("a, b, c", nodes)
    for name, of in rows.items():
        theory.relation(name, [nodes] * of.shape[1], of)

    class Counting(keras.layers.Layer):
        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            if inputs.shape[0] is not None and tf.executing_eagerly():
                seen.append(int(inputs.shape[0]))
            return tf.sigmoid(inputs[:, :1] / domain_size)

    theory.predicate("P", nodes, Counting())
    seen.clear()
    return theory, seen


def test_networks_run_once_for_each_individual_that_occurs() -> None:
    chance = np.random.default_rng(0)
    touched = chance.choice(40_000, 1000, replace=False)
    edges = np.stack([touched, chance.permutation(touched)], axis=1)
    many = np.concatenate([edges, touched[chance.integers(0, 1000, (20_000, 2))]])
    others = chance.choice(np.setdiff1d(np.arange(40_000), touched), 50, replace=False)
    theory, seen = counted(40_000, {"cites": many, "chosen": others[:, np.newaxis], "few": edges[:10, :1]})
    theory.query("forall a, b where cites(a, b): P(a) <-> P(b)")
    theory.query("forall a, b, c where cites(a, b) & cites(b, c) & a != c: P(a) & P(b) -> P(c)")
    theory.query("forall a where few(a): exists b where cites(a, b) & P(b) > 0.5: P(a) & P(b)")
    assert len(seen) == 3
    assert max(seen) <= 1000
    seen.clear()
    # Several rules share one run, on all individuals of which one of them speaks.
    theory.axiom("forall a, b where cites(a, b): P(a) <-> P(b)")
    theory.axiom("forall c where chosen(c): P(c)")
    theory.report()
    assert seen == [1050]
    seen.clear()
    theory.axiom("forall b: P(b)")
    theory.report()
    assert seen == [40_000]


def test_networks_run_once_for_each_individual_in_the_tuples_of_every_guard() -> None:
    chance = np.random.default_rng(1)
    edges = np.unique(chance.integers(0, 5000, (3000, 2)), axis=0)
    few = edges[:40, :1]
    theory, seen = counted(5000, {"cites": edges, "few": few})
    theory.define("cites_twice(a, c): exists b: cites(a, b) & cites(b, c)")
    starts = {int(a) for a in few[:, 0]}
    steps: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        steps.setdefault(a, []).append(b)
    ends = {b for a in starts for b in steps[a]}
    farther = {c for b in ends for c in steps.get(b, [])}
    between = {b for b in ends if b in steps}
    pairs = {(a, c) for a in steps for b in steps[a] for c in steps.get(b, [])}
    for text, expected in (
        ("forall a where few(a): exists b where cites(a, b): P(b)", ends),
        (
            "forall a where few(a): exists b where cites(a, b):"
            " forall c where cites(b, c): P(a) & P(b) & P(c)",
            {a for a in starts if between & set(steps[a])} | between | farther,
        ),
        ("forall a, c where cites_twice(a, c): P(a) & P(c)", {x for pair in pairs for x in pair}),
        ("forall a, b where few(a) & ~cites(a, b) & b < 100: P(a)", starts),
        ("forall a, b where few(a) & few(b) & ~cites(a, b): P(a) | P(b)", starts),
        # Of all tuples a sample has, no more than there are individuals.
        ("forall[sample=2999] a, b where few(a) & cites(a, b): P(a) & P(b)", starts | ends),
    ):
        seen.clear()
        theory.query(text, sample=2999 if "sample" in text else None)
        assert sum(seen) == len(expected), text


def test_rows_that_are_added_count_from_then_on_in_steps_that_are_compiled_too() -> None:
    theory = declared()
    theory.axiom("forall x, y where knows(x, y): P(x) & F(x, y)", name="all")
    theory.compile(keras.optimizers.SGD(0.0))
    before = theory.fit(epochs=1, verbose=0).history["all"][0]
    assert_close(before, theory.report().satisfaction[0])
    theory.known["knows"].add([("fay", "dan"), ("fay", "fay")])
    after = theory.fit(epochs=1, verbose=0).history["all"][0]
    assert after != before
    assert_close(after, theory.report().satisfaction[0])
    classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    theory.variable("p", theory.domain("points", shape=2))
    theory.predicate("Q", theory.signature.domains["points"], classifier)
    theory.axiom("forall p: Q(p)", name="data")
    model = ltn.with_knowledge(classifier, theory)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    rows = np.zeros((4, 2), np.float32)
    before = model.fit(rows, np.zeros(4), verbose=0).history["all"][0]
    theory.known["knows"].add([("dan", "dan"), ("dan", "cat"), ("cat", "cat")])
    assert model.fit(rows, np.zeros(4), verbose=0).history["all"][0] != before


def test_large_joins_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    theory, seen = counted(1000, {"r": np.stack([np.arange(1000), np.zeros(1000, int)], axis=1)})
    text = "forall a, b, c where r(a, b) & r(c, b): P(a) <-> P(c)"
    assert theory.plan(text).to_frame().tuples.max() == 10**6
    monkeypatch.setattr(joins, "MOST_ROWS", 10**5)
    theory.known["r"].add([(0, 1)])
    seen.clear()
    with pytest.raises(LogicValueError, match=r"The join of r\(a, b\) with r\(c, b\) has 1,000,001 tuples"):
        theory.query(text)
    with pytest.raises(LogicValueError, match=r"as forall\[sample=4096\], and reports by theory.report"):
        theory.query(text)
    assert not seen
    assert np.isfinite(theory.query(text.replace("forall", "forall[sample=50]"), sample=50).tensor)
    # With a relation that leaves fewer, the join is not large.
    theory.relation("s", [theory.signature.domains["nodes"]], np.arange(5))
    assert theory.plan(f"{text[:38]} & s(a) & s(c){text[38:]}").to_frame().tuples.max() == 26


def test_what_is_not_in_a_relation_is_counted_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([(n, n + 1) for n in range(999)])
    theory, seen = counted(1000, {"r": rows, "few": rows[:3, :1]})
    monkeypatch.setattr(complement, "_BLOCK", 200_000)
    for text, tuples in (
        ("~r(a, b)", 1_000_000 - 999),
        ("~r(a, b) & a != b", 1_000_000 - 999 - 1000),
        ("~(r(a, b) | r(b, a)) & a < b", 999 * 1000 // 2 - 999),
        ("few(a) & ~r(a, b) & b > a", 3 * 999 - (0 + 1 + 2) - 3),
    ):
        assert theory.plan(f"forall a, b where {text}: P(a)").to_frame().tuples.max() == tuples
    monkeypatch.setattr(joins, "MOST_ROWS", 10**5)
    theory.known["r"].add([(0, 2)])
    seen.clear()
    for text in ("~r(a, b)", "~r(a, b) & a < b"):
        with pytest.raises(
            LogicValueError, match=r"The guard `~r\(a, b\)` selects 999,000 tuples, more than .*sample"
        ):
            theory.query(f"forall a, b where {text}: P(a)")
    assert not seen
    assert np.isfinite(theory.query("forall[sample=9] a, b where ~r(a, b): P(a)", sample=9).tensor)
    # Slices find their own.
    theory.chunk = 200_000
    plan = theory.plan("forall a, b where ~r(a, b): P(a)").to_frame()
    assert "combinations at a time" in "".join(plan.step)


@given(
    st.integers(1, 5).flatmap(
        lambda arity: st.tuples(st.just(arity), st.lists(st.tuples(*[PLACES] * arity), max_size=9))
    )
)
def test_a_relation_is_a_set_of_rows(arity_and_rows: tuple[int, Pairs]) -> None:
    arity, rows = arity_and_rows
    theory = ltn.Theory()
    people = theory.domain("people", values=NAMES)
    relation = theory.relation("R", [people] * arity)
    for row in rows:
        relation.add([row])
    again = theory.relation("S", [people] * arity, rows + rows)
    assert len(relation) == len(again) == len(set(rows))
    frame = relation.to_frame()
    assert [tuple(NAMES.index(name) for name in row) for row in frame.itertuples(index=False)] == sorted(
        set(rows)
    )
    assert all(row in relation and [NAMES[place] for place in row] in again for row in rows)
    for row in itertools.islice(itertools.product(range(COUNT), repeat=arity), 40):
        assert (row in relation) == (row in rows)


def test_rows_of_many_columns_are_told_apart_where_no_number_holds_them() -> None:
    theory = ltn.Theory("product")
    many = theory.domain("many", values=range(50_000))
    theory.variables("a, b, c, d, e", many)
    rows = np.random.default_rng(0).integers(0, 50_000, (200, 5))
    relation = theory.relation("R", [many] * 5, np.concatenate([rows, rows[:50]]))
    assert len(relation) == 200
    assert all(tuple(row) in relation for row in rows.tolist())
    others = rows.copy()
    others[:, 2] = np.roll(others[:, 2], 1)
    assert not any(tuple(row) in relation for row in others.tolist())
    theory.relation("S", [many] * 5, others)
    assert (
        theory.plan("forall a, b, c, d, e where R(a, b, c, d, e): ~S(a, b, c, d, e)").to_frame().tuples.max()
        == 200
    )
    assert float(theory.query("forall a, b, c, d, e where R(a, b, c, d, e): ~S(a, b, c, d, e)").tensor) == 1.0


@pytest.mark.parametrize("chunk", [1, 3, 20])
@pytest.mark.parametrize("text", FORMULAS)
def test_in_chunks_the_values_are_the_same(text: str, chunk: int) -> None:
    with as_written():
        expected, _ = slopes(THEORY, text)
        tensors = {
            name: tf.reshape(tf.constant(values, tf.float32), [4, -1]) for name, values in DATA.items()
        }
        [value] = THEORY.knowledge.evaluation(THEORY.space, tensors, chunk=chunk).ground([parse(text)])
    # The order of sums differs.
    assert_close(value.tensor, expected, rtol=1e-5, atol=1e-5)


def test_chunks_count_tuples_where_relations_are_joined() -> None:
    theory, seen = counted(5000, {"cites": np.random.default_rng(0).integers(0, 5000, (400, 2))})
    whole = float(theory.query("forall a, b where cites(a, b): P(a) & P(b)").tensor)
    seen.clear()
    for chunk, runs in ((1000, 1), (100, 4)):
        # Of 25 million combinations.
        theory.chunk = chunk
        plan = theory.plan("forall a, b where cites(a, b): P(a) & P(b)").to_frame()
        assert ("combinations at a time" in "".join(plan.step)) == (chunk < 400)
        seen.clear()
        # The order of sums differs.
        found = theory.query("forall a, b where cites(a, b): P(a) & P(b)").tensor
        assert_close(found, whole, rtol=1e-5)
        assert len(seen) <= 3 * runs
