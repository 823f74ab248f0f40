"""Negation, conjunction, disjunction and equivalence (the paper's appendix on fuzzy operators)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from ltn.fuzzy_ops.base import (
    ComposedConnective,
    Connective,
    ProjectedConnective,
    check_operator,
    not_ones,
    not_zeros,
)


@dataclass(frozen=True)
class Not_Std(Connective):
    """Standard negation, strict and strong: N(x) = 1 - x.

    N(0) = 1, N(1) = 0. Any shape, kept. Gradient -1 everywhere.

    >>> round(float(Not_Std()(0.3)), 3)
    0.7
    """

    arity: ClassVar[int] = 1

    @staticmethod
    def _evaluate(x: tf.Tensor) -> tf.Tensor:
        return 1.0 - x


@dataclass(frozen=True)
class Not_Godel(Connective):
    """Goedel negation: N(x) = 1 if x = 0, else 0.

    N(0) = 1, N(1) = 0. Any shape, kept. Its gradient is zero: use it to query, not to learn.

    >>> [float(Not_Godel()(x)) for x in (0.0, 0.3)]
    [1.0, 0.0]
    """

    arity: ClassVar[int] = 1

    @staticmethod
    def _evaluate(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.equal(x, 0.0), x.dtype)


@dataclass(frozen=True)
class And_Min(Connective):
    """Minimum (Goedel) t-norm: T(x, y) = min(x, y).

    T(x, 1) = x, T(x, 0) = 0. Operands broadcast. Single-passing: only the smaller operand learns.

    >>> round(float(And_Min()(0.3, 0.8)), 3)
    0.3
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.minimum(x, y)


@dataclass(frozen=True)
class And_Prod(ProjectedConnective):
    """Product (Goguen) t-norm: T(x, y) = x y; stable: T(pi_0(x), pi_0(y)).

    T(x, 1) = x, T(x, 0) = 0, up to eps when stable. Operands broadcast. The plain product has
    vanishing gradients at x = y = 0; the stable one has not (section "Stable Product Real Logic").

    >>> round(float(And_Prod(stable=False)(0.5, 0.4)), 3)
    0.2
    """

    projections = (not_zeros, not_zeros)

    @staticmethod
    def _plain(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x * y


@dataclass(frozen=True)
class And_Luk(Connective):
    """Lukasiewicz t-norm: T(x, y) = max(x + y - 1, 0).

    T(x, 1) = x, T(x, 0) = 0. Operands broadcast. The gradient vanishes wherever x + y < 1.

    >>> round(float(And_Luk()(0.7, 0.8)), 3)
    0.5
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x + y - 1.0)


@dataclass(frozen=True)
class Or_Max(Connective):
    """Maximum (Goedel) t-conorm: S(x, y) = max(x, y).

    S(x, 0) = x, S(x, 1) = 1. Operands broadcast. Single-passing: only the larger operand learns.

    >>> round(float(Or_Max()(0.3, 0.8)), 3)
    0.8
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.maximum(x, y)


@dataclass(frozen=True)
class Or_ProbSum(ProjectedConnective):
    """Probabilistic sum: S(x, y) = x + y - x y; stable: S(pi_1(x), pi_1(y)).

    S(x, 0) = x, S(x, 1) = 1, up to eps when stable. Operands broadcast. The plain sum has vanishing
    gradients at x = y = 1; the stable one has not (section "Stable Product Real Logic").

    >>> round(float(Or_ProbSum(stable=False)(0.5, 0.4)), 3)
    0.7
    """

    projections = (not_ones, not_ones)

    @staticmethod
    def _plain(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x + y - x * y


@dataclass(frozen=True)
class Or_Luk(Connective):
    """Lukasiewicz t-conorm: S(x, y) = min(x + y, 1).

    S(x, 0) = x, S(x, 1) = 1. Operands broadcast. The gradient vanishes wherever x + y > 1.

    >>> round(float(Or_Luk()(0.3, 0.4)), 3)
    0.7
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.minimum(x + y, 1.0)


@dataclass(frozen=True)
class Equiv(ComposedConnective):
    """Equivalence (x -> y) and (y -> x), built from a conjunction and an implication.

    E(0, 0) = E(1, 1) = 1 and E(0, 1) = E(1, 0) = 0, up to eps for stable operators. Operands
    broadcast. Keyword arguments of the call reach both operators.

    >>> from ltn.fuzzy_ops import And_Luk, Implies_Luk
    >>> round(float(Equiv(And_Luk(), Implies_Luk())(0.9, 0.7)), 3)
    0.8
    """

    and_op: Callable[..., tf.Tensor]
    implies_op: Callable[..., tf.Tensor]

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        for argument in ("and_op", "implies_op"):
            check_operator(argument, hyperparameters[argument])

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        return super()._hyperparameters({}) | overrides

    @staticmethod
    def _evaluate(
        x: tf.Tensor,
        y: tf.Tensor,
        and_op: Callable[..., tf.Tensor],
        implies_op: Callable[..., tf.Tensor],
        **overrides: Any,
    ) -> tf.Tensor:
        forward, backward = implies_op(x, y, **overrides), implies_op(y, x, **overrides)
        return and_op(forward, backward, **overrides)
