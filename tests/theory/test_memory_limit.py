"""Questions within a limit of memory: in batches they have the values that they have at once."""

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.errors import LogicValueError
from ltn.evaluation import batches
from ltn.knowledge.data import read_batch
from ltn.language import parse
from tests import fresh
from tests.theory.random_formulas import closed_formulas, fewer, open_formulas, terms
from tests.theory.test_text_equals_core import PATTERNS
from tests.theory.worlds import World, declared, random_world, worlds
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

AT_ONCE = 2**40
# The answers of four times four times four numbers fit, and little beside them.
LITTLE = 256
WORLD = random_world(3, 4, 3, 0.4)


def under(theory: ltn.Theory, limit: int, ask: Any) -> Any:
    theory.memory_limit = limit
    return ask(theory)


def assert_same_answers(theory: ltn.Theory, ask: Any, limit: int = 1) -> None:
    whole, batched = (under(theory, memory, ask) for memory in (AT_ONCE, limit))
    if isinstance(whole, ltn.Formula | ltn.Term):
        assert batched.free_vars == whole.free_vars
        assert type(batched) is type(whole)
        assert batched.to_frame().index.equals(whole.to_frame().index)
        whole, batched = whole.tensor, batched.tensor
    # Sums in another order.
    assert_close(batched, whole, rtol=1e-5, atol=1e-6)


class TestValuesAreTheSame:
    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_of_reports_on_patterns_of_all_kinds(self, semantics: str) -> None:
        theory = declared(WORLD, semantics).theory
        theory.axioms(PATTERNS)
        assert_same_answers(theory, lambda theory: theory.report(WORLD.data)["satisfaction"].to_numpy())
        found = under(theory, 1, lambda theory: theory.plan(data=WORLD.data))
        # A plan tells how training evaluates.
        assert "at a time" not in str(found)

    @fewer(12)
    @given(world=worlds(), text=closed_formulas().map(str))
    def test_of_random_closed_formulas(self, world: World, text: str) -> None:
        theory = declared(world, "product").theory
        assert_same_answers(theory, lambda theory: theory.query(text, world.data))

    @fewer(8)
    @given(world=worlds(fewest=1), text=st.one_of(open_formulas(), terms()).map(str))
    def test_of_random_open_formulas_and_terms(self, world: World, text: str) -> None:
        theory = declared(world, "product").theory
        # A term has several numbers for each individual.
        assert_same_answers(theory, lambda theory: theory.query(text, world.data), 4 * LITTLE)

    @fewer(12)
    @given(world=worlds(), text=closed_formulas().map(str))
    def test_of_what_is_least_true(self, world: World, text: str) -> None:
        theory = declared(world, "product").theory
        whole, batched = (
            under(theory, limit, lambda theory: theory.explain(text, world.data, worst=7))
            for limit in (AT_ONCE, 1)
        )
        assert_close(batched["truth"], whole["truth"], rtol=1e-5, atol=1e-6)
        gaps = np.diff(whole["truth"]) > 1e-5
        if gaps.all() or len(whole) < 2:
            assert batched.drop(columns="truth").equals(whole.drop(columns="truth"))


def people(count: int = 9, semantics: Any = "product", **settings: Any) -> tuple[ltn.Theory, list[int]]:
    """A theory over some people, and on how many rows its network ran in each call."""
    rows: list[int] = []

    def near(pair: list[tf.Tensor]) -> tf.Tensor:
        rows.append(int(pair[0].shape[0]) if pair[0].shape[0] is not None else -1)
        return tf.exp(-tf.abs(pair[0][:, 0] - pair[1][:, 0]))

    theory = ltn.Theory(semantics, **settings)
    persons = theory.domain("people", values=np.linspace(0.0, 2.0, count))
    theory.variables("x, y, z", persons)
    theory.predicate("near", (persons, persons), near)
    theory.relation("knows", (persons, persons), [(place, (2 * place) % count) for place in range(count)])
    return theory, rows


