"""Guards that are searched: evaluated for every combination of individuals, to see where they hold."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from ltn.core import axes
from ltn.evaluation.frames import Frame, Tuples
from ltn.evaluation.guards.strategy import Guard, SelectedTuples, Strategy
from ltn.evaluation.plan import Execution, Value
from ltn.evaluation.planner import Planner, Rule, TuplesOf
from ltn.language import And, Node


@dataclass(frozen=True)
class SearchedTuples(SelectedTuples):
    """The combinations for which a guard holds."""

    strategy = "searched"

    truth: Value
    order: tuple[str, ...]

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        truth = axes.reorder(execution[self.truth], self.truth.axes, self.order)
        indices = tf.cast(tf.where(truth), tf.int32)
        return tuple(indices[:, axis] for axis in range(len(self.order)))


@dataclass(frozen=True)
class FilteredTuples(SelectedTuples):
    """The combinations of other tuples with further axes for which a guard holds.

    `order` holds the axes of the truth: that of the other tuples, and the further ones.
    """

    strategy = "filtered"

    tuples: Value
    truth: Value
    order: tuple[str, ...]

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        truth, found = execution[self.truth], execution[self.tuples]
        sizes = {label: axes.size_of(truth, axis) for axis, label in enumerate(self.truth.axes)}
        sizes[self.order[0]] = axes.size_of(found[0], 0)
        whole = axes.broadcast(truth, self.truth.axes, self.order, sizes)
        index, *others = tf.unstack(tf.cast(tf.where(whole), tf.int32), num=len(self.order), axis=1)
        return *(tf.gather(each, index) for each in found), *others


class Searched(Strategy):
    """All conjuncts, where no other strategy applies."""

    leading: str

    def __init__(self, guard: Guard):
        self._node = guard.node
        self._frame = dict(guard.frame)
        self.conjuncts = guard.conjuncts
        self.parents = tuple(dict.fromkeys(guard.planner.restrict(guard.frame, guard.node).values()))
        self.leading = self.parents[0]

    @classmethod
    def find(cls, guard: Guard) -> Searched:
        return cls(guard)

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        truth = yield planner.guard(self._node, self._frame)
        return planner.add(SearchedTuples(tuples.label, str(self._node), truth, tuple(self.parents)))


class Filtered:
    """The origin of tuples that another strategy found and further conjuncts filter."""

    def __init__(self, first: Tuples, conjuncts: Sequence[Node], frame: Frame, others: Sequence[str]):
        self._first = first
        self._node = functools.reduce(And, conjuncts)
        self._frame = frame
        self._others = others

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        """The tuples that are left."""
        found = yield TuplesOf(self._first.label)
        truth = yield planner.guard(self._node, planner.frames.replace(self._frame, self._first.label))
        order = (self._first.label, *self._others)
        return planner.add(FilteredTuples(tuples.label, str(self._node), found, truth, order))
