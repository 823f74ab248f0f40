"""The contract of every fuzzy operator, and the paper's projections away from 0 and 1.

An operator is an immutable record of its hyper-parameters. The public call converts and checks its
arguments; a subclass supplies one private function of pure tensor mathematics. From eager code that
function runs compiled by `tf.function`; inside another graph it is traced straight into that graph.
"""

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar, SupportsIndex

import tensorflow as tf

from ltn._autograph import no_autograph
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.arguments import check_broadcast, positive_axes, segments_for, truth_values, weights_for
from ltn.fuzzy_ops.selection import Selection, Statistics, segmented

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

    # One compiled function per class and setting: equal operators share their traces. A setting names the
    # tensors too: a call with other ones, as weights, needs a function of its own.
    _compiled: ClassVar[dict[Any, Any]] = {}

    @classmethod
    def _run(cls, *tensors: tf.Tensor | None, **others: Any) -> tf.Tensor:
        if not tf.executing_eagerly():
            return cls._evaluate(*tensors, **others)
        given = {name: value for name, value in others.items() if tf.is_tensor(value)}
        static = {name: value for name, value in others.items() if name not in given}
        setting = (cls, *static.items(), *given, *(tensor is None for tensor in tensors))
        if setting not in cls._compiled:
            # A partial, since TensorFlow warns of frequent retracing by the code, which operators share.
            evaluate = functools.partial(cls._evaluate, **static)
            cls._compiled[setting] = tf.function(evaluate, autograph=False, reduce_retracing=True)
        return cls._compiled[setting](*tensors, **given)

    def _own(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def check_overrides(self, **overrides: Any) -> None:
        """Raise unless a call could take these hyper-parameters."""
        self._hyperparameters(overrides)

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
        weights: Any = None,
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
            weights: numbers from 0 up that broadcast as `mask` does: a value of weight w counts w times, one
                of weight 0 is not selected.
            overrides: hyper-parameters for this call only, as `p=6`.

        Returns:
            The shape of `xs` (broadcast with `mask` and `weights`) without the reduced axes.
        """
        hyperparameters = self._hyperparameters(overrides)
        (xs,) = truth_values(xs)
        if mask is not None:
            mask = tf.cast(truth_values(mask)[0], tf.bool)
        # What is not given is not passed on: each argument of a compiled function takes its time.
        extra = {} if weights is None else {"weights": weights_for(self, xs, weights)}
        given = [tensor for tensor in (xs, mask, *extra.values()) if tensor is not None]
        check_broadcast(self, *given)
        ranks = [tensor.shape.rank for tensor in given]
        if None in ranks:
            raise LogicValueError(f"{self} needs tensors whose number of axes is known.")
        return self._run(
            xs,
            mask,
            axis=positive_axes(axis, max(ranks)),
            keepdims=bool(keepdims),
            empty=float(self.empty if empty is None else empty),
            **extra,
            **hyperparameters,
        )

    @no_autograph
    def segments(
        self,
        xs: Any,
        ids: Any,
        count: Any,
        axis: SupportsIndex | Sequence[SupportsIndex] = (),
        empty: float | None = None,
        weights: Any = None,
        **overrides: Any,
    ) -> tf.Tensor:
        """Aggregate tuples by segment: what a mask gives, without the values that it would leave out.

        Args:
            xs: truth values of K tuples, shape (K, *rest); K may be 0, or unknown when tracing.
            ids: the segment of each tuple, integers from 0 to `count` - 1, shape (K,).
            count: the number of segments, an int or a scalar tensor.
            axis: axes of `xs` from 1 up that are aggregated together with the tuples.
            empty: the truth value of a segment without tuples, as in a call.
            weights: broadcast with `xs`, as in a call.
            overrides: hyper-parameters for this call only, as `p=6`.

        Returns:
            Shape (count, *rest), without `axis`.

        >>> from ltn.fuzzy_ops import Aggreg_Mean
        >>> Aggreg_Mean().segments([0.25, 0.75, 0.5], ids=[2, 2, 0], count=3, empty=1.0).numpy().tolist()
        [0.5, 1.0, 0.5]
        """
        hyperparameters = self._hyperparameters(overrides)
        (xs,) = truth_values(xs)
        ids, count = segments_for(xs, ids, count)
        extra = {} if weights is None else {"weights": weights_for(self, xs, weights)}
        axes = positive_axes(axis, xs.shape.rank)
        if 0 in axes:
            raise LogicValueError(f"`axis` names axes beside that of the tuples, from 1 up; got {axis}.")
        return self._run(
            xs,
            None,
            ids=ids,
            count=count,
            # With a trace of its own: one for tensors of several ranks would know none.
            rank=xs.shape.rank,
            axis=axes,
            keepdims=True,
            empty=float(self.empty if empty is None else empty),
            **extra,
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
        **others: Any,
    ) -> tf.Tensor:
        weights = others.pop("weights", None)
        segments = {name: others.pop(name) for name in ("ids", "count", "rank") if name in others}
        if weights is not None:
            mask = weights > 0.0 if mask is None else mask & (weights > 0.0)
        if mask is not None:
            mask = mask & tf.ones_like(xs, tf.bool)
            # Values outside the mask, NaN perhaps, go before any arithmetic; their gradient with them.
            xs = tf.where(mask, xs, tf.constant(0.5, xs.dtype))
        if weights is not None:
            weights = tf.where(mask, weights, tf.constant(0.0, xs.dtype))
        selection: Statistics
        if segments:
            xs, selection = segmented(xs, mask, weights, axis, **segments)
        else:
            selection = Selection(xs, mask, axis, weights)
        value = cls._aggregate(xs, selection, **others)
        if selection.may_be_empty:
            of_nothing = cls._of_nothing(tf.constant(empty, xs.dtype))
            value = tf.where(selection.count > 0.0, value, of_nothing)
        # With an empty `axis`, squeeze would take every axis of size 1.
        return value if keepdims or not axis else tf.squeeze(value, axis)

    @staticmethod
    @abc.abstractmethod
    def _aggregate(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The mathematics, on `xs`, its `Statistics` and the hyper-parameters; shaped as these statistics."""

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        """How the truth value `empty` reads in the operator's range."""
        return empty


def check_operator(argument: str, value: object) -> None:
    """Raise unless the argument is an operator, ready to be called on truth values."""
    if isinstance(value, type):
        name = value.__name__
        raise LogicTypeError(f"`{argument}` must be an operator; got the class {name}. Write {name}().")
    if not callable(value):
        raise LogicTypeError(f"`{argument}` must be an operator; got {value!r}.")
