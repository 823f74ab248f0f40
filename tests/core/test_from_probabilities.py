"""Predicates on classifiers that end in probabilities; and what is said where logits were meant."""

import warnings
from collections.abc import Callable
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

POINTS = np.linspace(-2.0, 2.0, 12, dtype="float32").reshape(6, 2)
ACTIVATIONS = {"softmax": tf.nn.softmax, "sigmoid": tf.sigmoid}


def network(activation: str | None, classes: int = 3, scale: float = 1.0) -> keras.Model:
    keras.utils.set_random_seed(0)
    start = keras.initializers.RandomNormal(stddev=scale)
    layer = keras.layers.Dense(classes, activation=activation, kernel_initializer=start)
    return keras.Sequential([keras.Input((2,)), layer])


def variables() -> tuple[ltn.Variable, ltn.Variable]:
    return ltn.Variable("x", POINTS), ltn.Variable("c", [2, 0])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_class_is_picked_from_one_run(activation: str) -> None:
    calls = []
    inner = network(activation)

    def counting(inputs: Any) -> tf.Tensor:
        calls.append(inputs)
        return inner(inputs[0])

    x, c = variables()
    found = ltn.Predicate.FromProbabilities(counting)([x, c])
    assert len(calls) == 1
    assert found.free_vars == ["x", "c"]
    assert_close(found.tensor, inner(POINTS).numpy()[:, [2, 0]])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_is_what_from_logits_gives_for_the_logits(activation: str) -> None:
    x, c = variables()
    ended, open_ended = network(activation), network(None)
    of_logits = ltn.Predicate.FromLogits(open_ended, activation)([x, c])
    assert_close(ltn.Predicate.FromProbabilities(ended)([x, c]).tensor, of_logits.tensor)


def test_without_a_class() -> None:
    P = ltn.Predicate.FromProbabilities(network("sigmoid", classes=1), with_class_indexing=False)
    assert_close(P(variables()[0]).tensor, network("sigmoid", classes=1)(POINTS)[:, 0])


@pytest.mark.parametrize("negated", [False, True])
def test_log_space_takes_the_probabilities_where_no_logits_are_known(negated: bool) -> None:
    table = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]], np.float32)
    theory = ltn.Theory("log_product")
    points, classes = theory.domain("points"), theory.domain("classes", values=range(3))
    theory.variable("x", points)
    theory.variable("c", classes)
    rows = ltn.Predicate.FromProbabilities(
        lambda inputs: tf.gather(table, tf.cast(inputs[0][:, 0], tf.int32))
    )
    theory.predicate("P", (points, classes), rows)
    found = theory.query(f"forall c: {'~' * negated}P(x, c)", x=[0.0, 1.0]).tensor
    # `forall` is the geometric mean.
    assert_close(found, np.prod(1.0 - table if negated else table, axis=1) ** (1 / 3))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_log_space_takes_the_logits_behind_it(activation: str, negated: bool, compiled: bool) -> None:
    """Logits of hundreds: their probabilities are 0 and 1 in float32, and have no logarithm to learn from."""
    theories = []
    for predicate in (
        ltn.Predicate.FromProbabilities(network(activation, scale=100.0)),
        ltn.Predicate.FromLogits(network(None, scale=100.0), activation),
    ):
        theory = ltn.Theory("log_product")
        points, classes = theory.domain("points", shape=2), theory.domain("classes", values=range(3))
        theory.variables("x", points)
        theory.variable("c", classes)
        theory.predicate("P", (points, classes), predicate)
        theory.axiom(f"forall x, c: {'~' * negated}P(x, c)", name="all")
        theories.append(theory)

    def losses(theory: ltn.Theory) -> tf.Tensor:
        return theory.space.loss(theory.call({"x": tf.constant(POINTS)}, as_truths=False).total)

    ours, expected = (tf.function(losses)(t) if compiled else losses(t) for t in theories)
    assert float(expected) > 10.0
    assert_close(ours, expected)


def test_values_that_are_no_probabilities_are_refused() -> None:
    x, c = variables()
    with pytest.raises(ltn.LogicValueError, match=r"must lie in \[0, 1\]"):
        ltn.Predicate.FromProbabilities(network(None))([x, c])


def test_the_message_speaks_of_probabilities() -> None:
    x, c = variables()
    with pytest.raises(ltn.LogicValueError, match="must return one probability per class"):
        ltn.Predicate.FromProbabilities(lambda inputs: tf.ones(len(POINTS)))([x, c])


def test_it_is_saved_in_a_theory(tmp_path: Any) -> None:
    theory = ltn.Theory()
    points, classes = theory.domain("points", shape=2), theory.domain("classes", values=range(3))
    theory.variable("x", points)
    theory.variable("c", classes)
    theory.predicate("P", (points, classes), ltn.Predicate.FromProbabilities(network("softmax")))
    theory.save(tmp_path / "theory.keras")
    loaded = ltn.load(tmp_path / "theory.keras")
    assert_close(loaded.query("P(x, c)", x=POINTS).tensor, theory.query("P(x, c)", x=POINTS).tensor)


class Own(keras.Model):
    """A model of a user's, whose layers Keras does not know beforehand."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = network("softmax")

    def call(self, inputs: Any) -> Any:
        """What the layers return."""
        return self.inner(inputs[0])


class TestFromLogitsOfProbabilities:
    @pytest.mark.parametrize(
        "make",
        [lambda: network("softmax"), lambda: network("sigmoid"), Own],
        ids=["softmax", "sigmoid", "own"],
    )
    def test_it_says_what_to_do(self, make: Callable[[], keras.Model]) -> None:
        x, c = variables()
        P = ltn.Predicate.FromLogits(make(), "softmax")
        with pytest.warns(UserWarning, match=r"ends in a sigmoid or a softmax.*Predicate\.FromProbabilities"):
            P([x, c])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            P([x, c])

    def test_it_says_so_when_a_theory_declares_it(self) -> None:
        theory = ltn.Theory("log_product")
        points, classes = theory.domain("points", shape=2), theory.domain("classes", values=range(3))
        with pytest.warns(UserWarning, match="FromProbabilities"):
            theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network("softmax"), "softmax"))

    @pytest.mark.parametrize("activation", [None, "relu"])
    def test_logits_give_no_warning(self, activation: str | None) -> None:
        x, c = variables()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ltn.Predicate.FromLogits(network(activation), "softmax")([x, c])
        assert not [warning for warning in caught if "FromProbabilities" in str(warning.message)]
