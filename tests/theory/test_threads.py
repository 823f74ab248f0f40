"""Other threads may ask and save while a theory learns."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn

DATA = {"x": np.random.default_rng(0).random((8, 2)).astype(np.float32)}
EPOCHS = 8


def learner() -> ltn.Theory:
    """A theory of everything that is learned, the same each time."""
    keras.utils.set_random_seed(1)
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    theory.constants("a, b", points, trainable=True)
    theory.predicate("P", points, ltn.Predicate.MLP([2], (4,)))
    theory.proposition("A", 0.4, trainable=True)
    theory.axioms("forall x: P(x) -> A\nP(a) & ~P(b)")
    theory.compile("adam")
    return theory


def train(theory: ltn.Theory) -> list[Any]:
    """The weights after a training."""
    theory.fit(DATA, batch_size=4, epochs=EPOCHS, verbose=0)
    return theory.get_weights()


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_eight_threads_beside_a_training(tmp_path: Path) -> None:
    alone, theory = train(learner()), learner()
    problems: list[BaseException] = []
    is_over = threading.Event()

    def truths_of(values: Any) -> None:
        found = np.asarray(values)
        assert np.all((found >= 0.0) & (found <= 1.0))

    def save() -> None:
        path = tmp_path / f"{threading.get_ident()}.keras"
        theory.save(path)
        truths_of(ltn.load(path).query("P(a)"))

    tasks: list[Callable[[], object]] = [
        lambda: truths_of(theory.query("P(x) & A", DATA)),
        lambda: truths_of(theory.report(DATA).satisfaction),
        lambda: theory.entails("P(a)", 0.9, DATA, restarts=2, steps=2, seed=3, verbose=0),
        save,
    ]

    def repeat(task: Callable[[], object]) -> None:
        try:
            task()
            while not is_over.is_set():
                task()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=repeat, args=(task,)) for task in tasks * 2]
    for thread in threads:
        thread.start()
    beside = train(theory)
    is_over.set()
    for thread in threads:
        thread.join()
    assert problems == []
    for mine, theirs in zip(beside, alone, strict=True):
        np.testing.assert_array_equal(mine, theirs)
