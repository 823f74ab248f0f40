"""What all strategies for guards share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation.frames import Frame, Tuples
from ltn.evaluation.plan import Execution, Step
from ltn.evaluation.planner import Planner, Request, Rule, Settings
from ltn.evaluation.tuples import unravel
from ltn.language import And, Apply, Name, Node

# The most combinations that are searched: memory must hold them, and an int32 count them.
_MOST = 2**27


@dataclass(frozen=True)
class SelectedTuples(Step):
    """The tuples on an axis that a guard selects: for each parent the index of each tuple there, int32, (K,).

    `written` is the guard, for people.
    """

    label: str
    written: str = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def describe(self) -> str:
        return f"{self.label} where {self.written}"


class Strategy(ABC):
    """A way to find the tuples for which some conjuncts of a guard hold.

    Attributes:
        conjuncts: those that it takes care of.
        parents: the axes that its tuples are drawn from.
        leading: the one of them along which the tuples ascend, if there is one.
    """

    conjuncts: Sequence[Node]
    parents: Sequence[str]
    leading: str | None

    @classmethod
    @abstractmethod
    def find(cls, guard: Guard) -> Strategy | None:
        """The strategy for a guard; None where it does not apply."""

    @abstractmethod
    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        """The tuples: for each of `parents` the index of each tuple there, int32, (K,)."""


class Guard:
    """A guard in a frame, and what is known of the nodes in it."""

    def __init__(self, planner: Planner, node: Node, frame: Frame):
        self.planner = planner
        self.node = node
        self.frame = frame
        self.conjuncts = _conjuncts(node)

    def labels(self, node: Node) -> set[str]:
        """The axes that a node depends on."""
        return set(self.planner.restrict(self.frame, node).values())

    def is_fixed(self, node: Node) -> bool:
        """Whether a node has variables, and always the same values for their individuals."""
        labels = self.labels(node)
        return (
            bool(labels)
            and not any(self.planner.frames.tuples(label) for label in labels)
            and not self.calls_network(node)
            and all(
                self.planner.groundings.is_fixed(inner.name)
                for inner in node.walk()
                if isinstance(inner, Name)
            )
        )

    def calls_network(self, node: Node) -> bool:
        """Whether the grounding of a symbol is called in a node."""
        return any(isinstance(inner, Apply) and inner.symbol in self.planner.symbols for inner in node.walk())

    def combinations(self, filters: Sequence[Node], value: Node | None) -> Combinations:
        """The combinations of fixed individuals that pass the filters, in the order of a value.

        They are found once for a theory.
        """
        nodes = [*filters] if value is None else [*filters, value]
        own = {variable: self.frame[variable] for node in nodes for variable in self.planner.free(node)}
        key = (tuple(filters), value, tuple(own.items()))
        return self.planner.memory.get(key, lambda: _combinations(self.planner, filters, value, own))


class Combinations(NamedTuple):
    """Combinations of fixed individuals, in the order of a value that each has.

    Attributes:
        labels: the labels of their axes.
        sizes: the sizes of their axes.
        values: ascending, (m,); None if they have none.
        index: the row-major index of each combination over these axes, int32, (m,); without
            values, the index on each axis.
    """

    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    values: tf.Tensor | None
    index: Any


def _conjuncts(guard: Node) -> list[Node]:
    found, pending = [], [guard]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending += [node.right, node.left]
        else:
            found.append(node)
    return found


def _combinations(
    planner: Planner, filters: Sequence[Node], value: Node | None, frame: Frame
) -> Combinations:
    groundings = planner.groundings.without_data()
    # Not in the graph of the training step that is being compiled.
    with tf.init_scope():
        variables = {label: variable for variable, label in frame.items()}
        sizes = {label: len(groundings.variable(variable)) for label, variable in variables.items()}
        count = math.prod(sizes.values())
        if count > _MOST:
            raise LogicValueError(
                f"The guard is to be searched among {count:,} combinations of the variables "
                f"{', '.join(frame)}, more than {_MOST:,}: evaluate it in chunks, ltn.Theory(chunk=...), or "
                "bind fewer of them under one guard."
            )
        inner = planner.fork(groundings, Settings())
        for group in planner.frames.groups.values():
            inner.frames.bind(group)
        requests: list[Callable[[], Request]] = [partial(inner.guard, node, frame) for node in filters]
        if value is not None:
            requests.append(partial(inner.term, value, frame))
        plan = inner.plan_requests(requests)
        found = Execution(inner.world).run(plan)
        labels, shape = tuple(sizes), tuple(sizes.values())
        passes = np.ones(shape, bool)
        for result, truth in zip(plan.results, found[: len(filters)], strict=False):
            passes &= axes.align(truth, result.axes, labels).numpy()
        index = np.flatnonzero(passes).astype(np.int32)
        if value is None:
            return Combinations(labels, shape, None, tuple(unravel(tf.constant(index), shape)))
        numbers = axes.align(tf.squeeze(found[-1], -1), plan.results[-1].axes, labels).numpy()
        values = np.broadcast_to(numbers, shape).reshape(-1)[index]
        # NaN, such as 0 / 0, compares with nothing; it is sorted to the end.
        order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
        return Combinations(labels, shape, tf.constant(values[order]), tf.constant(index[order]))
