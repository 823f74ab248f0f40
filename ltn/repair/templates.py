"""The body of a part of an axiom, with its quantifiers unfolded: atoms, and facts that are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import RULES
from ltn.evaluation.plan import Execution, World
from ltn.evaluation.planner import Memory, Planner, Settings
from ltn.language import And, Apply, Binary, Comparison, Name, Node, Not, Or, Quantifier, negation_normal_form
from ltn.language.names import FORALL, QUANTIFIERS
from ltn.language.tree import fold
from ltn.repair.conjunctive import Counted, Expression, Fact, Several, SignedAtom

# The most atoms and facts that the formula for one combination of individuals has.
_MOST_LEAVES = 100_000

# Variables that are unfolded, each with the place of its individual.
Bound = tuple[tuple[str, int], ...]


class Leaf(NamedTuple):
    """An atom, or its negation, with the individuals of the variables that were unfolded.

    A fact is an atom whose truth is known.
    """

    node: Node
    is_fact: bool
    negated: bool
    bound: Bound = ()


class Template(NamedTuple):
    """What a part says of each combination of individuals: an expression over its atoms and facts.

    Atoms stand in it without their negations; facts are what is true where they hold.
    """

    expression: Expression
    atoms: list[Leaf]
    facts: list[Leaf]


def parts_of(node: Node) -> Iterator[tuple[list[Quantifier], Node]]:
    """The parts of a formula: universal quantifiers, and a body without any at its front."""
    pending: list[tuple[tuple[Quantifier, ...], Node]] = [((), node)]
    while pending:
        front, body = pending.pop()
        if isinstance(body, Quantifier) and body.kind == FORALL.name:
            pending.append(((*front, body), body.body))
        elif isinstance(body, And):
            pending += [(front, body.right), (front, body.left)]
        else:
            yield list(front), body


# An expression with leaves in place of numbers.
_Tree = Any


class BodyReader:
    """Reads the bodies of parts.

    Args:
        world: what symbols mean.
        memory: what guards of the theory have found.
    """

    def __init__(self, world: World, memory: Memory):
        self.world = world
        self.memory = memory
        self.signature = world.groundings.signature
        self._booleans: dict[str, bool] = {}

    def template(self, front: Sequence[Quantifier], body: Node) -> Template:
        """The template of a body behind universal quantifiers."""
        for quantifier in front:
            for variable in quantifier.variables:
                self._kind_of(variable)
            if quantifier.guard is not None:
                self._check_crisp(quantifier.guard)
        atoms: dict[Leaf, int] = {}
        facts: dict[Leaf, int] = {}

        def number(tree: _Tree) -> Expression:
            if isinstance(tree, Several):
                return tree._replace(parts=tuple(map(number, tree.parts)))
            if isinstance(tree, Counted):
                return tree._replace(
                    holds=tuple(map(number, tree.holds)), fails=tuple(map(number, tree.fails))
                )
            if tree.is_fact:
                return Fact(facts.setdefault(tree, len(facts)))
            place = 1 + atoms.setdefault(tree._replace(negated=False), len(atoms))
            return SignedAtom(-place if tree.negated else place)

        expression = number(self._read(negation_normal_form(body)))
        return Template(expression, list(atoms), list(facts))

    def _read(self, node: Node) -> _Tree:
        return fold(node, self._combine, below=self._below)

    def _below(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Quantifier):
            return (node.body,) if node.count is None else (node.body, negation_normal_form(Not(node.body)))
        return node.children if isinstance(node, Not | Binary) else ()

    def _combine(self, node: Node, below: tuple[_Tree, ...]) -> _Tree:
        match node:
            case Not():
                [operand] = below
                return _without(operand) if isinstance(operand, Counted) else _opposite(operand)
            case And() | Or():
                return _several(isinstance(node, And), below)
            case Quantifier():
                return self._unfold(node, below)
        return self._leaf(node)

    def _leaf(self, node: Node) -> Leaf:
        if isinstance(node, Comparison):
            self._check_crisp(node)
            sides = (self.signature.sort_of(side).domain for side in (node.left, node.right))
            if node.operator == "=" and any(each is not None and each.equality == "smooth" for each in sides):
                raise LogicValueError(f"`{node}` is a smooth equality, whose truth is a degree")
            return Leaf(node, is_fact=True, negated=False)
        if self._is_crisp(node):
            return Leaf(node, is_fact=True, negated=False)
        for argument in node.children:
            if not isinstance(argument, Name):
                raise LogicValueError(
                    f"`{node}` is about `{argument}`, and only variables and constants have outputs that "
                    "are repaired"
                )
        return Leaf(node, is_fact=False, negated=False)

    def _check_crisp(self, node: Node) -> None:
        """Raise for a guard, or a comparison, that depends on what is repaired."""
        for part in node.walk():
            if (
                isinstance(part, Apply)
                and part.symbol in self.signature.predicates
                and not self._is_crisp(part)
            ):
                raise LogicValueError(f"`{node}` depends on '{part.symbol}', whose truths are repaired")

    def _is_crisp(self, atom: Node) -> bool:
        """Whether the truth of an atom is known: a relation, or code that returns booleans."""
        if not isinstance(atom, Apply):
            return False
        symbol = atom.symbol
        if symbol in self.world.relations:
            return True
        if symbol not in self._booleans:
            self._booleans[symbol] = not self.world.symbols[symbol].weights and self._returns_booleans(atom)
        return self._booleans[symbol]

    def _returns_booleans(self, atom: Apply) -> bool:
        planner = Planner(self.world, Settings(), RULES, self.memory)
        plan = planner.plan_requests([lambda: planner.guard(atom, planner.root(atom))])
        try:
            Execution(self.world).run(plan)
        except LogicTypeError:
            return False
        return True

    def _unfold(self, node: Quantifier, below: tuple[_Tree, ...]) -> _Tree:
        """A quantifier over known individuals: the conjunction, disjunction or count of its instances."""
        places: list[Bound] = [()]
        for group in node.groups:
            size = min(self._count(node, variable) for variable in group)
            if len(places) * size * max(map(_size, below)) > _MOST_LEAVES:
                raise LogicValueError(
                    f"`{node}` has more than {_MOST_LEAVES:,} instances: let it range over fewer individuals"
                )
            places = [
                (*each, *((variable, place) for variable in group))
                for each in places
                for place in range(size)
            ]
        holds, *fails = ([_with(tree, bound) for bound in places] for tree in below)
        is_all = node.kind == FORALL.name
        if node.guard is not None:
            self._check_crisp(node.guard)
            inside = self._read(negation_normal_form(node.guard))
            outside = self._read(negation_normal_form(Not(node.guard)))
            guard = outside if is_all else inside
            holds = [
                _several(not is_all, (_with(guard, bound), each))
                for bound, each in zip(places, holds, strict=True)
            ]
            fails = [
                [
                    _several(False, (_with(outside, bound), each))
                    for bound, each in zip(places, own, strict=True)
                ]
                for own in fails
            ]
        if node.count is None:
            return _several(is_all, holds)
        bounds = QUANTIFIERS[node.kind].of_count(node.count)
        return Counted(bounds.get("least", 0), bounds.get("most"), tuple(holds), tuple(fails[0]))

    def _count(self, node: Quantifier, variable: str) -> int:
        """How many individuals a quantifier inside of an axiom unfolds to."""
        if self._kind_of(variable) == "data":
            raise LogicValueError(
                f"in `{node}` the variable '{variable}' ranges over data, which only a `forall` at the front "
                "does"
            )
        return self.world.groundings.count(variable) or 0

    def _kind_of(self, variable: str) -> str:
        """The kind of source that a variable has; raises where it has none."""
        source = self.world.groundings.source(variable)
        if source is None:
            raise LogicValueError(self.world.groundings.explain_missing(variable).rstrip("."))
        return source[0]


def _several(is_and: bool, parts: Sequence[_Tree]) -> Several:
    """A conjunction or a disjunction; those of its kind within it are parts of it."""
    flat: list[_Tree] = []
    for part in parts:
        flat += part.parts if isinstance(part, Several) and part.is_and == is_and else [part]
    return Several(is_and, tuple(flat))


def _opposite(leaf: Leaf) -> Leaf:
    return leaf._replace(negated=not leaf.negated)


def _without(count: Counted) -> Several:
    """The negation of a count: fewer, or more."""
    sides = []
    if count.least:
        sides.append(count._replace(least=0, most=count.least - 1))
    if count.most is not None:
        sides.append(count._replace(least=count.most + 1, most=None))
    return Several(False, tuple(sides))


def _size(tree: _Tree) -> int:
    """The number of leaves."""
    if isinstance(tree, Leaf):
        return 1
    return sum(map(_size, tree.parts if isinstance(tree, Several) else (*tree.holds, *tree.fails)))


def _with(tree: _Tree, bound: Bound) -> _Tree:
    """The tree for some individuals of variables that are unfolded."""
    if isinstance(tree, Several):
        return tree._replace(parts=tuple(_with(part, bound) for part in tree.parts))
    if isinstance(tree, Counted):
        holds, fails = ([_with(part, bound) for part in parts] for parts in (tree.holds, tree.fails))
        return tree._replace(holds=tuple(holds), fails=tuple(fails))
    named = {node.name for node in tree.node.walk() if isinstance(node, Name)}
    return tree._replace(bound=(*tree.bound, *(pair for pair in bound if pair[0] in named)))
