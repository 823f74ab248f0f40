"""Implications: strong, residuated, and sigmoidal (the paper's appendix; van Krieken et al. 2022)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from ltn.fuzzy_ops.arguments import as_scalar, check_scalar
from ltn.fuzzy_ops.base import (
    ComposedConnective,
    Connective,
    ProjectedConnective,
    check_operator,
    not_ones,
    not_zeros,
)


@dataclass(frozen=True)
class Implies_KleeneDienes(Connective):
    """Kleene-Dienes implication, strong, from the maximum: I(x, y) = max(1 - x, y).

    I(0, y) = I(x, 1) = 1, I(1, y) = y. Operands broadcast. Single-passing.

    >>> round(float(Implies_KleeneDienes()(0.6, 0.3)), 3)
    0.4
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.maximum(1.0 - x, y)


@dataclass(frozen=True)
class Implies_Godel(Connective):
    """Goedel implication, residuated, from the minimum: I(x, y) = 1 if x <= y, else y.

    I(0, y) = I(x, 1) = 1, I(1, y) = y. Operands broadcast. Single-passing, and the gradient vanishes
    wherever x <= y.

    >>> [round(float(Implies_Godel()(x, 0.3)), 3) for x in (0.2, 0.6)]
    [1.0, 0.3]
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.where(x <= y, tf.ones_like(y), y)


@dataclass(frozen=True)
class Implies_Reichenbach(ProjectedConnective):
    """Reichenbach implication, strong, from the product: I(x, y) = 1 - x + x y.

    Stable: I(pi_0(x), pi_1(y)).

    I(0, y) = I(x, 1) = 1, I(1, y) = y, up to eps when stable. Operands broadcast. The plain form has
    vanishing gradients at x = 0, y = 1; the stable one has not.

    >>> round(float(Implies_Reichenbach(stable=False)(0.5, 0.4)), 3)
    0.7
    """

    projections = (not_zeros, not_ones)

    @staticmethod
    def _plain(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return 1.0 - x + x * y


@dataclass(frozen=True)
class Implies_Goguen(ProjectedConnective):
    """Goguen implication, residuated, from the product: I(x, y) = 1 if x <= y, else y / x.

    Stable: I(pi_0(x), y).

    I(0, y) = I(x, 1) = 1, I(1, y) = y; the stable form gives I(0, 0) = 0. Operands broadcast. The
    gradient explodes where y < x tend to 0, which the stable form prevents. Where x <= y the value is
    constantly 1, so that even the stable form has no gradient there: to learn, use Reichenbach's.

    >>> round(float(Implies_Goguen(stable=False)(0.8, 0.4)), 3)
    0.5
    """

    projections = (not_zeros, tf.identity)

    @staticmethod
    def _plain(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        holds = x <= y
        # The division must not see x = 0, not even where the other branch is taken: its gradient
        # would be 0 * inf there.
        divisor = tf.where(holds, tf.ones_like(x), x)
        return tf.where(holds, tf.ones_like(y), y / divisor)


@dataclass(frozen=True)
class Implies_Luk(Connective):
    """Lukasiewicz implication, strong and residuated: I(x, y) = min(1 - x + y, 1).

    I(0, y) = I(x, 1) = 1, I(1, y) = y. Operands broadcast. The gradient vanishes wherever x < y.

    >>> round(float(Implies_Luk()(0.8, 0.4)), 3)
    0.6
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.minimum(1.0 - x + y, 1.0)


@dataclass(frozen=True)
class _Sigmoid(Connective):
    arity: ClassVar[int] = 1
    s: Any
    b0: Any

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        return {name: as_scalar(value) for name, value in super()._hyperparameters(overrides).items()}

    @staticmethod
    def _evaluate(value: tf.Tensor, s: tf.Tensor, b0: tf.Tensor) -> tf.Tensor:
        # The difference of two sigmoids cancels for small s and saturates for large s. It equals
        #   sigma(a) - sigma(b) = -expm1(b - a) sigma(a) (1 - sigma(b)),
        # whose last factor is the same above and below the fraction.
        s, b0 = tf.cast(s, tf.float64), tf.cast(b0, tf.float64)
        top, bottom = tf.math.log_sigmoid(s * (1.0 + b0)), tf.math.expm1(-s)
        s, b0, top, bottom = (tf.cast(number, value.dtype) for number in (s, b0, top, bottom))
        rise = tf.math.expm1(-s * value) / bottom
        return rise * tf.exp(tf.math.log_sigmoid(s * (value + b0)) - top)


@dataclass(frozen=True)
class Implies_Sigmoidal(ComposedConnective):
    """Sigmoidal implication: an implication passed through a sigmoid of slope `s` and offset `b0`.

        (sigma(s (I(x, y) + b0)) - sigma(s b0)) / (sigma(s (1 + b0)) - sigma(s b0))

    The normalisation maps 0 to 0 and 1 to 1, so that the corners are those of `implies_op`. Operands
    broadcast. `s` and `b0` are numbers, or scalar tensors that may change without retracing. It flattens the
    gradient where the implication is nearly true or nearly false (van Krieken, Acar and van Harmelen,
    "Analyzing Differentiable Fuzzy Logic Operators", 2022).

    >>> sigmoidal = Implies_Sigmoidal(Implies_Reichenbach(stable=False))
    >>> [round(float(sigmoidal(x, y)), 3) for x, y in ((1.0, 0.0), (0.5, 0.0), (0.0, 0.0))]
    [0.0, 0.5, 1.0]
    """

    implies_op: Callable[..., tf.Tensor]
    s: Any = 9.0
    b0: Any = -0.5

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        check_operator("implies_op", hyperparameters["implies_op"])
        s, b0 = hyperparameters["s"], hyperparameters["b0"]
        check_scalar("`s`, the slope of the sigmoid,", s, lambda s: (s > 0.0) & (s < math.inf), "positive")
        check_scalar("`b0`, the offset of the sigmoid,", b0, lambda b0: abs(b0) < math.inf, "finite")

    @staticmethod
    def _evaluate(
        x: tf.Tensor,
        y: tf.Tensor,
        implies_op: Callable[..., tf.Tensor],
        s: Any,
        b0: Any,
    ) -> tf.Tensor:
        return _Sigmoid(s, b0)(implies_op(x, y))
