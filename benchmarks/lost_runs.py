"""How many runs are lost in a bad optimum, from one start and from the best of several.

python -m benchmarks.lost_runs toy       # digits 0 to 3, told from sums; under both semantics
python -m benchmarks.lost_runs digits    # the paper's addition of two-digit numbers, with stable_product
python -m benchmarks.lost_runs digits --starts 5 --seeds 3 20    # the seeds 3 to 19 only

A run is lost where it reads fewer than half of the digits of unseen images. It ends early once it reads nine
of ten: they are not lost again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

import ltn
from examples import addition

Arrays = dict[str, np.ndarray]
# The examples of the toy: those of this seed lose more runs than others.
TOY_SEED = 0


class Task(NamedTuple):
    """A theory to learn, on what, how; and how many of the digits it reads."""

    theory: ltn.Theory
    train: Arrays
    schedule: dict[int, float]
    epochs: int
    digits_read: Callable[[], float]


def toy(semantics: str, seed: int) -> Task:
    """Points around four centres stand for images of the digits 0 to 3; sums of two are known."""
    keras.utils.set_random_seed(seed)
    theory = ltn.Theory(semantics, p_exists=1)
    images, digits = theory.domain("images", shape=8), theory.domain("digits", values=range(4))
    theory.variables("x, y", images)
    theory.variable("n", theory.domain("results"))
    theory.variables("d1, d2", digits)
    layers = [keras.Input((8,)), keras.layers.Dense(32, "elu"), keras.layers.Dense(4)]
    network = keras.Sequential(layers)
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))
    theory.axiom(addition.AXIOMS["single"], name="addition")
    theory.compile(keras.optimizers.Adam(0.005))
    rng = np.random.default_rng(TOY_SEED)
    centres = 2.0 * rng.normal(size=(4, 8))

    def examples(count: int) -> tuple[Arrays, np.ndarray]:
        first, second = rng.integers(0, 4, count), rng.integers(0, 4, count)
        x, y = (centres[labels] + 0.3 * rng.normal(size=(count, 8)) for labels in (first, second))
        return {"x": x, "y": y, "n": first + second}, first

    train, _ = examples(400)
    test, labels = examples(100)

    def digits_read() -> float:
        return float(np.mean(theory.query("digit(x, d1)", x=test["x"]).numpy().argmax(axis=-1) == labels))

    return Task(theory, train, {0: 1, 10: 2, 20: 4}, 30, digits_read)


def digits(semantics: str, seed: int) -> Task:
    """The paper's setting of 1 500 examples, and 500 unseen ones."""
    keras.utils.set_random_seed(seed)
    [setting] = [each for each in addition.settings() if each.name == "two, stable_product"]
    found, rng = addition.images_for(setting), np.random.default_rng(seed)
    train, _ = addition.examples(found.train, found.train_labels, "two", setting.train_size, rng)
    test, labels = addition.examples(found.test, found.test_labels, "two", 500, rng)
    theory = addition.theory_of("two", semantics, addition.network_of_digits())
    theory.compile(keras.optimizers.Adam(addition.rate_of(setting)))

    def digits_read() -> float:
        return float(np.mean(addition.digits_of(theory, "two", test) == labels))

    return Task(theory, train, dict(addition.SCHEDULES["two"]), setting.epochs, digits_read)


TASKS = {"toy": (toy, ("stable_product", "log_product")), "digits": (digits, ("stable_product",))}


class UntilRead(keras.callbacks.Callback):
    """End the training once nine of ten digits are read."""

    def __init__(self, digits_read: Callable[[], float]):
        super().__init__()
        self.digits_read = digits_read
        self.read = 0.0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Measure."""
        self.read = self.digits_read()
        self.model.stop_training = self.read >= 0.9


def learn(task: Task, starts: int) -> tuple[float, int]:
    """The share of digits that a run reads, and its epochs."""
    end = UntilRead(task.digits_read)
    schedule = ltn.callbacks.Schedule("p_exists", task.schedule)
    history = task.theory.fit(
        task.train, batch_size=32, epochs=task.epochs, callbacks=[schedule, end], starts=starts, verbose=0
    )
    return end.read, len(history.epoch)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the seeds one by one; print each run, and how many are lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lost_runs", description="Count lost runs.")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--starts", type=int, nargs="+", default=[1, 5], help="how many each run has (1 5)")
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 20], help="the first, and the end (0 20)")
    given = parser.parse_args(arguments)
    make, all_semantics = TASKS[given.task]
    for semantics in all_semantics:
        for starts in given.starts:
            lost = 0
            for seed in range(*given.seeds):
                keras.backend.clear_session()
                began = time.perf_counter()
                read, epochs = learn(make(semantics, seed), starts)
                lost += read < 0.5
                took = f"{epochs} epochs, {time.perf_counter() - began:.0f} s"
                print(f"    seed {seed}: {100 * read:.0f} % of the digits, {took}", flush=True)
            count = given.seeds[1] - given.seeds[0]
            print(f"{given.task}, {semantics}, starts={starts}: {lost} of {count} runs lost", flush=True)


if __name__ == "__main__":
    main()
