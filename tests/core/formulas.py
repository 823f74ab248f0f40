"""Random closed formulas, evaluated by the library and by plain loops written from the paper."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

import ltn
from tests.fuzzy_ops import reference

Node = tuple[Any, ...]
Array = np.ndarray[Any, Any]
FEATURES = 2
ARITY = {"P": 1, "R": 2}


@dataclass
class Grounding:
    """Two features per individual; the first is a whole number, which guards compare."""

    variables: dict[str, Array]
    constant: Array
    weights: Array  # of the predicates and the function, shape (3, 2)

    def arrays(self) -> list[Array]:
        return [*self.variables.values(), self.constant, self.weights]

    def with_arrays(self, arrays: Sequence[Any]) -> "Grounding":
        *values, constant, weights = arrays
        return Grounding(dict(zip(self.variables, values, strict=True)), constant, weights)


@st.composite
def groundings(draw: st.DrawFn) -> Grounding:
    """One to four variables of zero to five individuals."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))

    def individuals(count: int) -> Array:
        return np.stack([rng.integers(0, 3, count), rng.normal(size=count)], axis=1)

    return Grounding(
        {f"x{i}": individuals(size) for i, size in enumerate(sizes)},
        individuals(1)[0],
        rng.normal(size=(3, FEATURES)),
    )


@st.composite
def formulas(draw: st.DrawFn, grounding: Grounding) -> Node:
    """A closed formula with connectives, functions, and nested, guarded and diagonal quantifiers."""

    def term(scope: list[str]) -> Node:
        kind = draw(st.sampled_from(["variable", "variable", "constant", "f"])) if scope else "constant"
        if kind == "f":
            return ("f", term(scope), term(scope))
        return ("variable", draw(st.sampled_from(scope))) if kind == "variable" else ("constant",)

    def atom(scope: list[str]) -> Node:
        symbol = draw(st.sampled_from(sorted(ARITY)))
        return (symbol, *(term(scope) for _ in range(ARITY[symbol])))

    def quantified(depth: int, scope: list[str]) -> Node:
        fresh = [name for name in grounding.variables if name not in scope]
        bound = draw(st.lists(st.sampled_from(fresh), min_size=1, max_size=2, unique=True))
        equal_sizes = len({len(grounding.variables[name]) for name in bound}) == 1
        diagonal = len(bound) > 1 and equal_sizes and draw(st.booleans())
        inner = scope + bound
        # Each bound variable occurs: a quantifier over an absent one is an error, tested elsewhere.
        body: Node = ("P", ("variable", bound[0]))
        for name in bound[1:]:
            body = ("and", body, ("R", ("variable", name), ("constant",)))
        body = (draw(st.sampled_from(["and", "or", "implies"])), body, formula(depth - 1, inner))
        guard = ("at_most", term(inner), term(inner)) if draw(st.booleans()) else None
        quantifier = draw(st.sampled_from(["forall", "exists"]))
        return (quantifier, tuple(bound), diagonal, guard, draw(st.sampled_from([1, 2, 5])), body)

    def formula(depth: int, scope: list[str]) -> Node:
        kinds = ["atom"]
        if depth > 0:
            kinds += ["not", "and", "or", "implies", "iff"]
            kinds += ["quantified"] * 3 * (len(scope) < len(grounding.variables))
        kind = draw(st.sampled_from(kinds))
        if kind == "atom":
            return atom(scope)
        if kind == "quantified":
            return quantified(depth, scope)
        operands = 1 if kind == "not" else 2
        return (kind, *(formula(depth - 1, scope) for _ in range(operands)))

    return quantified(3, [])


def is_guarded(node: Node) -> bool:
    """Whether a quantifier in the formula has a guard."""
    here = node[0] in ("forall", "exists") and node[3] is not None
    return here or any(is_guarded(child) for child in node if isinstance(child, tuple))


