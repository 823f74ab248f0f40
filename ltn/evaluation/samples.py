"""Samples: some of the tuples that a quantifier ranges over, drawn anew in each execution.

Of N tuples in some order, n are drawn, one from each of n equal parts of that order:

    draw k is the tuple number floor((k N + t_k) / n), where t_k is uniform on 0, ..., N - 1

Over all k and all values of t_k each tuple is met equally often: its expected number of draws is n / N. So
the mean over a sample has the mean over all tuples as its expectation, with no more variance than n
independent draws have. Nothing of size N is made. Where N <= n all tuples are taken, each once.
"""

from __future__ import annotations

import math
import zlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation import guards
from ltn.evaluation.frames import Drawn, Frame, Tuples
from ltn.evaluation.guards.strategy import SelectedTuples
from ltn.evaluation.joins import TooManyTuplesError
from ltn.evaluation.numbered_joins import NumberedJoin
from ltn.evaluation.plan import Execution, Options, Value, samples_in
from ltn.evaluation.planner import IndexOn, Planner, Rule, SizeOf, TuplesOf
from ltn.evaluation.tuples import ravel, unravel
from ltn.language import Node
from ltn.language.quantifier import draws_samples
from ltn.language.sampling import with_sample_outside, with_samples

# Numbers of combinations stay below, so that an int64 holds them.
_MOST = 2**62
_POSITIVE = 2**63 - 1


