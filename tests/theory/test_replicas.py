"""Several replicas of a theory, on devices of one machine: together they train as one does."""

import functools
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.callbacks import Schedule
from tests.evaluation.test_samples import KNOWS, declared
from tests.theory.replicated import AXIOMS, DATA, draws, logs_of, points, theory_of
from tests.theory.theories import (
    about,
    assert_same_weights,
    labelled_points,
    network,
    rows,
    smokers,
    traced,
    truth,
    weights_of,
)
from tests.tolerance import assert_close

# Keras, on NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

# Some steps of gradients whose sums were rounded in another order.
ATOL = 2e-6
# Both quantifiers, with and without a guard, over two axes of data.
EACH_KIND = ("close", "related")
# The axes are divided alike whatever the operators are: one preset of each space has all axioms.
PRESETS = {
    "stable_product": tuple(AXIOMS),
    "product": EACH_KIND,
    "godel": EACH_KIND,
    "lukasiewicz": EACH_KIND,
    "log_product": tuple(AXIOMS),
}


@functools.cache  # two strategies of the same devices would take each other's messages
def replicas(count: int) -> tf.distribute.Strategy:
    # Groups of other devices need other keys, which TensorFlow does not give them by itself.
    before = tf.distribute.MirroredStrategy._collective_key_base
    tf.distribute.MirroredStrategy._collective_key_base = 100_000 * count
    try:
        return tf.distribute.MirroredStrategy([f"CPU:{number}" for number in range(count)])
    finally:
        tf.distribute.MirroredStrategy._collective_key_base = before


@pytest.fixture(scope="module")
def two() -> tf.distribute.Strategy:
    return replicas(2)


@pytest.fixture(scope="module")
def three() -> tf.distribute.Strategy:
    return replicas(3)


