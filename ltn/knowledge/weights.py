"""Weights of axioms: how often each counts; a number, or learned as the truth of a proposition."""

from __future__ import annotations

from typing import Any

from ltn.errors import LogicValueError
from ltn.fuzzy_ops.arguments import LARGEST_WEIGHT, is_number


def check_weight(weight: Any, otherwise: str = "") -> float:
    """The weight as a number; raise unless it is one from 0 up. `otherwise` names what else is allowed."""
    if not is_number(weight) or not 0.0 <= weight <= LARGEST_WEIGHT:
        raise LogicValueError(
            f"`weight` must be a number of at least 0{otherwise}; got {weight!r}. The largest is "
            f"{LARGEST_WEIGHT:g}."
        )
    return float(weight)


def is_learned(weight: Any) -> bool:
    """Whether this stands for a learned weight."""
    return isinstance(weight, str) and weight == "learned"


def proposition_of(axiom: str) -> str:
    """The name of the proposition that is the learned weight of an axiom."""
    return f"weight_of_{axiom}"
