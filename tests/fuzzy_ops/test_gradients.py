"""The gradient problems that the paper lists and solves: single-passing, vanishing, exploding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn import fuzzy_ops as fo
from tests.fuzzy_ops.cases import AGGREGATORS, ON_LOG_TRUTHS
from tests.tolerance import assert_close

Array = np.ndarray[Any, Any]

NEVER, EDGE, REGION = "never", "on an edge case", "on a part of the domain"


def gradients(function: Callable[..., tf.Tensor], *arrays: Any) -> Array:
    """The gradient of the sum of the results to each argument, stacked in front."""
    tensors = [tf.convert_to_tensor(array) for array in arrays]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = function(*tensors)
    return np.stack(tape.gradient(value, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO))


@dataclass(frozen=True)
class Problems:
    """A row of the paper's tables."""

    single_passing: str = NEVER
    vanishing: str = NEVER
    exploding: str = NEVER


CONNECTIVES = {
    fo.And_Min(): Problems(single_passing=REGION),
    fo.Or_Max(): Problems(single_passing=REGION),
    fo.Implies_KleeneDienes(): Problems(single_passing=REGION),
    fo.Implies_Godel(): Problems(single_passing=REGION, vanishing=REGION),
    fo.And_Prod(stable=False): Problems(vanishing=EDGE),
    fo.Or_ProbSum(stable=False): Problems(vanishing=EDGE),
    fo.Implies_Reichenbach(stable=False): Problems(vanishing=EDGE),
    # The printed row is labelled with Kleene-Dienes a second time; under the product it means Goguen's.
    fo.Implies_Goguen(stable=False): Problems(vanishing=REGION, exploding=EDGE),
    fo.And_Luk(): Problems(vanishing=REGION),
    fo.Or_Luk(): Problems(vanishing=REGION),
    fo.Implies_Luk(): Problems(vanishing=REGION),
}
AGGREGATES = {
    fo.Aggreg_Min(): Problems(single_passing=REGION),
    fo.Aggreg_Max(): Problems(single_passing=REGION),
    fo.Aggreg_Prod(): Problems(vanishing=REGION),
    fo.Aggreg_ProbSum(): Problems(vanishing=REGION),
    fo.Aggreg_AndLuk(): Problems(vanishing=REGION),
    fo.Aggreg_OrLuk(): Problems(vanishing=REGION),
    # The paper marks an explosion on an edge case for the formula as written: see the test of it below.
    # The mathematical gradient is bounded by 1 for p >= 1, and so is ours, even when not stable.
    fo.Aggreg_pMean(p=6, stable=False): Problems(),
    fo.Aggreg_pMeanError(p=6, stable=False): Problems(),
}


def extent(interior: Array, border: Array) -> str:
    """A region where a tenth of random interior points show the problem; an edge case on the border."""
    return REGION if interior.mean() > 0.1 else EDGE if border.any() else NEVER


def single_passing(slopes: Array) -> Array:
    return np.sum(slopes != 0.0, axis=0) == 1


def vanishing(slopes: Array) -> Array:
    return np.all(np.abs(slopes) < 1e-20, axis=0)


def exploding(slopes: Array) -> Array:
    return np.any(np.abs(slopes) > 100.0, axis=0)


def observed(interior: Array, border: Array) -> Problems:
    """The problems that the gradients, with the arguments in front, show at points of the two kinds."""
    assert not np.isnan(interior).any()
    assert not np.isnan(border).any()
    # On the border one argument alone may well pass, as in x y at y = 0: no problem, as y moves away.
    nowhere = np.zeros_like(border, bool)
    found = Problems(
        single_passing=extent(single_passing(interior), nowhere),
        vanishing=extent(vanishing(interior), vanishing(border)),
        exploding=extent(exploding(interior), exploding(border)),
    )
    # What has no region is not at a single interior point.
    for problem in (single_passing, vanishing, exploding):
        assert problem(interior).any() == (getattr(found, problem.__name__) == REGION)
    return found


@pytest.mark.parametrize(("operator", "problems"), CONNECTIVES.items(), ids=map(str, CONNECTIVES))
def test_connectives_have_the_gradient_problems_of_the_papers_table(
    operator: Any, problems: Problems
) -> None:
    interior = np.random.default_rng(0).uniform(0.01, 0.99, (2, 5000)).astype(np.float32)
    ends = np.array([0.0, 1e-6, 0.3, 0.6, 1.0], np.float32)
    border = np.stack(np.meshgrid(ends, ends)).reshape(2, -1)
    assert observed(gradients(operator, *interior), gradients(operator, *border)) == problems


