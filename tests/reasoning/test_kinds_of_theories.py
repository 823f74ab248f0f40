"""Reasoning in theories of all kinds: over data, with code, with networks that are shared or normalise."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.reasoning import Verdict
from tests.reasoning.small import GRAPH_ATOL, QUICK, assert_same, people, propositions, satisfaction, state_of
from tests.theory.theories import classifier, labelled_points, smokers, truth
from tests.tolerance import assert_close

DATA = labelled_points(8)
SEARCH: dict[str, Any] = {"restarts": 2, "steps": 100, "seed": 0, "verbose": 0}


def assert_agrees(verdict: Verdict, theory: ltn.Theory, data: Any = None, **options: Any) -> ltn.Theory:
    """The numbers of a verdict are those of its grounding, applied to a copy."""
    copy = verdict.grounding.apply_to(theory)
    if not options:
        assert_close(satisfaction(copy, data), verdict.satisfaction, atol=GRAPH_ATOL)
    assert_close(truth(copy, verdict.formula, data, **options), verdict.value, atol=GRAPH_ATOL)
    return copy


class TestData:
    def test_variables_range_over_data(self) -> None:
        theory = classifier()
        before = state_of(theory)
        verdict = theory.entails("forall x: A(x)", 0.8, DATA, **SEARCH)
        assert verdict.case == "refuted"
        assert_agrees(verdict, theory, DATA)
        assert_same(state_of(theory), before)

    def test_data_come_by_name_too(self) -> None:
        theory = classifier()
        whole = theory.entails("exists x: A(x)", data=DATA, **QUICK)
        parts = theory.entails("exists x: A(x)", data={"x": DATA["x"]}, l=DATA["l"], **QUICK)
        assert whole.curve.equals(parts.curve)

    def test_bounds_take_data(self) -> None:
        theory = classifier()
        with pytest.warns(UserWarning, match="Nothing was found that satisfies the theory"):
            found = theory.bounds("exists x: A(x)", 0.99, x=DATA["x"], l=DATA["l"], **QUICK)
        assert found.low is None

    def test_the_formula_may_speak_of_data_that_no_axiom_mentions(self) -> None:
        theory = classifier()
        theory.variable("unseen", theory.signature.domains["points"])
        data = {**DATA, "unseen": np.array([[0.9, 0.9]], np.float32)}
        assert_agrees(theory.entails("forall unseen: A(unseen)", data=data, **QUICK), theory, data)


class TestEmbeddings:
    def test_what_does_not_follow_is_refuted(self) -> None:
        theory = people(["S(a)"])
        verdict = theory.entails("S(b)", **SEARCH)
        assert verdict.case == "refuted"
        copy = assert_agrees(verdict, theory)
        assert truth(copy, "S(a)") > 0.9 > 0.75 > truth(copy, "S(b)")

    def test_what_follows_is_not(self) -> None:
        theory = people(["forall x: S(x)"])
        assert theory.entails("S(b)", 0.9, **SEARCH).case == "assumed"

    def test_several_symbols_and_axioms(self) -> None:
        theory = smokers()
        verdict = theory.entails("S(b)", 0.6, **QUICK)
        assert list(verdict.grounding.constants) == ["a", "b", "c", "d"]
        assert {name.split("/")[0] for name in verdict.grounding.weights} == {"S", "F"}
        assert_agrees(verdict, theory)

    @pytest.mark.parametrize(("bounds", "inside"), [((0.25, 0.75), (0.25, 0.75)), ("simplex", (0.0, 1.0))])
    def test_learned_constants_stay_within_bounds(self, bounds: Any, inside: tuple[float, float]) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=3, bounds=bounds)
        theory.constants("a, b", points, trainable=True)
        theory.predicate("first", points, lambda x: x[:, 0])
        theory.axiom("first(a)")
        for sign in ("", "~"):
            found = theory.entails(f"{sign}first(b)", 0.55, slack=1, **SEARCH).grounding
            for features in found.constants.values():
                assert features.min() >= inside[0]
                assert features.max() <= inside[1]
                if bounds == "simplex":
                    assert_close(features.sum(), 1.0)

    def test_a_bound_decides_what_follows(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0.96, 1.0))
        theory.constants("a, b", numbers, trainable=True)
        theory.predicate("large", numbers, lambda x: x)
        theory.axiom("large(a)")
        # No axiom mentions b; its domain alone makes it large.
        verdict = theory.entails("large(b)", **SEARCH)
        assert verdict.case == "assumed"
        assert_close(verdict.value, 0.96, atol=1e-3)


class TestCode:
    def test_predicates_that_are_code(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.constant("c", numbers, trainable=True)
        theory.predicate("small", numbers, lambda x: tf.exp(-tf.abs(x)))
        theory.predicate("positive", numbers, lambda x: tf.sigmoid(20.0 * x))
        theory.axiom("small(c)")
        verdict = theory.entails("positive(c)", 0.9, **SEARCH)
        assert verdict.case == "refuted"
        assert verdict.counterexample is not None
        assert verdict.counterexample.constants["c"][0] < 0.05
        assert_agrees(verdict, theory)

    def test_a_predicate_that_leaves_the_unit_interval_yields_no_counterexample(self) -> None:
        # At the start all is well; the search goes where the predicate is not a truth.
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.constants("a, b", numbers, trainable=True)
        theory.predicate("large", numbers, lambda x: x)
        theory.axiom("large(a)")
        with pytest.raises(ltn.LogicValueError, match=r"'large'.*must lie in \[0, 1\]"):
            theory.entails("~large(b)", **SEARCH)

    def test_axioms_that_are_code(self) -> None:
        theory = propositions("AB", [])
        A, B = theory.propositions.values()
        Or = ltn.semantics.stable_product.wrap().Or
        theory.axiom(lambda: Or(A, B), name="either")
        before = state_of(theory)
        verdict = theory.entails("A", restarts=1, verbose=0)
        assert verdict.counterexample is not None
        assert verdict.counterexample.propositions == pytest.approx({"A": 0.0, "B": 1.0}, abs=0.05)
        with pytest.raises(ltn.LogicValueError, match=r"cannot be copied: the axioms either are Python code"):
            verdict.counterexample.apply_to(theory)
        assert_same(state_of(theory), before)

    def test_a_function_that_is_code(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0.0, 1.0))
        theory.constant("c", numbers, trainable=True)
        theory.function("half", numbers, numbers, lambda x: x / 2.0)
        theory.predicate("large", numbers, lambda x: x)
        theory.axiom("large(c)")
        verdict = theory.entails("large(half(c))", slack=1, **SEARCH)
        assert verdict.value <= 0.5
        assert_agrees(verdict, theory)


class TestWeightsOfAxioms:
    def test_learned_ones_are_part_of_the_grounding(self) -> None:
        theory = propositions("A", [], 0.5)
        theory.axiom("A", name="so", weight="learned")
        verdict = theory.entails("A", **SEARCH)
        assert sorted(verdict.grounding.propositions) == ["A", "weight_of_so"]
        assert verdict.case == "assumed"
        assert_agrees(verdict, theory)

    def test_given_ones_count(self) -> None:
        theory = propositions("A", [], 0.5)
        theory.axiom("A", name="so", weight=9.0)
        theory.axiom("~A", name="not_so")
        verdict = theory.entails("A", 0.6, **SEARCH)
        assert verdict.satisfaction >= 0.6
        assert_agrees(verdict, theory)


def two_predicates(first: Any, second: Any) -> ltn.Theory:
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.constants("a, b", points, trainable=True)
    theory.predicate("P", points, first)
    theory.predicate("Q", points, second)
    theory.axioms("P(a)\nQ(a) -> Q(b)")
    return theory


def head(encoder: keras.Layer | None = None) -> keras.Model:
    layers = [] if encoder is None else [encoder]
    return keras.Sequential([keras.Input((2,)), *layers, keras.layers.Dense(1, "sigmoid")])


class TestNetworks:
    def test_one_that_two_symbols_share(self) -> None:
        network = head()
        theory = two_predicates(network, network)
        verdict = theory.entails("Q(a)", **SEARCH)
        # P and Q are the same.
        assert verdict.case == "assumed"
        assert len(verdict.grounding.weights) == 2
        copy = assert_agrees(verdict, theory)
        assert truth(copy, "P(b)") == truth(copy, "Q(b)")

    def test_one_predicate_under_two_names(self) -> None:
        predicate = ltn.Predicate.MLP([2], (3,))
        theory = two_predicates(predicate, predicate)
        assert_agrees(theory.entails("Q(a)", **QUICK), theory)

    def test_a_part_that_two_networks_share(self) -> None:
        encoder = keras.layers.Dense(3, "tanh")
        theory = two_predicates(head(encoder), head(encoder))
        before = state_of(theory)
        verdict = theory.entails("Q(a)", **{**QUICK, "restarts": 2})
        assert_same(state_of(theory), before)
        copy = assert_agrees(verdict, theory)
        # It is one in the copy too.
        assert len(copy.weights) == len(theory.weights)

    def test_a_normalising_one_keeps_its_moving_averages(self) -> None:
        normalise = keras.layers.BatchNormalization()
        theory = two_predicates(head(normalise), head())
        normalise.moving_mean.assign([0.25, -0.5])
        before = state_of(theory)
        verdict = theory.entails("Q(b)", **{**QUICK, "restarts": 2})
        assert_same(state_of(theory), before)
        copy: Any = assert_agrees(verdict, theory)
        assert_close(copy.symbols["P"].network.layers[0].moving_mean, [0.25, -0.5])

    def test_random_layers_are_at_rest(self) -> None:
        theory = two_predicates(head(keras.layers.Dropout(0.5)), head())
        assert_agrees(theory.entails("Q(b)", **QUICK), theory)

    def test_classes_of_logits(self) -> None:
        theory = ltn.Theory()
        points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["u", "v"])
        theory.constant("a", points, trainable=True)
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
        theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network, "softmax"))
        theory.axiom("P(a, u)")
        verdict = theory.entails("~P(a, v)", **SEARCH)
        assert verdict.case == "assumed"
        assert_agrees(verdict, theory)


class TestOperators:
    def test_log_product_tells_truths(self) -> None:
        theory = propositions("AB", ["A | B"], 0.25, semantics="log_product")
        verdict = theory.entails("A", **{**SEARCH, "steps": 200})
        assert verdict.case == "refuted"
        assert verdict.curve.satisfaction.between(0.0, 1.0 + 1e-6).all()
        assert_agrees(verdict, theory)

    def test_log_product_learns_by_its_own_loss(self) -> None:
        theory = propositions("AB", ["A", "B"], 0.25, semantics="log_product")
        curve = theory.entails("A", method="brave", **QUICK).curve
        # The logarithm multiplies rounding by four.
        assert_close(curve.loss, -np.log(curve.satisfaction), atol=GRAPH_ATOL)

    @pytest.mark.parametrize("options", [{"semantics": "product"}, {"p": 6}, {"p_forall": 7}], ids=str)
    def test_others_are_taken_for_axioms_and_formula(self, options: dict[str, Any]) -> None:
        theory = people(["forall x: S(x)"], p_forall=1)
        own = theory.entails("forall x: S(x)", **QUICK)
        asked = theory.entails("forall x: S(x)", **QUICK, **options)
        assert_agrees(asked, theory, **options)
        assert asked.curve.value[0] != own.curve.value[0]
        # One axiom: what satisfies it is the formula, but for the 1e-4 of the stable aggregator.
        assert_close(asked.curve.satisfaction, asked.curve.value, atol=2e-4)
        assert_close(asked.curve.satisfaction[0], theory.report(**options).satisfaction[0], atol=2e-4)
        assert theory.hyperparameters["p_forall"] == 1

    def test_the_semantics_decides_what_follows(self) -> None:
        # In Goedel logic a conjunction is as true as its lesser part; the product falls below both.
        theory = propositions("AB", ["A", "B"], 0.5, semantics="product")
        product = theory.bounds("A & B", 0.9, **SEARCH)
        goedel = theory.bounds("A & B", 0.9, semantics="godel", **SEARCH)
        assert product.low is not None
        assert goedel.low is not None
        assert_close([product.low, goedel.low], [0.81, 0.9], atol=0.06)

    def test_an_optimizer_by_name(self) -> None:
        assert propositions("AB", ["A | B"], 0.5).entails("A", optimizer="sgd", **QUICK).steps >= 5
