"""Quantifiers in chunks: few individuals at a time, so that memory does not grow with their number.

The individuals of one bound variable (or diagonal) are taken in slices. A separate plan computes what an
aggregator keeps of one slice; the slice itself is forgotten (`slices`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import tensorflow as tf

from ltn.core import axes
from ltn.evaluation import guards
from ltn.evaluation.binding import bind_all, samples_of
from ltn.evaluation.frames import Frame
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.joins import TooManyTuplesError
from ltn.evaluation.plan import Execution, Plan
from ltn.evaluation.planner import PartIn, Planner, Rule, check_same_size
from ltn.evaluation.quantifiers import (
    Aggregation,
    KeepPart,
    is_divided,
    plan_range,
    what_counts,
)
from ltn.evaluation.replicas import join_replicas, require_aggregator
from ltn.evaluation.slices import map_slices
from ltn.fuzzy_ops.aggregation import Part
from ltn.language import Node, Quantifier
from ltn.language.names import axis_text


@dataclass(frozen=True)
class QuantifyInChunks(Aggregation):
    """The value of a quantified formula, from what is kept of each slice of its individuals.

    Attributes:
        free: the axes that stay.
        node: the formula.
        chunk: how many combinations of individuals are evaluated at once.
        dense: whether all slices but the last have one size, which XLA needs.
        divided: whether each replica has only some of the individuals.
        shares: as for `combinations`.
        plan: the plan of one slice.
    """

    free: tuple[str, ...]
    node: Quantifier
    chunk: int
    dense: bool
    divided: bool
    shares: tuple[tuple[Quantifier, float], ...]
    plan: Plan = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return self.free

    def compute(self, execution: Execution) -> tf.Tensor:
        operator = require_aggregator(self.operator(execution))
        options = self.hyperparameters(execution)
        part = operator.merge(self._parts(execution), **options)
        if self.divided:
            part = join_replicas(operator, part, options)
        return operator.finish(part, self.empty, **options)

    def describe(self) -> str:
        return f"{self.name} over {', '.join(self.node.variables)}, {self.chunk} combinations at a time"

    def execute_slice(self, execution: Execution) -> Execution:
        """The execution of the plan on the first slice."""
        group, _, rows = self._slices(execution)
        inner = self._inner(execution, group, 0, rows, {})
        inner.run(self.plan)
        return inner

    def _inner(
        self, execution: Execution, group: Sequence[str], start: Any, size: Any, data: Mapping[str, tf.Tensor]
    ) -> Execution:
        groundings = execution.world.groundings.slice(group, start, size, data)
        return Execution(execution.world._replace(groundings=groundings), execution.options)

    def _slices(self, execution: Execution) -> tuple[tuple[str, ...], Any, Any]:
        """The variables whose individuals are sliced, how many of these there are, and how many at a time."""
        groundings = execution.world.groundings
        group = longest_group(groundings, self.node)
        # They are read outside the loop: inside it, replicas would have to meet in every slice.
        counts = [axes.size_of(groundings.variable(variable), 0) for variable in group]
        count = _known_size(check_same_size(axis_text(group), counts))
        for variable in filter(groundings.is_weighted, groundings.signature.variables):
            groundings.weights(variable)
        sizes = partial(_size_now, groundings)
        others = combinations(groundings, self.node, sizes, group, dict(self.shares))
        limit = min(self.chunk, tf.int32.max)
        if isinstance(count, int) and isinstance(others, int | float):
            # Relations may leave less than one tuple for each individual.
            return group, count, max(min(int(limit / others) if others else count, count), 1)
        rows = limit // (max(others, 1) if isinstance(others, int) else tf.maximum(others, 1))
        # At most `count`, which is an int32.
        return group, count, tf.maximum(tf.minimum(tf.cast(rows, tf.int32), count), 1)

    def _parts(self, execution: Execution) -> Part:
        """What is kept of each slice, stacked along axis 0."""
        group, count, rows = self._slices(execution)
        is_known = isinstance(count, int) and isinstance(rows, int)
        least, most = (min, max) if is_known else (tf.minimum, tf.maximum)

        def slice_of(start: Any, size: Any, data: Mapping[str, tf.Tensor]) -> Part:
            [part] = self._inner(execution, group, start, size, data).run(self.plan)
            return part

        def map_all(slices: Any, size_of: Callable[[Any], Any]) -> Part:
            stacked = map_slices(
                execution.world, self.node, slices, lambda k, data: slice_of(k * rows, size_of(k), data)
            )
            # The loop forgets how many axes its results have.
            is_vector = require_aggregator(self.operator(execution)).is_vector
            shape = [None] * (1 + len(self.axes) + is_vector)
            return Part(*(tf.ensure_shape(tensor, shape) for tensor in stacked))

        if not is_known and not self.dense:
            slices = tf.maximum((count + rows - 1) // rows, 1)
            return map_all(slices, lambda k: tf.minimum(rows, count - k * rows))
        # XLA needs slices of one size; what is left is a last one. Without individuals there is one empty
        # slice.
        size, slices = least(rows, count), most(count // rows, 1)
        whole, rest = map_all(slices, lambda _: size), count - slices * size
        if is_known and not rest:
            return whole
        last = slice_of(count - rest, rest, {})
        return Part(*(tf.concat([many, one[tf.newaxis]], 0) for many, one in zip(whole, last, strict=True)))


def are_needed(planner: Planner, node: Quantifier, frame: Frame, chunk: int) -> bool:
    """Whether a quantifier is evaluated in chunks: not if all its combinations fit into one."""
    if dict(frame) != planner.root(node):
        # A slice has axes of its own, not the tuples or diagonals of a formula around it.
        return False
    if samples_of(planner, node) is not None:
        # A sample is as large as its user wants it.
        return False
    within = [inner for inner in node.body.walk() if isinstance(inner, Quantifier)]
    several = planner.replicas > 1
    if any(is_divided(planner, n) or (several and samples_of(planner, n) is not None) for n in within):
        # Replicas would have to meet in every slice.
        return False
    for inner in node.walk():
        for group in inner.groups if isinstance(inner, Quantifier) else ():
            planner.bind(group)
    if any(planner.groundings.count(variable) is None for variable in _variables(planner, node)):
        return True
    count = combinations(planner.groundings, node, planner.groundings.count, shares=shares_of(planner, node))
    return bool(count > chunk)


def plan_chunks(
    planner: Planner, node: Quantifier, frame: Frame, owner: int | None, negated: bool = False
) -> Rule:
    """The value of a quantified formula, evaluated in chunks; where it is `negated`, of its negation."""
    chunk = planner.settings.chunk
    if chunk is None:
        raise RuntimeError("Chunks are for quantifiers where a size is set.")
    groundings = planner.groundings.slice(longest_group(planner.groundings, node), 0, 0, {})
    inner = planner.fork(groundings, replace(planner.settings, chunk=None))
    plan = inner.plan_requests([lambda: PartIn(node, tuple(inner.root(node).items()), owner)])
    yield from ()
    divided = is_divided(planner, node)
    counting = what_counts(planner, node, negated)
    free, dense = plan.results[0].axes, planner.settings.dense
    # In slices XLA has masks, which are as large as all combinations.
    shares = () if dense else tuple(shares_of(planner, node).items())
    return planner.add(
        QuantifyInChunks(
            node.kind, node.hyperparameters, owner, counting, free, node, chunk, dense, divided, shares, plan
        )
    )


def plan_part(planner: Planner, request: PartIn) -> Rule:
    """What a quantifier keeps of a slice of its individuals."""
    node = request.node
    found = yield from plan_range(planner, node, dict(request.frame), request.owner)
    return planner.add(
        KeepPart(node.kind, node.hyperparameters, request.owner, what_counts(planner, node), found)
    )


def longest_group(groundings: Groundings, node: Quantifier) -> tuple[str, ...]:
    """The group of variables with the most individuals, which are sliced; unknown counts as most."""

    def length(group: tuple[str, ...]) -> float:
        counts = [groundings.count(variable) for variable in group]
        return next((count for count in counts if count is not None), math.inf)

    return max(node.groups, key=length)


def combinations(
    groundings: Groundings,
    node: Node,
    size_of: Callable[[str], axes.Size],
    besides: tuple[str, ...] = (),
    shares: Mapping[Quantifier, float] | None = None,
) -> axes.Size:
    """How many combinations of individuals there are, at most, on a path of nested quantifiers.

    `besides` is a group of variables that is left out; `shares` tells for quantifiers which part of their
    combinations the relations in their guards leave. An int where the sizes are known.
    """
    free: list[tuple[str, ...]] = [(variable,) for variable in groundings.signature.free_variables(node)]
    paths: list[tuple[list[tuple[str, ...]], float]] = []
    pending: list[tuple[Node, list[tuple[str, ...]], float]] = [(node, free, 1.0)]
    seen: set[tuple[int, tuple[tuple[str, ...], ...], float]] = set()
    while pending:
        inner, path, share = pending.pop()
        if (id(inner), tuple(path), share) in seen:
            continue
        seen.add((id(inner), tuple(path), share))
        if isinstance(inner, Quantifier):
            path, share = [*path, *inner.groups], share * (shares or {}).get(inner, 1.0)
            paths.append((path, share))
        pending += [(child, path, share) for child in inner.children]
    groups = dict.fromkeys(group for path, _ in paths for group in path if group != besides)
    sizes = {group: _known_size([size_of(variable) for variable in group]) for group in groups}
    if all(isinstance(size, int) for size in sizes.values()):
        counts = [(math.prod(sizes.get(group, 1) for group in path), share) for path, share in paths]
        return max((count if share == 1.0 else count * share for count, share in counts), default=1)
    # There may be more than an int32 can count.
    wide = {group: tf.cast(size, tf.int64) for group, size in sizes.items()}
    one = tf.ones([], tf.int64)
    return tf.reduce_max(
        [math.prod((wide.get(group, one) for group in path), start=one) for path, _ in paths]
    )


def _size_now(groundings: Groundings, variable: str) -> axes.Size:
    return axes.size_of(groundings.variable(variable), 0)


def shares_of(planner: Planner, node: Node) -> dict[Quantifier, float]:
    """Which part of all combinations relations leave, for the quantifiers that they guard."""
    found: dict[Quantifier, float] = {}
    frame: dict[str, str] = planner.root(node)
    for inner in node.walk():
        # From the outside in: the variables around a quantifier are bound before.
        if not isinstance(inner, Quantifier):
            continue
        frame = bind_all(planner, inner, frame)
        most = samples_of(planner, inner)
        if most is not None:
            drawn = [planner.groundings.count(group[0]) for group in inner.groups]
            found[inner] = min(1.0, most / max(math.prod(size or 1 for size in drawn), 1))
            continue
        try:
            selected = None if inner.guard is None else guards.select_known(planner, inner.guard, frame)
        except TooManyTuplesError:
            # Too many to be found at once; each slice finds its own.
            continue
        tuples = None if selected is None else planner.frames.tuples(selected[0])
        if tuples is not None and tuples.known is not None:
            count = len(next(iter(tuples.known.values())))
            sizes = [planner.groundings.count(planner.frames.groups[axis][0]) for axis in tuples.parents]
            found[inner] = min(1.0, count / max(math.prod(size or 1 for size in sizes), 1))
    return found


def _known_size(sizes: Sequence[axes.Size]) -> axes.Size:
    known = [size for size in sizes if size is not None]
    return next((size for size in known if isinstance(size, int)), known[0])


def _variables(planner: Planner, node: Quantifier) -> list[str]:
    """One variable of each group that is bound in a formula, and the free variables."""
    bound = [group for inner in node.walk() if isinstance(inner, Quantifier) for group in inner.groups]
    known = planner.groundings.count
    return [next((v for v in group if known(v) is not None), group[0]) for group in bound] + list(
        planner.free(node)
    )
