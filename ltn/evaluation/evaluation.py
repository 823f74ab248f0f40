"""Evaluation of syntax trees: the grounding of terms and formulas, planned once, executed many times."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ltn.core import Formula, Proposition, Term, axes
from ltn.core.symbols import Symbol
from ltn.evaluation import chunks, crisp, formulas, replicas, runs, terms, tuples
from ltn.evaluation.claim_slices import ClaimBatch, batches
from ltn.evaluation.claims import Claim, ClaimPlan, Instances, plan_claims, read_claims
from ltn.evaluation.crisp_definitions import with_relation
from ltn.evaluation.footprint import slice_sizes
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.plan import Execution, Options, Plan, Recent, Sampling, World, samples_in
from ltn.evaluation.planner import (
    FormulaIn,
    GuardIn,
    IndexOn,
    Memory,
    PartIn,
    Planner,
    Request,
    Rules,
    RunOf,
    Settings,
    SizeOf,
    TermIn,
    TuplesOf,
    owner_of,
)
from ltn.evaluation.relations import Relation
from ltn.evaluation.samples import with_all_samples
from ltn.evaluation.sharing import share
from ltn.evaluation.spaces import Space
from ltn.evaluation.table import PlanTable
from ltn.fuzzy_ops.base import ProjectedConnective
from ltn.language import Apply, Binary, Node, Not, Quantifier
from ltn.language.names import axis_text
from ltn.language.statements import Diagonals
from ltn.language.writing_out import CrispDefinition

RULES: Rules = {
    FormulaIn: formulas.plan_formula,
    PartIn: chunks.plan_part,
    TermIn: terms.plan_term,
    GuardIn: crisp.plan_guard,
    TuplesOf: tuples.plan_tuples,
    SizeOf: tuples.plan_size,
    IndexOn: tuples.plan_index,
    RunOf: runs.plan_run,
}


class Plans:
    """The plans of one theory: each is made once for some formulas and a kind of groundings."""

    def __init__(self) -> None:
        self.recent = Recent[Any](most=64)
        # Which formulas take fewer bytes than a limit.
        self.small = Recent[bool](most=64)
        self.memory = Memory(most=16)
        # The definitions that guards use.
        self.definitions: dict[str, tuple[CrispDefinition, Relation]] = {}


class Trace(NamedTuple):
    """A formula with its value, and with the traces of the formulas that it is made of."""

    formula: Node
    value: Formula
    below: list[Trace]


class Evaluation:
    """Formulas under fixed groundings; what they have in common is computed once.

    Args:
        groundings: what variables and constants denote.
        symbols: the predicates and functions by name.
        propositions: the propositions by name.
        space: where truth is computed.
        dense: see `planner.Settings`.
        other_operators: whether the operators differ from those that the formulas were written for:
            options of quantifiers that they lack are then left out.
        chunk: see `planner.Settings`.
        plans: the plans of the theory; new ones are added. They hold for the rows that relations have now.
        relations: the predicates whose truth is known, by name.
        sampling: how samples are drawn; None where quantifiers take all tuples, whatever is written.
    """

    def __init__(
        self,
        groundings: Groundings,
        symbols: Mapping[str, Symbol],
        propositions: Mapping[str, Proposition],
        space: Space,
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
        plans: Plans | None = None,
        relations: Mapping[str, Relation] | None = None,
        sampling: Sampling | None = None,
    ):
        seed, most = (None, None) if sampling is None else sampling
        known = relations or {}
        self.world = World(groundings, dict(symbols), propositions, space, known, other_operators, seed)
        self.settings = Settings(dense, chunk, sampled=sampling is not None, sample=most)
        self.plans = Plans() if plans is None else plans

    @property
    def groundings(self) -> Groundings:
        """What variables and constants denote."""
        return self.world.groundings

    @property
    def propositions(self) -> Mapping[str, Proposition]:
        """The propositions by name."""
        return self.world.propositions

    @property
    def space(self) -> Space:
        """Where truth is computed."""
        return self.world.space

    def in_space(self, space: Space) -> Evaluation:
        """The same evaluation, in another space."""
        return self._but(world=self.world._replace(space=space))

    def on(self, groundings: Groundings) -> Evaluation:
        """The same evaluation, under other groundings."""
        return self._but(world=self.world._replace(groundings=groundings))

    def within(self, limit: int | None) -> Evaluation:
        """The same evaluation, in which each formula takes about so many bytes, if that can be."""
        return self._but(settings=replace(self.settings, limit=limit))

    def _but(self, **changes: Any) -> Evaluation:
        twin = copy(self)
        vars(twin).update(changes)
        return twin

    def ground(self, nodes: Sequence[Node], options: Sequence[Options] = ()) -> list[Any]:
        """The groundings of terms and formulas, over their free variables in order of appearance.

        The variables of a diagonal have one axis, which has its text as a label.

        Formulas are given as they are written, and errors show them so; their tensors hold values of the
        space. `options` gives each of them the options of quantifiers that its text does not set.
        """
        world, written_out = self.write_out(nodes, options)
        world = self._divide(world, written_out)
        plan = self._plan(world, nodes, written_out, options)
        found = Execution(world, options).run(plan)
        grounded: list[Any] = []
        for node, result, tensor in zip(nodes, plan.results, found, strict=True):
            groups = groups_of(world.groundings.signature.free_variables(node), node)
            kind = Formula if self._is_formula(node) else Term
            labels = [group[0] if len(group) == 1 else axis_text(group) for group in groups]
            reordered = axes.reorder(tensor, result.axes, list(map(axis_text, groups)))
            grounded.append(kind(reordered, labels))
        return grounded

    def plan(self, nodes: Sequence[Node], options: Sequence[Options] = ()) -> Plan:
        """The plan of terms and formulas."""
        world, written_out = self.write_out(nodes, options)
        return self._plan(self._divide(world, written_out), nodes, written_out, options)

    def _plan(
        self, world: World, nodes: Sequence[Node], written_out: Sequence[Node], options: Sequence[Options]
    ) -> Plan:
        def make() -> Plan:
            planner = Planner(world, self.settings, RULES, self.plans.memory)
            # Prepared once: trees that are equal and not the same are compared from top to bottom.
            prepared = map(self.prepare, written_out)
            owners = (owner_of(number, options) for number in range(len(nodes)))
            each = zip(written_out, prepared, owners, strict=True)
            requests = [partial(self._request, planner, *parts) for parts in each]
            return planner.plan_requests(requests, nodes)

        key = (tuple(written_out), tuple(nodes), self._key(world, self.settings, options))
        found: Plan = self.plans.recent.get(key, make)
        return found

    def _key(self, world: World, settings: Settings, options: Sequence[Options]) -> Hashable:
        """What plans depend on besides the formulas."""
        groundings, semantics = world.groundings, world.space.semantics
        sources = tuple((v, groundings.source(v)) for v in groundings.signature.variables)
        sizes = sizes_of(groundings) if settings.may_slice else ()
        operators = tuple(_kind(operator) for operator in vars(semantics).values())
        owners = tuple(owner_of(number, options) for number in range(len(options)))
        given = (groundings.has_weights, *(groundings.has_places(variable) for variable, _ in sources))
        return owners, settings, replicas.count(), sources, sizes, given, operators

    def tabulate(self, nodes: Sequence[Node], options: Sequence[Options] = ()) -> PlanTable:
        """The plan of terms and formulas, executed to see how large each step is."""
        world, _ = self.write_out(nodes, options)
        plan, execution = self.plan(nodes, options), Execution(world, options)
        execution.run(plan)
        return PlanTable.of(plan, execution)

    def trace(self, node: Node, options: Options | None = None, unfold: bool = False) -> Trace:
        """A prepared formula with its value and those of all formulas that it is made of.

        The body of a guarded quantifier is evaluated for the individuals that the guard selects. A use of a
        definition counts as an atom, unless it is to `unfold`.
        """
        own = [options or {}]
        world, [written_out] = self.write_out([node])
        actual = self.space.prepare(written_out)
        planner = Planner(world, Settings(traced=True), RULES, self.plans.memory)
        plan = planner.plan_requests(
            [partial(self._request, planner, actual, actual, owner_of(0, own))], [node]
        )
        execution = Execution(world, own)
        execution.run(plan)
        root: Request = planner.formula(actual, planner.root(actual), owner_of(0, own))
        below: dict[Request, list[FormulaIn]] = {}
        traces: dict[Request, Trace] = {}
        pending: list[Request] = [root]
        while pending:
            request = pending[-1]
            if not isinstance(request, FormulaIn):
                raise RuntimeError("A trace is made of formulas.")
            if request not in below:
                children = _formulas_below(request.node)
                below[request] = [_request_below(planner, request, child) for child in children]
                pending += below[request]
                continue
            pending.pop()
            if request not in traces:
                formula = execution.formula(planner.value(request))
                traces[request] = Trace(request.node, formula, [traces[child] for child in below[request]])
        has_names = bool(self.groundings.signature.definitions) and not unfold
        return self._by_name(traces[root], node) if has_names else traces[root]

    def _by_name(self, trace: Trace, node: Node) -> Trace:
        """The trace of a formula with its definitions written out, as that of the formula itself."""
        is_name = isinstance(node, Apply) and node.symbol in self.groundings.signature.definitions
        # The types differ where the negation of a definition was moved into it.
        if is_name or type(node) is not type(trace.formula):
            return Trace(node, trace.value, [])
        below = zip(trace.below, _formulas_below(node), strict=True)
        return Trace(node, trace.value, [self._by_name(part, child) for part, child in below])

    def instances(self, node: Node, options: Options | None = None) -> Instances:
        """What a formula claims of each combination of individuals, or of each tuple of its guards."""
        # A negated existential quantifier is a universal one, in a space that sees through negation.
        own = [options or {}]
        claims = read_claims(
            [node], [self.space.prepare(node)], self.space, partial(self._write_out_for, own)
        )
        [(_, found)] = self._claims(*claims, own, None)
        return found

    def claims(
        self, nodes: Sequence[Node], options: Sequence[Options], most: int | None, with_parts: bool = False
    ) -> Iterator[tuple[int, Instances]]:
        """What formulas claim as they are written, each with its number; on slices, one after the other.

        At most about `most` combinations of individuals are evaluated at once, see `claim_slices`; with None
        all of them are, and then the value of each whole formula comes too.
        """
        write_out = partial(self._write_out_for, options)
        world, claims = read_claims(nodes, nodes, self.space, write_out, with_parts)
        return self._claims(world, claims, options, most)

    def _claims(
        self, world: World, claims: list[Claim], options: Sequence[Options], most: int | None
    ) -> Iterator[tuple[int, Instances]]:
        settings = replace(self.settings, dense=False, chunk=None)

        def planner(world: World) -> Planner:
            return Planner(world, settings, RULES, self.plans.memory)

        whole = [ClaimBatch(claims, [])]
        for batch in whole if most is None else batches(planner(world), claims, most):
            first = batch.first(world)
            key = (tuple(map(_of_claim, batch.claims)), most is None, self._key(first, settings, options))
            make = partial(plan_claims, batch.claims, planner(first), options, with_wholes=most is None)
            plan: ClaimPlan = self.plans.recent.get(key, make)
            yield from plan.execute(options, batch.worlds(world), joins_alike=bool(batch.slicings))

    def planner(self, world: World) -> Planner:
        """A planner of one's own, without chunks."""
        return Planner(world, replace(self.settings, chunk=None, limit=None), RULES, self.plans.memory)

    def prepare(self, node: Node) -> Node:
        """A formula as it is evaluated, or a term; without the diagonals of a question."""
        body = node.body if isinstance(node, Diagonals) else node
        return self.space.prepare(body) if self._is_formula(body) else body

    def _request(self, planner: Planner, node: Node, prepared: Node, owner: int | None) -> Request:
        frame = {}
        for group in groups_of(planner.free(node), node):
            label = planner.bind(group)
            frame.update(dict.fromkeys(group, label))
            if len(group) > 1:
                # The sizes of a `diag` are compared, whether or not anyone needs them.
                planner.value(SizeOf(label))
        if not self._is_formula(prepared):
            return planner.term(prepared, frame)
        return planner.formula(prepared, frame, owner)

    def _is_formula(self, node: Node) -> bool:
        return self.groundings.signature.sort_of(node).is_formula

    def write_out(self, nodes: Sequence[Node], options: Sequence[Options] = ()) -> tuple[World, list[Node]]:
        """The nodes without definitions, and the world in which they have their variables.

        Their quantifiers tell how many tuples they draw, where options or a question do.
        """
        found, world = self.groundings.signature.write_out(nodes), self.world
        if found.copies or found.crisp:
            world = world._replace(groundings=self.groundings.with_copies(found.copies))
        for name, definition in found.crisp.items():
            planner_of = partial(Planner, settings=Settings(), rules=RULES, memory=self.plans.memory)
            world = with_relation(world, name, definition, planner_of, self.plans.definitions)
        if self.settings.sample is None and not any(map(samples_in, options)):
            return world, found.nodes
        return world, with_all_samples(found.nodes, options, self.settings.sample)

    def _write_out_for(
        self, options: Sequence[Options], nodes: Sequence[Node], numbers: Sequence[int]
    ) -> tuple[World, list[Node]]:
        """The nodes without definitions, each with the options of a formula."""
        return self.write_out(nodes, [options[number] for number in numbers] if options else ())

    def _divide(self, world: World, nodes: Sequence[Node]) -> World:
        """The world in which each replica has all the data that it needs whole."""
        if replicas.count() == 1:
            return world
        return world._replace(groundings=share(world.groundings, nodes, self.settings.sampled))


