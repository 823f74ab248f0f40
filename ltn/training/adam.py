"""Adam with one operation for each weight.

Keras writes the update of a weight as 27 operations, and reads the number of the step again for each weight.
In theories of small networks these were more than half of all operations of a training step. TensorFlow has
the same update as a single operation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn import _private
from ltn.training import distribution


@contextlib.contextmanager
def fuse(model: keras.Model) -> Iterator[None]:
    """Let the optimizer of a model, if it is plain Adam, update each weight by one operation.

    Keras still does all the rest: clipping, decay, averages, accumulation of gradients. The update of a
    weight w with the gradient g in step t is that of Keras, to a hundred-thousandth of the step: beta_1 and
    beta_2 are rounded to the precision of the weight.

        m = beta_1 m + (1 - beta_1) g,   v = beta_2 v + (1 - beta_2) g^2
        w = w - alpha m / (sqrt(v) + epsilon),   alpha = rate sqrt(1 - beta_2^t) / (1 - beta_1^t)
    """
    optimizer = model.optimizer
    if type(optimizer) is not keras.optimizers.Adam or optimizer.amsgrad:
        yield
        return
    if distribution.is_several(model.distribute_strategy):
        with _round_betas(optimizer):
            yield
        return
    step = tf.cast(tf.convert_to_tensor(optimizer.iterations) + 1, tf.float32)
    # Read once: each weight would read it again.
    rate = tf.convert_to_tensor(optimizer.learning_rate)
    powers = [tf.pow(tf.constant(beta, tf.float32), step) for beta in (optimizer.beta_1, optimizer.beta_2)]

    def update(gradient: Any, weight: Any, _: Any) -> None:
        first, second = _private.moments_of(optimizer, weight)
        kind = tf.as_dtype(weight.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=_handle(weight),
            m=_handle(first),
            v=_handle(second),
            beta1_power=tf.cast(powers[0], kind),
            beta2_power=tf.cast(powers[1], kind),
            lr=tf.cast(rate, kind),
            beta1=tf.constant(optimizer.beta_1, kind),
            beta2=tf.constant(optimizer.beta_2, kind),
            epsilon=tf.constant(optimizer.epsilon, kind),
            grad=tf.cast(tf.convert_to_tensor(gradient), kind),
        )

    optimizer.update_step = update
    try:
        yield
    finally:
        # The method of the class is visible again.
        del optimizer.update_step


@contextlib.contextmanager
def _round_betas(optimizer: keras.optimizers.Adam) -> Iterator[None]:
    """Let Keras update the weights, with the betas of the single operation: replicas learn what one would."""
    betas = optimizer.beta_1, optimizer.beta_2
    optimizer.beta_1, optimizer.beta_2 = rounded = tuple(float(np.float32(beta)) for beta in betas)
    try:
        yield
    finally:
        # The threads of replicas are here together: the first one has changed them, and changes them back.
        if betas != rounded:
            optimizer.beta_1, optimizer.beta_2 = betas


def _handle(weight: Any) -> tf.Tensor:
    """The handle by which operations of TensorFlow know a weight of Keras or of TensorFlow."""
    return (weight.value if isinstance(weight, keras.Variable) else weight).handle
