"""Predicates in parts, and the logarithms of their truth values: exact and learning where truth saturates."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.core.models import logits_of
from tests.core.networks import built_recorder, points
from tests.tolerance import assert_close

Array = np.ndarray[Any, Any]


def in_parts(P: ltn.Predicate, terms: Sequence[ltn.Term], **kwargs: Any) -> ltn.Formula:
    """log_truth by the parts of a call, with the logits of a final sigmoid where there are any."""
    seen, classes = P.network_terms(terms)
    batch = P.batch(seen)
    output = P.run(batch, len(seen) > 1)
    return P.log_truth(output, batch, classes, logits=logits_of(output), **kwargs)


class TestParts:
    def test_a_call_is_its_parts(self) -> None:
        x, y, c = points("x", 4, 2), points("y", 3, 1), ltn.Variable("c", [2, 0])
        for P, terms in (
            (ltn.Predicate.FromLogits(built_recorder(3, 2, 1), "softmax"), [x, y, c]),
            (ltn.Predicate.FromLogits(built_recorder(1, 2, 1), "sigmoid", with_class_indexing=False), [x, y]),
            (ltn.Predicate.MLP([2, 1]), [x, y]),
        ):
            seen, classes = P.network_terms(terms)
            assert seen == [x, y]
            assert classes is (c if c in terms else None)
            batch = P.batch(seen)
            formula = P.truth(P.run(batch, True), batch, classes)
            assert formula.free_vars == P(terms).free_vars
            np.testing.assert_array_equal(formula.tensor, P(terms).tensor)

    def test_a_function_has_them_too(self) -> None:
        x = points("x", 4, 2)
        f = ltn.Function.Lambda(lambda x: 2.0 * x)
        np.testing.assert_array_equal(f.run(f.batch([x]), False), 2.0 * x.tensor)


def log_softmax(logits: Array, c: int) -> float:
    return float(logits[c] - np.logaddexp.reduce(logits))


def log_one_minus_softmax(logits: Array, c: int) -> float:
    return float(np.logaddexp.reduce(np.delete(logits, c)) - np.logaddexp.reduce(logits))


LOGITS = np.array(
    [
        [0.3, -1.2, 0.7],
        [0.0, 0.0, 0.0],
        [30.0, -30.0, 29.0],
        [-200.0, 200.0, 0.0],
        [1e4, -1e4, -1e4],
        [5.0, 5.0, -1e4],
    ]
)


class TestFromLogits:
    def test_softmax_against_float64(self) -> None:
        P = ltn.Predicate.FromLogits(lambda args: args[0], "softmax")
        terms = [ltn.Variable("z", LOGITS), ltn.Variable("c", range(3))]
        for negated, reference in ((False, log_softmax), (True, log_one_minus_softmax)):
            expected = [[reference(row, c) for c in range(3)] for row in LOGITS]
            assert_close(in_parts(P, terms, negated=negated).tensor, expected)

    def test_many_classes(self) -> None:
        """One minus a small probability is not lost in the sum of all."""
        P = ltn.Predicate.FromLogits(lambda args: args[0], "softmax")
        terms = [ltn.Variable("z", np.zeros((1, 10**5))), ltn.Constant(0, trainable=False)]
        assert_close(in_parts(P, terms, negated=True).tensor, [np.log1p(-1e-5)], rtol=1e-5, atol=0.0)

    def test_sigmoid_against_float64(self) -> None:
        z = np.array([-1e4, -200.0, -3.0, 0.0, 0.5, 90.0, 1e4])
        variable = ltn.Variable("z", z[:, np.newaxis])
        single = ltn.Predicate.FromLogits(lambda args: args[0], "sigmoid", with_class_indexing=False)
        several = ltn.Predicate.FromLogits(lambda args: args[0], "sigmoid")
        zero = ltn.Constant(0, trainable=False)
        for negated, sign in ((False, -1.0), (True, 1.0)):
            expected = -np.logaddexp(0.0, sign * z)
            assert_close(in_parts(single, [variable], negated=negated).tensor, expected)
            assert_close(in_parts(several, [variable, zero], negated=negated).tensor, expected)

    @pytest.mark.parametrize("negated", [False, True])
    @pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
    def test_gradients_against_float64(self, activation: str, negated: bool) -> None:
        P = ltn.Predicate.FromLogits(lambda args: args[0], activation)
        c = ltn.Variable("c", range(3))

        def jacobian(z: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(z)
                logs = in_parts(P, [ltn.Variable("z", z), c], negated=negated).tensor
            return tape.batch_jacobian(logs, z)

        def expected(row: Array) -> Array:
            if activation == "sigmoid":
                with np.errstate(over="ignore"):
                    return np.diag(-1.0 / (1.0 + np.exp(-row)) if negated else 1.0 / (1.0 + np.exp(row)))
            p = np.exp(row - np.logaddexp.reduce(row))
            if not negated:
                return np.eye(3) - p
            rest = np.where(np.eye(3, dtype=bool), -np.inf, row)
            return np.exp(rest - np.logaddexp.reduce(rest, 1)[:, np.newaxis]) - p

        wanted = np.stack([expected(row) for row in LOGITS])
        for mode in (jacobian, tf.function(jacobian), tf.function(jacobian, jit_compile=True)):
            got = mode(tf.constant(LOGITS, tf.float32))
            # Exponentials of numbers near 30, of which float32 keeps six digits behind the point.
            assert_close(got, wanted, rtol=1e-5, atol=1e-5)

    def test_of_a_single_class_the_negation_is_false(self) -> None:
        P = ltn.Predicate.FromLogits(lambda args: args[0], "softmax")
        z = tf.constant([[3.0], [1e4]])
        with tf.GradientTape() as tape:
            tape.watch(z)
            logs = in_parts(P, [ltn.Variable("z", z), ltn.Constant(0, trainable=False)], negated=True).tensor
        assert_close(logs, [ltn.fuzzy_ops.log_zero] * 2)
        assert_close(tape.gradient(logs, z), np.zeros((2, 1)))

    @pytest.mark.parametrize(("individuals", "classes"), [(0, 0), (0, 2), (3, 0)])
    def test_of_nothing(self, individuals: int, classes: int) -> None:
        P = ltn.Predicate.FromLogits(lambda args: args[0], "softmax")
        x, c = points("x", individuals, 3), ltn.Variable("c", np.zeros(classes))
        for negated in (False, True):
            assert in_parts(P, [x, c], negated=negated).tensor.shape == (individuals, classes)


def saturated(network: Any) -> Any:
    """The network with its last bias at -200 and all else at 0."""
    network.set_weights([np.zeros_like(weight) for weight in network.get_weights()])
    network.layers[-1].bias.assign([-200.0])
    return network


def sequential() -> Any:
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation=keras.activations.sigmoid)])


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.last = keras.layers.Dense(1, activation="sigmoid")

    def call(self, inputs: Any) -> tf.Tensor:
        return self.last(inputs[0])


class TestLogitsOfASigmoid:
    @pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
    @pytest.mark.parametrize(
        "build", [lambda: ltn.Predicate.MLP([2]).model, sequential], ids=["MLP", "sequential"]
    )
    def test_a_saturated_network_learns(self, build: Callable[[], Any], mode: str) -> None:
        network = saturated(build())
        P = ltn.Predicate(network)
        x = points("x", 1, 2)

        def step(negated: bool) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as tape:
                value = in_parts(P, [x], negated=negated).tensor
            return value, tape.gradient(value, network.layers[-1].bias)

        compiled = step if mode == "eager" else tf.function(step, jit_compile=mode == "xla")
        for negated, value, slope in ((False, -200.0, 1.0), (True, 0.0, 0.0)):
            got, gradient = compiled(negated)
            assert_close(got, [value])
            assert_close(gradient, [slope])

    def test_any_keras_network_has_them(self) -> None:
        x = points("x", 5, 2).tensor
        subclassed, layer = Subclassed(), keras.layers.Dense(1, activation="sigmoid")
        for network, inputs in ((subclassed, [x]), (layer, x)):
            output = network(inputs)
            assert_close(tf.sigmoid(logits_of(output)), output)
        half = keras.layers.Dense(1, activation="sigmoid", dtype="mixed_float16")
        assert tf.as_dtype(half(x).dtype) == tf.float16
        formula = in_parts(ltn.Predicate(half), [points("x", 5, 2)])
        assert_close(tf.exp(formula.tensor), tf.cast(half(x)[:, 0], tf.float32), rtol=1e-3)

    def test_other_outputs_have_none(self) -> None:
        x = points("x", 5, 2).tensor
        dense = keras.layers.Dense
        softmax = keras.layers.Softmax
        networks = {
            "several values": dense(3, activation="sigmoid"),
            "softmax": dense(3, activation="softmax"),
            "linear": dense(1),
            "tanh": dense(1, activation="tanh"),
            "softmax over the rows": keras.Sequential([dense(1), softmax(axis=0)]),
            "computed on": keras.Sequential([dense(1, activation="sigmoid"), keras.layers.Rescaling(0.5)]),
            "plain": lambda x: tf.sigmoid(x[:, :1]),
        }
        for name, network in networks.items():
            assert logits_of(network(x)) is None, name
            tf.function(
                lambda x, f=network, name=name: pytest.fail(name) if logits_of(f(x)) is not None else x
            )(x)

    @pytest.mark.filterwarnings("ignore:You are using a softmax over axis")
    def test_a_softmax_of_one_class_is_no_sigmoid(self) -> None:
        x = points("x", 5, 2).tensor
        network = keras.Sequential([keras.layers.Dense(1), keras.layers.Softmax()])
        assert logits_of(network(x)) is None
        tf.function(lambda x: pytest.fail("softmax") if logits_of(network(x)) is not None else x)(x)


class TestOtherModels:
    def test_values_and_gradients_at_both_ends(self) -> None:
        t = tf.constant([0.0, 1e-30, 0.25, 1.0])
        P = ltn.Predicate.Lambda(lambda x: x)
        for negated, expected, slopes in (
            (False, [ltn.fuzzy_ops.log_zero, np.log(1e-30), np.log(0.25), 0.0], [1e4, 1e4, 4.0, 1.0]),
            (True, [0.0, 0.0, np.log(0.75), ltn.fuzzy_ops.log_zero], [-1.0, -1.0, -1.0 / 0.75, -1e4]),
        ):
            with tf.GradientTape() as tape:
                tape.watch(t)
                logs = in_parts(P, [ltn.Variable("x", t)], negated=negated).tensor
            assert_close(logs, expected)
            assert_close(tape.gradient(logs, t), slopes)

    def test_booleans(self) -> None:
        P = ltn.Predicate.Lambda(lambda x: x > 0.5)
        logs = in_parts(P, [ltn.Variable("x", [0.2, 0.8])])
        assert_close(logs.tensor, [ltn.fuzzy_ops.log_zero, 0.0])

    def test_mistakes_are_explained(self) -> None:
        x = points("x", 3, 2)
        with pytest.raises(ValueError, match=r"Predicate\('double'\) must lie in \[0, 1\]; got 2"):
            in_parts(ltn.Predicate.Lambda(lambda x: 2.0 + 0.0 * x[:, 0], name="double"), [x])
        with pytest.raises(ValueError, match=r"one truth value per row; it returned the shape \(3, 2\)"):
            in_parts(ltn.Predicate.Lambda(lambda x: x), [x])
        broken = ltn.Predicate.FromLogits(lambda args: args[0] * float("nan"), "softmax", name="broken")
        with pytest.raises(
            ValueError, match=r"The log-truths of Predicate\('broken'\) must be at most 0; got nan"
        ):
            in_parts(broken, [x, ltn.Variable("c", [0, 1])])
        with pytest.raises(ValueError, match="got the class only"):
            broken.network_terms([x])
