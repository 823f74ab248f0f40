"""What all strategies for guards share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation.frames import Frame, Places, Tuples
from ltn.evaluation.occurring import KnownTuples, as_constant
from ltn.evaluation.plan import Execution, Step
from ltn.evaluation.planner import Planner, Request, Rule, Settings
from ltn.evaluation.tuples import unravel
from ltn.language import And, Apply, Binary, Name, Node

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
        known, is_known, sparse: as for `Tuples`.
    """

    conjuncts: Sequence[Node]
    parents: Sequence[str]
    leading: str | None
    known: Mapping[str, Places] | None = None
    is_known: bool = False
    sparse: Collection[str] = ()

    @classmethod
    @abstractmethod
    def find(cls, guard: Guard) -> Strategy | None:
        """The strategy for a guard; None where it does not apply."""

    def share(self, planner: Planner) -> float:
        """Which part of all combinations on the parents is selected, at most."""
        return 1.0

    @abstractmethod
    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        """The tuples: for each of `parents` the index of each tuple there, int32, (K,)."""


class Guard:
    """A guard in a frame, and what is known of the nodes in it."""

    def __init__(self, planner: Planner, node: Node, frame: Frame):
        self.planner = planner
        self.node = node
        self.frame = frame
        self.conjuncts = parts_of(node, And)

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
            and self.is_the_same(node)
        )

    def is_the_same(self, node: Node) -> bool:
        """Whether a node has the same values in every evaluation, apart from networks in it."""
        pending = [node]
        while pending:
            inner = pending.pop()
            if isinstance(inner, Name):
                if not self.planner.groundings.is_fixed(inner.name):
                    return False
            elif isinstance(inner, Apply) and inner.symbol in self.planner.relations:
                # A relation asks who the individuals are, not for what is learned of them.
                pending += [each for each in inner.arguments if not self._is_known_name(each)]
            else:
                pending += inner.children
        return True

    def has_relations(self, nodes: Sequence[Node]) -> bool:
        """Whether there are relations in some nodes."""
        inner = (each for node in nodes for each in node.walk())
        return any(isinstance(each, Apply) and each.symbol in self.planner.relations for each in inner)

    def has_known_axis(self, variable: str) -> bool:
        """Whether it is known now which individuals of a variable lie where on its axis."""
        tuples = self.planner.frames.tuples(self.frame[variable])
        return self._is_known_name(Name(variable)) and (tuples is None or tuples.is_known)

    def places(self, variable: str) -> Places | None:
        """Where the individuals on the axis of a variable stand in their domain; None if it is unknown."""
        if not self.has_known_axis(variable):
            return None
        places, label = self.planner.groundings.places(variable).astype(np.int32), self.frame[variable]
        if self.planner.frames.tuples(label) is None:
            return places
        [base] = self.planner.frames.base({variable: label}).values()
        return places[self.planner.frames.known(label)[base]]

    def on_first_axes(self, labels: Sequence[str], index: Sequence[Places]) -> dict[str, Places]:
        """Where tuples are on the first axes, from where they are on some axes."""
        frames, found = self.planner.frames, {}
        for label, places in zip(labels, index, strict=True):
            if frames.tuples(label) is None:
                found[label] = places
            else:
                found |= {axis: first[places] for axis, first in frames.known(label).items()}
        return found

    def holds_at(
        self, nodes: Sequence[Node], labels: Sequence[str], index: Mapping[Any, Places]
    ) -> NDArray[np.bool_]:
        """For which tuples, given by where they are on some axes, all nodes hold; they need no data."""
        first = self.on_first_axes(labels, [index[label] for label in labels])
        holds = np.ones(len(index[labels[0]]), bool)
        # Not in the graph of the training step that is being compiled.
        with tf.init_scope():
            inner = self._alone()
            used = {name: self.frame[name] for node in nodes for name in self.planner.free(node)}
            frame = self.planner.frames.base(used)
            label = inner.frames.add("given", tuple(first), frame, None, _Given(first)).label
            at = inner.frames.replace(frame, label)
            plan = inner.plan_requests([partial(inner.guard, node, at) for node in nodes])
            for truth in Execution(inner.world).run(plan):
                holds &= truth.numpy()
        return holds

    def _alone(self) -> Planner:
        """A planner of what is always the same, with axes of its own."""
        inner = self.planner.fork(self.planner.groundings.without_data(), Settings())
        for group in self.planner.frames.groups.values():
            inner.frames.bind(group)
        return inner

    def _is_known_name(self, node: Node) -> bool:
        """Whether a node is a constant, or a variable over known individuals, all of them."""
        if not isinstance(node, Name) or not self.planner.groundings.has_places(node.name):
            return False
        is_constant = node.name in self.planner.signature.constants
        return is_constant or self.planner.kind_of(node.name) in ("domain", "choice")

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
        values: ascending, (m,); None if they have none.
        places: where each combination is on each of these axes, int32, (m,).
    """

    labels: tuple[str, ...]
    values: tf.Tensor | None
    places: tuple[tf.Tensor, ...]

    def share(self, planner: Planner, same: bool = False) -> float:
        """Which part of all combinations on their axes they are; or those with the `same` value, at most."""
        count = axes.size_of(self.places[0], 0)
        if same and self.values is not None and count:
            count = np.unique(self.values.numpy(), return_counts=True)[1].max()
        sizes = [planner.groundings.count(planner.frames.groups[label][0]) for label in self.labels]
        return float(count / max(math.prod(size or 1 for size in sizes), 1))


class _Given:
    """The origin of tuples that are given by where they are on some axes."""

    def __init__(self, index: Mapping[str, Places]):
        self._index = index

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        yield from ()
        index = tuple(map(as_constant, self._index.values()))
        return planner.add(KnownTuples(tuples.label, "given", index))


def parts_of(whole: Node, kind: type[Binary]) -> list[Node]:
    """What a connective connects: conjuncts or disjuncts; the node itself where it is another one."""
    found, pending = [], [whole]
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
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
        sizes = {label: groundings.count(variable) or 0 for label, variable in variables.items()}
        count = math.prod(sizes.values())
        if count > _MOST:
            raise LogicValueError(
                f"The guard is to be searched among {count:,} combinations of the variables "
                f"{', '.join(frame)}, more than {_MOST:,}: evaluate it in chunks, ltn.Theory(chunk=...), or "
                "bind fewer of them under one guard. Of negated relations [sample=...] draws some, in "
                "training and by theory.report(sample=...)."
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
            return Combinations(labels, None, tuple(unravel(tf.constant(index), shape)))
        numbers = axes.align(tf.squeeze(found[-1], -1), plan.results[-1].axes, labels).numpy()
        values = np.broadcast_to(numbers, shape).reshape(-1)[index]
        # NaN, such as 0 / 0, compares with nothing; it is sorted to the end.
        order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
        sorted_index = tuple(unravel(tf.constant(index[order]), shape))
        return Combinations(labels, tf.constant(values[order]), sorted_index)
