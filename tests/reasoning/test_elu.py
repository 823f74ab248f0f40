"""The penalty elu(alpha, beta x) is the paper's, with finite gradients, eagerly and compiled."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ltn.reasoning import elu
from tests.tolerance import assert_close

numbers = st.floats(-50.0, 50.0, width=32)
factors = st.floats(0.0, 100.0, width=32)


def by_definition(x: Any, alpha: float, beta: float) -> Any:
    """The two cases as the paper writes them, in float64."""
    x = np.asarray(x, np.float64)
    return np.where(x >= 0.0, beta * x, alpha * (np.exp(np.minimum(x, 0.0)) - 1.0))


@given(
    arrays(np.float32, array_shapes(min_dims=0, max_dims=3, max_side=4), elements=numbers), factors, factors
)
def test_it_is_the_definition(x: Any, alpha: float, beta: float) -> None:
    found = elu(x, alpha, beta)
    assert found.shape == np.shape(x)
    assert_close(found, by_definition(x, alpha, beta))


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0)])
def test_it_draws_the_curves_of_the_paper(alpha: float, beta: float) -> None:
    x = np.linspace(-3.0, 3.0, 100)
    drawn = (x >= 0) * beta * x + (x < 0) * alpha * (np.exp(x) - 1)
    assert_close(elu(x.astype(np.float32), alpha, beta), drawn)


def test_a_few_values_by_hand() -> None:
    assert_close(elu([-3.0, -1.0, 0.0, 1.0, 3.0], 1.0, 1.0), [-0.950213, -0.632121, 0.0, 1.0, 3.0])
    assert_close(elu([-3.0, -1.0, 0.0, 1.0, 3.0], 0.5, 2.0), [-0.475106, -0.316060, 0.0, 2.0, 6.0])


def test_the_defaults_are_those_of_the_papers_example() -> None:
    assert_close(elu([-1.0, 1.0]), by_definition([-1.0, 1.0], 0.05, 10.0))


def test_numbers_of_any_kind_are_taken() -> None:
    for one in (1, 1.0, np.float64(1.0), np.int64(1), tf.constant(1.0)):
        assert float(elu(one, 0.5, 2.0)) == 2.0


def slopes(x: Any, alpha: float, beta: float) -> Any:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(elu(x, alpha, beta))
    return tape.gradient(total, x).numpy()


@given(numbers, factors, factors)
def test_the_slope_is_beta_above_and_at_most_alpha_below(x: float, alpha: float, beta: float) -> None:
    # At 0 the two cases meet; the slope of either is right. TensorFlow takes subnormal numbers for 0.
    nought = np.finfo(np.float32).tiny
    either = [beta] if x >= nought else [alpha * np.exp(x)] if x <= -nought else [alpha, beta]
    found = float(slopes(np.float32(x), alpha, beta))
    assert min(abs(found - slope) for slope in either) <= 1e-5 * (1.0 + max(either))


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-30, -1e-30, 1e4, -1e4, 1e30, -1e30])
def test_slopes_are_finite_everywhere(x: float) -> None:
    found = float(slopes(np.float32(x), 0.05, 10.0))
    assert np.isfinite(found)
    assert 0.0 <= found <= 10.0


@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled_it_is_the_same(jit_compile: bool) -> None:
    x = tf.constant([-1e30, -200.0, -3.0, -0.0, 0.0, 3.0, 200.0, 1e30])

    @tf.function(autograph=False, jit_compile=jit_compile)
    def with_slopes(x: tf.Tensor, alpha: tf.Tensor, beta: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            values = elu(x, alpha, beta)
        return values, tape.gradient(values, x)

    values, gradient = with_slopes(x, tf.constant(0.5), tf.constant(2.0))
    assert_close(values, elu(x, 0.5, 2.0))
    assert_close(gradient, slopes(x, 0.5, 2.0))
    assert np.isfinite(gradient.numpy()).all()
