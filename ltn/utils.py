"""Ready-made predicates and functions."""

from __future__ import annotations

import functools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn._private import custom_gradient
from ltn.core import Function, Predicate
from ltn.core.models import LogitsModel
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.arguments import check_scalar

__all__ = [
    "Func_add",
    "LogitsToPredicateModel",
    "Pred_equal_smooth_exp",
    "Pred_equal_smooth_inv",
    "Pred_equal_strict",
]


# Up to this many features, a loop over them is faster than a sum along their axis.
_MOST_FEATURES = 8


def Pred_equal_strict() -> Predicate:
    """Strict equality: Eq(u, v) = 1 if all features are equal, else 0; called as `Eq([u, v])`.

    Both terms have the same feature shape. It has no gradient.

    >>> import ltn
    >>> Eq = Pred_equal_strict()
    >>> Eq([ltn.Variable("x", [1, 2, 3]), ltn.Constant(2, trainable=False)])
    Formula(tensor=[0. 1. 0.], free_vars=['x'])
    """
    return Predicate.Lambda(_equal_strict, name="equal_strict")


def Pred_equal_smooth_exp(alpha: float = 1.0) -> Predicate:
    """Smooth equality: Eq(u, v) = exp(-alpha d(u, v)), d the Euclidean distance; called as `Eq([u, v])`.

    1 at distance 0, towards 0 as the distance grows. Both terms have the same feature shape. The
    gradient at distance 0 is 0.

    >>> import ltn
    >>> Eq = Pred_equal_smooth_exp(alpha=0.5)
    >>> Eq([ltn.Constant([0.0, 0.0], trainable=False), ltn.Constant([3.0, 4.0], trainable=False)])
    Formula(tensor=0.0821, free_vars=[])
    """
    return Predicate.Lambda(_EqualSmoothExp(alpha), name="equal_smooth_exp")


def Pred_equal_smooth_inv(alpha: float = 1.0) -> Predicate:
    """Smooth equality: Eq(u, v) = 1 / (1 + alpha d(u, v)), d the Euclidean distance; called as `Eq([u, v])`.

    1 at distance 0, towards 0 as the distance grows. Both terms have the same feature shape. The
    gradient at distance 0 is 0.

    >>> import ltn
    >>> Eq = Pred_equal_smooth_inv(alpha=0.2)
    >>> Eq([ltn.Constant([0.0, 0.0], trainable=False), ltn.Constant([3.0, 4.0], trainable=False)])
    Formula(tensor=0.5, free_vars=[])
    """
    return Predicate.Lambda(_EqualSmoothInv(alpha), name="equal_smooth_inv")


def Func_add() -> Function:
    """Addition: add(u, v) = u + v, of terms with the same feature shape; called as `add([u, v])`.

    >>> import ltn
    >>> Func_add()([ltn.Variable("x", [1, 2]), ltn.Constant(3, trainable=False)])
    Term(tensor=[[4.]
     [5.]], free_vars=['x'])
    """
    return Function.Lambda(_add, name="add")


class LogitsToPredicateModel(LogitsModel):
    """Deprecated: use `ltn.Predicate.FromLogits`. A Keras model called as `m([x, class_index])`.

    Gives the probability of the class, shape (N,), by a softmax where `single_label`, else a sigmoid.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DeprecationWarning)
    ...     model = LogitsToPredicateModel(lambda args: tf.concat([args[0], args[0]], axis=1))
    >>> model([tf.constant([[3.0]]), tf.constant([[0]])]).numpy().tolist()
    [0.5]
    """

    def __init__(self, logits_model: Callable[..., Any], single_label: bool = True):
        warnings.warn(
            "LogitsToPredicateModel is deprecated: use ltn.Predicate.FromLogits(logits_model, "
            f"{'softmax' if single_label else 'sigmoid'!r}).",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(logits_model, "softmax" if single_label else "sigmoid")


# Registered with Keras, so that a theory that uses them can be saved.


@keras.saving.register_keras_serializable(package="ltn", name="equal_strict")
def _equal_strict(args: Sequence[tf.Tensor]) -> tf.Tensor:
    u, v = _pair(args)
    return tf.reduce_all(u == v, axis=_features(u))


@keras.saving.register_keras_serializable(package="ltn", name="add")
def _add(args: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.add(*_pair(args))


class _SmoothEquality(ABC):
    def __init__(self, alpha: float):
        check_scalar("`alpha`", alpha, lambda alpha: alpha > 0.0, "a finite number above 0")
        self.alpha = alpha

    @abstractmethod
    def __call__(self, args: Sequence[tf.Tensor]) -> tf.Tensor:
        """The degree of equality of two terms, row by row."""

    def get_config(self) -> dict[str, float]:
        return {"alpha": self.alpha}

    @classmethod
    def from_config(cls, config: dict[str, float]) -> _SmoothEquality:
        return cls(**config)


@keras.saving.register_keras_serializable(package="ltn", name="equal_smooth_exp")
class _EqualSmoothExp(_SmoothEquality):
    def __call__(self, args: Sequence[tf.Tensor]) -> tf.Tensor:
        return tf.exp(-self.alpha * _distance(args))


@keras.saving.register_keras_serializable(package="ltn", name="equal_smooth_inv")
class _EqualSmoothInv(_SmoothEquality):
    def __call__(self, args: Sequence[tf.Tensor]) -> tf.Tensor:
        return 1.0 / (1.0 + self.alpha * _distance(args))


def _pair(args: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
    if not isinstance(args, list) or len(args) != 2:
        raise LogicTypeError("expected a list of two terms")
    u, v = args
    if not u.shape[1:].is_compatible_with(v.shape[1:]):
        raise LogicValueError("expected two terms of the same feature shape")
    return args


def _features(rows: tf.Tensor) -> list[int]:
    return list(range(1, rows.shape.rank))


def _distance(args: Sequence[tf.Tensor]) -> tf.Tensor:
    u, v = _pair(args)
    return distance(u, v, _features(u))


def distance(u: tf.Tensor, v: tf.Tensor, features: Sequence[int]) -> tf.Tensor:
    """The Euclidean distance over the last axes, `features`; its gradient at 0 is 0.

    >>> distance(tf.constant([[3.0, 4.0]]), tf.constant([[0.0, 0.0]]), [1]).numpy().tolist()
    [5.0]
    """
    sizes = {tensor.shape[axis] for tensor in (u, v) for axis in features}
    if len(features) != 1 or len(sizes) != 1 or (sizes.pop() or math.inf) > _MOST_FEATURES:
        return norm(u - v, features)
    # The sums over all pairs, feature by feature: TensorFlow is slow where the last axis is short.
    pairs = zip(tf.unstack(u, axis=-1), tf.unstack(v, axis=-1), strict=True)
    return _root(functools.reduce(tf.add, (tf.math.squared_difference(a, b) for a, b in pairs)))


def norm(vectors: tf.Tensor, features: Sequence[int]) -> tf.Tensor:
    """The Euclidean norm over the axes `features`; its gradient at 0 is 0.

    >>> norm(tf.constant([[3.0, 4.0]]), [1]).numpy().tolist()
    [5.0]
    """
    return _root(tf.reduce_sum(tf.square(vectors), axis=features))


@custom_gradient
def _root(squared: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    # The root's gradient is infinite at 0: there it is taken as 0.
    root = tf.sqrt(squared)
    return root, lambda upstream: upstream * tf.math.divide_no_nan(0.5, root)
