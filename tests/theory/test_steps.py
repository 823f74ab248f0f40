"""Compiled steps: from where they take their batches."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

from ltn.knowledge import data
from ltn.training.steps import CompiledStep
from tests.theory.theories import classifier
from tests.theory.trained import DATA, compiled


def summing(traces: list[str] | None = None) -> CompiledStep:
    """A step that adds up its batch, and notes each trace."""

    def step(batch: Any) -> dict[str, tf.Tensor]:
        if traces is not None:
            traces.append("one")
        return {"sum": tf.reduce_sum(batch["x"])}

    return CompiledStep(step, jit_compile=False)


def batches_of(*values: float) -> Iterator[Any]:
    return iter(tf.data.Dataset.from_tensor_slices({"x": tf.constant([[value] for value in values])}))


class TestIterators:
    """A step takes batches from the iterator that it is called with."""

    def test_in_turns_from_several(self) -> None:
        step, one, two = summing(), batches_of(1.0, 2.0), batches_of(10.0, 20.0)
        sums = [float(step(batches)["sum"]) for batches in (one, two, two, one)]
        assert sums == [1.0, 10.0, 20.0, 2.0]

    def test_also_of_batches_of_another_kind(self) -> None:
        step = summing()
        assert float(step(batches_of(1.0))["sum"]) == 1.0
        assert float(step(iter(tf.data.Dataset.from_tensors({"x": tf.ones([2, 3])})))["sum"]) == 6.0
        assert float(step(iter([{"x": tf.constant([3.0])}]))["sum"]) == 3.0

    def test_until_the_last(self) -> None:
        step, batches = summing(), batches_of(1.0)
        step(batches)
        with pytest.raises(tf.errors.OutOfRangeError):
            step(batches)

    def test_without_compiling_anew_for_another_of_the_same_kind(self) -> None:
        traces = list[str]()
        step = summing(traces)
        assert [float(step(batches_of(value))["sum"]) for value in (1.0, 2.0)] == [1.0, 2.0]
        assert len(traces) == 1

    def test_and_lets_it_go(self) -> None:
        step, batches = summing(), batches_of(1.0)
        step(batches)
        alive = weakref.ref(batches)
        del batches
        gc.collect()
        assert alive() is None

    def test_only_where_there_are_data(self) -> None:
        def asked(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
            return {name: tf.debugging.check_numerics(value / 0.0, "asked") for name, value in batch.items()}

        batches = iter(data.no_data().map(asked))
        with pytest.raises(tf.errors.InvalidArgumentError, match="asked"):
            next(batches)
        step = CompiledStep(lambda batch: {"size": tf.size(next(iter(batch.values())))}, jit_compile=False)
        assert int(step(batches)["size"]) == 1


@pytest.fixture
def eager_functions() -> Iterator[None]:
    tf.config.run_functions_eagerly(True)
    # TensorFlow warns that data sets stay compiled.
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.filterwarnings("ignore:Even though the `tf.config.experimental_run_functions_eagerly`")
@pytest.mark.usefixtures("eager_functions")
def test_a_step_can_be_debugged_with_functions_that_run_eagerly() -> None:
    seen: list[bool] = []

    def step(batch: Any) -> dict[str, tf.Tensor]:
        seen.append(tf.executing_eagerly())
        return {"sum": tf.reduce_sum(batch["x"])}

    compiled_step, batches = CompiledStep(step, jit_compile=False), batches_of(1.0, 2.0)
    assert [float(compiled_step(batches)["sum"]) for _ in range(2)] == [1.0, 2.0]
    assert seen == [True, True]


def test_both_training_and_evaluation_take_them() -> None:
    theory = compiled(classifier())
    theory.fit(DATA, verbose=0)
    theory.evaluate(DATA, verbose=0)
    assert isinstance(theory.train_function, CompiledStep)
    assert isinstance(theory.test_function, CompiledStep)