def assert_same_logs(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert_close(one[name], other[name])


def assert_trains_the_same(
    strategy: tf.distribute.Strategy, data: Any = DATA, fit: Any = None, **settings: Any
) -> tuple[ltn.Theory, ltn.Theory]:
    """One replica and several: the same logs and weights, and they learn. Returns both theories."""
    theories = [theory_of(which, **settings) for which in (None, strategy)]
    # A few steps take less time than compiling them.
    theories[0].run_eagerly = True
    before = weights_of(theories[0])
    options = {"batch_size": 7, "epochs": 2, "shuffle": False, "verbose": 0} | (fit or {})
    logs = [logs_of(theory.fit(data() if callable(data) else data, **options)) for theory in theories]
    assert_same_logs(*logs)
    one, several = theories
    assert_same_weights(one, several, atol=ATOL)
    assert any(
        np.abs(old - new).max() > 1e-4 for old, new in zip(before, weights_of(theories[0]), strict=True)
    )
    return one, several


class TestOneAndSeveral:
    """The same loss, logs, and weights, and so the same gradients."""

    @pytest.mark.parametrize("semantics", PRESETS)
    def test_for_every_semantics_and_kind_of_quantifier(
        self, two: tf.distribute.Strategy, semantics: str
    ) -> None:
        # Seven individuals are not even, and the last batch has one: a replica gets nothing.
        assert_trains_the_same(
            two,
            points(8),
            axioms=PRESETS[semantics],
            semantics=semantics,
            true=semantics == "lukasiewicz",
        )

    def test_with_replicas_that_get_nothing(self, three: tf.distribute.Strategy) -> None:
        # The last batch has a single individual.
        assert_trains_the_same(three, points(8), axioms=("close",))

    @pytest.mark.parametrize(
        "optimizer", [keras.optimizers.Adam, keras.optimizers.SGD], ids=lambda o: o.__name__
    )
    def test_with_an_optimizer_that_remembers(self, two: tf.distribute.Strategy, optimizer: Any) -> None:
        more = {"momentum": 0.9} if optimizer is keras.optimizers.SGD else {}
        one, several = assert_trains_the_same(two, axioms=("all",), optimizer=lambda: optimizer(0.05, **more))
        for mine, theirs in zip(one.optimizer.variables, several.optimizer.variables, strict=True):
            assert_close(mine.numpy(), theirs.numpy())

    def test_with_data_under_the_name_of_a_domain(self, two: tf.distribute.Strategy) -> None:
        data = {"points": DATA["x"]}
        assert_trains_the_same(two, data, axioms=("related",))

    def test_with_ties_across_replicas(self, two: tf.distribute.Strategy) -> None:
        half = rows(DATA, 0, 3)
        data = {name: np.concatenate([values, values]) for name, values in half.items()}
        assert_trains_the_same(
            two, data, axioms=("all", "weighted"), semantics="godel", fit={"batch_size": 6}
        )

    def test_with_sample_weights(
        self, two: tf.distribute.Strategy, capsys: pytest.CaptureFixture[str]
    ) -> None:
        weights = np.arange(8.0) % 3
        fit = {"sample_weight": weights, "batch_size": 5, "verbose": 2}
        assert_trains_the_same(two, points(8), fit, axioms=("close", "related"))
        # The line is that of one replica too.
        lines = [line for line in capsys.readouterr().out.split("\n") if "loss" in line]
        assert [line[line.index("loss") :] for line in lines[:2]] == [
            line[line.index("loss") :] for line in lines[2:]
        ]
        assert all("worst: " in line and "close: " not in line for line in lines)

    def test_in_chunks(self, two: tf.distribute.Strategy) -> None:
        assert_trains_the_same(two, points(8), axioms=("close", "classes"), chunk=5)

    def test_with_python_code_a_learned_weight_constants_and_a_regularizer(
        self, two: tf.distribute.Strategy
    ) -> None:
        def more(theory: ltn.Theory) -> None:
            Forall = ltn.core.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMeanError(p=2), semantics="forall")
            x, P = theory.variable("z", theory.signature.domains["points"]), theory.symbols["P"]
            theory.constant("k", theory.signature.domains["points"], trainable=True)
            theory.axiom(lambda: Forall(x, P(x)), name="code")
            theory.axiom("P(k)", name="constant")
            theory.axiom("forall x: P(x) -> P(k)", name="learned", weight="learned")

        data = DATA | {"z": DATA["y"]}
        assert_trains_the_same(two, data, axioms=(), more=more, regularizer=keras.regularizers.L2(0.01))

    def test_with_a_diagonal_of_data_and_declared_individuals(self, two: tf.distribute.Strategy) -> None:
        def more(theory: ltn.Theory) -> None:
            theory.variable("k", theory.domain("numbers"), values=np.arange(6.0))
            theory.axiom("forall diag(x, k) where k > 2: P(x)", name="numbered")

        assert_trains_the_same(two, points(12), axioms=(), more=more, fit={"batch_size": 6})

    def test_with_relations(self, two: tf.distribute.Strategy) -> None:
        def more(theory: ltn.Theory) -> None:
            classes = theory.signature.domains["classes"]
            theory.variables("e, k", classes)
            theory.relation("below", (classes, classes), [(0, 1), (0, 2), (1, 2)])
            theory.axiom("forall diag(x, k): exists c where below(k, c): C(x, c)", name="batch")
            theory.axiom("forall x: forall c, e where below(c, e): C(x, c) -> C(x, e)", name="known")

        data = points(8) | {"k": np.arange(8.0) % 3}
        assert_trains_the_same(two, data, axioms=(), more=more)

    def test_without_data(self, two: tf.distribute.Strategy) -> None:
        with two.scope():
            keras.utils.set_random_seed(0)
            several = smokers()
            several.compile(keras.optimizers.SGD(0.5))
        keras.utils.set_random_seed(0)
        one = smokers()
        one.compile(keras.optimizers.SGD(0.5))
        assert_same_logs(*(logs_of(theory.fit(epochs=3, verbose=0)) for theory in (one, several)))
        assert_same_weights(one, several, atol=ATOL)

    def test_with_samples_of_all(self, two: tf.distribute.Strategy) -> None:
        # More than there are: each replica takes all of its share, and what is not divided counts twice.
        def more(theory: ltn.Theory) -> None:
            classes = theory.signature.domains["classes"]
            theory.variable("e", classes)
            theory.relation("below", (classes, classes), [(0, 1), (0, 2), (1, 2)])
            theory.axioms("""
                shares: forall[sample=100] x: exists[sample=100] y: R(x, y)
                close: forall[sample=100] x, y where norm(x - y) < 0.9: P(x) <-> P(y)
                classes: forall[sample=100] c: exists x: C(x, c)
                others: forall x: forall[sample=100] c, e where ~below(c, e): C(x, c) -> C(x, e)
            """)

        assert_trains_the_same(two, points(8), axioms=(), more=more)

    def test_each_replica_has_its_own_sample_and_they_are_joined(self, two: tf.distribute.Strategy) -> None:
        with two.scope():
            keras.utils.set_random_seed(3)
            theory = declared()
            theory.axiom("forall[p=1, sample=9] x, y where ~knows(x, y): P(x, y)", name="few")
        before: set[bytes] = set()
        for gradients in draws(two, theory, 5):
            shares = [np.rint(gradient * 18) for gradient in gradients]
            for gradient, share in zip(gradients, shares, strict=True):
                # The part of 9 in the mean of 18.
                assert_close(gradient * 18, share, atol=1e-4)
                assert share.sum() == 9
                assert not any(share[x, y] for x, y in KNOWS)
            before |= {share.tobytes() for share in shares}
        assert len(before) == 10


