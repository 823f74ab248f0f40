"""Saves that do not come to their end: the file that was there stays as it was."""

import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest

import ltn
from ltn import files
from tests import faults, fresh
from tests.theory.theories import knowledge, network, one_weight, smokers, truth

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

# How often a save touches the folder, at least: the unfinished file is made, opened, flushed and renamed.
EVENTS = 5
OLD_TRUTH = 0.25


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a theory whose only weight is not that of the theories that are saved over it."""
    theory = one_weight()
    theory.propositions["w"].tensor.assign(OLD_TRUTH)
    theory.save(tmp_path / "theory.keras")
    return tmp_path / "theory.keras"


class TestKilled:
    @pytest.mark.parametrize("event", range(EVENTS))
    def test_at_any_moment_the_old_file_or_the_new_one_is_there(self, event: int, file: Path) -> None:
        process = fresh.start("tests.theory.saving_program", file, event)
        process.join(fresh.PATIENCE)
        assert process.exitcode == -signal.SIGKILL
        # The last event comes after the first rename, or is the rename itself.
        assert truth(ltn.load(file), "w") in ((OLD_TRUTH,) if event < EVENTS - 1 else (OLD_TRUTH, 0.5))
        one_weight().save(file)
        assert truth(ltn.load(file), "w") == 0.5

    def test_loads_beside_endless_saves_all_succeed(self, file: Path) -> None:
        process = fresh.start("tests.theory.saving_program", file)
        while truth(ltn.load(file), "w") == OLD_TRUTH:
            pass
        assert [truth(ltn.load(file), "w") for _ in range(8)] == [0.5] * 8
        process.kill()
        process.join(fresh.PATIENCE)
        assert truth(ltn.load(file), "w") == 0.5


def writers(folder: Path) -> dict[str, Callable[[Path], None]]:
    """All that the library writes, by the name of the file."""
    theory, task = smokers(), network()
    grounding = ltn.reasoning.Grounding({}, {"A": 0.5}, {})
    model = ltn.with_knowledge(task, knowledge(task))
    return {
        "theory.keras": theory.save,
        "theory.weights.h5": theory.save_weights,
        "rules.txt": theory.write,
        "counterexample.npz": grounding.save,
        "model.keras": model.save,
        "model.weights.h5": model.save_weights,
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Callable[[Path], None]]:
    """Each file, and what writes it again."""
    folder = tmp_path_factory.mktemp("written")
    found = {folder / name: write for name, write in writers(folder).items()}
    for path, write in found.items():
        write(path)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestFaults:
    @pytest.mark.parametrize("size", [0, 30])
    def test_a_full_disk_leaves_every_file_as_it_was(self, size: int, written: dict[Path, Any]) -> None:
        for path, write in written.items():
            before = contents(path.parent)
            with faults.full_disk(size), pytest.raises(ltn.LogicFileError) as caught:
                write(path)
            assert str(caught.value).startswith(
                f"{path}: the file cannot be written, and nothing was changed:"
            )
            assert "too large" in str(caught.value)
            assert isinstance(caught.value, OSError)
            assert contents(path.parent) == before

    def test_a_folder_that_takes_no_file(self, written: dict[Path, Any]) -> None:
        for path, write in written.items():
            with (
                faults.closed_folder(path) as copy,
                pytest.raises(ltn.LogicFileError, match=r"cannot be written.*denied"),
            ):
                write(copy)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(ltn.LogicFileError, match=r"theory\.keras.*there is no folder .*missing"):
            one_weight().save(tmp_path / "missing" / "theory.keras")

    def test_a_folder_of_the_name(self, tmp_path: Path) -> None:
        (tmp_path / "theory.keras").mkdir()
        with pytest.raises(ltn.LogicFileError, match="it is a folder"):
            one_weight().save(tmp_path / "theory.keras")

    def test_a_file_that_may_not_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Told so by the system, which lets its administrator write to any file."""
        one_weight().save(tmp_path / "theory.keras")
        before = contents(tmp_path)
        monkeypatch.setattr("os.access", lambda *_: False)
        with pytest.raises(
            ltn.LogicFileError, match="nothing was changed: the file that is there is read-only"
        ):
            one_weight().save(tmp_path / "theory.keras")
        assert contents(tmp_path) == before

    def test_a_writer_that_raises(self, tmp_path: Path) -> None:
        (tmp_path / "rules.txt").write_text("old")

        def fail() -> None:
            with files.replacing(tmp_path / "rules.txt") as unfinished:
                Path(unfinished).write_text("half of a")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert contents(tmp_path) == {"rules.txt": b"old"}

    def test_what_is_no_path(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"by its path.*got 3"):
            one_weight().save(3)


class TestTheNewFile:
    def test_takes_the_place_of_the_old_one_with_its_rights(self, file: Path) -> None:
        file.chmod(0o640)
        one_weight().save(file)
        assert [path.name for path in file.parent.iterdir()] == [file.name]
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def test_has_the_rights_of_any_new_file(self, tmp_path: Path) -> None:
        (tmp_path / "any.txt").touch()
        one_weight().write(tmp_path / "rules.txt")
        assert (tmp_path / "rules.txt").stat().st_mode == (tmp_path / "any.txt").stat().st_mode

    def test_is_where_a_link_points(self, file: Path) -> None:
        link = file.with_name("link.keras")
        link.symlink_to(file)
        one_weight().save(link)
        assert link.is_symlink()
        assert truth(ltn.load(file), "w") == 0.5

    @pytest.mark.parametrize(("answer", "expected"), [("n", OLD_TRUTH), ("y", 0.5)])
    def test_is_written_when_the_user_agrees(
        self, answer: str, expected: float, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("builtins.input", lambda prompt: answer)
        one_weight().save(file, overwrite=False)
        assert truth(ltn.load(file), "w") == expected

    def test_may_be_a_device(self) -> None:
        one_weight().write("/dev/null")
        assert Path("/dev/null").is_char_device()

    def test_of_weights_may_be_several(self, tmp_path: Path) -> None:
        theory, other = smokers(), smokers()
        theory.save_weights(tmp_path / "theory.weights.json", max_shard_size=1)
        other.load_weights(tmp_path / "theory.weights.json")
        assert other.report().equals(theory.report())

    def test_of_a_model_may_be_a_folder(self, tmp_path: Path) -> None:
        task = network()
        model = ltn.with_knowledge(task, knowledge(task))
        model.save(tmp_path / "folder", zipped=False)
        assert keras.models.load_model(tmp_path / "folder").theory.signature.variables
