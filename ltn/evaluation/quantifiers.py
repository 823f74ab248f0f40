"""Quantifiers: what they range over, and how they aggregate: at once, or joined across replicas."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from ltn.core import axes
from ltn.core.wrappers import aggregate, operands
from ltn.errors import LogicTypeError
from ltn.evaluation.binding import bind_all, check_number, has_variables, narrow, samples_of, select_tuples
from ltn.evaluation.counting import Counting, counting_of, plan_counted
from ltn.evaluation.frames import Frame
from ltn.evaluation.lacking import split_options
from ltn.evaluation.plan import Execution, Reader, Step, Value, World
from ltn.evaluation.planner import IndexOn, Planner, Request, Rule, SizeOf, TuplesOf
from ltn.evaluation.replicas import join_replicas, require_aggregator
from ltn.evaluation.tuples import add_weights
from ltn.fuzzy_ops import Aggregator
from ltn.fuzzy_ops.aggregation import Part
from ltn.fuzzy_ops.base import Operator
from ltn.language import Quantifier
from ltn.language.names import QUANTIFIERS


class Operands(NamedTuple):
    """What an aggregator gets: values along axes, perhaps under a mask; or tuples by segment.

    Attributes:
        values: the values of the body.
        axis: the axes to aggregate; where there are segments, those besides the axis of tuples.
        mask: which values count, of their shape, or None.
        ids, groups: the segment of each tuple, and the sizes of the axes that the segments stand for.
        weights: how often each value counts, broadcasting with the values; or None.
    """

    values: tf.Tensor
    axis: tuple[int, ...]
    mask: tf.Tensor | None = None
    ids: tf.Tensor | None = None
    groups: Sequence[axes.Size] = ()
    weights: tf.Tensor | None = None

    def aggregate(self, operator: Any, empty: float, options: dict[str, Any]) -> tf.Tensor:
        """The aggregate, over the axes that stay free."""
        options = options | self._weighing(operator)
        if self.ids is None:
            return aggregate(operator, self.values, self.axis, self.mask, empty, **options)
        count = math.prod(self.groups)
        return self._unfold(
            operator.segments(self.values, self.ids, count, axis=self.axis, empty=empty, **options)
        )

    def part(self, operator: Aggregator, options: dict[str, Any]) -> Part:
        """What the aggregator keeps of these values, over the axes that stay free."""
        options = options | self._weighing(operator)
        if self.ids is None:
            return operator.part(self.values, self.axis, self.mask, **options)
        found = operator.part(self.values, self.axis, ids=self.ids, count=math.prod(self.groups), **options)
        return Part(*map(self._unfold, found))

    def _weighing(self, operator: Any) -> dict[str, Any]:
        """What tells an aggregator the weights, if there are any."""
        if self.weights is None:
            return {}
        if not isinstance(operator, Aggregator):
            raise LogicTypeError(
                f"Sample weights need quantifiers with an aggregator of ltn.fuzzy_ops; got {operator!r}. "
                "Leave the weights out, or choose other operators."
            )
        return {"weights": self.weights}

    def _unfold(self, segments: tf.Tensor) -> tf.Tensor:
        rest = [axes.size_of(segments, axis) for axis in range(1, segments.shape.rank)]
        return tf.reshape(segments, [*self.groups, *rest])


@dataclass(frozen=True)
class Range(Reader, ABC):
    """What a quantifier ranges over, apart from its operator."""

    body: Value

    @property
    @abstractmethod
    def free(self) -> tuple[str, ...]:
        """The axes that stay."""

    @abstractmethod
    def operands(self, execution: Execution) -> Operands:
        """What the aggregator gets."""

    @abstractmethod
    def describe(self) -> str:
        """The range in a few words."""


@dataclass(frozen=True)
class OverAxes(Range):
    """All individuals on some axes; with a mask, the combinations for which a guard holds."""

    bound: tuple[str, ...]
    mask: Value | None
    weights: tuple[Value, ...] = ()

    @property
    def free(self) -> tuple[str, ...]:
        order = axes.union([() if self.mask is None else self.mask.axes, self.body.axes])
        return tuple(label for label in order if label not in self.bound)

    def operands(self, execution: Execution) -> Operands:
        mask = None if self.mask is None else execution.formula(self.mask)
        values, selected, axis, order = operands(self.bound, execution.formula(self.body), mask)
        found = [(execution[value], value.axes) for value in self.weights]
        return Operands(values, axis, selected, weights=_product(found, order))

    def describe(self) -> str:
        masked = "" if self.mask is None else ", masked"
        return f"over {', '.join(self.bound)}{masked}{', weighted' if self.weights else ''}"


@dataclass(frozen=True)
class OverTuples(Range):
    """The tuples that a guard selects: one segment of them for each combination that stays free.

    Attributes:
        label: the axis of tuples.
        tuples: the tuples themselves.
        whole: further axes that are bound, with their sizes.
        kept: the axes that the tuples are drawn from and that stay, each with the index of each tuple there
            and its size.
        weights: the weights of individuals that are bound, with the index of each tuple among them; or, with
            None, weights of all combinations on their own axes, among which may be that of the tuples.
    """

    label: str
    tuples: Value
    whole: tuple[tuple[str, Value], ...]
    kept: tuple[tuple[str, Value, Value], ...]
    weights: tuple[tuple[Value, Value | None], ...] = ()

    @property
    def _rest(self) -> list[str]:
        bound = {self.label, *dict(self.whole)}
        weights = (value.axes for value, index in self.weights if index is None)
        return [label for label in axes.union([self.body.axes, *weights]) if label not in bound]

    @property
    def free(self) -> tuple[str, ...]:
        return (*(label for label, _, _ in self.kept), *self._rest)

    def operands(self, execution: Execution) -> Operands:
        values, order = execution[self.body], [self.label, *dict(self.whole), *self._rest]
        if list(self.body.axes) != order:
            whole = [(execution[value], value.axes) for value, index in self.weights if index is None]
            tensors, labels = zip((values, self.body.axes), *whole, strict=True)
            sizes = axes.sizes(tensors, labels)
            sizes |= {label: execution[size] for label, size in self.whole}
            sizes[self.label] = axes.size_of(execution[self.tuples][0], 0)
            values = axes.broadcast(values, self.body.axes, order, sizes)
        axis = tuple(range(1, 1 + len(self.whole)))
        found = [
            (execution[value], value.axes)
            if index is None
            else (tf.gather(execution[value], execution[index]), (self.label,))
            for value, index in self.weights
        ]
        weights = _product(found, order)
        if not self.kept:
            return Operands(values, (0, *axis), weights=weights)
        groups = [execution[size] for _, _, size in self.kept]
        ids = None
        for (_, index, _), size in zip(self.kept, groups, strict=True):
            ids = execution[index] if ids is None else ids * size + execution[index]
        return Operands(values, axis, ids=ids, groups=groups, weights=weights)

    def describe(self) -> str:
        bound = ", ".join([self.label, *dict(self.whole)])
        kept = ", ".join(label for label, _, _ in self.kept)
        return f"over {bound}{f', by {kept}' if kept else ''}{', weighted' if self.weights else ''}"


def _product(weights: Sequence[tuple[tf.Tensor, Sequence[str]]], order: Sequence[str]) -> tf.Tensor | None:
    """The weights of combinations of individuals, from those on each axis; None where there are none."""
    found = None
    for tensor, labels in weights:
        on_axis = axes.align(tensor, labels, order)
        found = on_axis if found is None else found * on_axis
    return found


@dataclass(frozen=True)
class Aggregation(Step):
    """The operator of a quantifier, with its options.

    `options` are those of the text. `owner` is the number of the formula whose own options hold, if any.
    `counting` tells an operator that counts what it counts.
    """

    kind: str
    options: tuple[tuple[str, float], ...]
    owner: int | None
    counting: Counting | None

    def operator(self, execution: Execution) -> Any:
        """The aggregator."""
        return getattr(execution.world.space.semantics, QUANTIFIERS[self.kind].operator)

    def hyperparameters(self, execution: Execution) -> dict[str, Any]:
        """What the aggregator is called with."""
        own = {} if self.owner is None else execution.options[self.owner].get(self.kind, {})
        options = own | dict(self.options)
        operator = self.operator(execution)
        counting = {} if self.counting is None else self.counting.arguments
        if execution.world.other_operators:
            known = getattr(operator, "__dict__", ())
            return {name: value for name, value in options.items() if name in known} | counting
        if options and isinstance(operator, Operator):
            options, _ = split_options(execution.world.space.semantics, self.kind, options)
            # What the quantifier itself says, as the axis, would meet an option of that name.
            operator.check_overrides(**options)
        return options | counting

    @property
    def name(self) -> str:
        """What it is called, for people."""
        return self.kind if self.counting is None else self.counting.name

    @property
    def empty(self) -> float:
        """The truth of a quantifier over nothing."""
        if self.counting is None:
            return QUANTIFIERS[self.kind].of_nothing(None)
        return self.counting.of_nothing


@dataclass(frozen=True)
class Quantify(Aggregation):
    """The value of a quantified formula; `divided` if each replica has only some of the individuals."""

    range: Range
    divided: bool

    @property
    def axes(self) -> tuple[str, ...]:
        return self.range.free

    def compute(self, execution: Execution) -> tf.Tensor:
        operator, options = self.operator(execution), self.hyperparameters(execution)
        found = self.range.operands(execution)
        if not self.divided:
            return found.aggregate(operator, self.empty, options)
        part = join_replicas(operator, found.part(require_aggregator(operator), options), options)
        return operator.finish(part, self.empty, **options)

    def may_stack(self, world: World) -> bool:
        is_plain = isinstance(self.range, OverAxes) and self.range.mask is None
        operator = getattr(world.space.semantics, QUANTIFIERS[self.kind].operator)
        return is_plain and isinstance(operator, Aggregator)

    def describe(self) -> str:
        return f"{self.name} {self.range.describe()}" + (", joined across replicas" if self.divided else "")


@dataclass(frozen=True)
class KeepPart(Aggregation):
    """What a quantifier keeps of a slice of its individuals."""

    range: Range

    @property
    def axes(self) -> tuple[str, ...]:
        return self.range.free

    def compute(self, execution: Execution) -> Part:
        operator, options = self.operator(execution), self.hyperparameters(execution)
        return self.range.operands(execution).part(require_aggregator(operator), options)

    def describe(self) -> str:
        return f"part of {self.name} {self.range.describe()}"


@dataclass(frozen=True)
class OnesAndZeros(Step):
    """Weights of tuples: 1 where a guard holds, and 0 where it does not."""

    truth: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.cast(execution[self.truth], tf.float32)

    def describe(self) -> str:
        return "weights 1 and 0"


def plan_quantifier(
    planner: Planner, node: Quantifier, frame: Frame, owner: int | None, negated: bool = False
) -> Rule:
    """The value of a quantified formula over the axes of a frame; where it is `negated`, of its negation."""
    found = yield from plan_range(planner, node, frame, owner)
    divided = is_divided(planner, node) or has_own_sample(planner, node, frame)
    return planner.add(
        Quantify(node.kind, node.hyperparameters, owner, what_counts(planner, node, negated), found, divided)
    )


def what_counts(planner: Planner, node: Quantifier, negated: bool = False) -> Counting | None:
    """What a quantifier counts; None for one that does not."""
    return None if node.count is None else counting_of(planner, node, negated)


def _plan_body(planner: Planner, node: Quantifier, frame: Frame, owner: int | None) -> Rule:
    """The values that a quantifier aggregates."""
    if node.count is not None:
        return (yield from plan_counted(planner, node, frame, owner))
    return (yield planner.formula(node.body, frame, owner))


def plan_range(
    planner: Planner, node: Quantifier, frame: Frame, owner: int | None
) -> Generator[Request, Value, Range]:
    """What a quantifier ranges over in a frame."""
    outer = bind_all(planner, node, frame)
    bound = tuple(outer[group[0]] for group in node.groups)
    for label, group in zip(bound, node.groups, strict=True):
        if len(group) > 1:
            # The sizes of a `diag` are compared, whether or not anyone needs them.
            yield SizeOf(label)
    selected = select_tuples(planner, node, outer)
    if selected is None:
        check_number(planner, node)
        mask = None if node.guard is None else (yield planner.guard(node.guard, outer))
        if planner.settings.traced and has_variables(planner, node):
            yield planner.formula(node.body, narrow(planner, node, outer), owner)
        body = yield from _plan_body(planner, node, outer, owner)
        return OverAxes(
            body, bound, mask, tuple(filter(None, (add_weights(planner, axis) for axis in bound)))
        )
    label, left = selected
    inner = planner.frames.replace(outer, label)
    body = yield from _plan_body(planner, node, inner, owner)
    tuples = planner.frames.tuples(label)
    if tuples is None:
        raise RuntimeError("A guard with variables selects tuples.")
    whole, kept = [], []
    weights: list[tuple[Value, Value | None]] = []
    if left is not None:
        weights.append((planner.add(OnesAndZeros((yield planner.guard(left, inner)))), None))
    for parent in (axis for axis in bound if axis not in tuples.parents):
        whole.append((parent, (yield SizeOf(parent))))
    for parent in (axis for axis in tuples.parents if axis not in bound):
        variable = next(variable for variable, axis in tuples.members.items() if axis == parent)
        kept.append((parent, (yield IndexOn(label, variable, parent)), (yield SizeOf(parent))))
    for axis, group in zip(bound, node.groups, strict=True):
        of_axis = add_weights(planner, axis)
        if of_axis is not None:
            index = (yield IndexOn(label, group[0], axis)) if axis in tuples.parents else None
            weights.append((of_axis, index))
    return OverTuples(body, label, (yield TuplesOf(label)), tuple(whole), tuple(kept), tuple(weights))


def is_divided(planner: Planner, node: Quantifier) -> bool:
    """Whether a quantifier binds data that are divided among replicas."""
    return planner.replicas > 1 and any(
        {planner.kind_of(variable) for variable in group} == {"data"} for group in node.groups
    )


def has_own_sample(planner: Planner, node: Quantifier, frame: Frame) -> bool:
    """Whether each replica draws a sample of its own, and these are of the same: together they are one."""
    if planner.replicas == 1 or samples_of(planner, node) is None:
        return False
    lying = [frame, *planner.frames.below(frame)]
    axes_around = {axis for each in lying for axis in each.values()}
    # Elsewhere what is around the quantifier differs from replica to replica.
    return not any(
        found.drawn is not None
        if (found := planner.frames.tuples(axis)) is not None
        else {planner.kind_of(variable) for variable in planner.frames.groups[axis]} == {"data"}
        for axis in axes_around
    )
