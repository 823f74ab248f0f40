"""Balance: how much axioms count beside a task, from the gradients of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from ltn.evaluation import replicas

# The most that the axioms count, and how many steps are recent; chosen on the validation data of
# `python -m benchmarks.knowledge_weights`.
PROPORTION = 1.0
RECENT = 10.0


class Shares(NamedTuple):
    """What the gradients of the task and of the axioms are multiplied with, before they are added."""

    task: tf.Tensor
    axioms: tf.Tensor


class Balance(keras.Layer):
    """Keeps the gradient of axioms in proportion to that of a task, at most, and out of its way.

    With the gradients g of the task and h of the axioms, by the weights that both depend on, a step follows

        g + w h',   w = r t G / max(G, H, |h|)
        h' = h - min(0, g.h / |g|^2) g,   t = max(0, 1 - recent |g| / mean |g|)

    Recent norms are means over about ten steps, G and H are the largest recent |g| and |h| so far, the mean
    is over all steps, and r is the proportion: the most that the axioms count. Theirs may be the smaller
    gradient, then it is not blown up. Where they pull against the task, that part of h is taken out: to first
    order, no step of theirs undoes what the labels teach. The trust t grows as the task is learned: a network
    that knows nothing yet would make axioms true in the cheapest way, by predicting one class for all. And G
    and H remember the first steps, when little was learned: axioms go on teaching when the labels are learned
    and g is small, and count no more because they hold and h is small.

    Its state is a weight that is not trained: it is saved, and restored, with the model.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # The number of steps; the mean norm of the task; the recent means, and the largest of these, of the
        # task and of the axioms; the last weight.
        self.state = self.add_weight((7,), "zeros", dtype="float32", trainable=False, name="state")
        self.built = True

    @property
    def weight(self) -> tf.Tensor:
        """The weight of the axioms beside the task, as of the last step."""
        return tf.convert_to_tensor(self.state)[-1]

    def weigh(self, task: Sequence[Any], axioms: Sequence[Any], proportion: Any = PROPORTION) -> Shares:
        """The shares in a step of two gradients, lists of tensors, None for weights without one."""
        both = [
            pair for pair in zip(task, axioms, strict=True) if pair[0] is not None and pair[1] is not None
        ]
        if not both:
            return Shares(tf.constant(1.0), tf.cast(proportion, tf.float32))
        flat = tf.stack([_flat(gradients) for gradients in zip(*both, strict=True)])
        if replicas.count() > 1:
            flat = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, flat)
        products = tf.linalg.matmul(flat, flat, transpose_b=True)
        norms = tf.sqrt(tf.linalg.diag_part(products))
        before = tf.convert_to_tensor(self.state)
        count = before[0] + 1.0
        mean = before[1] + (norms[0] - before[1]) / count
        recent = before[2:4] + (norms - before[2:4]) * tf.maximum(1.0 / count, 1.0 / RECENT)
        largest = tf.maximum(before[4:6], recent)
        trust = tf.maximum(0.0, 1.0 - tf.math.divide_no_nan(recent[0], mean))
        ratio = tf.math.divide_no_nan(largest[0], tf.maximum(tf.reduce_max(largest), norms[1]))
        weight = proportion * trust * ratio
        # A step that overflows, which optimizers with a scaled loss leave out, leaves no trace here either.
        after = tf.concat([[count, mean], recent, largest, [weight]], axis=0)
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
