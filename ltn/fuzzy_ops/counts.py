"""Counts, the semantics of `exactly`, `at least` and `at most`: to what degree so many values are true."""

import abc
import dataclasses
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from ltn.checks import size_of
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.aggregation import Aggregator
from ltn.fuzzy_ops.arguments import check_empty
from ltn.fuzzy_ops.folding import Folding
from ltn.fuzzy_ops.selection import Statistics


@dataclass(frozen=True)
class CountBounds:
    """Between how many values are true: at least `least`, and at most `most`, without limit where it is None.

    `negated` is the opposite: fewer, or more.

    >>> 0 in CountBounds(1, None), 3 in CountBounds(1, None), 3 in CountBounds(1, None, negated=True)
    (False, True, False)
    """

    least: int = 0
    most: int | None = None
    negated: bool = False

    @property
    def limit(self) -> int:
        """The largest number to tell from others: all above it are within the bounds, or none is."""
        return self.least if self.most is None else max(self.least, self.most)

    def __contains__(self, number: int) -> bool:
        within = self.least <= number and (self.most is None or number <= self.most)
        return within != self.negated

    def select(self, numbers: tf.Tensor) -> tf.Tensor:
        """Which of the numbers lie within the bounds."""
        within = numbers >= self.least
        if self.most is not None:
            within &= numbers <= self.most
        return ~within if self.negated else within


@dataclass(frozen=True)
class Count(Aggregator):
    """An operator that counts true values: how true it is that they are `least=` or more, `most=` or fewer.

    Each call says one of them, or both: `least=2, most=2` is exactly two. It has the arguments of an
    aggregator, and `negated=True` for the truth of the negation. Of nothing, the number is 0.

    A count is of individuals: a value of weight 0 is left out, and any other counts once.
    """

    # That of `least=1`; the bounds of a call decide.
    empty: ClassVar[float] = 0.0
    parts_weigh: ClassVar[bool] = False
    is_vector: ClassVar[bool] = True

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in overrides.items() if name not in _BOUNDS}
        return super()._hyperparameters(own) | {
            "bounds": _bounds(**{name: value for name, value in overrides.items() if name in _BOUNDS})
        }

    def check_overrides(self, **overrides: Any) -> None:
        """Raise unless a call could take these hyper-parameters; its bounds are none."""
        super()._hyperparameters(overrides)

    def _truth_of_nothing(self, empty: float | None, hyperparameters: dict[str, Any]) -> float:
        return float(0 in hyperparameters["bounds"]) if empty is None else check_empty(empty)

    @staticmethod
    def _select(
        xs: tf.Tensor,
        mask: tf.Tensor | None,
        weights: tf.Tensor | None,
        axis: tuple[int, ...],
        segments: dict[str, Any],
    ) -> tuple[tf.Tensor, Statistics]:
        if weights is not None:
            mask = weights > 0.0 if mask is None else mask & (weights > 0.0)
        return Aggregator._select(xs, mask, None, axis, segments)


_BOUNDS = tuple(field.name for field in dataclasses.fields(CountBounds))


def _between(
    at_least: Callable[[int], tf.Tensor], conjunction: Callable[[Any, Any], tf.Tensor], bounds: CountBounds
) -> tf.Tensor:
    """What lies within the bounds, where at most k is the negation of at least k + 1."""
    found = at_least(bounds.least)
    if bounds.most is not None:
        below = 1.0 - at_least(bounds.most + 1)
        found = conjunction(found, below) if bounds.least else below
    return 1.0 - found if bounds.negated else found


def _bounds(least: Any = None, most: Any = None, negated: Any = False) -> CountBounds:
    """The bounds of a call."""
    for name, number in (("least", least), ("most", most)):
        if number is None:
            continue
        if not isinstance(number, numbers.Integral) or isinstance(number, bool):
            raise LogicTypeError(f"`{name}` is a whole number; got {number!r}.")
        if number < 0:
            raise LogicValueError(f"`{name}` is a number from 0 up; got {number}.")
    if least is None and most is None:
        raise LogicTypeError("A count needs bounds: `least=2`, `most=3`, or both.")
    return CountBounds(int(least or 0), None if most is None else int(most), bool(negated))