class TestBatches:
    @pytest.mark.parametrize(
        ("text", "limit"),
        [
            ("near(x, y)", 324),
            ("near(y, x) & ~near(x, y)", 324),
            ("exists z: near(x, z) & near(z, y)", 324),
            ("forall x: exists y: near(x, y)", 324),
            ("exists y where knows(x, y): near(x, y)", 100),
            ("forall x, y where knows(x, y): exists z where knows(y, z): near(x, z)", 100),
            ("forall diag(x, y): near(x, y)", 100),
            ("near(x, y) for diag(x, y)", 100),
            ("at least 2 x: near(x, y)", 100),
        ],
    )
    def test_are_small_and_have_all_values(self, text: str, limit: int) -> None:
        theory, rows = people()
        assert_same_answers(theory, lambda theory: theory.query(text), limit)
        most = max(rows)
        rows.clear()
        under(theory, limit, lambda theory: theory.query(text))
        # A row takes 8 bytes of inputs, 4 of output and 8 of truth.
        assert max(rows) <= limit // 20
        assert max(rows) < most

    def test_within_quantifiers_that_are_sliced_already(self) -> None:
        theory, rows = people()
        text = "forall x: exists y: near(x, y)"
        whole = float(theory.query(text))
        rows.clear()
        assert_close(float(under(theory, 1, lambda theory: theory.query(text))), whole)
        assert (max(rows), len(rows)) == (1, 81)

    def test_are_not_made_where_relations_leave_few(self) -> None:
        theory, rows = people(100)
        theory.memory_limit = 100 * 200
        theory.query("forall x, y where knows(x, y): near(x, y)")
        assert rows == [100]
        # All combinations are too many.
        theory.query("forall x, y: near(x, y)")
        assert 10_000 not in rows

    def test_are_not_made_where_guards_are_looked_up(self) -> None:
        theory = ltn.Theory("product")
        digits, sums = theory.domain("digits", values=range(10)), theory.domain("sums")
        theory.variables("a, b, c, d", digits)
        theory.variable("n", sums)
        theory.predicate("P", digits, lambda digit: digit[:, 0] / 9.0)
        text = "forall n: exists a, b, c, d where 10 * a + b + 10 * c + d = n: P(a) & P(b) & P(c) & P(d)"
        data = {"n": np.arange(40.0)}
        assert_same_answers(theory, lambda theory: theory.query(text, data), 10**6)
        # Of 10 000 combinations at most 100 have one sum: 4000 tuples, of some hundred bytes each.
        for limit, slices in ((2 * 10**6, False), (10**5, True)):
            evaluation = theory.evaluation(theory.space, read_batch(theory.signature, data))
            assert batches.footprint_of(evaluation, parse(text)).exceeds(limit) == slices

    def test_of_axioms_share_the_limit(self) -> None:
        theory, rows = people()
        theory.axioms(["forall x, y: near(x, y)", "forall x, y: near(x, y) | near(y, x)"])
        assert_same_answers(theory, lambda theory: theory.report()["satisfaction"].to_numpy(), 1000)
        assert max(rows[-4:]) <= 1000 // 2 // 20

    def test_of_evaluate_and_of_a_call(self) -> None:
        theory, _ = people()
        theory.proposition("A", 0.3, trainable=True)
        theory.axiom("A -> forall x: exists y: near(x, y)", name="all")

        def evaluated(theory: ltn.Theory) -> list[float]:
            theory.compile("sgd")
            return theory.evaluate(verbose=0)

        assert_same_answers(theory, evaluated)
        assert_same_answers(theory, lambda theory: theory({})["all"])

    def test_of_ranks(self) -> None:
        theory, rows = people()
        triples = [(place / 4, (8 - place) / 4) for place in range(9)]
        for text in ("near(x, y)", "exists z: near(x, z) & near(z, y)"):
            assert_same_answers(
                theory, lambda theory, text=text: theory.rank(triples, text, of="y").ranks, 400
            )
        rows.clear()
        under(theory, 420, lambda theory: theory.rank(triples, "near(x, y)", of="y"))
        assert (max(rows), sum(rows)) == (18, 81)

    def test_of_what_is_least_true_keep_the_order_of_those_equally_true(self) -> None:
        theory, rows = people()
        for text in ("forall x, y: near(x, y)", "forall y, x where knows(x, y): ~near(x, y)", "near(x, y)"):
            whole, batched = (
                under(theory, limit, lambda theory, text=text: theory.explain(text, worst=30))
                for limit in (AT_ONCE, 200)
            )
            assert batched.equals(whole)
        assert rows[-1] < 81

    def test_let_gradients_through(self) -> None:
        theory, _ = people()
        persons = theory.signature.domains["people"]
        theory.predicate("P", persons, ltn.Predicate.MLP([1], (2,)))
        slopes = []
        for limit in (AT_ONCE, 324):
            theory.memory_limit = limit
            for text in ("P(x) & near(x, y)", "forall x, y: P(x) & near(x, y)"):
                with tf.GradientTape() as tape:
                    total = tf.reduce_sum(theory.query(text).tensor)
                slopes.append(tape.gradient(total, [weight.value for weight in theory.trainable_variables]))
        for one, other in zip(slopes[:2], slopes[2:], strict=True):
            for slope, expected in zip(one, other, strict=True):
                assert_close(slope, expected, rtol=1e-5, atol=1e-6)

    def test_stay_whole_under_an_aggregator_of_the_user(self) -> None:
        mean = ltn.semantics.product.replace(Forall=lambda values, axis: tf.reduce_mean(values, axis))
        theory, rows = people(semantics=mean)
        under(theory, 1, lambda theory: theory.query("forall x, y: near(x, y)"))
        assert rows == [81]


