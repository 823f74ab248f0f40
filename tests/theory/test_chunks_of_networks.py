"""Quantifiers in chunks: what networks learn, which layers they may have, mistakes, and memory."""

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
import ltn.fuzzy_ops as fo
from ltn.errors import LogicTypeError, LogicValueError
from tests import fresh
from tests.theory.chunked import (
    DATA,
    X,
    assert_equal_gradients,
    assert_trained_alike,
    both,
    gradients,
    points,
    relation,
)
from tests.theory.theories import (
    assert_same_weights,
    degrees,
    knowledge,
    network,
    smokers,
    trained_like,
    truth,
)
from tests.theory.trained import STEP_ATOL
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


class TestWhatIsLearned:
    """Gradients reach everything that they reach without chunks, and nothing else."""

    def test_a_model_with_knowledge(self) -> None:
        def make(chunk: int | None = None) -> Any:
            model = network()
            return ltn.with_knowledge(model, knowledge(model, chunk=chunk), weight=0.5)

        models = both(make, 4)
        for model in models:
            model.compile(
                keras.optimizers.SGD(0.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            )
            model.fit(DATA["x"], DATA["l"], epochs=2, shuffle=False, verbose=0)
        assert_same_weights(*models, atol=STEP_ATOL)

    def test_what_the_data_come_from(self) -> None:
        whole, chunked = both(points, 12, text="forall x, y where first(x) < first(y): F(x, y) -> S(y)")
        encoder = tf.Variable([[0.5, 1.0], [-1.0, 0.5]])
        slopes = []
        for theory in (whole, chunked):
            with tf.GradientTape() as tape:
                features = tf.constant(DATA["x"]) @ encoder
                satisfaction = theory({"x": features, "y": features})["axiom"]
            slopes.append(tape.gradient(satisfaction, encoder))
        assert np.all(np.abs(slopes[0]) > 0.0)
        assert_close(slopes[1], slopes[0], rtol=1e-5)

    @pytest.mark.parametrize("compiled", [False, True])
    def test_variables_that_a_plain_callable_reads(self, compiled: bool) -> None:
        own = tf.Variable([[0.3], [-0.2]])
        theories = [points("forall x: S(x)", lambda x: tf.sigmoid(x @ own), chunk) for chunk in (None, 3)]

        def slope(theory: ltn.Theory) -> Any:
            def run() -> Any:
                with tf.GradientTape() as tape:
                    satisfaction = theory({"x": tf.constant(DATA["x"])})["axiom"]
                return tape.gradient(satisfaction, own)

            return tf.function(run, autograph=False)() if compiled else run()

        expected, found = map(slope, theories)
        assert_close(found, expected, rtol=1e-5)

    def test_a_weight_that_no_axiom_mentions_has_no_gradient(self) -> None:
        def make(chunk: int | None = None) -> ltn.Theory:
            theory = points("forall x: S(x)", chunk=chunk)
            theory.proposition("w", 0.5, trainable=True)
            theory.constants("a, b", theory.domain("others", shape=2), trainable=True)
            return theory

        # Weight decay moves each weight that has one.
        assert_trained_alike(
            both(make, 3), X, optimizer=lambda: keras.optimizers.AdamW(0.1, weight_decay=0.5)
        )

    def test_a_tape_may_be_asked_twice(self) -> None:
        theory = smokers(chunk=5)
        weights = [weight.value for weight in theory.trainable_variables]
        with tf.GradientTape(persistent=True) as tape:
            satisfaction = theory({})["satisfaction"]
        once, again = (tape.gradient(satisfaction, weights) for _ in range(2))
        for one, other in zip(once, again, strict=True):
            assert_close(one, other)

    def test_axioms_that_are_python_code_stay_whole(self) -> None:
        def make(chunk: int | None = None) -> ltn.Theory:
            theory = smokers(chunk=chunk)
            forall = ltn.Wrapper_Quantifier(fo.Aggreg_Mean(), "forall")

            def everyone() -> ltn.Formula:
                people = ltn.Variable("people", theory.individuals[0].tensor)
                return forall(people, theory.symbols["S"](people))

            theory.axiom(everyone, name="code")
            return theory

        assert_equal_gradients(both(make, 5))

    def test_half_precision(self) -> None:
        keras.config.set_dtype_policy("mixed_float16")
        try:
            whole, chunked = both(smokers, 5)
            found, expected = gradients(chunked), gradients(whole)
        finally:
            keras.config.set_dtype_policy("float32")
        # float16 has 11 bits, and slices round otherwise.
        assert_close(found[0], expected[0], rtol=2e-3)
        for slope, other in zip(found[1], expected[1], strict=True):
            assert_close(slope, other, rtol=2e-2, atol=2e-3)


class Louder(keras.Layer):
    """A layer that behaves otherwise in training, without chance."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def build(self, input_shape: Any) -> None:
        self.dense.build(input_shape)
        self.built = True

    def call(self, x: Any, training: bool | None = None) -> Any:
        return tf.sigmoid(self.dense(x) * (3.0 if training else 1.0))


class Adding(keras.Layer):
    """A layer with a loss of its own."""

    def call(self, x: Any) -> Any:
        self.add_loss(tf.reduce_mean(x))
        return x


def of_layers(*layers: keras.Layer) -> keras.Model:
    return keras.Sequential([keras.Input((2,)), *layers, keras.layers.Dense(1, "sigmoid")])


class TestLayers:
    @pytest.mark.parametrize("settings", [{}, {"run_eagerly": True}], ids=str)
    def test_know_in_the_second_computation_too_that_they_are_trained(self, settings: dict[str, Any]) -> None:
        make = [points("forall x: S(x)", Louder(), chunk) for chunk in (None, 3)]
        trained_like(make[1], make[0])
        assert_trained_alike((make[0], make[1]), X, **settings)

    @pytest.mark.parametrize(
        "kind", ["Dropout", "BatchNormalization", "GaussianNoise", "SpectralNormalization"]
    )
    def test_that_depend_on_chance_or_on_other_rows_are_refused_in_training_only(self, kind: str) -> None:
        layer = {
            "Dropout": lambda: keras.layers.Dropout(0.5),
            "BatchNormalization": keras.layers.BatchNormalization,
            "GaussianNoise": lambda: keras.layers.GaussianNoise(0.5),
            "SpectralNormalization": lambda: keras.layers.SpectralNormalization(keras.layers.Dense(2)),
        }[kind]()
        theory = points("forall x: S(x)", of_layers(layer), chunk=3)
        theory.compile("sgd", run_eagerly=True)
        expected = truth(theory, "forall x: S(x)", X)
        logs = theory.evaluate(X, batch_size=10, verbose=0, return_dict=True)
        assert_close(logs["axiom"], expected)
        message = (
            rf"(?s)In `forall x: S\(x\)`.*'S' has the layer '{layer.name}', a {kind}, whose output depends"
        )
        with pytest.raises(LogicValueError, match=message):
            theory.fit(X, verbose=0)
        layer.trainable = kind != "BatchNormalization"
        if not layer.trainable:
            theory.fit(X, verbose=0)

    @pytest.mark.parametrize("compiled", [False, True])
    def test_with_a_loss_of_their_own_are_refused(self, compiled: bool) -> None:
        for layer in (keras.layers.Dense(2, activity_regularizer="l2"), Adding()):
            theory = points("forall x: S(x)", of_layers(layer), chunk=3)
            call = tf.function(theory, autograph=False) if compiled else theory
            with pytest.raises(
                LogicValueError, match=r"adds a loss of its own, by `add_loss` or an activity"
            ):
                call({"x": tf.constant(DATA["x"])})

    def test_weights_may_be_regularized(self) -> None:
        make = [
            points("forall x: S(x)", of_layers(keras.layers.Dense(2, kernel_regularizer="l2")), chunk)
            for chunk in (None, 3)
        ]
        trained_like(make[1], make[0])
        assert_trained_alike((make[0], make[1]), X, run_eagerly=True)


class TestErrors:
    @pytest.mark.parametrize("chunk", [0, -1, 2.0, "3", True])
    def test_a_chunk_is_a_positive_number(self, chunk: Any) -> None:
        with pytest.raises(LogicValueError, match=rf"`chunk` must be .* at least 1, or None; got {chunk!r}"):
            ltn.Theory(chunk=chunk)

    def test_a_number_of_numpy_is_one(self) -> None:
        chunk: Any = np.int64(5)
        assert ltn.Theory(chunk=chunk).chunk == 5

    def test_second_derivatives_are_refused(self) -> None:
        theory = relation(chunk=4)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                satisfaction = theory({})["satisfaction"]
            slopes = inner.gradient(satisfaction, theory.trainable_variables)
        with pytest.raises(LogicValueError, match="no second derivatives through chunks: leave out `chunk`"):
            outer.gradient(slopes, theory.trainable_variables)

    def test_more_than_an_int32_is_everything(self) -> None:
        theory = points("forall x, y: F(x, y)", chunk=10**20)
        whole = points("forall x, y: F(x, y)")
        trained_like(theory, whole)
        compiled = tf.function(
            theory, input_signature=[{n: tf.TensorSpec([None, 2]) for n in "xy"}], autograph=False
        )
        data = {name: tf.constant(DATA["x"]) for name in "xy"}
        assert_close(compiled(data)["axiom"], whole(data)["axiom"])

    def test_an_aggregator_of_the_user_needs_all_values(self) -> None:
        semantics = ltn.semantics.product.replace(Forall=lambda xs, axis, **_: tf.reduce_mean(xs, axis))
        theory = degrees([0.2, 0.4, 0.9], semantics, chunk=2)
        with pytest.raises(
            LogicTypeError, match=r"In `forall x: I\(x\)`: A quantifier in chunks, .*fuzzy_ops; got"
        ):
            theory.query("forall x: I(x)")
        assert_close(truth(degrees([0.2, 0.4, 0.9], semantics, chunk=3), "forall x: I(x)"), 0.5)

    def test_an_error_inside_a_slice_shows_the_formula(self) -> None:
        theory = degrees([0.2, 0.4, 1.5], chunk=1)
        with pytest.raises(LogicValueError, match=r"^In `forall x: I\(x\)`: .*1\.5"):
            theory.query("forall x: I(x)")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_individuals(tmp_path: Path) -> None:
    def risen(chunk: int, *sizes: int) -> dict[str, int]:
        said = fresh.run("tests.theory.large_relation", chunk, *sizes, output=tmp_path / "said")
        return json.loads(said.splitlines()[-1])

    def is_bounded() -> bool:
        chunked = risen(20_000, 300, 600, 1200)
        # A slice of 20 000 pairs is two calls with 26 numbers a pair and their gradients, 8 MiB, some of them
        # held twice, and all that allocators keep. 1200 individuals have 16 times as many pairs as 300.
        return chunked["300"] < 48 * 1024 and chunked["1200"] - chunked["300"] < 24 * 1024

    # What allocators keep differs from process to process, in one of ten by 30 MiB; what grows with the pairs
    # would grow in each.
    assert any(is_bounded() for _ in range(3))
    # All 1.44 million pairs, with 26 numbers each, are 143 MiB.
    assert risen(0, 1200)["1200"] > 143 * 1024
