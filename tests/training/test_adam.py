"""Adam by one operation for each weight computes what Keras computes."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ltn.training import adam
from tests.tolerance import assert_close

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "other betas": {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3},
    "a schedule": {"learning_rate": keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)},
    "clipped": {"clipnorm": 0.1},
    "with decay": {"weight_decay": 0.1},
    "averaged": {"use_ema": True, "ema_overwrite_frequency": 2},
    "accumulated": {"gradient_accumulation_steps": 2},
}
STEPS = 4
# TensorFlow takes 1 - beta_2 in float32: for 0.999 it differs from 0.001 by one in 77 000.
OF_BETA = 2e-5
MODES = {
    "eager": lambda step: step,
    "compiled": tf.function,
    "by XLA": lambda step: tf.function(step, jit_compile=True),
}


def small(optimizer: keras.optimizers.Optimizer) -> keras.Model:
    """A model with two weights, one of which is kept in bounds."""
    keras.utils.set_random_seed(0)
    layer = keras.layers.Dense(3, kernel_constraint=keras.constraints.NonNeg())
    model = keras.Sequential([keras.Input((2,)), layer])
    model.compile(optimizer, loss="mse")
    optimizer.build(model.trainable_variables)
    return model


def gradients(model: keras.Model) -> list[list[tf.Tensor]]:
    """Gradients for some steps: also such that are zero, and ones that vary by many orders."""
    rng = np.random.default_rng(0)
    found = [
        [
            tf.constant(rng.normal(size=w.shape) * 10.0 ** rng.integers(-6, 3), tf.float32)
            for w in model.weights
        ]
        for _ in range(STEPS - 1)
    ]
    return [*found, [tf.zeros(w.shape) for w in model.weights]]


def learn(model: keras.Model, apply: Callable[[list[tf.Tensor]], None]) -> list[np.ndarray]:
    """All weights, and all variables of the optimizer, after some steps."""
    for each in gradients(model):
        apply(each)
    return [variable.numpy() for variable in (*model.weights, *model.optimizer.variables)]


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
def test_it_computes_what_keras_computes(settings: dict[str, Any], mode: Callable[..., Any]) -> None:
    ours, theirs = (small(keras.optimizers.Adam(**settings)) for _ in range(2))

    def fused(each: list[tf.Tensor]) -> None:
        with adam.fuse(ours):
            ours.optimizer.apply_gradients(zip(each, ours.trainable_variables, strict=True))

    def plain(each: list[tf.Tensor]) -> None:
        theirs.optimizer.apply_gradients(zip(each, theirs.trainable_variables, strict=True))

    for one, two in zip(learn(ours, mode(fused)), learn(theirs, plain), strict=True):
        assert_close(one, two, rtol=OF_BETA)
    for one, two in zip(ours.weights, theirs.weights, strict=True):
        assert_close(one.numpy(), two.numpy())


def test_rows_of_a_gradient_are_added_up() -> None:
    ours, theirs = (small(keras.optimizers.Adam()) for _ in range(2))
    rows = tf.IndexedSlices(tf.ones((3, 3)), tf.constant([0, 1, 1]), tf.constant([2, 3]))
    with adam.fuse(ours):
        ours.optimizer.apply_gradients([(rows, ours.weights[0])])
    theirs.optimizer.apply_gradients([(tf.convert_to_tensor(rows), theirs.weights[0])])
    assert_close(ours.weights[0].numpy(), theirs.weights[0].numpy())


def test_each_weight_is_updated_by_one_operation() -> None:
    model = small(keras.optimizers.Adam())

    @tf.function
    def step(each: list[tf.Tensor]) -> None:
        with adam.fuse(model):
            model.optimizer.apply_gradients(zip(each, model.trainable_variables, strict=True))

    graph = step.get_concrete_function(gradients(model)[0]).graph
    kinds = [operation.type for operation in graph.get_operations()]
    assert kinds.count("ResourceApplyAdam") == len(model.trainable_variables)
    assert "Sqrt" not in kinds


def test_the_optimizer_is_itself_again() -> None:
    model = small(keras.optimizers.Adam())
    with pytest.raises(KeyError), adam.fuse(model):
        raise KeyError
    assert model.optimizer.update_step.__func__ is keras.optimizers.Adam.update_step


class Halved(keras.optimizers.Adam):
    """Adam with a rule of its own."""

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Takes half of the gradient, whatever its scale."""
        self.assign_sub(variable, 0.5 * gradient)


@pytest.mark.parametrize(
    "optimizer",
    [Halved(), keras.optimizers.SGD(), keras.optimizers.Adam(amsgrad=True)],
    ids=lambda optimizer: type(optimizer).__name__,
)
def test_other_optimizers_do_what_they_do(optimizer: keras.optimizers.Optimizer) -> None:
    ours, theirs = small(optimizer), small(type(optimizer).from_config(optimizer.get_config()))
    each = gradients(ours)[0]
    with adam.fuse(ours):
        ours.optimizer.apply_gradients(zip(each, ours.trainable_variables, strict=True))
    theirs.optimizer.apply_gradients(zip(each, theirs.trainable_variables, strict=True))
    for one, two in zip(ours.optimizer.variables, theirs.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
    for one, two in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