class TestTheLimit:
    def test_counts_what_layers_return(self) -> None:
        theory = ltn.Theory("product")
        images = theory.domain("images", shape=(8, 8, 1))
        theory.variable("x", images)
        rows: list[int] = []

        class Counted(keras.layers.Layer):
            def call(self, inputs: Any) -> Any:
                rows.append(inputs.shape[0])
                return inputs

        network = keras.Sequential(
            [
                keras.Input((8, 8, 1)),
                keras.layers.Conv2D(16, 3, padding="same"),
                keras.layers.Flatten(),
                keras.layers.Dense(1, activation="sigmoid"),
                Counted(),
            ]
        )
        theory.predicate("P", images, network)
        # 64 numbers of an image, and 1024 after the convolution, and again when they are flattened.
        theory.memory_limit = 10 * 4 * (2 * 64 + 2 * 1024)
        rows.clear()
        theory.query("forall x: P(x)", x=np.zeros((100, 8, 8, 1)))
        assert 5 <= max(rows) <= 10

    def test_is_a_gib_is_set_and_copied_and_not_saved(self, tmp_path: Path) -> None:
        theory = ltn.Theory()
        theory.proposition("A", 0.25)
        assert theory.memory_limit == 2**30
        theory.memory_limit = np.int64(2**20)  # type: ignore[assignment]
        assert theory.copy().memory_limit == 2**20
        theory.save(tmp_path / "theory.keras")
        assert ltn.load(tmp_path / "theory.keras").memory_limit == 2**30

    def test_an_answer_that_is_larger_is_refused(self) -> None:
        theory, rows = people()
        theory.memory_limit = 200
        with pytest.raises(LogicValueError, match=r"has 81 values, 9 x times 9 y: more than the 200 bytes"):
            theory.query("near(x, y)")
        assert not rows
        assert theory.query("exists y: near(x, y)").tensor.shape == (9,)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_stays_within_the_limit(tmp_path: Path) -> None:
    said = fresh.run("tests.theory.large_questions", output=tmp_path / "said")
    risen: dict[str, int] = json.loads(said.splitlines()[-1])
    # KiB: what TensorFlow keeps beside the values of a batch of 16 MiB. All at once they take 600 MiB.
    assert all(kib < 64 * 1024 for kib in risen.values()), risen