class TestTraining:
    def test_schedules_and_validation_are_traced_once(self, two: tf.distribute.Strategy) -> None:
        Traced, traces = traced()
        counts: list[int] = []
        note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: counts.append(len(traces)))
        schedule = Schedule("p_forall", {0: 1, 1: 4, 2: 6})
        fit: dict[str, Any] = {"validation_data": points(9, seed=1), "validation_batch_size": 4}
        fit |= {"callbacks": [note, schedule], "epochs": 3}
        one, several = assert_trains_the_same(two, fit=fit, axioms=("all", "weighted"), kind=Traced)
        # The first epochs are those of one replica.
        assert counts[3:] == [counts[3]] * 3
        for call in (
            lambda theory: theory.evaluate(DATA, batch_size=7, verbose=0, return_dict=True),
            lambda theory: dict(enumerate(theory.evaluate(DATA, None, 7, 0))),
            lambda theory: theory.predict(DATA, 7, 0),
            lambda theory: theory.predict(DATA, batch_size=9, steps=2, verbose=0),
        ):
            assert_same_logs(call(one), call(several))
        assert several.predict(DATA, 7, 0)["satisfaction"].shape == (3,)
        assert_close(truth(several, "forall x: P(x)", DATA), truth(one, "forall x: P(x)", DATA))
        before = len(traces)
        several.fit(DATA, batch_size=7, verbose=0, **fit | {"epochs": 1})
        found = several.evaluate(DATA, batch_size=6, verbose=0)
        assert all(isinstance(value, float) for value in found)
        assert len(traces) == before

    def test_data_sets(self, two: tf.distribute.Strategy) -> None:
        def batches() -> tf.data.Dataset:
            return tf.data.Dataset.from_tensor_slices(DATA).batch(7)

        fit = {"batch_size": None, "validation_data": batches()}
        one, several = assert_trains_the_same(two, batches, fit=fit, axioms=("all",))
        found = [theory.predict(batches(), verbose=0) for theory in (one, several)]
        assert_same_logs(*found)

    def test_an_epoch_of_some_steps_goes_on_where_the_last_one_ended(
        self, two: tf.distribute.Strategy
    ) -> None:
        # Two steps of three: after three epochs all data were seen twice.
        one, several = (theory_of(which, axioms=("all",)) for which in (None, two))
        one.run_eagerly = True
        one.fit(DATA, batch_size=7, epochs=2, shuffle=False, verbose=0)
        options = {"batch_size": 7, "steps_per_epoch": 2, "shuffle": False, "verbose": 0}
        several.fit(DATA, epochs=2, **options)
        several.fit(DATA, initial_epoch=2, epochs=3, **options)
        assert_same_weights(one, several, atol=ATOL)

    def test_every_epoch_visits_every_individual_once_in_an_order_of_its_own(
        self, two: tf.distribute.Strategy
    ) -> None:
        seen: list[list[float]] = []

        def note(x: Any) -> tf.Tensor:
            def keep(values: Any) -> Any:
                seen.append(values[:, 0].tolist())
                return values[:, 0]

            return tf.reshape(tf.numpy_function(keep, [x], tf.float32), [-1])

        def more(theory: ltn.Theory) -> None:
            theory.predicate("Seen", theory.signature.domains["points"], note)
            theory.axiom("forall x: Seen(x) | P(x)", name="seen")

        theory = theory_of(two, axioms=(), more=more)
        data = {"x": np.linspace(0.0, 1.0, 40, dtype=np.float32).reshape(20, 2)}
        theory.fit(data, batch_size=20, verbose=0)
        seen.clear()
        theory.fit(data, batch_size=20, epochs=2, verbose=0)
        assert [len(part) for part in seen] == [10] * 4
        epochs = [seen[0] + seen[1], seen[2] + seen[3]]
        assert all(sorted(epoch) == data["x"][:, 0].tolist() for epoch in epochs)
        assert sorted(seen[0] + seen[1]) == sorted(seen[2] + seen[3])
        assert set(seen[0]) != set(seen[2])

    def test_a_trained_theory_is_saved_and_loaded(self, two: tf.distribute.Strategy, tmp_path: Path) -> None:
        theory = theory_of(two, axioms=("all",), optimizer=lambda: keras.optimizers.Adam(0.05))
        theory.fit(DATA, batch_size=7, verbose=0)
        theory.save(tmp_path / "theory.keras")
        alone = keras.saving.load_model(tmp_path / "theory.keras")
        assert_same_weights(alone, theory)
        assert_close(
            alone.evaluate(DATA, batch_size=7, verbose=0), theory.evaluate(DATA, batch_size=7, verbose=0)
        )
        with two.scope():
            again = keras.saving.load_model(tmp_path / "theory.keras")
        options = {"batch_size": 7, "shuffle": False, "verbose": 0}
        for loaded in (alone, again, theory):
            loaded.fit(DATA, **options)
        assert_same_weights(alone, again, atol=ATOL)
        assert_same_weights(theory, again, atol=ATOL)

    def test_single_batches(self, two: tf.distribute.Strategy) -> None:
        """Every replica gets the whole batch."""
        one, several = (theory_of(strategy, ("all",)) for strategy in (None, two))
        for step in ("train_on_batch", "test_on_batch"):
            assert_same_logs(*(getattr(theory, step)(DATA, return_dict=True) for theory in (one, several)))
        assert_same_weights(one, several, atol=ATOL)

    @pytest.mark.parametrize("weight", [0.5, "balanced"])
    def test_a_model_with_knowledge(self, two: tf.distribute.Strategy, weight: Any) -> None:
        # Keras gives every replica's mean the same weight: batches and their halves are even.
        data = labelled_points(12)
        models, logs = [], []
        for strategy in (tf.distribute.get_strategy(), two):
            with strategy.scope():
                keras.utils.set_random_seed(0)
                classifier = network()
                theory = about(classifier)
                theory.axiom("forall x: P(x, a) -> ~P(x, b)", name="not_a_and_b")
                model = ltn.with_knowledge(classifier, theory, weight=weight)
                loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
                model.compile(keras.optimizers.SGD(0.5), loss)
            options = {
                "batch_size": 6,
                "epochs": 12 if weight == "balanced" else 2,
                "shuffle": False,
                "verbose": 0,
            }
            logs.append(logs_of(model.fit(data["x"], data["l"], **options)))
            models.append(model)
        assert_same_logs(*logs)
        one, several = models
        assert several.weight > 0.0
        assert_same_weights(one, several, atol=ATOL)


