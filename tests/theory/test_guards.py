"""Guards over finite domains: what is looked up for them is what a search of all combinations finds."""

import itertools
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.errors import LogicValueError
from ltn.evaluation.guards import strategy
from ltn.evaluation.guards.search import SearchedTuples
from ltn.fuzzy_ops.base import as_written
from ltn.language import parse
from tests.tolerance import assert_close

OPERATORS = ["=", "<", "<=", ">", ">="]
DIGITS = [0.0, 1.0, 2.0, 3.0]
CHOSEN = [-1.0, 0.5, 2.0]
# What the variables range over; the data of those of a `diag` have the same number of rows.
FIXED = {"d1": DIGITS, "d2": DIGITS, "d3": DIGITS, "c": CHOSEN, "t": [1.0, 2.0]}
DATA = {"n": [3.0, 0.0, 9.0, 2.0, 3.0], "k": [1.0, 2.0, 0.0, 3.0, 1.0], "m": [2.0, -1.0, 0.5]}
# Each of them is looked up, or found once for all steps.
LOOKED_UP = [
    "d1 + d2 = n",
    "n = d1 + d2",
    *(f"d1 - 2 * d2 {operator} n" for operator in OPERATORS),
    *(f"n {operator} d1 - 2 * d2" for operator in OPERATORS),
    "d1 + d2 = n + m",
    "abs(d1 - d2) + c = m - 1",
    "norm(d1) = n",
    "d1 + d2 = n & d1 < d2",
    "d1 != d2 & d1 + d2 = n & ~(d1 = 3)",
    "d1 + d2 = n & d1 + d3 <= m",
    "d1 + d2 = n & (d1 = m | d3 = k)",
    "d1 + d2 = n & d3 > 1",
    "d1 + d2 = n & m > 0",
    "d1 + d2 = n & one < m",
    "d1 + d2 = n & learned > 0",
    "d1 > 1 & n > 0",
    "d3 > 1 & d1 + d2 = d3 + n",
    "d1 < n & d1 + d2 = n",
    "d1 + d2 = learned",
    "d1 + t = n + one",
    "d1 + d2 = n + 100",
    "d1 + d2 = 100 & n > 0",
    "d1 + d2 = 4",
    "d1 < d2 & d2 < d3",
    "c * d1 >= d2",
    "d1 / d2 <= n",
    "-d1 = n - 3",
]
# Each of them is searched, with a mask of all combinations.
SEARCHED = [
    "d1 + d2 != n",
    "d1 + n = d2 + 2 * n",
    "d1 + 0 = n | d2 + 0 = n",
    "~(d1 + d2 = n)",
    "n > 1",
    "d1 + 0 = n & R(d2, n) > 0.5",
    "plus(d1, d2) = n",
    "point = p",
]


def declared() -> ltn.Theory:
    """A theory with numbers of all kinds, and a network R on two of them."""
    theory = ltn.Theory("product", p_exists=2)
    numbers = theory.domain("numbers")
    digits = theory.domain("digits", values=DIGITS)
    theory.variables("d1, d2, d3", digits)
    theory.variable("c", numbers, values=CHOSEN)
    towns = theory.domain("towns", values=["zero", "one", "two"])
    theory.variable("t", towns, values=["one", "two"])
    theory.variables("n, k, m", numbers)
    theory.constant("learned", theory.domain("learned_numbers"), 2.0, trainable=True)
    points = theory.domain("points", values=[[0.0, 1.0], [1.0, 2.0]])
    theory.variables("point, p", points)
    keras.utils.set_random_seed(0)
    for name, domains in {"R": (digits, numbers), "S": (numbers,), "T": (points,)}.items():
        inputs = [keras.Input(domain.shape) for domain in domains]
        joined = inputs[0] if len(inputs) == 1 else keras.layers.Concatenate()(inputs)
        theory.predicate(name, domains, keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(joined)))
    theory.function("plus", (digits, digits), numbers, lambda args: args[0] + args[1])
    return theory


THEORY = declared()
VALUES = FIXED | DATA


def searches(text: str, data: Mapping[str, Any]) -> int:
    """How many guards of a formula are searched, with a mask of all combinations."""
    names = THEORY.signature.free_variables(parse(text))
    assert not names
    tensors = {name: as_individuals(name, values) for name, values in data.items()}
    plan = THEORY.evaluation(THEORY.space, tensors).plan([parse(text)])
    return sum(isinstance(step, SearchedTuples) for step in plan.steps)


def as_individuals(name: str, values: Any) -> tf.Tensor:
    return tf.reshape(tf.constant(values, tf.float32), [-1, *THEORY.signature.variables[name].shape])


def variables_of(guard: str) -> list[str]:
    return [name for name in THEORY.signature.free_variables(parse(guard)) if name in VALUES]


