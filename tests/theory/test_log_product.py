"""Theories under `log_product`: values by the definitions, gradients that do not vanish, truths in [0, 1]."""

import dataclasses
import re
from functools import partial
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.fuzzy_ops.base import as_written
from ltn.language import parse
from tests.theory.by_loops import LogProductLoops
from tests.theory.random_formulas import (
    closed_formulas,
    fewer,
    free,
    jumps,
    open_formulas,
    with_options_of,
)
from tests.theory.theories import some_by_odds
from tests.theory.worlds import NUMBER_OF_CLASSES, Declared, World, declared, random_world, worlds
from tests.tolerance import assert_close

# Some fifty operations of float32, and truths near 1 whose negation has lost five of its digits.
TOLERANCE = 1e-4
# Derivatives pass through as many operations again.
SLOPE_TOLERANCE = 1e-3
# A logit so far out that the truth, in float32, is exactly 0 or 1.
FAR = 200.0

axioms = closed_formulas().map(partial(with_options_of, ltn.semantics.log_product)).map(str)
queries = open_formulas().map(partial(with_options_of, ltn.semantics.log_product)).map(str)


def with_bias(world: World, name: str, bias: Any) -> World:
    """The world in which the last layer of a network has this bias."""
    *weights, old = world.parameters[name]
    new = np.broadcast_to(np.float32(bias), old.shape)
    parameters = {**world.parameters, name: [*weights, new]}
    return dataclasses.replace(
        world, name=f"with_bias({world.name}, {name!r}, {bias})", parameters=parameters
    )


@st.composite
def saturated_worlds(draw: st.DrawFn) -> World:
    """Worlds in which networks give truths that are 0 or 1 in float32."""
    world = draw(worlds())
    for name in ("P", "R"):
        world = with_bias(world, name, draw(st.sampled_from([-FAR, FAR])))
    return with_bias(world, "C", draw(st.permutations([-FAR, 0.0, FAR])))


def log_satisfaction(problem: Declared, data: Any) -> tf.Tensor:
    return problem.theory(data, as_truths=False).total


def gradients(problem: Declared, data: Any) -> dict[str, list[Any]]:
    """Of the log-satisfaction, by what they are with respect to."""
    weights = {name: [w.value for w in weights] for name, weights in problem.parameters.items()}
    with as_written():
        with tf.GradientTape() as tape:
            value = log_satisfaction(problem, data)
        found = tape.gradient(value, weights, unconnected_gradients="zero")
    return {name: [tf.convert_to_tensor(g).numpy() for g in slopes] for name, slopes in found.items()}


def with_axioms(world: World, *texts: str) -> Declared:
    problem = declared(world, "log_product")
    for text in texts:
        problem.theory.axiom(text)
    return problem


@fewer(2)
@given(world=worlds() | saturated_worlds(), text=axioms)
def test_random_axioms_have_the_value_of_the_definitions(world: World, text: str) -> None:
    theory = with_axioms(world, text).theory
    space, expected = theory.space, LogProductLoops(world).log_truth(parse(text), {})
    with as_written():
        [value] = theory(world.data, as_truths=False).axioms
        truths = theory(world.data)
        evaluation = theory.evaluation(space, world.data, dense=True)
        [dense] = evaluation.ground([space.prepare(parse(text))])
    # The logarithms agree, and therefore the truths do.
    assert_close(value, expected, TOLERANCE, TOLERANCE)
    assert_close(truths["axiom_1"], [np.exp(expected)], TOLERANCE, TOLERANCE)
    assert_close(dense.tensor, expected, TOLERANCE, TOLERANCE)


@fewer(2)
@given(world=worlds() | saturated_worlds(), text=queries)
def test_queries_have_the_truths_of_the_definitions(world: World, text: str) -> None:
    loops, tree = LogProductLoops(world), parse(text)
    expected = loops.over(free(tree), lambda rows: loops.log_truth(tree, rows))
    answer = declared(world, "log_product").theory.query(text, world.data)
    assert answer.free_vars == free(tree)
    assert_close(answer.tensor, np.exp(expected), TOLERANCE, TOLERANCE)
    assert np.all((answer.tensor >= 0.0) & (answer.tensor <= 1.0))


