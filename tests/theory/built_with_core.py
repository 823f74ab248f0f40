"""Formulas of the language of `worlds`, built from their trees with the eager layer `ltn.core`."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

import tensorflow as tf

import ltn
from ltn.language import (
    And,
    Apply,
    Arithmetic,
    Comparison,
    Iff,
    Implies,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Xor,
)
from ltn.language import Quantifier as QuantifierNode
from tests.theory.worlds import (
    ALPHA,
    CHOSEN,
    CLASSES,
    CONSTANTS,
    HEADS,
    LABELS,
    NUMBER_OF_CLASSES,
    PAIRS,
    PLAIN_PREDICATES,
    Declared,
    at,
    first,
    gap,
    networks,
)

Operation = Callable[[Any, Any], Any]
ARITHMETIC: dict[str, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARISONS: dict[str, Operation] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def closed_value(declared: Declared, formula: Node, data: Mapping[str, Any]) -> tf.Tensor:
    """The truth of a formula without free variables, under the stable product."""
    return Core(declared, ltn.semantics.stable_product, data).formula(formula).tensor


class Core:
    """Builds terms and formulas; to be made where the tape records."""

    def __init__(self, declared: Declared, semantics: ltn.Semantics, data: Mapping[str, Any]):
        constants = [declared.constants[name] for name in CONSTANTS]
        self.variables = {name: ltn.Variable(name, values) for name, values in data.items()}
        for name in ("u", "v"):
            rows = tf.stack([constant.tensor for constant in constants])
            self.variables[name] = ltn.Variable(name, rows)
        chosen = tf.stack([declared.constants[name].tensor for name in CHOSEN])
        self.variables["w"] = ltn.Variable("w", chosen)
        for name in ("c", "d"):
            self.variables[name] = ltn.Variable(name, range(NUMBER_OF_CLASSES))
        self.constants = declared.constants
        self.propositions = declared.propositions
        self.wrappers = semantics.wrap()
        self.count_op = semantics.Count
        plain = {name: ltn.Predicate.Lambda(grounding) for name, (_, grounding) in PLAIN_PREDICATES.items()}
        self.predicates = {
            "P": ltn.Predicate(networks()["P"]),
            "R": ltn.Predicate(networks()["R"]),
            "C": ltn.Predicate.FromLogits(networks()["C"], "softmax"),
            "D": ltn.Predicate.FromLogits(networks()["D"], "softmax"),
            "T": ltn.Predicate.FromLogits(networks()["T"], "softmax"),
            **ltn.Predicate.heads(networks()["heads"], HEADS),
            **plain,
        }
        self.functions = {
            "f": ltn.Function(networks()["f"]),
            "score": ltn.Function(networks()["score"]),
            "first": ltn.Function.Lambda(first),
            "gap": ltn.Function.Lambda(gap),
            "at": ltn.Function.Lambda(at),
            "abs": ltn.Function.Lambda(tf.abs),
            "norm": ltn.Function.Lambda(lambda x: tf.norm(x, axis=1, keepdims=True)),
        }

    def term(self, node: Node) -> ltn.Term:
        match node:
            case Number(value=value):
                return ltn.Constant([value], trainable=False)
            case Name(name=name):
                return self.variables[name] if name in self.variables else self.constants[name]
            case Negative(operand=operand):
                return ltn.Function.Lambda(tf.negative)(self.term(operand))
            case Arithmetic(operator=sign, left=left, right=right):
                operation = ARITHMETIC[sign]
                function = ltn.Function.Lambda(lambda args: operation(args[0], args[1]))
                return function([self.term(left), self.term(right)])
        apply = cast(Apply, node)
        arguments = [self.term(argument) for argument in apply.arguments]
        return self.functions[apply.symbol](arguments if len(arguments) > 1 else arguments[0])

    def formula(self, node: Node) -> ltn.Formula:
        Not_, And_, Or_, Implies_, Equiv, _, _, _ = self.wrappers
        match node:
            case Name(name=name):
                return self.propositions[name]
            case Apply():
                return self._applied(node)
            case Comparison(operator="=", left=left, right=right) if is_point(left):
                smooth = ltn.utils.Pred_equal_smooth_exp(alpha=ALPHA)
                return smooth([self.term(left), self.term(right)])
            case Comparison():
                return self.guard(node)
            case Not(operand=operand):
                return Not_(self.formula(operand))
            case And(left=left, right=right):
                return And_(self.formula(left), self.formula(right))
            case Or(left=left, right=right):
                return Or_(self.formula(left), self.formula(right))
            case Implies(left=left, right=right):
                return Implies_(self.formula(left), self.formula(right))
            case Iff(left=left, right=right):
                return Equiv(self.formula(left), self.formula(right))
            case Xor(left=left, right=right):
                a, b = self.formula(left), self.formula(right)
                return And_(Or_(a, b), Not_(And_(a, b)))
        return self._quantified(cast(QuantifierNode, node))

    def _applied(self, node: Apply) -> ltn.Formula:
        arguments = [part for argument in node.arguments for part in self._parts(argument)]
        return self.predicates[node.symbol](arguments if len(arguments) > 1 else arguments[0])

    def _parts(self, node: Node) -> list[ltn.Term]:
        """A pair as a point and a class; other terms as they are."""
        term = self.term(node)
        if not is_pair(node):
            return [term]
        return [ltn.Function.Lambda(part)(term) for part in (lambda h: h[:, :2], lambda h: h[:, 2:])]

    def _quantified(self, node: QuantifierNode) -> ltn.Formula:
        for group in node.groups:
            if len(group) > 1:
                ltn.diag(*(self.variables[name] for name in group))
        mask = None if node.guard is None else self.guard(node.guard)
        body = self.formula(node.body)
        bound = [self.variables[name] for name in node.variables]
        if node.count is not None:
            return ltn.Wrapper_Count(self.count_op, node.kind)(node.count, bound, body, mask=mask)
        quantifier = self.wrappers.Forall if node.kind == "forall" else self.wrappers.Exists
        return quantifier(bound, body, mask=mask, **dict(node.options))

    def guard(self, node: Node) -> ltn.Formula:
        """The mask of a guard, whose values are 0 and 1: there all logics agree."""
        Not_, And_, Or_, Implies_, Equiv, _, _, _ = ltn.semantics.lukasiewicz.wrap()
        match node:
            case Apply():
                return self._applied(node)
            case Not(operand=operand):
                return Not_(self.guard(operand))
            case And(left=left, right=right):
                return And_(self.guard(left), self.guard(right))
            case Or(left=left, right=right):
                return Or_(self.guard(left), self.guard(right))
            case Implies(left=left, right=right):
                return Implies_(self.guard(left), self.guard(right))
            case Iff(left=left, right=right):
                return Equiv(self.guard(left), self.guard(right))
            case Xor(left=left, right=right):
                return Not_(Equiv(self.guard(left), self.guard(right)))
        return self._compared(cast(Comparison, node))

    def _compared(self, node: Comparison) -> ltn.Formula:
        operation = COMPARISONS[node.operator]
        if isinstance(node.left, Apply) and node.left.symbol in self.predicates:
            degree, threshold = self._applied(node.left), cast(Number, node.right).value
            return ltn.Formula(tf.cast(operation(degree.tensor, threshold), tf.float32), degree.free_vars)
        # Points are equal where all features are, and differ where one does.
        join = tf.reduce_any if node.operator == "!=" else tf.reduce_all
        predicate = ltn.Predicate.Lambda(lambda args: join(operation(args[0], args[1]), axis=1))
        return predicate([self.term(node.left), self.term(node.right)])


def is_pair(node: Node) -> bool:
    """Whether a term is a point with a class."""
    return (isinstance(node, Name) and node.name in PAIRS) or (
        isinstance(node, Apply) and node.symbol == "at"
    )


def is_point(node: Node) -> bool:
    """Whether a term is a point, and neither a number nor a pair."""
    if isinstance(node, Name):
        return node.name not in (*LABELS, *CLASSES, *PAIRS)
    if isinstance(node, Apply):
        return node.symbol == "f"
    return any(is_point(child) for child in node.children)
