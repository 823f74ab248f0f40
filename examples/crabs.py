"""Multi-class multi-label classification (section 4.3): the colour and the sex of crabs.

There are no negative examples: that a crab has one colour and one sex is said by two axioms. The measurements
are standardised on the training part.
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
    Line,
    Metric,
    Panel,
    Recorder,
    Run,
    Setting,
    accuracy_and_satisfaction,
    data,
    draw,
    on_both_parts,
    split,
    standardised,
)

LABELS = ["blue", "orange", "male", "female"]
# Not among the axioms: the first follows, the others do not.
QUERIES = {
    "phi1: blue -> not orange": "forall x: P(x, blue) -> ~P(x, orange)",
    "phi2: blue -> orange": "forall x: P(x, blue) -> P(x, orange)",
    "phi3: blue -> male": "forall x: P(x, blue) -> P(x, male)",
}


def theory_of_crabs(with_rules: bool = True) -> ltn.Theory:
    """Every crab has the labels that it is given; as rules, colours exclude each other, and sexes."""
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains; the labels are the constants of theirs
    items = theory.domain("items", shape=5)
    labels = theory.domain("labels", values=LABELS)

    # Variables
    theory.variable("x", items)
    theory.variables("l, colour, sex", labels)

    # Predicates, and their grounding
    network = keras.Sequential(
        [
            keras.Input((5,)),
            *(keras.layers.Dense(n, activation="elu") for n in (16, 16, 8)),
            keras.layers.Dense(4),
        ]
    )
    theory.predicate("P", (items, labels), ltn.Predicate.FromLogits(network, "sigmoid"))

    # Axioms
    theory.axioms("""
        blues: forall diag(x, colour) where colour = blue: P(x, blue)
        oranges: forall diag(x, colour) where colour = orange: P(x, orange)
        males: forall diag(x, sex) where sex = male: P(x, male)
        females: forall diag(x, sex) where sex = female: P(x, female)
    """)
    if with_rules:
        theory.axioms("""
            one_colour: forall x: ~(P(x, blue) & P(x, orange))
            one_sex: forall x: ~(P(x, male) & P(x, female))
        """)
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Learn from some crabs, classify the others, and ask three more formulas of these."""
    measurements, colours, sexes = data.crabs()
    parts = split(len(measurements), setting.train_size, np.random.default_rng(seed))
    x = standardised(measurements, parts[0])
    train, test = ({"x": x[rows], "colour": colours[rows], "sex": 2 + sexes[rows]} for rows in parts)
    theory = theory_of_crabs(setting.options["rules"] == "with_rules")

    # Querying
    def measure() -> dict[str, float]:
        asked = {name: float(theory.query(formula, x=test["x"], p=5)) for name, formula in QUERIES.items()}
        return on_both_parts(theory, train, test, accuracy=accuracy) | asked

    # Learning
    recorder = Recorder(measure, every=10)
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(train, batch_size=64, epochs=setting.epochs, callbacks=[recorder], verbose=0)
    examples = {"train": train, "test": test}
    return Run(recorder.last, recorder.curves, recorder.epochs, model=theory, examples=examples)


def accuracy(theory: ltn.Theory, examples: Mapping[str, Any]) -> float:
    """1 minus the Hamming loss: the share of labels that lie on the right side of 0.5."""
    truths = theory.query("P(x, l)", x=examples["x"]).tensor.numpy()
    labels = np.arange(len(LABELS))
    given = (labels == examples["colour"][:, np.newaxis]) | (labels == examples["sex"][:, np.newaxis])
    return float(np.mean((truths > 0.5) == given))


def settings() -> tuple[Setting, ...]:
    """The paper's."""
    names = ("train satisfaction", "test satisfaction", "train accuracy", "test accuracy")
    true, *false = QUERIES
    metrics = (
        *(Metric(name, words="curves only") for name in names),
        Metric(true, words="to true", bound=0.5),
        *(Metric(name, words="to false", bound=0.5, lower_is_better=True) for name in false),
    )
    return (Setting("paper", metrics, epochs=500, train_size=160, options={"rules": "with_rules"}),)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """Accuracy, satisfaction, and the three queries."""
    rows = {
        name: [
            *accuracy_and_satisfaction(done),
            Panel("Queries", {query: Line(done, query) for query in QUERIES}),
        ]
        for name, done in runs.items()
    }
    return {"crabs_curves": draw(rows)}


EXPERIMENT = Experiment(
    "crabs",
    "4.3",
    "Multi-class multi-label classification",
    settings,
    run,
    curves,
    data=lambda setting: "200 Leptograpsus crabs",
    options={"rules": ("with_rules", "without_rules")},
)
