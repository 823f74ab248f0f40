"""Counts: the laws of each family, every magnitude, and what they cost."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn import fuzzy_ops as fo
from ltn.errors import LogicTypeError
from tests.fuzzy_ops import reference as ref
from tests.fuzzy_ops.cases import BOUNDS, COUNT_FAMILIES, bounds_of
from tests.fuzzy_ops.test_segments import value_and_gradients
from tests.tolerance import assert_close

RNG = np.random.default_rng(0)
XS = RNG.uniform(size=(50, 6))
XS[0], XS[1], XS[2] = 0.0, 1.0, [0.0, 1.0, 1.0, 0.3, 0.3, 0.0]

T_NORMS = {"prod": fo.And_Prod(stable=False), "godel": fo.And_Min(), "luk": fo.And_Luk()}
FORALL = {"prod": fo.Aggreg_Prod(), "godel": fo.Aggreg_Min(), "luk": fo.Aggreg_AndLuk()}
EXISTS = {"prod": fo.Aggreg_ProbSum(), "godel": fo.Aggreg_Max(), "luk": fo.Aggreg_OrLuk()}
FAMILIES = pytest.mark.parametrize("family", COUNT_FAMILIES)


def count(family: str, xs: Any = XS, **bounds: Any) -> tf.Tensor:
    return COUNT_FAMILIES[family][0](xs, axis=1, **bounds)


def test_every_public_count_has_its_laws_here() -> None:
    public = {kind for name, kind in vars(fo).items() if name.startswith("Count_")}
    assert public == {type(operator) for operator, _ in COUNT_FAMILIES.values()} | {fo.Count_Log}


class TestLaws:
    @FAMILIES
    def test_one_or_more_is_the_t_conorm_and_all_the_t_norm(self, family: str) -> None:
        assert_close(count(family, least=1), EXISTS[family](XS, axis=1))
        assert_close(count(family, least=6), FORALL[family](XS, axis=1))

    @FAMILIES
    def test_none_is_the_negated_t_conorm(self, family: str) -> None:
        nobody = 1.0 - EXISTS[family](XS, axis=1).numpy()
        assert_close(count(family, most=0), nobody)
        assert_close(count(family, least=0, most=0), nobody)

    @FAMILIES
    @pytest.mark.parametrize("k", range(8))
    def test_at_most_k_is_not_at_least_one_more(self, family: str, k: int) -> None:
        assert_close(count(family, most=k), 1.0 - count(family, least=k + 1).numpy())

    @FAMILIES
    @pytest.mark.parametrize("k", range(8))
    def test_the_negation_is_what_is_missing(self, family: str, k: int) -> None:
        for bounds in ({"least": k}, {"most": k}, {"least": k, "most": k}, {"least": 1, "most": k}):
            assert_close(count(family, negated=True, **bounds), 1.0 - count(family, **bounds).numpy())

    @FAMILIES
    @pytest.mark.parametrize("k", range(8))
    def test_at_least_k_are_true_where_at_most_the_others_are_false(self, family: str, k: int) -> None:
        if k <= 6:
            assert_close(count(family, least=k), count(family, 1.0 - XS, most=6 - k))
            assert_close(count(family, least=k, most=k), count(family, 1.0 - XS, least=6 - k, most=6 - k))

    @pytest.mark.parametrize("family", ["godel", "luk"])
    @pytest.mark.parametrize("k", range(8))
    def test_two_bounds_are_a_conjunction(self, family: str, k: int) -> None:
        both = T_NORMS[family](count(family, least=k), count(family, most=k + 1))
        assert_close(count(family, least=k, most=k + 1), both)

    def test_probabilities_of_all_numbers_add_up(self) -> None:
        exactly = [count("prod", least=k, most=k).numpy() for k in range(8)]
        assert_close(np.sum(exactly, axis=0), np.ones(len(XS)))
        assert_close(np.sum(exactly[2:5], axis=0), count("prod", least=2, most=4))

    @FAMILIES
    def test_of_crisp_values_it_is_the_number(self, family: str) -> None:
        rows = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
        for least, most in BOUNDS.values():
            expected = [least <= number <= most for number in rows.sum(1)]
            assert_close(count(family, rows, **bounds_of(least, most)), np.array(expected, float))

    def test_exactly_k_is_the_best_choice_of_k(self) -> None:
        for k in range(7):
            sets = [set(chosen) for chosen in itertools.combinations(range(6), k)]
            of_sets = [np.min([XS[:, i] if i in s else 1 - XS[:, i] for i in range(6)], 0) for s in sets]
            assert_close(count("godel", least=k, most=k), np.max(of_sets, 0))

    def test_the_sum_is_a_tent_over_the_number(self) -> None:
        for k in range(8):
            assert_close(count("luk", least=k, most=k), np.maximum(1 - np.abs(XS.sum(1) - k), 0))


class TestGradients:
    @FAMILIES
    @pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
    def test_are_finite_at_the_ends_and_at_ties(self, family: str, value: float) -> None:
        for least, most in BOUNDS.values():
            xs, given = tf.fill([1, 5], value), bounds_of(least, most)
            _, slopes = value_and_gradients(lambda xs, b=given: count(family, xs, **b), xs)
            assert np.all(np.isfinite(slopes))

    def test_the_product_learns_from_ends(self) -> None:
        _, slopes = value_and_gradients(lambda xs: count("prod", xs, least=1, most=1), tf.zeros([1, 3]))
        assert_close(slopes, np.ones((1, 3)))
        _, slopes = value_and_gradients(lambda xs: count("prod", xs, least=1), tf.constant([[1.0, 0.0]]))
        assert_close(slopes, [[1.0, 0.0]])

    def test_one_value_decides_in_the_godel_family(self) -> None:
        xs = tf.constant([[0.2, 0.9, 0.4, 0.4]])
        for bounds, slope in (({"least": 2}, [0, 0, 1, 0]), ({"most": 0}, [0, -1, 0, 0])):
            _, slopes = value_and_gradients(lambda xs, b=bounds: count("godel", xs, **b), xs)
            assert_close(slopes, [slope])

    def test_every_value_counts_in_the_lukasiewicz_family(self) -> None:
        xs = tf.constant([[0.2, 0.9, 0.4, 0.3]])
        _, slopes = value_and_gradients(lambda xs: count("luk", xs, least=2, most=2), xs)
        assert_close(slopes, np.ones((1, 4)))


class TestLogTruths:
    LOGS = np.log(np.exp(RNG.uniform(-8.0, 0.0, (30, 6))))

    @pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
    def test_it_is_the_logarithm_of_the_product_family(self, bounds: tuple[float, float]) -> None:
        given = bounds_of(*bounds)
        truths = fo.Count_Prod()(np.exp(self.LOGS), axis=1, **given)
        assert_close(np.exp(fo.Count_Log()(self.LOGS, axis=1, **given)), truths, rtol=1e-12, atol=0)
        odds = self.LOGS - np.log1p(-np.exp(self.LOGS))
        assert_close(
            np.exp(fo.Count_Log()(odds, axis=1, log_odds=True, **given)), truths, rtol=1e-12, atol=1e-15
        )
        missing = np.exp(fo.Count_Log()(self.LOGS, axis=1, negated=True, **given))
        assert_close(missing, 1.0 - truths.numpy(), rtol=1e-9, atol=1e-12)

    def test_what_is_impossible_is_the_logarithm_of_0(self) -> None:
        for xs in (self.LOGS, self.LOGS[:, :0]):
            assert_close(fo.Count_Log()(xs, axis=1, least=7), np.full(30, fo.log_zero))
        assert_close(fo.Count_Log()(self.LOGS, axis=1, least=0, negated=True), np.full(30, fo.log_zero))

    @pytest.mark.parametrize("depth", [1e-3, 1.0, 30.0, 1e3])
    def test_it_learns_at_every_depth(self, depth: float) -> None:
        """All far from true, or all far from false: one has to change, and each may."""
        odds = tf.fill([1, 4], tf.constant(-depth))
        one = lambda xs: fo.Count_Log()(xs, axis=1, least=1, log_odds=True)  # noqa: E731
        value, slopes = value_and_gradients(one, odds)
        exact = (
            math.log(-math.expm1(-4 * math.log1p(math.exp(-depth)))) if depth < 700 else math.log(4) - depth
        )
        assert_close(value, [exact])
        none = lambda xs: fo.Count_Log()(xs, axis=1, most=3, log_odds=True)  # noqa: E731
        assert_close(value_and_gradients(none, -odds)[0], value)
        # By the definition: d log(1 - prod q) / dz = p prod q / (1 - prod q), with p + q = 1.
        p = 1 / (1 + math.exp(min(depth, 700)))
        expected = p * (1 - p) ** 4 / max(-math.expm1(4 * math.log1p(-p)), 1e-300) if depth < 700 else 0.25
        assert_close(slopes, np.full((1, 4), expected), rtol=1e-4)
        assert_close(value_and_gradients(none, -odds)[1], -slopes)

    @pytest.mark.parametrize("value", [0.0, fo.log_zero])
    def test_gradients_at_true_and_false_are_finite(self, value: float) -> None:
        for least, most in BOUNDS.values():
            given = bounds_of(least, most)
            found = value_and_gradients(
                lambda xs, g=given: fo.Count_Log()(xs, axis=1, **g), tf.fill([1, 4], value)
            )
            assert np.all(np.isfinite(found[1]))
            crisp = least <= (4 if value == 0.0 else 0) <= most
            assert_close(np.exp(found[0]), [float(crisp)])


class TestManyIndividuals:
    @pytest.mark.parametrize("k", [0, 1, 3, 40])
    def test_a_thousand(self, k: int) -> None:
        xs = RNG.uniform(0.0, 2.0 * k / 1000, (2, 1000))
        for bounds in ((k, k), (k, math.inf), (0, k)):
            expected = [ref.count_of_all(*bounds)(row) for row in xs.tolist()]
            given = bounds_of(*bounds)
            narrow = tf.constant(xs, tf.float32)
            found, slopes = value_and_gradients(lambda xs, g=given: count("prod", xs, **g), narrow)
            assert_close(found, expected, rtol=1e-4)
            assert np.all(np.isfinite(slopes))
            logs = tf.math.log(tf.maximum(narrow, 1e-30))
            found, slopes = value_and_gradients(lambda xs, g=given: fo.Count_Log()(xs, axis=1, **g), logs)
            assert_close(np.exp(found), expected, rtol=1e-4)
            assert np.all(np.isfinite(slopes))

    def test_far_from_every_count(self) -> None:
        """As a truth it would be 0, without a gradient."""
        logs = tf.fill([1, 1000], -1e-3)
        found, slopes = value_and_gradients(lambda xs: fo.Count_Log()(xs, axis=1, most=1), logs)
        # 999 of 1000 would have to be false, each with log(1 - exp(-0.001)).
        expected = 999 * math.log(-math.expm1(-1e-3)) - 1e-3 + math.log(1000)
        assert_close(found, [expected], rtol=1e-5)
        assert np.all(np.isfinite(slopes))
        assert np.all(slopes < -1.0)

    def test_memory_is_linear_in_the_number_of_values_times_the_count(self) -> None:
        def largest(n: int, k: int) -> int:
            def slopes(xs: tf.Tensor) -> tf.Tensor:
                return tf.gradients(fo.Count_Prod()(xs, least=k, most=k), xs)[0]

            graph = tf.function(slopes, autograph=False).get_concrete_function(tf.TensorSpec([n])).graph
            outputs = [tensor for operation in graph.get_operations() for tensor in operation.outputs]
            assert not [operation for operation in graph.get_operations() if "While" in operation.type]
            return sum(tensor.shape.num_elements() or 0 for tensor in outputs)

        # Every tensor that there ever is, forward and backward, so that the factor is no secret.
        for n, k in ((1000, 1), (4000, 30), (1000, 400)):
            assert largest(n, k) < 200 * n * (k + 2)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("operator", [*(o for o, _ in COUNT_FAMILIES.values()), fo.Count_Log()], ids=str)
def test_sizes_may_be_unknown_when_tracing(operator: Any, jit: bool) -> None:
    xs = RNG.uniform(0.1, 0.9, (100, 3)).astype(np.float32)
    xs = np.log(xs) if isinstance(operator, fo.Count_Log) else xs

    def run(xs: tf.Tensor) -> list[tf.Tensor]:
        return value_and_gradients(lambda xs: operator(xs, axis=0, least=2, most=50), xs)

    compiled = tf.function(
        run, autograph=False, jit_compile=jit, input_signature=[tf.TensorSpec([None, None])]
    )
    # XLA compiles anew for each size.
    for rows in (xs, xs[:0]) if jit else (xs, xs[:64], xs[:2], xs[:1], xs[:0]):
        for found, expected in zip(compiled(rows), run(tf.constant(rows)), strict=True):
            # XLA sums in another order; logarithms near -50 have neighbours 4e-6 apart.
            assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operator", [*(o for o, _ in COUNT_FAMILIES.values()), fo.Count_Log()], ids=str)
def test_weights_select(operator: Any) -> None:
    xs = -np.abs(XS) if isinstance(operator, fo.Count_Log) else XS
    weights = np.array([0.0, 2.5, 1.0, 0.0, 1e-3, 7.0])
    found = operator(xs, axis=1, weights=weights, least=2, most=3)
    assert_close(found, operator(xs[:, weights > 0], axis=1, least=2, most=3))


def test_bounds_belong_to_the_call() -> None:
    assert fo.Count_Prod() == fo.Count_Prod()
    with pytest.raises(LogicTypeError, match="Count_Prod has no hyper-parameter `p`"):
        fo.Count_Prod()([0.5], least=1, p=2)
    with pytest.raises(LogicTypeError, match="Count_Luk has no hyper-parameter `log_odds`"):
        fo.Count_Luk()([0.5], least=1, log_odds=True)
    with pytest.raises(LogicTypeError, match="Count_Godel has no hyper-parameter `least`"):
        fo.Count_Godel().check_overrides(least=1)
    assert float(fo.Count_Prod()([0.5, 0.5], least=np.int64(2))) == 0.25


def test_counts_beyond_all_individuals_take_no_memory() -> None:
    for operator, _ in COUNT_FAMILIES.values():
        assert float(operator([0.5, 0.5], least=10**6)) == 0.0
        assert float(operator([0.5, 0.5], most=10**6)) == 1.0
