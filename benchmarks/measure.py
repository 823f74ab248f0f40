"""Two programs timed side by side.

They run in turns within one process, so that a busy machine slows both alike. What counts is the median of
the ratios of neighbouring rounds, with their quartiles.
"""

import statistics
import time
from collections.abc import Callable

import tensorflow as tf

ROUNDS = 31

Step = Callable[[], tf.Tensor]


def seconds(step: Step, steps: int) -> float:
    """The time of one round of steps, each of which returns a tensor."""
    start = time.perf_counter()
    for _ in range(steps):
        value = step()
    value.numpy()
    return time.perf_counter() - start


def compare(
    reference: tuple[str, Step], ours: tuple[str, Step], steps: int, rounds: int = ROUNDS, unit: str = "step"
) -> float:
    """Print the time per step of both, and the ratio of ours to the reference, which is returned."""
    named = (reference, ours)
    # Tracing and the first steps are not what is measured.
    for _, step in named:
        seconds(step, steps)
    times = [[seconds(step, steps) for _, step in named] for _ in range(rounds)]
    low, ratio, high = statistics.quantiles([second / first for first, second in times], n=4)
    for (name, _), column in zip(named, zip(*times, strict=True), strict=True):
        print(f"{name:<40} {1e3 * statistics.median(column) / steps:8.3f} ms per {unit}")
    print(f"{'ratio':<40} {ratio:8.3f}  (quartiles {low:.3f} to {high:.3f})")
    return ratio
