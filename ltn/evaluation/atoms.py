"""Atoms: predicates on terms, comparisons, propositions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import tensorflow as tf

from ltn.core import Formula, axes
from ltn.errors import LogicTypeError
from ltn.evaluation import tuples
from ltn.evaluation.calls import Output
from ltn.evaluation.frames import Frame
from ltn.evaluation.known import AsNumber, plan_known
from ltn.evaluation.plan import Execution, Step, Value, World
from ltn.evaluation.planner import Planner, Rule
from ltn.evaluation.runs import plan_call, plan_classes, split_class
from ltn.evaluation.spaces import truth_of
from ltn.evaluation.terms import align
from ltn.fuzzy_ops.base import Projection
from ltn.language import Apply, Arithmetic, Comparison, Domain, Name, Negative, Node
from ltn.utils import distance

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class _OnRows(Step):
    """What is read from the output of a network for one call.

    Attributes:
        symbol: the predicate.
        run: the outputs of the network.
        position: the place of the call among them.
        labels: the axes of the rows.
        classes: which to pick from each row, where the network returns several.
    """

    symbol: str
    run: Value
    position: int
    labels: tuple[str, ...]
    classes: Value | None

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axes.union([self.labels, () if self.classes is None else self.classes.axes]))

    def _output(self, execution: Execution) -> Output:
        output: Output = execution[self.run][self.position]
        return output._replace(batch=output.batch._replace(labels=list(self.labels)))

    def _truth(self, execution: Execution) -> tf.Tensor:
        classes = None if self.classes is None else execution.term(self.classes)
        return truth_of(execution.world.symbols[self.symbol], self._output(execution), classes).tensor


@dataclass(frozen=True)
class Atom(_OnRows):
    """The value of a predicate on terms, or of its negation, in the space."""

    negated: bool

    def compute(self, execution: Execution) -> tf.Tensor:
        predicate = execution.world.symbols[self.symbol]
        classes = None if self.classes is None else execution.term(self.classes)
        return execution.world.space.atom(predicate, self._output(execution), classes, self.negated).tensor

    def describe(self) -> str:
        return f"atom {'~' if self.negated else ''}{self.symbol}"


@dataclass(frozen=True)
class Degree(_OnRows):
    """The truth of a predicate on terms, in [0, 1] whatever the space, as a number to compare."""

    def compute(self, execution: Execution) -> tf.Tensor:
        return self._truth(execution)[..., tf.newaxis]

    def describe(self) -> str:
        return f"degree of {self.symbol}"


@dataclass(frozen=True)
class Flag(_OnRows):
    """Whether a predicate holds, in a guard: its grounding must return booleans."""

    written: str

    def compute(self, execution: Execution) -> tf.Tensor:
        if self._output(execution).rows.dtype != tf.bool:
            raise LogicTypeError(
                f"A guard is crisp, true or false; '{self.symbol}' returns degrees of truth. "
                f"Compare it with a threshold, as `{self.written} > 0.5`, or let its grounding return "
                "booleans."
            )
        return tf.cast(self._truth(execution), tf.bool)

    def describe(self) -> str:
        return f"whether {self.symbol}"


@dataclass(frozen=True)
class Project(Step):
    """An operand, projected away from 0 or 1 for a stable connective."""

    value: Value
    projection: Projection

    def compute(self, execution: Execution) -> tf.Tensor:
        return self.projection(execution[self.value])

    def may_stack(self, world: World) -> bool:
        return True

    def describe(self) -> str:
        return "projected"


@dataclass(frozen=True)
class PropositionOf(Step):
    """The truth of a proposition."""

    name: str

    def compute(self, execution: Execution) -> tf.Tensor:
        return execution.world.propositions[self.name].tensor

    def describe(self) -> str:
        return self.name


@dataclass(frozen=True)
class Compare(Step):
    """Whether a comparison holds, for all features of its sides."""

    sign: str
    left: Value
    right: Value

    def compute(self, execution: Execution) -> tf.Tensor:
        left, right = align(execution, self.left, self.right)
        features = list(range(len(self.axes), left.shape.rank))
        if self.sign in _COMPARISONS:
            return tf.squeeze(_COMPARISONS[self.sign](left, right), features)
        equal = tf.reduce_all(tf.equal(left, right), features)
        return equal if self.sign == "=" else tf.logical_not(equal)

    def describe(self) -> str:
        return self.sign


@dataclass(frozen=True)
class Crisp(Step):
    """A given truth, or its negation, as a value of the space."""

    truth: Value
    negated: bool

    def compute(self, execution: Execution) -> tf.Tensor:
        return execution.world.space.crisp(execution.formula(self.truth), self.negated).tensor

    def describe(self) -> str:
        return "its negation" if self.negated else "its value"


@dataclass(frozen=True)
class SmoothEquality(Step):
    """The smooth equality exp(-alpha distance) of two terms, or its negation, in the space."""

    left: Value
    right: Value
    alpha: float
    negated: bool

    def compute(self, execution: Execution) -> tf.Tensor:
        left, right = align(execution, self.left, self.right)
        features = list(range(len(self.axes), left.shape.rank))
        exponent = Formula(-self.alpha * distance(left, right, features), self.axes)
        return execution.world.space.equal(exponent, self.negated).tensor

    def describe(self) -> str:
        return "!= (smooth)" if self.negated else "= (smooth)"


def is_atom(planner: Planner, node: Node) -> bool:
    """Whether a node is an atomic formula."""
    if isinstance(node, Apply):
        return node.symbol in planner.signature.predicates
    return isinstance(node, Comparison) or (
        isinstance(node, Name) and node.name in planner.signature.propositions
    )


def plan_atom(
    planner: Planner, node: Node, frame: Frame, negated: bool, projection: Projection | None = None
) -> Rule:
    """The value of an atom, or of its negation; projected where a connective needs it."""
    if isinstance(node, Apply) and node.symbol in planner.relations:
        value = planner.add(Crisp((yield from plan_known(planner, node, frame)), negated))
    elif isinstance(node, Apply):
        step = partial(Atom, negated=negated)
        return (yield from _plan_rows(planner, node, frame, step, projection))
    elif isinstance(node, Name):
        value = planner.add(Crisp(planner.add(PropositionOf(node.name)), negated))
    elif isinstance(node, Comparison):
        value = yield from _plan_comparison(planner, node, frame, negated)
    else:
        raise RuntimeError(f"`{node}` is not an atom.")
    return value if projection is None else planner.add(Project(value, projection))


def plan_degree(planner: Planner, node: Apply, frame: Frame) -> Rule:
    """The truth of a predicate on terms, as a number."""
    if node.symbol in planner.relations:
        return planner.add(AsNumber((yield from plan_known(planner, node, frame))))
    return (yield from _plan_rows(planner, node, frame, Degree))


def plan_flag(planner: Planner, node: Apply, frame: Frame) -> Rule:
    """Whether a predicate holds, true or false."""
    return (yield from _plan_rows(planner, node, frame, partial(Flag, written=str(node))))


def plan_sides(planner: Planner, node: Comparison, frame: Frame) -> Rule:
    """Whether a comparison holds; a side may be an atom whose degree of truth is compared."""
    sides = []
    for side in (node.left, node.right):
        if isinstance(side, Apply) and side.symbol in planner.signature.predicates:
            sides.append((yield from plan_degree(planner, side, planner.restrict(frame, side))))
        else:
            sides.append((yield planner.term(side, frame)))
    return planner.add(Compare(node.operator, *sides))


def _plan_rows(
    planner: Planner,
    node: Apply,
    frame: Frame,
    step: Callable[..., Step],
    projection: Projection | None = None,
) -> Rule:
    """What is read from the rows of a call, at the tuples of a frame."""
    network, class_node = split_class(planner, node)
    called = yield from plan_call(planner, network, frame)
    if class_node is None:
        found = planner.add(step(node.symbol, called.run, called.position, called.labels, None))
        value, low = found.rename(called.names), called.frame
    else:
        classes, low = yield from plan_classes(planner, class_node, called, frame)
        labels = tuple(called.names[label] for label in called.labels)
        value = planner.add(step(node.symbol, called.run, called.position, labels, classes))
    if projection is not None:
        # Before it is read at the tuples of a guard, which are many more.
        value = planner.add(Project(value, projection))
    return (yield from tuples.lift(planner, value, low, frame))


def _plan_comparison(planner: Planner, node: Comparison, frame: Frame, negated: bool) -> Rule:
    """The value of a comparison in a body: `=` is the equality of the domain, all else is crisp."""
    domain = _domain_of_equality(planner, node) if node.operator == "=" else None
    if domain is None or domain.equality != "smooth":
        return planner.add(Crisp((yield from plan_sides(planner, node, frame)), negated))
    left = yield planner.term(node.left, frame)
    right = yield planner.term(node.right, frame)
    return planner.add(SmoothEquality(left, right, domain.alpha, negated))


def _domain_of_equality(planner: Planner, node: Comparison) -> Domain | None:
    """The domain whose equality is meant: that of a side, or of a term from which a side is computed."""
    sides = [node.left, node.right]
    # The value of a function has left the domain of its arguments.
    pending, inner = [*reversed(sides)], []
    while pending:
        part = pending.pop()
        if isinstance(part, Arithmetic | Negative):
            pending += reversed(part.children)
        else:
            inner.append(part)
    domains = (planner.signature.sort_of(part).domain for part in (*sides, *inner))
    return next((domain for domain in domains if domain is not None), None)
