"""Terms of the language: their groundings, with one axis per variable and then the features."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import tensorflow as tf

from ltn.core import Term, axes
from ltn.language import Apply, Arithmetic, Domain, Name, Negative, Node, Number, Signature
from ltn.utils import distance, norm

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation
    from ltn.evaluation.frames import Frame

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def term(evaluation: Evaluation, node: Node, frame: Frame) -> Term:
    """The grounding of a term over the axes of a frame."""
    if isinstance(node, Number):
        return Term([node.value], [])
    if isinstance(node, Name):
        return _named(evaluation, node.name, frame)
    if isinstance(node, Negative):
        operand = evaluation.value(node.operand, frame)
        return Term(-operand.tensor, operand.free_vars)
    if isinstance(node, Arithmetic):
        left, right, labels = aligned(evaluation.value(node.left, frame), evaluation.value(node.right, frame))
        return Term(_ARITHMETIC[node.operator](left, right), labels)
    return _applied(evaluation, cast(Apply, node), frame)


def _named(evaluation: Evaluation, name: str, frame: Frame) -> Term:
    if name in evaluation.signature.constants:
        return Term(evaluation.groundings.constant(name), [])
    base = evaluation.frames.base({name: frame[name]})
    variable = Term(evaluation.groundings.variable(name), [base[name]])
    return evaluation.frames.lift(variable, base, {name: frame[name]})


def _applied(evaluation: Evaluation, node: Apply, frame: Frame) -> Term:
    if node.symbol not in evaluation.symbols:
        difference = node.arguments[0]
        if node.symbol == "norm" and isinstance(difference, Arithmetic) and difference.operator == "-":
            left, right, labels = aligned(
                evaluation.value(difference.left, frame), evaluation.value(difference.right, frame)
            )
            features = list(range(len(labels), left.shape.rank))
            return Term(distance(left, right, features)[..., tf.newaxis], labels)
        argument = evaluation.value(node.arguments[0], frame)
        if node.symbol == "abs":
            return Term(tf.abs(argument.tensor), argument.free_vars)
        features = list(range(len(argument.free_vars), argument.tensor.shape.rank))
        return Term(norm(argument.tensor, features)[..., tf.newaxis], argument.free_vars)
    output, _, low = evaluation.output(node, frame)
    function = evaluation.symbols[node.symbol]
    return evaluation.frames.lift(function.value(output.rows, output.batch), low, frame)


def parts(evaluation: Evaluation, node: Node, frame: Frame) -> list[Term]:
    """The terms that a term stands for as an argument: one, or the parts of one of a product domain."""
    whole: Term = evaluation.value(node, frame)
    domain = domain_of(evaluation.signature, node)
    if domain is None or not domain.parts:
        return [whole]
    sizes = [math.prod(size or 1 for size in part.shape) for part in domain.parts]
    pieces = tf.split(whole.tensor, sizes, axis=-1)
    return [
        Term(tf.reshape(piece, tf.concat([tf.shape(piece)[:-1], part.shape], 0)), whole.free_vars)
        for piece, part in zip(pieces, domain.parts, strict=True)
    ]


def domain_of(signature: Signature, node: Node) -> Domain | None:
    """The domain of a term; numbers and the results of arithmetic have none."""
    if isinstance(node, Name):
        return (signature.variables | signature.constants).get(node.name)
    if isinstance(node, Apply) and node.symbol in signature.functions:
        return signature.functions[node.symbol][1]
    return None


def aligned(left: Term, right: Term) -> tuple[tf.Tensor, tf.Tensor, list[str]]:
    """Two terms over the union of their variables, with axes of size 1, ready to be combined."""
    order = axes.union([left.free_vars, right.free_vars])
    rank = max(len(left.feature_shape), len(right.feature_shape))
    tensors = []
    for operand in (left, right):
        tensor = axes.align(operand.tensor, operand.free_vars, order)
        for _ in range(rank - len(operand.feature_shape)):
            # A number beside features of several axes.
            tensor = tf.expand_dims(tensor, len(order))
        tensors.append(tensor)
    return tensors[0], tensors[1], order