@fewer(3)
@given(world=worlds() | saturated_worlds(), texts=st.lists(axioms, min_size=2, max_size=3, unique=True))
def test_the_satisfaction_is_the_geometric_mean_of_the_axioms(world: World, texts: list[str]) -> None:
    problem = with_axioms(world, *texts)
    loops = LogProductLoops(world)
    expected = [loops.log_truth(parse(text), {}) for text in texts]
    assert_close(log_satisfaction(problem, world.data), np.mean(expected), TOLERANCE, TOLERANCE)
    reported = problem.theory.report(world.data)["satisfaction"]
    assert_close(reported, np.exp(expected), TOLERANCE, TOLERANCE)
    assert reported.between(0.0, 1.0).all()


@fewer(2)
@given(world=worlds() | saturated_worlds(), text=axioms, seed=st.integers(0, 99))
def test_gradients_are_finite_and_those_of_the_definitions(world: World, text: str, seed: int) -> None:
    found = gradients(with_axioms(world, text), world.data)
    assert all(np.all(np.isfinite(slope)) for slopes in found.values() for slope in slopes)
    # A central difference along a random direction, in which all parameters move at once.
    rng = np.random.default_rng(seed)
    direction = {name: [rng.normal(size=s.shape) for s in slopes] for name, slopes in found.items()}
    if jumps(parse(text)):
        direction["constants"] = [np.zeros_like(way) for way in direction["constants"]]
    h = 1e-6
    above, below = (
        LogProductLoops(world.moved(direction, step)).log_truth(parse(text), {}) for step in (h, -h)
    )
    slope = sum(np.sum(g * d) for name in found for g, d in zip(found[name], direction[name], strict=True))
    scale = max(1.0, *(float(np.max(np.abs(g))) for slopes in found.values() for g in slopes))
    assert_close(slope, (above - below) / (2.0 * h), SLOPE_TOLERANCE, SLOPE_TOLERANCE * scale)


WORLD = random_world(seed=7, size=4, size_of_y=3, truth_of_a=0.9)

# A formula, the network that violates it and its bias, and the slope of the log-truth at the bias.
VIOLATED = [
    ("forall x: P(x)", "P", -FAR, 1.0),
    ("forall x: ~P(x)", "P", FAR, -1.0),
    ("forall x: ~~(P(x) & A)", "P", -FAR, 1.0),
    ("exists x: P(x)", "P", -FAR, 1.0),
    ("exists[p=4] x where less(a, x) | ~less(a, x): P(x)", "P", -FAR, 1.0),
    ("~(exists x: P(x))", "P", FAR, -1.0),
    ("forall u, v where u != v: R(u, v)", "R", -FAR, 1.0),
    ("forall u: exists v where u != v: R(v, u)", "R", -FAR, 1.0),
    ("forall x: C(x, 0)", "C", (-FAR, 0.0, 0.0), (1.0, None, None)),
    ("forall x: ~C(x, 1)", "C", (0.0, FAR, 0.0), (None, -1.0, None)),
    ("forall x: exists c where c > 0: C(x, c)", "C", (FAR, 0.0, 0.0), (-1.0, None, None)),
]


@pytest.mark.parametrize(("text", "name", "bias", "expected"), VIOLATED)
def test_where_saturated_networks_violate_an_axiom_their_gradient_is_whole(
    text: str, name: str, bias: Any, expected: Any
) -> None:
    world = with_bias(WORLD, name, bias)
    slopes = gradients(with_axioms(world, text), world.data)[name][-1]
    for slope, wanted in zip(slopes, np.atleast_1d(expected), strict=True):
        if wanted is not None:
            assert_close(slope, wanted, rtol=1e-4)


