"""Connectives: how the values of their operands are combined."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ltn.core import Formula
from ltn.core.expressions import connect
from ltn.fuzzy_ops.base import Projected, Projection
from ltn.language import And, Apply, Binary, Iff, Implies, Node, Not, Or

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation
    from ltn.evaluation.frames import Frame

_OPERATORS = {And: "And", Or: "Or", Implies: "Implies", Iff: "Equiv"}


def connected(evaluation: Evaluation, node: Binary, frame: Frame) -> Formula:
    """The value of a compound formula over the axes of a frame."""
    operator = getattr(evaluation.space.semantics, _OPERATORS[type(node)])
    projection = operator.projection if isinstance(operator, Projected) else None
    # Loops, since formulas may be nested so deep that the call of a comprehension counts.
    values = []
    for operand in operands(node):
        if projection is None:
            values.append(evaluation.value(operand, frame))
        else:
            values.append(_projected(evaluation, operand, frame, projection))
    if projection is None:
        return functools.reduce(functools.partial(connect, operator), values)
    first, second, *others = values
    plain = functools.partial(connect, operator, stable=False)
    return functools.reduce(
        lambda left, right: plain(_through(projection, left), right), others, plain(first, second)
    )


def operands(node: Binary) -> list[Node]:
    """The operands of a chain as a & b & c, so that long ones need no deep recursion."""
    chained = isinstance(node, And | Or)
    found = [node.right]
    left = node.left
    while chained and type(left) is type(node):
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]


def signed(node: Node) -> tuple[Node, bool]:
    """The node without a negation, and whether there is one."""
    return (node.operand, True) if isinstance(node, Not) else (node, False)


def _projected(evaluation: Evaluation, node: Node, frame: Frame, projection: Projection) -> Formula:
    """The value of an operand, projected; an atom before it is read at the tuples of a guard, many more."""
    atom, negated = signed(node)
    if not isinstance(atom, Apply) or not evaluation.is_atom(atom):
        return _through(projection, evaluation.value(node, frame))
    own = evaluation.restricted(frame, node)

    def projected() -> Formula:
        value, low = evaluation.applied(atom, own, negated)
        return evaluation.frames.lift(_through(projection, value), low, own)

    return evaluation.once((node, tuple(own.items()), projection), projected)


def _through(projection: Projection, value: Formula) -> Formula:
    return Formula(projection(value.tensor), value.free_vars)