def sizes_of(groundings: Groundings) -> tuple[Any, ...]:
    """The numbers of individuals of all variables, where they are known, also of slices."""
    slices = slice_sizes(groundings)
    return tuple(slices.get(name, groundings.count(name)) for name in groundings.signature.variables)


def groups_of(free: Sequence[str], node: Node) -> list[tuple[str, ...]]:
    """The free variables of a formula, a term, or a question about diagonals; those of one axis together."""
    groups = node.groups if isinstance(node, Diagonals) else ()
    own = {variable: group for group in groups for variable in group}
    return list(dict.fromkeys(own.get(variable, (variable,)) for variable in free))


def _kind(operator: Any) -> Hashable:
    """The properties of an operator on which a plan depends."""
    return type(operator), operator.projection if isinstance(operator, ProjectedConnective) else None


def _of_claim(claim: Claim) -> Hashable:
    """What the plan of a claim depends on."""
    return claim.number, claim.whole, len(claim.quantifiers), tuple(claim.parts.items()), claim.written


def _formulas_below(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Quantifier):
        return (node.body,)
    return node.children if isinstance(node, Not | Binary) else ()


def _request_below(planner: Planner, request: FormulaIn, node: Node) -> FormulaIn:
    """The request that another one made for a formula below it."""
    return next(
        asked for asked in planner.asked[request] if isinstance(asked, FormulaIn) and asked.node == node
    )
