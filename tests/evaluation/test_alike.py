"""Alike steps are computed as one in compiled code: the same values and gradients, by fewer operations."""

import itertools
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.evaluation import plan
from ltn.knowledge.data import with_weights
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
DATA = {"x": POINTS, "y": POINTS[:3]}
WEIGHTED = with_weights({"x": POINTS, "y": POINTS}, np.array([2.0, 0.0, 1.0, 0.5, 1.0], np.float32))
RULES = [
    rule.format(one=one, other=other)
    for rule in (
        "forall x: P(x, {one}) -> ~P(x, {other})",
        "forall y: P(y, {one}) -> ~P(y, {other})",
        "exists x: P(x, {one}) & P(x, {other})",
        "forall x, y: P(x, {one}) | P(y, {other})",
        "forall x where norm(x) < 1: P(x, {one}) <-> P(x, {other})",
    )
    for one, other in list(itertools.combinations("abcd", 2))[:4]
]


def theory_of(semantics: Any = "stable_product") -> ltn.Theory:
    keras.utils.set_random_seed(0)
    theory = ltn.Theory(semantics)
    points, classes = theory.domain("points", shape=2), theory.domain("classes", values=list("abcd"))
    theory.variables("x, y", points)
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(4)])
    theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network, "sigmoid"))
    for rule in RULES:
        theory.axiom(rule)
    return theory


def slopes_of(theory: ltn.Theory, data: Any) -> list[tf.Tensor]:
    """The truth of each axiom, and the slopes of the satisfaction."""
    with tf.GradientTape() as tape:
        found = theory(data)
    weights = [weight.value for weight in theory.trainable_variables]
    return [*found.values(), *tape.gradient(found["satisfaction"], weights)]


@pytest.mark.parametrize("data", [DATA, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize("semantics", ["stable_product", "lukasiewicz", "godel", "log_product"])
def test_they_are_what_they_are_alone(semantics: str, data: Any) -> None:
    theory = theory_of(semantics)
    compiled = tf.function(lambda: slopes_of(theory, data), autograph=False)()
    for one, other in zip(compiled, slopes_of(theory, data), strict=True):
        assert_close(one, other, rtol=1e-5, atol=1e-6)  # sums in another order


def test_they_are_fewer_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    theory = theory_of()

    def operations() -> int:
        step = tf.function(lambda: slopes_of(theory, DATA), autograph=False)
        found = step.get_concrete_function().graph.get_operations()
        # Constants take no time.
        return sum(operation.type != "Const" for operation in found)

    together = operations()
    monkeypatch.setattr(plan, "LEAST_ALIKE", len(RULES) + 1)
    # Two forms of five are not stacked: their values lie on two axes, or are read at tuples.
    assert together < 0.78 * operations()


def test_operators_of_a_user_are_called_for_each() -> None:
    ranks: list[int] = []

    def both(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        ranks.append(a.shape.rank)
        return a * b

    theory = theory_of(ltn.Semantics(And=both))
    tf.function(lambda: theory({"x": POINTS, "y": POINTS}), autograph=False)()
    assert set(ranks) == {1}
