"""Claims of many individuals: which of them are evaluated together, on slices of which variables.

So memory holds the values of one slice. Claims whose slices can be the same are evaluated together, so that
networks run once for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ltn.errors import LogicError
from ltn.evaluation.binding import check_number, samples_of
from ltn.evaluation.chunks import combinations
from ltn.evaluation.claims import Claim
from ltn.evaluation.footprint import shares_of
from ltn.evaluation.plan import World, with_formula
from ltn.evaluation.planner import Planner
from ltn.language import Quantifier

# Networks run on so many rows of data at once, at most.
_MOST_ROWS = 2**13


@dataclass(frozen=True)
class Slicing:
    """Variables with `count` individuals each, which are taken `size` at a time."""

    variables: tuple[str, ...]
    count: int
    size: int


class ClaimBatch(NamedTuple):
    """Claims that are evaluated together, on slices; without any at once."""

    claims: list[Claim]
    slicings: list[Slicing]

    def worlds(self, world: World) -> Iterator[tuple[World, Mapping[str, int]]]:
        """The world on each slice, and where the slice begins for each variable."""
        ranges = [range(0, each.count, each.size) for each in self.slicings]
        for starts in itertools.product(*ranges):
            groundings, begins = world.groundings, dict[str, int]()
            for each, start in zip(self.slicings, starts, strict=True):
                size = min(each.size, each.count - start)
                groundings = groundings.slice(each.variables, start, size, {})
                begins |= dict.fromkeys(each.variables, start)
            yield world._replace(groundings=groundings), begins

    def first(self, world: World) -> World:
        """A world for which a plan holds on all slices."""
        groundings = world.groundings
        for each in self.slicings:
            groundings = groundings.slice(each.variables, 0, each.size, {})
        return world._replace(groundings=groundings)


def batches(planner: Planner, claims: Sequence[Claim], most: int) -> list[ClaimBatch]:
    """All claims, with at most `most` combinations of individuals at once.

    What a claim says of one combination of its outer variables is always evaluated whole, and so is what was
    drawn as a sample.
    """
    costs = [_Cost(planner, claim) for claim in claims]
    if sum(cost.besides() for cost in costs) <= most and not any(cost.is_long for cost in costs):
        return [ClaimBatch(list(claims), [])]
    whole: list[_Joint] = []
    joint: list[_Joint] = []
    apart: list[ClaimBatch] = []
    for cost in costs:
        slicings = cost.slicings(most)
        if len(slicings) > 1:
            apart.append(ClaimBatch([cost.claim], slicings))
            continue
        if slicings:
            joint.append(_Joint(cost, slicings[0]))
        else:
            whole.append(_Joint(cost, Slicing((), 1, 1)))
    # First those that slice the same variables, since a network about both runs on their slices once.
    joint = _join(joint, lambda one, other: one.meets(other) and one.takes(other, most))
    joint = _join(joint, lambda one, other: one.takes(other, most))
    whole = _join(whole, lambda one, other: one.takes(other, most))
    return [*(each.batch(most) for each in (*whole, *joint)), *apart]


class _Cost:
    """How many combinations of individuals a claim is about."""

    def __init__(self, planner: Planner, claim: Claim):
        self.claim = claim
        self._groundings = planner.groundings
        inner = [node for node in claim.whole.walk() if isinstance(node, Quantifier)]
        try:
            self._shares = shares_of(planner, claim.whole)
            for node in inner:
                if node.guard is None:
                    # Slices would take hours where only a sample was wanted.
                    check_number(planner, node)
        except LogicError as error:
            # Of a variable without individuals, for one.
            raise with_formula(error, claim.written) from error
        self.bound = {variable for node in inner for variable in node.variables}
        self._draws = any(samples_of(planner, node) is not None for node in inner)
        groups = [group for quantifier in claim.quantifiers for group in quantifier.groups]
        self._counts = {group: self._count(group[0]) for group in groups}
        self._data = {group for group in groups if planner.kind_of(group[0]) == "data"}

    @property
    def is_long(self) -> bool:
        """Whether there are more rows of data than networks take at once."""
        return not self._draws and any(self._counts[group] > _MOST_ROWS for group in self._data)

    def besides(self, single: Collection[str] = ()) -> float:
        """How many combinations there are at most, of one individual of the variables `single`."""

        def size_of(variable: str) -> int:
            return 1 if variable in single else self._count(variable)

        return float(combinations(self._groundings, self.claim.whole, size_of, shares=self._shares))

    def slicings(self, most: int) -> list[Slicing]:
        """By which slices it is evaluated; none where it is evaluated at once."""
        if self._draws or not self._counts or (not self._data and self.besides() <= most):
            return []
        found: list[Slicing] = []
        single: list[str] = []
        order = sorted(self._counts, key=lambda group: (group in self._data, self._counts[group]))
        for group in reversed(order):
            single += group
            others = self.besides(single)
            size = self.size(group, most, others)
            found.append(Slicing(group, self._counts[group], size))
            if others <= most:
                break
        return found

    def size(self, group: tuple[str, ...], most: int, others: float) -> int:
        """How many individuals a slice has, with `others` combinations of others for each."""
        limit = _MOST_ROWS if group in self._data else self._counts[group]
        return max(1, min(self._counts[group], limit, int(most / others) if others else limit))

    def _count(self, variable: str) -> int:
        return self._groundings.count(variable) or 0


class _Joint:
    """Claims that may be evaluated together: of each the slices are of one group of variables."""

    def __init__(self, cost: _Cost, slicing: Slicing):
        self._members = [(cost, set(slicing.variables))]
        self._variables = slicing.variables
        self._slicing = slicing
        self._others = cost.besides(slicing.variables)

    def meets(self, other: _Joint) -> bool:
        """Whether both have slices of a variable."""
        return not set(self._variables).isdisjoint(other._variables)

    def takes(self, other: _Joint, most: int) -> bool:
        """Whether the claims of another could be added: each has slices of its own variables alone."""
        variables = tuple(dict.fromkeys((*self._variables, *other._variables)))
        if other._slicing.count != self._slicing.count or self._others + other._others > most:
            return False
        members = [*self._members, *other._members] if variables != self._variables else other._members
        if any(cost.bound.intersection(variables) != own for cost, own in members):
            return False
        self._members += other._members
        self._variables = variables
        self._others += other._others
        return True

    def batch(self, most: int) -> ClaimBatch:
        """The claims with their slices."""
        claims = [cost.claim for cost, _ in self._members]
        if not self._variables:
            return ClaimBatch(claims, [])
        cost = self._members[0][0]
        size = cost.size(self._slicing.variables, most, self._others)
        return ClaimBatch(claims, [Slicing(self._variables, self._slicing.count, size)])


def _join(parts: list[_Joint], takes: Callable[[_Joint, _Joint], bool]) -> list[_Joint]:
    """As few as there can be, where each may take others."""
    found: list[_Joint] = []
    for part in parts:
        if not any(takes(other, part) for other in found):
            found.append(part)
    return found
