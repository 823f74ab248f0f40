"""One of several workers that train a theory together: `python -m tests.theory.worker_program` runs a task.

The arguments are the number of the worker, the ports of all of them, the task, and a folder that they share.
"""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn
from tests.theory.replicated import DATA, draws, logs_of, points, theory_of

EPOCHS = 6
# Epochs count from 0.
KILLED_IN = 3
# The folder of the backup that is left then.
KILLED = "killed"
# Of the pairs of a relation, and how many steps learn from a sample.
SAMPLED = "forall[p=1, sample=9] x, y where ~knows(x, y): P(x, y)"
LISTED = "forall[p=1] diag(x, y): P(x, y)"
SAMPLED_STEPS = 3
# A file of rows.
ROWS = "rows.csv"


def adam() -> keras.optimizers.Optimizer:
    return keras.optimizers.Adam(0.05)


class Killed(keras.callbacks.Callback):
    """The end of this process, in the middle of an epoch."""

    def __init__(self, epoch: int):
        super().__init__()
        self.last = epoch
        self.now = -1

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.now = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.now == self.last and batch == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def backed_up(
    strategy: tf.distribute.Strategy | None, folder: Path, *others: keras.callbacks.Callback
) -> tuple[ltn.Theory, keras.callbacks.History]:
    """A training that leaves a backup and goes on from one, on data in an order that depends on the seed."""
    theory = theory_of(strategy, optimizer=adam)
    callbacks = [ltn.callbacks.Backup(folder), *others]
    return theory, theory.fit(DATA, batch_size=7, epochs=EPOCHS, verbose=0, callbacks=callbacks)


def trained(strategy: tf.distribute.Strategy | None) -> tuple[ltn.Theory, dict[str, Any]]:
    """A theory, what came of its training, and what it then gives."""
    # What is divided, gathered, counted; replicas of one process are tested with all axioms.
    theory = theory_of(strategy, axioms=("labelled", "close", "counted"))
    schedule = ltn.callbacks.Schedule("p_forall", {0: 1, 1: 4})
    history = theory.fit(
        DATA,
        batch_size=7,
        epochs=2,
        shuffle=False,
        callbacks=[schedule],
        validation_data=points(9, seed=1),
        verbose=1,
    )
    return theory, {
        "history": logs_of(history),
        "evaluate": theory.evaluate(DATA, batch_size=7, verbose=0),
        "predict": theory.predict(DATA, batch_size=7, verbose=0)["satisfaction"].tolist(),
    }


def trained_on(theory: ltn.Theory) -> dict[str, list[float]]:
    """The logs where the data come in a data set."""
    data_set = tf.data.Dataset.from_tensor_slices(DATA).batch(7)
    return logs_of(theory.fit(data_set, epochs=2, verbose=0))


def tables(strategy: tf.distribute.Strategy | None, few: str) -> ltn.Theory:
    """A theory about pairs, with a truth for each of them: some are to be true, and all symmetric."""
    # It makes a theory, which nothing may before the strategy.
    from tests.evaluation.test_samples import declared

    keras.utils.set_random_seed(3)
    with contextlib.nullcontext() if strategy is None else strategy.scope():
        theory = declared()
        theory.axiom(few, name="few")
        theory.axiom("forall u, number: P(u, number) <-> P(number, u)", name="symmetric")
        theory.compile(keras.optimizers.SGD(2.0))
    return theory


def streamed(theory: ltn.Theory, folder: Path) -> dict[str, Any]:
    """What is learned from the rows of a file, and what rows they are."""
    rows = theory.rows(folder / ROWS, "x, y", batch_size=8, shuffle=0)
    return {"streamed": logs_of(theory.fit(rows, epochs=2, verbose=0)), "rows": rows_of(rows)}


def rows_of(batches: tf.data.Dataset) -> list[list[int]]:
    return [[int(x), int(y)] for batch in batches for x, y in zip(batch["x"], batch["y"], strict=True)]


def together(strategy: tf.distribute.Strategy, worker: int, folder: Path) -> dict[str, Any]:
    """What several workers do in one session: they go on with the run that was killed, then the rest."""
    found: dict[str, Any] = {"resumed": resumed(strategy, worker, folder)}
    theory, measured = trained(strategy)
    found |= measured
    found["weights"] = kept(theory, worker, folder / "weights")
    theory.save(folder / f"worker-{worker}.keras")
    found["saved"] = str(folder / f"worker-{worker}.keras")
    # The others do not wait.
    if worker == 0:
        theory.save(folder / "first.keras")
    found["data set"] = trained_on(theory)
    theory = tables(strategy, SAMPLED)
    found["draws"] = [share.tolist() for [share] in draws(strategy, theory, 200)]
    theory = tables(strategy, SAMPLED)
    found["sampled"] = logs_of(theory.fit(epochs=SAMPLED_STEPS, verbose=0))
    found["sampled weights"] = kept(theory, worker, folder / "sampled")
    found |= streamed(tables(strategy, LISTED), folder)
    found["shuffled rows"] = rows_of(theory.rows(folder / ROWS, "x, y", batch_size=4))
    theory, history = backed_up(strategy, folder / "backup")
    found["shuffled"] = logs_of(history)
    found["shuffled weights"] = kept(theory, worker, folder / "shuffled")
    return found


def kept(theory: ltn.Theory, worker: int, file: Path) -> str:
    path = file.with_name(f"{file.name}-{worker}.npz")
    np.savez(path, *theory.get_weights())
    return str(path)


def killed(strategy: tf.distribute.Strategy, worker: int, folder: Path) -> dict[str, Any]:
    """The second worker dies while they train."""
    backed_up(strategy, folder / KILLED, *([Killed(KILLED_IN)] if worker == 1 else []))
    return {}


def resumed(strategy: tf.distribute.Strategy, worker: int, folder: Path) -> dict[str, Any]:
    """The same training, started again."""
    theory, history = backed_up(strategy, folder / KILLED)
    return {"epochs": history.epoch, "weights": kept(theory, worker, folder / "resumed")}


def main() -> None:
    number, ports, task, folder = sys.argv[1:]
    addresses = [f"127.0.0.1:{port}" for port in ports.split(",")]
    cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": int(number)}}
    os.environ["TF_CONFIG"] = json.dumps(cluster)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tasks = {"together": together, "killed": killed}
    found = tasks[task](strategy, int(number), Path(folder))
    Path(folder, f"{task}-{number}.json").write_text(json.dumps(found))
    print("done", flush=True)


if __name__ == "__main__":
    main()
