"""Constants of a theory: the rows of one weight, and the bounds that their domain sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from ltn.core import Term
from ltn.language import Domain


@keras.saving.register_keras_serializable(package="ltn", name="Box")
class Hypercube(keras.constraints.Constraint):
    """Keeps a weight in a hypercube: every feature in [low, high]."""

    def __init__(self, low: float, high: float):
        self.low, self.high = low, high

    def __call__(self, w: Any) -> tf.Tensor:
        return tf.clip_by_value(tf.convert_to_tensor(w), self.low, self.high)

    def get_config(self) -> dict[str, float]:
        return {"low": self.low, "high": self.high}


@keras.saving.register_keras_serializable(package="ltn")
class Simplex(keras.constraints.Constraint):
    """Keeps the rows of a weight in the standard simplex: features at least 0 that add up to 1."""

    def __call__(self, w: Any) -> tf.Tensor:
        positive = tf.nn.relu(tf.convert_to_tensor(w))
        total = tf.reduce_sum(positive, axis=-1, keepdims=True)
        size = tf.cast(tf.shape(positive)[-1], positive.dtype)
        # A row without a positive feature goes to the centre.
        return tf.where(total > 0.0, positive / tf.where(total > 0.0, total, 1.0), 1.0 / size)


@keras.saving.register_keras_serializable(package="ltn")
class Parts(keras.constraints.Constraint):
    """Keeps each part of the individuals of a product domain inside the bounds of its own domain."""

    def __init__(self, sizes: Sequence[int], constraints: Sequence[keras.constraints.Constraint | None]):
        self.sizes, self.constraints = list(sizes), list(constraints)

    def __call__(self, w: Any) -> tf.Tensor:
        parts = tf.split(tf.convert_to_tensor(w), self.sizes, axis=-1)
        pairs = zip(self.constraints, parts, strict=True)
        return tf.concat([part if keep is None else keep(part) for keep, part in pairs], axis=-1)


def constraint_of(domain: Domain) -> keras.constraints.Constraint | None:
    """The constraint that keeps weights inside the bounds of a domain."""
    if any(part.bounds is not None for part in domain.parts):
        sizes = [math.prod(size or 1 for size in part.shape) for part in domain.parts]
        return Parts(sizes, [constraint_of(part) for part in domain.parts])
    if domain.bounds is None:
        return None
    return Simplex() if domain.bounds == "simplex" else Hypercube(*domain.bounds)


class Individuals(keras.Layer):
    """The constants of one declaration, grounded on the rows of one weight, (k, *features).

    One weight for all of them keeps a training step as cheap for a thousand embeddings as for one.
    """

    def __init__(
        self,
        names: Sequence[str],
        domain: Domain,
        values: np.ndarray | None = None,
        trainable: bool = True,
        initializer: Any = None,
        regularizer: Any = None,
    ):
        super().__init__(trainable=trainable, dtype="float32")
        self.names = tuple(names)
        self.domain = domain
        self.regularizer = keras.regularizers.get(regularizer)
        constraint = constraint_of(domain)
        if isinstance(domain.bounds, tuple):
            low, high = domain.bounds
        else:
            low, high = (0.0, 1.0) if values is None else (float(np.min(values)), float(np.max(values)))
            if low == high:
                low, high = low - 0.5, high + 0.5
        default = keras.initializers.RandomUniform(low, high) if trainable else keras.initializers.Zeros()
        # A file keeps the given values among its weights, not in its configuration.
        self.initializer = keras.initializers.get(initializer) or default
        self.table = self.add_weight(
            shape=(len(self.names), *domain.shape),
            initializer=self.initializer,
            regularizer=self.regularizer,
            constraint=constraint if trainable else None,
            trainable=trainable,
            name="individuals",
        )
        if values is not None:
            self.table.assign(values)
        elif constraint is not None:
            self.table.assign(constraint(self.table.value))
        self.built = True

    def draw_again(self) -> np.ndarray:
        """New features for all individuals, drawn by the initializer, inside the bounds."""
        # A Keras initializer draws the same numbers each time; its clone draws others.
        clone = getattr(self.initializer, "clone", None)
        draw = self.initializer if clone is None else clone()
        constraint = self.table.constraint
        drawn = draw(self.table.shape, dtype=self.table.dtype)
        return np.array(drawn if constraint is None else constraint(drawn))

    @property
    def tensor(self) -> tf.Tensor:
        """The features of all individuals, (k, *features), read now: gradients reach the weight."""
        return tf.convert_to_tensor(self.table.value)

    def get_config(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "domain": self.domain.name,
            "trainable": self.trainable,
        }


class Individual(Term):
    """A constant of a theory: one row of its `Individuals`, read whenever it is used."""

    def __init__(self, individuals: Individuals, name: str):
        self.name = name
        self.free_vars = []
        self._individuals = individuals
        self._row = individuals.names.index(name)

    if not TYPE_CHECKING:  # an attribute for readers, but never stale

        @property
        def tensor(self) -> tf.Tensor:
            return self._individuals.tensor[self._row]
