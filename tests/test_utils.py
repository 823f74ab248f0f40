"""Ready-made predicates and functions."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

U = np.random.default_rng(0).normal(size=(3, 2, 2))
V = np.random.default_rng(1).normal(size=(4, 2, 2))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (ltn.utils.Pred_equal_smooth_exp(), lambda d: np.exp(-d)),
        (ltn.utils.Pred_equal_smooth_exp(alpha=0.05), lambda d: np.exp(-0.05 * d)),
        (ltn.utils.Pred_equal_smooth_inv(), lambda d: 1 / (1 + d)),
        (ltn.utils.Pred_equal_smooth_inv(alpha=3.0), lambda d: 1 / (1 + 3 * d)),
        (ltn.utils.Pred_equal_strict(), lambda d: float(d == 0)),
    ],
)
def test_equalities_over_features_of_any_shape(predicate: ltn.Predicate, expected: object) -> None:
    v = np.concatenate([V, U[:1]])
    formula = predicate([ltn.Variable("u", U), ltn.Variable("v", v)])
    for i, j in np.ndindex(len(U), len(v)):
        distance = np.sqrt(np.sum((U[i] - v[j]) ** 2))
        assert_close(formula.tensor[i, j], expected(distance))  # type: ignore[operator]


@pytest.mark.parametrize("factory", [ltn.utils.Pred_equal_smooth_exp, ltn.utils.Pred_equal_smooth_inv])
def test_the_gradient_at_distance_zero_is_finite(factory: object) -> None:
    """Also under XLA, whose root has an infinite gradient at 0."""
    Eq = factory(alpha=2.0)  # type: ignore[operator]
    u, v = ltn.Constant([1.0, 2.0], trainable=True), ltn.Constant([1.0, 2.0], trainable=False)

    def truth_and_gradient() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            truth = Eq([u, v]).tensor
        return truth, tape.gradient(truth, u.tensor)

    for evaluate in (truth_and_gradient, tf.function(truth_and_gradient, jit_compile=True)):
        truth, gradient = evaluate()
        assert float(truth) == 1.0
        np.testing.assert_array_equal(gradient, [0.0, 0.0])
    u.tensor.assign([1.0, 2.5])
    with tf.GradientTape() as tape:
        truth = Eq([u, v]).tensor
    assert tape.gradient(truth, u.tensor)[1] < 0


@pytest.mark.parametrize("symbol", [ltn.utils.Pred_equal_strict(), ltn.utils.Func_add()])
def test_features_must_be_of_one_shape(symbol: ltn.Predicate) -> None:
    x, c = ltn.Variable("x", np.ones((2, 3))), ltn.Constant(1.0, trainable=False)
    with pytest.raises(ValueError, match=r"feature shapes \(3,\), \(1,\): expected two terms of the same"):
        symbol([x, c])
    with pytest.raises(TypeError, match="expected a list of two terms"):
        symbol(x)


def test_addition() -> None:
    x, y = ltn.Variable("x", [1, 2]), ltn.Variable("y", [10, 20, 30])
    np.testing.assert_array_equal(ltn.utils.Func_add()([x, y]).tensor[..., 0], [[11, 21, 31], [12, 22, 32]])


@pytest.mark.parametrize("single_label", [True, False])
def test_the_deprecated_logits_model(single_label: bool) -> None:
    logits = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    with pytest.warns(DeprecationWarning, match=r"use ltn\.Predicate\.FromLogits"):
        model = ltn.utils.LogitsToPredicateModel(logits, single_label=single_label)
    assert isinstance(model, keras.Model)
    features = tf.random.uniform((4, 2))
    truths = (tf.nn.softmax if single_label else tf.sigmoid)(logits(features)).numpy()
    classes = np.array([[0], [2], [1], [1]])
    assert_close(model([features, classes]), truths[range(4), classes[:, 0]])
    P = ltn.Predicate(model)
    assert_close(P([ltn.Variable("x", features), ltn.Variable("c", range(3))]).tensor, truths)
    assert len(P.trainable_variables) == 2


@pytest.mark.parametrize("features", [1, 2, 8, 9, 30])
def test_distances_of_all_pairs(features: int) -> None:
    rng = np.random.default_rng(0)
    u, v = (rng.normal(size=size).astype(np.float32) for size in ((4, 1, features), (1, 3, features)))
    expected = np.sqrt(np.sum((u - v) ** 2, axis=-1))
    assert_close(ltn.utils.distance(tf.constant(u), tf.constant(v), [2]), expected)
    with tf.GradientTape() as tape:
        point = tf.Variable(u)
        distances = ltn.utils.distance(point, tf.constant(v), [2])
    assert_close(tape.gradient(distances, point), np.sum((u - v) / expected[..., None], 1, keepdims=True))


def test_distances_of_a_point_to_itself_have_no_gradient() -> None:
    for features in (2, 20):
        point = tf.Variable(tf.ones([1, features]))
        with tf.GradientTape() as tape:
            distance = ltn.utils.distance(point, tf.ones([1, features]), [1])
        assert float(distance[0]) == 0.0
        np.testing.assert_array_equal(tape.gradient(distance, point), np.zeros((1, features)))
