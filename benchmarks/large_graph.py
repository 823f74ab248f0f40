"""What a large graph needs: cost per tuple, memory, traffic; SCALING.md works it out.

python -m benchmarks.large_graph                                  # 10^8 edges between 10^7 individuals
python -m benchmarks.large_graph --edges 1e9 --individuals 1e8

It measures on graphs that are small enough, in seconds of one core of this machine, and prints what follows
for the large one. A step learns that the edges of a batch hold, and that as many triples, a sample of all, do
not: two tuples for each edge.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import ltn
from benchmarks.programs.keras_steps import BATCHES, fed, step_of

FEATURES = 64
BATCHES_OF = (1024, 8192)
# Individuals of the graphs that are measured, and rows of the files.
SMALL, LARGE = 100_000, 1_000_000
ROWS = 500_000
STEPS = 12
# Copies of the table of embeddings: itself, and what an optimizer keeps of each number.
COPIES = {"sgd": 1, "adagrad": 2, "adam": 3}
GB = 1e9


def theory_of(individuals: int, sample: int, optimizer: str) -> ltn.Theory:
    """A graph without its edges."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("log_product")
    entities, kinds = theory.domain("entities", shape=FEATURES), theory.domain("kinds", shape=FEATURES)
    theory.constants([f"/m/{number:07d}" for number in range(individuals)], entities, initializer="normal")
    theory.constants([f"kind {number}" for number in range(20)], kinds, initializer="normal")
    theory.variables("h, t, other_h, other_t", entities)
    theory.variables("r, other_r", kinds)
    theory.predicate("holds", (entities, kinds, entities), ltn.Predicate.DistMult())
    theory.axiom("forall diag(h, r, t): holds(h, r, t)", name="known")
    rule = f"forall[sample={sample}] other_h, other_r, other_t: ~holds(other_h, other_r, other_t)"
    theory.axiom(rule, name="others")
    theory.compile(optimizer)
    return theory


def edges_of(individuals: int, count: int) -> dict[str, np.ndarray]:
    """Edges at random, by index."""
    rng = np.random.default_rng(0)
    return {
        name: rng.integers(0, high, count, np.int32)
        for name, high in zip("hrt", (individuals, 20, individuals), strict=True)
    }


def core_seconds(action: Callable[[], object]) -> float:
    """The time that all threads of this process work on something."""
    start = time.process_time()
    action()
    return time.process_time() - start


def peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def per_row(folder: Path) -> dict[str, float]:
    """Seconds to read a row of a file, with its names looked up, and rows shuffled."""
    theory = theory_of(SMALL, 1, "sgd")
    edges = edges_of(SMALL, ROWS)
    lines = "".join(
        f"/m/{h:07d}\tkind {r}\t/m/{t:07d}\n" for h, r, t in zip(*edges.values(), strict=True)
    ).encode()
    (folder / "edges.tsv").write_bytes(lines)
    (folder / "edges.tsv.gz").write_bytes(gzip.compress(lines, 6))
    with tf.io.TFRecordWriter(str(folder / "edges.tfrecord")) as writer:
        for row in zip(*edges.values(), strict=True):
            features = {
                name: tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value)]))
                for name, value in zip("hrt", row, strict=True)
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    found = {}
    for name in ("edges.tsv", "edges.tsv.gz", "edges.tfrecord"):
        batches = theory.rows(folder / name, "h, r, t", batch_size=BATCHES_OF[-1])
        seconds = core_seconds(lambda batches=batches: [None for _ in batches])  # type: ignore[misc]
        found[name] = seconds / ROWS
        size = (folder / name).stat().st_size / ROWS
        print(f"reading {name:15}{found[name] * 1e6:6.2f} us a row of {size:.0f} bytes", flush=True)
    return found


def per_step(optimizer: str, individuals: int) -> dict[int, float]:
    """Seconds of a step, by the number of edges in its batch."""
    found = {}
    for batch in BATCHES_OF:
        theory = theory_of(individuals, batch, optimizer)
        step = step_of(theory, fed(edges_of(individuals, BATCHES * batch), batch), "train")
        float(step())
        found[batch] = core_seconds(lambda step=step: [float(step()) for _ in range(STEPS)]) / STEPS  # type: ignore[misc]
        kind, size = gradient_of(theory, edges_of(individuals, batch))
        print(
            f"step with {optimizer:8}{individuals:>10,} individuals, 2 x {batch:,} tuples: "
            f"{found[batch] * 1e3:8.1f} ms; gradient {kind}, {size / 1e6:.1f} MB",
            flush=True,
        )
    return found


def gradient_of(theory: ltn.Theory, batch: dict[str, np.ndarray]) -> tuple[str, int]:
    """Of the table of the entities: whether it has some rows or all, and its bytes."""
    table = max(theory.trainable_variables, key=lambda weight: weight.shape[0])
    with tf.GradientTape() as tape:
        loss = -tf.reduce_sum(theory.call(batch, training=True)["satisfaction"])
    gradient = tape.gradient(loss, table.value)
    if isinstance(gradient, tf.IndexedSlices):
        parts = (gradient.values, gradient.indices)
        return "of some rows", sum(int(tf.size(part)) * part.dtype.size for part in parts)
    return "of all rows", int(tf.size(gradient)) * 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--individuals", type=float, default=1e7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reading = per_row(Path(folder))
    few, many = BATCHES_OF
    tuples, rest = {}, {}
    for optimizer in COPIES:
        small, large = per_step(optimizer, SMALL), per_step(optimizer, LARGE)
        tuples[optimizer] = (large[many] - large[few]) / (2 * (many - few))
        rest[optimizer] = (large[few] - small[few]) / (LARGE - SMALL)
        print(f"with {optimizer:8}{tuples[optimizer] * 1e6:6.2f} us a tuple")
        print(f"with {optimizer:8}{rest[optimizer] * 1e9:6.2f} ns a step for each individual")
    print(f"most memory: {peak() / GB:.2f} GB")
    print(
        f"{asked.edges:.0e} edges, {asked.individuals:.0e} individuals of {FEATURES} numbers, batches of {many:,}:"
    )
    print(f"  rows as indices, if memory held them: {asked.edges * 3 * 4 / GB:.1f} GB")
    table = asked.individuals * FEATURES * 4
    steps = asked.edges / many
    for optimizer, copies in COPIES.items():
        per_edge = 2 * tuples[optimizer] + reading["edges.tsv"]
        hours = (asked.edges * per_edge + steps * asked.individuals * max(rest[optimizer], 0.0)) / 3600
        print(
            f"  {optimizer}: {table * copies / GB:.1f} GB on each worker; {hours:.1f} hours of one core an epoch"
        )
    # Two individuals of each tuple, and of each a row of the table and its place.
    sent = asked.edges * 2 * 2 * (FEATURES * 4 + 8)
    print(f"  rows of gradients: {sent / steps / 1e6:.1f} MB a step, {sent / GB:.0f} GB an epoch")
    print(f"  gradients of whole tables: {table / GB:.1f} GB a step, {steps * table / GB:,.0f} GB an epoch")


if __name__ == "__main__":
    main()
