"""Predicates on classifiers: one run of the network per individual, classes along any axis."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.core.networks import built_recorder, points
from tests.tolerance import assert_close


class TestFromLogits:
    def test_the_network_runs_once_per_individual(self) -> None:
        network = built_recorder(10, 4)
        P = ltn.Predicate.FromLogits(network, "softmax")
        images, digits = points("x", 32, 4), ltn.Variable("d", range(10))
        formula = P([images, digits])
        assert network.seen == [([(32, 4)], False)]
        expected = tf.nn.softmax(network.dense(images.tensor))
        assert_close(formula.tensor, expected)

    @pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
    def test_classes_along_every_kind_of_axis(self, activation: str) -> None:
        network = built_recorder(3, 2, 1)
        P = ltn.Predicate.FromLogits(network, activation)
        x, y = points("x", 5, 2), points("y", 4, 1)
        labels = np.array([0, 2, 1, 1, 0])
        squash = {"softmax": tf.nn.softmax, "sigmoid": tf.sigmoid}[activation]
        truths = np.zeros((5, 4, 3))
        for i, j in np.ndindex(5, 4):
            logits = network.dense(tf.concat([x.tensor[i], y.tensor[j]], 0)[tf.newaxis])
            truths[i, j] = squash(logits)[0]
        network.seen.clear()
        free = P([x, y, ltn.Variable("c", [2, 0])])
        assert free.free_vars == ["x", "y", "c"]
        assert_close(free.tensor, truths[..., [2, 0]])
        assert_close(P([x, y, ltn.Constant(1, trainable=False)]).tensor, truths[..., 1])
        assert network.seen == [([(20, 2), (20, 1)], False)] * 2
        on_x = ltn.Term(labels[:, np.newaxis], ["x"])
        assert_close(P([x, y, on_x]).tensor, truths[range(5), :, labels])
        along_y = ltn.Term(np.stack([labels[:4], labels[1:]])[..., np.newaxis], ["c", "y"])
        formula = P([x, y, along_y])
        assert formula.free_vars == ["x", "y", "c"]
        for k, picked in enumerate((labels[:4], labels[1:])):
            assert_close(formula.tensor[..., k], truths[:, range(4), picked])

    @pytest.mark.parametrize("classes", [[0, 1, 2], [1, 0, 2], [0, 1], [0, 1, 1, 2], [0], [2, 1, 0]])
    @pytest.mark.parametrize("compiled", [False, True])
    def test_classes_in_any_order_and_number(self, classes: list[int], compiled: bool) -> None:
        logits = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
        P = ltn.Predicate.FromLogits(lambda args: args[0], "softmax")

        def truths() -> tuple[tf.Tensor, tf.Tensor]:
            x = tf.constant(logits)
            with tf.GradientTape() as tape:
                tape.watch(x)
                found = P([ltn.Variable("x", x), ltn.Variable("c", classes)]).tensor
                first = found[:, 0]
            return found, tape.gradient(first, x)

        found, slope = tf.function(truths)() if compiled else truths()
        expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert_close(found, expected[:, classes])
        first = expected[:, classes[:1]]
        assert_close(slope, first * (np.eye(3)[classes[0]] - expected))

    def test_of_all_classes_in_their_order_none_is_picked(self) -> None:
        P = ltn.Predicate.FromLogits(built_recorder(3, 2), "softmax")

        def picks(classes: list[int]) -> int:
            c = ltn.Variable("c", classes)
            compiled = tf.function(lambda: P([points("x", 5, 2), c]).tensor)
            kinds = [operation.type for operation in compiled.get_concrete_function().graph.get_operations()]
            return sum(kind.startswith("Gather") for kind in kinds)

        assert picks([0, 1, 2]) == 0
        assert picks([0, 2, 1]) == picks([0, 1]) == 1

    def test_a_diagonal_picks_the_label_of_each_individual(self) -> None:
        network = built_recorder(3, 2)
        P = ltn.Predicate.FromLogits(network, "softmax")
        x, label = ltn.diag(points("x", 4, 2), ltn.Variable("l", [0, 2, 1, 1]))
        expected = tf.nn.softmax(network.dense(x.tensor)).numpy()[range(4), [0, 2, 1, 1]]
        assert_close(P([x, label]).tensor, expected)

    def test_without_class_indexing(self) -> None:
        network = built_recorder(1, 2)
        P = ltn.Predicate.FromLogits(network, "sigmoid", with_class_indexing=False)
        x = points("x", 3, 2)
        for inputs in ([x], x):
            assert_close(P(inputs, training=True).tensor, tf.sigmoid(network.dense(x.tensor))[:, 0])
        assert network.seen == [([(3, 2)], True)] * 2

    def test_positional_arguments_reach_the_network(self) -> None:
        P = ltn.Predicate.FromLogits(lambda args, scale: scale * args[0], "sigmoid")
        x = points("x", 3, 2)
        truths = P([x, ltn.Variable("c", [0, 1])], 3.0)
        assert_close(truths.tensor, tf.sigmoid(3.0 * x.tensor))

    def test_arguments_of_the_model_reach_the_network(self) -> None:
        network = built_recorder(3, 2)
        model = ltn.Predicate.FromLogits(network, "softmax").model
        model([tf.zeros((3, 2)), tf.zeros((3, 1))], training=True)
        assert network.seen == [([(3, 2)], True)]

    def test_the_model_on_flat_batches(self) -> None:
        """`model` is a Keras model of its own, one probability per row."""
        network = built_recorder(3, 2)
        features, classes = tf.random.uniform((4, 2)), tf.constant([[0], [2], [1], [1]])
        softmax = tf.nn.softmax(network.dense(features)).numpy()
        model = ltn.Predicate.FromLogits(network, "softmax").model
        assert_close(model([features, classes]), softmax[range(4), [0, 2, 1, 1]])
        single = built_recorder(1, 2)
        model = ltn.Predicate.FromLogits(single, "sigmoid", with_class_indexing=False).model
        assert_close(model([features]), tf.sigmoid(single.dense(features))[:, 0])

    def test_sequential_models_and_weights(self) -> None:
        network = keras.Sequential([keras.layers.Dense(3)])
        P = ltn.Predicate.FromLogits(network, "softmax")
        assert P.logits_model is network
        with pytest.warns(UserWarning, match="has no weights yet"):
            assert P.trainable_variables == []
        P([points("x", 2, 2), ltn.Variable("c", range(3))])
        assert len(P.trainable_variables) == 2

    def test_a_subclass_of_sequential_gets_the_tensor(self) -> None:
        class Network(keras.Sequential):
            def __init__(self) -> None:
                super().__init__([keras.layers.Dense(3)])

        P = ltn.Predicate.FromLogits(Network(), "softmax")
        assert P([points("x", 2, 2), ltn.Variable("c", range(3))]).tensor.shape == (2, 3)

    @pytest.mark.parametrize("jit_compile", [None, False, True])
    @pytest.mark.parametrize(("individuals", "classes"), [(0, 0), (0, 2), (3, 0)])
    def test_gradients_of_nothing(self, individuals: int, classes: int, jit_compile: bool | None) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        P = ltn.Predicate.FromLogits(network, "softmax")
        Forall = ltn.semantics.stable_product.wrap().Forall

        def gradients() -> list[tf.Tensor]:
            x, c = points("x", individuals, 2), ltn.Variable("c", np.zeros(classes))
            with tf.GradientTape() as tape:
                value = Forall((x, c), P([x, c])).tensor
            return tape.gradient(value, network.trainable_variables)

        compiled = gradients if jit_compile is None else tf.function(gradients, jit_compile=jit_compile)
        for gradient in compiled():
            np.testing.assert_array_equal(gradient, np.zeros(gradient.shape))

    def test_gradients_match_a_plain_cross_entropy(self) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        P = ltn.Predicate.FromLogits(network, "softmax")
        x, label = points("x", 4, 2), ltn.Variable("l", [0, 2, 1, 1])
        with tf.GradientTape(persistent=True) as tape:
            logic = -tf.reduce_mean(tf.math.log(P(ltn.diag(x, label)).tensor))
            plain = tf.reduce_mean(
                keras.losses.sparse_categorical_crossentropy(
                    tf.constant([0, 2, 1, 1]), network(x.tensor), from_logits=True
                )
            )
        for got, expected in zip(
            tape.gradient(logic, network.trainable_variables),
            tape.gradient(plain, network.trainable_variables),
            strict=True,
        ):
            assert_close(got, expected)

    def test_mistakes_are_explained(self) -> None:
        network = built_recorder(3, 2)
        with pytest.raises(ValueError, match="'softmax' or 'sigmoid'; got 'relu'"):
            ltn.Predicate.FromLogits(network, "relu")
        with pytest.raises(ValueError, match="A softmax is over classes"):
            ltn.Predicate.FromLogits(network, "softmax", with_class_indexing=False)
        P = ltn.Predicate.FromLogits(network, "softmax", name="digit")
        x = points("x", 4, 2)
        with pytest.raises(ValueError, match=r"index of .*'digit'.* from 0 to 2; got 3 \(1 of 2 values"):
            P([x, ltn.Variable("c", [0, 3])])
        with pytest.raises(ValueError, match=r"a whole number from 0 to 2; got 0\.5"):
            P([x, ltn.Constant(0.5, trainable=False)])
        with pytest.raises(ValueError, match=r"feature shape \(3,\).*tf\.argmax"):
            P([x, points("c", 2, 3)])
        broken = ltn.Predicate.FromLogits(lambda args: args[0] * float("nan"), "softmax", name="broken")
        with pytest.raises(ValueError, match=r"\('broken'\) must lie in \[0, 1\]; got nan.*NaN comes from"):
            broken([x, ltn.Variable("c", [0, 1])])
        with pytest.raises(ValueError, match="got the class only"):
            P([x])
        with pytest.raises(AttributeError, match="was not made by FromLogits"):
            ltn.Predicate.MLP([2]).logits_model  # noqa: B018
