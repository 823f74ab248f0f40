"""Predicates and functions as layers of Keras models."""

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

POINTS = np.linspace(-2.0, 2.0, 12, dtype="float32").reshape(6, 2)
CLASSES = np.array([0, 1, 2, 0, 1, 2])


def network(units: int, activation: str | None = None) -> keras.Model:
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(units, activation=activation)])


@keras.saving.register_keras_serializable(package="tests")
def first(points: tf.Tensor) -> tf.Tensor:
    return tf.sigmoid(points[:, 0])


UNARY: dict[str, Callable[[], Any]] = {
    "MLP": lambda: ltn.Predicate.MLP([2], (4,)),
    "a model": lambda: ltn.Predicate(network(1, "sigmoid")),
    "Lambda": lambda: ltn.Predicate.Lambda(first),
    "FromLogits": lambda: ltn.Predicate.FromLogits(network(1), "sigmoid", with_class_indexing=False),
    "FromProbabilities": lambda: ltn.Predicate.FromProbabilities(network(1, "sigmoid"), False),
    "heads": lambda: ltn.Predicate.heads(network(2), ["even", "odd"])["odd"],
    "a function": lambda: ltn.Function.MLP([2], output_shape=(3, 2)),
}


@pytest.mark.parametrize("kind", UNARY)
def test_it_stands_in_a_sequential_model(kind: str, tmp_path: Path) -> None:
    symbol = UNARY[kind]()
    model = keras.Sequential([keras.Input((2,)), keras.layers.Rescaling(0.5), symbol])
    assert model.layers[-1] is symbol
    value = symbol(ltn.Variable("x", 0.5 * POINTS)).tensor
    expected = value if isinstance(symbol, ltn.Function) else value[:, tf.newaxis]
    assert model.output_shape == (None, *expected.shape[1:])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for each in (model, loaded):
        assert_close(each(POINTS), expected)
        assert_close(each.predict(POINTS, verbose=0), expected)
    assert type(loaded.layers[-1]) is type(symbol)
    assert loaded.layers[-1].name == symbol.name


@pytest.mark.parametrize("ends_in", ["logits", "probabilities"])
def test_several_inputs_come_as_a_list(ends_in: str, tmp_path: Path) -> None:
    if ends_in == "logits":
        kind = ltn.Predicate.FromLogits(network(3), "softmax")
    else:
        kind = ltn.Predicate.FromProbabilities(network(3, "softmax"))
    near = ltn.Predicate.MLP([2, 2], (4,))
    x, y, c = keras.Input((2,)), keras.Input((2,)), keras.Input((), dtype="int32")
    model = keras.Model([x, y, c], keras.layers.Concatenate()([near([x, y]), kind([x, c])]))
    model.save(tmp_path / "model.keras")
    u, v, d = ltn.diag(ltn.Variable("u", POINTS), ltn.Variable("v", POINTS[::-1]), ltn.Variable("d", CLASSES))
    expected = tf.stack([near([u, v]).tensor, kind([u, d]).tensor], axis=1)
    for each in (model, keras.models.load_model(tmp_path / "model.keras")):
        assert_close(each([POINTS, POINTS[::-1], CLASSES]), expected)


def test_it_learns_as_a_layer_does() -> None:
    keras.utils.set_random_seed(0)
    symbol = ltn.Predicate.MLP([2], (4,))
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dropout(0.1), symbol])
    assert len(model.trainable_variables) == len(symbol.trainable_variables) == 4
    model.compile(keras.optimizers.Adam(0.1), "binary_crossentropy", metrics=["accuracy"])
    labels = (POINTS.sum(axis=1) > 0).astype("float32")
    history = model.fit(POINTS, labels, epochs=20, verbose=0).history
    assert history["accuracy"][-1] == 1.0
    # What it has learned as a layer, it knows as a predicate.
    assert_close(symbol(ltn.Variable("x", POINTS)).tensor, model(POINTS)[:, 0])


def test_it_stands_in_a_model_of_the_user() -> None:
    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.near = ltn.Predicate.MLP([2, 2], (4,))

        def call(self, inputs: Any) -> Any:
            """The truth for each row."""
            return self.near([inputs, -inputs])

    model = Own()
    assert model(POINTS).shape == (6, 1)
    assert model.predict(POINTS, verbose=0).shape == (6, 1)


def test_heads_of_one_network_stay_heads_of_one_network(tmp_path: Path) -> None:
    x = keras.Input((2,))
    heads = ltn.Predicate.heads(network(2), ["even", "odd"])
    model = keras.Model(x, keras.layers.Concatenate()([head(x) for head in heads.values()]))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert_close(loaded(POINTS), model(POINTS))
    assert len(loaded.trainable_variables) == 2


def test_training_reaches_the_layers_within() -> None:
    inner = keras.Sequential([keras.Input((2,)), keras.layers.Dropout(0.999), keras.layers.Dense(1)])
    model = keras.Sequential([keras.Input((2,)), ltn.Function(inner)])
    assert not np.allclose(model(POINTS, training=True), model(POINTS, training=False))


def test_elsewhere_tensors_are_no_terms() -> None:
    with pytest.raises(ltn.LogicTypeError, match="takes terms; argument 1 is a EagerTensor"):
        ltn.Predicate.MLP([2])(tf.constant(POINTS))
