"""Aggregators, the semantics of quantifiers (the paper's appendices on operators and gradients)."""

import math
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from ltn._private import custom_gradient
from ltn.fuzzy_ops.aggregation import Aggregator
from ltn.fuzzy_ops.arguments import as_scalar, check_scalar, is_number
from ltn.fuzzy_ops.base import eps, not_zeros
from ltn.fuzzy_ops.selection import Statistics


@dataclass(frozen=True)
class Aggreg_Min(Aggregator):
    """Minimum, from the t-norm: A(x_1, ..., x_n) = min x_i. Universal; the limit of p-mean error.

    0 when some x_i = 0, 1 when all are 1; 1 of nothing. `xs` of any shape, reduced along `axis`.
    Single-passing: only the smallest value learns.

    >>> round(float(Aggreg_Min()([0.3, 0.8])), 3)
    0.3
    """

    empty: ClassVar[float] = 1.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.smallest(xs)

    @staticmethod
    def _weight(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.ties(xs, selection.smallest(xs))

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.among_ties(parts, selection.smallest(parts))


@dataclass(frozen=True)
class Aggreg_Max(Aggregator):
    """Maximum, from the t-conorm: A(x_1, ..., x_n) = max x_i. Existential; the limit of p-mean.

    0 when all x_i = 0, 1 when some are 1; 0 of nothing. `xs` of any shape, reduced along `axis`.
    Single-passing: only the largest value learns.

    >>> round(float(Aggreg_Max()([0.3, 0.8])), 3)
    0.8
    """

    empty: ClassVar[float] = 0.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.largest(xs)

    @staticmethod
    def _weight(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.ties(xs, selection.largest(xs))

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.among_ties(parts, selection.largest(parts))


@dataclass(frozen=True)
class Aggreg_Mean(Aggregator):
    """Mean: A(x_1, ..., x_n) = (1/n) sum x_i, for either quantifier.

    0 when all x_i = 0, 1 when all are 1; 1 of nothing, as a universal quantifier. `xs` of any shape,
    reduced along `axis`.

    >>> round(float(Aggreg_Mean()([0.2, 0.7, 0.8], mask=[0, 1, 1])), 3)
    0.75
    """

    empty: ClassVar[float] = 1.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.mean(xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.mean(parts)


@dataclass(frozen=True)
class Aggreg_Prod(Aggregator):
    """Product, from the t-norm: A(x_1, ..., x_n) = prod x_i. Universal.

    0 when some x_i = 0, 1 when all are 1; 1 of nothing. `xs` of any shape, reduced along `axis`. Value
    and gradient vanish when many values are below 1.

    >>> round(float(Aggreg_Prod()([0.5, 0.4])), 3)
    0.2
    """

    empty: ClassVar[float] = 1.0
    parts_weigh: ClassVar[bool] = False

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.product(xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.product(parts)


@dataclass(frozen=True)
class Aggreg_ProbSum(Aggregator):
    """Probabilistic sum, from the t-conorm: A(x_1, ..., x_n) = 1 - prod (1 - x_i). Existential.

    0 when all x_i = 0, 1 when some are 1; 0 of nothing. `xs` of any shape, reduced along `axis`. The
    gradient vanishes when many values are above 0.

    >>> round(float(Aggreg_ProbSum()([0.5, 0.4])), 3)
    0.7
    """

    empty: ClassVar[float] = 0.0
    parts_weigh: ClassVar[bool] = False

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.product(1.0 - xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.product(parts)

    @staticmethod
    def _value(statistic: tf.Tensor, **hyperparameters: Any) -> tf.Tensor:
        return 1.0 - statistic


@dataclass(frozen=True)
class Aggreg_AndLuk(Aggregator):
    """Lukasiewicz conjunction, from the t-norm: A(x_1, ..., x_n) = max(sum x_i - n + 1, 0). Universal.

    0 when some x_i = 0, 1 when all are 1; 1 of nothing. `xs` of any shape, reduced along `axis`. The
    gradient vanishes once the errors 1 - x_i add up to 1.

    >>> round(float(Aggreg_AndLuk()([0.9, 0.8, 0.9])), 3)
    0.6
    """

    empty: ClassVar[float] = 1.0
    parts_weigh: ClassVar[bool] = False

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        # 1 - sum (1 - x_i): the sum of small errors keeps the digits that sum x_i - n would lose.
        return selection.total(1.0 - xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.total(parts)

    @staticmethod
    def _value(statistic: tf.Tensor, **hyperparameters: Any) -> tf.Tensor:
        return tf.nn.relu(1.0 - statistic)


@dataclass(frozen=True)
class Aggreg_OrLuk(Aggregator):
    """Lukasiewicz disjunction, from the t-conorm: A(x_1, ..., x_n) = min(sum x_i, 1). Existential.

    0 when all x_i = 0, 1 when some are 1; 0 of nothing. `xs` of any shape, reduced along `axis`. The
    gradient vanishes once the values add up to 1.

    >>> round(float(Aggreg_OrLuk()([0.1, 0.2, 0.1])), 3)
    0.4
    """

    empty: ClassVar[float] = 0.0
    parts_weigh: ClassVar[bool] = False

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.total(xs)

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics) -> tf.Tensor:
        return selection.total(parts)

    @staticmethod
    def _value(statistic: tf.Tensor, **hyperparameters: Any) -> tf.Tensor:
        return tf.minimum(statistic, 1.0)


@dataclass(frozen=True)
class PowerAggregator(Aggregator):
    """An aggregator with an exponent `p`, a number or a scalar tensor."""

    traced: ClassVar[Collection[int]] = ()
    p: Any = 2

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        hyperparameters = super()._hyperparameters(overrides)
        p = hyperparameters["p"]
        # Some numbers have traces of their own; all others share one, as tensors.
        return hyperparameters | {"p": int(p) if is_number(p) and p in self.traced else as_scalar(p)}


@dataclass(frozen=True)
class _PowerMean(PowerAggregator):
    # Powers with these exponents are products, which take a tenth of the time of tf.pow, and do not underflow
    # in float32 for values from eps up.
    traced: ClassVar[Collection[int]] = range(1, 9)
    stable: bool = True

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        check_scalar(
            "`p`",
            hyperparameters["p"],
            lambda p: (p >= 1.0) & (p < math.inf),
            "a finite number of at least 1",
            "For the limit at infinity use Aggreg_Min or Aggreg_Max.",
        )

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics, p: int | tf.Tensor, stable: bool) -> tf.Tensor:
        return _power_mean(parts, selection, p, stable=False)


@dataclass(frozen=True)
class Aggreg_pMean(_PowerMean):
    """Generalised mean: A(x_1, ..., x_n) = ((1/n) sum x_i^p)^(1/p), p >= 1; stable: of pi_0(x_i).

    0 (eps when stable) when all x_i = 0, 1 when all are 1; 0 of nothing. `xs` of any shape, reduced
    along `axis`. Existential: a mean for p = 1, closer to the maximum as p grows. `p` is a number, or
    a scalar tensor that may change without retracing. The gradient is finite for every p, also at 0.

    >>> round(float(Aggreg_pMean(p=2, stable=False)([0.6, 0.8])), 3)
    0.707
    """

    empty: ClassVar[float] = 0.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor, stable: bool) -> tf.Tensor:
        return _power_mean(xs, selection, p, stable)


@dataclass(frozen=True)
class Aggreg_pMeanError(_PowerMean):
    """Generalised mean of the errors: A(x_1, ..., x_n) = 1 - ((1/n) sum (1 - x_i)^p)^(1/p), p >= 1.

    Stable: of pi_1(x_i).

    0 when all x_i = 0, 1 (1 - eps when stable) when all are 1; 1 of nothing. `xs` of any shape, reduced
    along `axis`. Universal: a mean for p = 1, closer to the minimum as p grows. `p` is a number, or a
    scalar tensor that may change without retracing. The gradient is finite for every p, also at 1.

    >>> round(float(Aggreg_pMeanError(p=2, stable=False)([0.4, 0.2])), 3)
    0.293
    """

    empty: ClassVar[float] = 1.0

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor, stable: bool) -> tf.Tensor:
        return _power_mean(xs, selection, p, stable, of_errors=True)

    @staticmethod
    def _value(statistic: tf.Tensor, **hyperparameters: Any) -> tf.Tensor:
        return 1.0 - statistic


@dataclass(frozen=True)
class Aggreg_LogProd(Aggregator):
    """Logarithm of the product: A(x_1, ..., x_n) = sum log x_i; stable: of pi_0(x_i). Universal.

    0 when all x_i = 1; n log(eps) when all are 0 and stable, else minus infinity; 0 = log 1 of
    nothing. `xs` of any shape, reduced along `axis`. The result is in (-inf, 0], not a truth value:
    maximise it, and do not put it under a connective.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     log_product = Aggreg_LogProd(stable=False)
    >>> round(float(log_product([0.5, 0.5])), 3)
    -1.386
    """

    empty: ClassVar[float] = 1.0
    parts_weigh: ClassVar[bool] = False
    stable: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        warnings.warn(
            "Aggreg_LogProd is a log-truth in (-inf, 0], not a truth value in [0, 1]: "
            "use it as the last aggregation of a loss.",
            stacklevel=3,
        )

    @staticmethod
    def _statistic(xs: tf.Tensor, selection: Statistics, stable: bool) -> tf.Tensor:
        return selection.total(tf.math.log(not_zeros(xs) if stable else xs))

    @staticmethod
    def _join(parts: tf.Tensor, selection: Statistics, stable: bool) -> tf.Tensor:
        return selection.total(parts)

    @staticmethod
    def _of_nothing(empty: tf.Tensor) -> tf.Tensor:
        return tf.math.log(empty)


Aggreg_SumLog = Aggreg_LogProd


def _power_mean(
    xs: tf.Tensor, selection: Statistics, p: int | tf.Tensor, stable: bool, of_errors: bool = False
) -> tf.Tensor:
    """M_p(x) = ((1/n) sum x_i^p)^(1/p), or that of the errors 1 - x_i; stable: of their projections pi_0."""
    if isinstance(p, int) and p > 1 and stable and selection.weights is None and xs.dtype.size >= 4:
        return _mean_of_projections(xs, selection, p, of_errors)
    # 1 - pi_1(x) = pi_0(1 - x), and the right side keeps all its digits as x tends to 1.
    xs = 1.0 - xs if of_errors else xs
    # A sum of probabilities may fall below 0 by rounding, where powers are NaN.
    xs = not_zeros(xs) if stable else tf.maximum(xs, 0.0)
    if isinstance(p, int) and p == 1:
        return selection.mean(xs)
    if isinstance(p, int) and stable and xs.dtype.size >= 4:
        return _root(selection.mean(_power(xs, p)), p)
    # x^p underflows in float32 (eps^10 is already 0), so the largest value is factored out:
    #   M_p(x) = m M_p(x / m), where the mean of powers stays in [1/n, 1].
    # The result does not depend on m, hence neither does the gradient. Where m = 0 the values are
    # moved up by 1 and the result down again, which gives each of them the gradient 1/n.
    largest = tf.stop_gradient(selection.largest(xs))
    shift = tf.cast(largest <= 0.0, xs.dtype)
    scale = tf.maximum(largest, 0.0) + shift
    # Outside the mask the ratio may be large, and its power infinite: NaN in the gradient of p.
    ratios = selection.keep((xs + selection.spread(shift)) / selection.spread(scale), 1.0)
    p = p if isinstance(p, int) else tf.cast(p, xs.dtype)
    return scale * _root(selection.mean(_power(ratios, p)), p) - shift


def _mean_of_projections(xs: tf.Tensor, selection: Statistics, p: int, of_errors: bool) -> tf.Tensor:
    """M = M_p(y) of the projections y_i = pi_0(x_i), or pi_0(1 - x_i), where p > 1.

    It is the mean that most quantifiers take. Its gradient, which has a sign for errors,

        dM / dx_i = (1 - eps) (y_i / M)^(p - 1) / n,

    takes half the operations that TensorFlow would derive.
    """
    # Outside the gradient: what the gradient computes belongs to a graph of its own.
    count = tf.maximum(selection.count, 1.0)
    slope = eps - 1.0 if of_errors else 1.0 - eps

    @custom_gradient
    def mean(xs: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        projections = not_zeros(1.0 - xs if of_errors else xs)
        found = _root(selection.mean(_power(projections, p)), p)

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            scale = slope / count * upstream / _power(found, p - 1)
            return selection.keep(selection.spread(scale) * _power(projections, p - 1), 0.0)

        return found, gradient

    return mean(xs)


def _power(xs: tf.Tensor, p: int | tf.Tensor) -> tf.Tensor:
    if not isinstance(p, int):
        return tf.pow(xs, p)
    if p == 1:
        return xs
    half = tf.square(_power(xs, p // 2))
    return half * xs if p % 2 else half


def _root(x: tf.Tensor, p: int | tf.Tensor) -> tf.Tensor:
    return tf.sqrt(x) if isinstance(p, int) and p == 2 else tf.pow(x, 1.0 / p)
