"""Several workers, processes that train a theory together: as one does, and also if one of them dies."""

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests import fresh
from tests.evaluation.test_samples import ALL, COUNT
from tests.theory.theories import Array
from tests.theory.worker_program import (
    EPOCHS,
    KILLED,
    KILLED_IN,
    LISTED,
    ROWS,
    SAMPLED_STEPS,
    streamed,
    tables,
    trained,
    trained_on,
)
from tests.tolerance import assert_close

# Keras, on NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

# The pairs of individuals, of which a file has some.
PAIRS = [[x, y] for x in range(COUNT) for y in range(COUNT)]
# Seconds, for a machine that has much else to do.
PATIENCE = 400.0
# Some steps of gradients whose sums were rounded in another order.
ATOL = 2e-6


@contextlib.contextmanager
def workers(task: str, folder: Path, count: int = 2) -> Iterator[list[BaseProcess]]:
    """Processes that do a task; none of them is left."""
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = ",".join(str(each.getsockname()[1]) for each in sockets)
    processes: list[BaseProcess] = []
    try:
        for number in range(count):
            log = folder / f"{task}-{number}.log"
            command = ("tests.theory.worker_program", number, ports, task, folder)
            processes.append(fresh.start(*command, files={1: log, 2: log}))
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


def results(task: str, folder: Path) -> list[dict[str, Any]]:
    """What each worker reports of a task."""
    with workers(task, folder) as processes:
        end = time.monotonic() + PATIENCE
        for number, process in enumerate(processes):
            process.join(max(end - time.monotonic(), 1.0))
            assert process.exitcode == 0, (folder / f"{task}-{number}.log").read_text(errors="replace")[
                -3000:
            ]
    return [json.loads((folder / f"{task}-{number}.json").read_text()) for number in range(len(processes))]


def weights_in(file: str) -> list[Array]:
    with np.load(file) as weights:
        return list(weights.values())


def assert_same_weights(one: list[Array], other: list[Array], atol: float = 0.0) -> None:
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=atol)


