"""Measure this library beside others, and beside networks without logic.

python -m benchmarks                        # everything, with the peers; writes benchmarks/RESULTS.md
python -m benchmarks addition clustering    # some workloads; prints only
python -m benchmarks --quick --no-peers     # whether it runs
python -m benchmarks --beside ../old        # with the `ltn` of another checkout too: what became slower
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import beside, results
from benchmarks.environments import PEERS, interpreters
from benchmarks.race import OURS, Pace, race
from benchmarks.suite import Workload, workloads

RESULTS = Path(__file__).with_name("RESULTS.md")
QUICK = Pace(rounds=3, round=0.01, race=0.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure this library.")
    parser.add_argument("titles", nargs="*", metavar="workload", help="the beginning of its title; else all")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--quick", action="store_true", help="few short rounds: whether it runs")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--out", type=Path, help="the page to write; for everything it is RESULTS.md")
    output.add_argument(
        "--beside",
        type=Path,
        metavar="CHECKOUT",
        help="the folder of another checkout: print what is slower here than with its `ltn`",
    )
    given = parser.parse_args(arguments)
    titles = [workload.title for workload in workloads()]
    for title in given.titles:
        if not any(known.startswith(title) for known in titles):
            parser.error(f"no workload begins with '{title}'; there are: {'; '.join(titles)}.")
    chosen = [workload for workload in workloads() if workload.title.startswith(tuple(given.titles or [""]))]
    pace = QUICK if given.quick else Pace()
    if given.beside is not None:
        if not (given.beside / "ltn" / "__init__.py").is_file():
            parser.error(f"there is no package `ltn` in {given.beside}; expected the folder of a checkout.")
        print(compared(chosen, given.beside, pace))
        return

    out = given.out or (None if given.titles or given.quick else RESULTS)

    left_out = {peer.name: "peers were left out" for peer in PEERS}
    pythons, reasons = ({}, left_out) if given.no_peers else interpreters()
    pythons[OURS] = sys.executable
    outcomes = []
    for number, workload in enumerate(chosen, start=1):
        announce(number, len(chosen), workload.title)
        outcomes.append((workload, race(workload.programs, pythons, pace.times(workload.patience))))
    print(results.table(outcomes, reasons))
    if out is not None:
        out.write_text(results.page(outcomes, pythons, reasons, pace))


def compared(chosen: Sequence[Workload], checkout: Path, pace: Pace) -> str:
    """The table of this checkout beside another one, and what is slower here."""
    found = []
    pairs = beside.pairs(chosen)
    with beside.library_of(checkout) as library:
        for number, (workload, program) in enumerate(pairs, start=1):
            announce(number, len(pairs), f"{workload.title}, {program.name}")
            found.append(beside.compare(workload, program, library, pace))
    return beside.report(found)


def announce(number: int, count: int, title: str) -> None:
    """Tell what is measured next."""
    print(f"{number} of {count}: {title} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