CONNECTIVES: dict[str, Callable[..., float]] = {
    "not": reference.standard_negation,
    "and": reference.stable_product,
    "or": reference.stable_probabilistic_sum,
    "implies": reference.stable_reichenbach,
    "iff": reference.equivalence(reference.stable_product, reference.stable_reichenbach),
}


def by_loops(node: Node, grounding: Grounding) -> float:
    """The truth of a closed formula, one combination of individuals at a time."""
    a, b, c = grounding.weights

    def term(node: Node, index: dict[str, int]) -> Array:
        if node[0] == "variable":
            individual: Array = grounding.variables[node[1]][index[node[1]]]
            return individual
        if node[0] == "constant":
            return grounding.constant
        return np.tanh(c * term(node[1], index)) + term(node[2], index)

    def truth(node: Node, index: dict[str, int]) -> float:
        kind, *rest = node
        if kind in CONNECTIVES:
            return CONNECTIVES[kind](*(truth(child, index) for child in rest))
        if kind in ("P", "R"):
            first = float(a @ term(rest[0], index))
            second = float(b @ term(rest[1], index)) if kind == "R" else 0.0
            return 1.0 / (1.0 + math.exp(-first * math.cos(second)))
        bound, diagonal, guard, p, body = rest
        selected = []
        for choice in choices(bound, diagonal):
            inner = index | dict(zip(bound, choice, strict=True))
            if guard is None or term(guard[1], inner)[0] <= term(guard[2], inner)[0]:
                selected.append(truth(body, inner))
        if kind == "forall":
            return reference.power_mean_error(p, stable=True)(selected) if selected else 1.0
        return reference.power_mean(p, stable=True)(selected) if selected else 0.0

    def choices(bound: tuple[str, ...], diagonal: bool) -> Iterator[tuple[int, ...]]:
        sizes = [range(len(grounding.variables[name])) for name in bound]
        return zip(*sizes, strict=True) if diagonal else itertools.product(*sizes)

    return truth(node, {})


def by_ltn(node: Node, grounding: Grounding) -> tf.Tensor:
    """The same with the library, on tensors."""
    a, b, c = tf.unstack(tf.cast(grounding.weights, tf.float32))
    variables = {name: ltn.Variable(name, values) for name, values in grounding.variables.items()}
    constant = ltn.Constant(grounding.constant, trainable=False)
    Not, And, Or, Implies, Equiv, Forall, Exists, _ = ltn.semantics.stable_product.wrap()
    connectives = {"not": Not, "and": And, "or": Or, "implies": Implies, "iff": Equiv}
    f = ltn.Function.Lambda(lambda args: tf.tanh(c * args[0]) + args[1])
    P = ltn.Predicate.Lambda(lambda x: tf.sigmoid(tf.linalg.matvec(x, a)))
    R = ltn.Predicate.Lambda(
        lambda args: tf.sigmoid(tf.linalg.matvec(args[0], a) * tf.cos(tf.linalg.matvec(args[1], b)))
    )
    at_most = ltn.Predicate.Lambda(lambda args: args[0][:, 0] <= args[1][:, 0])

    def term(node: Node) -> ltn.Term:
        if node[0] == "variable":
            return variables[node[1]]
        return constant if node[0] == "constant" else f([term(node[1]), term(node[2])])

    def truth(node: Node) -> ltn.Formula:
        kind, *rest = node
        if kind in connectives:
            return connectives[kind](*(truth(child) for child in rest))
        if kind == "P":
            return P(term(rest[0]))
        if kind == "R":
            return R([term(rest[0]), term(rest[1])])
        names, diagonal, guard, p, body = rest
        bound = [variables[name] for name in names]
        if diagonal:
            ltn.diag(*bound)
        mask = None if guard is None else at_most([term(guard[1]), term(guard[2])])
        return (Forall if kind == "forall" else Exists)(bound, truth(body), mask=mask, p=p)

    return truth(node).tensor
