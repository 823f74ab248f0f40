"""The satisfaction of each axiom, averaged over the batches of an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf


class AxiomMeans(keras.metrics.Metric):
    """The mean satisfaction of the theory and of each axiom, weighted by the sizes of the batches.

    One vector holds all of them, so that another axiom adds nothing to the cost of a step.
    """

    def __init__(self, names: Sequence[str]):
        super().__init__(name="axioms")
        self.names = ["satisfaction", *names]
        self._total = self.add_variable((len(self.names),), "zeros", name="total")
        self._weight = self.add_variable((), "zeros", name="weight")

    def update_state(self, truths: Any, sample_weight: Any = 1.0) -> None:
        """Add the truths of one batch, shape (1 + number of axioms,), and its size."""
        weight = tf.cast(sample_weight, tf.float32)
        self._total.assign_add(weight * truths)
        self._weight.assign_add(weight)

    def result(self) -> dict[str, tf.Tensor]:
        """The means by name."""
        means = tf.unstack(tf.math.divide_no_nan(self._total.value, self._weight.value))
        return dict(zip(self.names, means, strict=True))
