"""Axioms as a table for notebooks, with their satisfaction as it was measured last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ltn.language import Node, text
from ltn.markup import Markup, bar, table


class MeasuredAxiom(Protocol):
    """What the table shows of an axiom."""

    name: str
    proposition: str | None
    measured: tuple[float, str] | None

    @property
    def weight(self) -> float: ...

    @property
    def active(self) -> bool: ...

    @property
    def tree(self) -> Node | None: ...


def axiom_table(axioms: Iterable[MeasuredAxiom]) -> Markup:
    """A line for each axiom: name, satisfaction as last measured, weight, formula."""
    return table(
        ["axiom", "satisfaction", "weight", "formula"],
        (
            [
                axiom.name,
                bar(None if axiom.measured is None else axiom.measured[0]),
                _weight(axiom),
                str(axiom) if axiom.tree is None else text(axiom.tree, unicode=True),
            ]
            for axiom in axioms
        ),
    )


def origin_of(axioms: Iterable[MeasuredAxiom]) -> str:
    """Where the satisfaction that is shown comes from."""
    found = dict.fromkeys(axiom.measured[1] for axiom in axioms if axiom.measured is not None)
    if not found:
        return "The satisfaction was not measured yet; fit, evaluate and report measure it."
    return f"The satisfaction as it was measured last, by {' and '.join(found)}."


def _weight(axiom: MeasuredAxiom) -> str:
    if not axiom.active:
        return "not active"
    return f"{axiom.weight:g}" + (", learned" if axiom.proposition is not None else "")
