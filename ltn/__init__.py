"""Logic Tensor Networks: first-order logic as differentiable TensorFlow graphs.

Badreddine, d'Avila Garcez, Serafini and Spranger, "Logic Tensor Networks", Artificial Intelligence 303, 2022.
"""

from ltn import core, fuzzy_ops, semantics, utils
from ltn.core import (
    Constant,
    Expression,
    Formula,
    Function,
    Predicate,
    Proposition,
    Term,
    Variable,
    Wrapper_Connective,
    Wrapper_Formula_Aggregator,
    Wrapper_Quantifier,
    Wrappers,
    as_tensors,
    broadcast_exprs,
    broadcast_wff_and_mask,
    debug,
    diag,
    diag_lock,
    transpose_free_vars,
    undiag,
)
from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.semantics import Semantics, using

__all__ = [
    "Constant",
    "Expression",
    "Formula",
    "Function",
    "LogicError",
    "LogicTypeError",
    "LogicValueError",
    "Predicate",
    "Proposition",
    "Semantics",
    "Term",
    "Variable",
    "Wrapper_Connective",
    "Wrapper_Formula_Aggregator",
    "Wrapper_Quantifier",
    "Wrappers",
    "as_tensors",
    "broadcast_exprs",
    "broadcast_wff_and_mask",
    "core",
    "debug",
    "diag",
    "diag_lock",
    "fuzzy_ops",
    "semantics",
    "transpose_free_vars",
    "undiag",
    "using",
    "utils",
]
