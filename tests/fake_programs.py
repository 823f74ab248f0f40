"""Programs for the tests of the benchmarks: workers that need nothing, and workers that fail."""

import importlib
import os
import signal
import time

from benchmarks.worker import Step


def sleeping(seconds: float) -> Step:
    """A step that takes so long, and talks about it."""

    def step() -> float:
        print("This is no answer.")
        time.sleep(seconds)
        return 0.0

    return step


def obeying() -> Step:
    """A step that takes as long as the `ltn` that it finds tells it."""
    return sleeping(importlib.import_module("ltn").SECONDS)


def dying() -> Step:
    """A step that is killed."""

    def step() -> float:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0.0

    return step


def greedy() -> Step:
    """A step that has no memory left."""

    def step() -> float:
        raise MemoryError

    return step


def broken() -> Step:
    """A program that cannot be built."""
    raise ImportError("nothing here")
