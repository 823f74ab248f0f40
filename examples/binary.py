"""Binary classification (section 4.1): points of the unit square are inside a circle or outside.

The paper's text has the distance 0.09 to the centre; its figure, and a usable share of positive points,
fit the square of a distance: a radius of 0.3, which is used here. `--scenario radius=0.09` is the text's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from matplotlib.figure import Figure

import ltn
from examples.harness import (
    Experiment,
    Metric,
    Recorder,
    Run,
    Setting,
    accuracy_and_satisfaction,
    draw,
    on_both_parts,
    split,
)

POINTS = 100
CENTRE = (0.5, 0.5)


def theory_of_points() -> ltn.Theory:
    """A is true of the positive examples and false of the negative ones."""
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains
    points = theory.domain("points", shape=2, bounds=(0, 1))
    labels = theory.domain("labels", values=["negative", "positive"])

    # Variables
    theory.variable("x", points)
    theory.variable("l", labels)

    # Predicates, and their grounding
    theory.predicate("A", points, ltn.Predicate.MLP([2], (16, 16)))

    # Axioms
    theory.axioms("""
        inside: forall diag(x, l) where l = positive: A(x)
        outside: forall diag(x, l) where l = negative: ~A(x)
    """)
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Learn from one half of the points, and classify the other."""
    x = np.random.default_rng(seed).uniform(size=(POINTS, 2)).astype(np.float32)
    labels = (np.linalg.norm(x - CENTRE, axis=1) < setting.options["radius"]).astype(int)
    train, test = ({"x": x[rows], "l": labels[rows]} for rows in split(POINTS, setting.train_size))
    theory = theory_of_points()

    # Querying
    def measure() -> dict[str, float]:
        return on_both_parts(theory, train, test, accuracy=accuracy)

    # Learning
    recorder = Recorder(measure, every=10)
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(train, batch_size=64, epochs=setting.epochs, callbacks=[recorder], verbose=0)
    return Run(
        recorder.last,
        recorder.curves,
        recorder.epochs,
        pictures=pictures(theory, train),
        model=theory,
        examples={"train": train, "test": test},
    )


def is_right(theory: ltn.Theory, examples: Mapping[str, Any]) -> np.ndarray:
    """Of each point, whether A puts it on the right side of 0.5."""
    truths = theory.query("A(x)", x=examples["x"]).tensor.numpy()
    return (truths > 0.5) == (examples["l"] == 1)


def accuracy(theory: ltn.Theory, examples: Mapping[str, Any]) -> float:
    """The share of points that are right."""
    return float(np.mean(is_right(theory, examples)))


def pictures(theory: ltn.Theory, train: Mapping[str, Any]) -> dict[str, Figure]:
    """The graph of an axiom; what the trained predicate says of the whole square, and its negation."""
    kinds = {"inside": train["x"][train["l"] == 1], "outside": train["x"][train["l"] == 0]}
    return {
        "binary_graph": ltn.plot.tree(theory, "inside", train),
        "binary_query": ltn.plot.surface(theory, "A(x)", points=kinds),
        "binary_query_negation": ltn.plot.surface(theory, "~A(x)", points=kinds),
    }


def settings() -> tuple[Setting, ...]:
    """The paper's; it shows curves and prints no figures."""
    names = ("train satisfaction", "test satisfaction", "train accuracy", "test accuracy")
    metrics = tuple(Metric(name, words="curves only") for name in names)
    return (Setting("paper", metrics, epochs=1000, train_size=50, options={"radius": 0.3}),)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """Accuracy and satisfaction on both parts."""
    return {"binary_curves": draw({name: accuracy_and_satisfaction(done) for name, done in runs.items()})}


EXPERIMENT = Experiment(
    "binary", "4.1", "Binary classification", settings, run, curves, options={"radius": (0.3,)}
)
