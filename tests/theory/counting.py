"""Networks that count the rows they are called on, and theories over them."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn

Array = np.ndarray[Any, Any]


class Counter(keras.Layer):
    """A dense layer on its concatenated inputs that keeps the number of rows of each eager call."""

    def __init__(self, units: int = 1, activation: str | None = "sigmoid", normalised: bool = False):
        super().__init__()
        layers: list[keras.Layer] = [keras.layers.BatchNormalization()] if normalised else []
        # Nested, as in most networks.
        self.network = keras.Sequential([*layers, keras.layers.Dense(units, activation)])
        self.rows: list[Any] = []

    def call(self, inputs: Any) -> tf.Tensor:
        tensors = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        self.rows.append(tensors[0].shape[0])
        return self.network(tf.concat(tensors, axis=1))

    def counted(self) -> list[Any]:
        """The rows of each call since the last time."""
        rows = list(self.rows)
        self.rows.clear()
        return rows


class People:
    """A theory over some named people with a number each: S of one, F of two, R of two, f of one."""

    numbers = np.array([0.0, 1.0, 1.0, 2.0, 3.0])

    def __init__(self, axioms: Sequence[str] = (), normalised: bool = False):
        self.theory = ltn.Theory("product")
        people = self.theory.domain("people", shape=2)
        features = np.stack([self.numbers, np.linspace(-1.0, 1.0, self.size)], axis=1)
        self.theory.constants("a b c d e", people, values=features, trainable=True)
        self.theory.variables("x, y, z", people)
        self.S, self.F, self.R = (Counter(normalised=normalised) for _ in range(3))
        self.f = Counter(units=2, activation="tanh", normalised=normalised)
        self.theory.predicate("S", people, self.S)
        self.theory.predicate("F", (people, people), self.F)
        self.theory.predicate("R", (people, people), self.R)
        self.theory.function("f", people, people, self.f)
        self.theory.function("number", people, self.theory.domain("numbers"), lambda person: person[:, :1])
        self.theory.predicate("lower", (people, people), lambda args: args[0][:, 0] < args[1][:, 0])
        for text in axioms:
            self.theory.axiom(text)
        self.forget()

    @property
    def size(self) -> int:
        return len(self.numbers)

    def forget(self) -> None:
        """Start to count from here."""
        for counter in (self.S, self.F, self.R, self.f):
            counter.counted()


class Digits:
    """A theory over images with a label and a digit each, and a classifier of digits."""

    def __init__(self, axioms: Sequence[str] = (), normalised: bool = False, semantics: str = "product"):
        self.theory = ltn.Theory(semantics)
        images = self.theory.domain("images", shape=4)
        digits = self.theory.domain("digits", values=range(10))
        self.theory.variables("x, y", images)
        self.theory.variables("d1, d2", digits)
        self.theory.variables("l, n", self.theory.domain("numbers"))
        self.network = Counter(units=10, activation=None, normalised=normalised)
        self.theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(self.network, "softmax"))
        for text in axioms:
            self.theory.axiom(text)
        self.network.counted()


def images(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(count, 4)).astype(np.float32)