class TestMistakes:
    def test_a_generator_of_batches(self, two: tf.distribute.Strategy) -> None:
        with pytest.raises(
            ltn.LogicTypeError, match=r"dictionary of arrays, or as a tf.data.Dataset.*generator"
        ):
            theory_of(two).fit((batch for batch in [DATA]), verbose=0)

    def test_a_split_of_the_data(self, two: tf.distribute.Strategy) -> None:
        with pytest.raises(ltn.LogicValueError, match="`validation_data`, not `validation_split`"):
            theory_of(two).fit(DATA, validation_split=0.5, verbose=0)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"jit_compile": True}, "XLA does not compile .* jit_compile=True"),
            ({"steps_per_execution": 4}, "one step at a time; got steps_per_execution=4"),
        ],
        ids=["xla", "steps"],
    )
    def test_what_replicas_cannot_do(
        self, two: tf.distribute.Strategy, settings: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ltn.LogicValueError, match=message):
            theory_of(two).compile("sgd", **settings)

    def test_an_aggregator_that_does_not_work_by_parts(self, two: tf.distribute.Strategy) -> None:
        def smallest(xs: tf.Tensor, axis: Any = None, keepdims: bool = False, mask: Any = None) -> tf.Tensor:
            return tf.reduce_min(xs, axis=axis, keepdims=keepdims)

        theory = theory_of(two, ("all",), ltn.semantics.product.replace(Forall=smallest))
        with pytest.raises(ltn.LogicTypeError, match=r"In `forall x: P\(x\)`.*aggregator of ltn.fuzzy_ops"):
            theory.fit(DATA, verbose=0)


def test_definitions_over_data(two: tf.distribute.Strategy) -> None:
    """What a definition binds is data too, which replicas share among them."""

    def declare(theory: ltn.Theory) -> None:
        theory.axioms("""
            define alike(x, y): P(x) <-> P(y)
            define has_friends(y): exists x where norm(x - y) < 0.9: alike(x, y)
            friends: forall y: has_friends(y)
            known: forall x: has_friends(x) | P(x)
        """)

    assert_trains_the_same(two, axioms=("all",), more=declare)
