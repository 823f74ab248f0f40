"""Backups: a training that was interrupted goes on to the same result."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from ltn.callbacks import Backup, Schedule
from tests.theory.theories import assert_same_weights, classifier, knowledge, labelled_points, network

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = labelled_points(10)
EPOCHS = 5


class AccidentError(Exception):
    """What interrupts a training."""


class Interrupted(keras.callbacks.Callback):
    """An accident in the second step of an epoch."""

    def __init__(self, epoch: int):
        super().__init__()
        self.last, self.now = epoch, -1

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.now = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if (self.now, batch) == (self.last, 1):
            raise AccidentError


def theory_to_train(**settings: Any) -> ltn.Theory:
    keras.utils.set_random_seed(0)
    theory = classifier(**settings)
    theory.compile(keras.optimizers.Adam(0.05))
    return theory


def train(theory: Any, *callbacks: keras.callbacks.Callback, epochs: int = EPOCHS) -> list[int]:
    """The epochs of a training."""
    options: dict[str, Any] = {"batch_size": 4, "epochs": epochs, "shuffle": False, "verbose": 0}
    return theory.fit(DATA, callbacks=[Schedule("p_forall", {0: 1, 3: 4}), *callbacks], **options).epoch


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """The folder of a training that stopped in the middle of epoch 3."""
    with pytest.raises(AccidentError):
        train(theory_to_train(), Backup(tmp_path / "backup"), Interrupted(3))
    return tmp_path / "backup"


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


class TestGoingOn:
    def test_to_the_weights_of_a_run_without_an_accident(self, interrupted: Path) -> None:
        assert files(interrupted) == ["epoch-3.npz"]
        whole, resumed = theory_to_train(), theory_to_train()
        train(whole)
        assert train(resumed, Backup(interrupted)) == [3, 4]
        assert_same_weights(resumed, whole)
        for mine, theirs in zip(resumed.optimizer.variables, whole.optimizer.variables, strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())

    def test_after_a_second_accident(self, interrupted: Path) -> None:
        theory = theory_to_train()
        with pytest.raises(AccidentError):
            train(theory, Backup(interrupted), Interrupted(4))
        assert files(interrupted) == ["epoch-4.npz"]
        assert train(theory, Backup(interrupted)) == [4]
        whole = theory_to_train()
        train(whole)
        assert_same_weights(theory, whole)

    def test_an_accident_does_not_shorten_a_training_without_backup(self, interrupted: Path) -> None:
        theory = theory_to_train()
        with pytest.raises(AccidentError):
            train(theory, Backup(interrupted), Interrupted(4))
        assert train(theory) == list(range(EPOCHS))

    def test_nothing_is_repeated_where_only_the_end_was_missed(self, interrupted: Path) -> None:
        theory = theory_to_train()
        assert train(theory, Backup(interrupted), epochs=3) == []
        assert files(interrupted) == []

    def test_a_model_with_knowledge(self, tmp_path: Path) -> None:
        def trained(*callbacks: keras.callbacks.Callback) -> Any:
            keras.utils.set_random_seed(0)
            task = network()
            model = ltn.with_knowledge(task, knowledge(task))
            model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            options: dict[str, Any] = {"batch_size": 4, "epochs": 3, "shuffle": False, "verbose": 0}
            model.fit(DATA["x"], DATA["l"], callbacks=list(callbacks), **options)
            return model

        with pytest.raises(AccidentError):
            trained(Backup(tmp_path), Interrupted(2))
        assert files(tmp_path) == ["epoch-2.npz"]
        assert_same_weights(trained(Backup(tmp_path)), trained())


class TestFiles:
    def test_the_end_of_training_removes_them(self, tmp_path: Path) -> None:
        theory = theory_to_train()
        backup = Backup(tmp_path / "new" / "folder")
        assert train(theory, backup) == list(range(EPOCHS))
        assert files(backup.folder) == []
        assert train(theory, backup, epochs=2) == [0, 1]

    def test_one_that_was_not_finished_is_not_read(self, interrupted: Path) -> None:
        (interrupted / "unfinished.npz").write_bytes(b"half of a")
        assert train(theory_to_train(), Backup(interrupted)) == [3, 4]

    def test_the_last_of_several_is_read(self, interrupted: Path) -> None:
        # What is left if a process ends between writing one and removing the one before.
        for epoch in (2, 10):
            (interrupted / f"epoch-{epoch}.npz").write_bytes((interrupted / "epoch-3.npz").read_bytes())
        assert train(theory_to_train(), Backup(interrupted), epochs=12) == [10, 11]
        assert files(interrupted) == []

    def test_those_of_another_training_are_refused(self, interrupted: Path) -> None:
        theory = theory_to_train()
        theory.compile("sgd")
        with pytest.raises(ltn.LogicValueError, match=r"epoch-3\.npz is of other weights"):
            train(theory, Backup(interrupted))
        assert files(interrupted) == ["epoch-3.npz"]
