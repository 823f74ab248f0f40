"""Guards as truth: true or false for each combination of individuals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ltn.core import axes
from ltn.evaluation.atoms import plan_flag, plan_sides
from ltn.evaluation.known import plan_known
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import GuardIn, Planner, Rule
from ltn.language import And, Apply, Binary, Comparison, Iff, Implies, Node, Not, Or, Xor

_CONNECTIVES: dict[type[Node], tuple[str, Callable[[Any, Any], Any]]] = {
    And: ("both", tf.logical_and),
    Or: ("either", tf.logical_or),
    Implies: ("if", lambda left, right: tf.logical_or(tf.logical_not(left), right)),
    Iff: ("the same", tf.equal),
    Xor: ("one of two", tf.not_equal),
}


@dataclass(frozen=True)
class CrispNot(Step):
    """Whether a guard does not hold."""

    truth: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.logical_not(execution[self.truth])

    def describe(self) -> str:
        return "not, in a guard"


@dataclass(frozen=True)
class CrispConnect(Step):
    """Whether a compound guard holds."""

    kind: type[Node]
    left: Value
    right: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        _, connective = _CONNECTIVES[self.kind]
        operands = (axes.align(execution[side], side.axes, self.axes) for side in (self.left, self.right))
        return connective(*operands)

    def describe(self) -> str:
        return f"{_CONNECTIVES[self.kind][0]}, in a guard"


def plan_guard(planner: Planner, request: GuardIn) -> Rule:
    """The truth of a guard over the axes of a frame."""
    node, frame = request.node, dict(request.frame)
    match node:
        case Not():
            return planner.add(CrispNot((yield planner.guard(node.operand, frame))))
        case Comparison():
            return (yield from plan_sides(planner, node, frame))
        case Apply() if node.symbol in planner.relations:
            return (yield from plan_known(planner, node, frame))
        case Apply():
            return (yield from plan_flag(planner, node, frame))
        case Binary():
            left = yield planner.guard(node.left, frame)
            return planner.add(CrispConnect(type(node), left, (yield planner.guard(node.right, frame))))
    raise RuntimeError(f"There is no rule for the guard `{node}`.")
