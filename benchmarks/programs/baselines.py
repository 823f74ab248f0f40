"""The workloads without logic: what a Keras user would train on the same data."""

import keras

from benchmarks import inputs
from benchmarks.programs.keras_steps import BATCHES, fed, step_of
from benchmarks.worker import Step
from examples.addition import BASELINES, convolutions, dense

# Units of the hidden layer and of the output.
SIZES = BASELINES | {"three": (256, 1999)}


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
