"""The first layer of a network, applied to each of its arguments on its own axis: it computes the same."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.evaluation.first_layer import FirstLayer
from tests.tolerance import assert_close

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(5, 3)).astype(np.float32)
IMAGES = RNG.normal(size=(4, 2, 2)).astype(np.float32)


def network(*layers: keras.Layer, shapes: tuple[tuple[int, ...], ...] = ((3,), (3,))) -> keras.Model:
    """A network on its flattened and concatenated inputs."""
    inputs = [keras.Input(shape) for shape in shapes]
    output = keras.layers.Concatenate()([keras.layers.Flatten()(each) for each in inputs])
    for layer in layers:
        output = layer(output)
    return keras.Model(inputs, output)


def shared_layer() -> keras.Model:
    inputs, dense = [keras.Input((3,)), keras.Input((3,))], keras.layers.Dense(6)
    hidden = dense(keras.layers.Concatenate()(inputs))
    return keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(dense(hidden)))


def skip() -> keras.Model:
    inputs = [keras.Input((3,)), keras.Input((3,))]
    joined = keras.layers.Concatenate()(inputs)
    hidden = keras.layers.Dense(4, "elu")(joined)
    return keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(keras.layers.Concatenate()([hidden, joined])))


def exchanged() -> keras.Model:
    inputs = [keras.Input((3,)), keras.Input((3,))]
    hidden = keras.layers.Dense(4, "elu")(keras.layers.Concatenate()(inputs[::-1]))
    return keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(hidden))


def with_arguments() -> keras.Model:
    inputs = [keras.Input((3,)), keras.Input((3,))]
    hidden = keras.layers.Dense(4, "elu")(keras.layers.Concatenate()(inputs))
    hidden = keras.layers.Dropout(0.5)(hidden, training=True)
    return keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(hidden))


def on_whole_numbers() -> keras.Model:
    inputs = [keras.Input((3,), dtype="int32"), keras.Input((3,), dtype="int32")]
    hidden = keras.layers.Dense(4, "elu")(keras.layers.Concatenate()(inputs))
    return keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(hidden))


class Failing(keras.Layer):
    """A layer that fails, or returns too few rows."""

    def __init__(self, rows: int | None = None):
        super().__init__()
        self.rows = rows

    def call(self, inputs: Any) -> Any:
        if not tf.executing_eagerly():
            return inputs
        if self.rows is None:
            raise ValueError("no values today")
        return inputs[: self.rows]

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Own(keras.layers.Dense):
    """A layer of a user's own, which may do anything."""


def dense(**settings: Any) -> keras.layers.Dense:
    return keras.layers.Dense(4, "elu", **settings)


def last() -> keras.layers.Dense:
    return keras.layers.Dense(1, "sigmoid")


TAKEN_APART: dict[str, Callable[[], keras.Model]] = {
    "mlp": lambda: network(dense(), keras.layers.Dense(3, "tanh"), last()),
    "elu": lambda: network(dense(), dense(), dense(use_bias=False), last()),
    "one layer": lambda: network(last()),
    "without bias": lambda: network(dense(use_bias=False), last()),
    "dropout": lambda: network(dense(), keras.layers.Dropout(0.5), last()),
    "shared": shared_layer,
}
LEFT_WHOLE: dict[str, Callable[[], keras.Model]] = {
    "one input": lambda: keras.Sequential([keras.Input((3,)), dense(), last()]),
    "normalised": lambda: network(keras.layers.LayerNormalization(), dense(), last()),
    "activity": lambda: network(dense(activity_regularizer="l2"), last()),
    "half precision": lambda: network(dense(dtype="mixed_bfloat16"), last()),
    "own layer": lambda: network(Own(4), last()),
    "skip": skip,
    "exchanged": exchanged,
    "arguments": with_arguments,
    "whole numbers": on_whole_numbers,
}


@pytest.mark.parametrize("name", TAKEN_APART)
def test_dense_layers_are_taken_apart(name: str) -> None:
    assert FirstLayer.of(TAKEN_APART[name]()) is not None


@pytest.mark.parametrize("name", LEFT_WHOLE)
def test_other_networks_are_left_whole(name: str) -> None:
    assert FirstLayer.of(LEFT_WHOLE[name]()) is None


def theory_of(model: Any) -> ltn.Theory:
    theory = ltn.Theory("product")
    things = theory.domain("things", shape=3)
    theory.constants("a b c d e", things, values=POINTS, trainable=True)
    theory.variables("x, y", things)
    theory.predicate("F", (things, things), model)
    return theory


def found(theory: ltn.Theory, text: str, run: Callable[..., Any] = lambda function: function) -> list[Any]:
    """The truths of a formula, and the slopes of their sum."""
    weights = theory.trainable_variables

    def evaluate() -> Any:
        with tf.GradientTape() as tape:
            truth = theory.query(text).tensor
            total = tf.reduce_sum(truth)
        return [truth, *tape.gradient(total, [weight.value for weight in weights])]

    return [np.array(tensor) for tensor in run(evaluate)()]


