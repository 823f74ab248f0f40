"""Hyper-parameters that the operators in force lack and those of other semantics have, as `p_forall`.

They are passed over, so that another semantics needs neither other axioms nor other arguments. A name that
the operators of no semantics have is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ltn.language.names import QUANTIFIERS
from ltn.semantics import BaseSemantics, is_hyperparameter


def is_lacking(semantics: BaseSemantics, name: str) -> bool:
    """Whether the operators lack a hyper-parameter that others have."""
    return name not in semantics.hyperparameters() and is_hyperparameter(name)


def split(semantics: BaseSemantics, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The hyper-parameters without those that are lacking; and the names of these."""
    lacking = [name for name in values if is_lacking(semantics, name)]
    return {name: value for name, value in values.items() if name not in lacking}, lacking


def split_options(
    semantics: BaseSemantics, kind: str, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The options of a quantifier without those that its operator lacks; and the names of these in full."""
    full = {f"{option}_{QUANTIFIERS[kind].operator.lower()}": option for option in options}
    known, lacking = split(semantics, full)
    return {option: options[option] for option in known.values()}, lacking


def explain(semantics: BaseSemantics, name: str) -> str:
    """Which operator lacks a hyper-parameter, and which it has.

    >>> from ltn.semantics import godel
    >>> explain(godel, "p_forall")
    '`p_forall` is ignored: Aggreg_Min(), the operator `Forall`, has no hyper-parameter `p`; it has: none.'
    """
    option, _, symbol = name.rpartition("_")
    operators = {known.lower(): known for known in vars(semantics)}
    if symbol not in operators:
        return (
            f"`{name}` is ignored: the semantics has no such operator; it has: {', '.join(vars(semantics))}."
        )
    operator = getattr(semantics, operators[symbol])
    own = [known.rpartition("_")[0] for known in semantics.hyperparameters() if known.endswith(f"_{symbol}")]
    return (
        f"`{name}` is ignored: {operator!r}, the operator `{operators[symbol]}`, has no hyper-parameter "
        f"`{option}`; it has: {', '.join(f'`{known}`' for known in own) or 'none'}."
    )
