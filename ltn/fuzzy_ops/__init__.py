"""The fuzzy operators of Real Logic, from the paper's appendices.

Connectives are called `op(x, y)`, aggregators `op(xs, axis=None, keepdims=False, mask=None)`; a
hyper-parameter can be overridden in the call, as `op(xs, p=6)`. Names and values are those of the
reference API; `Implies_Sigmoidal` and the aggregators `Aggreg_ProbSum`, `Aggreg_AndLuk` and
`Aggreg_OrLuk` come on top.
"""

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
from ltn.fuzzy_ops.base import Aggregator, Connective, eps, not_ones, not_zeros
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
from ltn.fuzzy_ops.implications import (
    Implies_Godel,
    Implies_Goguen,
    Implies_KleeneDienes,
    Implies_Luk,
    Implies_Reichenbach,
    Implies_Sigmoidal,
)

__all__ = [
    "Aggreg_AndLuk",
    "Aggreg_LogProd",
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
    "And_Luk",
    "And_Min",
    "And_Prod",
    "Connective",
    "Equiv",
    "Implies_Godel",
    "Implies_Goguen",
    "Implies_KleeneDienes",
    "Implies_Luk",
    "Implies_Reichenbach",
    "Implies_Sigmoidal",
    "Not_Godel",
    "Not_Std",
    "Or_Luk",
    "Or_Max",
    "Or_ProbSum",
    "eps",
    "not_ones",
    "not_zeros",
]
