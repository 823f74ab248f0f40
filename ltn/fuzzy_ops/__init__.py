"""The fuzzy operators of Real Logic, from the paper's appendices.

Connectives are called `op(x, y)`, aggregators `op(xs, axis=None, keepdims=False, mask=None)`; a
hyper-parameter can be overridden in the call, as `op(xs, p=6)`. Names and values are those of the
reference API; `Implies_Sigmoidal`, the aggregators `Aggreg_ProbSum`, `Aggreg_AndLuk` and `Aggreg_OrLuk`, the
operators on log-truths (`And_Log`, `Or_Log`, `Aggreg_LogMean`, `Aggreg_LogMeanExp`, `Aggreg_LogSumOdds`), and
those that count, `op(xs, axis=None, least=2, most=3)` (`Count_Prod`, `Count_Godel`, `Count_Luk`,
`Count_Log`), come on top.
"""

import sys
from types import ModuleType
from typing import Any

from ltn.errors import LogicValueError
from ltn.fuzzy_ops.aggregation import Aggregator
from ltn.fuzzy_ops.aggregators import (
    Aggreg_AndLuk,
    Aggreg_LogProd,
    Aggreg_Max,
    Aggreg_Mean,
    Aggreg_Min,
    Aggreg_OrLuk,
    Aggreg_pMean,
    Aggreg_pMeanError,
    Aggreg_ProbSum,
    Aggreg_Prod,
    Aggreg_SumLog,
)
from ltn.fuzzy_ops.base import Connective, eps, not_ones, not_zeros
from ltn.fuzzy_ops.connectives import (
    And_Luk,
    And_Min,
    And_Prod,
    Equiv,
    Not_Godel,
    Not_Std,
    Or_Luk,
    Or_Max,
    Or_ProbSum,
)
from ltn.fuzzy_ops.counts import Count, Count_Godel, Count_Luk, Count_Prod
from ltn.fuzzy_ops.implications import (
    Implies_Godel,
    Implies_Goguen,
    Implies_KleeneDienes,
    Implies_Luk,
    Implies_Reichenbach,
    Implies_Sigmoidal,
)
from ltn.fuzzy_ops.logspace import (
    Aggreg_LogMean,
    Aggreg_LogMeanExp,
    Aggreg_LogSumOdds,
    And_Log,
    Count_Log,
    Or_Log,
    log1mexp,
    log_truth,
    log_zero,
)

__all__ = [
    "Aggreg_AndLuk",
    "Aggreg_LogMean",
    "Aggreg_LogMeanExp",
    "Aggreg_LogProd",
    "Aggreg_LogSumOdds",
    "Aggreg_Max",
    "Aggreg_Mean",
    "Aggreg_Min",
    "Aggreg_OrLuk",
    "Aggreg_ProbSum",
    "Aggreg_Prod",
    "Aggreg_SumLog",
    "Aggreg_pMean",
    "Aggreg_pMeanError",
    "Aggregator",
    "And_Log",
    "And_Luk",
    "And_Min",
    "And_Prod",
    "Connective",
    "Count",
    "Count_Godel",
    "Count_Log",
    "Count_Luk",
    "Count_Prod",
    "Equiv",
    "Implies_Godel",
    "Implies_Goguen",
    "Implies_KleeneDienes",
    "Implies_Luk",
    "Implies_Reichenbach",
    "Implies_Sigmoidal",
    "Not_Godel",
    "Not_Std",
    "Or_Log",
    "Or_Luk",
    "Or_Max",
    "Or_ProbSum",
    "eps",
    "log1mexp",
    "log_truth",
    "log_zero",
    "not_ones",
    "not_zeros",
]


class _Operators(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "eps":
            raise LogicValueError(
                f"`eps` is the paper's {eps:g}, which compiled operators hold already, and cannot be set; "
                f"got {value!r}. Take operators without projections, `stable=False`, or write your own."
            )
        super().__setattr__(name, value)


# Only the class of a module can tell that an attribute is being set.
sys.modules[__name__].__class__ = _Operators
