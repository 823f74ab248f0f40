"""Every public operator, in each of its forms, with its definition from the paper."""

import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ltn import fuzzy_ops as fo
from ltn.fuzzy_ops.arguments import truth_values
from tests.fuzzy_ops import reference as ref

POWERS = [1, 2, 3.5, 6, 20, 100]


@dataclass(frozen=True)
class AggregatorCase:
    """An aggregator, its definition, and what an empty selection gives."""

    operator: Any
    reference: ref.Aggregator
    of_nothing: float


def log_product(stable: bool) -> Any:
    """Built without the warning that the operator gives when built."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fo.Aggreg_LogProd(stable=stable)


CONNECTIVES: dict[str, tuple[Any, ref.Connective]] = {
    "not standard": (fo.Not_Std(), ref.standard_negation),
    "not godel": (fo.Not_Godel(), ref.godel_negation),
    "and min": (fo.And_Min(), ref.minimum),
    "and prod": (fo.And_Prod(stable=False), ref.product),
    "and prod stable": (fo.And_Prod(), ref.stable_product),
    "and luk": (fo.And_Luk(), ref.lukasiewicz_and),
    "or max": (fo.Or_Max(), ref.maximum),
    "or probsum": (fo.Or_ProbSum(stable=False), ref.probabilistic_sum),
    "or probsum stable": (fo.Or_ProbSum(), ref.stable_probabilistic_sum),
    "or luk": (fo.Or_Luk(), ref.lukasiewicz_or),
    "kleene-dienes": (fo.Implies_KleeneDienes(), ref.kleene_dienes),
    "godel": (fo.Implies_Godel(), ref.godel),
    "reichenbach": (fo.Implies_Reichenbach(stable=False), ref.reichenbach),
    "reichenbach stable": (fo.Implies_Reichenbach(), ref.stable_reichenbach),
    "goguen": (fo.Implies_Goguen(stable=False), ref.goguen),
    "goguen stable": (fo.Implies_Goguen(), ref.stable_goguen),
    "luk": (fo.Implies_Luk(), ref.lukasiewicz_implication),
    "sigmoidal": (
        fo.Implies_Sigmoidal(fo.Implies_Reichenbach(stable=False)),
        ref.sigmoidal(ref.reichenbach, 9.0, -0.5),
    ),
    "sigmoidal steep": (
        fo.Implies_Sigmoidal(fo.Implies_Luk(), s=20.0, b0=-0.3),
        ref.sigmoidal(ref.lukasiewicz_implication, 20.0, -0.3),
    ),
    "equiv luk": (
        fo.Equiv(fo.And_Luk(), fo.Implies_Luk()),
        ref.equivalence(ref.lukasiewicz_and, ref.lukasiewicz_implication),
    ),
    "equiv stable": (
        fo.Equiv(fo.And_Prod(), fo.Implies_Reichenbach()),
        ref.equivalence(ref.stable_product, ref.stable_reichenbach),
    ),
}


def power_mean_cases(p: float, stable: bool) -> dict[str, AggregatorCase]:
    form = f"p={p} stable={stable}"
    return {
        f"pmean {form}": AggregatorCase(fo.Aggreg_pMean(p, stable), ref.power_mean(p, stable), 0.0),
        f"pmeanerror {form}": AggregatorCase(
            fo.Aggreg_pMeanError(p, stable), ref.power_mean_error(p, stable), 1.0
        ),
    }


POWER_MEANS = {
    name: case
    for p in POWERS
    for stable in (True, False)
    for name, case in power_mean_cases(p, stable).items()
}

AGGREGATORS: dict[str, AggregatorCase] = {
    "min": AggregatorCase(fo.Aggreg_Min(), min, 1.0),
    "max": AggregatorCase(fo.Aggreg_Max(), max, 0.0),
    "mean": AggregatorCase(fo.Aggreg_Mean(), ref.mean, 1.0),
    "prod": AggregatorCase(fo.Aggreg_Prod(), ref.product_of_all, 1.0),
    "probsum": AggregatorCase(fo.Aggreg_ProbSum(), ref.probabilistic_sum_of_all, 0.0),
    "and luk": AggregatorCase(fo.Aggreg_AndLuk(), ref.lukasiewicz_and_of_all, 1.0),
    "or luk": AggregatorCase(fo.Aggreg_OrLuk(), ref.lukasiewicz_or_of_all, 0.0),
    # The empty product is 1, so its logarithm is 0.
    "logprod": AggregatorCase(log_product(stable=False), ref.log_product(stable=False), 0.0),
    "logprod stable": AggregatorCase(log_product(stable=True), ref.log_product(stable=True), 0.0),
    # One row for each branch: plain mean, root mean square, any power.
    **power_mean_cases(1, stable=True),
    **power_mean_cases(2, stable=True),
    **power_mean_cases(2, stable=False),
    **power_mean_cases(6, stable=True),
    **power_mean_cases(6, stable=False),
}


# Aggregators of log-truths.
LOG_AGGREGATORS: dict[str, AggregatorCase] = {
    "logmean": AggregatorCase(fo.Aggreg_LogMean(), ref.mean, 0.0),
    "logmeanexp": AggregatorCase(fo.Aggreg_LogMeanExp(), ref.log_mean_exp(1), fo.log_zero),
    "logmeanexp p=3": AggregatorCase(fo.Aggreg_LogMeanExp(p=3), ref.log_mean_exp(3), fo.log_zero),
    "logsumodds": AggregatorCase(fo.Aggreg_LogSumOdds(), ref.log_sum_odds(1), fo.log_zero),
    "logsumodds p=3": AggregatorCase(fo.Aggreg_LogSumOdds(p=3), ref.log_sum_odds(3), fo.log_zero),
}


class OfLogs:
    """An operator on log-truths, called with numbers from 0 to 1 as the others are: it sees them minus 1."""

    def __init__(self, operator: Any):
        self.operator = operator

    def __repr__(self) -> str:
        return f"{self.operator} of logs"

    def __call__(self, xs: Any, *args: Any, **kwargs: Any) -> Any:
        return self.operator(self._logs(xs), *args, **kwargs)

    def segments(self, xs: Any, *args: Any, **kwargs: Any) -> Any:
        return self.operator.segments(self._logs(xs), *args, **kwargs)

    def part(self, xs: Any, *args: Any, **kwargs: Any) -> Any:
        return self.operator.part(self._logs(xs), *args, **kwargs)

    def join(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator.join(*args, **kwargs)

    @staticmethod
    def _logs(xs: Any) -> Any:
        return truth_values(xs)[0] - 1.0


def of_logs(case: AggregatorCase) -> AggregatorCase:
    """The case on numbers from 0 to 1, which stand for log-truths."""

    def reference(xs: Any) -> float:
        return case.reference([x - 1.0 for x in xs])

    return AggregatorCase(OfLogs(case.operator), reference, case.of_nothing)


# The same, called and masked on the numbers on which the others are.
ON_LOG_TRUTHS = {name: of_logs(case) for name, case in LOG_AGGREGATORS.items()}


class Counted:
    """An operator that counts, with bounds: it is called and joins parts as an aggregator does."""

    def __init__(self, operator: Any, **bounds: Any):
        self.operator = operator
        self.bounds = bounds

    def __repr__(self) -> str:
        return f"{self.operator} {self.bounds}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator(*args, **kwargs, **self.bounds)

    def segments(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator.segments(*args, **kwargs, **self.bounds)

    def part(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator.part(*args, **kwargs, **self.bounds)

    def join(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator.join(*args, **kwargs, **self.bounds)


BOUNDS: dict[str, tuple[int, float]] = {
    "exactly 0": (0, 0),
    "exactly 2": (2, 2),
    "at least 1": (1, math.inf),
    "at least 3": (3, math.inf),
    "at most 2": (0, 2),
    "from 1 to 3": (1, 3),
    "at least 0": (0, math.inf),
    "exactly 99": (99, 99),
}


def bounds_of(least: float, most: float) -> dict[str, Any]:
    """The arguments of an operator for bounds as the references take them."""
    return {"least": int(least)} | ({} if most == math.inf else {"most": int(most)})


COUNT_FAMILIES: dict[str, tuple[fo.Count, Callable[[float, float], ref.Aggregator]]] = {
    "prod": (fo.Count_Prod(), ref.count_of_all),
    "godel": (fo.Count_Godel(), ref.count_by_order),
    "luk": (fo.Count_Luk(), ref.count_by_sum),
}
COUNTS: dict[str, AggregatorCase] = {
    f"{family} {name}": AggregatorCase(
        Counted(operator, **bounds_of(*bounds)), reference(*bounds), bounds[0] == 0
    )
    for family, (operator, reference) in COUNT_FAMILIES.items()
    for name, bounds in BOUNDS.items()
    if name in ("exactly 2", "at least 1", "at most 2")
}
LOG_CONNECTIVES = {"and log": fo.And_Log(), "or log": fo.Or_Log()}


# They are called with bounds, so they have tests of their own.
_COUNTS = {type(operator) for operator, _ in COUNT_FAMILIES.values()} | {fo.Count_Log}


def public_operators(kind: type, on_log_truths: bool = False) -> set[type]:
    """The operator classes that users can build, those on truth values or those on their logarithms."""
    public = [getattr(fo, name) for name in fo.__all__]
    built = {c for c in public if inspect.isclass(c) and issubclass(c, kind) and not inspect.isabstract(c)}
    return {c for c in built - _COUNTS if on_log_truths == c.__module__.endswith(".logspace")}
