"""What lies on axes: individuals, or tuples of them; and values read at tuples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.core.expressions import as_float_tensor
from ltn.errors import LogicValueError
from ltn.evaluation.frames import Distinct, Frame, Occurring, Places, Tuples
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import IndexOn, Planner, Rule, SizeOf, TuplesOf, check_same_size
from ltn.evaluation.rows import rows_of


@dataclass(frozen=True)
class IndividualsOf(Step):
    """The individuals that a variable ranges over, (k, *features); variables with one source share it.

    It has no axes of its own: each variable over the source gives it its axis.
    """

    source: tuple[str, str]
    variable: str = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return as_float_tensor(execution.world.groundings.individuals(self.source, self.variable))

    def describe(self) -> str:
        kind, name = self.source
        return f"individuals of {self.variable}" + (
            f", {kind} {name}" if name != self.variable else f", {kind}"
        )


@dataclass(frozen=True)
class WeightsOf(Step):
    """The weights of the rows of data on an axis, (k,)."""

    label: str
    source: tuple[str, str]
    variable: str = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def compute(self, execution: Execution) -> tf.Tensor:
        return execution.world.groundings.weights(self.variable)

    def describe(self) -> str:
        return f"weights of {self.label}"


@dataclass(frozen=True)
class Size(Step):
    """The number of individuals on an axis; the variables of a `diag` must have the same number."""

    label: str
    members: tuple[Value, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return ()

    def compute(self, execution: Execution) -> Any:
        sizes = [axes.size_of(execution[member], 0) for member in self.members]
        if len(sizes) > 1:
            sizes = check_same_size(self.label, sizes)
        return next((size for size in sizes if isinstance(size, int)), sizes[0])

    def describe(self) -> str:
        return f"size of {self.label}"


@dataclass(frozen=True)
class Index(Step):
    """The index of each tuple on one of the axes that the tuples are drawn from."""

    tuples: Value
    position: int
    axis: str

    @property
    def axes(self) -> tuple[str, ...]:
        return self.tuples.axes

    def compute(self, execution: Execution) -> tf.Tensor:
        return execution[self.tuples][self.position]

    def describe(self) -> str:
        return f"where each tuple is on {self.axis}"


@dataclass(frozen=True)
class IndexThrough(Step):
    """The index of each tuple of tuples on an axis that the inner tuples are drawn from."""

    inner: Value
    outer: Value

    @property
    def axes(self) -> tuple[str, ...]:
        return self.outer.axes

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.gather(execution[self.inner], execution[self.outer])

    def describe(self) -> str:
        return f"where each tuple is, through {self.inner.axes[0]}"


@dataclass(frozen=True)
class KnownTuples(Step):
    """Tuples that were known when the plan was made: for each parent their places there, int32, (K,)."""

    label: str
    what: str = field(compare=False)
    indices: tuple[tf.Tensor, ...] = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        return self.indices

    def describe(self) -> str:
        return self.what


@dataclass(frozen=True)
class KnownIndex(Step):
    """Where each of some known tuples is among the individuals that occur."""

    high: str
    low: str
    index: tf.Tensor = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.high,)

    def compute(self, execution: Execution) -> tf.Tensor:
        return self.index

    def describe(self) -> str:
        return f"where each tuple is on {self.low}"


@dataclass(frozen=True)
class IndexAmong(Step):
    """Where tuples are among the individuals that occur, from where they are among all."""

    among_all: Value
    low: str
    occurring: tf.Tensor = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.searchsorted(self.occurring, execution[self.among_all])

    def describe(self) -> str:
        return f"where each tuple is on {self.low}"


@dataclass(frozen=True)
class DistinctTuples(Step):
    """The distinct combinations of tuples on some axes; a last tensor tells which of them each tuple has."""

    label: str
    indices: tuple[Value, ...]
    sizes: tuple[Value, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        # The combinations of all axes may be more than an int32 can count.
        sizes = [tf.cast(execution[size], tf.int64) for size in self.sizes]
        indices = [tf.cast(execution[index], tf.int64) for index in self.indices]
        unique, inverse = tf.unique(ravel(indices, sizes))
        return *(tf.cast(index, tf.int32) for index in unravel(unique, sizes)), inverse

    def describe(self) -> str:
        return f"distinct combinations of {self.indices[0].axes[0]}"


@dataclass(frozen=True)
class Read(Step):
    """A value read at tuples, whose axis replaces the axes that they are drawn from.

    Attributes:
        value: what is read.
        label: the axis of the tuples.
        indices: for each axis of the value that is replaced, where each tuple is on it.
        sizes: the sizes of these axes; none where there is one axis.
        leading: the axis along which the tuples ascend, if there is one.
        static: whether XLA compiles it, which has no kernel for the quicker sums.
    """

    value: Value
    label: str
    indices: tuple[tuple[str, Value], ...]
    sizes: tuple[Value, ...]
    leading: str | None
    static: bool

    @property
    def axes(self) -> tuple[str, ...]:
        replaced = dict(self.indices)
        return (self.label, *(axis for axis in self.value.axes if axis not in replaced))

    def compute(self, execution: Execution) -> tf.Tensor:
        indices = dict(self.indices)
        front, rest = list(indices), list(self.axes[1:])
        tensor = axes.reorder(execution[self.value], self.value.axes, front + rest)
        index = execution[indices[front[0]]]
        if len(front) > 1:
            tail = [axes.size_of(tensor, axis) for axis in range(len(front), tensor.shape.rank)]
            tensor = tf.reshape(tensor, [-1, *tail])
            sizes = [execution[size] for size in self.sizes]
            index = ravel([execution[index] for index in indices.values()], sizes)
        # Where the tuples ascend, the gradient is a sum over neighbours.
        return rows_of(tensor, index, ascending=front == [self.leading], static=self.static)

    def describe(self) -> str:
        return f"read at {self.label}"


def add_individuals(planner: Planner, variable: str) -> Value:
    """The individuals of a variable, without an axis."""
    source = planner.groundings.source(variable)
    if source is None:
        raise LogicValueError(planner.groundings.explain_missing(variable))
    return planner.add(IndividualsOf(source, variable))


def add_weights(planner: Planner, label: str) -> Value | None:
    """The weights of the rows of data on an axis of individuals; None where they have none."""
    groundings = planner.groundings
    for variable in planner.frames.groups[label]:
        source = groundings.source(variable)
        if source is not None and groundings.is_weighted(variable):
            return planner.add(WeightsOf(label, source, variable))
    return None


def plan_size(planner: Planner, request: SizeOf) -> Rule:
    """The size of an axis."""
    if planner.frames.tuples(request.label) is not None:
        tuples = yield TuplesOf(request.label)
        return planner.add(Size(request.label, (planner.add(Index(tuples, 0, request.label)),)))
    members = tuple(add_individuals(planner, variable) for variable in planner.frames.groups[request.label])
    return planner.add(Size(request.label, members))


def plan_index(planner: Planner, request: IndexOn) -> Rule:
    """Where tuples are on an axis that they are drawn from, perhaps through other tuples."""
    frames = planner.frames
    if frames.is_reduced(request.high, request.low):
        tuples = yield TuplesOf(request.low)
        inverse = planner.add(Index(tuples, len(_tuples(planner, request.low).parents), request.low))
        return Value(inverse.place, (request.high,))
    of_high = _tuples(planner, request.high)
    of_low = frames.tuples(request.low)
    if of_low is not None and isinstance(of_low.origin, Occurring):
        own = frames.base({request.variable: request.high})[request.variable]
        if of_high.known is not None and of_high.is_known:
            places = np.searchsorted(of_low.origin.index, of_high.known[own])
            return planner.add(KnownIndex(request.high, request.low, as_constant(places)))
        among_all = yield IndexOn(request.high, request.variable, own)
        return planner.add(IndexAmong(among_all, request.low, as_constant(of_low.origin.index)))
    parent = of_high.members[request.variable]
    tuples = yield TuplesOf(request.high)
    outer = planner.add(Index(tuples, of_high.parents.index(parent), parent))
    if parent == request.low:
        return outer
    inner = yield IndexOn(parent, request.variable, request.low)
    return planner.add(IndexThrough(inner, outer))


def plan_tuples(planner: Planner, request: TuplesOf) -> Rule:
    """The tuples of an axis, as they are found."""
    tuples = _tuples(planner, request.label)
    if isinstance(tuples.origin, Occurring):
        places = as_constant(tuples.origin.index)
        return planner.add(KnownTuples(request.label, f"individuals of {request.label}", (places,)))
    if not isinstance(tuples.origin, Distinct):
        return (yield from tuples.origin.plan(planner, tuples))
    if tuples.known is not None and tuples.origin.inverse is not None:
        columns = (*(tuples.known[axis] for axis in tuples.parents), tuples.origin.inverse)
        what = f"distinct combinations of {tuples.origin.label}"
        return planner.add(KnownTuples(request.label, what, tuple(map(as_constant, columns))))
    indices, sizes = [], []
    for axis, variable in tuples.origin.drawn:
        indices.append((yield IndexOn(tuples.origin.label, variable, axis)))
        sizes.append((yield SizeOf(axis)))
    return planner.add(DistinctTuples(request.label, tuple(indices), tuple(sizes)))


def lift(planner: Planner, value: Value, low: Frame, high: Frame) -> Rule:
    """A value over the axes of `low`, read at the tuples of `high`."""
    targets: dict[str, dict[str, Value]] = {}
    for variable, label in high.items():
        if low[variable] != label and low[variable] not in targets.setdefault(label, {}):
            targets[label][low[variable]] = yield IndexOn(label, variable, low[variable])
    for label, found in targets.items():
        sizes = []
        for axis in found if len(found) > 1 else ():
            sizes.append((yield SizeOf(axis)))
        leading = _tuples(planner, label).leading
        static = planner.settings.dense
        value = planner.add(Read(value, label, tuple(found.items()), tuple(sizes), leading, static))
    return value


def _tuples(planner: Planner, label: str) -> Tuples:
    found = planner.frames.tuples(label)
    if found is None:
        raise RuntimeError(f"'{label}' is not an axis of tuples.")
    return found


def as_constant(index: Places) -> tf.Tensor:
    """An index as a tensor, int32, that is not part of the graph which is being made."""
    with tf.init_scope():
        return tf.constant(index.astype(np.int32))


def ravel(indices: Iterable[tf.Tensor], sizes: Iterable[axes.Size]) -> tf.Tensor:
    """The row-major index over several axes, from the index on each."""
    flat = None
    for index, size in zip(indices, sizes, strict=True):
        flat = index if flat is None else flat * size + index
    return flat


def unravel(flat: tf.Tensor, sizes: Sequence[axes.Size]) -> list[tf.Tensor]:
    """The index on each axis, from a row-major index over all of them."""
    found: list[Any] = []
    for size in reversed(sizes[1:]):
        found.append(flat % size)
        flat = flat // size
    return [flat, *reversed(found)] if sizes else []
