"""How operators are called: compiled once, inlined in graphs, compared by value, with clear errors."""

import dataclasses
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn import fuzzy_ops as fo
from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.fuzzy_ops import implications
from ltn.fuzzy_ops.base import Operator, as_written
from tests.fuzzy_ops.cases import AGGREGATORS, CONNECTIVES, LOG_AGGREGATORS, LOG_CONNECTIVES
from tests.fuzzy_ops.traces import traces_of
from tests.tolerance import assert_close

OPERATORS = {
    **{f"connective {name}": operator for name, (operator, _) in CONNECTIVES.items()},
    **{f"connective {name}": operator for name, operator in LOG_CONNECTIVES.items()},
    **{f"aggregator {name}": case.operator for name, case in (AGGREGATORS | LOG_AGGREGATORS).items()},
}
operators = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())
p_means = pytest.mark.parametrize("operator", [fo.Aggreg_pMean, fo.Aggreg_pMeanError])

NAN, INF = float("nan"), float("inf")


def call(operator: Any, values: Any, **kwargs: Any) -> tf.Tensor:
    return operator(*[values] * getattr(operator, "arity", 1), **kwargs)


def parts(operator: Any) -> list[Any]:
    """The operator, or those that it is composed of."""
    hyperparameters = [getattr(operator, field.name) for field in dataclasses.fields(operator)]
    return [part for part in hyperparameters if isinstance(part, fo.Connective)] or [operator]


def traces(operator: Any) -> int:
    return sum(traces_of(part) for part in parts(operator))


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Operator, "_compiled", {})
    monkeypatch.setattr(Operator, "_calls", Counter())


@operators
@pytest.mark.usefixtures("nothing_compiled")
def test_a_loop_is_compiled_after_its_first_calls_and_gives_the_same(
    operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Operator, "_patience", 8)
    values = tf.constant([0.2, 0.7, 0.9])
    with as_written():
        once = [call(operator, values) for _ in range(12)]
    few = [call(operator, values) for _ in range(3)]
    assert not Operator._compiled
    many = [call(operator, values) for _ in range(8)]
    assert traces(operator) == len(parts(operator))
    for value in (*once, *few, *many[:-1]):
        assert_close(value, many[-1])


@operators
@pytest.mark.usefixtures("compiled_at_once")
def test_new_values_do_not_retrace(operator: Any) -> None:
    # A shape of this test's own, for a trace that no other test has left behind.
    batches = np.random.default_rng(0).random((6, 3, 2, 3, 2)).astype(np.float32)
    call(operator, batches[0])
    before = traces(operator)
    for batch in batches[1:]:
        call(operator, batch)
    assert traces(operator) == before


@operators
@pytest.mark.usefixtures("compiled_at_once")
def test_new_sizes_retrace_at_most_twice(operator: Any) -> None:
    # Batches of every size are usual: after the second size the trace is for any.
    before = traces(operator)
    for size in range(1, 12):
        call(operator, np.full((1, size, 1, 2, 1), 0.5, np.float32))
    assert traces(operator) <= before + 2 * len(parts(operator))


