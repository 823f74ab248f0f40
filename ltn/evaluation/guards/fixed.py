"""Guards over fixed individuals: their tuples are always the same, and are found once."""

from __future__ import annotations

from dataclasses import dataclass, field

import tensorflow as tf

from ltn.evaluation.frames import Tuples
from ltn.evaluation.guards.strategy import Combinations, Guard, SelectedTuples, Strategy
from ltn.evaluation.plan import Execution
from ltn.evaluation.planner import Planner, Rule
from ltn.language import Node


@dataclass(frozen=True)
class FixedTuples(SelectedTuples):
    """Tuples that were found when the plan was made."""

    strategy = "fixed"

    indices: tuple[tf.Tensor, ...] = field(compare=False)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        return self.indices


class Fixed(Strategy):
    """Conjuncts such as `d1 < d2` over the individuals of finite domains."""

    def __init__(self, guard: Guard, conjuncts: list[Node]):
        self.conjuncts = conjuncts
        self._combinations: Combinations = guard.combinations(conjuncts, None)
        self.parents = self._combinations.labels
        self.leading = self.parents[0]
        if guard.has_relations(conjuncts):
            index = [places.numpy() for places in self._combinations.places]
            self.known, self.is_known = guard.on_first_axes(self.parents, index), True

    @classmethod
    def find(cls, guard: Guard) -> Fixed | None:
        conjuncts = [node for node in guard.conjuncts if guard.is_fixed(node)]
        rest = [node for node in guard.conjuncts if node not in conjuncts]
        # The body reads what a network returned for a guard: both must be on the same axes.
        if not conjuncts or any(guard.calls_network(node) for node in rest):
            return None
        return cls(guard, conjuncts)

    def share(self, planner: Planner) -> float:
        return self._combinations.share(planner)

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        yield from ()
        written = " & ".join(map(str, self.conjuncts))
        return planner.add(FixedTuples(tuples.label, written, self._combinations.places))
