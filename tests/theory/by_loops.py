"""Formulas of the language of `worlds` by plain loops: one combination of individuals at a time.

Numbers are float64, and in `LogProductLoops` decimals, whose exponents reach as far down as products of
many small truths do. Nothing here comes from the package but the syntax tree.
"""

import decimal
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, cast

import numpy as np

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
    Quantifier,
    Xor,
)
from tests.fuzzy_ops import reference
from tests.theory.built_with_core import ARITHMETIC, COMPARISONS, is_point
from tests.theory.worlds import ALPHA, CHOSEN, CONSTANTS, HEADS, NUMBER_OF_CLASSES, Array, World

# The row of each variable.
Rows = dict[str, int]
# Stands for the logarithm of 0.
LOG_ZERO = Decimal(-10_000)
# A product of hundreds of those is still not 0.
CONTEXT = decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


class Degree(NamedTuple):
    """The truth of an atom and of its negation, each with all its digits."""

    holds: Decimal
    fails: Decimal


class Loops:
    """Terms, crisp formulas and atoms."""

    def __init__(self, world: World):
        [table] = world.parameters["constants"]
        constants: Array = table.astype(np.float64)
        classes = np.arange(float(NUMBER_OF_CLASSES)).reshape(NUMBER_OF_CLASSES, 1)
        self.parameters = world.parameters
        self.constants = dict(zip(CONSTANTS, constants, strict=True))
        self.individuals: dict[str, Array] = {"u": constants, "v": constants, "c": classes, "d": classes}
        self.individuals["w"] = np.stack([self.constants[name] for name in CHOSEN])
        for name, values in world.data.items():
            # Numbers have one axis only.
            self.individuals[name] = values.astype(np.float64).reshape(len(values), *values.shape[1:] or (1,))
        self.propositions = {"A": float(world.parameters["A"][0]), "B": 0.75}

    def term(self, node: Node, rows: Rows) -> Array:
        match node:
            case Number(value=value):
                return np.array([value])
            case Name(name=name):
                return self.individuals[name][rows[name]] if name in rows else self.constants[name]
            case Negative(operand=operand):
                return -self.term(operand, rows)
            case Arithmetic(operator=operator, left=left, right=right):
                return cast(Array, ARITHMETIC[operator](self.term(left, rows), self.term(right, rows)))
        apply = cast(Apply, node)
        arguments = [self.term(argument, rows) for argument in apply.arguments]
        match apply.symbol:
            case "f":
                return np.tanh(self._network("f", arguments))
            case "score":
                return self._network("score", arguments)
            case "at":
                return np.append(arguments[0], arguments[0][0])
            case "first":
                return arguments[0][:1]
            case "gap":
                return np.abs(arguments[0][:1] - arguments[1][:1])
            case "abs":
                return np.abs(arguments[0])
        return np.array([np.sqrt((arguments[0] ** 2).sum())])

    def _network(self, name: str, inputs: Sequence[Array]) -> Array:
        """Dense layers with elu between them."""
        hidden = np.concatenate(inputs)
        weights = self.parameters[name]
        for position in range(0, len(weights), 2):
            kernel, bias = weights[position : position + 2]
            if position:
                hidden = np.where(hidden > 0.0, hidden, np.expm1(np.minimum(hidden, 0.0)))
            hidden = hidden @ kernel.astype(np.float64) + bias.astype(np.float64)
        return hidden

    def crisp(self, node: Node, rows: Rows) -> bool:
        match node:
            case Not(operand=operand):
                return not self.crisp(operand, rows)
            case And(left=left, right=right):
                return self.crisp(left, rows) and self.crisp(right, rows)
            case Or(left=left, right=right):
                return self.crisp(left, rows) or self.crisp(right, rows)
            case Implies(left=left, right=right):
                return self.crisp(right, rows) or not self.crisp(left, rows)
            case Iff(left=left, right=right):
                return self.crisp(left, rows) == self.crisp(right, rows)
            case Xor(left=left, right=right):
                return self.crisp(left, rows) != self.crisp(right, rows)
            case Comparison(left=Apply(symbol="P" | "C") as atom):
                [threshold] = self.term(node.right, rows)
                return bool(COMPARISONS[node.operator](float(self.degree(atom, rows).holds), threshold))
            case Comparison(operator=operator):
                sides = self.term(node.left, rows), self.term(node.right, rows)
                join = np.any if operator == "!=" else np.all
                return bool(join(COMPARISONS[operator](*sides)))
        return self.degree(node, rows).holds == 1

    def degree(self, node: Node, rows: Rows) -> Degree:
        """The truth of an atom."""
        if isinstance(node, Name):
            truth = Decimal(self.propositions[node.name])
            return Degree(truth, 1 - truth)
        if isinstance(node, Comparison):
            if node.operator == "=" and is_point(node.left):
                distance = math.dist(self.term(node.left, rows), self.term(node.right, rows))
                truth = Decimal(-ALPHA * distance).exp()
                return Degree(truth, 1 - truth)
            return _crisp(self.crisp(node, rows))
        apply = cast(Apply, node)
        arguments = [part for argument in apply.arguments for part in self._parts(argument, rows)]
        match apply.symbol:
            case "E" | "O" as symbol:
                logit = Decimal(float(self._network("heads", arguments)[HEADS.index(symbol)]))
                return Degree(1 / (1 + (-logit).exp()), 1 / (1 + logit.exp()))
            case "T":
                [table], [row, column] = self.parameters["T"], np.concatenate(arguments).astype(int)
                return _share(table[row], column)
            case "P" | "R" as symbol:
                logit = Decimal(float(self._network(symbol, arguments)[0]))
                return Degree(1 / (1 + (-logit).exp()), 1 / (1 + logit.exp()))
            case "C" | "D" as symbol:
                return _share(self._network(symbol, arguments[:-1]), int(arguments[-1][0]))
            case "near":
                truth = Decimal(-0.5 * float(((arguments[0] - arguments[1]) ** 2).sum())).exp()
                return Degree(truth, 1 - truth)
            case "step":
                return _crisp(arguments[0][0] >= 1.0)
            case "less":
                return _crisp(arguments[0][0] < arguments[1][0])
        return _crisp(arguments[0][0] % 2.0 == 0.0)

    def _parts(self, node: Node, rows: Rows) -> list[Array]:
        """A pair as its point and its class; another term as it is."""
        value = self.term(node, rows)
        return [value[:2], value[2:]] if len(value) == 3 else [value]

    def selected(self, node: Quantifier, rows: Rows) -> Iterator[Rows]:
        """The rows of the combinations over which a quantifier ranges."""
        sizes = [range(len(self.individuals[group[0]])) for group in node.groups]
        for choice in itertools.product(*sizes):
            inner = dict(rows)
            for group, row in zip(node.groups, choice, strict=True):
                inner |= dict.fromkeys(group, row)
            if node.guard is None or self.crisp(node.guard, inner):
                yield inner

    def over(self, variables: Sequence[str], truth: Callable[[Rows], float]) -> Array:
        """The truth for all combinations of free variables."""
        result = np.empty([len(self.individuals[name]) for name in variables])
        for index in np.ndindex(result.shape):
            result[index] = truth(dict(zip(variables, index, strict=True)))
        return result


