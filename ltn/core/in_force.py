"""The semantics in force: the connectives that the operators `~ & | >>` of formulas stand for.

A semantics hands out wrappers of formulas, so `ltn.semantics` stands above them; `ltn.using` sets its choice
here. Formulas know five of its operators.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ltn import fuzzy_ops

TensorOperator = Callable[..., Any]


class Connectives(Protocol):
    """The operators of a semantics that connect formulas."""

    @property
    def Not(self) -> TensorOperator: ...
    @property
    def And(self) -> TensorOperator: ...
    @property
    def Or(self) -> TensorOperator: ...
    @property
    def Implies(self) -> TensorOperator: ...
    @property
    def Equiv(self) -> TensorOperator: ...


class StableProduct(NamedTuple):
    """The connectives of the paper's stable product configuration, where nothing else is chosen."""

    Not: TensorOperator = fuzzy_ops.Not_Std()
    And: TensorOperator = fuzzy_ops.And_Prod()
    Or: TensorOperator = fuzzy_ops.Or_ProbSum()
    Implies: TensorOperator = fuzzy_ops.Implies_Reichenbach()
    Equiv: TensorOperator = fuzzy_ops.Equiv(fuzzy_ops.And_Prod(), fuzzy_ops.Implies_Reichenbach())


DEFAULT = StableProduct()
chosen: contextvars.ContextVar[Connectives] = contextvars.ContextVar("semantics")


def connectives() -> Connectives:
    """The connectives that are in force now."""
    return chosen.get(DEFAULT)
