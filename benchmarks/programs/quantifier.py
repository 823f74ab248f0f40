"""The cost of logic on one axiom: training `Forall(x, P(x))` beside the same network under a plain loss."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

import ltn
from benchmarks.worker import Step

POINTS = 10_000
FEATURES = 2
UNITS = 16

Loss = Callable[[keras.Model, tf.Tensor], tf.Tensor]


def plain() -> Step:
    """The loss that a Keras user would write for "all points are positive"."""
    return training_step(lambda network, points: tf.reduce_mean(tf.square(1.0 - network(points))))


def logic() -> Step:
    """The same, in logic."""
    forall = ltn.semantics.stable_product.wrap().Forall

    def dissatisfaction(network: keras.Model, points: tf.Tensor) -> tf.Tensor:
        x = ltn.Variable("x", points)
        return 1.0 - forall(x, ltn.Predicate(network)(x)).tensor

    return training_step(dissatisfaction)


def training_step(loss: Loss) -> Step:
    """A compiled step of Adam on a fresh two-layer network."""
    keras.utils.set_random_seed(0)
    points = tf.constant(np.random.default_rng(0).uniform(size=(POINTS, FEATURES)), tf.float32)
    network = keras.Sequential(
        [
            keras.Input((FEATURES,)),
            keras.layers.Dense(UNITS, activation="elu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(network.trainable_variables)

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = loss(network, points)
        gradients = tape.gradient(value, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return value

    return step
