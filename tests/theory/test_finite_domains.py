"""Data for variables whose domains are finite: what comes is used, in batches, and not all individuals."""

from collections.abc import Callable
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

TRIPLES = {"h": [0, 1, 2, 3], "r": [0, 1, 2, 0], "t": [1, 2, 3, 4]}


class Rows:
    """A predicate that notes on how many rows it runs while no graph is traced."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def __call__(self, inputs: list[tf.Tensor]) -> tf.Tensor:
        if tf.executing_eagerly():
            self.counts.append(len(inputs[0]))
        return tf.sigmoid(inputs[0] - inputs[1] + inputs[2])


def theory_of(holds: Callable[..., Any]) -> ltn.Theory:
    # A mean over batches of one size is the mean over all rows.
    theory = ltn.Theory("product", p_forall=1)
    entities, relations = theory.domain("entities", values=range(5)), theory.domain("kinds", values=range(3))
    theory.variables("h, t", entities)
    theory.variable("r", relations)
    theory.predicate("holds", (entities, relations, entities), holds)
    theory.proposition("A", 0.3, trainable=True)
    theory.axiom("forall diag(h, r, t): holds(h, r, t)", name="known")
    theory.axiom("A")
    theory.compile("sgd")
    return theory


def as_dataset() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(TRIPLES).batch(2)


class Batches(keras.utils.PyDataset):
    """Two rows at a time."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, number: int) -> Any:
        return ({name: np.array(values[2 * number : 2 * number + 2]) for name, values in TRIPLES.items()},)


class TestFirstLook:
    @pytest.mark.parametrize(
        "read",
        [
            lambda: TRIPLES,
            as_dataset,
            Batches,
            lambda: (batch for batch in as_dataset().as_numpy_iterator()),
        ],
        ids=["dictionary", "dataset", "py_dataset", "generator"],
    )
    def test_uses_the_data_that_come(self, read: Callable[[], Any]) -> None:
        rows = Rows()
        theory = theory_of(rows)
        expected = float(theory.query("forall diag(h, r, t): holds(h, r, t)", TRIPLES))
        rows.counts.clear()
        history = theory.fit(read(), batch_size=2, steps_per_epoch=2, verbose=0)
        assert_close(history.history["known"][-1], expected)
        # Of data that are read only once, there is no first look.
        assert max(rows.counts, default=0) <= 2


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 2)])
class TestMembership:
    def test_is_that_of_a_comparison_with_each(self, shape: tuple[int, ...]) -> None:
        drawn = np.random.default_rng(1).integers(-1, 2, (40, *shape)).astype(np.float32)
        # An individual that is 0 is found by -0.0 too.
        rows = np.concatenate([drawn, -drawn, drawn + 0.5])
        individuals = np.unique(drawn[:20], axis=0)
        domain = ltn.Theory().domain("d", values=individuals)
        expected = [any(np.array_equal(row, one) for one in individuals) for row in rows]
        assert 0 < sum(expected) < len(rows)
        assert domain.has(rows).tolist() == expected
        assert domain.has(rows[:0]).tolist() == []

    def test_is_checked_in_data_sets_too(self, shape: tuple[int, ...]) -> None:
        individuals = np.stack([np.full(shape, value, np.float32) for value in (5.0, -0.0, 2.0)])
        theory = ltn.Theory()
        domain = theory.domain("d", values=individuals)
        theory.variable("x", domain)
        theory.predicate("P", domain, ltn.Predicate.MLP([shape]))
        theory.axiom("forall x: P(x)")
        theory.compile("sgd")
        known, other = individuals[[0, 1, 1]] * np.float32(-1.0) * -1.0, individuals[[0, 1, 1]] + 0.5
        theory.evaluate(tf.data.Dataset.from_tensors({"x": known}), verbose=0)
        for data in ({"x": other}, tf.data.Dataset.from_tensors({"x": other})):
            with pytest.raises(ltn.LogicValueError, match=r"not individuals.*'d' in 3 of 3 rows"):
                theory.evaluate(data, verbose=0)


def test_individuals_stand_where_they_were_declared() -> None:
    theory = ltn.Theory()
    people, towns = theory.domain("people", shape=2), theory.domain("towns", values=["Rome", "Seoul"])
    theory.constants("Bob, Ann", people)
    places = theory.signature.places
    assert places(people) == {"Bob": 0, "Ann": 1}
    with pytest.raises(ltn.LogicValueError):
        theory.constants("Eve, Rome", people)
    assert places(people) == {"Bob": 0, "Ann": 1}
    theory.constant("Zoe", people)
    assert places(people) == {"Bob": 0, "Ann": 1, "Zoe": 2}
    assert places(towns) == {"Rome": 0, "Seoul": 1}
