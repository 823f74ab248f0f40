"""Terms of the language: one axis per variable, and then the features."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ltn.core import axes
from ltn.core.expressions import as_float_tensor
from ltn.evaluation import tuples
from ltn.evaluation.frames import Frame
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import Planner, Rule, TermIn
from ltn.evaluation.runs import plan_function
from ltn.language import Apply, Arithmetic, Name, Negative, Number
from ltn.utils import distance, norm

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True)
class Literal(Step):
    """A number."""

    number: float

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.constant([self.number], tf.float32)

    def describe(self) -> str:
        return f"{self.number:g}"


@dataclass(frozen=True)
class ConstantOf(Step):
    """The features of a constant."""

    name: str

    def compute(self, execution: Execution) -> tf.Tensor:
        return as_float_tensor(execution.world.groundings.constant(self.name))

    def describe(self) -> str:
        return self.name


@dataclass(frozen=True)
class Negate(Step):
    """-t."""

    term: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return -execution[self.term]

    def describe(self) -> str:
        return "-"


@dataclass(frozen=True)
class Calculate(Step):
    """t1 + t2, or with another sign, feature by feature."""

    sign: str
    left: Value
    right: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return _ARITHMETIC[self.sign](*align(execution, self.left, self.right))

    def describe(self) -> str:
        return self.sign


@dataclass(frozen=True)
class Absolute(Step):
    """abs(t), feature by feature."""

    term: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.abs(execution[self.term])

    def describe(self) -> str:
        return "abs"


@dataclass(frozen=True)
class Norm(Step):
    """norm(t), the Euclidean norm."""

    term: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        tensor = execution[self.term]
        return norm(tensor, list(range(len(self.axes), tensor.shape.rank)))[..., tf.newaxis]

    def describe(self) -> str:
        return "norm"


@dataclass(frozen=True)
class Distance(Step):
    """norm(t1 - t2), without the differences of all pairs where there are many."""

    left: Value
    right: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        left, right = align(execution, self.left, self.right)
        features = list(range(len(self.axes), left.shape.rank))
        return distance(left, right, features)[..., tf.newaxis]

    def describe(self) -> str:
        return "distance"


def plan_term(planner: Planner, request: TermIn) -> Rule:
    """The value of a term over the axes of a frame."""
    node, frame = request.node, dict(request.frame)
    match node:
        case Number():
            return planner.add(Literal(node.value))
        case Name() if node.name in planner.signature.constants:
            return planner.add(ConstantOf(node.name))
        case Name():
            return (yield from tuples.plan_individuals(planner, node.name, frame))
        case Negative():
            return planner.add(Negate((yield planner.term(node.operand, frame))))
        case Arithmetic():
            left = yield planner.term(node.left, frame)
            return planner.add(Calculate(node.operator, left, (yield planner.term(node.right, frame))))
        case Apply() if node.symbol in planner.symbols:
            return (yield from plan_function(planner, node, frame))
        case Apply():
            return (yield from _plan_built_in(planner, node, frame))
    raise RuntimeError(f"There is no rule for the term `{node}`.")


def _plan_built_in(planner: Planner, node: Apply, frame: Frame) -> Rule:
    argument = node.arguments[0]
    if node.symbol == "abs":
        return planner.add(Absolute((yield planner.term(argument, frame))))
    if isinstance(argument, Arithmetic) and argument.operator == "-":
        left = yield planner.term(argument.left, frame)
        return planner.add(Distance(left, (yield planner.term(argument.right, frame))))
    return planner.add(Norm((yield planner.term(argument, frame))))


def align(execution: Execution, left: Value, right: Value) -> tuple[tf.Tensor, tf.Tensor]:
    """Two terms over the union of their axes, with axes of size 1, ready to be combined."""
    order = axes.union([left.axes, right.axes])
    ranks = [execution[value].shape.rank - len(value.axes) for value in (left, right)]
    tensors = []
    for value, rank in zip((left, right), ranks, strict=True):
        tensor = axes.align(execution[value], value.axes, order)
        for _ in range(max(ranks) - rank):
            # A number may stand beside features of several axes.
            tensor = tf.expand_dims(tensor, len(order))
        tensors.append(tensor)
    return tensors[0], tensors[1]