@dataclass(frozen=True)
class SampledTuples(SelectedTuples):
    """Some of the tuples that a pool holds, combined with all individuals on further axes.

    The pool has groups, one for each combination of individuals that stay free; of each group `most` tuples
    are drawn. `whole` are the sizes of the further axes.
    """

    strategy = "sampled"

    most: int
    whole: tuple[Value, ...]

    @abstractmethod
    def groups(self, execution: Execution) -> Any:
        """How many tuples each group of the pool has, int64; a NumPy array where it is known."""

    @abstractmethod
    def read(self, execution: Execution, numbers: tf.Tensor) -> Sequence[tf.Tensor]:
        """Where tuples of the pool are on its axes, by their numbers from 0 up, one group after the other."""

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        sizes = [execution[size] for size in self.whole]
        counts = self.groups(execution)
        if isinstance(counts, np.ndarray) and all(isinstance(size, int) for size in sizes):
            each: Any = math.prod(sizes)
        else:
            each = tf.reduce_prod(tf.stack([tf.constant(1, tf.int64), *(_wide(size) for size in sizes)]))
            counts = _wide(counts)
        group, nth = _layout(counts * each, self.most)
        of_group = tf.gather(counts, group)
        total = of_group * each
        if isinstance(counts, np.ndarray) and (counts * each <= self.most).all():
            place = _wide(nth)
        else:
            chance = self._chance(execution, of_group, sizes)
            # Like nth * total + chance, divided by `most`, but small enough for an int64.
            drawn = nth * (total // self.most) + (nth * (total % self.most) + chance) // self.most
            place = tf.where(total <= self.most, nth, drawn)
        starts = tf.gather(tf.cumsum(_wide(counts), exclusive=True), group)
        each = tf.maximum(_wide(each), 1)
        found = [*self.read(execution, starts + place // each)]
        found += unravel(place % each, [_wide(size) for size in sizes]) if sizes else []
        return tuple(tf.cast(index, tf.int32) for index in found)

    def _chance(self, execution: Execution, counts: tf.Tensor, sizes: Sequence[Any]) -> tf.Tensor:
        """A random number for each tuple, uniform below the number of all tuples of its group."""
        # One for each axis: what is left of 63 bits is uniform up to axes of any real size.
        seed = tf.random.experimental.stateless_fold_in(execution.world.seed, self._salt)
        shape = [1 + len(sizes), axes.size_of(counts, 0)]
        bits = tf.random.stateless_uniform(shape, seed, None, None, tf.int64)
        numbers = tf.unstack(tf.bitwise.bitwise_and(bits, tf.constant(_POSITIVE, tf.int64)))
        limits = [counts, *(tf.maximum(_wide(size), 1) for size in sizes)]
        return ravel([number % limit for number, limit in zip(numbers, limits, strict=True)], limits)

    @property
    def _salt(self) -> int:
        """What tells the draws of one sample from those of others."""
        return zlib.crc32(f"{self.label}: {self.most} of {self.written}".encode()) & 0x7FFFFFFF

    def describe(self) -> str:
        return f"{self.label}, {self.written}"


@dataclass(frozen=True)
class SampledCombinations(SampledTuples):
    """Some of all combinations of the individuals on some axes."""

    def groups(self, execution: Execution) -> Any:
        return np.ones(1, np.int64)

    def read(self, execution: Execution, numbers: tf.Tensor) -> Sequence[tf.Tensor]:
        return []


@dataclass(frozen=True)
class SampledSelection(SampledTuples):
    """Some of the tuples that a guard selects; `kept` tells where they are on the axes that stay free."""

    tuples: Value
    kept: tuple[tuple[Value, Value], ...]

    def groups(self, execution: Execution) -> Any:
        group = self._group(execution)
        if group is None:
            size = axes.size_of(execution[self.tuples][0], 0)
            return np.array([size], np.int64) if isinstance(size, int) else _wide(size)[tf.newaxis]
        sizes = [execution[size] for _, size in self.kept]
        known = tf.get_static_value(group)
        if known is not None and all(isinstance(size, int) for size in sizes):
            return np.bincount(known, minlength=math.prod(sizes)).astype(np.int64)
        count = tf.reduce_prod(tf.stack([tf.cast(size, tf.int32) for size in sizes]))
        return _wide(tf.math.bincount(group, minlength=count, maxlength=count))

    def read(self, execution: Execution, numbers: tf.Tensor) -> Sequence[tf.Tensor]:
        group = self._group(execution)
        if group is not None:
            numbers = tf.gather(tf.argsort(group, stable=True), numbers)
        return [tf.gather(index, numbers) for index in execution[self.tuples]]

    def _group(self, execution: Execution) -> tf.Tensor | None:
        if not self.kept:
            return None
        indices, sizes = zip(*self.kept, strict=True)
        # They are numbered by an int32 in the aggregation too.
        return ravel([execution[index] for index in indices], [execution[size] for size in sizes])


@dataclass(frozen=True)
class SampledComplement(SampledTuples):
    """Some of all combinations of known individuals but for those that a guard excludes.

    With sorted numbers e_0 < e_1 < ... of the excluded ones, the combination number r of the others is
    r + j, where j counts the i with e_i - i <= r.
    """

    sizes: tuple[int, ...]
    counts: NDArray[np.int64] = field(compare=False)
    passed: tf.Tensor = field(compare=False)

    def groups(self, execution: Execution) -> Any:
        return self.counts

    def read(self, execution: Execution, numbers: tf.Tensor) -> Sequence[tf.Tensor]:
        before = tf.searchsorted(self.passed, numbers, side="right", out_type=tf.int64)
        return unravel(numbers + before, self.sizes)


@dataclass(frozen=True)
class SampledJoin(SampledTuples):
    """Some of the tuples that relations have together, where these are too many to be held."""

    join: NumberedJoin = field(compare=False)

    def groups(self, execution: Execution) -> Any:
        return self.join.counts

    def read(self, execution: Execution, numbers: tf.Tensor) -> Sequence[tf.Tensor]:
        return self.join.read(numbers)


class Sample:
    """The origin of tuples that are drawn.

    Args:
        most: how many, for each combination of individuals that stays free.
        whole: the axes whose individuals are all in the pool.
        pool: what the rest is drawn from: tuples of a guard with their axes that stay free; or a join whose
            rows have numbers; or all but some combinations, by the sizes of their axes, how many stay in each
            group, and the numbers of those that are passed over; or nothing.
        written: what is sampled, for people.
    """

    def __init__(self, most: int, whole: Sequence[str], written: str, pool: Any = None):
        self._most = most
        self._whole = whole
        self._written = written
        self._pool = pool

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        """The tuples that are drawn."""
        whole = []
        for axis in self._whole:
            whole.append((yield SizeOf(axis)))
        given = (tuples.label, self._written, self._most, tuple(whole))
        if self._pool is None:
            return planner.add(SampledCombinations(*given))
        if isinstance(self._pool, NumberedJoin):
            return planner.add(SampledJoin(*given, self._pool))
        if not isinstance(self._pool, _Selection):
            return planner.add(SampledComplement(*given, *self._pool))
        kept = []
        for axis, variable in self._pool.kept.items():
            index = yield IndexOn(self._pool.label, variable, axis)
            kept.append((index, (yield SizeOf(axis))))
        return planner.add(SampledSelection(*given, (yield TuplesOf(self._pool.label)), tuple(kept)))


@dataclass(frozen=True)
class _Selection:
    """Tuples of a guard, and the axes of them that stay free, each with a variable on it."""

    label: str
    kept: Mapping[str, str]


def draw(planner: Planner, most: int, guard: Node | None, frame: Frame, bound: Sequence[str]) -> str | None:
    """The axis of the tuples that a quantifier draws from the axes that it binds in a frame; its label.

    None where XLA has a mask in place of tuples: then all are taken. Quantifiers that draw as many from the
    same share them, so that networks run on them once.
    """
    used = {} if guard is None else planner.restrict(frame, guard)
    key = ("sample", most, guard, tuple(sorted(used.items())), tuple(bound))
    known = planner.frames.find(key)
    if known is not None:
        return known
    kept = {axis: variable for variable, axis in used.items() if axis not in bound}
    inside = [axis for axis in bound if axis in used.values()]
    sizes = {axis: planner.frames.size(axis) for axis in (*kept, *bound)}
    excluded = None if guard is None else guards.excluded_by(planner, guard, used, [*kept, *inside])
    others = [axis for axis in bound if axis not in inside]
    if guard is None:
        written = f"{most:,} of {_many([sizes[axis] for axis in bound])}combinations of {', '.join(bound)}"
        return _add(planner, key, bound, frame, bound[0], Sample(most, bound, written), most)
    written = f"{most:,} of the tuples where {guard}"
    if excluded is not None:
        _many([sizes[axis] for axis in (*kept, *bound)])
        spans = [sizes[axis] or 0 for axis in (*kept, *inside)]
        per_group = math.prod(spans[len(kept) :])
        edges = np.searchsorted(excluded, np.arange(math.prod(spans[: len(kept)]) + 1) * per_group)
        left = math.prod(spans) - len(excluded)
        written = f"{most:,} of {left:,} tuples where {guard}"
        with tf.init_scope():
            passed = tf.constant(excluded - np.arange(len(excluded)))
        pool = (tuple(spans), per_group - np.diff(edges), passed)
        parents = [*kept, *inside, *others]
        return _add(planner, key, parents, frame, parents[0], Sample(most, others, written, pool), most)
    try:
        selected = guards.select_known(planner, guard, used) if planner.settings.dense else None
        if planner.settings.dense and (selected is None or selected[1] is not None):
            return None
        first = planner.frames.tuples(guards.select(planner, guard, used))
    except TooManyTuplesError as error:
        parents = [*kept, *inside]
        join = _numbered(planner, guard, used, parents, [sizes[axis] or 0 for axis in kept])
        if join is None:
            raise TooManyTuplesError(
                f"{error} Of so many tuples a sample is drawn only where the guard is a join of relations "
                "whose last one filters nothing: what else it asks for may stand in the body."
            ) from error
        written = f"{most:,} of {int(join.counts.sum()):,} tuples where {guard}"
        origin = Sample(most, others, written, join)
        return _add(planner, key, [*parents, *others], frame, next(iter(kept), None), origin, most)
    if first is None:
        raise RuntimeError("A guard with variables selects tuples.")
    if first.is_known and first.known:
        number = len(next(iter(first.known.values())))
        written = f"{most:,} of {number:,} tuples where {guard}"
    staying = {axis: kept[axis] for axis in first.parents if axis in kept}
    leading = next(iter(staying), first.leading)
    origin = Sample(most, others, written, _Selection(first.label, staying))
    return _add(planner, key, [*first.parents, *others], frame, leading, origin, most, first)


def with_all_samples(nodes: Sequence[Node], options: Sequence[Options], most: int | None) -> list[Node]:
    """Formulas whose quantifiers tell what they draw, where their options, or a question for `most`, do."""
    drawn = list(nodes)
    if options:
        drawn = [with_samples(node, samples_in(own)) for node, own in zip(nodes, options, strict=True)]
    if most is None or any(map(draws_samples, drawn)):
        return drawn
    return [with_sample_outside(node, most) for node in drawn]


def _numbered(
    planner: Planner, guard: Node, frame: Frame, axes: Sequence[str], sizes: Sequence[int]
) -> NumberedJoin | None:
    """The tuples of a guard by number, on some axes, by the first of which they are grouped."""
    sources = tuple((*pair, planner.groundings.source(pair[0])) for pair in frame.items())

    def find() -> NumberedJoin | None:
        return guards.Joined.numbered(guards.Guard(planner, guard, frame), axes, sizes)

    found: NumberedJoin | None = planner.memory.get(("numbered", guard, sources, *axes, *sizes), find)
    return found


def _add(
    planner: Planner,
    key: Any,
    parents: Sequence[str],
    frame: Frame,
    leading: str | None,
    origin: Sample,
    most: int,
    first: Tuples | None = None,
) -> str:
    """A new axis of tuples that are drawn, perhaps from other tuples."""
    frames = planner.frames
    lying = {variable: axis for variable, axis in frame.items() if axis in parents}
    sizes = {axis: frames.size(axis) for axis in frames.base(lying).values()}
    known = None if first is None else first.known
    for axis, places in (known or {}).items():
        sizes[axis] = int(np.count_nonzero(np.bincount(places)))
    drawn = Drawn(most, sizes)
    return frames.add(key, parents, frame, leading, origin, known, drawn=drawn).label


def _many(sizes: Sequence[int | None]) -> str:
    """How many combinations there are, where it is known; raise where they cannot be numbered."""
    count = math.prod(size or 0 for size in sizes)
    if None in sizes:
        return ""
    if count > _MOST:
        raise LogicValueError(
            f"A sample is drawn from at most 2^62 combinations; there are {count:,}: bind fewer variables "
            "by one quantifier."
        )
    return f"{count:,} "


def _layout(totals: Any, most: int) -> tuple[Any, Any]:
    """The group of each draw, and which of the draws from its group it is."""
    if isinstance(totals, np.ndarray):
        taken = np.minimum(totals, most)
        group = np.repeat(np.arange(len(taken)), taken)
        return group, np.arange(taken.sum()) - (np.cumsum(taken) - taken)[group]
    taken = tf.minimum(totals, most)
    group = tf.repeat(tf.range(tf.size(taken)), taken)
    return group, tf.range(tf.reduce_sum(taken)) - tf.gather(tf.cumsum(taken, exclusive=True), group)


def _wide(number: Any) -> tf.Tensor:
    return tf.cast(number, tf.int64)