class StableProductLoops(Loops):
    """Under the stable product, whose operators `reference` writes from the paper."""

    def truth(self, node: Node, rows: Rows) -> float:
        match node:
            case Not(operand=operand):
                return reference.standard_negation(self.truth(operand, rows))
            case And(left=left, right=right):
                return reference.stable_product(self.truth(left, rows), self.truth(right, rows))
            case Or(left=left, right=right):
                return reference.stable_probabilistic_sum(self.truth(left, rows), self.truth(right, rows))
            case Implies(left=left, right=right):
                return reference.stable_reichenbach(self.truth(left, rows), self.truth(right, rows))
            case Iff(left=left, right=right):
                equivalence = reference.equivalence(reference.stable_product, reference.stable_reichenbach)
                return equivalence(self.truth(left, rows), self.truth(right, rows))
            case Xor(left=left, right=right):
                a, b = self.truth(left, rows), self.truth(right, rows)
                both = reference.standard_negation(reference.stable_product(a, b))
                return reference.stable_product(reference.stable_probabilistic_sum(a, b), both)
            case Quantifier(kind=kind, body=body, count=int(count)):
                truths = [self.truth(body, inner) for inner in self.selected(node, rows)]
                return reference.count_of_all(*bounds_of(kind, count))(truths)
            case Quantifier(kind=kind, body=body, options=options):
                truths = [self.truth(body, inner) for inner in self.selected(node, rows)]
                p, stable = dict(options).get("p", 2.0), bool(dict(options).get("stable", True))
                if kind == "forall":
                    return reference.power_mean_error(p, stable)(truths) if truths else 1.0
                return reference.power_mean(p, stable)(truths) if truths else 0.0
        return float(self.degree(node, rows).holds)


