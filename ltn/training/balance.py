"""Balance: how much axioms count beside a task, from the loss of the task and the gradients of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from ltn.evaluation import replicas

# The most that the axioms count, the power of the trust, and how many steps are recent; chosen on the
# validation data of `python -m benchmarks.knowledge_weights`, with `--first 10`.
PROPORTION = 2.0
CAUTION = 4.0
RECENT = 10.0


class Shares(NamedTuple):
    """What the gradients of the task and of the axioms are multiplied with, before they are added."""

    task: tf.Tensor
    axioms: tf.Tensor


class Balance(keras.Layer):
    """Keeps the gradient of axioms in proportion to that of a task, at most, and out of its way.

    With the loss L of the task, its gradient g and that of the axioms, h, by the weights that both depend on,
    a step follows

        g + w h',   w = r t^4 G / max(G, H, |h|)
        h' = h - min(0, g.h / |g|^2) g,   t = 1 - min(recent L / mean L, recent |g| / mean |g|)

    Recent values are means over about ten steps, G and H are the largest recent |g| and |h| so far, the means
    are over all steps, t is between 0 and 1, and r is the proportion: the most that the axioms count, 2.
    Where they pull against the task, that part of h is taken out: to first order, no step of theirs undoes
    what the labels teach.

    The trust t grows as the task is learned: its loss has fallen, or its gradient has. Batches that differ
    have gradients where the loss is small; a loss with a floor, as of smoothed labels, has no gradient there.
    A network that knows nothing yet would make axioms true in the cheapest way, by predicting one class for
    all; and an axiom teaches one prediction by others, so that it errs where any of them does. Hence the
    power of t: labels come first. Half learned, the axioms count 1/16 of what they may. Then they are the
    better teacher, and may count more than the labels do. G and H remember the first steps: axioms go on
    teaching when g is small, and count no more because they hold and h is small.

    Its state is a weight that is not trained: it is saved, and restored, with the model.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # The number of steps; the means of L and |g|; the recent means of L, |g| and |h|; the largest of the
        # last two; the last weight.
        self.state = self.add_weight((9,), "zeros", dtype="float32", trainable=False, name="state")
        self.built = True

    @property
    def weight(self) -> tf.Tensor:
        """The weight of the axioms beside the task, as of the last step."""
        return tf.convert_to_tensor(self.state)[-1]

    def weigh(
        self, task: Sequence[Any], axioms: Sequence[Any], loss: Any, proportion: Any = PROPORTION
    ) -> Shares:
        """The shares in a step of two gradients, lists of tensors, None for weights without one.

        `loss` is that of the task.
        """
        both = [
            pair for pair in zip(task, axioms, strict=True) if pair[0] is not None and pair[1] is not None
        ]
        if not both:
            return Shares(tf.constant(1.0), tf.cast(proportion, tf.float32))
        flat = tf.stack([_flat(gradients) for gradients in zip(*both, strict=True)])
        loss = tf.cast(loss, tf.float32)
        if replicas.count() > 1:
            flat, loss = tf.distribute.get_replica_context().all_reduce(
                tf.distribute.ReduceOp.SUM, [flat, loss]
            )
        products = tf.linalg.matmul(flat, flat, transpose_b=True)
        norms = tf.sqrt(tf.linalg.diag_part(products))
        found = tf.concat([[loss], norms], axis=0)
        before = tf.convert_to_tensor(self.state)
        count = before[0] + 1.0
        mean = before[1:3] + (found[:2] - before[1:3]) / count
        recent = before[3:6] + (found - before[3:6]) * tf.maximum(1.0 / count, 1.0 / RECENT)
        largest = tf.maximum(before[6:8], recent[1:])
        # A loss may be negative.
        learned = tf.math.divide_no_nan(mean - recent[:2], tf.abs(mean))
        trust = tf.clip_by_value(tf.reduce_max(learned), 0.0, 1.0)
        ratio = tf.math.divide_no_nan(largest[0], tf.maximum(tf.reduce_max(largest), norms[1]))
        weight = proportion * trust**CAUTION * ratio
        # A step that overflows, which optimizers with a scaled loss leave out, leaves no trace here either.
        after = tf.concat([[count], mean, recent, largest, [weight]], axis=0)
        after = tf.where(tf.reduce_all(tf.math.is_finite(after)), after, before)
        self.state.assign(after)
        against = tf.minimum(0.0, tf.math.divide_no_nan(products[0, 1], products[0, 0]))
        return Shares(1.0 - after[-1] * against, after[-1])


def add(task: Sequence[Any], axioms: Sequence[Any], shares: Shares) -> list[Any]:
    """The gradient of a step; a weight that only one of both depends on follows that one."""
    joined: list[Any] = []
    for one, other in zip(task, axioms, strict=True):
        if one is None or other is None:
            joined.append(one if other is None else tf.convert_to_tensor(other) * _as(shares.axioms, other))
        else:
            one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
            joined.append(one * _as(shares.task, one) + other * _as(shares.axioms, other))
    return joined


def _flat(gradients: Sequence[Any]) -> tf.Tensor:
    return tf.concat([tf.reshape(tf.cast(tf.convert_to_tensor(g), tf.float32), [-1]) for g in gradients], 0)


def _as(share: tf.Tensor, gradient: Any) -> tf.Tensor:
    return tf.cast(share, gradient.dtype)
