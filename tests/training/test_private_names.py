"""Private names of Keras that training relies on: they are still there, and mean what they meant."""

from typing import Any

import keras
import numpy as np
import pytest

from ltn import _private

DATA = np.ones((4, 1), np.float32)


class Recording(keras.Model):
    """One weight, and a note of each private name that Keras uses."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.noted: list[Any] = []

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        self.noted.append(("validation", _private.is_validation(kwargs)))
        return super().evaluate(*args, **kwargs)

    def _maybe_symbolic_build(self, *args: Any, **kwargs: Any) -> Any:
        self.noted.append("build")
        return super()._maybe_symbolic_build(*args, **kwargs)

    def _get_metrics_result_or_logs(self, logs: Any) -> Any:
        self.noted.append("results")
        return _private.keep_common_logs(self, logs)


@pytest.fixture
def model() -> Recording:
    model = Recording()
    model.compile("sgd", "mse")
    return model


def test_keras_calls_the_methods_that_are_replaced(model: Recording) -> None:
    model.fit(DATA, DATA, verbose=0)
    assert set(model.noted) == {"build", "results"}


def test_validation_within_fit_is_told_apart(model: Recording) -> None:
    model.fit(DATA, DATA, validation_data=(DATA, DATA), verbose=0)
    assert ("validation", True) in model.noted
    assert ("validation", False) not in model.noted
    model.evaluate(DATA, DATA, verbose=0)
    assert model.noted.count(("validation", False)) == 1


def test_the_logs_of_one_replica_are_those_of_keras(model: Recording) -> None:
    logs = model.fit(DATA, DATA, verbose=0).history
    assert list(logs) == ["loss"]


def test_the_loss_has_a_tracker(model: Recording) -> None:
    assert _private.loss_tracker(model) is model.metrics[0]
    assert _private.loss_tracker(model).name == "loss"


def test_an_optimizer_knows_its_weights() -> None:
    optimizer, weight = keras.optimizers.Adam(), keras.Variable([1.0])
    assert _private.weights_of_optimizer(optimizer) == []
    optimizer.build([weight])
    [known] = _private.weights_of_optimizer(optimizer)
    assert known is weight