@pytest.mark.parametrize(
    "text", ["forall diag(x, l): l >= 0 -> P(x)", "forall x: P(x) | exists y where 9 < first(y): R(x, y)"]
)
def test_a_false_alternative_does_not_take_the_gradient_of_a_saturated_network(text: str) -> None:
    """Crisp, or of nothing: it is further from the truth than any network."""
    world = with_bias(WORLD, "P", -FAR)
    [slope] = gradients(with_axioms(world, text), world.data)["P"][-1]
    assert_close(slope, 1.0, rtol=1e-4)


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_compiled_the_gradient_of_saturated_networks_is_whole_too(mode: str) -> None:
    world = WORLD
    for name, bias in (("P", -FAR), ("R", FAR), ("C", (-FAR, 0.0, 0.0))):
        world = with_bias(world, name, bias)
    problem = with_axioms(
        world,
        "forall x: P(x)",
        "forall u, v where u != v: ~R(u, v)",
        "forall x: C(x, 0)",
        "forall x, y where first(x) > 9: R(x, y)",
    )
    problem.theory.use_xla(mode == "xla")

    def step(data: Any) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            value = log_satisfaction(problem, data)
        return tape.gradient(value, [problem.parameters[name][-1].value for name in ("P", "R", "C")])

    compiled = step if mode == "eager" else tf.function(step, jit_compile=mode == "xla")
    of_p, of_r, of_c = compiled({name: tf.constant(values) for name, values in world.data.items()})
    # The mean of four axioms, of which one is violated by each network and one holds: it selects nothing.
    assert_close(of_p, [0.25])
    assert_close(of_r, [-0.25])
    assert_close(of_c[0], 0.25)


class TestTruthsOfExactlyZeroAndOne:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("forall c: one(c)", 1.0),
            ("forall c: ~zero(c)", 1.0),
            ("exists c: zero(c)", 0.0),
            ("zero(0) | ~one(1)", 0.0),
            ("zero(0) | one(1)", 1.0),
            ("zero(0) & one(1)", 0.0),
            ("one(0) -> zero(0)", 0.0),
            ("one(0) <-> zero(1)", 0.0),
            ("zero(0) <-> ~one(1)", 1.0),
            ("exists c: first(c)", 1.0),
            ("exists[p=2] c: first(c)", 1.0),
            ("forall c where c > 5: zero(c)", 1.0),
            ("exists c where c > 5: one(c)", 0.0),
            ("~exists c where c > 5: one(c)", 1.0),
            ("~forall c where c > 5: one(c)", 0.0),
            ("~forall c where c >= 0: one(c)", 0.0),
        ],
    )
    @pytest.mark.parametrize("dense", [False, True])
    def test_they_combine_as_in_classical_logic(self, text: str, expected: float, dense: bool) -> None:
        theory = ltn.Theory("log_product")
        classes = theory.domain("classes", values=range(NUMBER_OF_CLASSES))
        theory.variable("c", classes)
        theory.predicate("zero", classes, lambda c: 0.0 * c)
        theory.predicate("one", classes, lambda c: 0.0 * c + 1.0)
        theory.predicate("first", classes, lambda c: c < 0.5)
        space = theory.space
        [value] = theory.evaluation(space, {}, dense=dense).ground([space.prepare(parse(text))])
        assert_close(space.truth(value.tensor), expected)
        assert np.isfinite(value.tensor)

    @pytest.mark.parametrize("truth", [0.0, 1.0])
    def test_gradients_of_learned_truths_there_are_finite_and_point_the_right_way(self, truth: float) -> None:
        theory = ltn.Theory("log_product")
        A = theory.proposition("A", truth, trainable=True)
        theory.axiom("A", name="holds")
        theory.axiom("~A", name="fails")
        with tf.GradientTape(persistent=True) as tape:
            values = theory({}, as_truths=False).axioms
        [weight] = [weight.value for weight in A.trainable_variables]
        of_holds, of_fails = (float(tape.gradient(value, weight)) for value in values)
        assert 1.0 <= of_holds < np.inf
        assert -np.inf < of_fails <= -1.0

    def test_one_false_instance_does_not_hide_the_others(self) -> None:
        """A geometric mean of 0 and t is 0, but learning goes on at t."""
        theory = ltn.Theory("log_product")
        classes = theory.domain("classes", values=range(2))
        theory.variable("c", classes)
        theory.predicate("zero", classes, lambda c: c)
        A = theory.proposition("A", 0.5, trainable=True)
        theory.axiom("forall c: zero(c) & A")
        with tf.GradientTape() as tape:
            value = theory({}, as_truths=False).total
        assert_close(tape.gradient(value, A.trainable_variables[0].value), 1.0 / 0.5)


