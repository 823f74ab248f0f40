"""Formulas in which definitions are written out.

A definition stands for its body, with the arguments in place of its variables. What it binds gets names of
its own, `y of grandparent`: so no argument is captured, and no variable bound twice around one place. Since
the names do not depend on where a definition is used, equal uses are one subtree of all formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from ltn.errors import LogicValueError
from ltn.language.statements import Definition, definitions_in
from ltn.language.syntax import Apply, Name, Quantifier
from ltn.language.tree import Node, fold

# More parts than these are not planned.
_MOST_PARTS = 200_000


class WrittenOut(NamedTuple):
    """Trees without definitions; `copies` tells of which declared variable each new one is a copy."""

    nodes: list[Node]
    copies: dict[str, str]


def write_out(
    nodes: Sequence[Node], definitions: Mapping[str, Definition], is_taken: Callable[[str], bool]
) -> WrittenOut:
    """The trees with the body of each definition in its place; `is_taken` tells which names are not free."""
    used = {definition.name for definition in definitions_in(definitions, nodes)}
    copies: dict[str, str] = {}
    trees, parts = list(nodes), 0
    # A definition uses only those before it: after its turn it is in none of the trees.
    for definition in reversed([each for name, each in definitions.items() if name in used]):
        instances = _Instances(definition, is_taken, copies)
        trees = [fold(tree, instances.put) for tree in trees]
        copies |= instances.copies
        parts += instances.parts
        if parts > _MOST_PARTS:
            raise LogicValueError(
                f"With its definitions written out the formula has more than {_MOST_PARTS:,} parts: "
                f"'{definition.name}' is used on {len(instances.known):,} different arguments. Make one of "
                "the definitions a predicate, or use fewer levels."
            )
    return WrittenOut(trees, copies)


class _Instances:
    """The bodies of one definition, for all arguments that it is used on."""

    def __init__(self, definition: Definition, is_taken: Callable[[str], bool], others: Mapping[str, str]):
        self.definition = definition
        self.known: dict[tuple[Node, ...], Node] = {}
        self._body, self.copies = _with_own_variables(
            definition, lambda name: is_taken(name) or name in others
        )
        self._size = sum(1 for _ in self._body.walk())

    @property
    def parts(self) -> int:
        """How many nodes there are in all bodies."""
        return self._size * len(self.known)

    def put(self, node: Node, below: tuple[Node, ...]) -> Node:
        """The node on others below it; where it is a use of the definition, the body."""
        if not isinstance(node, Apply) or node.symbol != self.definition.name:
            return with_children(node, below)
        if below not in self.known:
            names = (parameter.name for parameter in self.definition.parameters)
            self.known[below] = _substitute(self._body, dict(zip(names, below, strict=True)))
        return self.known[below]


def _with_own_variables(
    definition: Definition, is_taken: Callable[[str], bool]
) -> tuple[Node, dict[str, str]]:
    """The body with other names for what it binds, and the declared variable of each."""
    new: dict[str, str] = {}
    for node in definition.body.walk():
        for variable in node.variables if isinstance(node, Quantifier) else ():
            name = f"{variable} of {definition.name}"
            while is_taken(name):
                name += "'"
            new[variable] = name

    def combine(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, Name) and node.name in new:
            return replace(node, name=new[node.name])
        node = with_children(node, below)
        if isinstance(node, Quantifier):
            return replace(node, groups=tuple(tuple(new[name] for name in group) for group in node.groups))
        return node

    return fold(definition.body, combine), {name: variable for variable, name in new.items()}


def _substitute(body: Node, arguments: Mapping[str, Node]) -> Node:
    """The body with the arguments in place of the variables."""

    def combine(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, Name) and node.name in arguments:
            return arguments[node.name]
        return with_children(node, below)

    return fold(body, combine)


def with_children(node: Node, children: tuple[Node, ...]) -> Node:
    """The node with other nodes below it."""
    if all(new is old for new, old in zip(children, node.children, strict=True)):
        return node
    new_of = {id(old): new for old, new in zip(node.children, children, strict=True)}
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = new_of[id(value)]
        elif isinstance(value, tuple) and value and all(isinstance(each, Node) for each in value):
            changed[field.name] = tuple(new_of[id(each)] for each in value)
    return replace(node, **changed)
