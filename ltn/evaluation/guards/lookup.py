"""Guards that look their tuples up, such as `d1 + d2 = n`.

The values of `d1 + d2` are fixed: the combinations of `d1` and `d2` are sorted once, by that value, and
each execution looks up those for its `n`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import tensorflow as tf

from ltn.core import axes
from ltn.evaluation.frames import Tuples
from ltn.evaluation.guards.strategy import Combinations, Guard, SelectedTuples, Strategy
from ltn.evaluation.plan import Execution, Value
from ltn.evaluation.planner import Planner, Rule
from ltn.evaluation.tuples import unravel
from ltn.language import Comparison, Node

# The sign of a comparison when its sides are exchanged.
_EXCHANGED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER = (1,)


class Lookup(NamedTuple):
    """A comparison `fixed sign other` whose sides share no axis; only `other` may depend on data."""

    conjunct: Node
    fixed: Node
    sign: str
    other: Node


@dataclass(frozen=True)
class LookedUpTuples(SelectedTuples):
    """The combinations for which a comparison holds: a range of them for each value of the other term."""

    strategy = "looked up"

    sign: str
    other: Value
    order: tuple[str, ...]
    combinations: Combinations = field(compare=False)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        other = axes.reorder(execution[self.other], self.other.axes, self.order)
        combinations = self.combinations
        values = tf.reshape(other, [-1])
        low = tf.searchsorted(combinations.values, values, side="left")
        high = tf.searchsorted(combinations.values, values, side="right")
        all_of_them = axes.size_of(combinations.values, 0)
        start, stop = {
            "=": (low, high),
            "<": (tf.zeros_like(low), low),
            "<=": (tf.zeros_like(low), high),
            ">": (high, all_of_them),
            ">=": (low, all_of_them),
        }[self.sign]
        # NaN, which alone is unequal to itself, compares with nothing.
        counts = tf.where(tf.equal(values, values), stop - start, 0)
        ends = tf.cumsum(counts)
        tuples = tf.range(tf.reduce_sum(counts))
        # The value that each tuple belongs to.
        of_value = tf.searchsorted(ends, tuples, side="right")
        places = tuples + tf.gather(start - (ends - counts), of_value)
        # The size of the first axis is not needed.
        sizes = [0, *(axes.size_of(other, axis) for axis in range(1, len(self.order)))][: len(self.order)]
        return *unravel(of_value, sizes), *(tf.gather(index, places) for index in combinations.places)


class LookedUp(Strategy):
    """A comparison of fixed individuals with a term that may depend on data, and fixed conjuncts."""

    def __init__(self, guard: Guard, lookup: Lookup, filters: list[Node]):
        self._lookup = lookup
        self._frame = dict(guard.frame)
        self._combinations = guard.combinations(filters, lookup.fixed)
        self.conjuncts = [*filters, lookup.conjunct]
        # The tuples are looked up value by value: they ascend along the first axis of the values.
        of_other = list(dict.fromkeys(guard.planner.restrict(guard.frame, lookup.other).values()))
        self._order = tuple(of_other)
        self.parents = (*of_other, *self._combinations.labels)
        self.leading = of_other[0] if of_other else None

    @classmethod
    def find(cls, guard: Guard) -> LookedUp | None:
        fixed = [node for node in guard.conjuncts if guard.is_fixed(node)]
        others = [node for node in guard.conjuncts if node not in fixed]
        lookups = [lookup for node in others for lookup in _lookups(guard, node)]
        # An equation is best, and then the comparison whose fixed side has the most axes.
        best = max(
            lookups, key=lambda lookup: (lookup.sign == "=", len(guard.labels(lookup.fixed))), default=None
        )
        if best is None:
            return None
        # The combinations that are looked up leave the axes of the other side alone.
        taken = guard.labels(best.other)
        filters = [node for node in fixed if not taken & guard.labels(node)]
        rest = [node for node in guard.conjuncts if node not in filters and node != best.conjunct]
        # The body reads what a network returned for a guard: both must be on the same axes.
        if any(guard.calls_network(node) for node in rest):
            return None
        return cls(guard, best, filters)

    def share(self, planner: Planner) -> float:
        return self._combinations.share(planner, same=self._lookup.sign == "=")

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        other = yield planner.term(self._lookup.other, self._frame)
        sign, written = self._lookup.sign, " & ".join(map(str, self.conjuncts))
        return planner.add(
            LookedUpTuples(tuples.label, written, sign, other, self._order, self._combinations)
        )


def _lookups(guard: Guard, conjunct: Node) -> Iterator[Lookup]:
    if not isinstance(conjunct, Comparison) or conjunct.operator not in _EXCHANGED:
        return
    left, right, sign = conjunct.left, conjunct.right, conjunct.operator
    if guard.labels(left) & guard.labels(right):
        return
    if any(guard.planner.signature.sort_of(side).shape != _NUMBER for side in (left, right)):
        return
    if guard.is_fixed(left):
        yield Lookup(conjunct, left, sign, right)
    if guard.is_fixed(right):
        yield Lookup(conjunct, right, _EXCHANGED[sign], left)
