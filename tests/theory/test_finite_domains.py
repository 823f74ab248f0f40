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
