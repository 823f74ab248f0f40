"""Real Logic over tensors: expressions, symbols, and operators on formulas, evaluated as they are written."""

from ltn.checks import debug
from ltn.core.broadcasting import broadcast_exprs, broadcast_wff_and_mask, transpose_free_vars
from ltn.core.expressions import Expression, Formula, Term, as_tensors
from ltn.core.functions import Function
from ltn.core.parameters import Constant, Proposition
from ltn.core.predicates import Predicate
from ltn.core.variables import Variable, diag, diag_lock, undiag
from ltn.core.wrappers import (
    Wrapper_Connective,
    Wrapper_Count,
    Wrapper_Formula_Aggregator,
    Wrapper_Quantifier,
    Wrappers,
)

__all__ = [
    "Constant",
    "Expression",
    "Formula",
    "Function",
    "Predicate",
    "Proposition",
    "Term",
    "Variable",
    "Wrapper_Connective",
    "Wrapper_Count",
    "Wrapper_Formula_Aggregator",
    "Wrapper_Quantifier",
    "Wrappers",
    "as_tensors",
    "broadcast_exprs",
    "broadcast_wff_and_mask",
    "debug",
    "diag",
    "diag_lock",
    "transpose_free_vars",
    "undiag",
]
