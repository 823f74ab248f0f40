"""Gradients of a relation over many individuals: `python -m tests.theory.large_relation CHUNK N ...`.

In a process of its own, it prints by how many KiB the peak of memory has risen after each n.
"""

import gc
import json
import sys
from pathlib import Path

import tensorflow as tf

import ltn


def peak_kib() -> int:
    """The most memory that this process ever held; `ru_maxrss` would start from that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def run(n: int, chunk: int | None) -> None:
    """One gradient of a symmetric relation over n embeddings."""
    theory = ltn.Theory(chunk=chunk)
    people = theory.domain("people", shape=5)
    theory.constants([f"c{i}" for i in range(n)], people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("F", (people, people), ltn.Predicate.MLP([5, 5], (8, 8)))
    theory.axiom("forall x, y: F(x, y) -> F(y, x)")

    def step() -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            satisfaction = theory({})["satisfaction"]
        return tape.gradient(satisfaction, [weight.value for weight in theory.trainable_variables])

    tf.function(step, autograph=False)()


if __name__ == "__main__":
    gc.set_threshold(700, 10, 10)  # that of Python, as users have it
    CHUNK, *SIZES = (int(argument) for argument in sys.argv[1:])
    # What TensorFlow itself takes, also for loops.
    run(20, 100)
    BEFORE = peak_kib()
    RISEN = {}
    for SIZE in SIZES:
        run(SIZE, CHUNK or None)
        RISEN[SIZE] = peak_kib() - BEFORE
    print(json.dumps(RISEN))
