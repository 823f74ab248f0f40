"""Long runs in one process: memory stays flat, and nothing becomes slower.

python -m benchmarks.endurance                             # all of them, each in a process of its own
python -m benchmarks.endurance queries theories            # some
python -m benchmarks.endurance --seconds 60                # at most a minute for each

The first tenth of a run warms up: what it fills, such as the plans that are kept, counts no more. Theories
may take as much as plain Keras models do, which are made and trained beside them.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

import ltn

DATA = np.random.default_rng(0).random((16, 2)).astype(np.float32)
# How much a run may grow, in megabytes, and how much slower its last third may be than its first.
MOST_GROWTH, MOST_SLOWDOWN = 20.0, 1.5
SECONDS = 900.0

Step = Callable[[int], Any]


class Run(NamedTuple):
    """What is done how often. `begin` makes the function that does it, given which time it is."""

    times: int
    begin: Callable[[], Step]


class Outcome(NamedTuple):
    """How often it was done, by how many megabytes memory grew, and how much slower it became."""

    times: int
    growth: float
    slowdown: float


def learner() -> ltn.Theory:
    """A theory with a network, an embedding and a proposition."""
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.variables("x, y", points)
    theory.constant("a", points, trainable=True)
    theory.predicate("P", points, ltn.Predicate.MLP([2], (8,)))
    theory.proposition("A", 0.5, trainable=True)
    theory.axioms("forall x: P(x) -> A\nP(a)")
    theory.compile("adam")
    return theory


def begin_queries() -> Step:
    """Of many texts, sizes of data, operators and hyper-parameters."""
    theory = learner()

    def query(number: int) -> None:
        text = f"forall x: P(x) | {' & '.join(['A'] * (1 + number % 97))}"
        data = {"x": DATA[: 1 + number % 16]}
        semantics = ["stable_product", "product", "godel", "log_product"][number % 4]
        p = 1.0 + number % 501 / 100.0 if number % 4 < 2 else None
        theory.query(text, data, semantics=semantics, p=p)

    return query


def begin_reports() -> Step:
    """Reports, explanations and plans."""
    theory, data = learner(), {"x": DATA}
    tasks: list[Callable[[], Any]] = [
        lambda: theory.report(data),
        lambda: theory.explain("axiom_1", data),
        lambda: theory.plan(None, data),
    ]
    return lambda number: tasks[number % 3]()


def begin_searches() -> Step:
    """`entails` and `bounds`, from fresh starts too."""
    theory = learner()
    tasks: list[Callable[..., Any]] = [theory.entails, theory.bounds]
    settings: dict[str, Any] = {"restarts": 2, "steps": 2, "verbose": 0}
    return lambda number: tasks[number % 2]("P(a) & A", 0.9, {"x": DATA}, **settings)


def begin_saves() -> Step:
    """Saved and loaded, over and over."""
    theory = learner()
    path = Path(tempfile.mkdtemp()) / "theory.keras"

    def save(number: int) -> None:
        theory.save(path)
        ltn.load(path)

    return save


def begin_steps() -> Step:
    """Epochs of a hundred steps."""
    theory, data = learner(), {"x": np.tile(DATA, (100, 1))}

    def train(number: int) -> None:
        theory.fit(data, batch_size=len(DATA), verbose=0)

    return train


def begin_theories() -> Step:
    """Declared, trained and asked."""

    def make(number: int) -> None:
        theory = learner()
        theory.fit({"x": DATA}, epochs=2, verbose=0)
        theory.report({"x": DATA})

    return make


def begin_models() -> Step:
    """Models of Keras, made, trained and asked: what theories are compared with."""

    def make(number: int) -> None:
        layers = [keras.Input((2,)), keras.layers.Dense(8, "elu"), keras.layers.Dense(1, "sigmoid")]
        model = keras.Sequential(layers)
        model.compile("adam", "mse")
        model.fit(DATA, DATA[:, :1], epochs=2, verbose=0)
        model.predict(DATA, verbose=0)

    return make


RUNS = {
    "queries": Run(20_000, begin_queries),
    "reports": Run(3_000, begin_reports),
    "searches": Run(1_000, begin_searches),
    "saves": Run(1_000, begin_saves),
    "steps": Run(200, begin_steps),
    "theories": Run(200, begin_theories),
    "models": Run(200, begin_models),
}


def megabytes() -> float:
    """The memory of this process that is in use."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def endure(run: Run, seconds: float) -> Outcome:
    """Do it as often as planned, or until the time is over."""
    step, clock = run.begin(), [time.perf_counter()]
    before, warmed_up = 0.0, 0
    while len(clock) <= run.times and clock[-1] - clock[0] < seconds:
        is_warm = len(clock) > run.times / 10 or clock[-1] - clock[0] > seconds / 10
        if is_warm and not warmed_up:
            before, warmed_up = megabytes(), len(clock)
        step(len(clock))
        clock.append(time.perf_counter())
    growth = megabytes() - before
    # Looking at the memory took its time, too.
    took = np.diff(clock)[warmed_up:]
    third = max(1, len(took) // 3)
    return Outcome(len(clock) - 1, growth, float(np.median(took[-third:]) / np.median(took[:third])))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run each in a process of its own, and print what came of it; the exit status tells whether all held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="run", help=f"of {', '.join(RUNS)}; else all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="at most for each; by default 900")
    parser.add_argument("--here", action="store_true", help="in this process, and print numbers only")
    given = parser.parse_args(arguments)
    names = given.runs or list(RUNS)
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        parser.error(f"there is no run {', '.join(unknown)}; there are {', '.join(RUNS)}")
    if given.here:
        warnings.simplefilter("ignore")
        print(*endure(RUNS[names[0]], given.seconds))
        return
    found: dict[str, Outcome] = {}
    for name in names:
        command = [
            sys.executable,
            "-m",
            "benchmarks.endurance",
            name,
            "--here",
            "--seconds",
            str(given.seconds),
        ]
        last = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[-2]
        count, growth, slowdown = last.split()
        found[name] = Outcome(int(count), float(growth), float(slowdown))
        print(
            f"{name:9} {count:>6} times {found[name].growth:+8.1f} MB {found[name].slowdown:6.2f} x",
            flush=True,
        )
    failed = problems(found)
    print("\n".join(failed) or "all held")
    sys.exit(bool(failed))


def problems(found: dict[str, Outcome]) -> list[str]:
    """What did not hold, in words."""
    told = []
    for name, outcome in found.items():
        most = MOST_GROWTH
        if name == "theories" and "models" in found:
            most = max(most, found["models"].growth * outcome.times / found["models"].times)
        if name != "models" and outcome.growth > most:
            told.append(f"{name}: memory grew by {outcome.growth:.1f} MB, and may by {most:.1f}")
        if name != "models" and outcome.slowdown > MOST_SLOWDOWN:
            told.append(f"{name}: became {outcome.slowdown:.2f} times slower")
    return told


if __name__ == "__main__":
    main()
