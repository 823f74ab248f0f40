"""Formulas as text against the same built with `core`, and against loops: values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.fuzzy_ops.base import as_written
from ltn.language import parse
from tests.theory.built_with_core import Core
from tests.theory.by_loops import StableProductLoops
from tests.theory.random_formulas import closed_formulas, fewer, free, open_formulas, terms
from tests.theory.worlds import Array, Declared, World, declared, random_world, worlds
from tests.tolerance import assert_close

pytestmark = pytest.mark.usefixtures("grappler")

# Some fifty operations of float32 below a formula; batches of other sizes round otherwise.
TOLERANCE = 1e-5
# Of the product the slopes grow towards truth 0 and 1, and so do their roundings; they are compared with
# the largest of them.
GRADIENT_TOLERANCE = 1e-4

# Goedel's own implication jumps where its sides are equal, so that one rounding makes all the difference.
SEMANTICS = {
    "stable_product": ltn.semantics.stable_product,
    "product": ltn.semantics.product,
    "godel": ltn.semantics.godel.replace(Implies=ltn.fuzzy_ops.Implies_KleeneDienes()),
    "lukasiewicz": ltn.semantics.lukasiewicz,
}
# Elsewhere a quantifier has no p, and at ties gradients are not unique.
SMOOTH = ("stable_product", "product")

WORLD = random_world(seed=0, size=4, size_of_y=3, truth_of_a=0.4)
# What random formulas seldom hit.
PATTERNS = [
    "forall u, v where u != v: R(u, v) -> R(v, u)",
    "forall u, v where less(u, v): R(u, v) & ~R(v, u) & P(u) & P(v)",
    "forall u, v, y where first(u) <= first(v) + first(y): R(u, v) -> R(v, y) -> R(u, y)",
    "forall u, v where less(u, v): exists y where first(v) <= first(y): R(u, v) -> R(u, y) & R(y, v)",
    "forall u: exists v where first(u) <= first(v): R(v, u)",
    "(forall u, v: R(u, v) -> R(v, u)) & forall u, v where u != v: R(v, u) -> P(v)",
    "forall diag(x, k): C(x, k)",
    "forall diag(x, k) where k = 1: C(x, 1) & ~C(x, k)",
    "forall diag(x, k) where k > 0: exists c where c != k: C(x, k) & C(x, c)",
    "forall diag(x, k), y where first(x) <= first(y): D(x, y, k) -> D(y, x, k)",
    "forall diag(x, k) where k > 0: exists y, c where first(y) < c + k: D(y, x, k) & D(x, y, c)",
    "(forall diag(x, l) where l = 0: P(x)) & forall diag(x, l) where l = 1: ~P(x)",
    "forall diag(x, l): exists c, d where c + d = l: C(x, c) & C(f(x), d)",
    "forall diag(x, l) where l > 0: exists y where first(y) < l: forall c where c / 2 < l: R(x, y) | C(y, c)",
    "forall x, y where P(x) > 0.3717: exists u where gap(x, u) <= gap(y, u): R(x, u) & R(u, x)",
    "forall x, c where C(x, c) > 0.3717: exists d where d != c: C(x, d) -> C(f(x), c)",
    "forall x where P(x) > 0.3717: P(x) & exists y where R(x, y) <= 0.3717: R(x, y) | R(y, x)",
    "forall x where 9 < first(x): P(x)",
    "exists x, y where 9 < first(x): R(x, y)",
    "forall u: exists v where 9 < first(u): R(u, v)",
    "exists x, y where gap(x, y) = 0 & ~less(x, y) | even(first(x) - first(y)): near(x, y)",
    "forall diag(u, v): R(u, v) <-> f(u) = v",
    "A -> forall x: B | x = a",
    "exactly 2 x: P(x)",
    "forall x: at least 2 y where gap(x, y) < 1: R(x, y)",
    "at most 3 diag(x, l), y where l > 0: R(x, y) & C(y, 1)",
    "forall u: ~exactly 1 v where u != v: R(u, v) & exists c: C(v, c)",
    "exists x: at most 1 c where c != 1: at least 2 y: D(x, y, c) xor P(y)",
    "exactly 11 c: C(a, c)",
]


def formulas(semantics: str) -> st.SearchStrategy[list[str]]:
    options = semantics in SMOOTH
    return st.lists(closed_formulas(options).map(str), min_size=1, max_size=3, unique=True)


Values = list[tf.Tensor]
Evaluate = Callable[[dict[str, tf.Tensor]], Values]


def with_gradients(evaluate: Evaluate, world: World, weights: list[Any], **compiled: Any) -> tuple[Any, Any]:
    """The values of axioms, their satisfaction first, and its gradients."""

    def run(data: dict[str, tf.Tensor]) -> tuple[Values, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            values = evaluate(data)
        gradients = tape.gradient(values[0], weights, unconnected_gradients="zero")
        return values, [tf.convert_to_tensor(gradient) for gradient in gradients]

    data = {name: tf.constant(values) for name, values in world.data.items()}
    if compiled.pop("unknown_sizes", False):
        specs = {name: tf.TensorSpec([None, *values.shape[1:]]) for name, values in data.items()}
        compiled["input_signature"] = [specs]
    if compiled:
        return tf.function(run, autograph=False, **compiled)(data)
    with as_written():
        return run(data)


class Comparison:
    """Axioms as text and built with core, in one world under one semantics."""

    def __init__(self, world: World, texts: list[str], semantics: str):
        self.world = world
        self.semantics = SEMANTICS[semantics]
        self.smooth = semantics in SMOOTH
        self.declared: Declared = declared(world, self.semantics)
        self.theory = self.declared.theory
        for text in texts:
            self.theory.axiom(text)
        self.trees = [parse(text) for text in texts]
        self.expected = with_gradients(self.by_core, world, self.declared.weights)

    def by_core(self, data: dict[str, tf.Tensor]) -> Values:
        core = Core(self.declared, self.semantics, data)
        axioms = [core.formula(tree) for tree in self.trees]
        return [core.wrappers.SatAgg(axioms).tensor, *(axiom.tensor for axiom in axioms)]

    def by_text(self, data: dict[str, tf.Tensor]) -> Values:
        return [value[0] for value in self.theory(data).values()]

    def by_dense_form(self, data: dict[str, tf.Tensor]) -> Values:
        evaluation = self.theory.evaluation(self.theory.space, data, dense=True)
        values = [formula.tensor for formula in evaluation.ground(self.trees)]
        return [self.semantics.SatAgg(tf.stack(values), axis=0), *values]

    def check(self, evaluate: Evaluate, **compiled: Any) -> None:
        values, gradients = with_gradients(evaluate, self.world, self.declared.weights, **compiled)
        expected_values, expected_gradients = self.expected
        assert_close(values, expected_values, TOLERANCE, TOLERANCE)
        if self.smooth:
            scale = max(1.0, *(float(np.max(np.abs(slope))) for slope in expected_gradients))
            for gradient, slope in zip(gradients, expected_gradients, strict=True):
                assert_close(gradient, slope, GRADIENT_TOLERANCE, GRADIENT_TOLERANCE * scale)


@pytest.mark.parametrize("semantics", SEMANTICS)
@fewer(4)
@given(data=st.data(), world=worlds())
def test_random_axioms_agree_with_core(semantics: str, data: st.DataObject, world: World) -> None:
    comparison = Comparison(world, data.draw(formulas(semantics)), semantics)
    comparison.check(comparison.by_text)
    comparison.check(comparison.by_dense_form)


@pytest.mark.parametrize("semantics", SEMANTICS)
@fewer(12)
@given(data=st.data(), world=worlds())
def test_compiled_for_batches_of_any_size_they_agree_with_core(
    semantics: str, data: st.DataObject, world: World
) -> None:
    comparison = Comparison(world, data.draw(formulas(semantics)), semantics)
    comparison.check(comparison.by_text, unknown_sizes=True)


@fewer(12)
@given(world=worlds(), texts=formulas("stable_product"))
def test_compiled_by_xla_they_agree_with_core(world: World, texts: list[str]) -> None:
    comparison = Comparison(world, texts, "stable_product")
    # A theory that XLA compiles is evaluated in the dense form.
    comparison.theory.use_xla(True)
    comparison.check(comparison.by_text, jit_compile=True)
    comparison.check(comparison.by_dense_form, unknown_sizes=True)


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns_agree_with_core(text: str) -> None:
    comparison = Comparison(WORLD, [text], "stable_product")
    comparison.check(comparison.by_text)
    comparison.check(comparison.by_dense_form)


def test_all_patterns_in_one_compiled_theory_agree_with_core() -> None:
    comparison = Comparison(WORLD, PATTERNS, "stable_product")
    comparison.check(comparison.by_text, unknown_sizes=True)


@fewer(2)
@given(world=worlds(), text=closed_formulas().map(str))
def test_random_axioms_agree_with_loops(world: World, text: str) -> None:
    theory = declared(world, "stable_product").theory
    theory.axiom(text, name="axiom")
    expected = StableProductLoops(world).truth(parse(text), {})
    assert_close(theory(world.data)["axiom"], [expected], TOLERANCE, TOLERANCE)


def reordered(expression: ltn.Formula | ltn.Term, order: list[str]) -> Array:
    """Its values with the axes of the variables in the given order, features last."""
    values = expression.tensor.numpy()
    axes = [expression.free_vars.index(name) for name in order]
    return np.transpose(values, [*axes, *range(len(axes), values.ndim)])


@pytest.mark.parametrize("semantics", SEMANTICS)
@fewer(4)
@given(data=st.data(), world=worlds())
def test_queries_agree_with_core_over_free_variables_in_order_of_appearance(
    semantics: str, data: st.DataObject, world: World
) -> None:
    text = data.draw(open_formulas(options=semantics in SMOOTH).map(str))
    tree = parse(text)
    problem = declared(world, SEMANTICS[semantics])
    theory = problem.theory
    built = Core(problem, SEMANTICS[semantics], world.data).formula(tree)
    answer = theory.query(text, world.data)
    [dense] = theory.evaluation(theory.space, world.data, dense=True).ground([tree])
    for formula in (answer, dense):
        assert formula.free_vars == free(tree)
        assert_close(formula.tensor, reordered(built, formula.free_vars), TOLERANCE, TOLERANCE)


@fewer(2)
@given(world=worlds(), text=open_formulas().map(str))
def test_queries_agree_with_loops(world: World, text: str) -> None:
    loops, tree = StableProductLoops(world), parse(text)
    expected = loops.over(free(tree), lambda rows: loops.truth(tree, rows))
    answer = declared(world, "stable_product").theory.query(text, world.data)
    assert_close(answer.tensor, expected, TOLERANCE, TOLERANCE)


@fewer(2)
@given(world=worlds(), text=terms().map(str))
def test_value_queries_agree_with_core(world: World, text: str) -> None:
    tree = parse(text)
    problem = declared(world, "stable_product")
    built = Core(problem, ltn.semantics.stable_product, world.data).term(tree)
    answer = problem.theory.query(text, world.data)
    assert answer.free_vars == free(tree)
    assert_close(answer.tensor, reordered(built, answer.free_vars), TOLERANCE, TOLERANCE)


def test_the_implication_of_goedel_in_text_is_that_of_core() -> None:
    """Without the ties that random formulas have."""
    theory = ltn.Theory("godel")
    for name, truth in (("A", 0.3), ("B", 0.6)):
        theory.proposition(name, truth)
    assert_close(theory.query("A -> B").tensor, 1.0)
    assert_close(theory.query("B -> A").tensor, 0.3)
    assert_close(theory.query("A <-> B").tensor, 0.3)


class TestGuardsWithoutVariables:
    @pytest.mark.parametrize("dense", [False, True])
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("forall c where 1 < 2: c <= 0", 1.0 - (2.0 / 3.0) ** 0.5),
            ("forall c where 1 > 2: c <= 0", 1.0),
            ("exists c where 1 > 2: c <= 0", 0.0),
            ("exists c where big(1): c <= 0", 0.0),
        ],
    )
    def test_they_select_all_or_nothing(self, text: str, expected: float, dense: bool) -> None:
        theory = ltn.Theory("product")
        classes = theory.domain("classes", values=range(3))
        theory.variable("c", classes)
        theory.predicate("big", classes, lambda c: c[:, 0] > 1.5)
        [value] = theory.evaluation(theory.space, {}, dense=dense).ground([parse(text)])
        assert value.free_vars == []
        assert_close(value.tensor, expected)
