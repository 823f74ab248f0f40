"""Collapse: a network that predicts the same for every row, though the targets differ."""

from __future__ import annotations

import warnings
from typing import Any

import keras
import numpy as np
import tensorflow as tf


class Spread(keras.metrics.Metric):
    """Whether predictions and targets differ from row to row, over an epoch; nothing is logged.

    One number stands for the labels of a row. It keeps the number of rows, and the sums of these numbers
    and of their squares, for predictions and for targets: what a variance needs, in one vector, which
    replicas add up.
    """

    def __init__(self) -> None:
        super().__init__(name="spread")
        self._sums = self.add_variable((5,), "zeros", name="sums")

    def update_state(self, y: Any, y_pred: Any, threshold: float | None) -> None:
        """Add the rows of a batch.

        Args:
            y: the targets: of the shape of `y_pred`, or the number of the class of each row.
            y_pred: the predictions, (N, classes).
            threshold: above which a class is predicted, where a row may have several; None where it has one.
        """
        classes = y_pred.shape[-1]
        y = tf.cast(tf.convert_to_tensor(y), tf.float32)
        if y.shape.rank == 2 and y.shape[-1] == classes:
            target = _number(y, 0.5 if threshold is not None else None)
        else:
            target = tf.reshape(y, [-1])
        found = _number(tf.cast(y_pred, tf.float32), threshold)
        moments = [tf.reduce_sum(power) for each in (found, target) for power in (each, tf.square(each))]
        self._sums.assign_add(tf.stack([tf.cast(tf.size(found), tf.float32), *moments]))

    def result(self) -> dict[str, tf.Tensor]:
        """Nothing: `is_collapsed` tells."""
        return {}

    @property
    def is_collapsed(self) -> bool:
        """Whether all rows have the same prediction, and not the same target."""
        rows, *moments = np.asarray(self._sums, np.float64)
        if rows < 2.0:
            return False
        found, target = (square / rows - (total / rows) ** 2 for total, square in (moments[:2], moments[2:]))
        # Sums of 32 bits have this error; it is far below what one other row in a thousand makes.
        return bool(found <= 1e-5 * (1.0 + moments[1] / rows) and target > 1e-3)


def can_watch(y: Any, y_pred: Any) -> bool:
    """Whether these are classes of rows, as far as shapes tell."""
    if (
        not (tf.is_tensor(y_pred) and tf.is_tensor(y))
        or y_pred.shape.rank != 2
        or (y_pred.shape[-1] or 1) < 2
    ):
        return False
    return bool(y.shape.rank in (1, 2) and (y.shape.rank == 1 or y.shape[-1] in (1, y_pred.shape[-1])))


def threshold_of(loss: Any) -> float | None:
    """Above which output a class is predicted, for losses of rows with several classes; None for others."""
    loss = keras.losses.get(loss) if isinstance(loss, str) else loss
    if isinstance(loss, keras.losses.BinaryCrossentropy | keras.losses.BinaryFocalCrossentropy):
        return 0.0 if loss.from_logits else 0.5
    is_binary = getattr(loss, "__name__", "").startswith("binary_")
    return 0.5 if is_binary else None


def warn(epoch: int) -> None:
    """Tell that predictions have collapsed, and what to do."""
    warnings.warn(
        f"In epoch {epoch + 1} the model predicted the same for every row, though the targets differ: axioms "
        "that are true when all individuals are alike can outweigh the labels. Give the axioms a smaller "
        '`weight`, let the labels be learned first with `warmup=`, or use `weight="balanced"`.',
        stacklevel=2,
    )


def _number(rows: tf.Tensor, threshold: float | None) -> tf.Tensor:
    """A number that stands for the labels of each row."""
    if threshold is None:
        return tf.cast(tf.argmax(rows, axis=-1), tf.float32)
    places = tf.range(1, rows.shape[-1] + 1, dtype=tf.float32)
    # Irrational multiples, so that different sets of labels have different sums.
    return tf.linalg.matvec(tf.cast(rows > threshold, tf.float32), tf.sqrt(places))
