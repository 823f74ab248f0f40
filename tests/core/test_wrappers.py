"""Operators on formulas: masks, empty selections, any callable, and what a mistake says."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn import fuzzy_ops
from tests.tolerance import assert_close

Not, And, Or, Implies, Equiv, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()
RNG = np.random.default_rng(0)
PHI = RNG.uniform(size=(3, 4)).astype(np.float32)
MASK = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
X, Y, Z = (ltn.Variable(label, range(size)) for label, size in (("x", 3), ("y", 4), ("z", 2)))


def knows_mask(xs: tf.Tensor, axis: Any, mask: tf.Tensor | None = None) -> tf.Tensor:
    weights = tf.ones_like(xs) if mask is None else tf.cast(mask, xs.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(xs * weights, axis), tf.reduce_sum(weights, axis))


def divides_by_nothing(xs: tf.Tensor, axis: Any, mask: tf.Tensor | None = None) -> tf.Tensor:
    weights = tf.ones_like(xs) if mask is None else tf.cast(mask, xs.dtype)
    return tf.reduce_sum(xs * weights, axis) / tf.reduce_sum(weights, axis)


def knows_no_mask(xs: tf.Tensor, axis: Any) -> tf.Tensor:
    return tf.reduce_mean(xs, axis)


MEANS = [fuzzy_ops.Aggreg_Mean(), knows_mask, divides_by_nothing, knows_no_mask, tf.reduce_mean]


@pytest.mark.parametrize("operator", MEANS)
@pytest.mark.parametrize(("semantics", "empty"), [("forall", 1.0), ("exists", 0.0)])
class TestAnyAggregator:
    def test_one_variable_stays_free(
        self, operator: Callable[..., Any], semantics: str, empty: float
    ) -> None:
        Q = ltn.Wrapper_Quantifier(operator, semantics)
        result = Q(Y, ltn.Formula(PHI, ["x", "y"]), mask=ltn.Formula(MASK, ["x", "y"]))
        assert result.free_vars == ["x"]
        assert_close(result.tensor, [PHI[0, [0, 2]].mean(), empty, PHI[2].mean()])

    def test_all_variables_bound(self, operator: Callable[..., Any], semantics: str, empty: float) -> None:
        Q = ltn.Wrapper_Quantifier(operator, semantics)
        phi = ltn.Formula(PHI, ["x", "y"])
        assert_close(Q((X, Y), phi).tensor, PHI.mean())
        assert_close(Q((X, Y), phi, mask=ltn.Formula(MASK, ["x", "y"])).tensor, PHI[MASK > 0].mean())
        assert_close(Q([Y, X], phi, mask=ltn.Formula(0 * MASK, ["x", "y"])).tensor, empty)

    def test_a_mask_over_other_variables(
        self, operator: Callable[..., Any], semantics: str, empty: float
    ) -> None:
        """The mask brings a variable that the formula lacks, and that stays free."""
        Q = ltn.Wrapper_Quantifier(operator, semantics)
        mask = np.array([[1, 0, 1], [0, 0, 0]], np.float32)
        result = Q(X, ltn.Formula(PHI, ["x", "y"]), mask=ltn.Formula(mask, ["z", "x"]))
        assert result.free_vars == ["z", "y"]
        assert_close(result.tensor, [PHI[[0, 2]].mean(axis=0), np.full(4, empty)])

    def test_a_variable_without_individuals(
        self, operator: Callable[..., Any], semantics: str, empty: float
    ) -> None:
        Q = ltn.Wrapper_Quantifier(operator, semantics)
        nobody = ltn.Variable("x", np.zeros((0, 2)))
        result = Q(nobody, ltn.Formula(np.zeros((0, 4)), ["x", "y"]))
        assert_close(result.tensor, np.full(4, empty))
        masked = Q(
            nobody, ltn.Formula(np.zeros((0, 4)), ["x", "y"]), mask=ltn.Formula(np.zeros((0, 4)), ["x", "y"])
        )
        assert_close(masked.tensor, np.full(4, empty))

    def test_sizes_unknown_when_tracing(
        self, operator: Callable[..., Any], semantics: str, empty: float
    ) -> None:
        Q = ltn.Wrapper_Quantifier(operator, semantics)

        @tf.function(input_signature=[tf.TensorSpec((None, 4)), tf.TensorSpec((None, 4))])
        def value(phi: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            x = ltn.Variable("x", phi)
            formula = ltn.Formula(phi, ["x", "y"])
            return Q(x, formula).tensor, Q(x, formula, mask=ltn.Formula(mask, ["x", "y"])).tensor

        plain, guarded = value(PHI, MASK)
        assert_close(plain, PHI.mean(axis=0))
        columns = [PHI[:, j][MASK[:, j] > 0].mean() for j in range(4)]
        assert_close(guarded, columns)
        for result in value(np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32)):
            assert_close(result, np.full(4, empty))

    def test_no_gradient_outside_the_mask(
        self, operator: Callable[..., Any], semantics: str, empty: float
    ) -> None:
        phi = tf.Variable(PHI)
        with tf.GradientTape() as tape:
            formula = ltn.Formula(phi, ["x", "y"])
            value = ltn.Wrapper_Quantifier(operator, semantics)(
                Y, formula, mask=ltn.Formula(MASK, ["x", "y"])
            )
            total = tf.reduce_sum(value.tensor)
        gradient = tape.gradient(total, phi).numpy()
        np.testing.assert_array_equal(gradient[MASK == 0], 0.0)
        assert_close(gradient[MASK > 0], [0.5, 0.5, 0.25, 0.25, 0.25, 0.25])


def test_a_quantified_variable_may_occur_in_the_mask_alone() -> None:
    """Each individual of the formula then counts once per selected individual of that variable."""
    mask = ltn.Formula(MASK.T, ["y", "x"])
    result = Exists(Y, ltn.Formula([0.2, 0.5, 0.7], ["x"]), mask=mask, p=1, stable=False)
    assert_close(result.tensor, [0.2, 0.0, 0.7])


@pytest.mark.parametrize("operator", MEANS)
def test_a_mask_selects_where_it_is_not_zero(operator: Callable[..., Any]) -> None:
    Q = ltn.Wrapper_Quantifier(operator, "forall")
    phi, mask = ltn.Formula([0.1, 0.3, 0.5], ["x"]), ltn.Formula([0.0, 0.2, 1.0], ["x"])
    assert_close(Q(X, phi, mask=mask).tensor, 0.4)


def test_keyword_arguments_reach_the_operator() -> None:
    phi = ltn.Formula(PHI, ["x", "y"])
    for p in (5, 5.0, tf.constant(5.0)):
        got = Forall((X, Y), phi, p=p, stable=False)
        assert_close(got.tensor, 1 - ((1 - PHI.astype(np.float64)) ** 5).mean() ** 0.2)
    a, b = ltn.Proposition(0.5, trainable=False), ltn.Proposition(0.5, trainable=False)
    assert float(And(a, b, stable=False).tensor) == 0.25
    assert float(And(a, b).tensor) != 0.25
    assert_close(SatAgg([a, b], p=1, stable=False).tensor, 0.5)


def test_a_tensor_p_does_not_retrace() -> None:
    traces = []

    @tf.function
    def value(p: tf.Tensor) -> tf.Tensor:
        traces.append(p)
        return Exists((X, Y), ltn.Formula(PHI, ["x", "y"]), p=p).tensor

    values = [float(value(tf.constant(float(p)))) for p in (1, 2, 4, 6)]
    assert len(traces) == 1
    assert values == sorted(values)
    assert values[0] < values[-1]


def test_a_class_absent_from_the_batch_trains_on() -> None:
    """A batch without individuals of a class: finite gradients, from the other axioms alone."""
    P = ltn.Predicate.MLP([2])

    @tf.function(input_signature=[tf.TensorSpec((None, 2)), tf.TensorSpec((None,))])
    def gradients(features: tf.Tensor, labels: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            x, y = ltn.Variable("x", features[labels == 0]), ltn.Variable("y", features[labels == 1])
            loss = 1 - SatAgg([Forall(x, P(x)), Exists(y, P(y)), Forall((x, y), And(P(x), P(y)))]).tensor
        return tape.gradient(loss, P.trainable_variables)

    points = tf.random.uniform((4, 2))
    for labels in (tf.zeros(4), tf.ones(4)):
        found = gradients(points, labels)
        assert all(np.all(np.isfinite(gradient)) for gradient in found)
        assert any(np.any(gradient != 0) for gradient in found)


def test_gradients_where_a_size_is_known_to_be_zero() -> None:
    """TensorFlow's optimiser must not meet broadcasting over nothing: it ends the process."""
    P = ltn.Predicate.MLP([2])

    @tf.function
    def gradients(points: tf.Tensor, nobody: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            x, y = ltn.Variable("x", points), ltn.Variable("y", nobody)
            loss = Exists(x, Forall(y, And(P(y), P(x)), mask=P(y))).tensor
        return tape.gradient(loss, P.trainable_variables)

    for gradient in gradients(tf.ones((2, 2)), tf.ones((0, 2))):
        np.testing.assert_array_equal(gradient, np.zeros(gradient.shape))


def test_the_formula_aggregator_takes_closed_formulas() -> None:
    a, b = ltn.Proposition(0.2, trainable=False), ltn.Proposition(0.8, trainable=False)
    Mean = ltn.Wrapper_Formula_Aggregator(fuzzy_ops.Aggreg_Mean())
    assert_close(Mean([a, b]).tensor, 0.5)
    with pytest.raises(
        ValueError, match=r"Formula 2 has the free variables \['x'\]; an axiom must be closed"
    ):
        Mean([a, ltn.Formula([0.1], ["x"])])
    with pytest.raises(TypeError, match=r"Formula 1 is a float: 0\.5"):
        Mean([0.5])  # type: ignore[list-item]
    for mistake in ([a, b], [a]):
        with pytest.raises(TypeError, match=r"one list of formulas: SatAgg\(\[phi, psi\]\)"):
            Mean(*mistake)
    with pytest.raises(ValueError, match="the list is empty"):
        Mean([])


def test_mistakes_are_explained() -> None:
    phi = ltn.Formula(PHI, ["x", "y"])
    with pytest.raises(ValueError, match=r"'z' is quantified but does not occur.*\['x', 'y'\]"):
        Forall(Z, phi)
    with pytest.raises(ValueError, match="A quantifier needs a variable; got none"):
        Forall((), phi)
    with pytest.raises(TypeError, match=r"takes ltn\.Variable objects; got a str: 'x'"):
        Forall("x", phi)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`wff` must be a formula; got a Variable"):
        Forall(X, Y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`mask` must be a formula; got a ndarray"):
        Forall(X, phi, mask=MASK)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'forall' or 'exists'; got 'all'"):
        ltn.Wrapper_Quantifier(fuzzy_ops.Aggreg_Min(), "all")
    with pytest.raises(TypeError, match=r"operand 2 is a Variable"):
        And(phi, X)  # type: ignore[arg-type]
    for wrapper in (ltn.Wrapper_Connective, ltn.Wrapper_Formula_Aggregator):
        with pytest.raises(TypeError, match="got 'min'"):
            wrapper("min")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got the class Aggreg_Min\. Write Aggreg_Min\(\)"):
        ltn.Wrapper_Quantifier(fuzzy_ops.Aggreg_Min, "forall")


def test_attributes() -> None:
    assert And.connective_op == fuzzy_ops.And_Prod()
    assert Forall.aggreg_op == SatAgg.aggreg_op == fuzzy_ops.Aggreg_pMeanError(p=2)
    assert (Forall.semantics, Exists.semantics) == ("forall", "exists")
    assert repr(Exists) == "Wrapper_Quantifier(Aggreg_pMean(p=2, stable=True), semantics='exists')"
    assert repr(SatAgg) == "Wrapper_Formula_Aggregator(Aggreg_pMeanError(p=2, stable=True))"
    assert repr(Not) == "Wrapper_Connective(Not_Std())"


def test_a_guard_names_the_variables_in_another_order_than_the_formula() -> None:
    d, e = ltn.Variable("d", range(10)), ltn.Variable("e", range(10))
    truth = ltn.Predicate.Lambda(lambda args: tf.sigmoid(args[0] - args[1] + args[2]))
    adds_up = ltn.Predicate.Lambda(lambda args: args[0] + args[1] == args[2])
    Exists = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMean(), "exists")

    def value(images: tf.Tensor) -> tf.Tensor:
        n = ltn.Variable("n", images)
        formula = Exists((d, e), truth([n, d, e]), mask=adds_up([d, e, n]))
        assert formula.free_vars == ["n"]
        return formula.tensor

    images = tf.constant([3.0, 0.0, 17.0, 30.0])
    expected = []
    for image in images.numpy():
        pairs = [(i, j) for i in range(10) for j in range(10) if i + j == image]
        truths = [1e-4 + (1 - 1e-4) / (1 + np.exp(-(image - i + j))) for i, j in pairs]
        expected.append(np.sqrt(np.mean(np.square(truths))) if truths else 0.0)
    assert_close(value(images), expected)


def test_the_free_variables_of_a_guarded_formula_keep_their_order() -> None:
    x, y, z = (
        ltn.Variable(label, np.linspace(0.1, 0.9, size)) for label, size in (("x", 2), ("y", 3), ("z", 4))
    )
    P = ltn.Predicate.Lambda(lambda args: args[0] * args[1] * args[2])
    guard = ltn.Predicate.Lambda(lambda args: args[0] < args[1] + 0.3)
    Mean = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_Mean(), "forall")
    # Those of the mask come first, in their order.
    found = Mean(x, P([y, x, z]), mask=guard([z, y]))
    assert found.free_vars == ["z", "y"]
    assert found.tensor.shape == (4, 3)
    same = Mean(x, P([y, x, z]), mask=guard([y, z]))
    assert same.free_vars == ["y", "z"]
    truths = P([y, x, z]).tensor.numpy().mean(axis=1)
    for formula, order in ((found, (1, 0)), (same, (0, 1))):
        inside = guard([z, y] if formula is found else [y, z]).tensor.numpy()
        assert_close(formula.tensor, np.where(inside, truths.transpose(order), 1.0))