def tuples_of(guard: str, data: Mapping[str, Any], theory: ltn.Theory = THEORY) -> list[tuple[float, ...]]:
    """The tuples that a guard selects, as the values of its variables."""
    names = theory.signature.free_variables(parse(guard))
    tree = parse(
        f"forall {', '.join(names)} where {guard}: {' & '.join(f'{name} = {name}' for name in names)}"
    )
    tensors = {name: as_individuals(name, data[name]) for name in data}
    evaluation = theory.evaluation(theory.space, tensors)
    found = evaluation.instances(tree)
    columns = []
    for name in names:
        rows = found.rows[name]
        individuals = evaluation.groundings.variable(name).numpy()[:, 0]
        columns.append((individuals if rows is None else individuals[rows]).tolist())
    return list(zip(*columns, strict=True))


def tuples_by_loops(guard: str, values: Mapping[str, Any]) -> list[tuple[float, ...]]:
    code = guard.replace("~", " not ").replace("&", " and ").replace("|", " or ").replace(" = ", " == ")
    names = variables_of(guard)
    constants = {"one": np.float32(1.0), "learned": np.float32(2.0), "abs": abs, "norm": abs}
    found = []
    with np.errstate(all="ignore"):
        for row in itertools.product(*(values[name] for name in names)):
            if eval(code, constants | dict(zip(names, np.array(row, np.float32), strict=True))):
                found.append(row)
    return found


@pytest.mark.parametrize("guard", LOOKED_UP)
def test_the_tuples_are_those_of_which_the_guard_holds(guard: str) -> None:
    found = tuples_of(guard, DATA)
    assert sorted(found) == sorted(tuples_by_loops(guard, VALUES))
    names = THEORY.signature.free_variables(parse(guard))
    bound = ", ".join(dict.fromkeys([*names, "n"]))
    assert not searches(f"forall {bound} where {guard}: S(n)", DATA)


@pytest.mark.parametrize("guard", SEARCHED)
def test_other_guards_are_searched(guard: str) -> None:
    names = THEORY.signature.free_variables(parse(guard))
    data = {"p": [[1.0, 2.0]]} if "p" in names else DATA
    body = "T(p)" if "p" in names else "S(n)"
    assert searches(f"forall {', '.join(names)} where {guard}: {body}", data) == 1


def slopes(text: str, dense: bool) -> tuple[tf.Tensor, list[Any]]:
    tensors = {name: tf.reshape(tf.constant(values), [-1, 1]) for name, values in DATA.items()}
    symbols = THEORY.symbols["R"], THEORY.symbols["S"]
    weights = [weight.value for symbol in symbols for weight in symbol.trainable_weights]
    with tf.GradientTape() as tape:
        [value] = THEORY.evaluation(THEORY.space, tensors, dense).ground([parse(text)])
        total = tf.reduce_sum(value.tensor)
    return value.tensor, tape.gradient(total, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def assert_as_with_a_mask(text: str) -> None:
    with as_written():
        looked_up, masked = slopes(text, dense=False), slopes(text, dense=True)
    for one, other in zip(looked_up, masked, strict=True):
        # The order of sums differs.
        tf.nest.map_structure(lambda a, b: assert_close(a, b, rtol=1e-5, atol=1e-5), one, other)


@pytest.mark.parametrize("guard", LOOKED_UP)
def test_values_and_gradients_are_those_of_a_mask(guard: str) -> None:
    bound = [name for name in variables_of(guard) if name not in ("n", "k")]
    body = f"({' & '.join(f'R({d}, n)' for d in bound if d[0] == 'd')}) -> S(n) & S(k)"
    assert_as_with_a_mask(f"forall diag(n, k): exists {', '.join(bound)} where {guard}: {body}")
    assert_as_with_a_mask(f"forall {', '.join([*bound, 'diag(n, k)'])} where {guard}: {body}")


@pytest.mark.parametrize(
    "text",
    [
        "forall diag(n, k) where n > k: exists d1, d2 where d1 + d2 = n: R(d1, k) & R(d2, n)",
        "forall diag(n, k) where n > k: exists d1, d2 where d1 + d2 = n & d1 <= k: R(d1, k) & R(d2, n)",
        "forall d1 where d1 > 0: exists n, d2 where d1 + d2 = n: R(d1, n) & R(d2, n)",
        "forall n, d1 where d1 < n: forall m: exists d2, d3 where d2 + d3 = n + m & d1 < d2: R(d3, m)",
        "forall diag(d1, d2): exists n where d1 + d2 = n: R(d1, n) & R(d2, n)",
        "forall diag(m, c): exists d1, n where d1 + c = n - 0.5: R(d1, m) & S(n)",
        "(forall n, d1 where d1 + 0 = n: R(d1, n)) & (exists n, d1 where d1 + 0 = n: R(d1, n) & S(n))",
        "exists d1 where d1 + 0 = n: R(d1, n) & S(m)",
    ],
)
def test_of_nested_guards_as_well(text: str) -> None:
    assert_as_with_a_mask(text)


def test_data_for_a_variable_of_a_finite_domain_are_not_fixed() -> None:
    theory = declared()
    text = "exists d1, d2 where d1 + d2 = n: R(d1, n)"
    whole, some = ({"n": [3.0, 4.0]}, {"n": [3.0, 4.0], "d1": [3.0]})
    assert_close(theory.query(text, some).tensor, theory.query("R(d1, n)", some).tensor[0])
    assert not np.allclose(theory.query(text, whole).tensor, theory.query(text, some).tensor)


@pytest.mark.parametrize("guard", ["d1 + d2 = n", "d1 - d2 < n + m", "d1 < n & d2 > m", "d1 < d2 & n > d1"])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_compiled_data_of_any_size_will_do(guard: str, rows: int) -> None:
    bound = [name for name in variables_of(guard) if name != "n"]
    text = f"exists {', '.join(bound)} where {guard}: R(d1, n) & R(d2, n)"

    def satisfied(n: tf.Tensor, m: tf.Tensor, dense: bool = False) -> tf.Tensor:
        [value] = THEORY.evaluation(THEORY.space, {"n": n, "m": m}, dense).ground([parse(text)])
        return value.tensor

    compiled = tf.function(satisfied, [tf.TensorSpec([None, 1])] * 2, autograph=False)
    n, m = (tf.reshape(tf.constant(DATA[name][:rows], tf.float32), [-1, 1]) for name in "nm")
    assert_close(compiled(n, m), satisfied(n, m, dense=True))


def test_what_is_not_a_number_compares_with_nothing() -> None:
    data = {"n": [np.nan, 1.0, np.inf, -np.inf]}
    for operator in OPERATORS:
        # 0 / 0 is no number either.
        guard = f"d1 / d2 {operator} n"
        assert len(tuples_of(guard, data)) == len(tuples_by_loops(guard, FIXED | data))


def test_there_is_one_zero() -> None:
    assert tuples_of("-d1 = n", {"n": [0.0, -0.0]}) == [(0.0, 0.0), (0.0, -0.0)]
    assert tuples_of("d1 = n", {"n": [-0.0]}) == [(0.0, -0.0)]


def test_equal_values_stay_in_the_order_of_the_individuals() -> None:
    assert tuples_of("d1 + d2 = n", {"n": [3.0]}) == [(d, 3.0 - d, 3.0) for d in DIGITS]


COEFFICIENTS = st.integers(-3, 3)


@given(
    st.tuples(*[COEFFICIENTS] * 5),
    st.sampled_from(OPERATORS),
    st.booleans(),
    st.lists(st.integers(-8, 8).map(float), max_size=5),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=3),
    st.sampled_from(["", " & d1 < d2", " & d1 * m > n", " & d3 = 1 & d1 <= d2", " & m >= c"]),
)
def test_any_linear_comparison_selects_its_solutions(
    coefficients: tuple[int, ...], operator: str, exchanged: bool, n: list[float], m: list[float], also: str
) -> None:
    a, b, c, e, f = (f"({number})" if number >= 0 else f"(-{-number})" for number in coefficients)
    sides = [f"{a} * d1 + {b} * d2 + {c} * c", f"{e} * n + {f} * m"]
    left, right = reversed(sides) if exchanged else sides
    guard = f"{left} {operator} {right}{also}"
    found = tuples_of(guard, {"n": n, "m": m})
    assert sorted(found) == sorted(tuples_by_loops(guard, FIXED | {"n": n, "m": m}))


