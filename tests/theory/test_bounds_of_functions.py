"""Values of functions outside the bounds of their domain."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn

PEOPLE = np.array([[0.5], [5.0], [0.25]], np.float32)


def theory_with(grounding: Any, **domain: Any) -> ltn.Theory:
    theory = ltn.Theory()
    people = theory.domain("people")
    theory.variable("x", people)
    ages = theory.domain("ages", **domain)
    theory.function("age", people, ages, grounding)
    theory.predicate("old", ages, lambda age: tf.sigmoid(age[:, :1]))
    theory.axiom("forall x: old(age(x))", name="all")
    return theory


def hundredfold(x: tf.Tensor) -> tf.Tensor:
    return 100.0 * x


def test_eager_code_refuses_them() -> None:
    theory = theory_with(hundredfold, bounds=(0, 100))
    message = (
        r"function 'age' must lie within the bounds \(0\.0, 100\.0\) of its domain 'ages'; got 500 \(1 of 3 "
        r"values are invalid\)\. End its network with a sigmoid and keras\.layers\.Rescaling\(100, 0\); or "
    )
    for ask in (lambda: theory.query("age(x)", x=PEOPLE), lambda: theory.report({"x": PEOPLE})):
        with pytest.raises(ltn.LogicValueError, match=message):
            ask()
    assert theory.query("age(x)", x=PEOPLE[:1]).numpy().tolist() == [[50.0]]


def test_training_refuses_them_in_its_first_batch() -> None:
    theory = theory_with(ltn.Function(keras.Sequential([keras.layers.Dense(1)])), bounds=(100, 200))
    theory.compile("sgd")
    with pytest.raises(ltn.LogicValueError, match=r"'age' must lie within .*Rescaling\(100, 100\)"):
        theory.fit({"x": PEOPLE}, verbose=0)


def test_what_the_message_advises_stays_inside() -> None:
    layers = [keras.layers.Dense(1, activation="sigmoid"), keras.layers.Rescaling(100, 100)]
    theory = theory_with(ltn.Function(keras.Sequential(layers)), bounds=(100, 200))
    theory.compile("sgd")
    theory.fit({"x": 1e6 * PEOPLE}, verbose=0)
    ages = theory.query("age(x)", x=1e6 * PEOPLE).numpy()
    assert np.all((ages >= 100.0) & (ages <= 200.0))


def test_compiled_code_sees_them_under_debug_alone() -> None:
    theory = theory_with(hundredfold, bounds=(0, 100))

    def age(people: tf.Tensor) -> tf.Tensor:
        return theory.query("age(x)", x=people).tensor

    unchecked = tf.function(age)
    assert float(unchecked(PEOPLE)[1, 0]) == 500.0
    operations = {op.type for op in unchecked.get_concrete_function(PEOPLE).graph.get_operations()}
    assert "Assert" not in operations
    with (
        ltn.debug(),
        pytest.raises(tf.errors.InvalidArgumentError, match=r"age.* must lie within the bounds[\s\S]*500"),
    ):
        tf.function(age)(PEOPLE)


def test_a_simplex() -> None:
    theory = theory_with(lambda x: tf.concat([x, x], axis=1), shape=2, bounds="simplex")
    assert theory.query("age(x)", x=PEOPLE[:1]).tensor.shape == (1, 2)
    with pytest.raises(ltn.LogicValueError, match=r"bounds simplex .* End its network with a softmax"):
        theory.query("age(x)", x=PEOPLE)


def test_a_product_is_checked_part_by_part() -> None:
    theory = ltn.Theory()
    people, ages = theory.domain("people"), theory.domain("ages", bounds=(0, 1))
    theory.variable("x", people)
    theory.function("both", people, people * ages, lambda x: tf.concat([100.0 * x, x / 10.0], axis=1))
    assert theory.query("both(x)", x=PEOPLE).tensor.shape == (3, 2)
    with pytest.raises(ltn.LogicValueError, match=r"bounds \(0\.0, 1\.0\) of its domain 'people \* ages'"):
        theory.query("both(x)", x=10.0 * PEOPLE)


def test_nan_is_outside() -> None:
    theory = theory_with(lambda x: x * float("nan"), bounds=(0, 100))
    with pytest.raises(ltn.LogicValueError, match=r"got nan .* NaN comes from"):
        theory.query("age(x)", x=PEOPLE)
