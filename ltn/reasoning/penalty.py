"""The penalty of groundings that do not satisfy a theory enough."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def elu(x: Any, alpha: float = 0.05, beta: float = 10.0) -> tf.Tensor:
    """The soft constraint of reasoning by refutation, elu(alpha, beta x).

        beta x              where x >= 0
        alpha (exp(x) - 1)  else

    For x = q - G(K) it drives the satisfaction of the axioms up to q with the slope `beta`, and leaves a
    slope of at most `alpha` beyond, so that gradients do not vanish there.

    Args:
        x: numbers of any shape.
        alpha: at least 0, low.
        beta: at least 0, high.

    Returns:
        A tensor of the shape of `x`.

    >>> import ltn
    >>> ltn.reasoning.elu([-0.1, 0.0, 0.1]).numpy().round(4)
    array([-0.0048, 0. , 1. ], dtype=float32)
    """
    x = tf.convert_to_tensor(x, tf.float32)
    # The branch that is not taken must not overflow: its gradient would be 0 times infinity.
    return tf.where(x >= 0.0, beta * x, alpha * tf.math.expm1(tf.minimum(x, 0.0)))
