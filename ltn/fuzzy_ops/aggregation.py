"""The contract of aggregators, the semantics of quantifiers: how they reduce axes, at once or by parts."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, SupportsIndex

import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.arguments import (
    as_mask,
    check_broadcast,
    check_empty,
    positive_axes,
    segments_for,
    truth_values,
    weights_for,
)
from ltn.fuzzy_ops.base import Operator
from ltn.fuzzy_ops.selection import Selection, Statistics, split_into_segments


class Part(NamedTuple):
    """What an aggregator keeps of some of the values: a statistic, and how much it weighs in the whole.

    The weight is the number of values, or of those that are the extreme; 0 where nothing was selected.
    """

    statistic: tf.Tensor
    weight: tf.Tensor


@dataclasses.dataclass(frozen=True)
class Aggregator(Operator):
    """An operator that reduces axes of truth values, only where a mask selects them.

    Values that are not all at hand at once are aggregated by parts, with the same result: `part` makes each
    part, and `join` joins them.
    """

    empty: ClassVar[float]
    # Whether a part counts in the whole as many times as it has values, as in a mean but not in a sum.
    parts_weigh: ClassVar[bool] = True
    # Whether a statistic is several numbers, on an axis of its own at the end.
    is_vector: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__call__" in cls.__dict__:
            raise LogicTypeError(
                f"{cls.__name__} is derived from an aggregator and defines __call__, which would be passed "
                "over where values are aggregated by parts. Define _statistic and _join instead, or derive "
                "it from nothing: any callable with (xs, axis) is an aggregator."
            )

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
            overrides: hyper-parameters for this call only, such as `p=6`.

        Returns:
            The shape of `xs` (broadcast with `mask` and `weights`) without the reduced axes.
        """
        hyperparameters = self._hyperparameters(overrides)
        (xs,) = truth_values(xs)
        if mask is not None:
            mask = as_mask(mask)
        # What is not given is not passed on: each argument of a compiled function costs time.
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
            empty=self._truth_of_nothing(empty, hyperparameters),
            **extra,
            **hyperparameters,
        )

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
            overrides: hyper-parameters for this call only, such as `p=6`.

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
            # So that each rank has its own trace: one for several ranks would know none.
            rank=xs.shape.rank,
            axis=axes,
            keepdims=True,
            empty=self._truth_of_nothing(empty, hyperparameters),
            **extra,
            **hyperparameters,
        )

    def part(
        self,
        xs: Any,
        axis: SupportsIndex | Sequence[SupportsIndex],
        mask: Any = None,
        ids: Any = None,
        count: Any = None,
        weights: Any = None,
        **overrides: Any,
    ) -> Part:
        """What to keep of some of the values: `xs` along `axis`, or, with `ids` and `count`, its segments.

        The arguments are those of a call, or of `segments`; so are the shapes.

        >>> from ltn.fuzzy_ops import Aggreg_Mean
        >>> mean = Aggreg_Mean()
        >>> parts = [mean.part([0.25, 0.75], axis=0), mean.part([1.0], axis=0)]
        >>> float(mean.join(parts)) == float(mean([0.25, 0.75, 1.0]))
        True
        """
        hyperparameters = self._hyperparameters(overrides)
        (xs,) = truth_values(xs)
        segments: dict[str, Any] = {}
        if ids is not None:
            ids, count = segments_for(xs, ids, count)
            segments = {"ids": ids, "count": count, "rank": xs.shape.rank}
        if mask is not None:
            mask = as_mask(mask)
        if weights is not None:
            weights = weights_for(self, xs, weights)
        rank = max(tensor.shape.rank for tensor in (xs, mask, weights) if tensor is not None)
        axes = positive_axes(axis, rank)
        xs, selection = self._select(xs, mask, weights, axes, segments)
        statistic = self._as_part(self._statistic(xs, selection, **hyperparameters), **hyperparameters)
        weight = self._weight(xs, selection)
        weight = tf.broadcast_to(weight[..., tf.newaxis] if self.is_vector else weight, tf.shape(statistic))
        return Part(selection.as_result(statistic), selection.as_result(weight))

    def join(self, parts: Sequence[Part], empty: float | None = None, **overrides: Any) -> tf.Tensor:
        """The aggregate of all values, from their parts; other arguments as in a call."""
        if not isinstance(parts, list | tuple) or not parts or not isinstance(parts[0], Part):
            raise LogicTypeError(f"`parts` is a list of what `part` returned, not empty; got {parts!r}.")
        stacked = Part(*(tf.stack(tensors) for tensors in zip(*parts, strict=True)))
        return self.finish(self.merge(stacked, **overrides), empty, **overrides)

    def merge(self, parts: Part, **overrides: Any) -> Part:
        """One part, from parts that are stacked along axis 0."""
        hyperparameters = self._hyperparameters(overrides)
        some = parts.weight > 0.0
        statistics = tf.where(some, parts.statistic, tf.constant(0.5, parts.statistic.dtype))
        weights = tf.where(some, parts.weight, tf.zeros_like(parts.weight)) if self.parts_weigh else None
        selection = Selection(statistics, some, (0,), weights)
        merged = self._join(statistics, selection, **hyperparameters), self._weight(statistics, selection)
        return Part(*map(selection.as_result, merged))

    def finish(self, part: Part, empty: float | None = None, **overrides: Any) -> tf.Tensor:
        """The aggregate of all values, from one part of all of them."""
        hyperparameters = self._hyperparameters(overrides)
        value = self._value(part.statistic, **hyperparameters)
        of_nothing = self._truth_of_nothing(empty, hyperparameters)
        weight = part.weight[..., 0] if self.is_vector else part.weight
        return tf.where(weight > 0.0, value, self._of_nothing(tf.constant(of_nothing, value.dtype)))

    def _truth_of_nothing(self, empty: float | None, hyperparameters: dict[str, Any]) -> float:
        """The truth value of an empty selection, where a call says `empty`."""
        return self.empty if empty is None else check_empty(empty)

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
        segments: dict[str, Any] = {
            name: others.pop(name) for name in ("ids", "count", "rank") if name in others
        }
        xs, selection = cls._select(xs, mask, weights, axis, segments)
        value = cls._value(cls._statistic(xs, selection, **others), **others)
        if selection.may_be_empty:
            of_nothing = cls._of_nothing(tf.constant(empty, xs.dtype))
            value = tf.where(selection.count > 0.0, value, of_nothing)
        return selection.as_result(value, keepdims)

    @staticmethod
    def _select(
        xs: tf.Tensor,
        mask: tf.Tensor | None,
        weights: tf.Tensor | None,
        axis: tuple[int, ...],
        segments: dict[str, Any],
    ) -> tuple[tf.Tensor, Statistics]:
        """The values as they are aggregated, and their statistics."""
        if weights is not None:
            mask = weights > 0.0 if mask is None else mask & (weights > 0.0)
        if mask is not None:
            if not mask.shape.is_fully_defined() or mask.shape != xs.shape:
                mask = mask & tf.ones_like(xs, tf.bool)
            # Values outside the mask, NaN perhaps, go before any arithmetic; their gradient with them.
            xs = tf.where(mask, xs, tf.constant(0.5, xs.dtype))
        if weights is not None:
            weights = tf.where(mask, weights, tf.constant(0.0, xs.dtype))
        if segments:
            return split_into_segments(xs, mask, weights, axis, **segments)
        return xs, Selection(xs, mask, axis, weights)

    @staticmethod
    @abc.abstractmethod
    def _statistic(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The mathematics, on `xs`, its `Statistics` and the hyper-parameters; shaped as these statistics."""

    @staticmethod
    def _as_part(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The statistic, under the hyper-parameters, in the shape that it has for any number of values."""
        statistic: tf.Tensor = args[0]
        return statistic

    @staticmethod
    def _weight(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        """How much some of the values weigh in the whole."""
        return selection.count

    @staticmethod
    @abc.abstractmethod
    def _join(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The statistic of the whole, from those of its parts, their `Statistics`, the hyper-parameters."""

    @staticmethod
    def _value(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The aggregate, from the statistic of all values and the hyper-parameters."""
        statistic: tf.Tensor = args[0]
        return statistic

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        """How the truth value `empty` reads in the operator's range."""
        return empty
