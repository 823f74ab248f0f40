"""Checking: whether a tree is a formula or a term of a signature, and which of its variables are bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from ltn.language import syntax
from ltn.language.diagnostics import Complaints, quote
from ltn.language.domains import NUMBER, Domain, Shape, broadcast, fits
from ltn.language.names import BUILT_INS, EXISTS, FORALL, list_names
from ltn.language.parser import with_text
from ltn.language.sorts import Sort, Vocabulary, sort_above
from ltn.language.statements import Definition, Diagonals, definitions_in
from ltn.language.tree import Node, Span, fold


def check(vocabulary: Vocabulary, node: Node, text: str = "", expected: str | None = None) -> Sort:
    """The sort of the tree; raise unless it is an expression of the signature.

    Args:
        vocabulary: the declared vocabulary.
        node: the tree.
        text: what its spans refer to; without it, messages show the tree as it is printed.
        expected: "formula" or "term", if only that will do.
    """
    node, text = with_text(node, text)
    complaints = Complaints(vocabulary, text)
    sort = sort_within(vocabulary, node.body if isinstance(node, Diagonals) else node, complaints)
    if expected == "formula" and not sort.is_formula:
        complaints.of_type(f"Expected a formula, which is true to a degree; {quote(node)} is a term.", node)
    if expected == "term" and sort.is_formula:
        complaints.of_type(f"Expected a term, which denotes an individual; {quote(node)} is a formula.", node)
    return sort


def sort_within(
    vocabulary: Vocabulary, node: Node, complaints: Complaints, bound: Sequence[str] = ()
) -> Sort:
    """The sort of the tree, checked where some variables are bound already."""
    scope = _Scope(complaints)
    scope.bound.update(bound)
    return fold(node, _Checker(vocabulary, complaints, scope).sort_of, enter=scope.enter)


def free_occurrences(vocabulary: Vocabulary, node: Node) -> dict[str, syntax.Name]:
    """The free variables in order of first appearance, each with its first occurrence."""

    def combine(node: Node, below: tuple[dict[str, syntax.Name], ...]) -> dict[str, syntax.Name]:
        if isinstance(node, syntax.Name):
            return {node.name: node} if node.name in vocabulary.variables else {}
        bound = node.variables if isinstance(node, syntax.Quantifier) else ()
        found: dict[str, syntax.Name] = {}
        for free in below:
            for name, place in free.items():
                if name not in bound:
                    found.setdefault(name, place)
        return found

    return fold(node, combine)


def check_closed(vocabulary: Vocabulary, node: Node, text: str) -> None:
    """Raise if the formula has free variables."""
    node, text = with_text(node, text)
    free = free_occurrences(vocabulary, node)
    if free:
        variables = ", ".join(free)
        one = len(free) == 1
        Complaints(vocabulary, text).of_value(
            f"The formula has the free variable{'' if one else 's'} {variables}, but must be closed. "
            f"Bind {'it' if one else 'them'} with a quantifier, as in `forall {variables}: ...`.",
            next(iter(free.values())),
        )


class _Scope:
    """The rules of binding, while a tree is checked from the left.

    A variable is not bound twice around one place, so sets are enough to hold the state.
    """

    def __init__(self, complaints: Complaints):
        self.complaints = complaints
        self.vocabulary = complaints.vocabulary
        self.bound: set[str] = set()
        self.seen: set[str] = set()

    def enter(self, node: Node) -> None:
        """Enter a node, before those below it."""
        if isinstance(node, syntax.Quantifier):
            for position, (variable, span) in enumerate(places(node)):
                self._check_binding(variable, node.variables[:position], span)
            if node.guard is not None:
                self._check_guard(node.guard)
            self.bound.update(node.variables)
            self.seen.difference_update(node.variables)

    def see(self, variable: str) -> None:
        """Note that a variable occurs."""
        self.seen.add(variable)

    def leave(self, node: syntax.Quantifier) -> None:
        """Leave a quantifier, after all below it was checked."""
        for variable, span in places(node):
            if variable not in self.seen:
                self.complaints.of_value(
                    f"The variable '{variable}' is bound here but does not occur below: leave it out.",
                    span,
                )
        self.bound.difference_update(node.variables)

    def _check_binding(self, variable: str, earlier: tuple[str, ...], span: Span | None) -> None:
        kind = self.vocabulary.kind(variable)
        if kind is None:
            self.complaints.of_name(variable, "variable", list(self.vocabulary.variables), span)
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
            if isinstance(node, syntax.Quantifier):
                self.complaints.of_value(
                    "A guard has no quantifiers: move them into the formula; or give what is made of "
                    "relations a name, by `define`, and use that.",
                    node,
                )
            if self._is_proposition(node):
                self.complaints.of_value(
                    f"A guard is crisp, and the proposition '{node}' is not: move it into the formula.", node
                )
            if isinstance(node, syntax.Apply) and node.symbol in self.vocabulary.definitions:
                self._check_definition_in_guard(node)

    def _check_definition_in_guard(self, node: syntax.Apply) -> None:
        bodies = [each.body for each in definitions_in(self.vocabulary.definitions, [node])]
        parts = [part for body in bodies for part in body.walk()]
        quantified = next((part for part in parts if isinstance(part, syntax.Quantifier)), None)
        for inner in parts:
            if self._is_proposition(inner):
                self.complaints.of_value(
                    f"A guard has no propositions, and '{node.symbol}' stands for a formula with "
                    f"{quote(inner)}: move it into the formula.",
                    node,
                )
            if quantified is not None and not self._is_crisp(inner):
                self.complaints.of_value(
                    f"A guard has no quantifiers, and '{node.symbol}' stands for a formula with "
                    f"{quote(quantified)}. It can be joined, as a relation, if it is made of relations, "
                    f"comparisons, `exists` and `forall`; {quote(inner)} is none of them: declare what is "
                    "known by theory.relation, or move it into the formula.",
                    node,
                )

    def _is_crisp(self, node: Node) -> bool:
        """Whether a node may stand in a formula that is true of rows of individuals, and false of others."""
        if isinstance(node, syntax.Quantifier):
            return node.kind in (EXISTS.name, FORALL.name) and node.sample is None
        if not isinstance(node, syntax.Apply):
            return True
        others = (self.vocabulary.relations, self.vocabulary.definitions, BUILT_INS)
        return any(node.symbol in known for known in others)

    def _is_proposition(self, node: Node) -> bool:
        return isinstance(node, syntax.Name) and self.vocabulary.kind(node.name) == "proposition"


class _Checker:
    """Finds the sort of a node from those of the nodes below."""

    def __init__(self, vocabulary: Vocabulary, complaints: Complaints, scope: _Scope):
        self.vocabulary = vocabulary
        self.complaints = complaints
        self.scope = scope

    def sort_of(self, node: Node, below: tuple[Sort, ...]) -> Sort:
        self._check(node, below)
        return sort_above(self.vocabulary, node, below)

    def _check(self, node: Node, below: tuple[Sort, ...]) -> None:
        match node:
            case syntax.Number():
                pass
            case Definition():
                self.complaints.of_value(
                    "A definition is no formula: give it to theory.define, or to theory.axioms as a text.",
                    node,
                )
            case syntax.Name():
                self._check_name(node)
            case syntax.Apply():
                self._check_application(node, below)
            case syntax.Negative():
                self._shape_of_term("`-` negates", node.operand, below[0])
            case syntax.Arithmetic():
                self._check_arithmetic(node, below)
            case syntax.Comparison():
                self._check_comparison(node, below)
            case syntax.Quantifier():
                for child, sort in zip(node.children, below, strict=True):
                    what = "The body of a quantifier" if child is node.body else "A guard"
                    self._check_formula(f"{what} must be a formula", child, sort)
                self.scope.leave(node)
            case syntax.Unary() | syntax.Binary():
                does = "negates" if isinstance(node, syntax.Not) else "connects"
                for child, sort in zip(node.children, below, strict=True):
                    self._check_formula(f"`{node.sign.ascii}` {does} formulas", child, sort)

    def _check_formula(self, requirement: str, node: Node, sort: Sort) -> None:
        if not sort.is_formula:
            self.complaints.of_type(f"{requirement}; {quote(node)} is a term.", node)

    def _check_name(self, node: syntax.Name) -> None:
        name, vocabulary = node.name, self.vocabulary
        kind = vocabulary.kind(name)
        if kind == "variable":
            self.scope.see(name)
        if kind is None:
            known = [*vocabulary.variables, *vocabulary.constants, *vocabulary.propositions]
            self.complaints.of_name(name, "variable, constant or proposition", known, node)
        if kind not in ("variable", "constant", "proposition"):
            self.complaints.of_type(
                f"'{name}' is a {kind}: write it with its arguments, {vocabulary.written(name)}.", node
            )

    # Functions and predicates

    def _check_application(self, node: syntax.Apply, below: tuple[Sort, ...]) -> None:
        symbol, vocabulary = node.symbol, self.vocabulary
        place = node.symbol_span or node.span
        kind = vocabulary.kind(symbol)
        if kind is None:
            known = [*vocabulary.predicates, *vocabulary.definitions, *vocabulary.functions, *BUILT_INS]
            self.complaints.of_name(symbol, "predicate or function", known, place)
        if kind in ("variable", "constant", "proposition"):
            self.complaints.of_type(f"'{symbol}' is a {kind}: write it without arguments.", place)
        for position, (argument, sort) in enumerate(zip(node.arguments, below, strict=True), start=1):
            if sort.is_formula:
                self.complaints.of_type(
                    f"Argument {position} of '{symbol}' must be a term; {quote(argument)} is a formula.",
                    argument,
                )
        if kind == "predicate":
            self._check_arguments(node, vocabulary.predicates[symbol], below)
        elif kind == "function":
            self._check_arguments(node, vocabulary.functions[symbol][0], below)
        elif kind == "definition":
            self._check_definition(
                node, tuple(vocabulary.parameters(vocabulary.definitions[symbol]).values()), below
            )
        else:
            self._check_arity(node, 1, len(below))

    def _check_arity(self, node: syntax.Apply, expected: int, came: int) -> None:
        if came != expected:
            count = "1 argument" if expected == 1 else f"{expected} arguments"
            written = self.vocabulary.written(node.symbol)
            self.complaints.of_type(f"'{node.symbol}' takes {count}, {written}; got {came}.", node)

    def _check_arguments(
        self, node: syntax.Apply, inputs: tuple[Domain, ...], below: tuple[Sort, ...]
    ) -> None:
        # A term of a product fills one place for each of its parts.
        places: list[tuple[int, Node, Sort, Domain | None]] = []
        for position, (argument, sort) in enumerate(zip(node.arguments, below, strict=True), start=1):
            parts = (None,) if sort.domain is None else sort.domain.flat
            places += [(position, argument, sort, part) for part in parts]
        self._check_arity(node, len(inputs), len(places))
        for expected, (position, argument, sort, part) in zip(inputs, places, strict=True):
            what = f"Argument {position} of '{node.symbol}' must be of the domain '{expected.name}'"
            if sort.domain is None:
                self._check_plain_argument(what, argument, sort.shape or NUMBER, expected)
            elif part is not expected:
                self.complaints.of_type(
                    f"{what}; {quote(argument)} is of the domain '{sort.domain.name}'.", argument
                )

    def _check_definition(
        self, node: syntax.Apply, inputs: tuple[Domain, ...], below: tuple[Sort, ...]
    ) -> None:
        # An argument takes the place of a variable, so one of a product is one argument.
        self._check_arity(node, len(inputs), len(below))
        given = zip(node.arguments, below, inputs, strict=True)
        for position, (argument, sort, expected) in enumerate(given, start=1):
            what = f"Argument {position} of '{node.symbol}' must be of the domain '{expected.name}'"
            if sort.domain is None:
                self._check_plain_argument(what, argument, sort.shape or NUMBER, expected)
                if expected.equality != "strict":
                    self.complaints.of_type(
                        f"{what}, whose equality is {expected.equality}; {quote(argument)} has no domain.",
                        argument,
                    )
            elif sort.domain.flat != expected.flat:
                self.complaints.of_type(
                    f"{what}; {quote(argument)} is of the domain '{sort.domain.name}'.", argument
                )

    def _check_plain_argument(self, what: str, argument: Node, shape: Shape, domain: Domain) -> None:
        """Raise if a term without a domain cannot be in the domain."""
        if not fits(shape, domain.shape):
            self.complaints.of_type(
                f"{what}, with the shape {domain.shape}; {quote(argument)} has the shape {shape}.", argument
            )
        value = _literal(argument)
        if value is None or domain.shape != NUMBER:
            return
        if domain.features is not None and value not in domain.features:
            self.complaints.of_value(
                f"{argument} is not an individual of '{domain.name}' ({list_names(domain.names or ())}).",
                argument,
            )
        if not domain.contains([[value]])[0]:
            self.complaints.of_value(
                f"{argument} is outside the bounds {domain.bounds} of the domain '{domain.name}'.", argument
            )

    # Arithmetic and comparisons

    def _shape_of_term(self, does: str, operand: Node, sort: Sort) -> Shape:
        if sort.shape is None:
            self.complaints.of_type(f"{does} terms; {quote(operand)} is a formula.", operand)
        return sort.shape

    def _check_arithmetic(self, node: syntax.Arithmetic, below: tuple[Sort, ...]) -> None:
        does = f"`{node.operator}` combines"
        left = self._shape_of_term(does, node.left, below[0])
        right = self._shape_of_term(does, node.right, below[1])
        if broadcast(left, right) is None:
            self._fail_shapes(does, node, left, right)

    def _fail_shapes(self, does: str, node: syntax.Operation, left: Shape, right: Shape) -> NoReturn:
        self.complaints.of_type(
            f"{does} terms of one shape, or a term and a number; {quote(node.left)} has the shape {left}, "
            f"{quote(node.right)} {right}.",
            node.right,
        )

    def _check_comparison(self, node: syntax.Comparison, below: tuple[Sort, ...]) -> None:
        if any(sort.is_formula for sort in below):
            self._check_degree(node, below)
            return
        does = f"`{node.operator}` compares"
        left, right = below
        if left.domain is not None and right.domain is not None and left.domain.flat != right.domain.flat:
            self.complaints.of_type(
                f"{does} terms of one domain; {quote(node.left)} is of the domain '{left.domain.name}', "
                f"{quote(node.right)} of '{right.domain.name}'. To relate two domains, declare a predicate "
                "or a function on them.",
                node.right,
            )
        left_shape, right_shape = left.shape or NUMBER, right.shape or NUMBER
        if node.operator not in ("=", "!="):
            for operand, shape in ((node.left, left_shape), (node.right, right_shape)):
                if shape != NUMBER:
                    self.complaints.of_type(
                        f"{does} numbers; {quote(operand)} has the shape {shape}. Compare its norm, or "
                        "another function of it.",
                        operand,
                    )
        if broadcast(left_shape, right_shape) is None:
            self._fail_shapes(does, node, left_shape, right_shape)

    def _check_degree(self, node: syntax.Comparison, below: tuple[Sort, ...]) -> None:
        """Raise unless a predicate, which stands for its degree of truth, is compared with a number."""
        for operand, sort, other in zip(node.children, below, reversed(below), strict=True):
            is_predicate = isinstance(operand, syntax.Apply) and operand.symbol in self.vocabulary.predicates
            if sort.is_formula and not (is_predicate and other == Sort(NUMBER)):
                advice = " For the equivalence of formulas write `<->`." if other.is_formula else ""
                self.complaints.of_type(
                    f"`{node.operator}` compares terms, or the truth of a predicate with a number, as in "
                    f"`P(x) > 0.5`; {quote(operand)} is a formula.{advice}",
                    operand,
                )


def _literal(node: Node) -> np.float32 | None:
    """The number that a node is, with its sign; None for other nodes."""
    sign = -1.0 if isinstance(node, syntax.Negative) else 1.0
    number = node.operand if isinstance(node, syntax.Negative) else node
    if not isinstance(number, syntax.Number):
        return None
    with np.errstate(over="ignore"):
        return np.float32(sign * number.value)


def places(node: syntax.Quantifier | Diagonals) -> list[tuple[str, Span | None]]:
    """The variables of a quantifier or of diagonals, and where each was read."""
    spans: tuple[Span | None, ...] = node.variable_spans or (node.span,) * len(node.variables)
    return list(zip(node.variables, spans, strict=True))
