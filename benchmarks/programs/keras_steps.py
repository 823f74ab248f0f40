"""Steps of Keras models, as `fit` and `evaluate` run them."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from benchmarks.worker import Step

try:
    from ltn.knowledge.data import NOTHING
except ImportError:  # an older `ltn`, which is measured beside this one
    from ltn.theory.data import NOTHING  # type: ignore

# Different ones, so that nothing about a batch can be known from the one before.
BATCHES = 8


def fed(examples: Any, batch_size: int) -> tf.data.Dataset:
    """Endless batches, cut and in memory: what data cost is not measured."""
    batches = tf.nest.map_structure(lambda a: np.reshape(a, (-1, batch_size, *a.shape[1:])), examples)
    # A smaller one that never comes: as in `fit`, a step does not know the size of its batches.
    smaller = tf.nest.map_structure(lambda a: a[:1], examples)
    full = tf.data.Dataset.from_tensor_slices(batches)
    return full.concatenate(tf.data.Dataset.from_tensors(smaller)).take(len(full)).repeat()


def no_data() -> tf.data.Dataset:
    """Endless batches for axioms that need no data, as `fit` gives them to a theory."""
    return tf.data.Dataset.from_tensors({NOTHING: tf.zeros(1)}).repeat()


def step_of(model: keras.Model, data: tf.data.Dataset, phase: str) -> Step:
    """A step of training, phase "train", or of evaluation, phase "query"."""
    if phase == "train":
        model.make_train_function()
    else:
        model.make_test_function()
    function = model.train_function if phase == "train" else model.test_function
    batches = iter(data)
    return lambda: function(batches)["loss"]
