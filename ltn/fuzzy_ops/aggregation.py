"""The contract of aggregators: which axes they reduce, and of those only what a mask selects."""

import abc
import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, SupportsIndex

import tensorflow as tf

from ltn.autograph import no_autograph
from ltn.errors import LogicValueError
from ltn.fuzzy_ops.base import Operator, check_broadcast, truth_values


class Selection:
    """Statistics along `axis`, kept with size 1, of the values that `mask`, of their shape, selects.

    Without a mask every value is selected. Masking is dense: a value outside the mask is replaced by
    the neutral element of the statistic, so that shapes stay static and its gradient is exactly zero.
    """

    def __init__(self, values: tf.Tensor, mask: tf.Tensor | None, axis: tuple[int, ...]):
        self.axis = axis
        self.mask = mask
        self._sizes = [values.shape[a] for a in axis]
        self._values = values

    @property
    def may_be_empty(self) -> bool:
        """Whether nothing might be selected; decided from what is known when tracing."""
        return self.mask is not None or not all(self._sizes)

    @functools.cached_property
    def count(self) -> tf.Tensor:
        """The number of selected values."""
        if self.mask is None:
            sizes = tf.gather(tf.shape(self._values), self.axis)
            return tf.cast(tf.reduce_prod(sizes), self._values.dtype)
        # Counted in integers: a float32 sum of ones stops growing at 2^24.
        selected = tf.reduce_sum(tf.cast(self.mask, tf.int32), self.axis, keepdims=True)
        return tf.cast(selected, self._values.dtype)

    def keep(self, values: tf.Tensor, neutral: float) -> tf.Tensor:
        """The values inside the mask, and `neutral` outside."""
        if self.mask is None:
            return values
        return tf.where(self.mask, values, tf.cast(neutral, values.dtype))

    def total(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(self.keep(values, 0.0), self.axis, keepdims=True)

    def product(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_prod(self.keep(values, 1.0), self.axis, keepdims=True)

    def smallest(self, values: tf.Tensor) -> tf.Tensor:
        # Not 1: a tie with a selected value would take half of that value's gradient.
        return tf.reduce_min(self.keep(values, values.dtype.max), self.axis, keepdims=True)

    def largest(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(self.keep(values, values.dtype.min), self.axis, keepdims=True)

    def mean(self, values: tf.Tensor) -> tf.Tensor:
        """The mean; 1 where nothing is selected, so that a root taken of it has a finite gradient."""
        if not self.may_be_empty:
            return tf.reduce_mean(values, self.axis, keepdims=True)
        mean = self.total(values) / tf.maximum(self.count, 1.0)
        return tf.where(self.count > 0.0, mean, tf.ones_like(mean))


@dataclass(frozen=True)
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


def _positive_axes(axis: SupportsIndex | Sequence[SupportsIndex] | None, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = [operator.index(a) for a in (axis if isinstance(axis, Sequence) else [axis])]
    for a in axes:
        if not -rank <= a < rank:
            raise LogicValueError(f"`axis` {a} does not exist in a tensor with {rank} axes.")
    positive = tuple(a % rank for a in axes)
    if len(set(positive)) < len(positive):
        raise LogicValueError(f"`axis` names an axis twice: {axis}.")
    return positive
