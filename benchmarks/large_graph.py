"""What a large graph needs: cost per tuple, memory, traffic; SCALING.md works it out.

python -m benchmarks.large_graph                                  # 10^8 edges between 10^7 individuals
python -m benchmarks.large_graph --edges 1e9 --individuals 1e8

It measures on graphs that are small enough, in seconds of one core of this machine, and prints what follows
for the large one. A step learns that the edges of a batch hold, and that as many triples do not, whose tails
are drawn at random: two tuples for each edge. They come in the batch, or are a sample of all combinations.
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
KINDS = 20
BATCHES_OF = (1024, 8192)
# Individuals of the graphs that are measured, and rows of the files.
SMALL, LARGE = 100_000, 1_000_000
ROWS = 500_000
STEPS = 12
# Copies of the table of embeddings: itself, and what an optimizer keeps of each number.
COPIES = {"sgd": 1, "adagrad": 2, "adam": 3}
GB = 1e9
WORKERS = (1, 4, 16)
# Bytes a second.
NETWORK = 1.25e9


OTHERS = "forall diag(h, r, other): ~holds(h, r, other)"
SAMPLED = "forall[sample=8192] sampled_h, sampled_r, other: ~holds(sampled_h, sampled_r, other)"


METHODS = (
    ("sgd", OTHERS, "sgd"),
    ("adagrad", OTHERS, "adagrad"),
    ("adam", OTHERS, "adam"),
    ("sgd, others sampled", SAMPLED, "sgd"),
)


def theory_of(individuals: int, others: str = OTHERS, optimizer: str = "sgd") -> ltn.Theory:
    """A graph without its edges."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("log_product")
    entities, kinds = theory.domain("entities", shape=FEATURES), theory.domain("kinds", shape=FEATURES)
    theory.constants([f"/m/{number:07d}" for number in range(individuals)], entities, initializer="normal")
    theory.constants([f"kind {number}" for number in range(KINDS)], kinds, initializer="normal")
    theory.variables("h, t, other, sampled_h", entities)
    theory.variables("r, sampled_r", kinds)
    theory.predicate("holds", (entities, kinds, entities), ltn.Predicate.DistMult())
    theory.axiom("forall diag(h, r, t): holds(h, r, t)", name="known")
    theory.axiom(others, name="others")
    theory.compile(optimizer)
    return theory


def edges_of(individuals: int, count: int, others: str = OTHERS) -> dict[str, np.ndarray]:
    """Edges at random, by index, and perhaps other tails."""
    rng = np.random.default_rng(0)
    most = {"h": individuals, "r": KINDS, "t": individuals} | (
        {"other": individuals} if others == OTHERS else {}
    )
    return {name: rng.integers(0, high, count, np.int32) for name, high in most.items()}


def core_seconds(action: Callable[[], object]) -> float:
    """The time that all threads of this process work on something."""
    start = time.process_time()
    action()
    return time.process_time() - start


def per_row(folder: Path) -> dict[str, float]:
    """Seconds to read a row of a file, with its names looked up, and rows shuffled."""
    theory = theory_of(SMALL)
    edges = edges_of(SMALL, ROWS, SAMPLED)
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


def per_step(individuals: int, others: str = OTHERS, optimizer: str = "sgd") -> list[float]:
    """Seconds of a step, for each size of the batch."""
    theory, found = theory_of(individuals, others, optimizer), []
    how = "in the batch" if others == OTHERS else "a sample"
    for batch in BATCHES_OF:
        step = step_of(theory, fed(edges_of(individuals, BATCHES * batch, others), batch), "train")
        float(step())
        found.append(core_seconds(lambda step=step: [float(step()) for _ in range(STEPS)]) / STEPS)  # type: ignore[misc]
        size, parts = gradient_of(theory, edges_of(individuals, batch, others))
        print(
            f"{optimizer:8}{individuals:>10,} individuals, {batch:,} edges, others {how}: "
            f"{found[-1] * 1e3:7.1f} ms a step, {size / 1e6:.1f} MB of gradients, {parts}",
            flush=True,
        )
    return found


def gradient_of(theory: ltn.Theory, batch: dict[str, np.ndarray]) -> tuple[int, str]:
    """Of the table of the entities: its bytes, and whether it has rows of some individuals, or of all."""
    table = max(theory.trainable_variables, key=lambda weight: weight.shape[0])
    with tf.GradientTape() as tape:
        loss = -tf.reduce_sum(theory.call(batch, training=True)["satisfaction"])
    gradient = tape.gradient(loss, table.value)
    if isinstance(gradient, tf.IndexedSlices):
        parts = (gradient.values, gradient.indices)
        return sum(int(tf.size(part)) * part.dtype.size for part in parts), f"{len(gradient.indices):,} rows"
    return int(tf.size(gradient)) * 4, "all rows"


def main() -> None:
    """Measure, print, work out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--individuals", type=float, default=1e7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reading = per_row(Path(folder))
        lines = tf.data.TextLineDataset(str(Path(folder, "edges.tsv"))).batch(4096)
        # What each worker does with the rows of the others too.
        through = core_seconds(lambda: [None for _ in lines]) / ROWS
        print(f"going through a file {through * 1e6:12.2f} us a row")
    few, many = BATCHES_OF
    tuples, rest = {}, {}
    for name, others, optimizer in METHODS:
        small, large = (per_step(individuals, others, optimizer) for individuals in (SMALL, LARGE))
        tuples[name] = (small[1] - small[0]) / (2 * (many - few))
        rest[name] = max((large[1] - small[1]) / (LARGE - SMALL), 0.0)
        print(
            f"{name}: {tuples[name] * 1e6:.2f} us a tuple; {rest[name] * 1e9:.1f} ns a step for an individual"
        )
    print(f"most memory: {1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GB:.2f} GB")

    steps, table = asked.edges / many, asked.individuals * FEATURES * 4
    print(f"\n{asked.edges:.0e} edges, {asked.individuals:.0e} individuals: {steps:,.0f} batches an epoch")
    print(f"rows as indices {asked.edges * 3 * 4 / GB:.1f} GB, table {table / GB:.2f} GB")
    # Three individuals of an edge and its other tail, of each a row of the table and its index. A sample has
    # heads of its own.
    by_rows = asked.edges * 3 * (FEATURES * 4 + 4)
    print(f"gradients by rows: {by_rows / steps / 1e6:.1f} MB a step, {by_rows / GB:.0f} GB an epoch")
    print(f"gradients of all rows: {table / 1e6:.0f} MB a step, {steps * table / GB:,.0f} GB an epoch")
    for name, others, optimizer in METHODS:
        print(f"{name}: {table * COPIES[optimizer] / GB:.1f} GB of weights and moments on each worker")
        for count in WORKERS:
            divided = asked.edges * (2 * tuples[name] + reading["edges.tsv"] - through) / count
            own = asked.edges * through + steps * asked.individuals * rest[name]
            # Rows are gathered. What has all rows is added up around a ring, which it passes twice.
            of_rows = by_rows * (4 / 3 if others == SAMPLED else 1)
            by_all = 2 * steps * table if optimizer == "adam" else of_rows
            received = by_all * (count - 1) / count
            print(
                f"  {count:2} workers: {(divided + own) / 3600:.2f} hours of one core each an epoch; "
                f"each receives {received / GB:,.0f} GB, {received / NETWORK / 3600:.2f} hours at 10 Gbit/s"
            )


if __name__ == "__main__":
    main()
