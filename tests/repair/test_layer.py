"""The layer at the end of a classifier: never a violation, gradients, files, compiled forms."""

from pathlib import Path

import hypothesis.strategies as st
import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given

import ltn
from ltn.repair.hierarchy import Hierarchy
from tests.repair.rules import NAMES, implications, repaired, theory_of

COUNT = len(NAMES)
EDGES = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=9)
CHAIN = [(0, 1), (1, 2), (3, 2), (4, 5)]


def classifier(layer: ltn.Repair) -> keras.Model:
    """A random network that ends in a layer."""
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(COUNT, "sigmoid"), layer])


@given(EDGES, st.integers(0, 2**16), st.sampled_from(["raise", "lower"]))
def test_no_network_and_no_input_gives_a_violation(
    edges: list[tuple[int, int]], seed: int, direction: str
) -> None:
    keras.utils.set_random_seed(seed)
    layer = ltn.Repair(Hierarchy(COUNT, tuple(edges)), direction)
    inputs = 100.0 ** np.random.default_rng(seed).normal(size=(5, 4))
    found = classifier(layer)(inputs.astype(np.float32)).numpy()
    for a, b in edges:
        assert (found[:, a] <= found[:, b]).all()


@pytest.mark.parametrize("direction", ["raise", "lower"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_it_gives_what_the_repair_of_the_theory_gives(direction: str, dtype: str) -> None:
    theory = theory_of(implications(CHAIN))
    rows = np.random.default_rng(0).integers(0, 8, (7, COUNT)) / 8
    layer = ltn.Repair(theory, direction, dtype=dtype)
    inputs = tf.constant(rows, dtype)
    expected = repaired(theory, rows, direction=direction)
    assert tf.cast(layer(inputs), tf.float32).numpy().tolist() == expected.tolist()
    assert layer(inputs).dtype == dtype
    # Logits are in the same order.
    logits = tf.cast(layer(tf.constant(rows - 0.5, dtype)), tf.float32)
    assert logits.numpy().tolist() == (expected - 0.5).tolist()
    for jit in (False, True):
        compiled = tf.function(layer, jit_compile=jit)
        assert tf.cast(compiled(inputs), tf.float32).numpy().tolist() == expected.tolist()


def test_an_implication_in_a_circle_is_an_equality() -> None:
    layer = ltn.Repair(theory_of(implications([(0, 1), (1, 2), (2, 0), (2, 3)]), count=4))
    assert layer(tf.constant([[0.25, 0.75, 0.5, 0.0]])).numpy().tolist() == [[0.75] * 4]


def test_gradients_go_to_the_input_that_an_output_is() -> None:
    layer = ltn.Repair(theory_of(implications(CHAIN)))
    inputs = tf.constant([[1.0, 0.25, 0.5, 0.0, 0.75, 0.5]])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs)
        total = tf.reduce_sum(outputs * tf.constant([[1.0, 10.0, 100.0, 1000.0, 3.0, 5.0]]))
    assert outputs.numpy().tolist() == [[1.0, 1.0, 1.0, 0.0, 0.75, 0.75]]
    assert tape.gradient(total, inputs).numpy().tolist() == [[111.0, 0.0, 0.0, 1000.0, 8.0, 0.0]]


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_a_model_that_ends_in_it_learns_is_saved_loaded_and_exported(tmp_path: Path) -> None:
    model = classifier(ltn.Repair(theory_of(implications(CHAIN)), "lower", name="coherent"))
    model.compile("adam", "binary_crossentropy")
    inputs = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    before = model.get_weights()[0]
    model.fit(inputs, np.ones((8, COUNT), np.float32), epochs=2, verbose=0)
    assert (model.get_weights()[0] != before).any()
    expected = model(inputs).numpy()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded(inputs).numpy().tolist() == expected.tolist()
    assert loaded.layers[-1].get_config() == model.layers[-1].get_config()
    model.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(tmp_path / "served").serve(inputs)
    np.testing.assert_allclose(served, expected, rtol=1e-6)
    assert (served.numpy()[:, 0] <= served.numpy()[:, 1]).all()


def test_the_columns_of_heads_are_the_outputs_of_their_network() -> None:
    theory = ltn.Theory()
    rows = theory.domain("rows", shape=3)
    theory.variable("x", rows)
    heads = ltn.Predicate.heads(keras.layers.Dense(3), ["low", "middle", "high"])
    for name in ("high", "middle"):
        theory.predicate(name, rows, heads[name])
    theory.axiom("forall x: high(x) -> middle(x)")
    assert ltn.Repair(theory).hierarchy == Hierarchy(3, ((2, 1),))


def test_the_columns_of_other_predicates_are_as_they_were_declared() -> None:
    theory = ltn.Theory()
    rows = theory.domain("rows", shape=3, bounds=(1.0, 2.0))
    theory.variables("x, y", rows)
    for name in ("dog", "cat", "animal"):
        theory.predicate(name, rows, ltn.Predicate.MLP([3]))
    theory.axioms("forall x: dog(x) -> animal(x)\nforall y: cat(y) -> animal(y)")
    assert ltn.Repair(theory).hierarchy == Hierarchy(3, ((0, 2), (1, 2)))
    assert ltn.Repair(theory, axioms=["axiom_2"]).hierarchy == Hierarchy(3, ((1, 2),))
