"""Claims: what formulas say of individuals, without the universal quantifiers at their front.

A claim has a value for each combination of individuals of these quantifiers, or for each tuple that their
guards select. Claims are planned together, so that what they have in common is computed once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.errors import LogicError
from ltn.evaluation.binding import bind_all, check_number, has_variables, narrow
from ltn.evaluation.plan import Execution, Options, Plan, Value, World, with_formula
from ltn.evaluation.planner import IndexOn, Planner, Request, SizeOf, owner_of
from ltn.evaluation.spaces import Space
from ltn.language import Binary, Node, Not, Quantifier
from ltn.language.names import FORALL


class ClaimPart(NamedTuple):
    """The values of a formula within a claim, over some of the axes of the claim."""

    values: tf.Tensor
    axes: tuple[str, ...]


class Instances(NamedTuple):
    """What a formula claims of individuals: its body, without the universal quantifiers at its front.

    Attributes:
        values: the values of the body for each combination of individuals, over the axes of `frame`.
        frame: the axis of each variable.
        rows: for each variable, which of its individuals stands at each place of its axis; None where they
            stand in their own order.
        are_claimed: False where a guard without variables rules all of them out.
        parts: by their texts, what the connectives of the body combine.
        whole: the value of the whole formula, where it was asked for.
    """

    values: tf.Tensor
    frame: dict[str, str]
    rows: dict[str, np.ndarray | None]
    are_claimed: bool
    parts: dict[str, ClaimPart]
    whole: tf.Tensor | None = None

    @property
    def labels(self) -> list[str]:
        """The axes of the values, in their order."""
        return list(dict.fromkeys(self.frame.values()))


class Claim(NamedTuple):
    """A closed formula, prepared for its space and without definitions.

    Attributes:
        number: which of the formulas it is.
        written: the formula as it was written, which errors show.
        whole: all of it.
        quantifiers: the universal quantifiers at its front.
        body: what is below them.
        parts: by their texts, what the connectives of the body combine: atoms, uses of definitions, and
            quantified formulas.
    """

    number: int
    written: Node
    whole: Node
    quantifiers: list[Quantifier]
    body: Node
    parts: dict[str, Node]

    def frame(self, planner: Planner) -> dict[str, str]:
        """The axis of each variable that its quantifiers bind."""
        frame: dict[str, str] = {}
        try:
            for quantifier in self.quantifiers:
                if quantifier.guard is None:
                    check_number(planner, quantifier)
                frame = narrow(planner, quantifier, bind_all(planner, quantifier, frame))
        except LogicError as error:
            raise with_formula(error, self.written) from error
        return frame


def read_claims(
    nodes: Sequence[Node],
    fronts: Sequence[Node],
    space: Space,
    write_out: Callable[[Sequence[Node], Sequence[int]], tuple[World, list[Node]]],
    with_parts: bool = False,
) -> tuple[World, list[Claim]]:
    """The claims of formulas, and the world in which they have their variables.

    The universal quantifiers of `fronts` are taken off: these are the formulas themselves, or as they are
    prepared for the space. `write_out` writes out definitions in trees, of each of which it is told to which
    formula it belongs. Without `with_parts` claims have no parts.
    """
    parts = [_parts_of(*pair) if with_parts else [] for pair in zip(nodes, fronts, strict=True)]
    # Together: equal uses of a definition are then one tree.
    numbers = [*range(len(nodes)), *(number for number, own in enumerate(parts) for _ in own)]
    world, written_out = write_out([*nodes, *itertools.chain(*parts)], numbers)
    prepared = [space.prepare(node) for node in written_out]
    inner = iter(prepared[len(nodes) :])
    claims = []
    for number, (front, whole) in enumerate(zip(fronts, prepared, strict=False)):
        quantifiers: list[Quantifier] = []
        body = whole
        # What a definition quantifies is not at the front of the formula.
        while _is_universal(front) and _is_universal(body):
            quantifiers.append(body)
            front, body = front.body, body.body
        named = {str(part): next(inner) for part in parts[number]}
        claims.append(Claim(number, nodes[number], whole, quantifiers, body, named))
    return world, claims


@dataclass(frozen=True)
class ClaimPlan:
    """The plan of some claims.

    Attributes:
        claims: what is planned.
        frames: the axis of each variable, of each claim.
        moved: of variables that do not lie on their first axis any more, that axis.
        guards: how many guards without variables each claim has.
        has_wholes: whether the value of each whole formula is planned too.
        plan: its results are, claim by claim, what `execute` reads.
    """

    claims: Sequence[Claim]
    frames: Sequence[dict[str, str]]
    moved: Sequence[dict[str, str]]
    guards: Sequence[int]
    has_wholes: bool
    plan: Plan

    def execute(
        self,
        options: Sequence[Options],
        worlds: Iterator[tuple[World, Mapping[str, int]]],
        joins_alike: bool,
    ) -> Iterator[tuple[int, Instances]]:
        """The number of each claim with its instances, in one world after the other.

        With each world comes, for variables over slices of their individuals, where the slice begins. Of a
        world nothing is kept.
        """
        for world, starts in worlds:
            tensors = Execution(world, options).run(self.plan, joins_alike)
            found = zip(tensors, self.plan.results, strict=True)
            for each in zip(self.claims, self.frames, self.moved, self.guards, strict=True):
                yield each[0].number, self._read(*each, starts, found)

    def _read(
        self,
        claim: Claim,
        frame: dict[str, str],
        moved: dict[str, str],
        guards: int,
        starts: Mapping[str, int],
        found: Iterator[tuple[Any, Value]],
    ) -> Instances:
        """The instances of a claim, from the results that come next."""
        body, body_at = next(found)
        whole = next(found)[0] if self.has_wholes else None
        parts = {text: ClaimPart(values, at.axes) for text in claim.parts for values, at in [next(found)]}
        holds = [bool(next(found)[0]) for _ in range(guards)]
        sizes = {label: next(found)[0] for label in dict.fromkeys(frame.values())}
        rows: dict[str, np.ndarray | None] = {variable: next(found)[0].numpy() for variable in moved}
        for variable, start in starts.items():
            if variable in frame:
                places = rows.get(variable)
                rows[variable] = start + (np.arange(sizes[frame[variable]]) if places is None else places)
        values = axes.broadcast(body, body_at.axes, list(sizes), sizes)
        in_order = {variable: rows.get(variable) for variable in frame}
        return Instances(values, frame, in_order, all(holds), parts, whole)


def plan_claims(
    claims: Sequence[Claim], planner: Planner, options: Sequence[Options], with_wholes: bool
) -> ClaimPlan:
    """The plan of some claims; `with_wholes` tells whether the whole formulas have values too."""
    frames = [claim.frame(planner) for claim in claims]
    requests: list[Callable[[], Request]] = []
    formulas: list[Node] = []
    moved: list[dict[str, str]] = []
    guards = [_crisp_guards(planner, claim) for claim in claims]
    for claim, frame, crisp in zip(claims, frames, guards, strict=True):
        owner, bases = owner_of(claim.number, options), planner.frames.base(frame)
        moved.append({variable: axis for variable, axis in bases.items() if axis != frame[variable]})
        own: list[Callable[[], Request]] = [
            partial(planner.formula, claim.body, frame, owner),
            *([partial(planner.formula, claim.whole, {}, owner)] if with_wholes else []),
            *(partial(planner.formula, part, frame, owner) for part in claim.parts.values()),
            *(partial(planner.guard, guard, {}) for guard in crisp),
            *(partial(SizeOf, label) for label in dict.fromkeys(frame.values())),
            *(partial(IndexOn, frame[variable], variable, axis) for variable, axis in moved[-1].items()),
        ]
        requests += own
        formulas += [claim.written] * len(own)
    plan = planner.plan_requests(requests, formulas)
    return ClaimPlan(claims, frames, moved, list(map(len, guards)), with_wholes, plan)


def _is_universal(node: Node) -> TypeGuard[Quantifier]:
    return isinstance(node, Quantifier) and node.kind == FORALL.name


def _crisp_guards(planner: Planner, claim: Claim) -> list[Node]:
    """The guards without variables: they hold for all individuals, or for none."""
    return [
        quantifier.guard
        for quantifier in claim.quantifiers
        if quantifier.guard is not None and not has_variables(planner, quantifier)
    ]


def _parts_of(written: Node, front: Node) -> list[Node]:
    """What the connectives of a claim combine, each once: in the formula as it was written, where it can be.

    `front` is the formula as it is prepared, which has all quantifiers of the claim.
    """
    while _is_universal(front):
        front = front.body
        # One may come from a negation, as that of `~exists`: then nothing was written so.
        written = written.body if _is_universal(written) else front
    found: dict[Node, None] = {}
    pending, seen = [written], set()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Not | Binary):
            pending += reversed(part.children)
        else:
            found[part] = None
    return list(found)