@pytest.mark.parametrize(("operator", "problems"), AGGREGATES.items(), ids=map(str, AGGREGATES))
def test_aggregators_have_the_gradient_problems_of_the_papers_table(
    operator: Any, problems: Problems
) -> None:
    # A hundred values: enough that a product of uniform values underflows, as one over a data set does.
    # Between nearly false and nearly true columns, where sums of values or of errors stay below 1.
    ranges = [(0.001, 0.009), (0.01, 0.99), (0.991, 0.999)]
    rng = np.random.default_rng(0)
    # In float64, where underflow does not leave a product with just one gradient by accident.
    interior = np.concatenate([rng.uniform(*bounds, (100, 200)) for bounds in ranges], axis=1)
    # With exact 0 and 1, and ever more values that are tiny.
    border = np.linspace(0.0, 1.0, 100)[:, None] ** [1, 3, 9]

    def gradient(columns: Array) -> Array:
        return gradients(lambda xs: operator(xs, axis=0), columns)[0]

    assert observed(gradient(interior), gradient(border)) == problems


CORNERS = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]], np.float32)


STABLE = [fo.And_Prod(), fo.Or_ProbSum(), fo.Implies_Reichenbach()]
EQUIV = fo.Equiv(fo.And_Prod(), fo.Implies_Reichenbach())


@pytest.mark.parametrize("operator", [*STABLE, EQUIV], ids=str)
def test_stable_connectives_pass_gradients_at_every_corner(operator: Any) -> None:
    slopes = gradients(operator, *CORNERS)
    assert np.all(np.isfinite(slopes))
    # The projections keep each operand at least eps away from where its partner stops learning.
    assert np.all(np.abs(slopes) > 0.9 * fo.eps)


@pytest.mark.parametrize("operator", STABLE, ids=str)
def test_without_the_projections_a_corner_stops_learning(operator: Any) -> None:
    assert np.any(gradients(lambda x, y: operator(x, y, stable=False), *CORNERS) == 0.0)


def test_stable_goguen_bounds_its_gradient() -> None:
    # Where x <= y the value is constant, so the gradient vanishes by nature: projections cannot help.
    near = np.array([0.0, 1e-30, 1e-8, 1e-4, 1.0], np.float32)
    points = np.concatenate([CORNERS, np.stack(np.meshgrid(near, near)).reshape(2, -1)], axis=1)
    slopes = gradients(fo.Implies_Goguen(), *points)
    assert np.all(np.abs(slopes) <= 1.0 / fo.eps + 1.0)
    x, y = points
    assert np.all(slopes[1][x > y] > 0.0)
    unstable = gradients(fo.Implies_Goguen(stable=False), *points)
    assert np.abs(unstable).max() > 1e6


P_MEANS: dict[Any, Callable[..., tf.Tensor]] = {
    fo.Aggreg_pMean: lambda xs, p: tf.reduce_mean(xs**p) ** (1.0 / p),
    fo.Aggreg_pMeanError: lambda xs, p: 1.0 - tf.reduce_mean((1.0 - xs) ** p) ** (1.0 / p),
}


@pytest.mark.parametrize(("operator", "as_written"), P_MEANS.items(), ids=["pMean", "pMeanError"])
@pytest.mark.parametrize(("x", "p"), [(0.0, 2.0), (1e-20, 2.0), (1e-5, 10.0), (0.01, 100.0)])
def test_p_means_do_not_explode_where_the_formula_does(
    operator: Any, as_written: Callable[..., tf.Tensor], x: float, p: float
) -> None:
    # Small values for the existential p-mean, small errors for the universal one.
    xs = np.full(4, x, np.float32)
    xs = xs if operator is fo.Aggreg_pMean else np.float32(1.0) - xs
    assert not np.any(np.isfinite(gradients(lambda xs: as_written(xs, p), xs)))
    for stable in (True, False):
        slopes = gradients(operator(p, stable), xs)
        assert_close(slopes, np.full((1, 4), (1.0 - fo.eps if stable else 1.0) / 4.0), rtol=1e-5)


SIZES = [1, 2, 10, 1000, 10**6]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("operator", [fo.Aggreg_pMean(), fo.Aggreg_pMeanError()], ids=str)
def test_stable_p_means_share_the_gradient_among_equal_values(operator: Any, n: int) -> None:
    xs = tf.stack([tf.zeros(n), tf.ones(n)])
    # A tensor, so that the hundred powers share one trace; and a few numbers, with a trace each. Of a million
    # values every eleventh power: they differ from fewer values by their sums only, whatever the power.
    for p in [*map(tf.constant, range(1, 101, 11 if n > 1000 else 1)), 1, 2, 3, 10, 100]:
        slopes = gradients(lambda xs, p=p: operator(xs, axis=1, p=p), xs)[0]
        # Sums of a million float32, in blocks, err by a few steps more than a single operation.
        assert_close([slopes.min(1) * n, slopes.max(1) * n], np.full((2, 2), 1.0 - fo.eps), rtol=2e-5)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.filterwarnings("ignore:Aggreg_LogProd:UserWarning")  # as every time it is built
def test_the_stable_log_product_passes_gradients_at_0_and_1(n: int) -> None:
    at_zero, at_one = gradients(
        lambda xs: fo.Aggreg_LogProd()(xs, axis=1), tf.stack([tf.zeros(n), tf.ones(n)])
    )[0]
    assert_close(at_zero, np.full(n, (1.0 - fo.eps) / fo.eps))
    assert_close(at_one, np.full(n, 1.0 - fo.eps))


