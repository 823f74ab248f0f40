"""Which variables are bound, and which are free."""

from __future__ import annotations

from ltn.language.complaints import Complaints
from ltn.language.diagnostics import with_source
from ltn.language.syntax import Name, Quantifier
from ltn.language.tree import Node, Span, fold
from ltn.language.vocabulary import Vocabulary


def free_occurrences(vocabulary: Vocabulary, node: Node) -> dict[str, Name]:
    """The free variables in order of first appearance, each with the place of that."""

    def combine(node: Node, below: tuple[dict[str, Name], ...]) -> dict[str, Name]:
        if isinstance(node, Name):
            return {node.name: node} if node.name in vocabulary.variables else {}
        bound = node.variables if isinstance(node, Quantifier) else ()
        found: dict[str, Name] = {}
        for free in below:
            for name, place in free.items():
                if name not in bound:
                    found.setdefault(name, place)
        return found

    return fold(node, combine)


def check_closed(vocabulary: Vocabulary, node: Node, source: str) -> None:
    """Raise if the formula has free variables."""
    node, source = with_source(node, source)
    free = free_occurrences(vocabulary, node)
    if free:
        variables = ", ".join(free)
        one = len(free) == 1
        Complaints(vocabulary, source).of_value(
            f"The formula has the free variable{'' if one else 's'} {variables}, but must be closed. "
            f"Bind {'it' if one else 'them'} with a quantifier, as in `forall {variables}: ...`.",
            next(iter(free.values())),
        )


class Scope:
    """The rules of binding, while a tree is checked from the left.

    A variable is not bound twice around one place, so that sets are enough to know the state.
    """

    def __init__(self, complaints: Complaints):
        self.complaints = complaints
        self.vocabulary = complaints.vocabulary
        self.bound: set[str] = set()
        self.seen: set[str] = set()

    def enter(self, node: Node) -> None:
        """A node comes into sight, before those below it."""
        if isinstance(node, Quantifier):
            for position, (variable, span) in enumerate(_places(node)):
                self._check_binding(variable, node.variables[:position], span)
            if node.guard is not None:
                self._check_guard(node.guard)
            self.bound.update(node.variables)
            self.seen.difference_update(node.variables)

    def see(self, variable: str) -> None:
        """The variable occurs."""
        self.seen.add(variable)

    def leave(self, node: Quantifier) -> None:
        """The quantifier has been checked, with all below it."""
        for variable, span in _places(node):
            if variable not in self.seen:
                self.complaints.of_value(
                    f"The variable '{variable}' is bound here but does not occur below: leave it out.",
                    span,
                )
        self.bound.difference_update(node.variables)

    def _check_binding(self, variable: str, earlier: tuple[str, ...], span: Span | None) -> None:
        kind = self.vocabulary.kind(variable)
        if kind is None:
            self.complaints.unknown(variable, "variable", list(self.vocabulary.variables), span)
        if kind != "variable":
            self.complaints.of_type(f"A quantifier binds variables; '{variable}' is a {kind}.", span)
        if variable in earlier:
            self.complaints.of_value(f"The variable '{variable}' is bound twice by one quantifier.", span)
        if variable in self.bound:
            self.complaints.of_value(
                f"The variable '{variable}' is already bound around here; use another variable of the domain "
                f"'{self.vocabulary.variables[variable].name}'.",
                span,
            )

    def _check_guard(self, guard: Node) -> None:
        for node in guard.walk():
            if isinstance(node, Quantifier):
                self.complaints.of_value("A guard has no quantifiers: move them into the formula.", node)
            if isinstance(node, Name) and self.vocabulary.kind(node.name) == "proposition":
                self.complaints.of_value(
                    f"A guard is crisp, and the proposition '{node.name}' is not: move it into the formula.",
                    node,
                )


def _places(node: Quantifier) -> list[tuple[str, Span | None]]:
    spans: tuple[Span | None, ...] = node.variable_spans or (node.span,) * len(node.variables)
    return list(zip(node.variables, spans, strict=True))
