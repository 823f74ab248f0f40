"""Operators on log-truths: l = log(truth) in (-inf, 0], where products neither vanish nor stop learning.

0 is true, and `log_zero` stands for the logarithm of 0. They are operators like all others, with masks,
weights and hyper-parameters, but neither take nor give truth values in [0, 1]: in one formula all operators
come from here, or none does.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from ltn._private import custom_gradient
from ltn.fuzzy_ops.aggregation import Aggregator
from ltn.fuzzy_ops.aggregators import PowerAggregator
from ltn.fuzzy_ops.arguments import as_flag, check_scalar, truth_values
from ltn.fuzzy_ops.base import Connective, eps
from ltn.fuzzy_ops.counts import CountBounds, Distribution
from ltn.fuzzy_ops.selection import Statistics

# Below any logit, so that the false one of two alternatives takes no gradient; and finite, so that no
# infinity enters a loss.
log_zero: float = -1e4


@custom_gradient
def _bounded_log(t: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    # log(t) exactly, but kept in [log_zero, 0]: t may leave [0, 1] by rounding. Its gradient is 1/t down to
    # eps and stays 1/eps below, so that it neither overflows nor, at 0, vanishes. The paper's projection pi_0
    # sets the same bound, but would change the values as well.
    value = tf.minimum(tf.maximum(tf.math.log(tf.maximum(t, 0.0)), log_zero), 0.0)
    return value, lambda upstream: upstream / tf.maximum(t, eps)


def log_truth(t: Any) -> tf.Tensor:
    """The log-truth of a truth value t in [0, 1]: log(t), and `log_zero` where t = 0.

    The shape is kept. The gradient is 1/t, and 1/eps where t < eps.

    >>> [round(float(log_truth(t)), 3) for t in (0.0, 1e-30, 0.5, 1.0)]
    [-10000.0, -69.078, -0.693, 0.0]
    """
    return _bounded_log(truth_values(t)[0])


def log1mexp(l: Any) -> tf.Tensor:  # noqa: E741  # a logarithm, as in the formula
    """The log-truth of a negation: log(1 - exp(l)) for l <= 0, and `log_zero` where l = 0.

    The shape is kept. Exact for l near 0 and for l far below; the gradient is bounded by 1/eps.

    >>> [round(float(log1mexp(l)), 3) for l in (0.0, -1e-30, -0.693147, -5.0)]
    [-10000.0, -69.078, -0.693, -0.007]
    """
    (logs,) = truth_values(l)
    half = math.log(0.5)
    # Each form is exact on its side of 1/2. The second must not see 0, not even where the first is taken: its
    # gradient would be 0 * inf there.
    above = _bounded_log(-tf.math.expm1(logs))
    below = tf.math.log1p(-tf.exp(tf.minimum(logs, half)))
    return tf.where(logs > half, above, below)


@dataclass(frozen=True)
class And_Log(Connective):
    """Product t-norm of log-truths: T(k, l) = k + l = log(exp(k) exp(l)).

    T(l, 0) = l. Operands broadcast. The gradient is 1 everywhere.

    >>> round(float(And_Log()(-0.5, -2.0)), 3)
    -2.5
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x + y


