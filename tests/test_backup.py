"""Backups: a training that was interrupted goes on to the same result."""

import json
import signal
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from ltn.callbacks import Backup, Schedule
from tests import fresh, training_program
from tests.theory.theories import assert_same_weights, classifier, knowledge, labelled_points, network

pytestmark = [
    # Other processes are compared with to the bit.
    pytest.mark.usefixtures("grappler"),
    # Keras, on NumPy 2
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

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


class TestToTheSameBits:
    """With shuffled batches, and callbacks that change the learning rate by what they remember."""

    @pytest.fixture(scope="class")
    @classmethod
    def whole(cls) -> Any:
        return training_program.train()

    @staticmethod
    def assert_same_training(resumed: Any, whole: Any) -> None:
        (theory, history), (expected, whole_history) = resumed, whole
        assert_same_weights(theory, expected)
        for mine, theirs in zip(theory.optimizer.variables, expected.optimizer.variables, strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
        rates = whole_history.history["learning_rate"]
        assert history.history["learning_rate"] == rates[history.epoch[0] :]
        assert len(set(rates)) > 3

    def test_wherever_the_backup_stands_among_them(self, whole: Any, tmp_path: Path) -> None:
        for epoch in (1, 4):
            with pytest.raises(AccidentError):
                training_program.train(Backup(tmp_path), Interrupted(epoch))
        resumed = training_program.train(Backup(tmp_path))
        assert resumed[1].epoch == [4, 5, 6, 7]
        self.assert_same_training(resumed, whole)

    def test_though_the_process_is_killed(self, whole: Any, tmp_path: Path) -> None:
        folder, weights = tmp_path / "backup", tmp_path / "weights.npz"
        # While it makes a backup, while one takes the place of another; the third time it comes to its end.
        for event, code in ((9, -signal.SIGKILL), (11, -signal.SIGKILL), (1000, 0)):
            process = fresh.start("tests.training_program", folder, weights, event)
            process.join(fresh.PATIENCE)
            assert process.exitcode == code
        assert files(folder) == []
        with np.load(weights) as found:
            for name, weight in zip(found, whole[0].get_weights(), strict=True):
                np.testing.assert_array_equal(found[name], weight)

    def test_a_training_that_was_stopped_early_takes_no_further_epoch(self, tmp_path: Path) -> None:
        class Stop(keras.callbacks.Callback):
            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                self.model.stop_training = epoch == 2

            def on_train_end(self, logs: Any = None) -> None:
                raise AccidentError

        with pytest.raises(AccidentError):
            training_program.train(Stop(), Backup(tmp_path))
        assert files(tmp_path) == ["epoch-3.npz"]
        assert training_program.train(Backup(tmp_path))[1].epoch == []

    def test_what_a_callback_remembers(self, tmp_path: Path) -> None:
        class Remembering(keras.callbacks.Callback):
            def __init__(self, patience: int):
                super().__init__()
                self.patience, self.epochs, self.table = patience, 0, {"mean": [np.zeros(2), (1, None)]}

            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                self.epochs += 1
                self.table["mean"][0] = np.full(2, epoch, np.float32)

        with pytest.raises(AccidentError):
            training_program.train(Remembering(3), Interrupted(2), Backup(tmp_path))
        again = Remembering(4)
        training_program.train(again, Backup(tmp_path), epochs=2)
        # What it was given this time holds.
        assert (again.patience, again.epochs) == (4, 2)
        assert again.table["mean"][1] == (1, None)
        np.testing.assert_array_equal(again.table["mean"][0], np.ones(2, np.float32))


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

    def test_a_corrupt_one_is_refused(self, interrupted: Path) -> None:
        file = interrupted / "epoch-3.npz"
        whole = file.read_bytes()
        with np.load(file) as arrays:
            kept = dict(arrays)
        notes = json.loads(kept["notes"].tobytes())
        bent: list[Any] = [b"", b"garbage", whole[:-100], whole[:2000] + b"x" + whole[2001:]]
        of_another: list[Any] = [3, {}, notes | {"callbacks": 3}, notes | {"callbacks": {"dict": [["a", 1]]}}]
        for told in of_another:
            bent.append(kept | {"notes": np.frombuffer(json.dumps(told).encode(), np.uint8)})
        bent.append(kept | {"0": np.array(["text"])})
        for content in bent:
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                np.savez(file, **content)
            theory = theory_to_train()
            before = theory.get_weights()
            with pytest.raises(ltn.LogicFileError, match=r"epoch-3\.npz.*Remove this backup"):
                train(theory, Backup(interrupted))
            assert all(map(np.array_equal, before, theory.get_weights()))
            assert files(interrupted) == ["epoch-3.npz"]
        file.write_bytes(whole)
        assert train(theory_to_train(), Backup(interrupted)) == [3, 4]

    def test_one_of_an_earlier_version_is_read(self, interrupted: Path) -> None:
        file = interrupted / "epoch-3.npz"
        with np.load(file) as arrays:
            kept = {name: array for name, array in arrays.items() if name.isdigit()}
        np.savez(file, **kept)
        assert train(theory_to_train(), Backup(interrupted)) == [3, 4]

    def test_what_is_no_backup_is_left_alone_and_what_was_left_unfinished_is_removed(
        self, interrupted: Path
    ) -> None:
        for name in ("epoch-last.npz", ".unfinished-12345678-epoch-4.npz"):
            (interrupted / name).write_bytes(b"half of a")
        assert train(theory_to_train(), Backup(interrupted)) == [3, 4]
        assert files(interrupted) == ["epoch-last.npz"]
