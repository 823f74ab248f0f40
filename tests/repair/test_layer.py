"""The layer at the end of a classifier: never a violation, gradients, files, compiled forms."""

from pathlib import Path

import hypothesis.strategies as st
import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given

import ltn
from ltn.repair.logics import logic_of
from ltn.repair.row_rules import RowRules
from tests.repair.rules import (
    NAMES,
    Literals,
    axiom_of,
    implications,
    is_satisfied,
    repaired,
    theory_of,
)

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
    layer = ltn.Repair(RowRules(COUNT, tuple(edges)), direction)
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


@pytest.mark.parametrize("semantics", ["godel", "product", "lukasiewicz"])
def test_other_clauses_are_refined_and_implications_kept_all_the_same(semantics: str) -> None:
    others: list[Literals] = [[(0, False), (1, False)], [(3, True), (4, True), (5, True)], [(2, True)]]
    theory = theory_of([*implications([(0, 3), (1, 3)]), *map(axiom_of, others)], semantics)
    layer = ltn.Repair(theory, q=0.75)
    inputs = tf.constant(np.random.default_rng(0).random((200, COUNT)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs)
    gradients = tape.gradient(outputs, inputs).numpy()
    found = outputs.numpy()
    assert (found[:, :2] <= found[:, 3:4]).all()
    fine = [[is_satisfied(semantics, clause, row, 0.75) for clause in others] for row in found]
    assert np.mean(fine) == 1.0
    assert np.isfinite(gradients).all()
    assert (gradients != 0.0).any(axis=1).all()
    # What breaks no rule stays.
    whole = [*others, [(0, False), (3, True)], [(1, False), (3, True)]]
    stays = [all(is_satisfied(semantics, clause, row, 0.75) for clause in whole) for row in inputs.numpy()]
    assert 0 < sum(stays) < 200
    assert found[stays].tolist() == inputs.numpy()[stays].tolist()
    for jit in (False, True):
        compiled = tf.function(layer, jit_compile=jit)
        np.testing.assert_allclose(compiled(inputs), found, atol=1e-6)
    again = ltn.Repair.from_config(layer.get_config())
    assert again(inputs).numpy().tolist() == found.tolist()


@pytest.mark.parametrize("kind", ["godel", "product", "lukasiewicz"])
def test_a_round_makes_the_smallest_change_of_a_clause(kind: str) -> None:
    clause: Literals = [(0, True), (1, False), (2, True)]
    rows = np.random.default_rng(1).integers(0, 9, (50, 3)) / 8
    layer = ltn.Repair(theory_of([axiom_of(clause)], kind, count=3), rounds=1, q=0.9, dtype="float64")
    found = layer(tf.constant(rows)).numpy()
    literals = np.where([True, False, True], rows, 1.0 - rows)
    broken = np.array([not is_satisfied(kind, clause, row, 0.9) for row in rows])
    literals[broken] = logic_of(ltn.semantics.get(kind)).lift(literals[broken], 0.9 + 1e-6)
    np.testing.assert_allclose(found, np.where([True, False, True], literals, 1.0 - literals), atol=1e-12)
    # The ends, where products are 0 or 1, have gradients too.
    inputs = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = ltn.Repair(layer.rules, rounds=3)(inputs)
    assert np.isfinite(tape.gradient(outputs, inputs).numpy()).all()


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
    archive = tf.saved_model.load(tmp_path / "served")
    served = archive.serve(inputs)
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
    assert ltn.Repair(theory).rules == RowRules(3, ((2, 1),))


def test_the_columns_of_other_predicates_are_as_they_were_declared() -> None:
    theory = ltn.Theory()
    rows = theory.domain("rows", shape=3, bounds=(1.0, 2.0))
    theory.variables("x, y", rows)
    for name in ("dog", "cat", "animal"):
        theory.predicate(name, rows, ltn.Predicate.MLP([3]))
    theory.axioms("forall x: dog(x) -> animal(x)\nforall y: cat(y) -> animal(y)")
    assert ltn.Repair(theory).rules == RowRules(3, ((0, 2), (1, 2)))
    assert ltn.Repair(theory, axioms=["axiom_2"]).rules == RowRules(3, ((1, 2),))
