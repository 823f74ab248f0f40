"""This checkout beside another one, usually an older: the same programs, with the `ltn` of each.

A program runs in two processes that take turns. What counts is the time with the `ltn` of this checkout in
units of the time with the other's: the median of the ratios within the rounds, with its quartiles.
"""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import results
from benchmarks.race import OURS, Measured, Pace, Program, race, ratio
from benchmarks.suite import Workload

HEADER = ("workload", "program", "old, ms per step", "new, ms per step", "new / old", "slower")
OLD, NEW = "old", "new"
# A program is slower where even the lower quartile of its ratio is above this.
TOLERATED = 1.03


@dataclass(frozen=True)
class Comparison:
    """What was measured on a program of a workload, with the old `ltn` and with the new one."""

    workload: str
    program: str
    old: Measured
    new: Measured

    @property
    def title(self) -> str:
        """The workload and the program."""
        return f"{self.workload}, {self.program}"

    @property
    def is_slower(self) -> bool | None:
        """Whether the new one is slower beyond the spread; None where that was not measured."""
        quartiles = ratio(self.new, self.old)
        return None if quartiles is None else quartiles[0] > TOLERATED

    @property
    def times(self) -> str:
        """How many times the old seconds the new ones are."""
        return results.quartiles(self.new, self.old)


@contextlib.contextmanager
def library_of(checkout: Path) -> Iterator[Path]:
    """A folder that holds the `ltn` of a checkout and nothing else: the programs are those of this one."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ltn").symlink_to((checkout / "ltn").resolve(), target_is_directory=True)
        yield Path(folder)


def pairs(workloads: Sequence[Workload]) -> list[tuple[Workload, Program]]:
    """The programs that run `ltn`, each with its workload."""
    return [
        (workload, program)
        for workload in workloads
        for program in workload.programs
        if program.environment == OURS and program.runs_ltn
    ]


def compare(workload: Workload, program: Program, library: Path, pace: Pace) -> Comparison:
    """Measure a program with the `ltn` of this checkout and with that of another folder."""
    new = dataclasses.replace(program, name=NEW)
    old = dataclasses.replace(program, name=OLD, library=library)
    found = race([new, old], {OURS: sys.executable}, pace)
    return Comparison(workload.title, program.name, found[OLD], found[NEW])


def report(comparisons: Sequence[Comparison]) -> str:
    """The table, and which programs are slower."""
    slower = [f"{one.title}: {one.times}" for one in comparisons if one.is_slower]
    missing = [one.title for one in comparisons if one.is_slower is None]
    words = [
        results.markdown(HEADER, [row(one) for one in comparisons]),
        listed(f"Slower by more than {100 * (TOLERATED - 1):.0f} % beyond the spread", slower),
        *([listed("Not compared", missing)] if missing else []),
    ]
    return "\n\n".join(words)


def row(comparison: Comparison) -> results.Row:
    """What is known about one program."""
    words = {True: "YES", False: "no", None: "not compared"}
    return (
        comparison.workload,
        comparison.program,
        milliseconds(comparison.old),
        milliseconds(comparison.new),
        comparison.times,
        words[comparison.is_slower],
    )


def milliseconds(measured: Measured) -> str:
    """The median of the rounds, or why there is none."""
    return measured.failure or f"{1e3 * statistics.median(measured.seconds):.2f}"


def listed(title: str, lines: Sequence[str]) -> str:
    """A title, and a line for each entry."""
    return "\n".join([f"{title}: {len(lines) or 'none'}", *(f"- {line}" for line in lines)])
