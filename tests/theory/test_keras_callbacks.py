"""The callbacks that Keras users know, in the training of a theory."""

import glob
import importlib.util
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import (
    Before,
    assert_same_weights,
    classifier,
    one_weight,
    slim,
    truth,
    weights_of,
)
from tests.theory.trained import DATA, OTHERS, POINTS, compiled
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


class TestCallbacks:
    def test_early_stopping_on_the_satisfaction(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.5))
        stopping = keras.callbacks.EarlyStopping("satisfaction", mode="max", patience=2, min_delta=1e-3)
        history = theory.fit(epochs=50, callbacks=[stopping], verbose=0)
        # It is true after a step, and stays so.
        assert len(history.epoch) == 4

    def test_early_stopping_on_one_axiom_restores_the_best_weights(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.2))
        best = weights_of(theory)
        stopping = keras.callbacks.EarlyStopping("so", mode="min", patience=1, restore_best_weights=True)
        theory.fit(epochs=5, callbacks=[stopping], verbose=0)
        # After the first epoch the weight has had one step; Keras keeps what it was at the end of it.
        assert truth(theory, "w") == pytest.approx(float(best[0]) + 0.2, abs=1e-3)

    def test_terminate_on_nan(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.constants("a", numbers)
        theory.predicate("I", numbers, tf.sigmoid)
        theory.axiom("I(a)")
        compiled(theory, keras.optimizers.SGD(float("nan")), on_nan="ignore")
        history = theory.fit(epochs=5, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0)
        # The first step is taken from a number, the second one from NaN.
        assert len(history.epoch) == 2

    @pytest.mark.parametrize(
        ("grounding", "message"),
        [(lambda x: x / 0.0, "'I'.*must lie in .*got nan"), (lambda x: x - 5.0, "'I'.*must lie in .*got -")],
    )
    def test_truths_that_are_none_are_found_before_the_first_step(self, grounding: Any, message: str) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.variable("x", numbers)
        theory.predicate("I", numbers, grounding)
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("forall x: I(x) | w")
        compiled(theory)
        with pytest.raises(ltn.LogicValueError, match=message):
            theory.fit({"x": [0.0, 0.0]}, verbose=0)
        assert float(theory.query("w")) == 0.5

    def test_data_paired_with_all_individuals_of_a_domain_are_found_too(self) -> None:
        theory = ltn.Theory()
        points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["a", "b", "c"])
        theory.variable("x", points)
        theory.variable("l", classes)
        theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(keras.layers.Dense(3), "softmax"))
        theory.axiom("forall diag(x, l): P(x, l)")
        compiled(theory)
        with pytest.raises(ltn.LogicValueError, match=r"'x' with all individuals.*give data for 'l'"):
            theory.fit({"x": np.zeros((3, 2))}, verbose=0)

    def test_checkpoints_of_the_whole_model(self, tmp_path: Path) -> None:
        theory = compiled(slim(), keras.optimizers.Adam(0.05))
        path = str(tmp_path / "best.keras")
        checkpoint = keras.callbacks.ModelCheckpoint(
            path, monitor="val_satisfaction", mode="max", save_best_only=True
        )
        unseen = {"x": OTHERS["x"]}
        theory.fit(POINTS, epochs=3, validation_data=unseen, callbacks=[checkpoint], verbose=0)
        restored = ltn.load(path)
        found = restored.evaluate(unseen, verbose=0, return_dict=True)
        assert found["satisfaction"] == pytest.approx(checkpoint.best, abs=1e-6)

    def test_checkpoints_of_weights(self, tmp_path: Path) -> None:
        theory = compiled(one_weight())
        path = str(tmp_path / "{epoch}.weights.h5")
        checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        theory.fit(epochs=2, callbacks=[checkpoint], verbose=0)
        other = one_weight()
        other.load_weights(str(tmp_path / "2.weights.h5"))
        assert_same_weights(other, theory)
        other.load_weights(str(tmp_path / "1.weights.h5"))
        with pytest.raises(AssertionError):
            assert_same_weights(other, theory)

    def test_backup_and_restore_goes_on_where_training_broke_off(self, tmp_path: Path) -> None:
        def fail(epoch: int) -> None:
            if epoch == 2:
                raise KeyboardInterrupt

        broken, whole, again = (compiled(one_weight(), keras.optimizers.Adam(0.05)) for _ in range(3))
        whole.fit(epochs=4, verbose=0)
        backup = keras.callbacks.BackupAndRestore(str(tmp_path), delete_checkpoint=False)
        with pytest.raises(KeyboardInterrupt):
            broken.fit(epochs=4, callbacks=[backup, Before(fail)], verbose=0)
        backup = keras.callbacks.BackupAndRestore(str(tmp_path))
        history = again.fit(epochs=4, callbacks=[backup], verbose=0)
        assert history.epoch == [2, 3]
        assert_same_weights(again, whole)

    def test_the_learning_rate_is_reduced_on_a_plateau(self) -> None:
        theory = compiled(one_weight(1.0), keras.optimizers.SGD(0.5))
        plateau = keras.callbacks.ReduceLROnPlateau("satisfaction", mode="max", patience=1, factor=0.1)
        theory.fit(epochs=4, callbacks=[plateau], verbose=0)
        assert float(theory.optimizer.learning_rate) < 0.1

    def test_tensorboard_shows_a_curve_for_each_axiom(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_tensorboard(monkeypatch)
        theory = compiled(classifier())
        history = theory.fit(
            DATA,
            epochs=2,
            validation_data=OTHERS,
            callbacks=[keras.callbacks.TensorBoard(tmp_path)],
            verbose=0,
        ).history
        for folder, prefix in (("train", ""), ("validation", "val_")):
            curves = scalars(tmp_path / folder)
            for name in ("loss", "satisfaction", "positive", "negative"):
                assert_close([curves[f"epoch_{name}"][step] for step in (0, 1)], history[prefix + name])


def without_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow writes scalars by a function of the package `tensorboard`; stand in where it is missing."""
    if importlib.util.find_spec("tensorboard") is None:

        def scalar(name: str, data: Any, step: Any = None) -> Any:
            plugin = tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars")
            metadata = tf.compat.v1.SummaryMetadata(plugin_data=plugin)
            return tf.summary.write(name, tf.cast(data, tf.float32), step=step, metadata=metadata)

        monkeypatch.setattr(importlib.import_module("tensorflow.summary"), "scalar", scalar)


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """The curves in the event files of a folder, by name and step."""
    curves: dict[str, dict[int, float]] = {}
    for path in glob.glob(str(folder / "**" / "*tfevents*"), recursive=True):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "scalars":
                    number = float(tf.make_ndarray(value.tensor))
                    curves.setdefault(value.tag, {})[event.step] = number
    return curves
