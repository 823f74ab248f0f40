"""What is made of formulas and is none: definitions, and questions about diagonals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import axis_text, check_name, written
from ltn.language.syntax import Apply
from ltn.language.tree import Level, Node, Operand, Span


class Parameter(NamedTuple):
    """A variable of the head of a definition, with the name of its domain unless it is declared.

    >>> from ltn.language import parse
    >>> parse("define old(x: people): age(x) > 66").parameters[0].domain
    'people'
    """

    name: str
    domain: str | None = None
    span: Span | None = None
    domain_span: Span | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Definition(Node):
    """define f(x_1, ..., x_m): body, a name for a formula, which is used like a predicate.

    `name_span` tells where the name was read.

    >>> from ltn.language import parse
    >>> definition = parse("define grandparent(x, z): exists y: parent(x, y) & parent(y, z)")
    >>> definition.name, definition.body
    ('grandparent', Quantifier('exists y: parent(x, y) & parent(y, z)'))
    """

    level = Level.ANY
    is_open = True
    stands_alone = True

    name: str
    parameters: tuple[Parameter, ...]
    body: Node
    name_span: Span | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        check_name(self.name, "a definition")
        if not isinstance(self.parameters, tuple) or not all(
            isinstance(p, Parameter) for p in self.parameters
        ):
            raise LogicTypeError(
                f"The `parameters` of a definition are a tuple of them; got {self.parameters!r}."
            )
        if not self.parameters:
            raise LogicValueError(
                f"The definition '{self.name}' has no variables; without, an axiom needs none."
            )
        for parameter in self.parameters:
            check_name(parameter.name, "a variable")
            if parameter.domain is not None:
                check_name(parameter.domain, "a domain")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.name, tuple(parameter[:2] for parameter in self.parameters))

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.body,)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        parameters = (
            ": ".join(written(part) for part in parameter[:2] if part is not None)
            for parameter in self.parameters
        )
        return [f"define {written(self.name)}({', '.join(parameters)}): ", Operand(self.body)]


@dataclass(frozen=True, eq=False, repr=False)
class Diagonals(Node):
    """body for diag(x_1, ..., x_h), ...: a question whose free variables share axes.

    `variable_spans` tells where the variables of the groups were read, one for each, or is empty.

    >>> from ltn.language import parse
    >>> question = parse("digit(x, d) for diag(x, d)")
    >>> question.body, question.groups
    (Apply('digit(x, d)'), (('x', 'd'),))
    """

    level = Level.ANY
    is_open = True
    stands_alone = True

    body: Node
    groups: tuple[tuple[str, ...], ...]
    variable_spans: tuple[Span, ...] = field(default=(), kw_only=True)

    def _check(self) -> None:
        if not isinstance(self.groups, tuple) or not all(isinstance(group, tuple) for group in self.groups):
            raise LogicTypeError(f"The `groups` of diagonals are a tuple of tuples; got {self.groups!r}.")
        if not self.groups or min(map(len, self.groups)) < 2:
            raise LogicValueError(f"A diagonal pairs at least two variables; got the groups {self.groups}.")
        for variable in self.variables:
            check_name(variable, "a variable")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.groups,)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.body,)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the diagonals."""
        return tuple(variable for group in self.groups for variable in group)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        return [Operand(self.body), f" for {', '.join(map(axis_text, self.groups))}"]


def definitions_in(known: Mapping[str, Definition], nodes: Iterable[Node]) -> Iterator[Definition]:
    """The definitions that some trees use, also within others, each once."""
    pending, seen = list(nodes), set[str]()
    while pending:
        for node in pending.pop().walk():
            if isinstance(node, Apply) and node.symbol in known and node.symbol not in seen:
                seen.add(node.symbol)
                yield known[node.symbol]
                pending.append(known[node.symbol].body)
