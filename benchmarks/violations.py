"""How fast violations are found: 100 axioms on 100 000 rows, beside the network alone.

python -m benchmarks.violations                        # prints rows per second, the ratio, and the memory
python -m benchmarks.violations --axioms 10 --rows 1000000

The network has a label for each of 20 heads. It runs once for all axioms, so that with few axioms the ratio
is near 1. Each number is the median of some rounds, in which both take turns.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

import ltn

FEATURES, LABELS = 64, 20


def theory_of(axioms: int) -> tuple[ltn.Theory, keras.Model]:
    """Implications between labels of one network, drawn at random; and the network."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("stable_product")
    rows = theory.domain("rows", shape=FEATURES)
    theory.variable("x", rows)
    layers = [keras.Input((FEATURES,)), keras.layers.Dense(256, "elu"), keras.layers.Dense(LABELS)]
    network = keras.Sequential(layers)
    names = [f"label_{number}" for number in range(LABELS)]
    heads = ltn.Predicate.heads(network, names)
    for name in names:
        theory.predicate(name, rows, heads[name])
    rng = np.random.default_rng(0)
    for number in range(axioms):
        first, second, third = rng.choice(names, 3, replace=False)
        theory.axiom(f"forall x: {first}(x) & {second}(x) -> {third}(x)", name=f"rule_{number}")
    return theory, network


def seconds(ask: Callable[[], Any]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def peak() -> float:
    """The most memory that the process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.violations", description="Find violations.")
    parser.add_argument("--axioms", type=int, default=100, help="how many (100)")
    parser.add_argument("--rows", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--rounds", type=int, default=5, help="how many (5)")
    given = parser.parse_args(arguments)
    theory, network = theory_of(given.axioms)
    points = np.random.default_rng(1).normal(size=(given.rows, FEATURES)).astype(np.float32)
    few = {"x": points[:1000]}
    theory.violations(few)
    network.predict(few["x"], batch_size=8192, verbose=0)
    before = peak()
    alone: list[float] = []
    whole: list[float] = []
    for _ in range(given.rounds):
        alone.append(seconds(lambda: network.predict(points, batch_size=8192, verbose=0)))
        whole.append(seconds(lambda: theory.violations({"x": points})))
    found = theory.violations({"x": points})
    took = statistics.median(whole)
    times = statistics.median(one / other for one, other in zip(whole, alone, strict=True))
    print(f"{given.axioms} axioms, {given.rows:,} rows: {found.total:,} violations in {took:.2f} s")
    print(f"{given.rows / took:,.0f} rows per second, {given.rows * given.axioms / took:,.0f} groundings")
    print(f"{times:.2f} times the network alone; {peak() - before:.0f} MiB more memory at the most")


if __name__ == "__main__":
    main()
