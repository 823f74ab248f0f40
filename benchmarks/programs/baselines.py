"""The workloads without logic: what a Keras user would train on the same data."""

import keras
import tensorflow as tf

from benchmarks import inputs
from benchmarks.programs import own_steps
from benchmarks.programs.keras_steps import BATCHES, fed, step_of
from benchmarks.worker import Step
from examples.addition import BASELINES, convolutions, dense

# Units of the hidden layer and of the output.
SIZES = BASELINES | {"three": (256, 1999)}


def weights(phase: str) -> Step:
    """Adam on as many weights as the smokers have, of the same shapes, without logic and without networks.

    The phases are those of `own_steps`.
    """
    networks = [
        keras.Sequential([keras.Input((count * inputs.FEATURES,)), *map(keras.layers.Dense, (8, 8, 1))])
        for count in (1, 1, 2)
    ]
    people = [keras.Variable(row) for row in inputs.embeddings(len(inputs.PEOPLE))]
    learned = [*people, *(weight for network in networks for weight in network.trainable_variables)]

    def loss() -> tf.Tensor:
        return tf.add_n([tf.reduce_sum(tf.square(weight)) for weight in learned])

    return own_steps.step_of(loss, learned, phase=phase)


def addition(task: str, phase: str) -> Step:
    """The siamese network of examples/addition.py, which classifies the sum."""
    pixels, sums = inputs.additions(task, BATCHES)
    model = siamese(task)
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")
    return step_of(model, fed((tuple(pixels), sums), inputs.BATCH), phase)


def addition_by_hand(task: str, phase: str) -> Step:
    """The same network, trained without `fit`; the phases are those of `own_steps`."""
    pixels, sums = inputs.additions(task)
    model, loss = siamese(task), keras.losses.SparseCategoricalCrossentropy()
    batch = [tf.constant(image) for image in pixels], tf.constant(sums)
    return own_steps.step_of(
        lambda images, results: loss(results, model(images, training=True)),
        model.trainable_variables,
        batch,
        phase,
    )


def siamese(task: str) -> keras.Model:
    """One set of convolutions for all images, then dense layers that classify the sum."""
    hidden, results = SIZES[task]
    images = [keras.Input((28, 28, 1)) for _ in inputs.PLACES[task]]
    embed = keras.Sequential(convolutions())
    together = keras.layers.Concatenate()([embed(image) for image in images])
    return keras.Model(images, dense(results, "softmax")(dense(hidden)(together)))
