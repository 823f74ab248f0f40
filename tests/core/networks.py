"""Networks and individuals that the tests of symbols share."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn


class Recorder(keras.Model):
    """A subclassed classifier that keeps the shapes and keyword arguments of its calls."""

    def __init__(self, classes: int):
        super().__init__()
        self.dense = keras.layers.Dense(classes)
        self.seen: list[Any] = []

    def call(self, inputs: Any, training: bool = False) -> tf.Tensor:
        self.seen.append(([tuple(x.shape) for x in inputs], training))
        return self.dense(tf.concat(list(inputs), axis=1))


def built_recorder(classes: int, *features: int) -> Recorder:
    recorder = Recorder(classes)
    recorder([tf.zeros((1, size)) for size in features])
    recorder.seen.clear()
    return recorder


def points(label: str, count: int, features: int) -> ltn.Variable:
    return ltn.Variable(label, np.random.default_rng(0).uniform(size=(count, features)))
