"""Steps of Keras models, as `fit` and `evaluate` run them."""

from typing import Any

import keras
import tensorflow as tf

from benchmarks.worker import Step

# Different ones, so that nothing about a batch can be known from the one before.
BATCHES = 8


def fed(examples: Any, batch_size: int | None) -> tf.data.Dataset:
    """Endless batches, whose size is not known before they come, as in `fit`."""
    batches = tf.data.Dataset.from_tensor_slices(examples).batch(batch_size)
    # In memory: what data cost is not measured.
    return batches.cache().repeat().prefetch(tf.data.AUTOTUNE)


def step_of(model: keras.Model, data: tf.data.Dataset, phase: str) -> Step:
    """A step of training, phase "train", or of evaluation, phase "query"."""
    if phase == "train":
        model.make_train_function()
    else:
        model.make_test_function()
    function = model.train_function if phase == "train" else model.test_function
    batches = iter(data)
    return lambda: function(batches)["loss"]