ON_NUMBERS = {name: case.operator for name, case in (AGGREGATORS | ON_LOG_TRUTHS).items()}
aggregators = pytest.mark.parametrize("operator", ON_NUMBERS.values(), ids=ON_NUMBERS.keys())
XS = np.random.default_rng(1).uniform(0.05, 0.95, (4, 6)).astype(np.float32)
MASK = np.array([[1, 1, 0, 1, 0, 1], [0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], [0] * 6], bool)


@aggregators
def test_no_gradient_outside_the_mask(operator: Any) -> None:
    outside = np.array([0.0, 0.5, 1.0, np.nan, np.inf, -np.inf], np.float32).reshape(6, 1, 1)
    slopes = gradients(lambda xs: operator(xs, axis=2, mask=MASK), np.where(MASK, XS, outside))[0]
    assert np.all(slopes[:, ~MASK] == 0.0)
    # Inside it is the gradient of the same values without those that the mask leaves out.
    for row in range(3):
        selected = MASK[row]
        alone = gradients(operator, XS[row, selected])
        # The powers of p = 6 multiply the rounding of sums in another order.
        assert_close(slopes[:, row, selected], np.repeat(alone, 6, axis=0), rtol=1e-5)


@pytest.mark.parametrize(("operator", "extreme"), [(fo.Aggreg_Min(), 1.0), (fo.Aggreg_Max(), 0.0)], ids=str)
def test_extremes_do_not_share_their_gradient_with_what_the_mask_leaves_out(
    operator: Any, extreme: float
) -> None:
    # Even where the one selected value is the neutral element that could stand in for the others.
    slopes = gradients(lambda xs: operator(xs, mask=[True, False, False]), [extreme] * 3)
    assert slopes.tolist() == [[1.0, 0.0, 0.0]]


@aggregators
def test_empty_selection_has_zero_gradient(operator: Any) -> None:
    xs = np.stack([XS, np.zeros_like(XS), np.ones_like(XS), np.full_like(XS, np.nan)])
    assert np.all(gradients(lambda xs: operator(xs, axis=2, mask=False), xs) == 0.0)
    # Of an axis without a value there is no gradient, and no error.
    assert gradients(lambda xs: operator(xs, axis=1), np.zeros((3, 0), np.float32)).shape == (1, 3, 0)


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("operator", P_MEANS.keys(), ids=["pMean", "pMeanError"])
def test_gradient_to_p_ignores_what_the_mask_leaves_out(operator: Any, stable: bool) -> None:
    # A tensor p can be learnt. The selected values are small beside those outside.
    # Sums of three and of four terms round differently, and p multiplies that.
    xs = np.array([0.01, 0.02, 0.015, 0.9], np.float32)
    xs = xs if operator is fo.Aggreg_pMean else np.float32(1.0) - xs
    mask = np.array([True, True, True, False])
    p = tf.constant(60.0)
    masked = gradients(lambda p: operator(p, stable)(xs, mask=mask), p)
    assert_close(masked, gradients(lambda p: operator(p, stable)(xs[:3]), p), rtol=1e-4, atol=0.0)
    assert np.all(masked != 0.0)


@pytest.mark.parametrize("p", [2, 3, 8])
@pytest.mark.parametrize("kind", [fo.Aggreg_pMean, fo.Aggreg_pMeanError])
class TestSmallIntegers:
    """Their powers are products, with a gradient of our own; near them it is TensorFlow's."""

    def test_gradients_of_values_and_weights_are_those_of_numbers_near_them(self, kind: Any, p: int) -> None:
        def gradients(p: float) -> Any:
            xs, weights = tf.constant([0.3, 0.8, 0.5]), tf.constant([0.1, 0.2, 0.0])
            with tf.GradientTape() as tape:
                tape.watch([xs, weights])
                value = kind(p)(xs, weights=weights)
            return tape.gradient(value, [xs, weights])

        for actual, expected in zip(gradients(p), gradients(p + 1e-5), strict=True):
            # The exponents differ by 1e-5.
            np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)

    def test_a_tape_can_be_asked_again_and_about_the_slope(self, kind: Any, p: int) -> None:
        def slopes(xs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as outer:
                outer.watch(xs)
                with tf.GradientTape(persistent=True) as tape:
                    tape.watch(xs)
                    value = kind(p)(xs)
                slope = tape.gradient(value, xs)
            return slope, tape.gradient(value, xs), outer.gradient(slope, xs)

        xs, step = tf.constant([0.3, 0.8, 0.5], tf.float64), 1e-6
        first, again, second = slopes(xs)
        np.testing.assert_allclose(first, again, rtol=1e-12)  # in float64, perhaps compiled otherwise
        units = tf.eye(3, dtype=xs.dtype)
        nudged = [slopes(xs + step * unit)[0] - slopes(xs - step * unit)[0] for unit in units]
        np.testing.assert_allclose(second, sum(nudged) / (2.0 * step), atol=1e-6)  # by differences
