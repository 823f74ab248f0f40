"""Regression (section 4.5): the prices of houses, with a smooth equality.

The paper's data are not shipped; where they are neither given nor can be downloaded, houses in Windsor stand
in for them, and the table says so. Features are standardised on the training part, prices keep their unit.
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
    data,
    draw,
    on_both_parts,
    split,
    standardised,
)
from ltn.plot.style import COLOURS, add_title, ink, picture


def theory_of_prices(features: int, alpha: float = 0.05) -> ltn.Theory:
    """The function f gives every house its price; prices u, v are equal to the degree exp(-alpha |u - v|)."""
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains
    samples = theory.domain("samples", shape=features)
    prices = theory.domain("prices", equality="smooth", alpha=alpha)

    # Variables
    theory.variable("x", samples)
    theory.variable("y", prices)

    # Functions, and their grounding
    theory.function("f", samples, prices, ltn.Function.MLP([features], 1, (8, 8)))

    # Axioms
    theory.axiom("forall diag(x, y): f(x) = y", name="prices")
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Learn from some houses, and predict the prices of the others."""
    sales = data.sales()
    parts = split(len(sales.prices), setting.train_size, np.random.default_rng(seed))
    x = standardised(sales.features, parts[0])
    train, test = ({"x": x[rows], "y": sales.prices[rows]} for rows in parts)
    theory = theory_of_prices(x.shape[1])

    # Querying
    def measure() -> dict[str, float]:
        return on_both_parts(theory, train, test, RMSE=error)

    # Learning
    recorder = Recorder(measure, every=10)
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(train, batch_size=64, epochs=setting.epochs, callbacks=[recorder], verbose=0)
    return Run(
        recorder.last,
        recorder.curves,
        recorder.epochs,
        pictures=pictures(theory, train, test),
        model=theory,
        examples={"train": train, "test": test},
    )


def predicted(theory: ltn.Theory, examples: Mapping[str, Any]) -> np.ndarray:
    """The prices that f gives."""
    return theory.query("f(x)", x=examples["x"]).tensor.numpy().reshape(-1)


def error(theory: ltn.Theory, examples: Mapping[str, Any]) -> float:
    """The error of the prices that f gives."""
    return rmse(predicted(theory, examples), examples["y"])


def rmse(guessed: Any, actual: np.ndarray) -> float:
    """The root of the mean squared error of guessed prices."""
    return float(np.sqrt(np.mean((guessed - actual) ** 2)))


def pictures(theory: ltn.Theory, train: Mapping[str, Any], test: Mapping[str, Any]) -> dict[str, Figure]:
    """Predicted against actual prices."""
    figure = picture(5.6, 5.2)
    axes = figure.add_subplot()
    for colour, (label, part) in zip(COLOURS, {"train": train, "test": test}.items(), strict=False):
        axes.scatter(part["y"], predicted(theory, part), s=14, color=colour, label=label, alpha=0.7)
    top = 1.05 * max(train["y"].max(), test["y"].max())
    axes.plot([0.0, top], [0.0, top], color=ink(), linewidth=1.0, linestyle="--", label="equal")
    add_title(axes, "Predicted and actual prices")
    axes.set(xlabel="actual price", ylabel="predicted price", xlim=(0.0, top), ylim=(0.0, top))
    axes.legend()
    return {"regression_prices": figure}


def settings() -> tuple[Setting, ...]:
    """The paper's, on its data or on the sales in Windsor, of which the same share is for training."""
    sales = data.sales()
    papers = len(sales.prices) == 414
    words = "curves only" if papers else "other data"
    metrics = (
        Metric("train satisfaction", words=words),
        Metric("test satisfaction", words=words),
        Metric("train RMSE", words=words, lower_is_better=True),
        Metric("test RMSE", words=words, lower_is_better=True),
    )
    name, train_size = ("paper", 330) if papers else ("Windsor sales", 436)
    return (Setting(name, metrics, epochs=500, train_size=train_size),)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """The error and the satisfaction on both parts."""
    parts = ("train", "test")
    rows = {
        name: [
            Panel("RMSE", {part: Line(done, f"{part} RMSE") for part in parts}, (0.0, None)),
            Panel("Satisfaction", {part: Line(done, f"{part} satisfaction") for part in parts}),
        ]
        for name, done in runs.items()
    }
    return {"regression_curves": draw(rows)}


EXPERIMENT = Experiment(
    "regression",
    "4.5",
    "Regression",
    settings,
    run,
    curves,
    data=lambda setting: data.sales().source,
)
