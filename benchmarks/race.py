"""Programs timed side by side, each in a process of its own.

All processes of a workload are alive together and asked in turns, round after round, so that a busy machine
slows all of them alike. What counts is the median of the ratios within the rounds, with its quartiles.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
CHECKOUT = Path(__file__).parents[1]
OURS = "this library"
NOT_MEASURED = "not measured"
# How much of a log is shown where a worker fails.
LINES_SHOWN = 3
LEAST_ROUNDS, MOST_STEPS = 3, 1000


@dataclass(frozen=True)
class Program:
    """A function that builds a step, in a file of `package`, and the environment that it runs in.

    In the environment of this library, `library` is the folder that holds the package `ltn`; `runs_ltn` tells
    whether the step runs it.
    """

    name: str
    file: str
    function: str
    arguments: tuple[Any, ...] = ()
    environment: str = OURS
    package: str = "benchmarks.programs"
    library: Path = CHECKOUT
    runs_ltn: bool = True


@dataclass(frozen=True)
class Pace:
    """How long things take, in seconds; a race ends early where its time is over."""

    rounds: int = 30
    round: float = 0.25
    race: float = 45.0
    building: float = 180.0
    step: float = 20.0

    def times(self, patience: int) -> Pace:
        """The pace of programs that may take so many times as long."""
        return replace(self, building=patience * self.building, step=patience * self.step)


@dataclass
class Measured:
    """The seconds per step of each round and the peak memory in bytes; or why there are none."""

    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    failure: str = ""


class WorkerError(Exception):
    """A worker that cannot go on, and why."""


class Worker:
    """The process of a program, from the side of who asks."""

    def __init__(self, program: Program, python: str):
        self.program, self.steps, self.measured = program, 1, Measured()
        module = f"{program.package}.{program.file}"
        command = [python, "-I", "-W", "ignore", str(WORKER), module, program.function]
        library = [str(program.library)] if program.environment == OURS else []
        # Closed with the worker, not with a block.
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*command, json.dumps(program.arguments), *library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.log.close()

    def answer(self, seconds: float, late: str) -> dict[str, Any]:
        """The next answer, if it comes in time."""
        if self.process.stdout is None:
            raise RuntimeError("The worker has no stdout.")
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise WorkerError(late)
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": ending(self.process.wait())}
        if "error" in answer:
            self.show_log()
            raise WorkerError(answer["error"])
        return answer

    def ask(self, steps: int, seconds: float, late: str) -> dict[str, Any]:
        """What the worker measures on some steps."""
        with contextlib.suppress(BrokenPipeError):
            print(steps, file=self.process.stdin, flush=True)
        return self.answer(seconds, late)

    def get_ready(self, pace: Pace) -> None:
        """Wait for the program, and let it compile."""
        late = f"not ready after {pace.building:g} s"
        self.answer(pace.building, late)
        self.ask(1, pace.building, late)

    def find_pace(self, pace: Pace) -> None:
        """Choose how many steps make a round."""
        # The first steps after compilation can still be slow: the second choice counts.
        for _ in range(2):
            seconds = self.run(pace)["seconds"]
            self.steps = max(1, min(round(pace.round / seconds), MOST_STEPS))
            if self.steps == 1:
                break

    def take_part(self, pace: Pace) -> None:
        """One round."""
        answer = self.run(pace)
        self.measured.seconds.append(answer["seconds"])
        self.measured.peak = answer["peak"]

    def run(self, pace: Pace) -> dict[str, Any]:
        """The steps of a round."""
        return self.ask(self.steps, pace.step + 2 * pace.round, f"more than {pace.step:g} s per step")

    def succeeds(self, part: Callable[[Pace], None], pace: Pace) -> bool:
        """Do a part of the work; a worker that cannot is stopped, and its result says why."""
        try:
            part(pace)
        except WorkerError as error:
            self.measured = Measured(failure=str(error))
            self.process.kill()
        return not self.measured.failure

    def show_log(self) -> None:
        """The last lines that a failed worker wrote."""
        self.log.seek(0)
        lines = self.log.read().splitlines()[-LINES_SHOWN:]
        print(*(f"{self.program.name}: {line}" for line in lines), sep="\n", file=sys.stderr)


def ending(code: int) -> str:
    """How a process ended that did not say why."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def race(programs: Sequence[Program], pythons: Mapping[str, str], pace: Pace) -> dict[str, Measured]:
    """Measure programs in turns.

    Args:
        programs: all of one workload.
        pythons: the interpreter of each environment; programs of others are not measured.
        pace: how often and how long.

    Returns:
        What was measured, by the names of the programs.
    """
    with contextlib.ExitStack() as stack:
        workers = {
            program.name: stack.enter_context(Worker(program, pythons[program.environment]))
            for program in programs
            if program.environment in pythons
        }
        ready = [worker for worker in workers.values() if worker.succeeds(worker.get_ready, pace)]
        alive = [worker for worker in ready if worker.succeeds(worker.find_pace, pace)]
        end = time.monotonic() + pace.race
        for number in range(pace.rounds):
            if number < LEAST_ROUNDS or time.monotonic() < end:
                alive = [worker for worker in alive if worker.succeeds(worker.take_part, pace)]
    found = {name: worker.measured for name, worker in workers.items()}
    return {program.name: found.get(program.name, Measured(failure=NOT_MEASURED)) for program in programs}


def ratio(first: Measured, second: Measured) -> tuple[float, float, float] | None:
    """How many times the seconds of the second the first takes: lower quartile, median, upper quartile."""
    if first.failure or second.failure:
        return None
    ratios = [one / other for one, other in zip(first.seconds, second.seconds, strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return low, median, high
