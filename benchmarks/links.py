"""How well links are predicted: a plain Keras model, the same scorer in a theory, and with rules.

LTN_DATA=DIR python -m benchmarks.links                  # UMLS and Kinship, three seeds of each
LTN_DATA=DIR python -m benchmarks.links umls --seeds 0 5

DIR/kg/umls and DIR/kg/kinship hold the triples. All train for as many steps; what counts is the filtered mean
reciprocal rank of heads and tails on the test part, after the number of steps that is best on the validation
part. The plain model sees all known triples in each step and as many others; a theory sees all others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import ltn
from benchmarks import graphs
from benchmarks.programs import links

STEPS, EVERY = 300, 25
FORMS = {"theory, facts alone": None, "theory, 20 rules in a table": "table", "theory, 20 rules": "axioms"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print a line for each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.links", description="Predict links.")
    parser.add_argument("graph", nargs="*", help=f"of {', '.join(graphs.SIZES)}; else all")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 3), metavar=("FIRST", "END"))
    given = parser.parse_args(arguments)
    for name in given.graph or graphs.SIZES:
        known = graphs.read(name)
        rules = graphs.rules(known, links.RULES)
        found: dict[str, list[float]] = {}
        for seed in range(*given.seeds):
            for program, run in programs(known, rules, seed).items():
                start = time.perf_counter()
                steps, valid, test = best(known, *run())
                found.setdefault(program, []).append(test)
                print(
                    f"{name}, seed {seed}, {program}: test {test:.3f} (validation {valid:.3f}, "
                    f"after {steps} steps), {time.perf_counter() - start:.0f} s",
                    flush=True,
                )
        for program, ranks in found.items():
            print(f"{name}, {program}: mean {np.mean(ranks):.3f}, worst {min(ranks):.3f}")


def programs(known: graphs.Graph, rules: list[graphs.Rule], seed: int) -> dict[str, Callable[[], Any]]:
    """What is compared: each gives a theory that ranks, and a function that trains for some steps."""

    def theory(form: str | None) -> tuple[ltn.Theory, Callable[[], None]]:
        learned = links.theory_of_graph(known, seed)
        if form is not None:
            links.add_rules(learned, known, rules, form)
        return learned, lambda: learned.fit(steps_per_epoch=EVERY, verbose=0)

    def plain() -> tuple[ltn.Theory, Callable[[], None]]:
        model, ranked = links.model_of_graph(known, seed), links.theory_of_graph(known, seed)
        batches = endless(known, seed)

        def train() -> None:
            model.fit(batches, steps_per_epoch=EVERY, verbose=0)
            # A theory with the same scorer ranks by what the model has learned.
            for individuals, weight in zip(ranked.individuals, model.trainable_variables, strict=True):
                individuals.table.assign(weight)

        return ranked, train

    return {"plain Keras": plain} | {name: lambda form=form: theory(form) for name, form in FORMS.items()}


def endless(known: graphs.Graph, seed: int) -> Iterator[Any]:
    """Batches of all facts and as many other triples, drawn anew for each."""
    rng = np.random.default_rng(seed)
    others = links.others(known)
    while True:
        yield links.labelled(known, others, rng)


def best(known: graphs.Graph, theory: ltn.Theory, train: Callable[[], None]) -> tuple[int, float, float]:
    """The number of steps that is best in validation, and the mean reciprocal rank there and in the test."""
    found = []
    for steps in range(EVERY, STEPS + 1, EVERY):
        train()
        valid, test = (
            theory.rank(
                known.parts[part], "holds(h, r, t)", of=("h", "t"), filtered_by=list(known.parts.values())
            ).mrr
            for part in ("valid", "test")
        )
        found.append((valid, steps, test))
    valid, steps, test = max(found)
    return steps, valid, test


if __name__ == "__main__":
    main()
