"""Predicates and functions: what a model sees, what comes back, what a mistake says."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.core.networks import built_recorder, points
from tests.tolerance import assert_close


class TestWhatTheModelSees:
    @pytest.mark.parametrize("symbol", [ltn.Predicate, ltn.Function])
    def test_flat_batches(self, symbol: Any) -> None:
        seen: list[Any] = []

        def grounding(inputs: Any) -> tf.Tensor:
            seen.append([tuple(x.shape) for x in inputs] if isinstance(inputs, list) else tuple(inputs.shape))
            first = inputs[0] if isinstance(inputs, list) else inputs
            return tf.zeros((tf.shape(first)[0], 1))

        x, y = points("x", 3, 2), points("y", 4, 5)
        c = ltn.Constant([1.0, 2.0], trainable=False)
        P = symbol(grounding)
        assert P(x).free_vars == ["x"]
        assert P([x]).free_vars == ["x"]
        assert P([y, x]).free_vars == ["y", "x"]
        assert P([c, x]).free_vars == ["x"]
        assert P(c).free_vars == []
        assert P(ltn.diag(x, points("z", 3, 1))).free_vars == ["diag(x, z)"]
        assert seen == [(3, 2), [(3, 2)], [(12, 5), (12, 2)], [(3, 2), (3, 2)], (1, 2), [(3, 2), (3, 1)]]

    def test_extra_arguments_reach_the_model(self) -> None:
        dropout = keras.layers.Dropout(0.9)
        P = ltn.Predicate(dropout)
        x = ltn.Variable("x", np.full(50, 0.05))
        assert_close(P(x).tensor, np.full(50, 0.05))
        assert np.any(P(x, training=True).tensor == 0.0)

    def test_a_tuple_of_terms_is_a_list(self) -> None:
        x = points("x", 3, 1)
        for symbol in (ltn.Predicate.Lambda(lambda args: args[0]), ltn.Function.Lambda(lambda args: args[0])):
            np.testing.assert_array_equal(symbol((x,)).tensor, symbol([x]).tensor)

    def test_static_sizes_are_kept(self) -> None:
        """Of two expressions over x one may know its size; what is built on both knows it too."""
        P = ltn.Predicate.Lambda(lambda args: args[0] < args[1] + args[2])

        @tf.function(input_signature=[tf.TensorSpec((None, 1))])
        def truths(values: tf.Tensor) -> tf.Tensor:
            y, known = ltn.Variable("y", [1.0, 2.0]), ltn.Term([[1.0], [2.0], [3.0]], ["x"])
            formula = P([ltn.Term(values, ["x"]), known, y])
            assert formula.tensor.shape == (3, 2)
            return formula.tensor

        assert truths(tf.zeros((3, 1))).shape == (3, 2)

    def test_single_input_models_get_the_tensor_itself(self) -> None:
        inputs = keras.Input((2,))
        functional = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(inputs))
        sequential = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
        layer = keras.layers.Dense(1, activation="sigmoid")
        for model in (functional, sequential, layer):
            x = points("x", 3, 2)
            P = ltn.Predicate(model)
            np.testing.assert_array_equal(P(x).tensor, P([x]).tensor)

    def test_zero_individuals(self) -> None:
        P = ltn.Predicate.MLP([2, 3])
        assert P([points("x", 0, 2), points("y", 4, 3)]).tensor.shape == (0, 4)

    def test_sizes_unknown_when_tracing(self) -> None:
        P = ltn.Predicate.MLP([2, 2])

        @tf.function(input_signature=[tf.TensorSpec((None, 2)), tf.TensorSpec((None,))])
        def truths(features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
            x = ltn.Variable("x", features[labels == 0])
            y = ltn.Variable("y", features[labels == 1])
            return P([x, y]).tensor

        features = tf.random.uniform((5, 2))
        got = truths(features, tf.constant([0.0, 1.0, 1.0, 0.0, 1.0]))
        x, y = tf.gather(features, [0, 3]), tf.gather(features, [1, 2, 4])
        assert_close(got, P([ltn.Variable("x", x), ltn.Variable("y", y)]).tensor)
        assert truths(features, tf.ones(5)).shape == (0, 5)


class TestOutputs:
    def test_a_predicate_squeezes_and_casts(self) -> None:
        x = ltn.Variable("x", [0.1, 0.6])
        for fn in (lambda x: x > 0.5, lambda x: x[:, 0] > 0.5, lambda x: x[..., tf.newaxis] > 0.5):
            formula = ltn.Predicate.Lambda(fn)(x)
            assert formula.tensor.dtype == tf.float32
            np.testing.assert_array_equal(formula.tensor, [0.0, 1.0])

    def test_one_individual_keeps_its_axis(self) -> None:
        assert ltn.Predicate.MLP([2])(points("x", 1, 2)).tensor.shape == (1,)

    def test_half_precision_networks_give_float32_truths(self) -> None:
        layer = keras.layers.Dense(1, activation="sigmoid", dtype="mixed_float16")
        truths = ltn.Predicate(layer)(points("x", 3, 2))
        assert truths.tensor.dtype == tf.float32

    def test_a_function_keeps_its_features(self) -> None:
        f = ltn.Function.MLP([2, 3], output_shape=(4, 5))
        term = f([points("x", 3, 2), points("y", 2, 3)])
        assert (term.tensor.shape, term.feature_shape) == ((3, 2, 4, 5), (4, 5))

    def test_shapes_unknown_when_tracing(self) -> None:
        """Models of other frameworks come through tf.numpy_function, without any shape."""
        P = ltn.Predicate.Lambda(lambda x: tf.numpy_function(lambda a: a[:, :1] / 4, [x], tf.float32))
        f = ltn.Function.Lambda(lambda x: tf.numpy_function(np.square, [x], tf.float32), name="square")
        half = ltn.Predicate.Lambda(lambda x: tf.ensure_shape(x[:, : tf.size(x) // tf.size(x)], (None, None)))

        @tf.function(input_signature=[tf.TensorSpec((None, None))])
        def truths(values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            x = ltn.Variable("x", values)
            return P(x).tensor, half(x).tensor

        values = tf.constant([[1.0, 9.0], [0.5, 9.0]])
        np.testing.assert_array_equal(truths(values), [[0.25, 0.125], [1.0, 0.5]])
        with pytest.raises(ltn.LogicError, match=r"Function\('square'\).*tf\.ensure_shape"):
            tf.function(lambda v: f(ltn.Variable("x", v)).tensor)(values)


class TestMLP:
    def test_architecture(self) -> None:
        P = ltn.Predicate.MLP([2, (2, 2)], hidden_layer_sizes=(7,))
        assert [tuple(w.shape) for w in P.trainable_variables] == [(6, 7), (7,), (7, 1), (1,)]
        f = ltn.Function.MLP([2], output_shape=3)
        assert [tuple(w.shape) for w in f.trainable_variables] == [
            *[(2, 16), (16,), (16, 16), (16,)],
            *[(16, 3), (3,)],
        ]

    def test_values(self) -> None:
        P = ltn.Predicate.MLP([2, 1], hidden_layer_sizes=(4,))
        w1, b1, w2, b2 = (weight.numpy() for weight in P.trainable_variables)
        x, y = points("x", 3, 2), points("y", 2, 1)
        formula = P([x, y])
        for i in range(3):
            for j in range(2):
                hidden = np.concatenate([x.tensor[i], y.tensor[j]]) @ w1 + b1
                hidden = np.where(hidden > 0, hidden, np.expm1(hidden))
                assert_close(formula.tensor[i, j], 1 / (1 + np.exp(-(hidden @ w2 + b2)[0])))


class TestMistakes:
    def test_arguments_that_are_not_terms(self) -> None:
        P = ltn.Predicate.MLP([2, 2], name="friends")
        x = points("x", 3, 2)
        with pytest.raises(TypeError, match=r"Predicate\('friends'\).*argument 2 is a float: 0\.5"):
            P([x, 0.5])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="argument 1 is a Formula"):
            P([P([x, x]), x])  # type: ignore[list-item]
        with pytest.raises(TypeError, match=r"several terms as one list: P\(\[x, y\]\)"):
            P(x, x)
        with pytest.raises(ValueError, match="needs at least one term"):
            P([])

    def test_features_that_do_not_fit(self) -> None:
        friends = ltn.Predicate.MLP([2, 2], name="friends")
        x, y = points("x", 3, 2), points("y", 3, 4)
        with pytest.raises(
            ValueError, match=r"\('friends'\): argument 2 must have the feature shape \(2,\); got \(4,\)"
        ):
            friends([x, y])
        with pytest.raises(ValueError, match=r"takes 2 argument\(s\); got 1"):
            friends(x)

    def test_features_that_a_subclassed_model_does_not_fit(self) -> None:
        network = ltn.Function(built_recorder(3, 2), name="network")
        network([points("x", 3, 2)])
        with pytest.raises(ValueError, match=r"argument 1 must have the feature shape \(2,\); got \(4,\)"):
            network([points("y", 3, 4)])
        two = ltn.Predicate.Lambda(lambda x, y: x, name="two")
        with pytest.raises(TypeError, match=r"Predicate\('two'\) failed on one list of tensors.*missing 1"):
            two([points("x", 3, 2), points("y", 3, 2)])
        broken = ltn.Predicate.Lambda(lambda x: tf.matmul(x, tf.ones((3, 1))), name="broken")
        with pytest.raises(ValueError, match=r"Predicate\('broken'\) failed on .* feature shapes \(2,\)"):
            broken(points("x", 3, 2))

    def test_a_plain_callable_takes_any_features(self) -> None:
        """What it saw before is no rule: only the shapes that came are reported."""
        add = ltn.Function.Lambda(lambda args: args[0] + args[1], name="sum")
        add([points("x", 3, 2), points("y", 3, 2)])
        assert add([points("x", 3, 4), points("y", 3, 4)]).feature_shape == (4,)
        with pytest.raises(
            ValueError, match=r"\('sum'\) failed on one list of tensors .* shapes \(3,\), \(4,\)"
        ):
            add([points("x", 3, 3), points("y", 3, 4)])

    def test_outputs_of_the_wrong_shape(self) -> None:
        x = points("x", 3, 2)
        with pytest.raises(ValueError, match=r"one truth value per row; it returned the shape \(3, 2\)"):
            ltn.Predicate.Lambda(lambda x: x)(x)
        with pytest.raises(ValueError, match="one row per individual; it returned a scalar"):
            ltn.Predicate.Lambda(lambda x: 0.5)(x)
        with pytest.raises(ValueError, match="one row per individual; got 3, 1"):
            ltn.Predicate.Lambda(lambda x: tf.reduce_mean(x, keepdims=True))(x)
        with pytest.raises(TypeError, match=r"one entry per argument, as \[2\]; got 2"):
            ltn.Predicate.MLP(2)  # type: ignore[arg-type]
        assert ltn.Function.MLP([np.int64(2)], np.int64(3))(x).feature_shape == (3,)
        with pytest.raises(TypeError, match=r"one entry per layer, as \(16,\); got 8"):
            ltn.Predicate.MLP([2], hidden_layer_sizes=8)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a Keras model or a callable; got 'mlp'"):
            ltn.Predicate("mlp")  # type: ignore[arg-type]

    @pytest.mark.parametrize("value", [1.5, -0.25, float("nan")])
    def test_truths_outside_the_unit_interval(self, value: float) -> None:
        P = ltn.Predicate.Lambda(lambda x: x, name="big")
        values = tf.constant([0.5, value, 0.5])
        message = rf"Predicate\('big'\) must lie in \[0, 1\]; got {value} \(1 of 3 values"
        with pytest.raises(ltn.LogicError, match=message):
            P(ltn.Variable("x", values))

        def truths(values: tf.Tensor) -> tf.Tensor:
            return P(ltn.Variable("x", values)).tensor

        unchecked = tf.function(truths)
        np.testing.assert_array_equal(unchecked(values), values)
        operations = {op.type for op in unchecked.get_concrete_function(values).graph.get_operations()}
        assert "Assert" not in operations
        with (
            ltn.debug(),
            pytest.raises(tf.errors.InvalidArgumentError, match=r"Predicate.*big.*must lie in \[0, 1\]"),
        ):
            tf.function(truths)(values)
        np.testing.assert_array_equal(tf.function(truths)(values), values)

    def test_debug_compares_sizes_unknown_when_tracing(self) -> None:
        P = ltn.Predicate.Lambda(lambda args: args[0] < args[1])
        one, three = tf.zeros(1), tf.zeros(3)

        def truths(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
            return P(ltn.diag(ltn.Variable("x", left), ltn.Variable("y", right))).tensor

        signature = [tf.TensorSpec((None,)), tf.TensorSpec((None,))]
        with ltn.debug():
            checked = tf.function(truths, input_signature=signature)
            assert checked(three, three).shape == (3,)
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"same number of individuals"):
                checked(one, three)

    @pytest.mark.parametrize("mistake", ["type", "value"])
    def test_errors_keep_their_class_in_compiled_code(self, mistake: str) -> None:
        P = ltn.Predicate.MLP([2], name="P")

        @tf.function
        def compiled(values: tf.Tensor) -> tf.Tensor:
            return P(values if mistake == "type" else ltn.Variable("x", values)).tensor

        kind = ltn.LogicTypeError if mistake == "type" else ltn.LogicValueError
        with pytest.raises(kind, match=r"in user code[\s\S]*Predicate\('P'\)"):
            compiled(tf.zeros((2, 3)))

    def test_truths_may_leave_the_interval_by_rounding_only(self) -> None:
        P = ltn.Predicate.Lambda(lambda x: x)
        assert P(ltn.Variable("x", [1 + 1e-6, -1e-6])).tensor.shape == (2,)
        for value in (1.001, -0.001):
            with pytest.raises(ValueError, match="must lie in"):
                P(ltn.Variable("x", [value]))

    def test_debug_nests(self) -> None:
        P = ltn.Predicate.Lambda(lambda x: 2 * x)
        with ltn.debug():
            with ltn.debug(False):
                assert tf.function(lambda: P(ltn.Variable("x", [0.9])).tensor)().shape == (1,)
            with pytest.raises(tf.errors.InvalidArgumentError, match="must lie in"):
                tf.function(lambda: P(ltn.Variable("x", [0.9])).tensor)()

    def test_debug_is_also_a_switch(self) -> None:
        P = ltn.Predicate.Lambda(lambda x: 2 * x)
        ltn.debug()
        try:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"must lie in [\s\S]*1\.8"):
                tf.function(lambda: P(ltn.Variable("x", [0.9])).tensor)()
        finally:
            ltn.debug(False)
        assert tf.function(lambda: P(ltn.Variable("x", [0.9])).tensor)().shape == (1,)
