"""XLA on a CPU: it compiles the steps of a long training of the kind that it speeds up, and of no other."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.training import compilation
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

COUNT = 30


class Own(keras.regularizers.Regularizer):
    """A regularizer of a user's own, which may do anything."""

    def __call__(self, x: Any) -> Any:
        return tf.reduce_sum(tf.convert_to_tensor(x))


def relation(semantics: Any = "stable_product", **settings: Any) -> ltn.Theory:
    """Learned individuals and a relation between them."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory(semantics, **settings)
    things = theory.domain("things", shape=3)
    theory.constants([f"t{number}" for number in range(COUNT)], things)
    theory.variables("x, y", things)
    theory.predicate("F", (things, things), ltn.Predicate.MLP([3, 3], (4,)))
    theory.axiom("forall x, y: F(x, y) -> F(y, x)", name="symmetric")
    theory.axiom("forall x: ~F(x, x)", name="irreflexive")
    return theory


def with_guard() -> ltn.Theory:
    theory = relation()
    theory.axiom("forall x, y where norm(x - y) > 0.1: F(x, y)")
    return theory


def with_data() -> ltn.Theory:
    theory = relation()
    theory.variable("z", theory.domain("others", shape=3))
    theory.predicate("S", theory.signature.domains["others"], ltn.Predicate.MLP([3], (2,)))
    theory.axiom("forall z: S(z)")
    return theory


def with_network(*layers: keras.Layer) -> ltn.Theory:
    theory = relation()
    network = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(1, "sigmoid")])
    theory.predicate("S", theory.signature.domains["things"], network)
    theory.axiom("forall x: S(x)")
    return theory


def with_code() -> ltn.Theory:
    theory = relation()
    theory.predicate("S", theory.signature.domains["things"], lambda thing: tf.sigmoid(thing[:, 0]))
    return theory


def with_an_axiom_in_python() -> ltn.Theory:
    theory = relation()
    A = theory.proposition("A", trainable=True)
    theory.axiom(lambda: A, name="code")
    return theory


def with_own_operator() -> ltn.Theory:
    return relation(ltn.semantics.product.replace(SatAgg=lambda xs, axis: tf.reduce_mean(xs, axis)))


NEVER: dict[str, Callable[[], ltn.Theory]] = {
    "guard": with_guard,
    "data": with_data,
    "dropout": lambda: with_network(keras.layers.Dropout(0.5)),
    "convolution": lambda: with_network(
        keras.layers.Reshape((3, 1)), keras.layers.Conv1D(2, 2), keras.layers.Flatten()
    ),
    "activation": lambda: with_network(keras.layers.Dense(2, activation=lambda x: 2.0 * x)),
    "regularizer": lambda: with_network(keras.layers.Dense(2, kernel_regularizer=Own())),
    "Python code": with_code,
    "an axiom in Python": with_an_axiom_in_python,
    "an operator of one's own": with_own_operator,
    "no axioms": ltn.Theory,
}


def kinds(theory: ltn.Theory, epochs: int) -> tuple[list[Any], list[bool]]:
    """The satisfactions of a training, and for each of its steps whether XLA had compiled it."""
    compiled: list[bool] = []
    note = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: compiled.append(theory.make_train_function()._step._jit_compile)
    )
    history = theory.fit(epochs=epochs, verbose=0, callbacks=[note]).history
    return history["satisfaction"], compiled


def test_it_begins_after_some_work_and_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "WORK_BEFORE", 6 * COUNT**2)
    found = {}
    for jit_compile in ("auto", False):
        theory = relation()
        theory.compile(keras.optimizers.Adam(0.01), jit_compile=jit_compile)
        found[jit_compile] = kinds(theory, 9)
    assert found["auto"][1] == [False] * 6 + [True] * 3
    assert found[False][1] == [False] * 9
    assert_close(found["auto"][0], found[False][0], rtol=1e-5)  # nine steps, rounded in other places


def test_a_training_that_goes_on_counts_the_steps_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(compilation, "WORK_BEFORE", 6 * COUNT**2)
    theory = relation()
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(epochs=4, verbose=0)
    theory.save(tmp_path / "theory.keras")
    _, compiled = kinds(ltn.load(tmp_path / "theory.keras"), 4)
    assert compiled == [False, False, True, True]


def test_chunks_are_compiled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "WORK_BEFORE", 0)
    theory = relation(chunk=100)
    theory.compile(keras.optimizers.Adam(0.01))
    satisfactions, compiled = kinds(theory, compilation.LEAST_STEPS + 1)
    assert compiled[-1]
    assert np.isfinite(satisfactions).all()


@pytest.mark.parametrize("name", NEVER)
def test_it_never_begins_where_it_was_not_seen_to_win(name: str) -> None:
    assert compilation.steps_before_xla(NEVER[name]().knowledge) is None


def test_it_never_begins_with_more_combinations_than_it_is_good_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "MOST_COMBINATIONS", COUNT**2)
    assert compilation.steps_before_xla(relation().knowledge) is not None
    monkeypatch.setattr(compilation, "MOST_COMBINATIONS", COUNT**2 - 1)
    assert compilation.steps_before_xla(relation().knowledge) is None


def test_the_more_individuals_the_sooner() -> None:
    steps = compilation.steps_before_xla(relation().knowledge)
    assert steps == -(-compilation.WORK_BEFORE // COUNT**2)
    assert steps == compilation.steps_before_xla(with_network().knowledge)
