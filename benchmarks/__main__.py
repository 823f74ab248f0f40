"""Measure this library beside others, and beside networks without logic.

python -m benchmarks                        # everything, with the peers; writes benchmarks/RESULTS.md
python -m benchmarks addition clustering    # some workloads; prints only
python -m benchmarks --quick --no-peers     # whether it runs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import results
from benchmarks.environments import PEERS, interpreters
from benchmarks.race import OURS, Pace, race
from benchmarks.suite import workloads

RESULTS = Path(__file__).with_name("RESULTS.md")
QUICK = Pace(rounds=3, round=0.01, race=0.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure this library.")
    parser.add_argument("titles", nargs="*", metavar="workload", help="the beginning of its title; else all")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--quick", action="store_true", help="few short rounds: whether it runs")
    parser.add_argument("--out", type=Path, help="the page to write; for everything it is RESULTS.md")
    given = parser.parse_args(arguments)
    titles = [workload.title for workload in workloads()]
    for title in given.titles:
        if not any(known.startswith(title) for known in titles):
            parser.error(f"no workload begins with '{title}'; there are: {'; '.join(titles)}.")
    chosen = [workload for workload in workloads() if workload.title.startswith(tuple(given.titles or [""]))]
    out = given.out or (None if given.titles or given.quick else RESULTS)

    left_out = {peer.name: "peers were left out" for peer in PEERS}
    pythons, reasons = ({}, left_out) if given.no_peers else interpreters()
    pythons[OURS] = sys.executable
    pace = QUICK if given.quick else Pace()
    outcomes = []
    for number, workload in enumerate(chosen, start=1):
        print(f"{number} of {len(chosen)}: {workload.title} ...", file=sys.stderr, flush=True)
        outcomes.append((workload, race(workload.programs, pythons, pace)))
    print(results.table(outcomes, reasons))
    if out is not None:
        out.write_text(results.page(outcomes, pythons, reasons, pace))


if __name__ == "__main__":
    main()
