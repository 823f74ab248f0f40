"""Guards of negations, such as `~known(x, y) & x != y`: what they exclude is found, and never searched for.

Most combinations of individuals are left. Those that are not are the rows of the relation, and the pairs of
equal individuals: they are joined. The others are counted before they are made.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ltn.evaluation import joins
from ltn.evaluation.frames import Frame, Places, Tuples
from ltn.evaluation.guards.fixed import FixedTuples
from ltn.evaluation.guards.joined import Joined
from ltn.evaluation.guards.strategy import Guard, Strategy
from ltn.evaluation.join_steps import JoinTable, distinct
from ltn.evaluation.joins import join
from ltn.evaluation.occurring import as_constant
from ltn.evaluation.planner import Planner, Rule
from ltn.language import Comparison, Name, Node, Not

# Numbers of combinations stay below, so that an int64 holds them.
_MOST_NUMBERS = 2**62
# How many combinations are tested at once.
_BLOCK = 2**20


class Complement(Strategy):
    """All combinations of known individuals but those that negated relations, and `!=`, exclude.

    What else is fixed about these individuals filters them, block by block.
    """

    def __init__(self, guard: Guard, conjuncts: Sequence[Node], order: Sequence[str]):
        self._guard = guard
        self._excluding = conjuncts
        self.parents = order
        self.leading = order[0]
        filters = [
            node
            for node in guard.conjuncts
            if node not in conjuncts and guard.is_fixed(node) and guard.labels(node) <= set(order)
        ]
        self.conjuncts = [*conjuncts, *filters]
        index = self._found(filters)
        self._indices = tuple(as_constant(places) for places in index)
        if guard.has_relations(conjuncts):
            self.known, self.is_known = guard.on_first_axes(self.parents, index), True

    @classmethod
    def find(cls, guard: Guard) -> Complement | None:
        # Of several sets of axes the one with the most combinations.
        found: dict[tuple[str, ...], list[Node]] = {}
        for node in guard.conjuncts:
            if _excludes(guard, node):
                found.setdefault(tuple(sorted(guard.labels(node))), []).append(node)
        order = max(found, key=lambda labels: math.prod(_sizes(guard, labels)), default=None)
        if order is None:
            return None
        rest = [node for node in guard.conjuncts if node not in found[order]]
        # The body reads what a network returned for a guard: both must be on the same axes.
        if not guard.has_relations(found[order]) and any(map(guard.calls_network, rest)):
            return None
        return cls(guard, found[order], order)

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        yield from ()
        written = " & ".join(map(str, self.conjuncts))
        return planner.add(FixedTuples(tuples.label, written, self._indices))

    def _found(self, filters: Sequence[Node]) -> list[Places]:
        """Where the tuples are on each axis."""
        guard, sizes = self._guard, _sizes(self._guard, self.parents)
        excluded = _numbers(guard, self._excluding, self.parents)
        count = math.prod(sizes) - len(excluded)
        if count > joins.MOST_ROWS:
            written = " & ".join(map(str, self._excluding))
            raise joins.TooManyTuplesError(
                f"The guard `{written}` selects {count:,} tuples, more than {joins.MOST_ROWS:,}: let the "
                "quantifier draw some of them in each training step, as forall[sample=4096], and reports by "
                "theory.report(sample=4096); what else the guard asks for then stands in the body. Or bind "
                "fewer variables under one guard."
            )

        def find() -> list[Places]:
            parts = []
            for index in _combinations(excluded, count, sizes):
                columns = dict(zip(self.parents, index, strict=True))
                holds = guard.holds_at(filters, self.parents, columns) if filters else slice(None)
                parts.append([places[holds] for places in index])
            nobody = np.zeros(0, np.int32)
            return [np.concatenate([nobody, *(part.pop(0) for part in parts)]) for _ in sizes]

        names = dict.fromkeys(name for node in self.conjuncts for name in guard.planner.free(node))
        sources = tuple((name, guard.frame[name], guard.planner.groundings.source(name)) for name in names)
        found: list[Places] = guard.planner.memory.get(("complement", *self.conjuncts, sources), find)
        return found


def excluded_by(planner: Planner, node: Node, frame: Frame, order: Sequence[str]) -> NDArray[np.int64] | None:
    """The numbers of the combinations that a guard excludes, row-major along axes in this order, ascending.

    None where the guard is not made of negated relations, and of `!=`, about all of these axes, whose
    individuals are known and lie on no tuples.
    """
    guard = Guard(planner, node, frame)
    if any(planner.frames.tuples(axis) for axis in order) or not all(map(guard.has_known_axis, frame)):
        return None
    if any(guard.labels(node) != set(order) or not _excludes(guard, node) for node in guard.conjuncts):
        return None
    is_counted = math.prod(_sizes(guard, order)) < _MOST_NUMBERS
    return _numbers(guard, guard.conjuncts, order) if is_counted else None


def _combinations(excluded: NDArray[np.int64], count: int, sizes: Sequence[int]) -> Iterator[list[Places]]:
    """The combinations that are not excluded, in blocks, ascending: where they are on each axis."""
    # Before the combination number e_i, the i-th that is excluded, there are e_i - i others.
    passed = excluded - np.arange(len(excluded))
    for low in range(0, count, _BLOCK):
        numbers = np.arange(low, min(low + _BLOCK, count))
        numbers += np.searchsorted(passed, numbers, side="right")
        index: list[Places] = []
        for size in reversed(sizes[1:]):
            numbers, places = np.divmod(numbers, size)
            index.insert(0, places.astype(np.int32))
        yield [numbers.astype(np.int32), *index]


def _numbers(guard: Guard, conjuncts: Sequence[Node], order: Sequence[str]) -> NDArray[np.int64]:
    """The numbers of the combinations for which a conjunct does not hold."""
    numbers = [np.zeros(0, np.int64)]
    for conjunct in conjuncts:
        columns = _rows(guard, conjunct)
        number = np.zeros(len(columns[order[0]]), np.int64)
        for axis, size in zip(order, _sizes(guard, order), strict=True):
            number = number * size + columns[axis]
        numbers.append(number)
    return distinct(np.concatenate(numbers))


def _sizes(guard: Guard, order: Sequence[str]) -> list[int]:
    frames, groundings = guard.planner.frames, guard.planner.groundings
    return [groundings.count(frames.groups[axis][0]) or 0 for axis in order]


def _excludes(guard: Guard, conjunct: Node) -> bool:
    """Whether it is told for which combinations of known individuals a conjunct does not hold."""
    variables = guard.planner.free(conjunct)
    on_tuples = any(guard.planner.frames.tuples(guard.frame[name]) for name in variables)
    if not variables or on_tuples or not all(map(guard.has_known_axis, variables)):
        return False
    equality = _equality(conjunct)
    if equality is not None:
        sides = [side.name if isinstance(side, Name) else "" for side in equality.children]
        domains = (guard.planner.signature.variables.get(side) for side in sides)
        return all(domain is not None and domain.features is not None for domain in domains)
    if not isinstance(conjunct, Not):
        return False
    return Joined.applies(Guard(guard.planner, conjunct.operand, guard.frame))


def _equality(conjunct: Node) -> Comparison | None:
    """The equation that a conjunct denies."""
    inner, sign = (conjunct.operand, "=") if isinstance(conjunct, Not) else (conjunct, "!=")
    return inner if isinstance(inner, Comparison) and inner.operator == sign else None


def _rows(guard: Guard, conjunct: Node) -> dict[str, Places]:
    """Where the combinations for which a conjunct does not hold are on each axis."""
    equality = _equality(conjunct)
    if equality is not None:
        return _equal(guard, equality)
    if not isinstance(conjunct, Not):
        raise RuntimeError("What excludes combinations is a negation.")
    joined = Joined.find(Guard(guard.planner, conjunct.operand, guard.frame))
    return dict((joined.known if joined is not None else None) or {})


def _equal(guard: Guard, equality: Comparison) -> dict[str, Places]:
    """The pairs of individuals with equal features, for two variables over fixed individuals."""
    tables = []
    for side in equality.children:
        if not isinstance(side, Name):
            raise RuntimeError("The sides of an equation that excludes combinations are variables.")
        features, places = guard.planner.signature.variables[side.name].features, guard.places(side.name)
        if features is None or places is None:
            raise RuntimeError("The individuals of an equation that excludes combinations are fixed.")
        # Individuals with equal features have one number.
        flat = features.reshape(len(features), -1) + np.float32(0.0)
        _, number = np.unique(flat, axis=0, return_inverse=True)
        label = guard.frame[side.name]
        # The name of a column that no axis has.
        columns: dict[Hashable, Places] = {
            label: np.arange(len(places)),
            ("number",): number.reshape(-1)[places],
        }
        tables.append(JoinTable(str(side), columns))
    found = join(tables).columns
    return {axis: places for axis, places in found.items() if isinstance(axis, str)}
