"""Multi-class single-label classification (section 4.2): the species of iris flowers.

Each flower has one label. The classes exclude each other through the softmax of the network that grounds P:
no axiom needs to say so.
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
    data,
    draw,
    on_both_parts,
    split,
)


def theory_of_flowers() -> ltn.Theory:
    """Every flower has the label that it is given."""
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains; the labels are the constants of theirs
    items = theory.domain("items", shape=4)
    labels = theory.domain("labels", values=["setosa", "versicolor", "virginica"])

    # Variables
    theory.variable("x", items)
    theory.variables("l, label", labels)

    # Predicates, and their grounding
    theory.predicate("P", (items, labels), ltn.Predicate.FromLogits(network(), "softmax"))

    # Axioms
    theory.axioms("""
        setosas: forall diag(x, label) where label = setosa: P(x, setosa)
        versicolors: forall diag(x, label) where label = versicolor: P(x, versicolor)
        virginicas: forall diag(x, label) where label = virginica: P(x, virginica)
    """)
    return theory


def network() -> keras.Model:
    """The appendix's, with one output for each class, as the text has it."""
    layers: list[Any] = [keras.Input((4,))]
    for units in (16, 16, 8):
        layers += [keras.layers.Dense(units, activation="elu"), keras.layers.Dropout(0.2)]
    return keras.Sequential([*layers, keras.layers.Dense(3)])


def run(setting: Setting, seed: int) -> Run:
    """Learn from some flowers, and classify the others."""
    x, species = data.iris()
    parts = split(len(x), setting.train_size, np.random.default_rng(seed))
    train, test = ({"x": x[rows], "label": species[rows]} for rows in parts)
    theory = theory_of_flowers()

    # Querying
    def measure() -> dict[str, float]:
        return on_both_parts(theory, train, test, accuracy=accuracy)

    # Learning
    recorder = Recorder(measure, every=10)
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(train, batch_size=64, epochs=setting.epochs, callbacks=[recorder], verbose=0)
    graph = ltn.plot.tree(theory, "setosas", train)
    return Run(
        recorder.last,
        recorder.curves,
        recorder.epochs,
        pictures={"iris_graph": graph},
        model=theory,
        examples={"train": train, "test": test},
    )


def is_right(theory: ltn.Theory, examples: Mapping[str, Any]) -> np.ndarray:
    """Of each flower, whether its label is the truest one."""
    truths = theory.query("P(x, l)", x=examples["x"]).tensor.numpy()
    return truths.argmax(axis=1) == examples["label"]


def accuracy(theory: ltn.Theory, examples: Mapping[str, Any]) -> float:
    """The share of flowers that are right."""
    return float(np.mean(is_right(theory, examples)))


def settings() -> tuple[Setting, ...]:
    """The paper's."""
    metrics = (
        Metric("train satisfaction", words="over 0.8", bound=0.8),
        Metric("test satisfaction", words="over 0.8", bound=0.8),
        Metric("train accuracy", words="near 1", bound=0.95),
        Metric("test accuracy", words="near 1", bound=0.95),
    )
    return (Setting("paper", metrics, epochs=500, train_size=120),)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """Accuracy and satisfaction on both parts."""
    return {"iris_curves": draw({name: accuracy_and_satisfaction(done) for name, done in runs.items()})}


EXPERIMENT = Experiment(
    "iris",
    "4.2",
    "Multi-class single-label classification",
    settings,
    run,
    curves,
    data=lambda setting: "150 iris flowers",
)
