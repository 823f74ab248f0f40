"""The kinds of quantifiers: the name, the sign and the meaning of each. A further kind is one more row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuantifierKind:
    """One kind of quantifier.

    Attributes:
        name: its keyword, which is the `kind` of a `Quantifier`.
        sign: how mathematics writes it.
        operator: the field of a semantics that holds its aggregator.
        neutral: its truth where it ranges over nothing.
        dual: the name of the kind Q' with ~Q x: phi = Q' x: ~phi.

    >>> QUANTIFIERS["forall"].dual
    'exists'
    """

    name: str
    sign: str
    operator: str
    neutral: float
    dual: str


FORALL = QuantifierKind("forall", sign="∀", operator="Forall", neutral=1.0, dual="exists")
EXISTS = QuantifierKind("exists", sign="∃", operator="Exists", neutral=0.0, dual="forall")

QUANTIFIERS = {kind.name: kind for kind in (FORALL, EXISTS)}
