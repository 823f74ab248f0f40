"""The contract of every fuzzy operator, and the paper's projections away from 0 and 1.

An operator is an immutable record of its hyper-parameters. The public call converts and checks its
arguments; a subclass supplies one private function of pure tensor mathematics. From eager code that
function runs compiled by `tf.function`; inside another graph it is traced straight into that graph.
"""

import abc
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import tensorflow as tf

from ltn.autograph import no_autograph
from ltn.errors import LogicTypeError, LogicValueError

eps: float = 1e-4


def not_zeros(x: tf.Tensor) -> tf.Tensor:
    """The paper's projection pi_0(x) = (1 - eps) x + eps, from [0, 1] onto [eps, 1].

    Any shape, kept.

    >>> [round(float(not_zeros(x)), 4) for x in (0.0, 1.0)]
    [0.0001, 1.0]
    """
    return (1.0 - eps) * x + eps


def not_ones(x: tf.Tensor) -> tf.Tensor:
    """The paper's projection pi_1(x) = (1 - eps) x, from [0, 1] onto [0, 1 - eps].

    Any shape, kept.

    >>> [round(float(not_ones(x)), 4) for x in (0.0, 1.0)]
    [0.0, 0.9999]
    """
    return (1.0 - eps) * x


@dataclasses.dataclass(frozen=True)
class Operator(abc.ABC):
    """An operator with its hyper-parameters: compared, hashed and printed by value."""

    def __post_init__(self) -> None:
        self._check(**self._own())

    @staticmethod
    @abc.abstractmethod
    def _evaluate(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The mathematics, on tensors of one floating dtype and the hyper-parameters."""

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        """Raise for an impossible hyper-parameter; at construction and for each override."""

    @classmethod
    @functools.cache
    def _compiled(cls) -> Callable[..., tf.Tensor]:
        # One compiled function a class: equal operators share their traces, whatever their values.
        return tf.function(cls._evaluate, autograph=False, reduce_retracing=True)

    @classmethod
    def _run(cls, *tensors: tf.Tensor | None, **static: Any) -> tf.Tensor:
        evaluate = cls._compiled() if tf.executing_eagerly() else cls._evaluate
        return evaluate(*tensors, **static)

    def _own(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        own = self._own()
        for name in overrides:
            if name not in own:
                known = ", ".join(f"`{known}`" for known in own) or "none"
                raise LogicTypeError(
                    f"{type(self).__name__} has no hyper-parameter `{name}`; it has: {known}."
                )
        self._check(**own | overrides)
        return own | overrides


@dataclasses.dataclass(frozen=True)
class Connective(Operator):
    """An operator applied element-wise, with NumPy broadcasting, to a fixed number of operands."""

    arity: ClassVar[int] = 2

    @no_autograph
    def __call__(self, *operands: Any, **overrides: Any) -> tf.Tensor:
        """Truth values of the compound formula; the shape is that of the broadcast operands."""
        if len(operands) != self.arity:
            raise LogicTypeError(f"{self} takes {self.arity} operand(s); got {len(operands)}.")
        hyperparameters = self._hyperparameters(overrides)
        tensors = truth_values(*operands)
        check_broadcast(self, *tensors)
        return self._run(*tensors, **hyperparameters)


@dataclasses.dataclass(frozen=True)
class Composed(Connective):
    """A connective made of other operators, which are compiled already."""

    @classmethod
    def _run(cls, *tensors: tf.Tensor | None, **static: Any) -> tf.Tensor:
        # Compiling it again would trace anew for each operator that it is made of.
        return cls._evaluate(*tensors, **static)


def truth_values(*values: Any) -> list[tf.Tensor]:
    """Tensors of one floating dtype: booleans and integers become float32, the widest dtype wins."""
    tensors = []
    for value in values:
        try:
            tensor = tf.convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise LogicTypeError(f"Truth values must be numbers; got {value!r}.") from error
        if tensor.dtype == tf.string or tensor.dtype.is_complex:
            raise LogicTypeError(f"Truth values must be numbers; got {value!r}.")
        tensors.append(tensor if tensor.dtype.is_floating else tf.cast(tensor, tf.float32))
    widest = max((tensor.dtype for tensor in tensors), key=lambda dtype: dtype.size)
    return [tf.cast(tensor, widest) for tensor in tensors]


def check_operator(argument: str, operator: object) -> None:
    """Raise unless the argument is an operator, ready to be called on truth values."""
    if isinstance(operator, type):
        name = operator.__name__
        raise LogicTypeError(f"`{argument}` must be an operator; got the class {name}. Write {name}().")
    if not callable(operator):
        raise LogicTypeError(f"`{argument}` must be an operator; got {operator!r}.")


def check_broadcast(operator: object, *tensors: tf.Tensor) -> None:
    """Raise where the static shapes of the operands do not broadcast together."""
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        try:
            shape = tf.broadcast_static_shape(shape, tensor.shape)
        except ValueError as error:
            shapes = " and ".join(str(tuple(tensor.shape)) for tensor in tensors)
            raise LogicValueError(
                f"{operator} cannot broadcast operands of shapes {shapes}: "
                "two sizes must be equal, or one of them 1."
            ) from error
