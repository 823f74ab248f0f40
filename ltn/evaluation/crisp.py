"""Crisp formulas: comparisons, and the guards made of them, which select and are not learned."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import tensorflow as tf

from ltn.core import Formula, Term, axes
from ltn.errors import LogicTypeError
from ltn.evaluation import terms
from ltn.language import (
    And,
    Apply,
    Arithmetic,
    Binary,
    Comparison,
    Domain,
    Iff,
    Implies,
    Negative,
    Node,
    Not,
    Or,
)
from ltn.utils import distance

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation
    from ltn.evaluation.frames import Frame

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONNECTIVES: dict[type[Node], Callable[[Any, Any], Any]] = {
    And: tf.logical_and,
    Or: tf.logical_or,
    Implies: lambda left, right: tf.logical_or(tf.logical_not(left), right),
    Iff: tf.equal,
}


def truth(evaluation: Evaluation, node: Node, frame: Frame) -> tuple[tf.Tensor, list[str]]:
    """The truth of a guard, true or false for each combination of its variables; the axes' labels."""
    if isinstance(node, Not):
        value, labels = truth(evaluation, node.operand, frame)
        return tf.logical_not(value), labels
    if isinstance(node, Comparison):
        return _comparison(evaluation, node, frame)
    if isinstance(node, Apply):
        return _predicate(evaluation, node, frame)
    connective = cast(Binary, node)
    left, left_labels = truth(evaluation, connective.left, frame)
    right, right_labels = truth(evaluation, connective.right, frame)
    order = axes.union([left_labels, right_labels])
    operands = axes.align(left, left_labels, order), axes.align(right, right_labels, order)
    return _CONNECTIVES[type(node)](*operands), order


def _comparison(evaluation: Evaluation, node: Comparison, frame: Frame) -> tuple[tf.Tensor, list[str]]:
    sides = [_number(evaluation, side, frame) for side in (node.left, node.right)]
    left, right, labels = terms.aligned(*sides)
    features = list(range(len(labels), left.shape.rank))
    if node.operator in _COMPARISONS:
        return tf.squeeze(_COMPARISONS[node.operator](left, right), features), labels
    equal = tf.reduce_all(tf.equal(left, right), features)
    return (equal if node.operator == "=" else tf.logical_not(equal)), labels


def _number(evaluation: Evaluation, node: Node, frame: Frame) -> Term:
    """A side of a comparison: a term, or an atom whose degree of truth is compared."""
    if isinstance(node, Apply) and node.symbol in evaluation.signature.predicates:
        degree = evaluation.truth(node, evaluation.restricted(frame, node))
        return Term(degree.tensor[..., tf.newaxis], degree.free_vars)
    return evaluation.value(node, frame)


def _predicate(evaluation: Evaluation, node: Apply, frame: Frame) -> tuple[tf.Tensor, list[str]]:
    own = evaluation.restricted(frame, node)
    output, _, _ = evaluation.output(node, own)
    if output.rows.dtype != tf.bool:
        raise LogicTypeError(
            f"A guard is crisp, true or false; '{node.symbol}' returns degrees of truth. "
            f"Compare it with a threshold, as `{node} > 0.5`, or let its grounding return booleans."
        )
    formula = evaluation.truth(node, own)
    return tf.cast(formula.tensor, tf.bool), formula.free_vars


def _domain_compared(evaluation: Evaluation, node: Comparison) -> Domain | None:
    """The domain whose equality is meant: that of a side, or of the terms that a side is computed from."""
    sides = [terms.domain_of(evaluation.signature, side) for side in (node.left, node.right)]
    inner = [
        domain for side in (node.left, node.right) for domain in _domains_computed_with(evaluation, side)
    ]
    return next((domain for domain in (*sides, *inner) if domain is not None), None)


def _domains_computed_with(evaluation: Evaluation, node: Node) -> list[Domain | None]:
    """The domains of the terms that arithmetic combines; what is applied to a term has left its domain."""
    if isinstance(node, Arithmetic | Negative):
        return [d for child in node.children for d in _domains_computed_with(evaluation, child)]
    return [terms.domain_of(evaluation.signature, node)]


def compared(evaluation: Evaluation, node: Comparison, frame: Frame, negated: bool) -> Formula:
    """The value of a comparison in a body: `=` is the equality of the domain, all else is crisp."""
    domain = _domain_compared(evaluation, node) if node.operator == "=" else None
    if domain is not None and domain.equality == "smooth":
        sides = evaluation.value(node.left, frame), evaluation.value(node.right, frame)
        left, right, labels = terms.aligned(*sides)
        features = list(range(len(labels), max(left.shape.rank, right.shape.rank)))
        exponent = Formula(-domain.alpha * distance(left, right, features), labels)
        return evaluation.space.equal(exponent, negated)
    value, labels = _comparison(evaluation, node, frame)
    return evaluation.space.crisp(Formula(value, labels), negated)