@dataclass(frozen=True)
class Or_Log(Connective):
    """Probabilistic sum of log-truths: S(k, l) = log(exp(k) + exp(l) - exp(k + l)).

    S(l, 0) = 0, S(l, log 0) = l. Operands broadcast. Far below 0 it is the logarithm of a sum, whose
    gradients add up to 1; they vanish only where an operand is true.

    >>> import math
    >>> round(math.exp(Or_Log()(math.log(0.5), math.log(0.4))), 3)
    0.7
    """

    @staticmethod
    def _evaluate(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        # With m the larger one: m + log(1 + exp(n - m) (1 - exp(m))). One comparison selects both, so that
        # each operand keeps its own partial derivative where they are equal.
        left = x >= y
        m, n = tf.where(left, x, y), tf.where(left, y, x)
        return m + tf.math.log1p(-tf.exp(n - m) * tf.math.expm1(m))


@dataclass(frozen=True)
class Aggreg_LogMean(Aggregator):
    """Mean of log-truths: A(l_1, ..., l_n) = (1/n) sum l_i, the logarithm of the geometric mean. Universal.

    0 when all l_i = 0; 0 = log 1 of nothing. `xs` of any shape, reduced along `axis`. Each value
    has the gradient 1/n, however many there are and however small their product is.

    >>> round(float(Aggreg_LogMean()([-1.0, -3.0])), 3)
    -2.0
    """

    empty: ClassVar[float] = 1.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.mean(xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.mean(parts)

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        return log_truth(empty)


@dataclass(frozen=True)
class Aggreg_LogMeanExp(PowerAggregator):
    """Generalised mean of log-truths: A(l_1, ..., l_n) = (1/p) log((1/n) sum exp(p l_i)), p > 0. Existential.

    The logarithm of Aggreg_pMean's value: 0 when all l_i = 0; `log_zero` of nothing. `xs` of any shape,
    reduced along `axis`. Closer to the maximum as p grows. `p` is a number, or a scalar tensor that may
    change without retracing. The gradient is a softmax: it adds up to 1 however far below 0 the values are.

    >>> import math
    >>> round(math.exp(Aggreg_LogMeanExp(p=2)([math.log(0.6), math.log(0.8)])), 3)
    0.707
    """

    empty: ClassVar[float] = 0.0
    p: Any = 1

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        p = hyperparameters["p"]
        check_scalar("`p`", p, lambda p: (p > 0.0) & (p < math.inf), "a finite number above 0")

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor) -> tf.Tensor:
        return _log_mean_exp(xs, selection, p)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics, p: int | tf.Tensor) -> tf.Tensor:
        return _log_mean_exp(parts, selection, p)

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        return log_truth(empty)