class LogProductLoops(Loops):
    """Under the log product: truths of formulas and of their negations, by the laws of De Morgan."""

    def log_truth(self, node: Node, rows: Rows) -> float:
        with decimal.localcontext(CONTEXT):
            return float(self.truth(node, rows).ln())

    def truth(self, node: Node, rows: Rows, holds: bool = True) -> Decimal:
        """The truth of a formula, or else of its negation."""
        match node:
            case Not(operand=operand):
                return self.truth(operand, rows, not holds)
            case And(left=left, right=right):
                return self._joined(left, right, rows, holds, (holds, holds))
            case Or(left=left, right=right):
                return self._joined(left, right, rows, not holds, (holds, holds))
            case Implies(left=left, right=right):
                return self._joined(left, right, rows, not holds, (not holds, holds))
            case Iff(left=left, right=right):
                there = self._joined(left, right, rows, not holds, (not holds, holds))
                back = self._joined(right, left, rows, not holds, (not holds, holds))
                return there * back if holds else _either(there, back)
            case Xor(left=left, right=right):
                some = self._joined(left, right, rows, not holds, (holds, holds))
                not_both = self._joined(left, right, rows, not holds, (not holds, not holds))
                return some * not_both if holds else _either(some, not_both)
            case Quantifier(kind=kind, body=body, count=int(count)):
                probabilities = [Decimal(1)]
                for inner in self.selected(node, rows):
                    x = self.truth(body, inner)
                    # The negation of a mean is another mean, not what the mean lacks.
                    has_means = any(isinstance(n, Quantifier) and n.count is None for n in body.walk())
                    y = (1 - x or LOG_ZERO.exp()) if has_means else self.truth(body, inner, holds=False)
                    pairs = zip([*probabilities, Decimal(0)], [Decimal(0), *probabilities], strict=True)
                    probabilities = [same * y + fewer * x for same, fewer in pairs]
                least, most = bounds_of(kind, count)
                within = [p for n, p in enumerate(probabilities) if (least <= n <= most) == holds]
                return sum(within, Decimal(0)) or LOG_ZERO.exp()
            case Quantifier(kind=kind, body=body, options=options):
                truths = [self.truth(body, inner, holds) for inner in self.selected(node, rows)]
                if (kind == "forall") == holds:
                    return geometric_mean(truths)
                return sum_of_odds(truths, Decimal(dict(options).get("p", 1.0)))
        degree = self.degree(node, rows)
        return (degree.holds if holds else degree.fails) or LOG_ZERO.exp()

    def _joined(self, left: Node, right: Node, rows: Rows, both: bool, signs: tuple[bool, bool]) -> Decimal:
        a, b = self.truth(left, rows, signs[0]), self.truth(right, rows, signs[1])
        return a * b if both else _either(a, b)


def bounds_of(kind: str, count: int) -> tuple[float, float]:
    """The least and the largest number of which a quantifier is true."""
    return {"exactly": (count, count), "at least": (count, math.inf), "at most": (0, count)}[kind]


def geometric_mean(truths: Sequence[Decimal]) -> Decimal:
    """1 of nothing."""
    product = functools.reduce(lambda a, b: a * b, truths, Decimal(1))
    return product ** (Decimal(1) / len(truths)) if truths else Decimal(1)


def sum_of_odds(truths: Sequence[Decimal], p: Decimal) -> Decimal:
    """The odds of the p-th powers added, as a truth; of nothing what stands for 0."""
    if not truths or 1 in truths:
        return Decimal(1) if truths else LOG_ZERO.exp()
    odds = sum((truth**p / (1 - truth**p) for truth in truths), Decimal(0))
    return (odds / (1 + odds)) ** (1 / p)


def _either(a: Decimal, b: Decimal) -> Decimal:
    return a + b - a * b


def _share(logits: Array, picked: int) -> Degree:
    """The probability of a class, by a softmax."""
    exact = [Decimal(float(logit)) for logit in logits]
    powers = [(logit - max(exact)).exp() for logit in exact]
    one = powers.pop(picked)
    total = one + sum(powers)
    return Degree(one / total, sum(powers, Decimal(0)) / total)


def _crisp(truth: Any) -> Degree:
    return Degree(Decimal(bool(truth)), Decimal(not truth))
