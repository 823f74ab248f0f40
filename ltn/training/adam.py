"""Adam with one operation for each weight.

Keras writes the update of a weight as 27 operations, and reads the number of the step again for each weight.
In theories of small networks these were more than half of all operations of a training step. TensorFlow has
the same update as a single operation.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn import _private
from ltn.training import distribution


def is_plain(optimizer: Any) -> bool:
    """Whether it is Adam as it was published, whose update is one operation."""
    return type(optimizer) is keras.optimizers.Adam and not optimizer.amsgrad


def can_leave_out(optimizer: Any) -> bool:
    """Whether `fuse` can leave a step out: the optimizer changes nothing but by the update of Adam."""
    does_more = (optimizer.weight_decay, optimizer.use_ema, optimizer.gradient_accumulation_steps)
    return is_plain(optimizer) and not any(does_more)


@contextlib.contextmanager
def fuse(model: keras.Model, applied: tf.Tensor | None = None) -> Iterator[None]:
    """Let the optimizer of a model, if it is plain Adam, update each weight by one operation.

    Keras still does all the rest: clipping, decay, averages, accumulation of gradients. The update of a
    weight w with the gradient g in step t is that of Keras, to a hundred-thousandth of the step: beta_1 and
    beta_2 are rounded to the precision of the weight.

        m = beta_1 m + (1 - beta_1) g,   v = beta_2 v + (1 - beta_2) g^2
        w = w - alpha m / (sqrt(v) + epsilon),   alpha = rate sqrt(1 - beta_2^t) / (1 - beta_1^t)

    Where `applied`, a truth value, is False, nothing changes, whatever the gradients are; `can_leave_out`
    tells for which optimizers it may be given. With the rate 0, the betas 1 and the gradient 0 the update
    leaves all as it is: a condition would cost more than this on steps of small networks. Keras counts the
    step all the same: the caller takes it back.
    """
    optimizer = model.optimizer
    if not is_plain(optimizer):
        yield
        return
    if distribution.is_several(model.distribute_strategy):
        with _round_betas(optimizer):
            yield
        return
    # Keras counts the step after this was read: not before it is known that there is a step.
    with tf.control_dependencies([] if applied is None else [applied]):
        step = tf.cast(tf.convert_to_tensor(optimizer.iterations) + 1, tf.float32)
    # Read once: each weight would read it again.
    rate = tf.convert_to_tensor(optimizer.learning_rate)
    betas = optimizer.beta_1, optimizer.beta_2
    powers = [tf.pow(tf.constant(beta, tf.float32), step) for beta in betas]

    @functools.cache
    def scalars(kind: tf.DType) -> dict[str, tf.Tensor]:
        """What the updates of all weights of a type have in common."""
        found = {"lr": tf.cast(rate, kind), "epsilon": tf.constant(optimizer.epsilon, kind)}
        for number, (beta, power) in enumerate(zip(betas, powers, strict=True), start=1):
            found |= {f"beta{number}": tf.constant(beta, kind), f"beta{number}_power": tf.cast(power, kind)}
        if applied is not None:
            found["lr"] = tf.math.multiply_no_nan(found["lr"], share(kind))
            found |= {name: tf.where(applied, found[name], 1.0) for name in ("beta1", "beta2")}
        return found

    @functools.cache
    def share(kind: tf.DType) -> tf.Tensor:
        return tf.cast(applied, kind)

    def update(gradient: Any, weight: Any, _: Any) -> None:
        first, second = _private.moments_of(optimizer, weight)
        kind = tf.as_dtype(weight.dtype)
        slopes = tf.cast(tf.convert_to_tensor(gradient), kind)
        if applied is not None:
            slopes = tf.math.multiply_no_nan(slopes, share(kind))
        handles = {"var": _handle(weight), "m": _handle(first), "v": _handle(second)}
        tf.raw_ops.ResourceApplyAdam(**handles, **scalars(kind), grad=slopes)

    optimizer.update_step = update
    try:
        yield
    finally:
        # The method of the class is visible again.
        del optimizer.update_step


def dense(gradient: Any) -> tf.Tensor:
    """A gradient with all rows, also where it came with some of them, as that of embeddings does.

    Adam moves rows without a gradient too, since their means decay. Of a row that comes several times Keras
    would square each slope, not their sum.
    """
    return tf.convert_to_tensor(gradient)


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
