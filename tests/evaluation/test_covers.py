"""A network that runs on whole domains is read, not run again, for some of their individuals."""

from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

WHOLE = "forall x, y: F(x, y)"
PARTS = [
    "F(a, b)",
    "F(c, a) | F(a, a)",
    "forall x: F(x, x)",
    "forall u: exists v: F(u, v)",
    "forall diag(u, v): F(v, u)",
    "exists u: F(u, b)",
    "forall x: exists u: F(u, x)",
]
# Rounding differs by where a row stands in the batch.
ATOL = 1e-6


def theory_of(semantics: str = "product", extra: list[keras.layers.Layer] | None = None) -> ltn.Theory:
    """Five learned people, some of whom the variables u and v range over."""
    keras.utils.set_random_seed(1)
    theory = ltn.Theory(semantics)
    people = theory.domain("people", shape=3)
    theory.constants("a b c", people, trainable=True)
    theory.constants("d e", people, values=np.eye(2, 3), trainable=False)
    theory.variables("x, y", people)
    theory.variable("u", people, values=["e", "b"])
    theory.variable("v", people, values=["c", "c"])
    layers = [keras.layers.Dense(4, activation="tanh"), *(extra or []), keras.layers.Dense(1)]
    network = keras.Sequential([keras.Input((6,)), *layers, keras.layers.Activation("sigmoid")])
    inputs = [keras.Input((3,)), keras.Input((3,))]
    model = keras.Model(inputs, network(keras.layers.Concatenate()(inputs)))
    theory.predicate("F", (people, people), ltn.Predicate(model))
    return theory


def conjunction(parts: list[str]) -> str:
    return " & ".join(f"({part})" for part in parts)


def value_and_slopes(theory: ltn.Theory, text: str) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        value = theory.query(text).tensor
    return [value, *tape.gradient(value, [v.value for v in theory.trainable_variables])]


@pytest.mark.parametrize("part", PARTS)
def test_rows_are_those_of_the_domain_alone(part: str) -> None:
    theory = theory_of()
    assert theory.plan(part).rows["F"] < 25
    assert theory.plan(conjunction([part, WHOLE])).rows == {"F": 25}
    assert theory.plan(conjunction([WHOLE, part])).rows == {"F": 25}


@pytest.mark.parametrize("semantics", ["product", "log_product"])
def test_values_and_gradients_are_those_of_rows_of_their_own(semantics: str) -> None:
    theory = theory_of(semantics)
    for part in PARTS:
        alone, whole = theory.query(part).tensor, theory.query(WHOLE).tensor
        together = value_and_slopes(theory, conjunction([part, WHOLE]))
        assert_close(together[0], alone * whole, atol=ATOL)
        with tf.GradientTape() as tape:
            product = theory.query(part).tensor * theory.query(WHOLE).tensor
        expected = tape.gradient(product, [v.value for v in theory.trainable_variables])
        for slope, wanted in zip(together[1:], expected, strict=True):
            assert_close(slope, wanted, atol=ATOL)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_theory_learns_the_same_compiled(jit_compile: bool) -> None:
    theory, twin = theory_of(), theory_of()
    theory.compile(keras.optimizers.SGD(0.5), jit_compile=jit_compile)
    twin.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    for each in (theory, twin):
        each.axioms("\n".join([*PARTS, WHOLE]))
        each.fit(epochs=2, verbose=0)
    for learned, wanted in zip(theory.get_weights(), twin.get_weights(), strict=True):
        assert_close(learned, wanted, atol=1e-5)  # two steps, each rounded otherwise


def batch_normalisation() -> ltn.Theory:
    return theory_of(extra=[keras.layers.BatchNormalization()])


def data_for_the_domain() -> ltn.Theory:
    return theory_of()


@pytest.mark.parametrize("make", [batch_normalisation, data_for_the_domain])
def test_calls_are_made_where_rows_are_not_those_of_the_domain(make: Callable[[], ltn.Theory]) -> None:
    theory = make()
    data = {"people": np.ones((4, 3))} if make is data_for_the_domain else None
    count = 4 if data else 5
    rows = theory.plan(conjunction([WHOLE, "exists u: F(u, b)"]), data).rows
    assert rows == {"F": count * count + 2}


def test_tuples_of_a_guard_read_what_they_did() -> None:
    theory = theory_of()
    guarded = "forall x, y where norm(x - y) > 0.5: F(x, y)"
    together = theory.query(conjunction([guarded, "F(a, b)"])).tensor
    assert_close(together, theory.query(guarded).tensor * theory.query("F(a, b)").tensor, atol=ATOL)


def test_classes_and_functions_are_read_too() -> None:
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    theory.constants("a b c", people, trainable=True)
    theory.variable("x", people)
    kinds = theory.domain("kinds", values=range(3))
    theory.variable("k", kinds)
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    theory.predicate("is", (people, kinds), ltn.Predicate.FromLogits(network, "softmax"))
    moved = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
    theory.function("next", people, people, ltn.Function(moved))
    texts = ["forall x: exists k: is(x, k)", "is(b, 2)", "forall x: is(next(x), 1)", "is(next(c), 0)"]
    text = conjunction(texts)
    assert theory.plan(text).rows == {"is": 3 + 3 + 1, "next": 3}
    alone = np.prod([theory.query(each).tensor.numpy() for each in texts])
    assert_close(theory.query(text).tensor, alone, atol=ATOL)


def test_individuals_that_are_declared_later_move_no_rows() -> None:
    theory = theory_of()
    text = conjunction([*PARTS, WHOLE])
    theory.query(text)
    theory.constants("f g", theory.signature.domains["people"], trainable=True)
    alone = np.prod([theory.query(part).tensor.numpy() for part in [*PARTS, WHOLE]])
    assert theory.plan(text).rows == {"F": 49}
    assert_close(theory.query(text).tensor, alone, atol=ATOL)