def test_combinations_are_sorted_once_for_all_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    theory, counted = declared(), []
    original = strategy._combinations

    def noted(*args: Any) -> strategy.Combinations:
        counted.append(args)
        return original(*args)

    monkeypatch.setattr(strategy, "_combinations", noted)
    for _ in range(3):
        theory.query("exists d1, d2 where d1 + d2 = n: R(d1, n)", DATA)
    assert len(counted) == 1
    # Not without limit: a theory that is asked a thousand questions keeps the last of them.
    for number in range(40):
        theory.query(f"exists d1, d2 where d1 + d2 = n & d1 != {number}: R(d1, n)", DATA)
    memory = theory.evaluation(theory.space, {}).plans.memory
    assert len(memory.keys) == memory.most


def test_too_many_combinations_are_refused() -> None:
    theory = ltn.Theory()
    many = theory.domain("many", values=range(1000))
    theory.variables("x, y, z", many)
    theory.variable("n", theory.domain("numbers"))
    theory.predicate("P", many, lambda value: value > 3)
    theory.axiom("forall n: exists x, y, z where x + y + z = n: P(x)")
    # In training: a question goes through them in slices.
    with pytest.raises(LogicValueError, match=r"1,000,000,000 combinations of the variables x, y, z"):
        theory({"n": [1.0]}, training=True)


def test_explain_shows_the_tuples_that_are_looked_up() -> None:
    theory = declared()
    axiom = theory.axiom("forall n, d1, d2 where d1 + d2 = n & d1 < d2: R(d1, n)", name="sums")
    table = theory.explain(axiom, {"n": [3.0, 7.0, 1.0]}, worst=10)
    shown = table[["d1", "d2", "n"]].astype(float).itertuples(index=False, name=None)
    assert sorted(shown) == [(0.0, 1.0, 1.0), (0.0, 3.0, 3.0), (1.0, 2.0, 3.0)]
    truths = theory.query("R(d1, n)", n=[1.0, 3.0]).tensor.numpy()
    assert_close(np.sort(table["truth"]), np.sort([truths[0, 0], truths[0, 1], truths[1, 1]]))