def assert_same_logs(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert_close(one[name], other[name])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    (folder / ROWS).write_text("".join(f"{x},{y}\n" for x, y in PAIRS[:16]))
    return folder


@pytest.fixture(scope="module")
def pairs() -> ltn.Theory:
    return tables(None, LISTED)


@pytest.fixture
def listed(pairs: ltn.Theory) -> ltn.Theory:
    """What the workers learn, in one process, about pairs that come as data."""
    pairs.set_weights([np.full_like(weight, 0.5) for weight in pairs.get_weights()])
    return pairs


@pytest.fixture(scope="module")
def backups(folder: Path) -> list[str]:
    """The files that are left when a worker was killed."""
    with workers("killed", folder) as (_, second):
        second.join(PATIENCE)
        assert second.exitcode == -signal.SIGKILL
    return [file.name for file in (folder / KILLED).glob("epoch-*")]


@pytest.fixture(scope="module")
def together(folder: Path, backups: list[str]) -> list[dict[str, Any]]:
    """What new workers do, which first go on from these files: to start others for it takes long."""
    return results("together", folder)


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """What the workers do, in one process."""
    theory, found = trained(None)
    found["weights"] = theory.get_weights()
    found["data set"] = trained_on(theory)
    return found


class TestTogether:
    def test_the_history_is_that_of_one_process(
        self, together: list[dict[str, Any]], alone: dict[str, Any]
    ) -> None:
        for worker in together:
            assert_same_logs(worker["history"], alone["history"])

    def test_the_weights_are_those_of_one_process(
        self, together: list[dict[str, Any]], alone: dict[str, Any]
    ) -> None:
        first, second = (weights_in(worker["weights"]) for worker in together)
        assert_same_weights(first, second)
        assert_same_weights(first, alone["weights"], atol=ATOL)

    def test_they_evaluate_and_predict(self, together: list[dict[str, Any]], alone: dict[str, Any]) -> None:
        for worker in together:
            for name in ("evaluate", "predict"):
                assert_close(worker[name], alone[name])

    def test_each_shows_the_progress(self, together: list[dict[str, Any]], folder: Path) -> None:
        for number in range(2):
            shown = (folder / f"together-{number}.log").read_text(errors="replace")
            assert "Epoch 2/2" in shown
            assert "val_satisfaction: " in shown

    def test_each_can_save_and_the_first_one_alone(
        self, together: list[dict[str, Any]], folder: Path
    ) -> None:
        for file in (together[0]["saved"], together[1]["saved"], folder / "first.keras"):
            loaded = keras.saving.load_model(file)
            assert_same_weights(loaded.get_weights(), weights_in(together[0]["weights"]))

    def test_a_data_set_is_divided(self, together: list[dict[str, Any]], alone: dict[str, Any]) -> None:
        for worker in together:
            assert_same_logs(worker["data set"], alone["data set"])

    def test_samples_differ_and_their_gradients_add_up_to_that_of_the_joined_sample(
        self, together: list[dict[str, Any]], listed: ltn.Theory
    ) -> None:
        """Without data: the workers train as one process does on what they drew."""
        draws = np.rint(np.array([worker["draws"] for worker in together]) * 18)
        assert (draws.sum(axis=(2, 3)) == 9).all()
        assert (
            len({share.tobytes() for worker in draws for share in worker}) == draws.shape[0] * draws.shape[1]
        )
        logs = []
        # `fit` has looked at one sample before its first step.
        for joined in draws.sum(axis=0)[1 : 1 + SAMPLED_STEPS].astype(int):
            x, y = (np.repeat(places, joined.ravel()) for places in np.indices(joined.shape).reshape(2, -1))
            logs.append(listed.train_on_batch({"x": x, "y": y}, return_dict=True))
        for worker in together:
            assert_same_weights(weights_in(worker["sampled weights"]), listed.get_weights(), atol=ATOL)
            for name, values in worker["sampled"].items():
                assert_close(values, [float(each[name]) for each in logs])

    def test_the_expectation_of_the_gradient_is_that_of_all(self, together: list[dict[str, Any]]) -> None:
        counts = sum(np.rint(np.array(worker["draws"]) * 18).sum(axis=0) for worker in together)
        drawn = np.array([counts[x, y] for x, y in sorted(ALL)])
        mean = 200 * 18 / len(ALL)
        assert drawn.sum() == counts.sum() == 200 * 18
        # Of independent draws, the mean of this number is 36, and its deviation 8.5.
        assert ((drawn - mean) ** 2 / mean).sum() < 36 + 4 * 8.5

    def test_each_reads_its_rows_of_a_file(
        self, together: list[dict[str, Any]], listed: ltn.Theory, folder: Path
    ) -> None:
        alone = streamed(listed, folder)
        assert alone["rows"] == PAIRS[:16]
        for number, worker in enumerate(together):
            assert_same_logs(worker["streamed"], alone["streamed"])
            assert worker["rows"] == PAIRS[:16][number::2]
            assert sorted(worker["shuffled rows"]) == PAIRS[:16][number::2]

    def test_they_agree_on_an_order_of_the_data(self, together: list[dict[str, Any]]) -> None:
        first, second = together
        assert first["shuffled"] == second["shuffled"]
        assert_same_weights(weights_in(first["shuffled weights"]), weights_in(second["shuffled weights"]))


class TestKilled:
    def test_the_run_goes_on_to_the_same_weights(
        self, backups: list[str], together: list[dict[str, Any]], folder: Path
    ) -> None:
        assert backups == [f"epoch-{KILLED_IN}.npz"]
        for worker in together:
            assert worker["resumed"]["epochs"] == list(range(KILLED_IN, EPOCHS))
            expected = weights_in(together[0]["shuffled weights"])
            # Adam divides a gradient by its size: rounding of small ones moves weights a little more.
            assert_same_weights(weights_in(worker["resumed"]["weights"]), expected, atol=1e-5)
        assert os.listdir(folder / KILLED) == []
