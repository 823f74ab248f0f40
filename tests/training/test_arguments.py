"""Arguments with which Keras would train nothing, or something else, are refused; the next call works."""

from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.theory.theories import knowledge, network, slim, weights_of

POINTS = np.random.default_rng(0).uniform(size=(8, 2)).astype(np.float32)
FIT: list[tuple[dict[str, Any], str]] = [
    ({"batch_size": 0}, "`batch_size` must be a whole number, at least 1; got 0"),
    ({"batch_size": -3}, "`batch_size`.*got -3"),
    ({"batch_size": 2.5}, "`batch_size`.*got 2.5"),
    ({"batch_size": True}, "`batch_size`.*got True"),
    ({"epochs": -1}, "`epochs` must be a whole number, at least 0; got -1"),
    ({"initial_epoch": -1}, "`initial_epoch`.*got -1"),
    ({"steps_per_epoch": 0}, "`steps_per_epoch`.*got 0"),
    ({"validation_steps": 0}, "`validation_steps`.*got 0"),
    ({"validation_batch_size": 0}, "`validation_batch_size`.*got 0"),
    ({"validation_split": 2.0}, "`validation_split` is the part.*got 2.0"),
    ({"validation_split": -0.5}, "`validation_split`.*got -0.5"),
    ({"verbose": "loud"}, "`verbose` is one of 'auto', 0, 1, 2; got 'loud'"),
    ({"callbacks": 3}, r"`callbacks` are keras.callbacks.Callback objects.*got 3"),
    ({"callbacks": [3]}, "`callbacks`.*got 3"),
]
COMPILE: list[tuple[dict[str, Any], str]] = [
    ({"optimizer": None}, "`optimizer` must be one of keras.optimizers.*got None"),
    ({"optimizer": "adm"}, "`optimizer`.*got 'adm'"),
    ({"optimizer": 3}, "`optimizer`.*got 3"),
    ({"jit_compile": "x"}, "`jit_compile` is True, False or 'auto'; got 'x'"),
    ({"run_eagerly": "x"}, "`run_eagerly` is True or False; got 'x'"),
    ({"steps_per_execution": -2}, "`steps_per_execution`.*at least 1; got -2"),
    ({"steps_per_execution": "auto"}, "`steps_per_execution`.*got 'auto'"),
]


def theory() -> Any:
    theory = slim()
    theory.compile("sgd")
    return theory


def informed() -> Any:
    classifier = network()
    model = ltn.with_knowledge(classifier, knowledge(classifier))
    model.compile("sgd", "mse")
    return model


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {"theory": theory(), "model": informed()}


DATA: dict[str, Any] = {"theory": ({"x": POINTS},), "model": (POINTS, np.zeros((8, 3)))}


@pytest.mark.parametrize("name", ["theory", "model"])
class TestWrongOnes:
    @pytest.mark.parametrize(("wrong", "message"), FIT, ids=lambda each: str(each)[:30])
    def test_of_fit(self, models: dict[str, Any], name: str, wrong: dict[str, Any], message: str) -> None:
        model = models[name]
        before = weights_of(model)
        with pytest.raises(ltn.LogicError, match=message):
            model.fit(*DATA[name], **{"verbose": 0} | wrong)
        for mine, old in zip(model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(mine, old)

    @pytest.mark.parametrize(("wrong", "message"), COMPILE, ids=lambda each: str(each)[:30])
    def test_of_compile(self, models: dict[str, Any], name: str, wrong: dict[str, Any], message: str) -> None:
        model = models[name]
        optimizer = model.optimizer
        with pytest.raises(ltn.LogicValueError, match=message):
            model.compile(**wrong)
        assert model.optimizer is optimizer

    @pytest.mark.parametrize("wrong", [{"steps": 0}, {"batch_size": 0}, {"callbacks": 3}], ids=str)
    def test_of_evaluate(self, models: dict[str, Any], name: str, wrong: dict[str, Any]) -> None:
        with pytest.raises(ltn.LogicError, match=f"`{next(iter(wrong))}`"):
            models[name].evaluate(*DATA[name], verbose=0, **wrong)


def test_of_predict(models: dict[str, Any]) -> None:
    with pytest.raises(ltn.LogicValueError, match="`batch_size`"):
        models["theory"].predict({"x": POINTS}, batch_size=0, verbose=0)


def test_after_wrong_ones_the_theory_trains(models: dict[str, Any]) -> None:
    one = models["theory"]
    before = weights_of(one)
    one.fit({"x": POINTS}, validation_split=0.5, batch_size=np.int64(4), verbose=0)
    assert any((mine != old).any() for mine, old in zip(one.get_weights(), before, strict=True))


@pytest.mark.parametrize("name", ["p_foo", "foo", 3, None])
def test_a_schedule_of_no_hyperparameter(name: Any) -> None:
    with pytest.raises(ltn.LogicTypeError, match="There is no hyper-parameter `"):
        ltn.callbacks.Schedule(name, {0: 1.0})


def test_callbacks_may_be_a_list_of_keras(models: dict[str, Any]) -> None:
    ended: list[int] = []
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ended.append(epoch))
    for callbacks in (note, [note], (note,)):
        models["theory"].fit({"x": POINTS}, callbacks=callbacks, verbose=0)
    assert ended == [0, 0, 0]
