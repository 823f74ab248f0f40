"""What an aggregator ranges over, and its statistics: masked axes of a tensor, or segments of tuples."""

import abc
import functools
import math

import tensorflow as tf

from ltn.checks import size_of
from ltn.fuzzy_ops.folding import Folding, fold_rows, fold_segments


class Statistics(abc.ABC):
    """The statistics of the selected values that all aggregators are written in.

    `mask` has the shape of the values, or is None: everything is selected. A value outside the mask is
    replaced by the neutral element of the statistic (0 in a sum), so that shapes stay static and the gradient
    there is exactly zero. `weights`, of that shape too, is 0 outside the mask: a value of weight w counts w
    times. Where nothing is selected, the extremes are the ends of the dtype.
    """

    def __init__(self, values: tf.Tensor, mask: tf.Tensor | None, weights: tf.Tensor | None):
        self.mask = mask
        self.weights = weights
        self._values = values

    @property
    @abc.abstractmethod
    def may_be_empty(self) -> bool:
        """Whether nothing might be selected; decided from what is known when tracing."""

    @abc.abstractmethod
    def spread(self, statistic: tf.Tensor) -> tf.Tensor:
        """A statistic, repeated for each of its values; broadcasts with the values."""

    @abc.abstractmethod
    def as_result(self, statistic: tf.Tensor, keepdims: bool = False) -> tf.Tensor:
        """A statistic, without the axes that were reduced, or with them."""

    @abc.abstractmethod
    def _number(self) -> tf.Tensor:
        """The number of selected values, as integers."""

    @abc.abstractmethod
    def _sum(self, values: tf.Tensor) -> tf.Tensor: ...

    @abc.abstractmethod
    def _prod(self, values: tf.Tensor) -> tf.Tensor: ...

    @abc.abstractmethod
    def _min(self, values: tf.Tensor) -> tf.Tensor: ...

    @abc.abstractmethod
    def _max(self, values: tf.Tensor) -> tf.Tensor: ...

    @abc.abstractmethod
    def fold(self, values: tf.Tensor, folding: Folding) -> tf.Tensor:
        """All values as one; each is a row, on an axis of its own at the end, and so is what they give.

        Those that are not selected must be rows that change nothing.
        """

    @functools.cached_property
    def count(self) -> tf.Tensor:
        """The number of selected values; the sum of their weights."""
        # Counted in integers: a float32 sum of ones stops growing at 2^24.
        return (
            tf.cast(self._number(), self._values.dtype) if self.weights is None else self._sum(self.weights)
        )

    def keep(self, values: tf.Tensor, neutral: float) -> tf.Tensor:
        """The values inside the mask, and `neutral` outside."""
        if self.mask is None:
            return values
        return tf.where(self.mask, values, tf.cast(neutral, values.dtype))

    def total(self, values: tf.Tensor) -> tf.Tensor:
        kept = self.keep(values, 0.0)
        return self._sum(kept if self.weights is None else self.weights * kept)

    def product(self, values: tf.Tensor) -> tf.Tensor:
        kept = self.keep(values, 1.0)
        return self._prod(kept if self.weights is None else _power(kept, self.weights))

    def smallest(self, values: tf.Tensor) -> tf.Tensor:
        # Not 1: a tie with a selected value would take half of that value's gradient.
        return self._min(self.keep(values, values.dtype.max))

    def largest(self, values: tf.Tensor) -> tf.Tensor:
        return self._max(self.keep(values, values.dtype.min))

    def ties(self, values: tf.Tensor, extreme: tf.Tensor) -> tf.Tensor:
        """How many of the selected values are equal to their extreme; NaN counts too."""
        return self.total(self._mark_ties(values, extreme))

    def among_ties(self, values: tf.Tensor, extreme: tf.Tensor) -> tf.Tensor:
        """The extreme; values equal to it share the gradient by their weights."""
        tied = self.keep(self._mark_ties(values, extreme), 0.0)
        share = tied if self.weights is None else tied * self.weights
        share = tf.stop_gradient(tf.math.divide_no_nan(share, self.spread(self._sum(share))))
        return tf.stop_gradient(extreme) + self._sum(share * (values - tf.stop_gradient(values)))

    def _mark_ties(self, values: tf.Tensor, extreme: tf.Tensor) -> tf.Tensor:
        return tf.cast((values == self.spread(extreme)) | tf.math.is_nan(values), values.dtype)

    def mean(self, values: tf.Tensor) -> tf.Tensor:
        """The mean; 1 where nothing is selected, so that a root taken of it has a finite gradient."""
        some = self.count > 0.0
        mean = self.total(values) / tf.where(some, self.count, tf.ones_like(self.count))
        return tf.where(some, mean, tf.ones_like(mean))


