"""Try a random sample of mutants of some rooms, and print what became of each, and of each room."""

import argparse
import difflib
import itertools
import math
import tempfile
from collections import defaultdict
from pathlib import Path

# Imported once, for all mutants.
import h5py  # noqa: F401
import hypothesis  # noqa: F401
import keras  # noqa: F401
import lark  # noqa: F401
import matplotlib.figure  # noqa: F401
import pandas  # noqa: F401
import tensorflow  # noqa: F401

from tests.mutation.covering import ROOT, Covering
from tests.mutation.forks import Copy
from tests.mutation.mutants import Mutant, draw

ROOMS = ["ltn/fuzzy_ops", "ltn/core", "ltn/language", "ltn/evaluation"]
# Seconds of the processor for the tests of one mutant. What they leave out might kill more.
BUDGET = 30.0


def interval(killed: int, tried: int) -> tuple[float, float]:
    """Where the share lies with a probability of 95 percent, by Wilson."""
    z, share = 1.96, killed / tried
    middle = share + z**2 / (2 * tried)
    width = z * math.sqrt(share * (1 - share) / tried + z**2 / (4 * tried**2))
    return (middle - width) / (1 + z**2 / tried), (middle + width) / (1 + z**2 / tried)


def limit(seconds: float) -> float:
    """How long tests may take that took these seconds without a mutant: some mutants never end."""
    return 10.0 + 3.0 * seconds


def difference(mutant: Mutant) -> str:
    lines = (ROOT / mutant.file).read_text().splitlines(), mutant.text.splitlines()
    changed = list(difflib.unified_diff(*lines, lineterm="", n=0))[3:]
    return "\n".join(line for line in changed if not line.startswith("@@"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS)
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    covering = Covering()
    results = defaultdict[str, list[bool]](list)
    killers = defaultdict[str, set[str]](set)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(ROOT, Path(folder).resolve())
        sample = draw(ROOT, arguments.rooms, arguments.seed)
        for number, mutant in enumerate(itertools.islice(sample, arguments.mutants), 1):
            tests = covering.tests(mutant.file, mutant.line, BUDGET)
            killer = copy.killer(mutant, tests, limit(covering.seconds(tests)))
            room = next(room for room in arguments.rooms if mutant.file.startswith(room))
            results[room].append(killer is not None)
            said = f"killed by {killer}" if killer else "SURVIVED " + " ".join(tests)
            print(f"{number} {mutant.file}:{mutant.line} {said}\n{difference(mutant)}", flush=True)
            if killer and "::" in killer:
                killers[killer.partition("::")[0]].add(killer)
        trusted = {file: sorted(names) for file, names in killers.items()}
        failure = copy.failure(trusted, limit(covering.seconds(trusted)))
    for room in [*results, "all"]:
        found = results[room] if room in results else list(itertools.chain(*results.values()))
        low, high = interval(sum(found), len(found))
        share = sum(found) / len(found)
        print(f"{room}: {sum(found)} of {len(found)} killed, {share:.1%} ({low:.1%} to {high:.1%})")
    if failure:
        raise SystemExit(f"{failure} fails without a mutant.")


if __name__ == "__main__":
    main()
