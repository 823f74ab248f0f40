"""The process of one program: it builds a step, then runs it as often as it is asked to.

    python -I benchmarks/worker.py MODULE FUNCTION ARGUMENTS [LIBRARY]

ARGUMENTS is a JSON list, with which the function of the module is called; it returns the step. LIBRARY is the
folder that holds the package `ltn`; without it `ltn` is what the environment has installed. Each line
on stdin is a number of steps; each line on stdout is an answer in JSON: {} when the step is built, then the
seconds per step and the peak memory in bytes, or what went wrong. It runs in the environments of other
libraries too, so it needs nothing but Python.
"""

import importlib
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Step = Callable[[], Any]

# Linux counts in kilobytes, macOS in bytes.
UNIT_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024
MEMORY_LIMIT = 16 * 2**30


def timed(step: Step, steps: int) -> float:
    """Seconds per step, each of which returns a number or a tensor of one."""
    if steps > 1:
        # The caches still hold what another process worked on.
        float(step())
    start = time.perf_counter()
    for _ in range(steps):
        value = step()
    # Also waits for a step that is not finished.
    float(value)
    return (time.perf_counter() - start) / steps


def peak() -> int:
    """The most memory that this process, or one that it started, ever had, in bytes."""
    sides = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return UNIT_OF_MAXRSS * max(resource.getrusage(side).ru_maxrss for side in sides)


def said(error: Exception) -> str:
    """An error in few words; its traceback goes to stderr."""
    traceback.print_exc()
    words = f"{type(error).__name__} {error}"
    return "out of memory" if any(word in words for word in ("OOM", "emory")) else type(error).__name__


def main(module: str, function: str, arguments: str, library: str = "") -> None:
    """Build, then answer until stdin ends."""
    # What a library prints is no answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    programs = str(Path(__file__).parents[1])
    if library:
        # Before the installed packages, which may hold `ltn` and even the programs of another checkout.
        sys.path[:0] = [library, programs]
    else:
        # Behind them: in the environment of another library, `ltn` is that library.
        sys.path.append(programs)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or most > MEMORY_LIMIT:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, most))
    try:
        step = getattr(importlib.import_module(module), function)(*json.loads(arguments))
        print(json.dumps({}), file=answers)
        for line in sys.stdin:
            print(json.dumps({"seconds": timed(step, int(line)), "peak": peak()}), file=answers)
    except Exception as error:  # whatever a library raises is its answer, and its row says so
        print(json.dumps({"error": said(error)}), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
