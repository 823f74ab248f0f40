"""Operators on log-truths: the product's, where truth values would underflow and stop learning."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ltn import fuzzy_ops as fo
from ltn.errors import LogicTypeError, LogicValueError
from tests.fuzzy_ops import cases
from tests.fuzzy_ops import reference as ref
from tests.fuzzy_ops.traces import traces_of
from tests.tolerance import assert_close

Array = np.ndarray[Any, Any]

# From true over every magnitude to far beyond what float32 can hold as a truth value.
LOGS = -np.concatenate([[0.0], np.logspace(-7, 4, 45), [math.log(2.0), 100.0]])
K, L = (grid.ravel() for grid in np.meshgrid(LOGS, LOGS))
TRUTHS = np.exp(np.random.default_rng(0).uniform(-8.0, 0.0, (200, 5)))


def log_or(k: Array, l: Array) -> Array:  # noqa: E741
    """log(exp(k) + exp(l) - exp(k + l)) in float64, one exponential factored out."""
    m, n = np.maximum(k, l), np.minimum(k, l)
    with np.errstate(divide="ignore"):
        return m + np.log1p(np.exp(n - m) * -np.expm1(m))


def gradients(function: Callable[..., tf.Tensor], *arrays: Any) -> list[tf.Tensor]:
    """The value and the gradient of its sum to each argument."""
    tensors = [tf.constant(array, tf.float32) for array in arrays]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = function(*tensors)
    return [value, *tape.gradient(value, tensors)]


def in_all_modes(function: Callable[..., tf.Tensor], *arrays: Any) -> list[list[tf.Tensor]]:
    eager = gradients(function, *arrays)
    for jit in (False, True):
        compiled = tf.function(lambda: gradients(function, *arrays), autograph=False, jit_compile=jit)
        for actual, expected in zip(compiled(), eager, strict=True):
            assert_close(actual, expected, rtol=2e-5)
    return eager


def test_every_public_operator_on_log_truths_is_tested_here() -> None:
    connectives = {type(operator) for operator in cases.LOG_CONNECTIVES.values()}
    assert connectives == cases.public_operators(fo.Connective, on_log_truths=True)
    aggregators = {type(case.operator) for case in cases.LOG_AGGREGATORS.values()}
    assert aggregators == cases.public_operators(fo.Aggregator, on_log_truths=True)


class TestConnectives:
    @pytest.mark.parametrize(
        ("operator", "of_truths"),
        [(fo.And_Log(), ref.product), (fo.Or_Log(), ref.probabilistic_sum)],
        ids=["and", "or"],
    )
    def test_they_are_the_products_connectives(self, operator: Any, of_truths: ref.Connective) -> None:
        x, y = TRUTHS[:, 0], TRUTHS[:, 1]
        assert_close(
            np.exp(operator(np.log(x), np.log(y))), ref.elementwise(of_truths, x, y), rtol=1e-12, atol=0
        )

    def test_laws(self) -> None:
        # In float64, as the laws of the others.
        k, l, m = np.log(TRUTHS[:, :3]).T  # noqa: E741
        for operator, neutral in ((fo.And_Log(), 0.0), (fo.Or_Log(), 10.0 * fo.log_zero)):
            assert_close(operator(k, l), operator(l, k), rtol=1e-12, atol=0)
            assert_close(operator(k, operator(l, m)), operator(operator(k, l), m), rtol=1e-12, atol=1e-12)
            assert_close(operator(k, neutral), k, rtol=1e-12, atol=0)
            assert np.all(operator(np.minimum(k, l), m) <= operator(np.maximum(k, l), m))
        assert np.all(fo.Or_Log()(k, 0.0) == 0.0)

    def test_or_for_every_magnitude(self) -> None:
        value, to_k, to_l = in_all_modes(fo.Or_Log(), K, L)
        assert_close(value, log_or(K, L))
        # d/dk = exp(k) (1 - exp(l)) / (exp(k) + exp(l) - exp(k + l)); true or true has none.
        expected = [np.exp(a - log_or(a, b)) * -np.expm1(b) for a, b in ((K, L), (L, K))]
        # Numbers near 1e4 have float32 neighbours 1e-3 apart, but their difference is exact.
        assert_close([to_k, to_l], expected, rtol=1e-5, atol=1e-5)

    def test_or_shares_its_gradient_between_equal_operands(self) -> None:
        for depth in (-1e-3, -1.0, -100.0, -1e4):
            _, to_k, to_l = gradients(fo.Or_Log(), depth, depth)
            # Near 0 it is a small difference of numbers near 1.
            expected = (1.0 - math.exp(depth)) / (2.0 - math.exp(depth))
            assert_close([to_k, to_l], [expected] * 2, atol=2e-7)

    def test_and_passes_the_gradient_at_every_depth(self) -> None:
        _, to_k, to_l = in_all_modes(fo.And_Log(), K, L)
        assert_close([to_k, to_l], np.ones((2, K.size)), rtol=0.0, atol=0.0)


class TestAggregators:
    def test_the_mean_is_the_geometric_mean_of_truths(self) -> None:
        expected = np.prod(TRUTHS, axis=1) ** (1.0 / TRUTHS.shape[1])
        assert_close(np.exp(fo.Aggreg_LogMean()(np.log(TRUTHS), axis=1)), expected, rtol=1e-12, atol=0)

    @pytest.mark.parametrize("p", [0.5, 1, 2, 6.5, 100])
    def test_the_mean_of_exponentials_is_the_generalised_mean_of_truths(self, p: float) -> None:
        expected = [ref.power_mean(p, stable=False)(row) for row in TRUTHS.tolist()]
        for exponent in (p, tf.constant(p, tf.float64)):
            value = fo.Aggreg_LogMeanExp()(np.log(TRUTHS), axis=1, p=exponent)
            assert_close(np.exp(value), expected, rtol=1e-12, atol=0)

    @pytest.mark.parametrize("depth", [0.0, -100.0, -1e4])
    def test_they_learn_at_every_depth(self, depth: float) -> None:
        rows = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, -1.0, -2.0, -1e4], [-5.0, -5.0, -5.0, 0.0]]) + depth
        value, slopes = in_all_modes(lambda xs: fo.Aggreg_LogMean()(xs, axis=1), rows)
        assert_close(value, rows.mean(1))
        assert_close(slopes, np.full((3, 4), 0.25))
        for p in (1.0, 3.0):
            value, slopes = in_all_modes(lambda xs, p=p: fo.Aggreg_LogMeanExp(p)(xs, axis=1), rows)
            powers = np.exp(p * (rows - rows.max(1, keepdims=True)))
            assert_close(value, rows.max(1) + np.log(powers.mean(1)) / p)
            assert_close(slopes, powers / powers.sum(1, keepdims=True))

    def test_of_nothing(self) -> None:
        for operator in (fo.Aggreg_LogMean(), fo.Aggreg_LogMeanExp(), fo.Aggreg_LogSumOdds()):
            values = [
                operator(np.zeros((2, 0)), axis=1, empty=empty).numpy().tolist() for empty in (0.0, 1.0)
            ]
            assert values == [[fo.log_zero] * 2, [0.0] * 2]
        assert float(fo.Aggreg_LogMean()([])) == 0.0
        assert float(fo.Aggreg_LogMeanExp()([])) == fo.log_zero
        assert float(fo.Aggreg_LogSumOdds()([])) == fo.log_zero

    @pytest.mark.parametrize(
        ("operator", "definition"),
        [(fo.Aggreg_LogMeanExp(), ref.log_mean_exp), (fo.Aggreg_LogSumOdds(), ref.log_sum_odds)],
        ids=["mean", "odds"],
    )
    def test_the_gradient_of_p(self, operator: Any, definition: Callable[[float], ref.Aggregator]) -> None:
        xs = np.array([-0.5, -3.0, -1e4], np.float32)
        for mask in (None, [True, True, False]):
            kept = xs[:2] if mask else xs
            _, to_p = gradients(lambda p, m=mask: operator(xs, mask=m, p=p), 2.0)
            expected = ref.gradient(lambda p, xs=kept: definition(p)(xs.astype(float).tolist()), 2.0)
            assert_close(to_p, expected[0], rtol=1e-5)

    @pytest.mark.parametrize("p", [0.0, -1.0, math.nan, math.inf], ids=str)
    def test_impossible_p(self, p: float) -> None:
        with pytest.raises(LogicValueError, match=rf"`p` must be a finite number above 0; got {p}\."):
            fo.Aggreg_LogMeanExp(p=p)
        with pytest.raises(LogicTypeError, match="`p` must be a number or a scalar tensor; got 'two'"):
            fo.Aggreg_LogMeanExp()([0.0], p="two")

    @pytest.mark.parametrize("p", [0.5, -1.0, math.nan, math.inf], ids=str)
    def test_a_sum_of_odds_takes_powers_from_1_up(self, p: float) -> None:
        with pytest.raises(LogicValueError, match=rf"`p` must be a finite number of at least 1; got {p}\."):
            fo.Aggreg_LogSumOdds(p=p)

    @pytest.mark.parametrize("operator", [fo.Aggreg_LogMeanExp(), fo.Aggreg_LogSumOdds()], ids=str)
    def test_new_values_of_p_do_not_retrace(self, operator: Any) -> None:
        xs, p = [-1.0, -2.0], tf.Variable(3.0)
        operator(xs, p=3)
        operator(xs, p=p)
        before = traces_of(operator)
        for number in (1.5, 4, 7.5):
            p.assign(number)
            assert float(operator(xs, p=number)) == float(operator(xs, p=p))
        assert traces_of(operator) == before


def slopes_of_odds(row: Array, p: float) -> Array:
    """dA/dl_i = S_i (1 + S_i) / (S (1 + S)), with S_i the odds of one value, none of which is true."""
    odds = np.exp(p * row) / -np.expm1(p * row)
    # S_i / S, where both may be too small for a float.
    log_odds = p * row - np.log(-np.expm1(p * row))
    shares = np.exp(log_odds - np.logaddexp.reduce(log_odds))
    return shares * (1.0 + odds) / (1.0 + odds.sum())


class TestSumOfOdds:
    def test_values_and_slopes_at_every_depth(self) -> None:
        rows = np.stack([np.roll(LOGS[1:], number)[:6] for number in range(LOGS.size - 1)])
        rows = np.concatenate([rows, np.repeat(LOGS[1:, np.newaxis], 6, 1)]).astype(np.float32).astype(float)
        for p in (1.0, 3.0):
            operator = fo.Aggreg_LogSumOdds(p)
            value, slopes = in_all_modes(lambda xs, f=operator: f(xs, axis=1), rows)
            assert_close(value, [ref.log_sum_odds(p)(row.tolist()) for row in rows], rtol=1e-5)
            # Numbers near 1e4 have float32 neighbours 1e-3 apart.
            assert_close(slopes, [slopes_of_odds(row, p) for row in rows], rtol=5e-4, atol=1e-5)

    @given(
        st.lists(st.floats(-30.0, -1e-6) | st.sampled_from([-1e4, -0.1, 0.0]), min_size=1, max_size=9),
        st.sampled_from([1.0, 2.0, 20.0]),
    )
    def test_laws(self, logs: list[float], p: float) -> None:
        operator, n = fo.Aggreg_LogSumOdds(p), len(logs)
        value, slopes = (each.numpy() for each in gradients(operator, logs))
        # Between the maximum and the probabilistic sum, which is above all truths in [0, 1].
        rounding = 1e-5 * (1.0 - max(logs))
        assert (
            max(logs) - rounding
            <= value
            <= min(functools.reduce(log_or, map(np.asarray, logs)) + rounding, 0.0)
        )
        # The gradient neither vanishes nor explodes.
        assert np.all(slopes >= 0.0)
        assert np.all(slopes <= 1.001)
        assert 0.999 / n <= slopes.sum() <= 1.001
        # Neither order nor grouping matters, and something true is not made less true.
        assert_close(operator(logs[::-1]), value, rtol=1e-5)
        assert_close(operator([operator(logs[: n // 2]), *logs[n // 2 :]]), value, rtol=1e-4, atol=1e-4)
        assert operator([*logs, -3.0]) >= value - rounding

    def test_one_true_alternative_is_enough_and_exclusive_ones_add_up(self) -> None:
        one = np.full((1, 1000), -20.0)
        one[0, 7] = -0.01
        assert_close(np.exp(fo.Aggreg_LogSumOdds()(one)), [math.exp(-0.01)], atol=1e-4)
        few = np.log([0.01, 0.02, 0.03])
        assert_close(np.exp(fo.Aggreg_LogSumOdds()(few)), 0.06, atol=3e-3)

    def test_true_ones_share_their_gradient(self) -> None:
        for truths in (1, 2, 5):
            value, slopes = in_all_modes(fo.Aggreg_LogSumOdds(), [0.0] * truths + [-1.0])
            assert np.exp(value) == 1.0
            assert_close(slopes, [1.0 / truths**2] * truths + [0.0], rtol=1e-4)

    def test_many_unsure_alternatives_learn(self) -> None:
        """A thousand of truth one half: the sum of truths is 500, and a disjunction is 1 - 2^-1000."""
        value, slopes = in_all_modes(fo.Aggreg_LogSumOdds(), np.full(1000, math.log(0.5)))
        assert_close(np.exp(value), 1000.0 / 1001.0)
        assert_close(slopes, np.full(1000, 2.0 / 1001.0 / 1000.0), rtol=1e-4, atol=0.0)

    def test_huge_p_is_the_maximum(self) -> None:
        for rows in ([-1.0, -2.0, -1e4], [-1e4, -2e4]):
            value, slopes = gradients(fo.Aggreg_LogSumOdds(p=1e30), rows)
            assert float(value) == rows[0]
            assert slopes.numpy().tolist() == [1.0] + [0.0] * (len(rows) - 1)


class TestLogTruth:
    def test_values(self) -> None:
        truths = np.concatenate([np.logspace(-30, 0, 31), [0.3, 0.999]]).astype(np.float32)
        assert_close(np.exp(fo.log_truth(truths)), truths, rtol=1e-5, atol=0)
        assert_close(fo.log_truth(truths), np.log(truths.astype(float)))
        assert fo.log_truth([0, 1]).numpy().tolist() == [fo.log_zero, 0.0]
        # By rounding a truth value leaves [0, 1].
        assert fo.log_truth([-1e-7, 1.0 + 1e-6, 1e-45]).numpy().tolist() == [fo.log_zero, 0.0, fo.log_zero]

    def test_the_gradient_is_bounded_and_does_not_vanish(self) -> None:
        truths = [-1e-7, 0.0, 1e-30, fo.eps, 0.5, 1.0, 1.0 + 1e-6]
        _, slopes = in_all_modes(fo.log_truth, truths)
        assert_close(slopes, 1.0 / np.maximum(truths, fo.eps))


class TestNegation:
    def test_values_against_float64(self) -> None:
        # Near 0 the value is log(-l), which float64 gives for all that float32 can hold.
        logs = -np.concatenate([np.logspace(-30, 4, 69), [math.log(2.0)]]).astype(np.float32)
        expected = np.log(-np.expm1(logs.astype(float)))
        assert_close(fo.log1mexp(logs), expected)
        assert fo.log1mexp([0.0, 1e-7]).numpy().tolist() == [fo.log_zero] * 2
        assert np.all(np.diff(fo.log1mexp(np.sort(logs))) <= 0.0)

    def test_the_gradient_is_bounded_and_does_not_vanish(self) -> None:
        logs = np.array([0.0, -1e-30, -1e-6, -1e-3, -0.1, -0.69, -0.7, -5.0, -100.0, -1e4])
        _, slopes = in_all_modes(fo.log1mexp, logs)
        assert_close(slopes, -np.exp(logs) / np.maximum(-np.expm1(logs), fo.eps), rtol=1e-5)
