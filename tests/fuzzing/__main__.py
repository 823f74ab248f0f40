"""A long search: blocks of random texts and theories, each in a process of its own, for so many minutes.

    python -m tests.fuzzing --minutes 30
    python -m tests.fuzzing --part theories --seed 17

With a seed that block alone is searched, and its failure simplified.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from typing import Any

# The part of the time that each kind of cases has.
PARTS = {"texts": 0.2, "formulas": 0.1, "theories": 0.7}
# A block that takes longer hangs in code that no signal reaches.
LONGEST_BLOCK = 3600.0
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}


def search(part: str, seed: int, *options: str) -> dict[str, Any]:
    """What a block found: counts, and failures."""
    command = [sys.executable, "-m", "tests.fuzzing.block", part, str(seed), *options]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST_BLOCK, env=os.environ | ENVIRONMENT
        )
    except subprocess.TimeoutExpired:
        return {"counts": {}, "failures": [f"It did not end within {LONGEST_BLOCK:g} seconds."]}
    if process.returncode:
        end = "\n".join(process.stderr.splitlines()[-30:])
        return {"counts": {}, "failures": [f"The process ended with the code {process.returncode}.\n{end}"]}
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Search, print what was found, and return how many blocks failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    parts = arguments.part or list(PARTS)
    spent = dict.fromkeys(parts, 0.0)
    counts: Counter[str] = Counter()
    failed: list[str] = []
    first = random.SystemRandom().randrange(10**8) if arguments.seed is None else arguments.seed
    begin, number = time.monotonic(), 0
    while True:
        # The one that had the least of its time.
        part = min(parts, key=lambda part: spent[part] / PARTS[part])
        seed, start = first + (number if arguments.seed is None else 0), time.monotonic()
        found = search(part, seed, *["--simplify"] * (arguments.seed is not None))
        spent[part] += time.monotonic() - start
        counts.update(found["counts"])
        number += 1
        said = ", ".join(f"{count} {name}" for name, count in found["counts"].items() if " " not in name)
        print(f"{part}, seed {seed}: {said}", flush=True)
        if found["failures"]:
            repeat = f"make fuzz PART={part} SEED={seed}"
            failed.append(repeat)
            told = "\n".join(found["failures"])
            print(f"{told}\nRepeat and simplify it with: {repeat}\n", flush=True)
        is_over = time.monotonic() - begin > 60.0 * arguments.minutes
        if number >= len(parts) if arguments.seed is not None else is_over:
            break
    last = first if arguments.seed is not None else first + number - 1
    print(f"\nSeeds {first} to {last}, {(time.monotonic() - begin) / 60:.1f} minutes:")
    for name, count in sorted(counts.items()):
        print(f"{count:8d} {name}")
    print("\n".join([f"{len(failed)} blocks failed", *failed]))
    return len(failed)


if __name__ == "__main__":
    sys.exit(min(1, main()))
