"""The workloads without logic: what a Keras user would train on the same data."""

import keras
import tensorflow as tf

from benchmarks import inputs
from benchmarks.programs.keras_steps import BATCHES, fed, step_of
from benchmarks.worker import Step
from examples.addition import BASELINES, convolutions, dense

# Units of the hidden layer and of the output.
SIZES = BASELINES | {"three": (256, 1999)}


def weights(phase: str) -> Step:
    """Adam on as many weights as the smokers have, of the same shapes, without logic and without networks.

    In phase "outside" it works outside the tf.function of the loss; else in it.
    """
    networks = [
        keras.Sequential([keras.Input((count * inputs.FEATURES,)), *map(keras.layers.Dense, (8, 8, 1))])
        for count in (1, 1, 2)
    ]
    people = [keras.Variable(row) for row in inputs.embeddings(len(inputs.PEOPLE))]
    learned = [*people, *(weight for network in networks for weight in network.trainable_variables)]
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(learned)

    def loss() -> tf.Tensor:
        return tf.add_n([tf.reduce_sum(tf.square(weight)) for weight in learned])

    value = tf.function(loss) if phase == "outside" else loss

    def train() -> tf.Tensor:
        with tf.GradientTape() as tape:
            found = value()
        gradients = tape.gradient(found, [weight.value for weight in learned])
        optimizer.apply_gradients(zip(gradients, learned, strict=True))
        return found

    return train if phase == "outside" else tf.function(train)


def addition(task: str, phase: str) -> Step:
    """The siamese network of examples/addition.py, which classifies the sum."""
    hidden, results = SIZES[task]
    pixels, sums = inputs.additions(task, BATCHES)
    images = [keras.Input((28, 28, 1)) for _ in pixels]
    embed = keras.Sequential(convolutions())
    together = keras.layers.Concatenate()([embed(image) for image in images])
    model = keras.Model(images, dense(results, "softmax")(dense(hidden)(together)))
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")
    return step_of(model, fed((tuple(pixels), sums), inputs.BATCH), phase)
