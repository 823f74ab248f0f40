"""Constants and propositions, alone and tracked by Keras."""

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn


def test_constants() -> None:
    fixed, learned = ltn.Constant(3.0, trainable=False), ltn.Constant([1.0, 2.0], trainable=True)
    assert isinstance(fixed.tensor, tf.Tensor)
    assert not isinstance(fixed.tensor, tf.Variable)
    assert isinstance(learned.tensor, tf.Variable)
    assert (fixed.tensor.shape, learned.tensor.shape) == ((1,), (2,))
    assert fixed.free_vars == learned.free_vars == []
    assert isinstance(learned, ltn.Term)
    assert repr(learned) == "Constant(tensor=[1. 2.], free_vars=[])"


@pytest.mark.parametrize("trainable", [True, False])
def test_propositions_are_formulas(trainable: bool) -> None:
    a, b = ltn.Proposition(0.25, trainable), ltn.Proposition(0.5, trainable)
    assert isinstance(a.tensor, tf.Variable) is trainable
    with ltn.using("product"):
        assert float((a & b).tensor) == 0.125
    assert ltn.Wrapper_Formula_Aggregator(ltn.fuzzy_ops.Aggreg_Mean())([a, b]).tensor == 0.375


@pytest.mark.parametrize("trainable", [True, False])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_proposition_may_be_true_or_false(value: float, trainable: bool) -> None:
    assert float(ltn.Proposition(value, trainable).tensor) == value


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_proposition_outside_the_unit_interval(value: float) -> None:
    with pytest.raises(ValueError, match=rf"must lie in \[0, 1\]; got {value}"):
        ltn.Proposition(value, trainable=True)
    with pytest.raises(ValueError, match=r"one number; got the shape \(2,\)"):
        ltn.Proposition([0.1, 0.2], trainable=True)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop", "adagrad", "nadam", "adafactor", "lion"])
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_proposition_stays_in_the_unit_interval(optimizer: str, direction: float) -> None:
    """Under any Keras optimizer, given the tf.Variable or the weight that Keras tracks."""
    for weights in ("tensor", "trainable_variables"):
        proposition = ltn.Proposition(0.5, trainable=True)
        variable = proposition.tensor if weights == "tensor" else proposition.trainable_variables[0]
        step = keras.optimizers.get(optimizer)
        step.learning_rate = 5.0
        step.apply_gradients([(tf.constant(direction), variable)])
        assert float(proposition.tensor) == (0.0 if direction > 0 else 1.0)


def test_mixed_precision_leaves_the_weight_alone() -> None:
    class Holder(keras.Model):
        def __init__(self) -> None:
            super().__init__(dtype="mixed_float16")
            self.c = ltn.Constant([1.0, 2.0], trainable=True)

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            assert isinstance(self.c.tensor, tf.Variable)
            return tf.reduce_sum(self.c.tensor * tf.cast(inputs, tf.float32))

    holder = Holder()
    with tf.GradientTape() as tape:
        value = holder(tf.ones((2,)))
    np.testing.assert_array_equal(tape.gradient(value, holder.c.tensor), [1.0, 1.0])


class People(keras.Model):
    """What a user writes: symbols, embeddings and propositions as attributes of a Keras model."""

    def __init__(self) -> None:
        super().__init__()
        self.friends = ltn.Predicate.MLP([2, 2])
        self.mother = ltn.Function.MLP([2], output_shape=2)
        self.people = {name: ltn.Constant(np.random.rand(2), trainable=True) for name in "ab"}
        self.town = ltn.Constant([0.0, 1.0], trainable=False)
        self.sunny = ltn.Proposition(0.5, trainable=True)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        Forall = ltn.semantics.stable_product.wrap().Forall
        x = ltn.Variable("x", inputs)
        truths = [Forall(x, self.friends([self.mother(x), c])) for c in self.people.values()]
        return tf.stack(ltn.as_tensors([*truths, self.sunny & truths[0]]))


def test_keras_finds_the_weights() -> None:
    model = People()
    networks = len(model.friends.trainable_variables) + len(model.mother.trainable_variables)
    assert networks == 12
    assert len(model.trainable_variables) == networks + 3
    tracked = [variable.value is model.sunny.tensor for variable in model.trainable_variables]
    assert sum(tracked) == 1


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_keras_saves_and_restores_them(tmp_path: Path) -> None:
    points = tf.random.uniform((5, 2))
    saved, restored = People(), People()
    expected = saved(points)
    assert not np.allclose(restored(points), expected)
    saved.save_weights(tmp_path / "people.weights.h5")
    restored.load_weights(tmp_path / "people.weights.h5")
    np.testing.assert_array_equal(restored(points), expected)


def test_keras_trains_them_with_fit() -> None:
    class Trained(People):
        def compute_loss(
            self,
            x: tf.Tensor = None,
            y: tf.Tensor = None,
            y_pred: tf.Tensor = None,
            sample_weight: tf.Tensor = None,
            training: bool = True,
        ) -> tf.Tensor:
            return 1.0 - tf.reduce_mean(y_pred)

    model = Trained()
    points = np.random.rand(8, 2).astype(np.float32)
    before = [variable.numpy() for variable in model.trainable_variables]
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss=None)
    history = model.fit(points, epochs=30, verbose=0).history["loss"]
    assert history[-1] < 0.5 * history[0]
    for old, new in zip(before, model.trainable_variables, strict=True):
        assert not np.array_equal(old, new.numpy())
    assert 0.5 < float(model.sunny.tensor) <= 1.0
