"""What lies on axes: individuals, or tuples of them; and values read at tuples, with their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from ltn._private import custom_gradient
from ltn.core import axes
from ltn.core.expressions import as_float_tensor
from ltn.errors import LogicValueError
from ltn.evaluation.frames import Distinct, Frame, Occurring, Tuples
from ltn.evaluation.occurring import IndexAmong, KnownIndex, KnownTuples, as_constant
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import IndexOn, Planner, Rule, SizeOf, TuplesOf, check_same_size

# Up to this many numbers in a row, a sum for each column is faster than a sum of rows.
_MOST_COLUMNS = 8
# Adding up a gradient by rows takes about as many times as long, for a row, as one of the whole table.
_MANY = 4


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


@dataclass(frozen=True)
class ReadFew(Step):
    """A few of the individuals of a domain: the gradients of learned ones reach their rows alone."""

    source: tuple[str, str]
    variable: str = field(compare=False)
    label: str
    index: Value

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def compute(self, execution: Execution) -> tf.Tensor:
        groundings = execution.world.groundings
        domain = groundings.signature.variables[self.variable]
        return as_float_tensor(groundings.rows(domain, execution[self.index]))

    def describe(self) -> str:
        return f"individuals of {self.variable} read at {self.label}"


def plan_individuals(planner: Planner, variable: str, frame: Frame) -> Rule:
    """The individuals of a variable, on its axis of a frame."""
    low = planner.frames.base(frame)
    axis, label = low[variable], frame[variable]
    source = planner.groundings.source(variable)
    if source is not None and source[0] == "domain" and _reads_few(planner, label, axis):
        return planner.add(ReadFew(source, variable, label, (yield IndexOn(label, variable, axis))))
    whole = add_individuals(planner, variable)
    return (yield from lift(planner, Value(whole.place, (axis,)), low, frame))


def _reads_few(planner: Planner, label: str, axis: str) -> bool:
    """Whether far fewer individuals are read at tuples than there are on their first axis."""
    found, size = planner.frames.tuples(label), planner.frames.size(axis)
    if found is None or size is None:
        return False
    if found.drawn is not None:
        return _MANY * found.drawn.most < size
    if found.known is not None and found.is_known:
        return _MANY * len(next(iter(found.known.values()))) < size
    return False


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
            places = of_low.origin.rank[of_high.known[own]]
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


def rows_of(table: tf.Tensor, index: tf.Tensor, ascending: bool = False, static: bool = False) -> tf.Tensor:
    """The rows (K, *rest) at the places `index`, (K,), of a table (n, *rest).

    `ascending` promises that no index is less than the one before; `static` that XLA compiles it.
    """

    @custom_gradient
    def read(table: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        count = axes.size_of(table, 0)
        return tf.gather(table, index), lambda upstream: _sums(upstream, index, count, ascending, static)

    return read(table)


def _sums(rows: tf.Tensor, index: tf.Tensor, count: axes.Size, ascending: bool, static: bool) -> tf.Tensor:
    """The sums (n, *rest) of the rows that have the same index."""

    @custom_gradient
    def add_up(rows: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        total = _add_up(rows, index, count, ascending, static)
        return total, lambda upstream: rows_of(upstream, index, ascending, static)

    return add_up(rows)


def _add_up(rows: tf.Tensor, index: tf.Tensor, count: Any, ascending: bool, static: bool) -> tf.Tensor:
    # TensorFlow's own sum over rows in any order takes several times as long where they are short.
    width = rows.shape[1:].num_elements()
    if static:
        return tf.math.unsorted_segment_sum(rows, index, count)
    if ascending:
        found = tf.math.segment_sum(rows, index)
        missing = count - tf.shape(found)[0]
        padded = tf.pad(found, [[0, missing], *[[0, 0]] * (rows.shape.rank - 1)])
        return tf.ensure_shape(padded, [count if isinstance(count, int) else None, *rows.shape[1:]])
    if not width or width > _MOST_COLUMNS or rows.dtype.size < 4:
        return tf.math.unsorted_segment_sum(rows, index, count)
    columns = tf.unstack(tf.reshape(rows, [tf.size(index), width]), axis=1)
    size = tf.cast(count, index.dtype)
    sums = [
        tf.raw_ops.DenseBincount(input=index, size=size, weights=column, binary_output=False)
        for column in columns
    ]
    return tf.reshape(tf.stack(sums, axis=1), [count, *rows.shape[1:]])
