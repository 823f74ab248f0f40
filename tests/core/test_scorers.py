"""Ready-made groundings without networks: scorers of triples, and tables of truths."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


def dist_mult(h: np.ndarray, r: np.ndarray, t: np.ndarray) -> float:
    return float(np.sum(h * r * t))


def compl_ex(h: np.ndarray, r: np.ndarray, t: np.ndarray) -> float:
    h, r, t = (vector[: len(vector) // 2] + 1j * vector[len(vector) // 2 :] for vector in (h, r, t))
    return float(np.sum(h * r * np.conj(t)).real)


def sigmoid(score: float) -> float:
    return float(1.0 / (1.0 + np.exp(-score)))


SCORES = {"DistMult": dist_mult, "ComplEx": compl_ex}
PATTERNS = ["abc", "aab", "aba", "baa", "aaa", "cab", "-ab", "a-a", "---"]


def by_loops(score: Callable[..., float], terms: list[ltn.Term]) -> np.ndarray:
    """The truth of every combination of individuals, one by one."""
    labels = list(dict.fromkeys(label for term in terms for label in term.free_vars))
    sizes = {label: term.tensor.shape[0] for term in terms for label in term.free_vars}
    found = np.zeros([sizes[label] for label in labels])
    for index in np.ndindex(*found.shape):
        at = dict(zip(labels, index, strict=True))
        vectors = [term.tensor.numpy()[tuple(at[label] for label in term.free_vars)] for term in terms]
        found[index] = sigmoid(score(*vectors))
    return found


@pytest.mark.parametrize("kind", SCORES)
class TestScorers:
    @pytest.mark.parametrize("pattern", PATTERNS)
    @pytest.mark.parametrize("batch", [2, None], ids=["static", "unknown"])
    def test_are_their_formula_on_any_axes(self, kind: str, pattern: str, batch: int | None) -> None:
        rng, sizes = np.random.default_rng(1), {"a": 2, "b": 3, "c": 4}
        terms = []
        for label in pattern:
            shape, labels = ((6,), []) if label == "-" else ((sizes[label], 6), [label])
            terms.append(ltn.Term(tf.constant(rng.normal(size=shape), tf.float32), labels))
        network = getattr(ltn.Predicate, kind)().network

        def score(*tensors: tf.Tensor) -> tf.Tensor:
            return network.on_axes(
                [ltn.Term(tensor, term.free_vars) for tensor, term in zip(tensors, terms, strict=True)]
            )

        specs = [tf.TensorSpec([batch and len(term.tensor)] * len(term.free_vars) + [6]) for term in terms]
        found = tf.function(score, input_signature=specs)(*(term.tensor for term in terms))
        assert_close(tf.sigmoid(found), by_loops(SCORES[kind], terms), atol=1e-5)  # sums of six products

    @pytest.mark.parametrize("semantics", ["product", "log_product"])
    def test_score_all_tails_of_a_batch_in_one_product(self, kind: str, semantics: str) -> None:
        keras.utils.set_random_seed(2)
        theory = triples(kind, semantics)
        data = {"h": [0, 4, 4], "r": ["likes", "knows", "likes"]}
        theory.axiom("forall diag(h, r): forall e: holds(h, r, e)")
        entities, kinds = (table.tensor.numpy() for table in theory.individuals)
        heads, relations = entities[data["h"]], kinds[[0, 1, 0]]
        terms = [
            ltn.Term(tf.constant(rows), [label])
            for rows, label in ((heads, "a"), (relations, "a"), (entities, "b"))
        ]
        expected = by_loops(SCORES[kind], terms)
        operations = _operations(lambda batch: theory(batch)["axiom_1"], data)
        # Rows of features would have the shape (3 * 5, 4) or (3, 5, 4).
        assert not any(shape in ([15, 4], [3, 5, 4]) for shape in operations)
        truth = theory.query("forall diag(h, r): forall e: holds(h, r, e)", data)
        if semantics == "product":
            assert_close(
                truth.numpy(),
                1.0 - np.sqrt(np.mean((1.0 - np.sqrt(np.mean((1 - expected) ** 2, 1)) - 1) ** 2)),
            )
        else:
            assert_close(truth.numpy(), np.exp(np.mean(np.log(expected))))

    def test_learns_is_saved_and_exported(self, kind: str, tmp_path: Path) -> None:
        theory = triples(kind)
        theory.axiom("forall diag(h, r, t): holds(h, r, t)", name="known")
        theory.axiom("forall diag(h, r): exists e: ~holds(h, r, e)")
        theory.compile(keras.optimizers.Adam(0.1))
        data = {"h": [0, 1, 2, 3], "r": [0, 1, 0, 1], "t": [1, 2, 3, 4]}
        before = theory.report(data).satisfaction[0]
        theory.fit(data, epochs=20, batch_size=2, verbose=0)
        assert theory.report(data).satisfaction[0] > max(before, 0.7)
        for other in (_loaded(theory, tmp_path), theory.copy()):
            assert_close(other.report(data).satisfaction, theory.report(data).satisfaction)
        theory.export(str(tmp_path / "served"), verbose=False)
        served = tf.saved_model.load(str(tmp_path / "served"))
        truths = served.serve({name: tf.constant(column) for name, column in data.items()})
        assert_close(truths["known"], [theory.report(data).satisfaction[0]])
        rows = theory.individuals[0].tensor[:3], tf.ones((3, 4)), theory.individuals[0].tensor[2:]
        assert_close(
            served.holds(*rows),
            [sigmoid(SCORES[kind](*map(np.array, each))) for each in zip(*rows, strict=True)],
        )

    @pytest.mark.parametrize("semantics", ["product", "log_product"])
    @pytest.mark.parametrize(
        ("known", "rows"),
        [(range(0, 200, 3), {"others": 200, "facts": 200}), ([7], {"others": 200, "facts": 1})],
        ids=["many", "one"],
    )
    def test_score_all_combinations_where_a_guard_selects_many(
        self, kind: str, semantics: str, known: Any, rows: dict[str, int]
    ) -> None:
        keras.utils.set_random_seed(0)
        theory = ltn.Theory(semantics)
        entities, relations = theory.domain("entities", shape=4), theory.domain("relations", shape=4)
        theory.constants([f"e{number}" for number in range(5)], entities)
        theory.constants([f"r{number}" for number in range(8)], relations)
        theory.variables("h, t", entities)
        theory.variable("r", relations)
        theory.predicate("holds", (entities, relations, entities), getattr(ltn.Predicate, kind)())
        triples = np.stack(np.unravel_index(np.array(known), (5, 8, 5)), axis=1)
        theory.relation("known", (entities, relations, entities), triples)
        formulas = {
            "facts": "forall h, r, t where known(h, r, t): holds(h, r, t)",
            "others": "forall h, r, t where ~known(h, r, t): ~holds(h, r, t)",
        }
        assert {name: theory.plan(text).rows["holds"] for name, text in formulas.items()} == rows
        is_known = np.zeros((5, 8, 5), bool)
        is_known[tuple(triples.T)] = True
        tables = [individuals.table.value for individuals in theory.individuals]
        for name, sign in (("facts", 1.0), ("others", -1.0)):
            places = np.argwhere(is_known == (name == "facts")).T
            with tf.GradientTape(persistent=True) as tape:
                vectors = [
                    tf.gather(tables[kind], column) for kind, column in zip((0, 1, 0), places, strict=True)
                ]
                logits = sign * theory.symbols["holds"].network(vectors)
                if semantics == "product":
                    expected = 1.0 - tf.sqrt(tf.reduce_mean(tf.sigmoid(-logits) ** 2))
                else:
                    expected = tf.exp(tf.reduce_mean(tf.math.log_sigmoid(logits)))
                found = theory.query(formulas[name]).tensor
            assert_close(found, expected)
            for table in tables:
                slopes = (tf.convert_to_tensor(tape.gradient(value, table)) for value in (found, expected))
                assert_close(*slopes)

    def test_refuses_what_it_cannot_score(self, kind: str) -> None:
        P, vector = getattr(ltn.Predicate, kind)(), ltn.Constant([1.0, 2.0], False)
        with pytest.raises(ltn.LogicTypeError, match=f"{kind} scores a head, a relation and a tail; got 2"):
            P([vector, vector])
        with pytest.raises(ltn.LogicValueError, match=r"same size; got the sizes \[2, 2, 4\]"):
            P([vector, vector, ltn.Constant([1.0] * 4, False)])
        with pytest.raises(ltn.LogicValueError, match="scores vectors; got the feature shapes"):
            P([vector, vector, ltn.Constant([[1.0, 2.0]], False)])


def test_complex_numbers_have_two_parts() -> None:
    vector = ltn.Constant([1.0, 2.0, 3.0], False)
    with pytest.raises(ltn.LogicValueError, match=r"their size is even; got \[3, 3, 3\]"):
        ltn.Predicate.ComplEx()([vector, vector, vector])


def triples(kind: str, semantics: str = "product") -> ltn.Theory:
    theory = ltn.Theory(semantics)
    entities, kinds = theory.domain("entities", shape=4), theory.domain("kinds", shape=4)
    theory.constants([f"e{number}" for number in range(5)], entities, initializer="random_normal")
    theory.constants("likes, knows", kinds, initializer="random_normal")
    theory.variables("h, t, e", entities)
    theory.variable("r", kinds)
    theory.predicate("holds", (entities, kinds, entities), getattr(ltn.Predicate, kind)())
    return theory


def _loaded(theory: ltn.Theory, folder: Path) -> ltn.Theory:
    theory.save(str(folder / "theory.keras"))
    return ltn.load(str(folder / "theory.keras"))


def _operations(function: Callable[..., Any], data: dict[str, Any]) -> list[list[int | None]]:
    """The shapes of all that a graph computes."""
    batch = {"h": tf.constant(data["h"]), "r": tf.constant([0, 1, 0])}
    graph = tf.function(function).get_concrete_function(batch).graph
    outputs = itertools.chain.from_iterable(operation.outputs for operation in graph.get_operations())
    return [list(tensor.shape) for tensor in outputs if tensor.shape.rank is not None]


class TestTables:
    DOMAINS = (["Ann", "Bob", "Eve"], [5, 3], {"Rome": [1.0, 0.0], "Seoul": [0.0, 1.0]})

    def theory(self, semantics: str = "product") -> ltn.Theory:
        theory = ltn.Theory(semantics)
        domains = [theory.domain(f"d{n}", values=values) for n, values in enumerate(self.DOMAINS)]
        for name, domain in zip("xyz", domains, strict=True):
            theory.variable(name, domain)
        theory.variable("w", domains[0])
        theory.predicate("T", domains, ltn.Predicate.table(domains))
        theory.predicate("F", (domains[0], domains[0]), ltn.Predicate.table([domains[0]] * 2))
        theory.predicate("A", domains[0], ltn.Predicate.table(domains[0]))
        return theory

    def truths(self, theory: ltn.Theory, name: str) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-theory.symbols[name].network.numbers.numpy()))

    def test_are_read_at_the_individuals(self) -> None:
        theory = self.theory()
        T, F, A = (self.truths(theory, name) for name in "TFA")
        assert_close(theory.query("T(x, y, z)").numpy(), T)
        assert_close(theory.query("T(Bob, y, Seoul)").numpy(), T[1, :, 1])
        assert_close(theory.query("F(x, w)").numpy(), F)
        assert_close(theory.query("F(x, x)").numpy(), np.diag(F))
        assert_close(theory.query("A(x)", x=["Eve", "Ann"]).numpy(), A[[2, 0]])
        rows = {"x": [2, 0, 2], "y": [3, 5, 3], "z": ["Seoul", "Rome", "Rome"]}
        expected = 1.0 - np.sqrt(np.mean((1.0 - T[[2, 0, 2], [1, 0, 1], [1, 0, 0]]) ** 2))
        assert_close(theory.query("forall diag(x, y, z): T(x, y, z)", rows).numpy(), expected)

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_learns_and_is_saved(self, tmp_path: Path, jit_compile: bool) -> None:
        keras.utils.set_random_seed(1)
        theory = self.theory("log_product")
        theory.axioms("""
            F(Ann, Bob)
            forall x, w: F(x, w) -> F(w, x)
            forall x: ~F(x, x)
            T(Ann, 3, Rome) & ~T(Ann, 5, Rome)
        """)
        theory.compile(keras.optimizers.Adam(0.1), jit_compile=jit_compile)
        theory.fit(epochs=100, verbose=0)
        F, T = self.truths(theory, "F"), self.truths(theory, "T")
        assert F[1, 0] > 0.8
        assert F.diagonal().max() < 0.2
        assert T[0, 1, 0] > 0.8
        assert T[0, 0, 0] < 0.2
        for other in (_loaded(theory, tmp_path), theory.copy()):
            assert_close(other.report().satisfaction, theory.report().satisfaction)

    def test_starts_are_drawn_anew(self) -> None:
        theory = self.theory()
        theory.axiom("forall x: A(x)")
        theory.compile("sgd")
        losses = theory.fit(epochs=2, starts=3, verbose=0).starts.loss
        assert losses.nunique() == 3

    def test_other_individuals_are_refused(self) -> None:
        theory = ltn.Theory()
        digits = theory.domain("digits", values=range(3))
        theory.predicate("P", digits, ltn.Predicate.table(digits))
        with pytest.raises(
            ltn.LogicValueError, match=r"Argument 1 of a table must be one of its 3 individuals; got 0\.5"
        ):
            theory.query("P(1 + 0.5)")

    @pytest.mark.parametrize(
        ("domains", "kind", "message"),
        [
            (
                lambda theory: theory.domain("people", shape=2),
                ltn.LogicValueError,
                "of 'people' have no fixed",
            ),
            (
                lambda theory: theory.domain("d", values={"a": 1, "b": 1}),
                ltn.LogicValueError,
                "of 'd' have the same",
            ),
            (lambda theory: "people", ltn.LogicTypeError, "a list of domains; got 'people'"),
            (lambda theory: [theory.domain("d", values=range(20000))] * 2, ltn.LogicValueError, "a gigabyte"),
        ],
    )
    def test_refuses_what_it_cannot_tell_apart(
        self, domains: Callable[[ltn.Theory], Any], kind: type[Exception], message: str
    ) -> None:
        with pytest.raises(kind, match=message):
            ltn.Predicate.table(domains(ltn.Theory()))

    def test_refuses_other_numbers_of_arguments(self) -> None:
        domain = ltn.Theory().domain("d", values=range(3))
        with pytest.raises(ltn.LogicTypeError, match="A table of 1 arguments got 2"):
            ltn.Predicate.table(domain)([ltn.Constant(1, False)] * 2)
