"""Quantifiers that count: what their operators are told, and the values that they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ltn.core import axes
from ltn.evaluation.frames import Frame
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import Planner, Rule
from ltn.language import Node, Quantifier
from ltn.language.names import QUANTIFIERS


@dataclass(frozen=True)
class Counting:
    """What a quantifier counts.

    Attributes:
        kind: that of the quantifier.
        count: how many.
        negated: whether the negation of the quantifier is computed.
        log_odds: whether the values are log-odds; None where they are truths, and operators know none.
    """

    kind: str
    count: int
    negated: bool
    log_odds: bool | None

    @property
    def name(self) -> str:
        """What it is called, for people."""
        return f"{'not ' * self.negated}{self.kind} {self.count}"

    @property
    def of_nothing(self) -> float:
        """The truth of the quantifier over nothing."""
        truth = QUANTIFIERS[self.kind].of_nothing(self.count)
        return 1.0 - truth if self.negated else truth

    @property
    def arguments(self) -> dict[str, Any]:
        """What the operator is called with."""
        bounds: dict[str, Any] = QUANTIFIERS[self.kind].of_count(self.count)
        return (
            bounds if self.log_odds is None else bounds | {"negated": self.negated, "log_odds": self.log_odds}
        )


@dataclass(frozen=True)
class LogOdds(Step):
    """How much more a formula holds than its negation, from the logarithms of both truths."""

    holds: Value
    fails: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        holds, fails = (
            axes.align(execution[side], side.axes, self.axes) for side in (self.holds, self.fails)
        )
        return holds - fails

    def describe(self) -> str:
        return "log-odds"


def counting_of(planner: Planner, node: Quantifier, negated: bool) -> Counting:
    """What a quantifier counts."""
    if node.count is None:
        raise RuntimeError(f"`{node}` does not count.")
    log_odds = None if planner.space.negates else _is_complement(node.body)
    return Counting(node.kind, node.count, negated, log_odds)


def _is_complement(body: Node) -> bool:
    """Whether the negation of a body, in its own normal form, has the truth that the body lacks.

    Means have it not: the negation of a geometric mean is an arithmetic one.
    """
    return all(inner.count is not None for inner in body.walk() if isinstance(inner, Quantifier))


def plan_counted(planner: Planner, node: Quantifier, frame: Frame, owner: int | None) -> Rule:
    """The values of the body of a quantifier that counts.

    The logarithm of a truth near 1 does not tell how far from 1 it is; the negation tells it.
    """
    holds = yield planner.formula(node.body, frame, owner)
    if planner.space.negates or not _is_complement(node.body):
        return holds
    fails = yield planner.formula(planner.negation(node.body), frame, owner)
    return planner.add(LogOdds(holds, fails))
