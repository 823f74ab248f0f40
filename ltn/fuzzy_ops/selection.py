"""What an aggregator ranges over: some axes of a tensor, and of those only what a mask selects."""

import functools

import tensorflow as tf


class Selection:
    """What a mask selects, and its statistics.

    `mask` has the shape of the values, or is None: everything is selected. Each statistic reduces `axis`
    and keeps it with size 1. A value outside the mask is replaced by the neutral element of the statistic
    (0 in a sum), so that shapes stay static and the gradient there is exactly zero.
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
