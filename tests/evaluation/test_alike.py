"""Alike steps of a plan, computed as one: the same values and gradients, from few operations."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = np.random.default_rng(0).normal(size=(7, 2)).astype(np.float32)


def theory_of(rules: int, semantics: str) -> tuple[ltn.Theory, keras.Model]:
    """Rules of one form about ten classes, and one of another form."""
    keras.utils.set_random_seed(0)
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(10)])
    theory = ltn.Theory(semantics)
    points = theory.domain("points", shape=2)
    classes = theory.domain("classes", values=[f"c{number}" for number in range(10)])
    theory.variable("x", points)
    theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network, "sigmoid"))
    pairs = [(one, other) for one in range(10) for other in range(10) if one != other]
    for one, other in pairs[:rules]:
        theory.axiom(f"forall x: P(x, c{one}) -> ~P(x, c{other})")
    theory.axiom("exists x: P(x, c0) & P(x, c1)")
    return theory, network


def loss_and_gradients(theory: ltn.Theory, network: keras.Model) -> Any:
    with tf.GradientTape() as tape:
        loss = theory({"x": tf.constant(POINTS)}, as_truths=False).total
    return loss, tape.gradient(loss, network.trainable_variables)


@pytest.mark.parametrize("semantics", ["stable_product", "lukasiewicz", "log_product"])
def test_values_and_gradients_are_those_of_each_step_alone(semantics: str) -> None:
    theory, network = theory_of(12, semantics)
    alone = loss_and_gradients(theory, network)
    together = tf.function(lambda: loss_and_gradients(theory, network), autograph=False)()
    for one, other in zip(tf.nest.flatten(alone), tf.nest.flatten(together), strict=True):
        assert_close(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)  # of sums in another order


def test_more_axioms_of_one_form_are_few_more_operations() -> None:
    counts = []
    for rules in (20, 40):
        theory, network = theory_of(rules, "stable_product")
        step = tf.function(loss_and_gradients, autograph=False).get_concrete_function(theory, network)
        counts.append(len(step.graph.get_operations()))
    # Each axiom for itself has about 160, with its gradient.
    assert (counts[1] - counts[0]) / 20 < 40
