"""Steps of training as programs write them themselves, with an optimizer of Keras and a tf.function."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from benchmarks.worker import Step


def step_of(
    loss: Callable[..., tf.Tensor], weights: list[Any], batch: tuple[Any, ...] = (), phase: str = "train"
) -> Step:
    """A step of Adam.

    Args:
        loss: what falls, from the batch.
        weights: what learns.
        batch: the arguments of the loss.
        phase: what is compiled. "train": all, in one tf.function. "outside": the loss alone. "gradients":
            the loss and its gradients. "apart": these in one function, the optimizer in another.
    """
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(weights)
    value = tf.function(loss) if phase == "outside" else loss

    def gradients(*data: Any) -> tuple[tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            found = value(*data)
        return found, tape.gradient(found, weights)

    def apply(found: list[tf.Tensor]) -> None:
        optimizer.apply_gradients(zip(found, weights, strict=True))

    differentiate = tf.function(gradients) if phase in ("gradients", "apart") else gradients
    update = tf.function(apply) if phase == "apart" else apply

    def train(*data: Any) -> tf.Tensor:
        found, slopes = differentiate(*data)
        update(slopes)
        return found

    step = tf.function(train) if phase == "train" else train
    return lambda: step(*batch)