class TestOptions:
    def test_a_power_of_an_existential_quantifier_counts(self) -> None:
        world = WORLD
        theory = declared(world, "log_product").theory
        truths = theory.query("P(x)", world.data).tensor.numpy()
        for p in (1.0, 3.5):
            answer = theory.query(f"exists[p={p}] x: P(x)", world.data)
            assert_close(answer.tensor, some_by_odds(truths, p), rtol=1e-5)

    @pytest.mark.parametrize("text", ["~exists[p=2] x: P(x)", "(exists[p=2] x: P(x)) <-> A"])
    def test_what_is_accepted_as_an_axiom_can_be_evaluated(self, text: str) -> None:
        """Under a negation the quantifier is a universal one, which has no p."""
        theory = declared(WORLD, "log_product").theory
        with pytest.warns(UserWarning, match="`p_forall` is ignored"):
            theory.axiom(text)
        assert 0.0 <= theory(WORLD.data)["axiom_1"].numpy().item() <= 1.0


def test_an_error_shows_the_formula_as_it_was_written() -> None:
    """Not the negation normal form, in which it is evaluated."""
    formula = "~forall x: R(x, a) -> P(1e+300 * x)"
    theory = with_axioms(WORLD, formula).theory
    for evaluate in (theory, partial(theory.query, formula), theory.report, partial(theory.plan, formula)):
        with pytest.raises(ltn.LogicValueError, match=f"In `{re.escape(formula)}`: .*got nan"):
            evaluate(WORLD.data)


def trained(semantics: str) -> tuple[float, float]:
    """The bias and the satisfaction after training a network that begins wrong and saturated."""
    theory = ltn.Theory(semantics)
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    layer = keras.layers.Dense(1, "sigmoid", bias_initializer=keras.initializers.Constant(-FAR))
    theory.predicate("P", points, keras.Sequential([keras.Input((2,)), layer]))
    theory.axiom("forall x: P(x)")
    theory.compile(optimizer=keras.optimizers.SGD(20.0))
    theory.fit({"x": np.zeros((8, 2))}, epochs=15, verbose=0)
    [satisfaction] = theory.report({"x": np.zeros((8, 2))})["satisfaction"]
    return float(layer.bias.numpy()[0]), satisfaction


def test_training_escapes_a_saturated_start_from_which_the_stable_product_does_not() -> None:
    bias, satisfaction = trained("stable_product")
    assert bias == -FAR
    assert_close(satisfaction, 0.0, atol=1e-3)
    bias, satisfaction = trained("log_product")
    assert satisfaction > 0.99
    assert bias > 0.0


@fewer(8)
@given(world=saturated_worlds(), text=axioms)
def test_compiled_for_batches_of_any_size_values_are_those_of_the_definitions(
    world: World, text: str
) -> None:
    problem = with_axioms(world, text)
    specs = {name: tf.TensorSpec([None, *values.shape[1:]]) for name, values in world.data.items()}
    compiled = tf.function(lambda data: log_satisfaction(problem, data), input_signature=[specs])
    expected = LogProductLoops(world).log_truth(parse(text), {})
    value = compiled({name: tf.constant(values) for name, values in world.data.items()})
    assert_close(value, expected, TOLERANCE, TOLERANCE)


def test_a_chain_of_equivalences() -> None:
    """Its normal form, written out, would have 10^13 nodes."""
    theory = ltn.Theory("log_product")
    theory.proposition("A", 0.75, trainable=True)
    theory.proposition("T", 1.0)
    chain = "A" + " <-> T" * 40
    theory.axiom(chain, name="chain")
    # T <-> A is A, up to the rounding of forty operations.
    truth = pytest.approx(0.75, rel=40 * 1e-6)
    assert float(theory.query(chain)) == truth
    assert theory.report().satisfaction[0] == truth
    assert theory.explain("chain").truth[0] == truth
    with pytest.raises(ltn.LogicError, match="more than a million parts"):
        ltn.plot.tree(theory, "chain")
    theory.predicate("P", theory.domain("d", values=["a"]), lambda d: d + 2.0)
    with pytest.raises(ltn.LogicError, match=r"In `A <-> T .* <-> P\(a\)`: .*\[0, 1\]"):
        theory.query(chain + " <-> P(a)")
