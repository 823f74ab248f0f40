"""The fuzzy operators written from the paper, one number at a time: slow, and independent of the package.

Connectives take Python floats; aggregators take the list of the selected values.
"""

import decimal
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

EPS = 1e-4

Connective = Callable[..., float]
Aggregator = Callable[[Sequence[float]], float]


def project_from_zero(x: float) -> float:
    return (1.0 - EPS) * x + EPS


def project_from_one(x: float) -> float:
    return (1.0 - EPS) * x


def standard_negation(x: float) -> float:
    return 1.0 - x


def godel_negation(x: float) -> float:
    return 1.0 if x == 0.0 else 0.0


def minimum(x: float, y: float) -> float:
    return min(x, y)


def maximum(x: float, y: float) -> float:
    return max(x, y)


def product(x: float, y: float) -> float:
    return x * y


def stable_product(x: float, y: float) -> float:
    return product(project_from_zero(x), project_from_zero(y))


def probabilistic_sum(x: float, y: float) -> float:
    return x + y - x * y


def stable_probabilistic_sum(x: float, y: float) -> float:
    return probabilistic_sum(project_from_one(x), project_from_one(y))


def lukasiewicz_and(x: float, y: float) -> float:
    return max(x + y - 1.0, 0.0)


def lukasiewicz_or(x: float, y: float) -> float:
    return min(x + y, 1.0)


def kleene_dienes(x: float, y: float) -> float:
    return max(1.0 - x, y)


def godel(x: float, y: float) -> float:
    return 1.0 if x <= y else y


def reichenbach(x: float, y: float) -> float:
    return 1.0 - x + x * y


def stable_reichenbach(x: float, y: float) -> float:
    return reichenbach(project_from_zero(x), project_from_one(y))


def goguen(x: float, y: float) -> float:
    return 1.0 if x <= y else y / x


def stable_goguen(x: float, y: float) -> float:
    return goguen(project_from_zero(x), y)


def lukasiewicz_implication(x: float, y: float) -> float:
    return min(1.0 - x + y, 1.0)


def equivalence(conjunction: Connective, implication: Connective) -> Connective:
    return lambda x, y: conjunction(implication(x, y), implication(y, x))


def sigmoidal(implication: Connective, s: float, b0: float) -> Connective:
    def sigma(t: float) -> float:
        return 1.0 / (1.0 + math.exp(-t))

    def value(x: float, y: float) -> float:
        lowest, highest = sigma(s * b0), sigma(s * (1.0 + b0))
        return (sigma(s * (implication(x, y) + b0)) - lowest) / (highest - lowest)

    return value


def mean(xs: Sequence[float]) -> float:
    return math.fsum(xs) / len(xs)


def product_of_all(xs: Sequence[float]) -> float:
    return math.prod(xs)


def probabilistic_sum_of_all(xs: Sequence[float]) -> float:
    return 1.0 - math.prod(1.0 - x for x in xs)


def lukasiewicz_and_of_all(xs: Sequence[float]) -> float:
    return max(math.fsum(xs) - len(xs) + 1.0, 0.0)


def lukasiewicz_or_of_all(xs: Sequence[float]) -> float:
    return min(math.fsum(xs), 1.0)


def count_of_all(least: float, most: float) -> Aggregator:
    """The probability that so many of independent truths are true."""

    def value(xs: Sequence[float]) -> float:
        probabilities = [1.0]
        for x in xs:
            pairs = zip([*probabilities, 0.0], [0.0, *probabilities], strict=True)
            probabilities = [same * (1.0 - x) + fewer * x for same, fewer in pairs]
        return math.fsum(p for number, p in enumerate(probabilities) if least <= number <= most)

    return value


def count_by_order(least: float, most: float) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        descending = [1.0, *sorted(xs, reverse=True)]

        def at_least(number: float) -> float:
            return descending[int(number)] if number < len(descending) else 0.0

        return min(at_least(least), 1.0 - at_least(most + 1.0))

    return value


def count_by_sum(least: float, most: float) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        total = math.fsum(xs)

        def at_least(number: float) -> float:
            return min(max(total - number + 1.0, 0.0), 1.0)

        return lukasiewicz_and(at_least(least), 1.0 - at_least(most + 1.0))

    return value


def power_mean(p: float, stable: bool) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        values = [project_from_zero(x) for x in xs] if stable else xs
        # Decimals: eps to the power 100 is 1e-400, below the smallest float64.
        with decimal.localcontext(decimal.Context(prec=30)):
            exponent = decimal.Decimal(p)
            total = sum((decimal.Decimal(x) ** exponent for x in values), decimal.Decimal(0))
            average = total / len(values)
            return float(average ** (1 / exponent)) if average else 0.0

    return value


def power_mean_error(p: float, stable: bool) -> Aggregator:
    unstable_mean = power_mean(p, stable=False)

    def value(xs: Sequence[float]) -> float:
        values = [project_from_one(x) for x in xs] if stable else xs
        return 1.0 - unstable_mean([1.0 - x for x in values])

    return value


def log_product(stable: bool) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        values = [project_from_zero(x) for x in xs] if stable else xs
        return math.fsum(math.log(x) if x > 0.0 else -math.inf for x in values)

    return value


def log_mean_exp(p: float) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        largest = max(xs)
        return largest + math.log(mean([math.exp(p * (x - largest)) for x in xs])) / p

    return value


def log_sum_odds(p: float) -> Aggregator:
    def value(xs: Sequence[float]) -> float:
        if max(xs) == 0.0:
            return 0.0
        # Relative to the largest, so that powers of e do not vanish.
        largest = max(xs)
        odds = math.fsum(math.exp(p * (x - largest)) / -math.expm1(p * x) for x in xs)
        return largest + (math.log(odds) - math.log1p(odds * math.exp(p * largest))) / p

    return value


def elementwise(connective: Connective, *operands: Any) -> np.ndarray[Any, Any]:
    """The connective on each element of the broadcast operands."""
    arrays = np.broadcast_arrays(*(np.asarray(operand, np.float64) for operand in operands))
    result = np.empty(arrays[0].shape)
    for index in np.ndindex(result.shape):
        result[index] = connective(*(float(array[index]) for array in arrays))
    return result


def aggregate(
    aggregator: Aggregator,
    xs: Any,
    of_nothing: float,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    mask: Any = True,
) -> np.ndarray[Any, Any]:
    """The aggregator on what the mask selects along the axes, one cell of the result at a time."""
    xs, mask = np.broadcast_arrays(np.asarray(xs, np.float64), np.asarray(mask, bool))
    axes = range(xs.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    reduced = {a % xs.ndim for a in axes}
    result = np.empty([1 if a in reduced else size for a, size in enumerate(xs.shape)])
    for cell in np.ndindex(result.shape):
        ranges = [range(xs.shape[a]) if a in reduced else [cell[a]] for a in range(xs.ndim)]
        selected = [float(xs[index]) for index in itertools.product(*ranges) if mask[index]]
        result[cell] = aggregator(selected) if selected else of_nothing
    return result if keepdims else np.squeeze(result, tuple(reduced))


def gradient(function: Callable[..., float], *arguments: float) -> list[float]:
    """Central differences: exact to about 1e-9 away from kinks."""
    h = 1e-6
    slopes = []
    for i, argument in enumerate(arguments):
        above, below = list(arguments), list(arguments)
        above[i], below[i] = argument + h, argument - h
        slopes.append((function(*above) - function(*below)) / (2.0 * h))
    return slopes