@dataclass(frozen=True)
class Aggreg_LogSumOdds(PowerAggregator):
    """Sum of the odds of log-truths: A(l_1, ..., l_n) = (1/p) log(S / (1 + S)), p >= 1, where x_i = exp(l_i),

        S = sum x_i^p / (1 - x_i^p).

    Existential, for few or exclusive alternatives: for p = 1 it is the probability that one of the values is
    true, if at most one is. 0 as soon as one l_i is; the log of the sum of truths that are small; `log_zero`
    of nothing. It lies between the maximum, to which it comes closer as p grows, and the probabilistic sum;
    it is the t-conorm of Hamacher, so alternatives may be added one by one. `xs` of any shape, reduced along
    `axis`. `p` is a number, or a scalar tensor that may change without retracing.

    The gradient adds up to 1 at most and to 1/n at least, wherever the values are: to 1 where all are nearly
    false, or one alone is true; to less the more alternatives, each unsure, make one likely together. A sum
    of truths is 1 there, or above, and would learn nothing; the gradient of the probabilistic sum vanishes.
    In training it acts as the mean does where all is nearly false, but weighs each alternative alike, however
    many a guard selects. Of the small additions of digits none of 2 x 10 runs is lost, and sums that are read
    right have a truth near 1. Of numbers of 15 digits none of 5 is lost with the network of the published
    comparison. With the paper's, 7 of 8 read nine digits of ten after one epoch, and one is lost; by the mean
    it takes two or three epochs, and none of 7 is lost.

    >>> import math
    >>> logs = [math.log(0.97), math.log(0.01), math.log(0.01)]
    >>> [round(math.exp(operator(logs)), 2) for operator in (Aggreg_LogSumOdds(), Aggreg_LogMeanExp())]
    [0.97, 0.33]
    """

    empty: ClassVar[float] = 0.0
    parts_weigh: ClassVar[bool] = False
    p: Any = 1

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        check_scalar(
            "`p`",
            hyperparameters["p"],
            lambda p: (p >= 1.0) & (p < math.inf),
            "a finite number of at least 1",
        )

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, p: tf.Tensor) -> tf.Tensor:
        # The log-odds over p, which are finite for every p: l - log(1 - exp(p l)) / p.
        p = tf.cast(p, xs.dtype)
        return _log_sum_exp(xs - _log_of_false(p * xs) / p, selection, p)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics, p: tf.Tensor) -> tf.Tensor:
        return _log_sum_exp(parts, selection, p)

    @staticmethod
    def _value(statistic: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        p = tf.cast(p, statistic.dtype)
        log_odds = p * statistic
        # Far below 0 it is the log-odds, which may be infinite there.
        value = tf.math.log_sigmoid(tf.maximum(log_odds, -100.0)) / p
        return tf.where(log_odds < -100.0, statistic, value)

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        return log_truth(empty)


@dataclass(frozen=True)
class Count_Log(Distribution):
    """Log-probability of the count: the logarithm of Count_Prod's value, of log-truths l_i = log x_i.

    C(l_1, ..., l_n) = log of the sum over the sets I of true ones, least <= |I| <= most, of

        exp(sum_{i in I} l_i + sum_{i not in I} m_i),

    with m_i = log(1 - exp(l_i)). `log_zero` where there are too few values. `xs` of any shape, reduced along
    `axis`. With `log_odds=True` the values are l_i - m_i, which keep all their digits also near truth 1; a
    theory takes them from networks so. The gradient is a softmax over the ways to reach the count: it does
    not vanish however far from it the values are.

    >>> import math
    >>> [round(math.exp(Count_Log()([math.log(0.5)] * 3, least=k, most=k)), 3) for k in range(5)]
    [0.125, 0.375, 0.375, 0.125, 0.0]
    """

    _one: ClassVar[float] = 0.0

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        others = {name: value for name, value in overrides.items() if name != "log_odds"}
        log_odds = as_flag("`log_odds`", overrides.get("log_odds", False))
        return super()._hyperparameters(others) | {"log_odds": log_odds}

    @staticmethod
    def _times(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x + y

    @classmethod
    def _plus(cls, xs: tf.Tensor, axis: int, keepdims: bool = False) -> tf.Tensor:
        return tf.maximum(tf.reduce_logsumexp(xs, axis, keepdims), cls._zero(xs.dtype))

    @staticmethod
    def _zero(dtype: tf.DType) -> float:
        # Below the product of any truths, and so that the sum of two is finite.
        return max(float(dtype.min), float(tf.float32.min)) / 4.0

    @classmethod
    def _rows(cls, xs: tf.Tensor, selection: Statistics, log_odds: bool) -> tf.Tensor:
        xs = selection.keep(xs, cls._zero(xs.dtype))
        both = (tf.math.log_sigmoid(-xs), tf.math.log_sigmoid(xs)) if log_odds else (log1mexp(xs), xs)
        return tf.stack(both, -1)

    @classmethod
    def _value(cls, statistic: tf.Tensor, bounds: CountBounds, **_: Any) -> tf.Tensor:
        found = super()._value(statistic, bounds)
        is_impossible = found < 0.5 * cls._zero(found.dtype)
        return tf.where(is_impossible, tf.constant(log_zero, found.dtype), found)

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        return log_truth(empty)


def _log_mean_exp(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor) -> tf.Tensor:
    largest, powers = _powers(xs, selection, p)
    return largest + tf.math.log(selection.mean(powers)) / tf.cast(p, xs.dtype)


def _log_sum_exp(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor) -> tf.Tensor:
    largest, powers = _powers(xs, selection, p)
    total = selection.total(powers)
    if selection.may_be_empty:
        # The largest of some values adds at least its weight: it is 0 of none alone.
        total = tf.where(total > 0.0, total, tf.ones_like(total))
    return largest + tf.math.log(total) / tf.cast(p, xs.dtype)


def _powers(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The largest value, and exp(p (x - largest)) for each."""
    # The result does not depend on what is factored out, hence neither does the gradient.
    largest = tf.stop_gradient(selection.largest(xs))
    # Outside the mask the difference may be large, and its exponential infinite.
    differences = selection.keep(xs - selection.spread(largest), 0.0)
    return largest, tf.exp(tf.cast(p, xs.dtype) * differences)


@custom_gradient
def _log_of_false(logs: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    # log(1 - exp(l)), to be added to l: small values need not keep their digits. Its gradient is as steep as
    # it is, for what is nearly true. It ends where its square would overflow: other odds may be as large.
    false = tf.maximum(-tf.math.expm1(logs), float(logs.dtype.max) ** -0.5)
    return tf.math.log(false), lambda upstream: upstream * (1.0 - 1.0 / false)