@dataclass(frozen=True)
class Distribution(Count):
    """A count of independent truths, by the probability of each number of true ones.

    The numbers 0, 1, ... up to the limit have each a probability of their own, and all above it one together.
    Those of some values, and of some others, give those of both, as the coefficients of polynomials that are
    multiplied. Every answer is a sum of such probabilities, also that of a negation: nothing is subtracted,
    so that small ones keep their digits.

    `_times` and `_plus` are the arithmetic of probabilities, `_zero` and `_one` its 0 and 1.
    """

    @staticmethod
    @abc.abstractmethod
    def _times(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor: ...

    @staticmethod
    @abc.abstractmethod
    def _plus(xs: tf.Tensor, axis: int, keepdims: bool = False) -> tf.Tensor: ...

    @staticmethod
    @abc.abstractmethod
    def _zero(dtype: tf.DType) -> float: ...

    _one: ClassVar[float]

    @classmethod
    def _folding(cls, bounds: CountBounds) -> Folding:
        most = bounds.limit + 2

        def combine(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            m, n = size_of(x, -1), size_of(y, -1)
            # Row i is y, moved by i places; one zero stands for all places before it and behind it.
            places = tf.range(m + n - 1) - tf.range(m)[:, tf.newaxis]
            places = tf.where((places >= 0) & (places < n), places, n)
            moved = tf.gather(cls._lengthen(y, n + 1), places, axis=-1)
            found = cls._plus(cls._times(x[..., tf.newaxis], moved), -2)
            if found.shape[-1] is not None and found.shape[-1] <= most:
                return found
            above = cls._plus(found[..., most - 1 :], -1, keepdims=True)
            return tf.concat([found[..., : most - 1], above], -1)

        def nothing(length: int | tf.Tensor, dtype: tf.DType) -> tf.Tensor:
            return cls._lengthen(tf.constant([cls._one], dtype), length)

        return Folding(combine, nothing, most)

    @classmethod
    def _lengthen(cls, rows: tf.Tensor, length: int | tf.Tensor) -> tf.Tensor:
        """The rows with zeros behind them."""
        missing = [[0, 0]] * (rows.shape.rank - 1) + [[0, length - size_of(rows, -1)]]
        return tf.pad(rows, missing, constant_values=cls._zero(rows.dtype))

    @staticmethod
    @abc.abstractmethod
    def _rows(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The probabilities of 0 and of 1, for each value alone; of what is not selected, 0 is certain."""

    @classmethod
    def _statistic(
        cls, xs: tf.Tensor, selection: Statistics, bounds: CountBounds, **others: Any
    ) -> tf.Tensor:
        return selection.fold(cls._rows(xs, selection, **others), cls._folding(bounds))

    @classmethod
    def _as_part(cls, statistic: tf.Tensor, bounds: CountBounds, **_: Any) -> tf.Tensor:
        return cls._lengthen(statistic, bounds.limit + 2)

    @classmethod
    def _join(cls, parts: tf.Tensor, selection: Statistics, bounds: CountBounds, **_: Any) -> tf.Tensor:
        folding = cls._folding(bounds)
        # Loops forget how long rows are.
        parts = tf.ensure_shape(parts, [*parts.shape[:-1], folding.longest])
        parts = tf.where(selection.mask, parts, folding.nothing(folding.longest, parts.dtype))
        return selection.fold(parts, folding)

    @classmethod
    def _value(cls, statistic: tf.Tensor, bounds: CountBounds, **_: Any) -> tf.Tensor:
        within = bounds.select(tf.range(size_of(statistic, -1)))
        zero = tf.constant(cls._zero(statistic.dtype), statistic.dtype)
        found = cls._plus(tf.where(within, statistic, zero), -1)
        # Not above certain by rounding; the gradient passes all the same.
        one = tf.constant(cls._one, found.dtype)
        return found + tf.stop_gradient(tf.minimum(found, one) - found)


@dataclass(frozen=True)
class Count_Prod(Distribution):
    """Probability of the count, from the product: each value is true with its own probability x_i.

    C(x_1, ..., x_n) = sum over the sets I of true ones, least <= |I| <= most, of

        prod_{i in I} x_i  prod_{i not in I} (1 - x_i).

    `least=1` is Aggreg_ProbSum, `least=n` Aggreg_Prod, and `most=0` the product of the 1 - x_i. `xs` of any
    shape, reduced along `axis`. Time and memory grow as n times the count. The gradient is finite everywhere,
    also at 0 and 1; it vanishes where several values would have to change.

    >>> [round(float(Count_Prod()([0.5, 0.5, 0.5], least=k, most=k)), 3) for k in range(5)]
    [0.125, 0.375, 0.375, 0.125, 0.0]
    """

    _one: ClassVar[float] = 1.0

    @staticmethod
    def _times(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x * y

    @staticmethod
    def _plus(xs: tf.Tensor, axis: int, keepdims: bool = False) -> tf.Tensor:
        return tf.reduce_sum(xs, axis, keepdims=keepdims)

    @staticmethod
    def _zero(dtype: tf.DType) -> float:
        return 0.0

    @staticmethod
    def _rows(xs: tf.Tensor, selection: Statistics, **_: Any) -> tf.Tensor:
        xs = selection.keep(xs, 0.0)
        return tf.stack([1.0 - xs, xs], -1)


@dataclass(frozen=True)
class Count_Godel(Count):
    """Order statistics, from the minimum: with x_(1) >= x_(2) >= ... the values in descending order,

        at least k:  x_(k),  which is 1 for k = 0, and 0 for k > n,
        at most k:   1 - x_(k+1),  the negation of at least k + 1,

    and the minimum of both where there are two bounds. Exactly k is so the largest truth that a set I of k
    values has in min(min_{i in I} x_i, min_{i not in I} 1 - x_i): no set does better than the k largest ones.

    `least=1` is Aggreg_Max, `least=n` Aggreg_Min. `xs` of any shape, reduced along `axis`. Single-passing:
    one value learns; of equal ones, the first.

    >>> count = Count_Godel()
    >>> values = [0.9, 0.2, 0.6]
    >>> [round(float(truth), 3) for truth in (count(values, least=2), count(values, least=2, most=2))]
    [0.6, 0.6]
    """

    @staticmethod
    def _folding(bounds: CountBounds) -> Folding:
        most = bounds.limit + 1

        def combine(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            both = tf.concat([x, y], -1)
            known = both.shape[-1]
            size = tf.minimum(tf.shape(both)[-1], most) if known is None else min(known, most)
            return tf.math.top_k(both, size).values

        def nothing(length: int | tf.Tensor, dtype: tf.DType) -> tf.Tensor:
            return tf.zeros([length], dtype)

        return Folding(combine, nothing, most)

    @classmethod
    def _statistic(cls, xs: tf.Tensor, selection: Statistics, bounds: CountBounds) -> tf.Tensor:
        return selection.fold(selection.keep(xs, 0.0)[..., tf.newaxis], cls._folding(bounds))

    @staticmethod
    def _as_part(statistic: tf.Tensor, bounds: CountBounds) -> tf.Tensor:
        missing = bounds.limit + 1 - size_of(statistic, -1)
        return tf.pad(statistic, [[0, 0]] * (statistic.shape.rank - 1) + [[0, missing]])

    @classmethod
    def _join(cls, parts: tf.Tensor, selection: Statistics, bounds: CountBounds) -> tf.Tensor:
        folding = cls._folding(bounds)
        parts = tf.ensure_shape(parts, [*parts.shape[:-1], folding.longest])
        return selection.fold(selection.keep(parts, 0.0), folding)

    @staticmethod
    def _value(statistic: tf.Tensor, bounds: CountBounds) -> tf.Tensor:
        def at_least(number: int) -> tf.Tensor:
            if number == 0:
                return tf.ones_like(statistic[..., 0])
            # What is not there is false.
            is_it = tf.range(1, size_of(statistic, -1) + 1) == number
            return tf.reduce_sum(tf.where(is_it, statistic, tf.zeros_like(statistic)), -1)

        return _between(at_least, tf.minimum, bounds)


@dataclass(frozen=True)
class Count_Luk(Count):
    """Clipped sums, from the Lukasiewicz norms: with s = x_1 + ... + x_n,

        at least k:  min(max(s - k + 1, 0), 1),
        at most k:   min(max(k + 1 - s, 0), 1),  the negation of at least k + 1,

    and their Lukasiewicz conjunction where there are two bounds, so that exactly k is max(1 - |s - k|, 0).

    These are the sums that count true and false values right, that are Aggreg_OrLuk for `least=1` and
    Aggreg_AndLuk for `least=n`, and by which at least k of the x_i are at most n - k of the 1 - x_i. The
    disjunction over all sets of k values is none of them: it is 1 as soon as a few of the many sets are true
    to a small degree.

    `xs` of any shape, reduced along `axis`. Every value has the gradient 1, or -1; it vanishes where s is
    away from the bound by more than 1.

    >>> count = Count_Luk()
    >>> values = [0.9, 0.2, 0.6]
    >>> [round(float(truth), 3) for truth in (count(values, least=2), count(values, least=2, most=2))]
    [0.7, 0.7]
    """

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, bounds: CountBounds) -> tf.Tensor:
        return selection.total(xs)[..., tf.newaxis]

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics, bounds: CountBounds) -> tf.Tensor:
        return selection.total(parts)

    @staticmethod
    def _value(statistic: tf.Tensor, bounds: CountBounds) -> tf.Tensor:
        total = statistic[..., 0]

        def at_least(number: int) -> tf.Tensor:
            return tf.minimum(tf.nn.relu(total - (number - 1.0)), 1.0)

        return _between(at_least, lambda x, y: tf.nn.relu(x + y - 1.0), bounds)
