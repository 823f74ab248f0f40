"""The bounds of domains: learned constants are kept inside, and values of functions are checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from ltn.checks import check
from ltn.language import Domain
from ltn.language.domains import ROUNDING


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
    if domain.parts and domain.is_bounded:
        sizes = [math.prod(size or 1 for size in part.shape) for part in domain.parts]
        return Parts(sizes, [constraint_of(part) for part in domain.parts])
    if domain.bounds is None:
        return None
    return Simplex() if domain.bounds == "simplex" else Hypercube(*domain.bounds)


def are_inside(domain: Domain, features: tf.Tensor) -> tf.Tensor:
    """Which features of individuals, on any axes, lie within the bounds of their domain, up to rounding."""
    if domain.parts:
        sizes = [math.prod(size or 1 for size in part.shape) for part in domain.parts]
        pieces = zip(domain.parts, tf.split(features, sizes, axis=-1), strict=True)
        return tf.concat([are_inside(part, piece) for part, piece in pieces], axis=-1)
    if domain.bounds is None:
        return tf.ones_like(features, tf.bool)
    if isinstance(domain.bounds, str):
        total = tf.reduce_sum(features, axis=-1, keepdims=True)
        return (features >= -ROUNDING) & (tf.abs(total - 1.0) <= ROUNDING)
    low, high = domain.bounds
    return (features >= low - ROUNDING) & (features <= high + ROUNDING)


def check_inside(function: str, domain: Domain, features: tf.Tensor) -> None:
    """Raise unless the values of a function lie within the bounds of its domain, where values are checked."""
    if domain.is_bounded:
        bounds = " and ".join(str(part.bounds) for part in domain.flat if part.bounds is not None)
        check(
            features,
            partial(are_inside, domain),
            f"The values of the function '{function}' must lie within the bounds {bounds} of its domain "
            f"'{domain.name}'",
            f"{_advice(domain)}; or declare the domain without bounds.",
        )


def _advice(domain: Domain) -> str:
    if domain.bounds == "simplex":
        return "End its network with a softmax"
    if not isinstance(domain.bounds, tuple) or not all(map(math.isfinite, domain.bounds)):
        return "End its network with activations that stay inside"
    low, high = domain.bounds
    return f"End its network with a sigmoid and keras.layers.Rescaling({high - low:g}, {low:g})"
