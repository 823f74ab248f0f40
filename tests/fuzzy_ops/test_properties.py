"""The laws of fuzzy logic that the paper grants and denies, found or refuted by random search."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ltn import fuzzy_ops as fo
from tests.fuzzy_ops.cases import AGGREGATORS, public_operators

Array = np.ndarray[Any, Any]

# float64, where laws hold to rounding; every corner and many ties next to the random points.
CORNERS = np.array(list(itertools.product([0.0, 0.25, 0.5, 0.75, 1.0], repeat=3))).T
X, Y, Z = np.concatenate([CORNERS, np.random.default_rng(0).random((3, 4000))], axis=1)
ROUNDING = 1e-12
VIOLATION = 1e-3

NOT = fo.Not_Std()
T_NORMS = [fo.And_Min(), fo.And_Prod(stable=False), fo.And_Luk()]
T_CONORMS = [fo.Or_Max(), fo.Or_ProbSum(stable=False), fo.Or_Luk()]
# A t-norm need not have a t-conorm beside it.
GODEL, PRODUCT, LUK = ((T_NORMS[family], T_CONORMS[family]) for family in range(3))
IMPLICATIONS = [
    fo.Implies_KleeneDienes(),
    fo.Implies_Godel(),
    fo.Implies_Reichenbach(stable=False),
    fo.Implies_Goguen(stable=False),
    fo.Implies_Luk(),
    fo.Implies_Sigmoidal(fo.Implies_Reichenbach(stable=False)),
]
AGGREGATES = {
    name: case.operator
    for name, case in AGGREGATORS.items()
    if not isinstance(case.operator, fo.Aggreg_LogProd)  # its results are logarithms, outside [0, 1]
}

# The columns of the paper's table: conjunction, disjunction, implication; negation is standard in all.
CONFIGURATIONS = [
    (*GODEL, IMPLICATIONS[0]),
    (*GODEL, IMPLICATIONS[1]),
    (*PRODUCT, IMPLICATIONS[2]),
    (*PRODUCT, IMPLICATIONS[3]),
    (*LUK, IMPLICATIONS[4]),
]

# Its rows: both sides of each equation of the law, and the columns which grant it.
Law = Callable[[Any, Any, Any], list[tuple[Any, Any]]]
LAWS: dict[str, tuple[Law, str]] = {
    "commutativity": (lambda AND, OR, _: [(AND(X, Y), AND(Y, X)), (OR(X, Y), OR(Y, X))], "+++++"),
    "associativity": (
        lambda AND, OR, _: [(op(X, op(Y, Z)), op(op(X, Y), Z)) for op in (AND, OR)],
        "+++++",
    ),
    "distributivity of and over or": (
        lambda AND, OR, _: [(AND(X, OR(Y, Z)), OR(AND(X, Y), AND(X, Z)))],
        "++---",
    ),
    "distributivity of or over and": (
        lambda AND, OR, _: [(OR(X, AND(Y, Z)), AND(OR(X, Y), OR(X, Z)))],
        "++---",
    ),
    "distributivity of implication over or, and": (
        lambda AND, OR, IF: [(IF(X, op(Y, Z)), op(IF(X, Y), IF(X, Z))) for op in (OR, AND)],
        "++---",
    ),
    "double negation": (lambda *_: [(NOT(NOT(X)), X)], "+++++"),
    "excluded middle": (lambda AND, OR, _: [(OR(X, NOT(X)), np.ones_like(X))], "----+"),
    "non contradiction": (lambda AND, OR, _: [(AND(X, NOT(X)), np.zeros_like(X))], "----+"),
    "De Morgan": (
        lambda AND, OR, _: [
            (NOT(AND(X, Y)), OR(NOT(X), NOT(Y))),
            (NOT(OR(X, Y)), AND(NOT(X), NOT(Y))),
        ],
        "+++++",
    ),
    "material implication": (lambda AND, OR, IF: [(IF(X, Y), OR(NOT(X), Y))], "+-+-+"),
    "contraposition": (lambda AND, OR, IF: [(IF(X, Y), IF(NOT(Y), NOT(X)))], "+-+-+"),
}


def largest_difference(left: Any, right: Any) -> float:
    return float(np.max(np.abs(np.asarray(left) - np.asarray(right))))


@pytest.mark.parametrize(
    ("configuration", "law", "granted"),
    [
        pytest.param(configuration, law, mark == "+", id=f"{name}: {configuration[2]}")
        for name, (law, marks) in LAWS.items()
        for configuration, mark in zip(CONFIGURATIONS, marks, strict=True)
    ],
)
def test_laws_hold_exactly_where_the_papers_table_says(configuration: Any, law: Law, granted: bool) -> None:
    for left, right in law(*configuration):
        difference = largest_difference(left, right)
        assert difference < ROUNDING if granted else difference > VIOLATION


def test_the_families_are_complete() -> None:
    connectives = public_operators(fo.Connective)
    for prefix, family in (("And_", T_NORMS), ("Or_", T_CONORMS), ("Implies_", IMPLICATIONS)):
        assert {type(op) for op in family} == {c for c in connectives if c.__name__.startswith(prefix)}


@pytest.mark.parametrize("negation", [fo.Not_Std(), fo.Not_Godel()], ids=str)
def test_negation(negation: Any) -> None:
    assert negation([0.0, 1.0]).numpy().tolist() == [1.0, 0.0]
    assert np.all(np.diff(negation(np.sort(X))) <= 0.0)


def test_only_standard_negation_is_strict_and_strong() -> None:
    grid = np.linspace(0.0, 1.0, 1001)
    assert np.all(np.diff(NOT(grid)) < 0.0)
    assert np.all(np.diff(fo.Not_Godel()(grid))[1:] == 0.0)
    assert largest_difference(fo.Not_Godel()(fo.Not_Godel()(X)), X) > VIOLATION


def assert_increasing(operator: Callable[[Any, Any], Any]) -> None:
    low, high = np.minimum(X, Y), np.maximum(X, Y)
    assert np.all(operator(low, Z) <= operator(high, Z) + ROUNDING)
    assert np.all(operator(Z, low) <= operator(Z, high) + ROUNDING)


@pytest.mark.parametrize(
    ("operators", "neutral"), [(T_NORMS, 1.0), (T_CONORMS, 0.0)], ids=["t-norm", "t-conorm"]
)
def test_t_norms_and_t_conorms(operators: list[Any], neutral: float) -> None:
    # Commutative and associative they are by the table above.
    for operator in operators:
        assert largest_difference(operator(X, neutral), X) < ROUNDING
        # 0 for a conjunction and 1 for a disjunction absorbs.
        assert largest_difference(operator(X, 1.0 - neutral), 1.0 - neutral) < ROUNDING
        assert_increasing(operator)


@pytest.mark.parametrize(("t_norm", "t_conorm"), [GODEL, PRODUCT, LUK], ids=str)
def test_t_conorm_is_the_dual_of_its_t_norm_only(t_norm: Any, t_conorm: Any) -> None:
    for other in T_CONORMS:
        difference = largest_difference(other(X, Y), NOT(t_norm(NOT(X), NOT(Y))))
        assert difference < ROUNDING if other == t_conorm else difference > VIOLATION


@pytest.mark.parametrize("implication", IMPLICATIONS, ids=str)
def test_implication(implication: Any) -> None:
    truth_table = implication([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    np.testing.assert_allclose(truth_table, [1.0, 1.0, 0.0, 1.0], atol=1e-6)  # a sigmoid rounds in float32
    assert_increasing(lambda x, y: implication(1.0 - x, y))


STRONG = {"Kleene-Dienes": (0, 0), "Reichenbach": (2, 1), "Lukasiewicz": (4, 2)}
RESIDUATED = {"Godel": (1, 0), "Goguen": (3, 1), "Lukasiewicz": (4, 2)}


@pytest.mark.parametrize(("implication", "family"), list(itertools.product(range(5), range(3))))
def test_strong_implications(implication: int, family: int) -> None:
    value = IMPLICATIONS[implication](X, Y)
    difference = largest_difference(value, T_CONORMS[family](NOT(X), Y))
    assert difference < ROUNDING if (implication, family) in STRONG.values() else difference > VIOLATION


@pytest.mark.parametrize(("implication", "family"), list(itertools.product(range(5), range(3))))
def test_residuated_implications(implication: int, family: int) -> None:
    # The supremum of the z with T(x, z) <= y, on a grid of z that contains 0 and 1.
    z = np.linspace(0.0, 1.0, 101)
    x, y = X[:600, None], Y[:600, None]
    holds = np.asarray(T_NORMS[family](x, z)) <= y + ROUNDING
    supremum = np.max(np.where(holds, z, 0.0), axis=1)
    value = IMPLICATIONS[implication](X[:600], Y[:600]).numpy()
    # The grid finds the supremum or misses it by less than a step, from below.
    step = 0.01
    residuated = bool(np.all((supremum <= value + ROUNDING) & (value < supremum + step)))
    assert residuated == ((implication, family) in RESIDUATED.values())


ROWS = np.concatenate([CORNERS.T, np.random.default_rng(1).random((1000, 3))])
# pi_0 and pi_1 move a value by at most eps; means do not enlarge that.
aggregates = pytest.mark.parametrize(
    ("operator", "error"),
    [(op, fo.eps + ROUNDING if getattr(op, "stable", False) else ROUNDING) for op in AGGREGATES.values()],
    ids=AGGREGATES.keys(),
)


@aggregates
def test_aggregation(operator: Any, error: float) -> None:
    higher = np.minimum(ROWS + np.random.default_rng(2).random(ROWS.shape) * 0.2, 1.0)
    assert np.all(operator(ROWS, axis=1) <= operator(higher, axis=1) + ROUNDING)
    assert largest_difference(operator(X[:, None], axis=1), X) <= error
    for n in (1, 2, 7):
        assert largest_difference(operator(np.zeros(n)), 0.0) <= error
        assert largest_difference(operator(np.ones(n)), 1.0) <= error


@aggregates
def test_aggregation_ignores_order(operator: Any, error: float) -> None:
    for order in itertools.permutations(range(3)):
        assert largest_difference(operator(ROWS[:, order], axis=1), operator(ROWS, axis=1)) < ROUNDING


@aggregates
def test_means_lie_between_minimum_and_maximum(operator: Any, error: float) -> None:
    value = operator(ROWS, axis=1).numpy()
    between = np.all((value >= ROWS.min(1) - error) & (value <= ROWS.max(1) + error))
    # Products and Lukasiewicz sums leave the range of their values.
    of_norms = (fo.Aggreg_Prod, fo.Aggreg_ProbSum, fo.Aggreg_AndLuk, fo.Aggreg_OrLuk)
    assert between != isinstance(operator, of_norms)


@pytest.mark.parametrize(
    ("aggregator", "connective"),
    [
        (fo.Aggreg_Min(), fo.And_Min()),
        (fo.Aggreg_Prod(), fo.And_Prod(stable=False)),
        (fo.Aggreg_AndLuk(), fo.And_Luk()),
        (fo.Aggreg_Max(), fo.Or_Max()),
        (fo.Aggreg_ProbSum(), fo.Or_ProbSum(stable=False)),
        (fo.Aggreg_OrLuk(), fo.Or_Luk()),
    ],
    ids=str,
)
def test_aggregators_of_norms_repeat_the_connective(aggregator: Any, connective: Any) -> None:
    expected = connective(ROWS[:, 0], connective(ROWS[:, 1], ROWS[:, 2]))
    assert largest_difference(aggregator(ROWS, axis=1), expected) < ROUNDING


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("p", [1, 2, 6, 100])
def test_power_means_are_dual(p: float, stable: bool) -> None:
    exists, forall = fo.Aggreg_pMean(p, stable), fo.Aggreg_pMeanError(p, stable)
    assert largest_difference(exists(ROWS, axis=1), NOT(forall(NOT(ROWS), axis=1))) < ROUNDING


@pytest.mark.parametrize("p", [1, 2, 6, 100])
def test_p_mean_behaves_as_a_norm(p: float) -> None:
    norm = fo.Aggreg_pMean(p, stable=False)
    other = np.random.default_rng(3).random(ROWS.shape)
    assert largest_difference(norm(0.3 * ROWS, axis=1), 0.3 * norm(ROWS, axis=1)) < ROUNDING
    assert np.all(norm(ROWS + other, axis=1) <= norm(ROWS, axis=1) + norm(other, axis=1) + ROUNDING)


def test_power_means_move_towards_their_limit_as_p_grows() -> None:
    powers = [1.0, 1.5, 2.0, 6.0, 30.0, 100.0]
    means = np.stack([fo.Aggreg_pMean(stable=False)(ROWS, axis=1, p=p) for p in powers])
    errors = np.stack([fo.Aggreg_pMeanError(stable=False)(ROWS, axis=1, p=p) for p in powers])
    assert np.all(np.diff(means, axis=0) >= -ROUNDING)
    assert np.all(np.diff(errors, axis=0) <= ROUNDING)
    assert largest_difference(means[0], errors[0]) < ROUNDING  # both are the mean


@pytest.mark.parametrize("b0", [-0.7, -0.5, 0.0])
@pytest.mark.parametrize("implication", IMPLICATIONS[:5], ids=str)
def test_sigmoidal_implication(implication: Any, b0: float) -> None:
    inner, value = (np.asarray(op(X, Y)) for op in (implication, fo.Implies_Sigmoidal(implication, b0=b0)))
    # The ends of [0, 1] stay and the order stays.
    assert largest_difference(value[inner == 0.0], 0.0) < ROUNDING
    assert largest_difference(value[inner == 1.0], 1.0) < ROUNDING
    assert np.all(np.diff(value[np.argsort(inner)]) >= -ROUNDING)
    # With the default offset the sigmoid is centred: swapping true and false swaps the result.
    mirrored = fo.Implies_Sigmoidal(lambda x, y: 1.0 - implication(x, y), b0=b0)(X, Y)
    difference = largest_difference(1.0 - mirrored, value)
    assert difference < ROUNDING if b0 == -0.5 else difference > VIOLATION


@pytest.mark.parametrize("operator", [fo.And_Prod(), fo.Or_ProbSum(), fo.Implies_Reichenbach()], ids=str)
def test_stable_connectives_deviate_by_eps(operator: Any) -> None:
    # For x y: x moves by eps (1 - x) with slope y, and y likewise; (1 - x) y + (1 - y) x is at most 1.
    deviation = largest_difference(operator(X, Y), operator(X, Y, stable=False))
    assert 0.5 * fo.eps < deviation <= fo.eps + ROUNDING


def test_stable_conjunction_is_no_t_norm() -> None:
    deviation = np.asarray(fo.And_Prod()(X, 1.0)) - X
    assert np.all(deviation[X < 1.0] > 0.0)
    assert deviation.max() <= fo.eps + ROUNDING


def test_stable_goguen_deviates_by_eps_over_x() -> None:
    # |y/x - y/pi_0(x)| <= eps/x; unbounded at 0, where I(0, 0) falls from 1 to 0.
    far = X >= 0.1
    deviation = largest_difference(fo.Implies_Goguen()(X, Y)[far], fo.Implies_Goguen(stable=False)(X, Y)[far])
    assert 0.0 < deviation <= fo.eps / 0.1
    assert float(fo.Implies_Goguen()(0.0, 0.0)) == 0.0


@pytest.mark.parametrize("p", [1, 2, 6, 100])
@pytest.mark.parametrize("operator", [fo.Aggreg_pMean(), fo.Aggreg_pMeanError()], ids=str)
def test_stable_power_means_deviate_by_eps(operator: Any, p: float) -> None:
    deviation = largest_difference(operator(ROWS, axis=1, p=p), operator(ROWS, axis=1, p=p, stable=False))
    assert 0.0 < deviation <= fo.eps + ROUNDING
