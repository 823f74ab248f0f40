"""Relations in formulas: where individuals stand in their domains, and whether they are a row."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation import tuples
from ltn.evaluation.frames import Frame
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import Planner, Request, Rule
from ltn.evaluation.runs import plan_parts
from ltn.language import Apply, Domain, Name, Node
from ltn.language.rosters import Features


@dataclass(frozen=True)
class PlacesOf(Step):
    """Where the individuals of a variable, (k,), or a constant, (), stand in their domain, int32.

    Like the individuals themselves it has no axes of its own.
    """

    source: tuple[str, str]
    name: str = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return execution.world.groundings.places_now(self.name)

    def describe(self) -> str:
        return f"places of {self.name} in its domain"


@dataclass(frozen=True)
class PlacesOfValues(Step):
    """Where values stand among the individuals of a domain, int32; -1 for those that are none of them."""

    term: Value
    domain: str
    found: FoundByFeatures = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return self.found.places(execution[self.term])

    def describe(self) -> str:
        return f"places in {self.domain}"


@dataclass(frozen=True)
class Known(Step):
    """Whether individuals are a row of a relation, from their places."""

    symbol: str
    columns: tuple[Value, ...]

    def compute(self, execution: Execution) -> tf.Tensor:
        columns = [axes.align(execution[column], column.axes, self.axes) for column in self.columns]
        return execution.world.relations[self.symbol].keys.find(columns) >= 0

    def describe(self) -> str:
        return f"look up {self.symbol}"


@dataclass(frozen=True)
class AsNumber(Step):
    """A truth as a number, to be compared."""

    truth: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.cast(execution[self.truth], tf.float32)[..., tf.newaxis]

    def describe(self) -> str:
        return "as a number"


class FoundByFeatures:
    """The individuals of a finite domain by their features: by a number computed from the bits of these."""

    def __init__(self, features: Features):
        rows = features.reshape(len(features), -1)
        bits = np.where(rows == 0.0, np.float32(0.0), rows).view(np.int32).astype(np.int64)
        for seed in range(8):
            chance = np.random.default_rng(seed)
            factors = chance.integers(-(2**62), 2**62, size=rows.shape[1]) | 1
            numbers = (bits * factors).sum(axis=1)
            order = np.argsort(numbers, kind="stable")
            same = np.flatnonzero(np.diff(numbers[order]) == 0)
            if (bits[order[same]] == bits[order[same + 1]]).all():
                break
        # Not in the graph of the step that is being compiled.
        with tf.init_scope():
            self._factors = tf.constant(factors)
            self._numbers = tf.constant(numbers[order])
            self._order = tf.constant(order.astype(np.int32))
            self._rows = tf.constant(rows)

    def places(self, values: tf.Tensor) -> tf.Tensor:
        """Where individuals, (*axes, *features), stand; the first place of several with equal features."""
        rank = values.shape.rank - 1
        sizes = [axes.size_of(values, axis) for axis in range(rank)]
        rows = tf.reshape(values, [-1, self._rows.shape[1]])
        bits = tf.bitcast(tf.where(tf.equal(rows, 0.0), tf.zeros_like(rows), rows), tf.int32)
        numbers = tf.reduce_sum(tf.cast(bits, tf.int64) * self._factors, axis=1)
        at = tf.minimum(tf.searchsorted(self._numbers, numbers), self._order.shape[0] - 1)
        places = tf.gather(self._order, at)
        is_same = tf.reduce_all(tf.equal(tf.gather(self._rows, places), rows), axis=1)
        return tf.reshape(tf.where(is_same, places, -1), sizes)


def plan_known(planner: Planner, node: Apply, frame: Frame) -> Rule:
    """Whether individuals are a row of a relation, over the axes of a frame."""
    domains = planner.signature.predicates[node.symbol]
    columns: list[Value] = []
    for argument in node.arguments:
        own = planner.restrict(frame, argument)
        columns += yield from plan_places(planner, argument, own, domains[len(columns) :])
    return planner.add(Known(node.symbol, tuple(columns)))


def plan_places(
    planner: Planner, node: Node, frame: Frame, domains: Sequence[Domain]
) -> Generator[Request, Value, list[Value]]:
    """Where the individuals that a term denotes stand in the first of some domains.

    A term of a product has a place in each of as many domains as it has parts.
    """
    low = planner.frames.base(frame) if isinstance(node, Name) else frame
    if isinstance(node, Name) and planner.groundings.has_places(node.name):
        source = planner.groundings.source(node.name) if low else ("constant", node.name)
        value = planner.add(PlacesOf(source or ("none", ""), node.name))
        return [(yield from tuples.lift(planner, Value(value.place, tuple(low.values())), low, frame))]
    parts, found = (yield from plan_parts(planner, node, low)), []
    for part, domain in zip(parts, domains, strict=False):
        places = planner.add(PlacesOfValues(part, domain.name, _found_by_features(planner, node, domain)))
        found.append((yield from tuples.lift(planner, places, low, frame)))
    return found


def _found_by_features(planner: Planner, node: Node, domain: Domain) -> FoundByFeatures:
    features = domain.features
    if features is None:
        raise LogicValueError(
            f"A relation is about the individuals of '{domain.name}', which are constants without fixed "
            f"features: `{node}` cannot be found among them by its features. Let it be a variable over the "
            "constants, without data of its own."
        )
    found: FoundByFeatures = planner.memory.get(("features", domain), lambda: FoundByFeatures(features))
    return found
