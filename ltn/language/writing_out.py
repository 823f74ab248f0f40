"""Formulas in which definitions are written out.

A definition stands for its body, with the arguments in place of its variables. What it binds gets names of
its own, `y of grandparent`: so no argument is captured, and no variable bound twice around one place. Since
the names do not depend on where a definition is used, equal uses are one subtree of all formulas.

A guard has no quantifiers. There a definition whose body has some stays a predicate, `crisp grandparent`,
which is true of the individuals for which the body is.
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


class CrispDefinition(NamedTuple):
    """A definition that stands in guards: its name, its variables under names of their own, and its body.

    `copies` tells of which declared variable each one that the body binds is a copy.
    """

    name: str
    parameters: tuple[str, ...]
    body: Node
    copies: dict[str, str]


class WrittenOut(NamedTuple):
    """Trees without definitions.

    `copies` tells of which declared variable each new one is a copy; `crisp` holds the definitions that
    guards use, by the predicates that stand for them, each after those that it uses.
    """

    nodes: list[Node]
    copies: dict[str, str]
    crisp: dict[str, CrispDefinition]


def write_out(
    nodes: Sequence[Node], definitions: Mapping[str, Definition], is_taken: Callable[[str], bool]
) -> WrittenOut:
    """The trees with the body of each definition in its place; `is_taken` tells which names are not free."""
    used = {definition.name for definition in definitions_in(definitions, nodes)}
    definitions = {name: each for name, each in definitions.items() if name in used}
    names = _names_in_guards(definitions, is_taken)
    if names:
        plain = definitions
        nodes = [fold(node, _in_guards(names)) for node in nodes]
        definitions = {
            name: replace(each, body=fold(each.body, _in_guards(names))) for name, each in plain.items()
        }
        bodies = [*nodes, *(each.body for each in definitions.values())]
        crisp = _crisp_definitions(bodies, plain, names, is_taken)
    else:
        crisp = {}
    copies = {copy: name for each in crisp.values() for copy, name in each.copies.items()}
    trees, parts = list(nodes), 0
    # A definition uses only those before it: after its turn it is in none of the trees.
    for definition in reversed([*definitions.values()]):
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
    return WrittenOut(trees, copies, crisp)


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


def _names_in_guards(
    definitions: Mapping[str, Definition], is_taken: Callable[[str], bool]
) -> dict[str, str]:
    """What definitions are called in guards: those that have quantifiers, or use others that do."""
    names: dict[str, str] = {}
    for definition in definitions.values():
        parts = definition.body.walk()
        if any(isinstance(p, Quantifier) or (isinstance(p, Apply) and p.symbol in names) for p in parts):
            names[definition.name] = _free(f"crisp {definition.name}", is_taken)
    return names


def _free(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with as many strokes as no other one has."""
    while is_taken(name):
        name += "'"
    return name


def _renaming(names: Mapping[str, str]) -> Callable[[Node, tuple[Node, ...]], Node]:
    """What gives other names to predicates."""

    def combine(node: Node, below: tuple[Node, ...]) -> Node:
        node = with_children(node, below)
        return (
            replace(node, symbol=names[node.symbol])
            if isinstance(node, Apply) and node.symbol in names
            else node
        )

    return combine


def _in_guards(names: Mapping[str, str]) -> Callable[[Node, tuple[Node, ...]], Node]:
    """What gives other names to predicates in guards."""

    def combine(node: Node, below: tuple[Node, ...]) -> Node:
        node = with_children(node, below)
        if not isinstance(node, Quantifier) or node.guard is None:
            return node
        return replace(node, guard=fold(node.guard, _renaming(names)))

    return combine


def _crisp_definitions(
    bodies: Sequence[Node],
    definitions: Mapping[str, Definition],
    names: Mapping[str, str],
    is_taken: Callable[[str], bool],
) -> dict[str, CrispDefinition]:
    """The definitions that some trees use in guards, and those that these use, by their names there."""
    needed = {part.symbol for body in bodies for part in body.walk() if isinstance(part, Apply)}
    found: list[tuple[str, CrispDefinition]] = []
    for definition in reversed([*definitions.values()]):
        name = names.get(definition.name, "")
        if name not in needed:
            continue
        body = fold(definition.body, _renaming(names))
        needed |= {part.symbol for part in body.walk() if isinstance(part, Apply)}
        own = {p.name: _free(f"{p.name} of {name}", is_taken) for p in definition.parameters}
        renamed = replace(definition, name=name, body=body)
        body, copies = _with_own_variables(renamed, is_taken)
        body = _substitute(body, {variable: Name(new) for variable, new in own.items()})
        # Those that are left have no quantifiers.
        [body] = write_out([body], definitions, is_taken).nodes
        crisp = CrispDefinition(definition.name, tuple(own.values()), body, copies)
        found.append((name, crisp))
    return dict(reversed(found))


def _with_own_variables(
    definition: Definition, is_taken: Callable[[str], bool]
) -> tuple[Node, dict[str, str]]:
    """The body with other names for what it binds, and the declared variable of each."""
    new: dict[str, str] = {}
    for node in definition.body.walk():
        for variable in node.variables if isinstance(node, Quantifier) else ():
            new[variable] = _free(f"{variable} of {definition.name}", is_taken)

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
