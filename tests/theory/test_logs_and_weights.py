"""What `evaluate` returns and in which order; the weight of knowledge, which may change at any time."""

from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.theory.theories import about
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = np.linspace(-1.0, 1.0, 16, dtype="float32").reshape(8, 2)
LABELS = np.arange(8) % 3


def model_with_knowledge(weight: float = 1.0, **settings: Any) -> Any:
    """A linear classifier, and two axioms that its labels know nothing of; the names are not in order."""
    keras.utils.set_random_seed(0)
    classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    theory = about(classifier)
    theory.axioms("z: forall x: P(x, a)\nb: forall x: P(x, b)")
    model = ltn.with_knowledge(classifier, theory, weight=weight)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, **settings)
    return model


def fit(model: Any, **settings: Any) -> dict[str, list[float]]:
    return model.fit(POINTS, LABELS, batch_size=8, shuffle=False, verbose=0, **settings).history


class TestNames:
    def test_of_a_theory(self) -> None:
        theory = model_with_knowledge().theory
        assert theory.metrics_names == []
        theory.compile()
        data = {"x": POINTS}
        values = theory.evaluate(data, verbose=0)
        assert theory.metrics_names == ["loss", "satisfaction", "z", "b"]
        named = theory.evaluate(data, verbose=0, return_dict=True)
        assert list(named) == theory.metrics_names
        assert list(named.values()) == values
        truths = {name: float(value[0]) for name, value in theory.call(data).items()}
        assert_close(values, [1.0 - truths["satisfaction"], *truths.values()])

    def test_of_a_theory_by_position(self) -> None:
        theory = model_with_knowledge().theory
        theory.compile()
        by_position = theory.evaluate({"x": POINTS}, None, 4, 0, None, None, None, True)
        assert by_position == theory.evaluate({"x": POINTS}, batch_size=4, verbose=0, return_dict=True)

    def test_of_a_model_with_knowledge(self) -> None:
        model = model_with_knowledge(metrics=["accuracy"])
        values = model.evaluate(POINTS, LABELS, 8, 0)
        assert model.metrics_names == ["loss", "satisfaction", "z", "b", "accuracy"]
        named = model.evaluate(POINTS, LABELS, verbose=0, return_dict=True)
        assert list(named) == model.metrics_names
        assert list(named.values()) == values
        assert_close(named["satisfaction"], model.theory.call({"x": POINTS})["satisfaction"][0])


class TestWeight:
    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_a_new_one_holds_for_training_and_evaluation_without_a_new_trace(
        self, jit_compile: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        changed, other = model_with_knowledge(1.0, jit_compile=jit_compile), model_with_knowledge(4.0)
        fit(changed)
        traced: list[None] = []
        evaluate = type(changed.theory).call

        def counting(*args: Any, **kwargs: Any) -> Any:
            traced.append(None)
            return evaluate(*args, **kwargs)

        monkeypatch.setattr(type(changed.theory), "call", counting)
        changed.set_weights(model_with_knowledge().get_weights())
        changed.weight = 4
        assert changed.weight == 4.0
        losses = fit(changed)["loss"]
        assert not traced
        assert_close(losses, fit(other)["loss"])
        assert traced
        for one, two in zip(changed.weights, other.weights, strict=True):
            assert_close(one.numpy(), two.numpy())
        assert_close(changed.evaluate(POINTS, LABELS, verbose=0), other.evaluate(POINTS, LABELS, verbose=0))

    def test_in_a_callback(self) -> None:
        class Later(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                self.model.weight = float(epoch)

        changed, other = model_with_knowledge(9.0), model_with_knowledge(0.0)
        fit(changed, epochs=2, callbacks=[Later()])
        fit(other)
        other.weight = 1.0
        fit(other)
        for one, two in zip(changed.weights, other.weights, strict=True):
            assert_close(one.numpy(), two.numpy())

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "much"])
    def test_a_wrong_one_changes_nothing(self, weight: Any) -> None:
        model = model_with_knowledge(2.0)
        with pytest.raises(ltn.LogicValueError, match="a number of at least 0"):
            model.weight = weight
        assert model.weight == 2.0

    def test_it_is_saved(self, tmp_path: Any) -> None:
        model = model_with_knowledge()
        model.weight = 0.25
        model.save(tmp_path / "model.keras")
        assert keras.models.load_model(tmp_path / "model.keras").weight == 0.25