class Selection(Statistics):
    """What a mask selects along `axis`; a statistic keeps those axes, with size 1, unless they come first.

    Without its first axes a statistic broadcasts with the values as it is: keeping them would cost two
    operations, one on the way back.
    """

    def __init__(
        self,
        values: tf.Tensor,
        mask: tf.Tensor | None,
        axis: tuple[int, ...],
        weights: tf.Tensor | None = None,
    ):
        super().__init__(values, mask, weights)
        self.axis = axis
        self._keepdims = axis != tuple(range(len(axis)))

    @property
    def may_be_empty(self) -> bool:
        return self.mask is not None or not all(self._values.shape[a] for a in self.axis)

    def spread(self, statistic: tf.Tensor) -> tf.Tensor:
        return statistic

    def as_result(self, statistic: tf.Tensor, keepdims: bool = False) -> tf.Tensor:
        if keepdims == self._keepdims or not self.axis:
            return statistic
        if self._keepdims:
            return tf.squeeze(statistic, self.axis)
        return tf.reshape(statistic, tf.concat([[1] * len(self.axis), tf.shape(statistic)], 0))

    def mean(self, values: tf.Tensor) -> tf.Tensor:
        if self.may_be_empty:
            return super().mean(values)
        return tf.reduce_mean(values, self.axis, keepdims=self._keepdims)

    def fold(self, values: tf.Tensor, folding: Folding) -> tf.Tensor:
        kept = [axis for axis in range(values.shape.rank) if axis not in self.axis]
        number = math.prod(size_of(values, axis) for axis in self.axis)
        shape = [number, *(size_of(values, axis) for axis in kept)]
        found = fold_rows(tf.reshape(tf.transpose(values, [*self.axis, *kept]), shape), folding)
        for axis in sorted(self.axis) if self._keepdims else ():
            found = tf.expand_dims(found, axis)
        return found

    def _number(self) -> tf.Tensor:
        if self.mask is not None:
            return self._sum(tf.cast(self.mask, tf.int32))
        sizes = [self._values.shape[axis] for axis in self.axis]
        if None not in sizes:
            return tf.constant(math.prod(sizes), tf.int64)
        return tf.reduce_prod(tf.gather(tf.shape(self._values), self.axis))

    def _sum(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(values, self.axis, keepdims=self._keepdims)

    def _prod(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_prod(values, self.axis, keepdims=self._keepdims)

    def _min(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_min(values, self.axis, keepdims=self._keepdims)

    def _max(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(values, self.axis, keepdims=self._keepdims)


class Segments(Statistics):
    """Tuples along axis 0, each in the segment that `ids` names; a statistic has one entry per segment there.

    Values (K, *rest) and ids (K,) give statistics (segments, *rest). Ties share a gradient as they do along
    an axis, and no gradient divides by a zero among the values: TensorFlow sees to both.
    """

    def __init__(
        self,
        values: tf.Tensor,
        mask: tf.Tensor | None,
        ids: tf.Tensor,
        segments: tf.Tensor,
        rank: int,
        weights: tf.Tensor | None = None,
    ):
        super().__init__(values, mask, weights)
        self.ids = ids
        self.segments = segments
        self._rank = rank

    @property
    def may_be_empty(self) -> bool:
        return True

    def spread(self, statistic: tf.Tensor) -> tf.Tensor:
        return tf.gather(statistic, self.ids)

    def as_result(self, statistic: tf.Tensor, keepdims: bool = False) -> tf.Tensor:
        return statistic

    def fold(self, values: tf.Tensor, folding: Folding) -> tf.Tensor:
        return fold_segments(values, self.ids, self.segments, folding)

    def _number(self) -> tf.Tensor:
        if self.mask is not None:
            return self._sum(tf.cast(self.mask, tf.int32))
        ones = tf.ones_like(self.ids, tf.int32)
        return self._sum(tf.reshape(ones, [-1] + [1] * (self._rank - 1)))

    def _sum(self, values: tf.Tensor) -> tf.Tensor:
        return tf.math.unsorted_segment_sum(values, self.ids, self.segments)

    def _prod(self, values: tf.Tensor) -> tf.Tensor:
        return tf.math.unsorted_segment_prod(values, self.ids, self.segments)

    def _min(self, values: tf.Tensor) -> tf.Tensor:
        return tf.math.unsorted_segment_min(values, self.ids, self.segments)

    def _max(self, values: tf.Tensor) -> tf.Tensor:
        return tf.math.unsorted_segment_max(values, self.ids, self.segments)


def split_into_segments(
    xs: tf.Tensor,
    mask: tf.Tensor | None,
    weights: tf.Tensor | None,
    axis: tuple[int, ...],
    ids: tf.Tensor,
    count: tf.Tensor,
    rank: int,
) -> tuple[tf.Tensor, Segments]:
    """The values, of `rank` axes, with `axis` merged into axis 0, and their statistics by segment."""
    if not axis:
        return xs, Segments(xs, mask, ids, count, rank, weights)
    kept = [a for a in range(1, rank) if a not in axis]
    sizes = [tf.shape(xs)[a] if xs.shape[a] is None else xs.shape[a] for a in range(rank)]
    rows = math.prod(sizes[a] for a in axis)

    def merge_axes(tensor: tf.Tensor) -> tf.Tensor:
        turned = tf.transpose(tensor, [0, *axis, *kept])
        # Not -1 for the number of rows: among sizes of 0 it cannot be inferred.
        return tf.reshape(turned, [sizes[0] * rows, *(sizes[a] for a in kept)])

    # All at once, so that ties are ties wherever they stand in a segment.
    xs = merge_axes(xs)
    mask, weights = (None if tensor is None else merge_axes(tensor) for tensor in (mask, weights))
    return xs, Segments(xs, mask, tf.repeat(ids, rows), count, rank - len(axis), weights)


def _power(values: tf.Tensor, exponents: tf.Tensor) -> tf.Tensor:
    # Values may fall below 0 by rounding, where powers are NaN.
    values = tf.maximum(values, 0.0)
    # At 0 the slope of x^w is infinite for w < 1; there it is taken as that of x itself.
    steep = (values <= 0.0) & (exponents < 1.0) & (exponents > 0.0)
    return tf.where(steep, values, tf.pow(tf.where(steep, tf.ones_like(values), values), exponents))
