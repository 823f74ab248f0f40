"""Addition of handwritten digits (section 4.4): the sum is given, which digits the images show is not.

Settings `single` (two images, a sum up to 18) and `two` (four images, two numbers of two digits each). The
paper's operators lose some runs at the start; computed on logarithms, the same axiom loses none, so that
is the default here, and the paper's stand beside it. The baseline sees the same images and sums without
any knowledge of digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
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
    label,
    satisfaction,
)

# The images of an example, and what the digit on each counts.
IMAGES = {"single": {"x": 1, "y": 1}, "two": {"x1": 10, "x2": 1, "y1": 10, "y2": 1}}
AXIOMS = {
    "single": """
        forall diag(x, y, n):
            exists d1, d2 where d1 + d2 = n:
                digit(x, d1) & digit(y, d2)
    """,
    "two": """
        forall diag(x1, x2, y1, y2, n):
            exists d1, d2, d3, d4 where 10 * d1 + d2 + 10 * d3 + d4 = n:
                digit(x1, d1) & digit(x2, d2) & digit(y1, d3) & digit(y2, d4)
    """,
}
# The exponent of the existential quantifier grows with the epochs.
SCHEDULES = {"single": {0: 1, 4: 2, 8: 4, 12: 6}, "two": {0: 1, 6: 2, 12: 4, 18: 6}}
# Dense layers of the baseline, which take all images of an example together.
BASELINES = {"single": (84, 19), "two": (128, 199)}

OPTIONS = {
    "task": (None, "single", "two"),
    "model": ("ltn", "baseline"),
    "semantics": ("log_product", "stable_product"),
    "p": ("schedule", "1", "2"),
    "rate": ("constant", "decay"),
}
BATCH = 32
# Epochs between two measurements.
EVERY = {"single": 2, "two": 3}

EXAMPLES_DRAWN = 5

Arrays = dict[str, np.ndarray]
Learned = tuple[Recorder, dict[str, Figure]]


def theory_of(task: str, semantics: str, network: keras.Model) -> ltn.Theory:
    """What is known about images and the sum of their digits."""
    theory = ltn.Theory(semantics, p_exists=1)  # p_forall is 2, where the operators have one

    # Domains
    images = theory.domain("images", shape=(28, 28, 1), bounds=(0, 1))
    results = theory.domain("results")
    digits = theory.domain("digits", values=range(10))

    # Variables
    theory.variables(", ".join(IMAGES[task]), images)
    theory.variable("n", results)
    theory.variables("d1, d2, d3, d4", digits)

    # Predicates, and their grounding
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))

    # Axioms
    theory.axiom(AXIOMS[task], name="addition")
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Train one model, the theory or the baseline, and measure it on unseen images every few epochs."""
    task = setting.options["task"]
    count = len(IMAGES[task])
    found = images_for(setting)
    rng = np.random.default_rng(seed)
    train, _ = examples(found.train, found.train_labels, task, setting.train_size, rng)
    test, digits = examples(found.test, found.test_labels, task, len(found.test) // count, rng)
    learn = learn_baseline if setting.options["model"] == "baseline" else learn_theory
    recorder, pictures = learn(setting, task, train, test, digits)
    # Sums can be right with wrong digits: one who mistakes every digit d for 9 - d is right at 9.
    collapsed = recorder.last.get("digit accuracy (%)", 100.0) < 50.0
    return Run(
        recorder.last,
        recorder.curves,
        recorder.epochs,
        collapsed,
        pictures,
        model=recorder.model,
        examples={"train": train, "test": test, "test labels": {"digits": digits}},
    )


def network_of_digits() -> keras.Model:
    """One logit for each digit."""
    return keras.Sequential([keras.Input((28, 28, 1)), *convolutions(), dense(84), dense(10, None)])


def learn_theory(setting: Setting, task: str, train: Arrays, test: Arrays, digits: np.ndarray) -> Learned:
    """Learn the predicate digit, and ask it about unseen images."""
    network = network_of_digits()
    theory = theory_of(task, setting.options["semantics"], network)

    # Querying
    def measure() -> dict[str, float]:
        predicted = digits_of(theory, task, test)
        return {
            "accuracy (%)": 100.0 * np.mean(sums(task, predicted) == test["n"]),
            "digit accuracy (%)": 100.0 * np.mean(predicted == digits),
            "test satisfaction": satisfaction(theory, test),
        }

    # Learning
    recorder = Recorder(measure, EVERY[task])
    p = setting.options["p"]
    schedule = ltn.callbacks.Schedule("p_exists", SCHEDULES[task] if p == "schedule" else {0: float(p)})
    theory.set_hyperparameters(p_exists=schedule.value(0))
    theory.compile(keras.optimizers.Adam(rate_of(setting)))
    theory.fit(train, batch_size=BATCH, epochs=setting.epochs, callbacks=[schedule, recorder], verbose=0)
    few = {name: values[:EXAMPLES_DRAWN] for name, values in test.items()}
    return recorder, {f"addition_{task}_graph": ltn.plot.tree(theory, "addition", few)}


def digits_of(theory: ltn.Theory, task: str, examples: Arrays) -> np.ndarray:
    """The truest digit of each image, a row for each of the images of an example."""
    truths = [theory.query(f"digit({name}, d1)", {name: examples[name]}).tensor for name in IMAGES[task]]
    return np.stack([tf.argmax(truth, axis=-1).numpy() for truth in truths])


def learn_baseline(setting: Setting, task: str, train: Arrays, test: Arrays, digits: np.ndarray) -> Learned:
    """The siamese network: one set of convolutions for all images, then dense layers classify the sum."""
    hidden, results = BASELINES[task]
    inputs = {name: keras.Input((28, 28, 1), name=name) for name in IMAGES[task]}
    embed = keras.Sequential(convolutions())
    together = keras.layers.Concatenate()([embed(image) for image in inputs.values()])
    model = keras.Model(inputs, dense(results, "softmax")(dense(hidden)(together)))

    def parts(examples: Arrays) -> tuple[Arrays, np.ndarray]:
        return {name: examples[name] for name in inputs}, examples["n"]

    images, results_of_test = parts(test)

    def measure() -> dict[str, float]:
        predicted = model.predict(images, batch_size=500, verbose=0).argmax(axis=-1)
        return {"accuracy (%)": 100.0 * np.mean(predicted == results_of_test)}

    recorder = Recorder(measure, EVERY[task])
    model.compile(keras.optimizers.Adam(rate_of(setting)), "sparse_categorical_crossentropy")
    model.fit(*parts(train), batch_size=BATCH, epochs=setting.epochs, callbacks=[recorder], verbose=0)
    return recorder, {}


def images_for(setting: Setting) -> data.Images:
    """MNIST, or the shipped part of it where that is enough."""
    return data.mnist(len(IMAGES[setting.options["task"]]) * setting.train_size)


def dense(units: int, activation: str | None = "elu") -> keras.layers.Layer:
    """A dense layer, by default a hidden one."""
    return keras.layers.Dense(units, activation)


def convolutions() -> list[keras.layers.Layer]:
    """MNISTConv of the paper's appendix."""
    layers = keras.layers
    return [
        layers.Conv2D(6, 5, activation="elu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 5, activation="elu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        dense(100),
    ]


def rate_of(setting: Setting) -> Any:
    """The learning rate: 0.001 as in the paper, or falling from there to 0 along a cosine."""
    if setting.options["rate"] == "constant":
        return 0.001
    steps = math.ceil(setting.train_size / BATCH) * setting.epochs
    return keras.optimizers.schedules.CosineDecay(0.001, steps)


def examples(
    images: np.ndarray, labels: np.ndarray, task: str, count: int, rng: np.random.Generator
) -> tuple[Arrays, np.ndarray]:
    """Examples drawn at random, no image twice; and the digits that they show, a row for each image."""
    names = list(IMAGES[task])
    drawn = rng.permutation(len(images))[: len(names) * count].reshape(len(names), count)
    digits = labels[drawn].astype(np.int64)
    pixels = (images[drawn, ..., np.newaxis] / 255.0).astype(np.float32)
    return {**dict(zip(names, pixels, strict=True)), "n": sums(task, digits)}, digits


def sums(task: str, digits: np.ndarray) -> np.ndarray:
    """What the digits add up to, each at its place."""
    return np.array(list(IMAGES[task].values())) @ digits


def setting(task: str, train_size: int, accuracy: Metric, size: str = "", **options: str) -> Setting:
    """A setting, named after its task and what distinguishes it."""
    usual = {name: values[0] for name, values in OPTIONS.items()}
    if options.get("model") == "baseline":
        # It has no logic.
        del usual["semantics"], usual["p"]
        metrics: tuple[Metric, ...] = (accuracy,)
    else:
        metrics = (accuracy, Metric("digit accuracy (%)"), Metric("test satisfaction"))
    name = ", ".join([task, *filter(None, [size]), *(label(*option) for option in options.items())])
    epochs = {"single": 20, "two": 30}[task]
    return Setting(name, metrics, epochs, train_size, {**usual, "task": task, **options})


def accuracy_of(paper: float | None = None, interval: float | None = None, words: str = "") -> Metric:
    """What the paper reports; in words what it cites of DeepProbLog, or says about a curve."""
    return Metric("accuracy (%)", paper, interval, words)


def settings() -> tuple[Setting, ...]:
    """The paper's small ones; of two digits it compares three ways to choose p."""
    single = accuracy_of(93.49, 0.28, "DeepProbLog 92.18 ± 1.57")
    two = accuracy_of(88.21, 0.63, "DeepProbLog 87.21 ± 1.92")
    return (
        setting("single", 3000, single),
        setting("single", 3000, single, semantics="stable_product"),
        setting("single", 3000, accuracy_of(70.59, 1.45), model="baseline"),
        setting("two", 1500, two),
        setting("two", 1500, two, semantics="stable_product"),
        setting("two", 1500, accuracy_of(words="adequate"), semantics="stable_product", p="1"),
        setting("two", 1500, accuracy_of(words="poor"), semantics="stable_product", p="2"),
        setting("two", 1500, accuracy_of(2.07, 0.12), model="baseline"),
    )


def full() -> tuple[Setting, ...]:
    """The paper's large ones; and both with a falling learning rate, which the paper does not have."""
    single = accuracy_of(98.04, 0.13, "DeepProbLog 97.20 ± 0.45")
    two = accuracy_of(95.37, 0.29, "DeepProbLog 95.16 ± 1.70")
    return (
        setting("single", 30000, single, "full"),
        setting("single", 30000, single, "full", rate="decay"),
        setting("single", 30000, single, "full", semantics="stable_product"),
        setting("single", 30000, accuracy_of(95.95, 0.27), "full", model="baseline"),
        setting("two", 15000, two, "full"),
        setting("two", 15000, two, "full", rate="decay"),
        setting("two", 15000, two, "full", semantics="stable_product"),
        setting("two", 15000, accuracy_of(words="adequate"), "full", semantics="stable_product", p="1"),
        setting("two", 15000, accuracy_of(words="poor"), "full", semantics="stable_product", p="2"),
        setting("two", 15000, accuracy_of(47.19, 0.69), "full", model="baseline"),
    )


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """Accuracy and satisfaction of each task, the large settings above the small ones."""
    drawn = {}
    for task in IMAGES:
        rows = {}
        for size in ("full", "small"):
            chosen = {
                name: done
                for name, done in runs.items()
                if name.split(", ")[0] == task and ("full" in name.split(", ")) == (size == "full")
            }
            theories = {name: done for name, done in chosen.items() if "baseline" not in name}
            panels = [
                panel("Accuracy (%)", chosen, "accuracy (%)", (0.0, 100.0)),
                panel("Satisfaction on unseen images", theories, "test satisfaction", (0.0, 1.0)),
            ]
            if chosen:
                rows[size] = [panel for panel in panels if panel.lines]
        if rows:
            drawn[f"addition_{task}"] = draw(rows)
    return drawn


def panel(title: str, runs: Mapping[str, Sequence[Run]], curve: str, limits: tuple[float, float]) -> Panel:
    """One curve of all settings."""
    return Panel(title, {name: Line(done, curve) for name, done in runs.items()}, limits)


EXPERIMENT = Experiment(
    "addition",
    "4.4",
    "Addition of handwritten digits",
    settings,
    run,
    curves,
    full=full,
    data=lambda setting: images_for(setting).source,
    options=OPTIONS,
    findings="""
        The collapse at the start is one of the operators, not of the axiom: on logarithms the gradient does
        not vanish where every conjunction is nearly false. That is why log_product is the default of this
        example. With stable_product some runs collapse, and others never tell some digits apart; with all of
        them counted its means fall short, while the best two thirds exceed the paper's, but on 30 000 pairs.
        There the paper's accuracy is not reached with a constant learning rate by either, and is exceeded
        on logarithms with one that falls to 0 along a cosine in the same 20 epochs. The baselines on
        quadruples are below the paper's: on 1 500 they hardly learn, there as here, and on 15 000 they are
        still learning when the epochs are over, and differ widely. The runs of log_product that are counted
        here took a mean for exists, as log_product_mean does. With odds that add up, as log_product has now,
        two runs with seed 0 reach 94.1 % and 89.8 %, and their test satisfactions are 0.741 and 0.593.
    """,
)