BUILDERS: dict[str, Callable[[], Any]] = {
    "flag": lambda: fo.And_Prod(stable=False),
    "number": lambda: fo.Aggreg_pMean(p=7.25),
    # Made of operators that no other test keeps alive.
    "sigmoidal": lambda: fo.Implies_Sigmoidal(fo.Implies_Goguen(stable=False), s=7.25),
    "equiv": lambda: fo.Equiv(fo.And_Luk(), fo.Implies_Goguen(stable=False)),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
@pytest.mark.usefixtures("compiled_at_once")
def test_operators_built_anew_share_traces(build: Callable[[], Any]) -> None:
    # As when a loss function writes its operators where it uses them.
    xs = np.array([0.2, 0.7, 0.4], np.float32)
    call(build(), xs)
    before = traces(build())
    for _ in range(3):
        call(build(), xs)
    assert traces(build()) == before


@p_means
@pytest.mark.usefixtures("compiled_at_once")
def test_new_tensor_p_does_not_retrace(operator: Any) -> None:
    xs = np.array([0.2, 0.7, 0.4], np.float32)
    op = operator()
    op(xs, p=tf.constant(1.0))
    before = traces(op)
    values = [float(op(xs, p=tf.constant(p))) for p in (2.0, 3.5, 6.0, 20.0)]
    assert traces(op) == before
    # And the new value is used: the means move in one direction as p grows.
    assert abs(np.diff(np.sign(np.diff(values)))).max() == 0.0


@p_means
def test_variable_p_is_read_at_each_call(operator: Any) -> None:
    xs = np.array([0.2, 0.7, 0.4], np.float32)
    p = tf.Variable(2.0)
    op = operator(p)
    in_graph = tf.function(lambda: op(xs))
    for value in (1.0, 2.0, 6.0):
        p.assign(value)
        assert_close(op(xs), operator(value)(xs))
        assert_close(in_graph(), operator(value)(xs))


@operators
@pytest.mark.parametrize("shape", [(2, 3), (None, 3)], ids=str)
def test_inlined_in_a_graph(operator: Any, shape: tuple[int | None, ...]) -> None:
    graph = tf.function(lambda xs: call(operator, xs)).get_concrete_function(tf.TensorSpec(shape)).graph
    kinds = {node.type for node in graph.get_operations()}
    assert len(kinds) > 2
    assert not [kind for kind in kinds if "PartitionedCall" in kind]


def test_operators_compare_hash_and_print_by_value() -> None:
    assert fo.And_Prod() == fo.And_Prod(stable=True)
    assert hash(fo.And_Prod()) == hash(fo.And_Prod(stable=True))
    assert fo.And_Prod() != fo.And_Prod(stable=False)
    assert fo.Aggreg_pMean(2) == fo.Aggreg_pMean(p=2.0)
    assert fo.Aggreg_pMean(2) != fo.Aggreg_pMean(3)
    assert fo.Equiv(fo.And_Luk(), fo.Implies_Luk()) == fo.Equiv(fo.And_Luk(), fo.Implies_Luk())
    # All differ, also pMean from pMeanError of the same p.
    assert len(set(OPERATORS.values())) == len(OPERATORS)


@operators
def test_repr_rebuilds_the_operator(operator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert eval(repr(operator), vars(fo)) == operator


@operators
def test_operators_are_immutable(operator: Any) -> None:
    names = [field.name for field in dataclasses.fields(operator)] or ["p"]
    for name in names:
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(operator, name, 3)


STABLE = [fo.And_Prod(), fo.Or_ProbSum(), fo.Implies_Reichenbach(), fo.Implies_Goguen()]


@pytest.mark.parametrize("operator", STABLE, ids=str)
def test_stable_is_overridden_for_one_call(operator: Any) -> None:
    x, y = np.array([[0.2, 0.9, 0.0, 1.0], [0.1, 0.3, 1.0, 0.0]])
    unstable = dataclasses.replace(operator, stable=False)
    assert_close(operator(x, y, stable=False), unstable(x, y), rtol=0.0, atol=0.0)
    assert_close(unstable(x, y, stable=True), operator(x, y), rtol=0.0, atol=0.0)
    assert np.max(np.abs(operator(x, y) - unstable(x, y))) > 0.5 * fo.eps


@p_means
def test_p_is_overridden_for_one_call(operator: Any) -> None:
    xs, op = [0.2, 0.7], operator(p=2)
    assert float(op(xs, p=6, stable=False)) == float(operator(p=6, stable=False)(xs))
    assert float(op(xs, p=6)) != float(op(xs))
    assert op == operator(p=2)


def test_equivalence_passes_overrides_on() -> None:
    x, y = np.array([[0.2, 0.9, 0.0], [0.1, 0.3, 1.0]])
    equiv = fo.Equiv(fo.And_Prod(), fo.Implies_Reichenbach())
    unstable = fo.Equiv(fo.And_Prod(stable=False), fo.Implies_Reichenbach(stable=False))
    assert_close(equiv(x, y, stable=False), unstable(x, y), rtol=0.0, atol=0.0)
    assert float(equiv(0.0, 1.0, stable=False)) == 0.0
    with pytest.raises(LogicTypeError, match=r"(And|Implies)_Luk has no hyper-parameter `stable`"):
        fo.Equiv(fo.And_Luk(), fo.Implies_Luk())(0.1, 0.2, stable=False)


@pytest.mark.parametrize("p", [0.5, 0, -2, NAN, INF, np.float32(0.25), np.array(0.5)], ids=str)
@p_means
def test_impossible_p(operator: Any, p: Any) -> None:
    with pytest.raises(LogicValueError, match=rf"`p` must .* at least 1; got {p}\."):
        operator(p=p)
    with pytest.raises(LogicValueError, match=rf"`p` must .* at least 1; got {p}\."):
        operator()([0.1, 0.2], p=p)


@pytest.mark.parametrize("s", [0.0, -1.0, NAN, INF], ids=str)
def test_impossible_slope(s: float) -> None:
    with pytest.raises(LogicValueError, match=rf"`s`.*positive; got {s}\."):
        fo.Implies_Sigmoidal(fo.Implies_Luk(), s=s)
    with pytest.raises(LogicValueError, match=rf"`s`.*positive; got {s}\."):
        fo.Implies_Sigmoidal(fo.Implies_Luk())(0.1, 0.2, s=s)


@pytest.mark.usefixtures("compiled_at_once")
def test_slope_and_offset_may_be_tensors_that_change_without_retracing() -> None:
    x, y = tf.constant([0.2, 0.9, 0.6]), tf.constant([0.1, 0.3, 0.8])
    s, b0 = tf.Variable(9.0), tf.Variable(-0.5)
    learnt, plain = fo.Implies_Sigmoidal(fo.Implies_Luk(), s=s, b0=b0), fo.Implies_Sigmoidal(fo.Implies_Luk())
    in_graph = tf.function(lambda: plain(x, y, s=s, b0=b0))
    learnt(x, y), plain(x, y), in_graph()
    before = traces_of(implications._Sigmoid)
    for slope, offset in ((9.0, -0.5), (4.0, -0.25), (20.0, 0.0)):
        s.assign(slope)
        b0.assign(offset)
        expected = fo.Implies_Sigmoidal(fo.Implies_Luk(), s=slope, b0=offset)(x, y)
        for value in (learnt(x, y), in_graph(), plain(x, y, s=s, b0=b0)):
            assert_close(value, expected)
    assert traces_of(implications._Sigmoid) == before
    with tf.GradientTape() as tape:
        value = learnt(x, y)
    assert all(float(slope) != 0.0 for slope in tape.gradient(value, [s, b0]))
    with pytest.raises(
        LogicTypeError, match=r"`s`, the slope.*must be a number or a scalar tensor; got 'steep'"
    ):
        plain(x, y, s="steep")


CALLS: dict[str, tuple[Any, Any, dict[str, Any], type[LogicError], str]] = {
    "unknown": (fo.And_Prod(), (0.1, 0.2), {"p": 2}, LogicTypeError, "And_Prod.*`p`; it has: `stable`"),
    "has none": (fo.And_Min(), (0.1, 0.2), {"stable": True}, LogicTypeError, "And_Min.*`stable`.*none"),
    "misspelt": (fo.Aggreg_pMean(), ([0.1],), {"P": 2}, LogicTypeError, "`P`; it has: `p`, `stable`"),
    "too few": (fo.And_Min(), (0.1,), {}, LogicTypeError, r"And_Min\(\) takes 2 operand.*got 1"),
    "too many": (fo.Not_Std(), (0.1, 0.2), {}, LogicTypeError, r"Not_Std\(\) takes 1 operand.*got 2"),
    "string": (fo.And_Luk(), ("true", 0.1), {}, LogicTypeError, "numbers; got 'true'"),
    "strings": (fo.Aggreg_Mean(), (["a", "b"],), {}, LogicTypeError, r"numbers; got \['a', 'b'\]"),
    "nothing": (fo.Or_Max(), (0.1, None), {}, LogicTypeError, "numbers; got None"),
    "ragged": (fo.Aggreg_Min(), ([[0.1], [0.2, 0.3]],), {}, LogicTypeError, r"got \[\[0.1\], \[0.2, 0.3\]\]"),
    "shapes": (
        fo.Or_Luk(),
        (np.zeros((2, 3)), np.zeros((2, 4))),
        {},
        LogicValueError,
        r"Or_Luk\(\).*\(2, 3\) and \(2, 4\)",
    ),
    "mask": (
        fo.Aggreg_Max(),
        (np.zeros((2, 3)),),
        {"mask": [True, False]},
        LogicValueError,
        r"Aggreg_Max\(\).*\(2, 3\) and \(2,\)",
    ),
    "axis": (fo.Aggreg_Mean(), (np.zeros((2, 3)),), {"axis": 2}, LogicValueError, "`axis` 2 .* 2 axes"),
    "negative axis": (
        fo.Aggreg_pMean(),
        (np.zeros((2, 3)),),
        {"axis": (0, -3)},
        LogicValueError,
        "`axis` -3 .* 2 axes",
    ),
    "axis of a number": (fo.Aggreg_Mean(), (0.3,), {"axis": 0}, LogicValueError, "`axis` 0 .* 0 axes"),
}


@pytest.mark.parametrize(
    ("operator", "arguments", "keywords", "error", "message"), CALLS.values(), ids=CALLS.keys()
)
def test_wrong_calls(
    operator: Any, arguments: Any, keywords: dict[str, Any], error: type[LogicError], message: str
) -> None:
    with pytest.raises(error, match=message):
        operator(*arguments, **keywords)


def test_shapes_are_checked_inside_a_graph_too() -> None:
    with pytest.raises(LogicValueError, match=r"\(2,\) and \(3,\)"):
        tf.function(fo.And_Prod(), autograph=False)(tf.zeros(2), tf.zeros(3))


def test_log_product_warns_when_built_and_only_then() -> None:
    assert fo.Aggreg_SumLog is fo.Aggreg_LogProd
    with pytest.warns(UserWarning, match=r"Aggreg_LogProd .*not a truth value") as record:
        operator = fo.Aggreg_LogProd()
    # The warning points at the line of the user.
    assert [warning.filename for warning in record] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        operator([0.5, 0.25])
        operator([0.5, 0.25], stable=False)
        hash(operator)
        repr(operator)


def test_operators_are_reached_from_the_package() -> None:
    assert ltn.fuzzy_ops is fo
    assert all(hasattr(fo, name) for name in fo.__all__)


def test_values_below_zero_by_rounding_are_not_nan() -> None:
    """A sum of probabilities may end at 1 + 1e-7, its negation below 0."""
    above = [1.0 + 1e-6, 0.5]
    assert np.isfinite(fo.Aggreg_pMeanError(p=2.5, stable=False)(above))
    assert np.isfinite(fo.Aggreg_pMean(p=2.5, stable=False)([-1e-6, 0.5]))


def test_arguments_that_are_no_operators_or_numbers() -> None:
    with pytest.raises(LogicTypeError, match="`and_op` must be an operator; got 1"):
        fo.Equiv(1, fo.Implies_Luk())  # type: ignore[arg-type]
    with pytest.raises(LogicTypeError, match=r"the class Implies_Luk\. Write Implies_Luk\(\)"):
        fo.Implies_Sigmoidal(fo.Implies_Luk)
    for p in ("2", None, tf.constant([1.0, 2.0])):
        with pytest.raises(LogicTypeError, match="`p` must be a number or a scalar tensor; got"):
            fo.Aggreg_pMean(p=p)
    with pytest.raises(LogicTypeError, match="Truth values must be numbers"):
        fo.Aggreg_Min()([0.1, 0.2], mask=["a", "b"])
    with pytest.raises(LogicTypeError, match="Truth values must be numbers"):
        fo.And_Min()(tf.complex(0.1, 0.2), 0.3)
    for axis in ("a", 1.5, [0.5]):
        with pytest.raises(LogicTypeError, match="`axis` must be an int, a list of ints or None; got"):
            fo.Aggreg_Min()([0.1, 0.2], axis=axis)  # type: ignore[arg-type]
    with pytest.raises(LogicValueError, match=r"names an axis twice: \(0, -2\)"):
        fo.Aggreg_Min()([[0.1, 0.2]], axis=(0, -2))
    with pytest.raises(LogicValueError, match=r"`b0`.*must be finite; got nan"):
        fo.Implies_Sigmoidal(fo.Implies_Luk(), b0=float("nan"))


def test_an_aggregator_derived_from_ours_that_defines_call() -> None:
    with pytest.raises(LogicTypeError, match="Mine is derived from an aggregator and defines __call__"):

        class Mine(fo.Aggreg_Mean):
            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return tf.reduce_mean(args[0])


def test_an_unknown_number_of_axes_is_an_error() -> None:
    minimum = tf.function(lambda xs: fo.Aggreg_Min()(xs), input_signature=[tf.TensorSpec(None)])
    with pytest.raises(LogicValueError, match="number of axes is known"):
        minimum([0.1])


@pytest.mark.usefixtures("compiled_at_once")
def test_many_values_of_p_share_one_trace() -> None:
    operator = fo.Aggreg_pMean()
    values = [0.1, 0.2, 0.3]
    operator(values, p=2.5)
    before = traces(operator)
    for p in (3.5, *range(9, 30)):
        operator(values, p=p)
    assert traces(operator) == before


@pytest.mark.parametrize("p", [2, 6, 8])
@p_means
def test_p_means_of_half_precision_keep_the_ends_of_the_unit_interval(
    operator: Callable[..., fo.Aggregator], p: int
) -> None:
    """There powers of a float16 underflow: 0.01^6 is 0."""
    for values in ([0.001, 0.002, 0.003], [0.01] * 3, [0.4, 0.8, 0.9], [0.999, 0.99, 0.95]):
        found = []
        for dtype in (tf.float16, tf.float64):
            xs = tf.cast(tf.constant(values, tf.float16), dtype)
            with tf.GradientTape() as tape:
                tape.watch(xs)
                value = operator(p=p)(xs)
            found.append((value, tape.gradient(value, xs)))
        # The numbers of float16 from 1/2 to 1 lie 2^-11 apart; errors 1 - x are differences of these.
        for half, exact in zip(*found, strict=True):
            assert_close(half, exact, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("operator", [fo.Aggreg_pMean(), fo.Aggreg_pMeanError()])
def test_half_precision_has_finite_gradients(operator: fo.Aggregator) -> None:
    for value in (0.0, 1.0):
        xs = tf.fill([4], tf.cast(value, tf.float16))
        with tf.GradientTape() as tape:
            tape.watch(xs)
            result = operator(xs)
        assert np.all(np.isfinite(tape.gradient(result, xs)))


@pytest.mark.parametrize(
    ("p", "powers"),
    [(1, []), (2, ["Sqrt", "Square"]), (5, ["Pow", "Square", "Square"]), (9, ["Pow", "Pow"])],
)
@pytest.mark.parametrize("mask", [None, [1, 0, 1]])
@p_means
def test_p_is_specialised_and_nothing_is_ragged(operator: Any, p: int, powers: list[str], mask: Any) -> None:
    graph = tf.function(lambda xs: operator(p)(xs, mask=mask)).get_concrete_function(tf.zeros(3)).graph
    types = [op.type for op in graph.get_operations()]
    # Powers of small integers are products; what is left of tf.pow is the root of their mean.
    assert sorted(name for name in types if name in ("Pow", "Square", "Sqrt")) == powers
    assert not [name for name in types if "Ragged" in name or name == "Where"]


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable])
def test_eager_code_sees_the_value_of_a_tensor_p(kind: Any) -> None:
    operator = fo.Aggreg_pMean(p=2)
    assert float(operator(tf.constant([0.25, 0.25]), p=kind(3.0))) == pytest.approx(0.25, abs=1e-3)
    with pytest.raises(LogicValueError, match=r"got -100\.0"):
        operator(tf.constant([0.25, 0.25]), p=kind(-100.0))
    with pytest.raises(LogicValueError, match=r"got 0\.5"):
        fo.Aggreg_pMeanError(p=kind(0.5))


LOGS = [fo.Aggreg_LogMeanExp(), fo.Aggreg_LogSumOdds()]


@pytest.mark.parametrize("operator", [fo.Aggreg_pMean(), fo.Aggreg_pMeanError(), *LOGS])
def test_a_tensor_p_that_is_too_small_is_seen_in_graphs_under_debug(operator: fo.Aggregator) -> None:
    truths = tf.constant([-0.25, -0.5]) if operator in LOGS else tf.constant([0.25, 0.5])

    def mean(p: tf.Tensor) -> tf.Tensor:
        return operator(truths, p=p)

    good, bad = tf.constant(2.0), tf.constant(-100.0)
    unchecked = tf.function(mean)
    unchecked(bad)
    assert "Assert" not in {op.type for op in unchecked.get_concrete_function(bad).graph.get_operations()}
    with ltn.debug():
        checked = tf.function(mean)
        assert_close(checked(good), unchecked(good))
        with pytest.raises(tf.errors.InvalidArgumentError, match="`p` must be a finite number"):
            checked(bad)
    # What is known when the graph is traced needs no check of the graph.
    with pytest.raises(LogicValueError, match=r"`p` must be a finite number .*; got -100\.0\."):
        tf.function(lambda: operator(truths, p=tf.constant(-100.0)))()


def test_eps_cannot_be_set() -> None:
    with pytest.raises(LogicValueError, match=r"`eps` is the paper's 0\.0001, .* cannot be set; got 0\.01\."):
        fo.eps = 0.01
    assert fo.eps == 1e-4
