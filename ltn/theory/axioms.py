"""Axioms: closed formulas with a name and a weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ltn.core import Formula
from ltn.language import Node, Quantifier


@dataclass(frozen=True)
class Axiom:
    """A closed formula of a theory.

    Attributes:
        name: unique in its theory; the key of its value in training logs.
        formula: the syntax tree, or a Python callable that returns a closed `ltn.Formula`.
        weight: how often it counts among the axioms; or the name of the proposition p_w of a learned
            weight, with which the axiom is p_w & formula.

    `str(axiom)` is text that parses to the same formula.
    """

    name: str
    formula: Node | Callable[[], Formula]
    weight: float | str = 1.0

    def __str__(self) -> str:
        if isinstance(self.formula, Node):
            return str(self.formula)
        return getattr(self.formula, "__name__", repr(self.formula))

    def __repr__(self) -> str:
        return f"Axiom({self.name}: {self})"

    @property
    def tree(self) -> Node | None:
        """The syntax tree; None where the axiom is Python code."""
        return self.formula if isinstance(self.formula, Node) else None

    @property
    def variables(self) -> list[str]:
        """The variables that the formula quantifies."""
        nodes = self.tree.walk() if self.tree is not None else ()
        bound = (variable for node in nodes if isinstance(node, Quantifier) for variable in node.variables)
        return list(dict.fromkeys(bound))
