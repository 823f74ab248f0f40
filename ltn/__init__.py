"""Logic Tensor Networks: first-order logic as differentiable TensorFlow graphs.

Badreddine, d'Avila Garcez, Serafini and Spranger, "Logic Tensor Networks", Artificial Intelligence 303, 2022.
"""

from ltn import _private, callbacks, core, fuzzy_ops, language, plot, reasoning, repair, semantics, utils
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
    Wrapper_Count,
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
from ltn.errors import LogicError, LogicFileError, LogicTypeError, LogicValueError
from ltn.repair import Repair
from ltn.semantics import LogSemantics, Semantics, using
from ltn.theory import Theory, load, with_knowledge

__version__ = "3.0.0.dev0"

_private.leave_as_written(__name__)

__all__ = [
    "Constant",
    "Expression",
    "Formula",
    "Function",
    "LogSemantics",
    "LogicError",
    "LogicFileError",
    "LogicTypeError",
    "LogicValueError",
    "Predicate",
    "Proposition",
    "Repair",
    "Semantics",
    "Term",
    "Theory",
    "Variable",
    "Wrapper_Connective",
    "Wrapper_Count",
    "Wrapper_Formula_Aggregator",
    "Wrapper_Quantifier",
    "Wrappers",
    "as_tensors",
    "broadcast_exprs",
    "broadcast_wff_and_mask",
    "callbacks",
    "core",
    "debug",
    "diag",
    "diag_lock",
    "fuzzy_ops",
    "language",
    "load",
    "plot",
    "reasoning",
    "repair",
    "semantics",
    "transpose_free_vars",
    "undiag",
    "using",
    "utils",
    "with_knowledge",
]
