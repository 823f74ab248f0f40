"""From universally quantified axioms to clauses over the outputs of predicates.

An axiom is split at its conjunctions and universal quantifiers into parts. Guards select the combinations of
individuals of a part, by the strategies of the evaluation; relations, comparisons and other crisp formulas in
its body are evaluated there; and each pattern of what is known becomes clauses once, for all combinations
that have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.evaluation.binding import bind_all, has_variables, narrow
from ltn.evaluation.evaluation import RULES, Evaluation
from ltn.evaluation.plan import Execution, World
from ltn.evaluation.planner import IndexOn, Planner, Request, Settings, SizeOf
from ltn.evaluation.spaces import TruthSpace
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.questions import Knowledge, shown_individuals
from ltn.language import Name, Node, Quantifier
from ltn.repair.clauses import Clauses, Numbers
from ltn.repair.conjunctive import clauses_of
from ltn.repair.outputs import Outputs
from ltn.repair.templates import BodyReader, Leaf, Template, parts_of

# The most combinations of individuals that a part is about.
_MOST_COMBINATIONS = 2**26
# The most truths of a crisp formula that are held at once.
_MOST_KNOWN = 2**28


@dataclass(frozen=True, eq=False)
class RulePart:
    """A part of an axiom: what is said of each combination of individuals.

    Attributes:
        axiom: the axiom.
        variables: where each combination has the individuals of each variable.
        selecting: the variables that guards and facts are about.
    """

    axiom: Axiom
    variables: Mapping[str, Numbers]
    selecting: frozenset[str]


class Rules(NamedTuple):
    """The clauses of some axioms, the outputs that they speak of, and what they were made from.

    Attributes:
        clauses: the clauses; the sources are numbers of parts.
        outputs: what the atoms are.
        parts: the parts of the axioms.
        world: what symbols mean, with the copies of variables that definitions bind.
    """

    clauses: Clauses
    outputs: Outputs
    parts: list[RulePart]
    world: World

    def describe(self, clause: int) -> tuple[str, tuple[Any, ...]]:
        """The axiom that a clause is from, and the names of the individuals that it is about."""
        part, place = self.parts[self.clauses.sources[clause]], self.clauses.places[clause]
        groundings = self.world.groundings
        names = (
            shown_individuals(groundings, v, at[place : place + 1])[0] for v, at in part.variables.items()
        )
        return part.axiom.name, tuple(names)


def chosen(theory: Knowledge, axioms: Sequence[str | Axiom] | None) -> list[Axiom]:
    """The axioms that are the rules."""
    if axioms is None:
        found = [axiom for axiom in theory.axiom_list if axiom.active]
    elif isinstance(axioms, str | Axiom) or not isinstance(axioms, Sequence):
        raise LogicTypeError(f"`axioms` must be a list of the names of axioms; got {axioms!r}.")
    else:
        found = [theory.find(axiom) for axiom in axioms]
    if not found:
        raise LogicValueError("There is no axiom to repair by: add some with theory.axiom(...).")
    for axiom in found:
        if axiom.tree is None:
            raise LogicValueError(
                f"The axiom '{axiom.name}' is Python code, which cannot be ground into clauses. Repair "
                "without it: name the others, as theory.repair(data, axioms=[...])."
            )
    return found


def ground(evaluation: Evaluation, axioms: Sequence[Axiom]) -> Rules:
    """The clauses of axioms; raises for an axiom that cannot be ground, and tells where."""
    trees = [axiom.tree for axiom in axioms if axiom.tree is not None]
    world, nodes = evaluation.write_out(trees)
    world = world._replace(space=TruthSpace(world.space.semantics))
    reader = BodyReader(world, evaluation.plans.memory)
    found: list[tuple[Axiom, list[Quantifier], Template]] = []
    for axiom, node in zip(axioms, nodes, strict=True):
        found += [(axiom, *each) for each in _naming(axiom, partial(_read, reader, node))]
    outputs = Outputs(world, list(dict.fromkeys(leaf.node for _, _, each in found for leaf in each.atoms)))
    parts: list[RulePart] = []
    batches: list[tuple[Numbers, NDArray[np.bool_], int, Numbers]] = []
    for axiom, front, template in found:
        make = partial(_ground, evaluation, world, outputs, front, template)
        variables, own = _naming(axiom, make)
        batches += [(atoms, signs, len(parts), places) for atoms, signs, places in own]
        crisp = [
            *(each.guard for each in front if each.guard is not None),
            *(leaf.node for leaf in template.facts),
        ]
        names = (node.name for fact in crisp for node in fact.walk() if isinstance(node, Name))
        parts.append(RulePart(axiom, variables, frozenset(names)))
    return Rules(Clauses.of(batches), outputs, parts, world)


def _read(reader: BodyReader, node: Node) -> list[tuple[list[Quantifier], Template]]:
    return [(front, reader.template(front, body)) for front, body in parts_of(node)]


def _naming(axiom: Axiom, make: Callable[[], Any]) -> Any:
    """What a function gives; its errors name the axiom."""
    try:
        return make()
    except LogicError as error:
        raise type(error)(
            f"The axiom '{axiom.name}' cannot be ground into clauses: {error}. Repair without it: name the "
            "others, as theory.repair(data, axioms=[...])."
        ) from error


def _ground(
    evaluation: Evaluation, world: World, outputs: Outputs, front: Sequence[Quantifier], template: Template
) -> tuple[dict[str, Numbers], list[tuple[Numbers, NDArray[np.bool_], Numbers]]]:
    """Where the combinations of a part have each variable, and its clauses: atoms, signs, and places."""
    selected = _select(evaluation, world, front, template.facts)
    batches = []
    for pattern, places in _patterns(selected.facts, selected.size):
        for clause in clauses_of(template.expression, pattern):
            literals = sorted(clause, key=abs)
            columns = [
                _numbers(outputs, template.atoms[abs(each) - 1], selected, places) for each in literals
            ]
            atoms = np.stack(columns, axis=1) if columns else np.zeros((len(places), 0), np.int64)
            signs = np.broadcast_to(np.array([each > 0 for each in literals], bool), atoms.shape)
            batches += list(_merged(atoms, signs, places))
    return selected.variables, batches


def _numbers(outputs: Outputs, leaf: Leaf, selected: _Selected, places: Numbers) -> Numbers:
    where: dict[str, Any] = {name: index[places] for name, index in selected.variables.items()}
    found = outputs.numbers(leaf.node, where | dict(leaf.bound))
    return np.broadcast_to(found, places.shape)


def _merged(
    atoms: Numbers, signs: NDArray[np.bool_], places: Numbers
) -> Iterator[tuple[Numbers, NDArray[np.bool_], Numbers]]:
    """The clauses with each atom once; without those that have an atom and its negation.

    Different variables may stand for one individual: then literals that look different are the same.
    """
    order = np.argsort(atoms, axis=1, kind="stable")
    atoms, signs = np.take_along_axis(atoms, order, axis=1), np.take_along_axis(signs, order, axis=1)
    repeats = (atoms[:, 1:] == atoms[:, :-1]).any(axis=1)
    yield atoms[~repeats], signs[~repeats], places[~repeats]
    for row in np.flatnonzero(repeats):
        literals = sorted(set(zip(atoms[row].tolist(), signs[row].tolist(), strict=True)))
        if len({atom for atom, _ in literals}) == len(literals):
            own, stands = zip(*literals, strict=True)
            yield np.array([own]), np.array([stands]), places[row : row + 1]


class _Selected(NamedTuple):
    """The combinations of individuals of a part.

    Attributes:
        size: how many there are.
        variables: where each has the individuals of each variable.
        facts: for each fact, whether it holds of each combination.
    """

    size: int
    variables: dict[str, Numbers]
    facts: list[NDArray[np.bool_]]


def _select(
    evaluation: Evaluation, world: World, front: Sequence[Quantifier], facts: Sequence[Leaf]
) -> _Selected:
    """The combinations of individuals that quantifiers select, and which facts hold of them."""
    planner = Planner(world, Settings(), RULES, evaluation.plans.memory)
    frame: dict[str, str] = {}
    guards = []
    for quantifier in front:
        frame = narrow(planner, quantifier, bind_all(planner, quantifier, frame))
        if quantifier.guard is not None and not has_variables(planner, quantifier):
            guards.append(quantifier.guard)
    labels, bases = list(dict.fromkeys(frame.values())), planner.frames.base(frame)
    moved = [variable for variable in frame if bases[variable] != frame[variable]]
    nodes = list(dict.fromkeys(leaf.node for leaf in facts))
    frames = [_frame_of(planner, node, bases) for node in nodes]
    requests: list[Callable[[], Request]] = [
        *(partial(planner.guard, guard, {}) for guard in guards),
        *(partial(SizeOf, label) for label in labels),
        *(partial(IndexOn, frame[variable], variable, bases[variable]) for variable in moved),
        *(partial(planner.guard, node, own) for node, own in zip(nodes, frames, strict=True)),
    ]
    plan = planner.plan_requests(requests)
    found = Execution(world).run(plan)
    holds, found = found[: len(guards)], found[len(guards) :]
    sizes = [int(size) for size in found[: len(labels)]]
    count = math.prod(sizes) if all(map(bool, holds)) else 0
    if count > _MOST_COMBINATIONS:
        raise LogicValueError(
            f"it is about {count:,} combinations of individuals, more than {_MOST_COMBINATIONS:,}: let a "
            "guard select some"
        )
    grid = np.unravel_index(np.arange(count), sizes) if sizes else ()
    on_label = dict(zip(labels, grid, strict=bool(sizes)))
    index = dict(
        zip(moved, (np.asarray(each) for each in found[len(labels) : len(labels) + len(moved)]), strict=True)
    )
    variables = {
        variable: index[variable][on_label[label]] if variable in index else on_label[label]
        for variable, label in frame.items()
    }
    values = (
        dict(
            zip(
                nodes,
                zip(plan.results[-len(nodes) :], found[-len(nodes) :], frames, strict=True),
                strict=True,
            )
        )
        if nodes
        else {}
    )
    of_axis = {bases[variable]: at for variable, at in variables.items()}
    held = []
    for leaf in facts:
        value, tensor, own = values[leaf.node]
        bound = {own[variable]: place for variable, place in leaf.bound if variable in own}
        where = tuple(bound[axis] if axis in bound else of_axis[axis] for axis in value.axes)
        truth = np.asarray(tensor)[where] if where else np.asarray(tensor)
        held.append(np.broadcast_to(truth, (count,)) != leaf.negated)
    return _Selected(count, variables, held)


def _frame_of(planner: Planner, node: Node, bases: Mapping[str, str]) -> dict[str, str]:
    """The axes of the variables of a fact: those of the part, and one for each that is unfolded."""
    frame = {name: bases[name] if name in bases else planner.bind([name]) for name in planner.free(node)}
    size = 1
    for name in dict.fromkeys(frame.values()):
        members = planner.frames.groups[name]
        size *= planner.groundings.count(members[0]) or 1
    if size > _MOST_KNOWN:
        raise LogicValueError(
            f"`{node}` has {size:,} truths, more than {_MOST_KNOWN:,}: let a guard select some"
        )
    return frame


def _patterns(facts: Sequence[NDArray[np.bool_]], count: int) -> Iterator[tuple[list[bool], Numbers]]:
    """Each pattern of facts that occurs, with the combinations of individuals that have it."""
    if not facts:
        yield [], np.arange(count)
        return
    bits = np.packbits(np.stack(facts, axis=1), axis=1)
    rows = np.ascontiguousarray(bits).view([("", bits.dtype, bits.shape[1])]).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(first)))
    for which, places in enumerate(np.split(order, ends[:-1])):
        yield [bool(fact[first[which]]) for fact in facts], np.sort(places)
