"""The contract of every fuzzy operator, and the paper's projections away from 0 and 1.

An operator is an immutable record of its hyper-parameters. The public call converts and checks its
arguments; a subclass supplies one private function of pure tensor mathematics. From eager code that
function runs compiled by `tf.function`; inside another graph it is traced straight into that graph.
"""

import abc
import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, SupportsIndex

import tensorflow as tf

from ltn._autograph import no_autograph
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.selection import Selection

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
    """An operator with its hyper-parameters: compared and printed by value.

    It is hashed by value too, unless a hyper-parameter is a tensor.
    """

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
        # One compiled function per class: equal operators share their traces, whatever their values.
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


@dataclasses.dataclass(frozen=True)
class Aggregator(Operator):
    """An operator that reduces axes of truth values, only where a mask selects them."""

    empty: ClassVar[float]

    @no_autograph
    def __call__(
        self,
        xs: Any,
        axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
        keepdims: bool = False,
        mask: Any = None,
        empty: float | None = None,
        **overrides: Any,
    ) -> tf.Tensor:
        """Aggregate `xs` along `axis`.

        Args:
            xs: truth values, any shape.
            axis: the axes to reduce; None for all of them.
            keepdims: keep the reduced axes, with size 1.
            mask: nonzero where a value is selected; broadcasts with `xs`, and `axis` counts in the
                broadcast shape. Values outside the mask have no influence and no gradient.
            empty: the truth value of an empty selection; by default that of the quantifier which the
                operator approximates, 1 for a universal and 0 for an existential one.
            overrides: hyper-parameters for this call only, as `p=6`.

        Returns:
            The shape of `xs` (broadcast with `mask`) without the reduced axes.
        """
        hyperparameters = self._hyperparameters(overrides)
        (xs,) = truth_values(xs)
        if mask is not None:
            mask = tf.cast(truth_values(mask)[0], tf.bool)
            check_broadcast(self, xs, mask)
        ranks = [tensor.shape.rank for tensor in (xs, mask) if tensor is not None]
        if None in ranks:
            raise LogicValueError(f"{self} needs tensors whose number of axes is known.")
        rank = max(ranks)
        return self._run(
            xs,
            mask,
            axis=_positive_axes(axis, rank),
            keepdims=bool(keepdims),
            empty=float(self.empty if empty is None else empty),
            **hyperparameters,
        )

    @classmethod
    def _evaluate(
        cls,
        xs: tf.Tensor,
        mask: tf.Tensor | None,
        *,
        axis: tuple[int, ...],
        keepdims: bool,
        empty: float,
        **hyperparameters: Any,
    ) -> tf.Tensor:
        if mask is not None:
            mask = mask & tf.ones_like(xs, tf.bool)
            # Values outside the mask, NaN perhaps, go before any arithmetic; their gradient with them.
            xs = tf.where(mask, xs, tf.constant(0.5, xs.dtype))
        selection = Selection(xs, mask, axis)
        value = cls._aggregate(xs, selection, **hyperparameters)
        if selection.may_be_empty:
            of_nothing = cls._of_nothing(tf.constant(empty, xs.dtype))
            value = tf.where(selection.count > 0.0, value, of_nothing)
        # With an empty `axis`, squeeze would take every axis of size 1.
        return value if keepdims or not axis else tf.squeeze(value, axis)

    @staticmethod
    @abc.abstractmethod
    def _aggregate(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The mathematics, on `xs`, a `Selection` and the hyper-parameters; reduced axes stay with size 1."""

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        """How the truth value `empty` reads in the operator's range."""
        return empty


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


def check_operator(argument: str, value: object) -> None:
    """Raise unless the argument is an operator, ready to be called on truth values."""
    if isinstance(value, type):
        name = value.__name__
        raise LogicTypeError(f"`{argument}` must be an operator; got the class {name}. Write {name}().")
    if not callable(value):
        raise LogicTypeError(f"`{argument}` must be an operator; got {value!r}.")


def check_broadcast(caller: object, *tensors: tf.Tensor) -> None:
    """Raise where the static shapes of the operands do not broadcast together."""
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        try:
            shape = tf.broadcast_static_shape(shape, tensor.shape)
        except ValueError as error:
            shapes = " and ".join(str(tuple(tensor.shape)) for tensor in tensors)
            raise LogicValueError(
                f"{caller} cannot broadcast operands of shapes {shapes}: "
                "two sizes must be equal, or one of them 1."
            ) from error


def _positive_axes(axis: SupportsIndex | Sequence[SupportsIndex] | None, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    try:
        axes = [operator.index(a) for a in (axis if isinstance(axis, Sequence) else [axis])]
    except TypeError as error:
        raise LogicTypeError(f"`axis` must be an int, a list of ints or None; got {axis!r}.") from error
    for a in axes:
        if not -rank <= a < rank:
            raise LogicValueError(f"`axis` {a} does not exist in a tensor with {rank} axes.")
    positive = tuple(a % rank for a in axes)
    if len(set(positive)) < len(positive):
        raise LogicValueError(f"`axis` names an axis twice: {axis}.")
    return positive
