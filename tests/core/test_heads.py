"""Predicates that share one network of several labels."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

NAMES = ["even", "odd", "large"]
POINTS = np.linspace(-2.0, 2.0, 12, dtype="float32").reshape(6, 2)


def network(activation: str | None = None, labels: int = 3, scale: float = 1.0) -> keras.Model:
    keras.utils.set_random_seed(0)
    start = keras.initializers.RandomNormal(stddev=scale)
    layer = keras.layers.Dense(labels, activation=activation, kernel_initializer=start)
    return keras.Sequential([keras.Input((2,)), layer])


def theory_of(heads: dict[str, ltn.Predicate], semantics: str = "stable_product") -> ltn.Theory:
    theory = ltn.Theory(semantics)
    points = theory.domain("points", shape=2)
    theory.variables("x, y", points)
    for name, head in heads.items():
        theory.predicate(name, points, head)
    theory.axiom("forall x: even(x) <-> ~odd(x)", name="parity")
    theory.axiom("forall x where large(x) > 0.5: exists y: even(y) & large(x)", name="guarded")
    return theory


@pytest.mark.parametrize("activation", ["sigmoid", "softmax", None])
def test_a_head_is_one_output_of_the_network(activation: str | None) -> None:
    inner = network("sigmoid" if activation is None else None)
    heads = ltn.Predicate.heads(inner, NAMES, activation)
    assert list(heads) == [head.name for head in heads.values()] == NAMES
    functions: dict[str | None, Any] = {"sigmoid": tf.sigmoid, "softmax": tf.nn.softmax, None: tf.identity}
    expected = functions[activation](inner(POINTS))
    for place, head in enumerate(heads.values()):
        assert_close(head(ltn.Variable("x", POINTS)).tensor, expected[:, place])


def test_a_theory_runs_the_network_once_for_all_heads() -> None:
    rows = []

    class Counting(keras.Layer):
        def call(self, inputs: Any) -> Any:
            """The inputs."""
            tf.py_function(lambda size: rows.append(int(size)), [tf.shape(inputs)[0]], [])
            return inputs

    theory = theory_of(ltn.Predicate.heads(keras.Sequential([Counting(), network()]), NAMES))
    assert theory.plan("forall x: (even(x) | odd(x)) -> large(x)", x=POINTS).rows == {"even": 6}
    theory.compile(keras.optimizers.SGD(0.1))
    data = {"x": POINTS, "y": POINTS[::-1]}
    # The first training also tries the first batch.
    theory.fit(data, batch_size=6, verbose=0)
    rows.clear()
    theory.fit(data, batch_size=6, epochs=2, verbose=0)
    # x and y have data of their own, and go through the network together.
    assert rows == [12, 12]


@pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
def test_it_is_what_predicates_of_their_own_give(semantics: str) -> None:
    """Each on a copy of the network, without its other outputs."""
    inner = network()
    kernel, bias = inner.get_weights()
    apart = {}
    for place, name in enumerate(NAMES):
        apart[name] = ltn.Predicate(single := network("sigmoid", labels=1), name)
        single.set_weights([kernel[:, [place]], bias[[place]]])
    losses = []
    for heads in (ltn.Predicate.heads(inner, NAMES), apart):
        theory = theory_of(heads, semantics)
        with tf.GradientTape() as tape:
            loss = theory.space.loss(theory.call({"x": POINTS, "y": POINTS}, as_truths=False).total)
        kernels = tape.gradient(loss, theory.trainable_variables)[::2]
        losses.append((loss, tf.concat(kernels, axis=1)))
    assert_close(losses[0][0], losses[1][0])
    assert_close(losses[0][1], losses[1][1])


@pytest.mark.parametrize("activation", ["sigmoid", None])
def test_log_space_takes_the_logits(activation: str | None) -> None:
    """Logits of hundreds: their probabilities are 0 and 1 in float32."""
    heads = ltn.Predicate.heads(network(None if activation else "sigmoid", scale=100.0), NAMES, activation)
    theory = theory_of(heads, "log_product")
    found = theory.evaluation(theory.space, {"x": tf.constant(POINTS)}).ground([ltn.language.parse("odd(x)")])
    assert_close(found[0].tensor, tf.math.log_sigmoid(network(scale=100.0)(POINTS)[:, 1]))
    assert float(tf.reduce_min(found[0].tensor)) < -110.0


def test_the_file_of_a_theory_holds_the_network_once(tmp_path: Path) -> None:
    inner = network()
    theory = theory_of(ltn.Predicate.heads(inner, NAMES))
    points = theory.signature.domains["points"]
    classes = theory.domain("classes", values=range(3))
    theory.predicate("label", (points, classes), ltn.Predicate.FromLogits(inner, "sigmoid"))
    theory.variable("c", classes)
    theory.save(tmp_path / "theory.keras")
    config = theory.get_config()
    assert sum("network" in part["grounding"] for part in config["declarations"]) == 1
    text = "forall x: even(x) & ~odd(x) & large(x)"
    for other in (ltn.load(tmp_path / "theory.keras"), theory.copy()):
        assert other.plan(text, x=POINTS).rows == {"even": 6}
        assert_close(other.query(text, x=POINTS).tensor, theory.query(text, x=POINTS).tensor)
        assert_close(
            other.query("label(x, c)", x=POINTS).tensor, theory.query("label(x, c)", x=POINTS).tensor
        )
        assert len(other.trainable_variables) == 2
        assert other.symbols["even"].network is other.symbols["label"].network is not inner


def test_a_theory_of_heads_is_served(tmp_path: Path) -> None:
    theory = theory_of(ltn.Predicate.heads(network(), NAMES))
    theory.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(tmp_path / "served")
    assert_close(served.odd(POINTS), theory.query("odd(x)", x=POINTS).tensor)


@pytest.mark.parametrize("names", ["even", [], ["even", 3], [""], {"even": 0}])
def test_names_are_a_list_of_texts(names: Any) -> None:
    with pytest.raises(ltn.LogicTypeError, match="`names` has one name for each output"):
        ltn.Predicate.heads(network(), names)


def test_names_are_distinct() -> None:
    with pytest.raises(ltn.LogicValueError, match="must be distinct; got"):
        ltn.Predicate.heads(network(), ["even", "even"])


def test_there_is_an_output_for_each_head() -> None:
    heads = ltn.Predicate.heads(network(), ["even", "odd"])
    message = r"behind the heads even, odd must return one value for each of them, shape \(N, 2\)"
    with pytest.raises(ltn.LogicValueError, match=message):
        heads["even"](ltn.Variable("x", POINTS))


def test_the_activation_is_checked() -> None:
    with pytest.raises(ltn.LogicValueError, match="must be 'softmax' or 'sigmoid'; got 'relu'"):
        ltn.Predicate.heads(network(), NAMES, "relu")