@pytest.mark.parametrize(
    "text",
    [
        "F(x, y)",
        "F(x, y) -> F(y, x)",
        "F(x, x) & F(x, y) & F(a, x) & F(y, b) & F(a, b)",
        "forall x, y: F(x, y) | F(y, y)",
        "exists x where norm(x) > 1: F(x, y) & F(y, x)",
    ],
)
@pytest.mark.parametrize("name", ["mlp", "elu", "one layer", "without bias", "shared"])
def test_it_computes_what_the_network_computes(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theory = theory_of(TAKEN_APART[name]())
    apart = found(theory, text)
    compiled = found(theory, text, lambda function: tf.function(function, autograph=False))
    with monkeypatch.context() as patch:
        patch.setattr(FirstLayer, "of", lambda network: None)
        whole = found(theory, text)
    for values in (apart, compiled):
        for one, other in zip(values, whole, strict=True):
            # Sums of products in another order.
            assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_a_copy_of_a_network_is_taken_apart_and_leaves_the_network_as_it_was() -> None:
    theory = theory_of(TAKEN_APART["mlp"]())
    truths = theory.query("F(x, y)").tensor.numpy()
    copy = theory.copy()
    for each in (theory, copy):
        assert FirstLayer.of(each.symbols["F"].network) is not None
        np.testing.assert_array_equal(each.query("F(x, y)").tensor, truths)


def test_layers_know_whether_they_are_trained() -> None:
    theory = theory_of(TAKEN_APART["dropout"]())
    theory.axiom("forall x, y: F(x, y)")
    asked = [float(theory({}, training=False)["satisfaction"][0]) for _ in range(2)]
    trained = {float(theory({}, training=True)["satisfaction"][0]) for _ in range(4)}
    assert asked[0] == asked[1]
    assert len(trained) > 1


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_in_a_theory_of_mixed_precision_networks_keep_their_own() -> None:
    model = TAKEN_APART["mlp"]()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        theory = theory_of(model)
        theory.axiom("forall x, y: F(x, y) & norm(x - a) >= 0")
        found = float(theory({})["satisfaction"][0])
    finally:
        keras.config.set_dtype_policy("float32")
    assert_close(found, theory.report().satisfaction[0])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            Failing(),
            r"The model of Predicate\('F'\) failed on one list of tensors with feature shapes \(3,\)",
        ),
        (Failing(rows=1), r"The model of Predicate\('F'\) must return one row per individual; got 25, 1"),
    ],
)
def test_errors_of_layers_name_the_symbol(layer: keras.Layer, message: str) -> None:
    theory = ltn.Theory("product")
    things = theory.domain("things", shape=3)
    theory.variables("x, y", things, POINTS)
    inputs = [keras.Input((3,)), keras.Input((3,))]
    output = layer(keras.layers.Dense(1, "sigmoid")(keras.layers.Concatenate()(inputs)))
    predicate = ltn.Predicate(keras.Model(inputs, output), name="F")
    theory.signature.add_predicate("F", (things, things))
    theory.symbols["F"] = predicate
    with pytest.raises(ltn.LogicValueError, match=message):
        theory.query("F(x, y)")


def test_features_of_several_axes_are_flattened() -> None:
    theory = ltn.Theory("product")
    images, points = theory.domain("images", shape=(2, 2)), theory.domain("points", shape=3)
    theory.variable("i", images)
    theory.variable("q", points)
    model = network(dense(), last(), shapes=((2, 2), (3,)))
    theory.predicate("R", (images, points), model)
    truths = theory.query("R(i, q)", i=IMAGES, q=POINTS).tensor
    rows = [np.repeat(IMAGES, len(POINTS), axis=0), np.tile(POINTS, (len(IMAGES), 1))]
    assert_close(tf.reshape(truths, [-1, 1]), model(rows), rtol=1e-5, atol=1e-5)


def test_it_keeps_what_comes_before_the_sigmoid() -> None:
    theory = ltn.Theory("log_product")
    things = theory.domain("things", shape=3)
    theory.variables("x, y", things)
    model = network(keras.layers.Dense(1, "sigmoid", kernel_initializer="ones"))
    theory.predicate("F", (things, things), model)
    theory.axiom("forall x, y: F(x, y)")
    far = np.full((1, 3), -100.0, np.float32)
    # The sigmoid itself is 0 there, and its logarithm is not finite.
    assert_close(theory({"x": far, "y": far}, as_truths=False).total, -600.0)


def test_no_copies_of_individuals_are_made() -> None:
    theory = theory_of(network(dense(), last()))
    compiled = tf.function(lambda: theory.query("F(x, y)").tensor, autograph=False)
    shapes = [
        tensor.shape.as_list()
        for operation in compiled.get_concrete_function().graph.get_operations()
        for tensor in operation.outputs
        if tensor.shape.rank is not None
    ]
    pairs = len(POINTS) ** 2
    assert [pairs, 4] in shapes
    assert [pairs, 3] not in shapes
    assert [pairs, 6] not in shapes
