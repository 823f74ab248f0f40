"""AutoGraph and compiled code of users: it leaves ours alone, and rewrites theirs."""

import logging
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn import fuzzy_ops as fo

pytestmark = pytest.mark.usefixtures("grappler")


def test_python_control_flow_in_a_users_callables() -> None:
    """AutoGraph still rewrites a user's model or operator that our code calls."""

    def model(x: tf.Tensor) -> tf.Tensor:
        if tf.reduce_sum(x) > 0.0:  # noqa: SIM108
            truths = x
        else:
            truths = -x
        return truths

    def operator(xs: tf.Tensor, axis: Any) -> tf.Tensor:
        if tf.reduce_max(xs) > 0.5:  # noqa: SIM108
            value = tf.reduce_max(xs, axis)
        else:
            value = tf.reduce_min(xs, axis)
        return value

    P, Q = ltn.Predicate.Lambda(model), ltn.Wrapper_Quantifier(operator, "exists")
    theory = ltn.Theory(ltn.semantics.product.replace(Exists=operator))
    numbers = theory.domain("numbers")
    theory.variable("x", numbers)
    theory.predicate("P", numbers, P)
    theory.axiom("exists x: P(x)", name="some")

    def core(values: tf.Tensor) -> tf.Tensor:
        x = ltn.Variable("x", values)
        return Q(x, P(x)).tensor

    def query(values: tf.Tensor) -> tf.Tensor:
        return theory.query("exists x: P(x)", x=values).tensor

    def call(values: tf.Tensor) -> tf.Tensor:
        return theory({"x": values})["some"][0]

    for function in (core, query, call):
        compiled = tf.function(function)
        assert [float(compiled(tf.constant(v))) for v in ([0.25, 0.75], [-0.25, -0.5])] == [0.75, 0.25]


P, f = ltn.Predicate.MLP([2, 1], (4,)), ltn.Function.MLP([2], output_shape=1, hidden_layer_sizes=(4,))
C = ltn.Predicate.FromLogits(keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)]), "sigmoid")
Not, And, Or, Implies, Equiv, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()


def expressions(points: tf.Tensor) -> tf.Tensor:
    x, y = ltn.Variable("x", points), ltn.Variable("y", points)
    c = ltn.Constant(1.0, trainable=False)
    z = ltn.Variable.from_constants("z", [c, c])
    with ltn.using("product"):
        phi = P([x, f(y)]) & ~C([x, c]) | C([y, c]) >> C([x, c]).iff(C([y, c]))
    guard = ltn.utils.Pred_equal_smooth_exp()([x, y])
    on_diagonal = Forall(ltn.diag(x, y), Exists(z, C([x, c]), mask=C([ltn.Term([[1.0, 2.0]] * 2, ["z"]), c])))
    wide, turned = ltn.broadcast_exprs([C([x, c]), ltn.transpose_free_vars(P([x, f(y)]), ["y", "x"])])
    both = [ltn.Formula(each.tensor, each.free_vars) for each in (wide, turned)]
    closed = Equiv(*both).take("x", 0).take("y", [1]).take("y", 0)
    return SatAgg([Forall(x, Exists(y, phi, mask=guard)), on_diagonal, closed]).tensor


def operators(points: tf.Tensor) -> tf.Tensor:
    truths = tf.sigmoid(points[:, 0])
    connected = [connective(truths, truths) for connective in (fo.And_Prod(), fo.Implies_Goguen())]
    means = [mean(truths, mask=truths > 0.6, p=4.0) for mean in (fo.Aggreg_pMean(), fo.Aggreg_pMeanError())]
    return tf.stack([*map(tf.reduce_sum, connected), *means, fo.Aggreg_LogMeanExp()(-truths)])


def theory_of_all_kinds() -> ltn.Theory:
    """A theory with groundings and axioms of each kind."""
    theory = ltn.Theory("stable_product", p_forall=3, regularizer=keras.regularizers.L2(0.01))
    points = theory.domain("points", shape=2, equality="smooth")
    towns, ages = theory.domain("towns", shape=2), theory.domain("ages", values=["young", "old"])
    theory.constants("rome, seoul", towns)
    x = theory.variable("x", points)
    theory.variable("u", towns)
    theory.variables("a, b", ages)
    theory.proposition("sure", 0.9, trainable=True)
    theory.predicate("near", [points, towns], ltn.Predicate.MLP([2, 2], (4,)))
    large = theory.predicate("large", points, lambda x: x[:, 0] > 0.5)
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
    theory.predicate("is", [points, ages], ltn.Predicate.FromLogits(network, "softmax"))
    theory.function("moved", towns, points, ltn.Function.MLP([2], 2, (4,)))
    theory.axiom("forall x where large(x): exists u: near(x, u)", name="guarded")
    theory.axiom("forall x: exists a, b where a = b: is(x, a) & ~is(x, b)", name="classes", weight=2.0)
    theory.axiom("forall x, u: near(x, u) -> x = moved(u)", name="equality")
    theory.axiom("sure <-> (exists u: near(moved(u), u))", name="proposition")
    theory.axiom(lambda: Exists(x, large(x)), name="code")
    return theory


def test_autograph_never_gives_up_on_our_code(caplog: pytest.LogCaptureFixture) -> None:
    """Compiled user code reaches into ours; AutoGraph warns where it gives up."""
    theory, optimizer = theory_of_all_kinds(), keras.optimizers.Adam()
    optimizer.build(theory.trainable_variables)

    def queries(points: tf.Tensor) -> tf.Tensor:
        closed = theory.query("forall x where large(x): near(x, rome) & is(x, old)", x=points, p=3.0)
        table = theory.query("near(x, u)", {"x": points}, semantics="log_product")
        return closed.tensor + tf.reduce_sum(table.tensor) + tf.reduce_sum(theory.query("moved(u)").tensor)

    def training(points: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = 1.0 - theory({"x": points}, training=True)["satisfaction"][0] + theory.penalty()
        gradients = tape.gradient(loss, theory.trainable_variables)
        optimizer.apply_gradients(zip(gradients, theory.trainable_variables, strict=True))
        return loss

    tf.get_logger().addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.WARNING):
            for function in (expressions, operators, queries, training):
                assert np.isfinite(tf.function(function)(tf.random.uniform((3, 2)))).all()
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    assert not [record.message for record in caplog.records if "AutoGraph" in record.message]
