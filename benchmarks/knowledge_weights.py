"""How much the weight of knowledge matters, and whether `weight="balanced"` finds a good one.

python -m benchmarks.knowledge_weights                 # all tasks, ten seeds; prints the table
python -m benchmarks.knowledge_weights digits --seeds 2
python -m benchmarks.knowledge_weights tutorial --first 10      # other labels and initial weights

Each run draws other labels and other initial weights; a seed has the same ones under every weight. `--part
test` measures on data that no setting was chosen on. The citation graphs are read from the folder `--data`,
and left out where it does not exist.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn
from examples.harness import data as data_sets

BALANCED = "balanced"
FIXED = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
# Beside the checkout.
DATA = Path(__file__).parents[2] / "shared" / "data"
PARTS = ("validation", "test")
EPOCHS, STEPS = 8, 20


@dataclass
class Task:
    """A network, knowledge about it, and what both are trained and measured on.

    Attributes:
        network: what is trained.
        theory: the axioms.
        loss: of the labels.
        batches: one epoch of them.
        score: from the network to the figures that are compared, in percent, by name.
        joined: further arguments of `ltn.with_knowledge`.
        unlabelled: batches without labels.
    """

    network: keras.Model
    theory: ltn.Theory
    loss: keras.losses.Loss
    batches: tf.data.Dataset
    score: Callable[[keras.Model], dict[str, float]]
    joined: dict[str, Any] = field(default_factory=dict)
    unlabelled: tf.data.Dataset | None = None


def dense(features: Sequence[int], outputs: int) -> keras.Model:
    """A small network."""
    layers = keras.layers
    return keras.Sequential(
        [keras.Input(features), layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(outputs)]
    )


def halved(images: Any) -> Any:
    """Images of 14 x 14 pixels in [0, 1]."""
    return (images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255.0).astype(np.float32)


def images(part: str) -> tuple[Any, Any, Any, Any]:
    """Images to draw from and images to measure on, with their digits."""
    mnist = data_sets.mnist(6000)
    pool, digits = halved(mnist.train[:6000]), mnist.train_labels[:6000]
    if part == "test":
        return pool[:4000], digits[:4000], halved(mnist.test[:2000]), mnist.test_labels[:2000]
    return pool[:4000], digits[:4000], pool[4000:], digits[4000:]


ATTRIBUTES = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "small": (0, 1, 2, 3, 4),
    "square": (0, 1, 4, 9),
    "round": (0, 6, 8, 9),
}


def multi_label(seed: int, part: str) -> Task:
    """30 labelled images of digits, 300 without labels; digits and their attributes, and 53 rules."""
    pool, digits, test, test_digits = images(part)
    names = [*(f"d{digit}" for digit in range(10)), *ATTRIBUTES]

    def labels(numbers: Any) -> Any:
        columns = [np.isin(numbers, [digit]) for digit in range(10)]
        columns += [np.isin(numbers, members) for members in ATTRIBUTES.values()]
        return np.stack(columns, axis=1).astype(np.float32)

    order = np.random.default_rng(seed).permutation(len(pool))
    chosen = np.concatenate([order[digits[order] == digit][:3] for digit in range(10)])
    others = order[~np.isin(order, chosen)][:300]
    network = dense((14, 14), len(names))
    theory = ltn.Theory()
    pictures, kinds = theory.domain("pictures", shape=(14, 14)), theory.domain("kinds", values=names)
    theory.variable("x", pictures)
    theory.predicate("is", (pictures, kinds), ltn.Predicate.FromLogits(network, "sigmoid"))
    for digit in range(10):
        for name, members in ATTRIBUTES.items():
            theory.axiom(f"forall x: is(x, d{digit}) -> {'' if digit in members else '~'}is(x, {name})")
    theory.axiom("forall x: " + " | ".join(f"is(x, d{digit})" for digit in range(10)))
    theory.axiom("forall x: is(x, small) & is(x, prime) -> is(x, d2) | is(x, d3)")
    theory.axiom("forall x: is(x, even) & is(x, prime) -> is(x, d2)")
    batches = tf.data.Dataset.from_tensors((pool[chosen], labels(digits[chosen]))).repeat(STEPS)
    unlabelled = tf.data.Dataset.from_tensors(pool[others])
    expected = labels(test_digits)

    def score(network: keras.Model) -> dict[str, float]:
        found = np.asarray(network(test))
        exact = np.all((found > 0.0) == (expected > 0.5), axis=1)
        read = found[:, :10].argmax(axis=1) == test_digits
        return {"digits, digit": 100.0 * read.mean(), "digits, exact match": 100.0 * exact.mean()}

    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return Task(network, theory, loss, batches, score, unlabelled=unlabelled)


def citation(name: str, folder: Path) -> Callable[[int, str], Task]:
    """Papers, half of the training part with labels; papers that cite one another are of one class."""

    def task(seed: int, part: str) -> Task:
        stored = np.load(folder / f"{name}.npz")
        words = np.zeros(stored["shape"], np.float32)
        words[np.repeat(np.arange(len(words)), np.diff(stored["indptr"])), stored["indices"]] = 1.0
        features = compressed(words / np.maximum(words.sum(axis=1, keepdims=True), 1.0) ** 0.5)
        classes, edges = stored["labels"].astype(np.int64), stored["edges"]
        count = int(classes.max()) + 1
        order = np.random.default_rng(seed).permutation(stored["train"])
        chosen = order[: len(order) // 2]
        network = dense((features.shape[1],), count)
        theory = ltn.Theory("log_product")
        papers = theory.domain("papers", shape=features.shape[1])
        kinds = theory.domain("kinds", values=range(count))
        for variable, ends in zip("uv", edges.T, strict=True):
            theory.variable(variable, papers, values=features[ends])
        theory.variable("c", kinds)
        theory.predicate("of", (papers, kinds), ltn.Predicate.FromLogits(network, "softmax"))
        theory.axiom("forall diag(u, v): exists c: of(u, c) & of(v, c)", name="linked")
        batches = tf.data.Dataset.from_tensors((features[chosen], classes[chosen])).repeat(STEPS)
        measured = stored["val" if part == "validation" else "test"]

        def score(network: keras.Model) -> dict[str, float]:
            found = np.asarray(network(features[measured])).argmax(axis=1)
            return {name: 100.0 * np.mean(found == classes[measured])}

        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        return Task(network, theory, loss, batches, score)

    return task


def compressed(words: Any) -> Any:
    """The rows in 100 dimensions, which keep most of their products; a part of the singular vectors."""
    rng = np.random.default_rng(0)
    sample = words @ (words.T @ (words @ rng.normal(size=(words.shape[1], 120)).astype(np.float32)))
    basis, _ = np.linalg.qr(sample)
    rows, sizes, _ = np.linalg.svd(basis.T @ words, full_matrices=False)
    features = (basis @ rows[:, :100]) * sizes[:100]
    return (features / features.std()).astype(np.float32)


def sums(seed: int, part: str) -> Task:
    """The task of tutorial 6: 50 labelled images, 200 pairs whose sum is known, images that are moved."""
    pool, digits, test, test_digits = images(part)
    order = np.random.default_rng(seed).permutation(len(pool))
    chosen = np.concatenate([order[digits[order] == digit][:5] for digit in range(10)])
    rest = order[~np.isin(order, chosen)]
    left, right = rest[:200], rest[200:400]
    network = dense((14, 14), 10)
    theory = ltn.Theory("log_product", p_exists=20)
    pictures = theory.domain("pictures", shape=(14, 14))
    kinds = theory.domain("kinds", values=range(10))
    shifts = {"left": [0, -1], "right": [0, 1], "up": [-1, 0], "down": [1, 0]}
    theory.variable("s", theory.domain("shifts", shape=2, values=shifts))
    theory.variable("u", pictures, values=pool[left])
    theory.variable("v", pictures, values=pool[right])
    theory.variable("n", theory.domain("results"), values=digits[left] + digits[right])
    theory.variable("x", pictures)
    theory.variables("y, d, e", kinds)
    theory.predicate("digit", (pictures, kinds), ltn.Predicate.FromLogits(network, "softmax"))
    theory.function("shifted", (pictures, theory.signature.domains["shifts"]), pictures, shifted)
    theory.axiom("forall diag(u, v, n): exists d, e where d + e = n: digit(u, d) & digit(v, e)", name="sums")
    theory.axiom("forall diag(x, y), s: digit(shifted(x, s), y)", name="labels_shifted")
    theory.axiom("forall u, s, d: digit(u, d) -> digit(shifted(u, s), d)", name="same_shifted")
    batches = tf.data.Dataset.from_tensors((pool[chosen], digits[chosen])).repeat(STEPS)

    def score(network: keras.Model) -> dict[str, float]:
        return {"tutorial 6": 100.0 * np.mean(np.asarray(network(test)).argmax(axis=1) == test_digits)}

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return Task(network, theory, loss, batches, score, {"inputs": "x", "targets": "y"})


def shifted(arguments: Any) -> Any:
    """Images, each moved by a number of rows and columns."""
    image, shift = arguments
    places = 1 - tf.cast(shift, tf.int32)[:, :, tf.newaxis] + tf.range(14)
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1]])
    rows = tf.gather(padded, places[:, 0], axis=1, batch_dims=1)
    return tf.gather(rows, places[:, 1], axis=2, batch_dims=1)


Scores = dict[str, dict[str, list[float]]]


def tasks(folder: Path) -> dict[str, Callable[[int, str], Task]]:
    """All tasks by name; those about graphs where their data are."""
    graphs = [name for name in ("cora", "citeseer") if (folder / "citation" / f"{name}.npz").is_file()]
    return {
        "digits": multi_label,
        **{name: citation(name, folder / "citation") for name in graphs},
        "tutorial": sums,
    }


def run(task: Callable[[int, str], Task], seed: int, part: str) -> dict[str, dict[str, float]]:
    """The scores under each weight, from the same labels and initial weights."""
    keras.utils.set_random_seed(seed)
    made = task(seed, part)
    start = made.network.get_weights()
    found = {}
    for settings in ([*FIXED], [BALANCED]):
        # Of one model, the steps are traced once for all fixed weights.
        model: Any = ltn.with_knowledge(made.network, made.theory, settings[0], **made.joined)
        model.compile(keras.optimizers.Adam(0.003), made.loss)
        model.optimizer.build(model.trainable_variables)
        fresh = [variable.numpy() for variable in model.optimizer.variables]
        for weight in settings:
            made.network.set_weights(start)
            for variable, value in zip(model.optimizer.variables, fresh, strict=True):
                variable.assign(value)
            if weight != BALANCED:
                model.weight = weight
            more = {} if made.unlabelled is None else {"unlabelled": made.unlabelled}
            with warnings.catch_warnings():
                # Of predictions that collapse, as the table shows.
                warnings.simplefilter("ignore")
                model.fit(made.batches, epochs=EPOCHS, shuffle=False, verbose=0, **more)
            found[str(weight)] = made.score(made.network)
    return found


def table(scores: Scores) -> str:
    """The mean scores of each task by weight, and how balanced weights compare."""
    lines = []
    for name, by_weight in scores.items():
        means = {weight: float(np.mean(values)) for weight, values in by_weight.items()}
        best = max(means[str(weight)] for weight in FIXED)
        balanced = means[BALANCED]
        lines.append([name, *(f"{mean:.1f}" for mean in means.values()), f"{balanced - means['0.0']:+.1f}"])
        lines[-1] += [f"{balanced - best:+.1f}", f"{min(by_weight[BALANCED]):.1f}"]
    head = ["task", *map(str, FIXED), BALANCED, "against 0", "against best", "worst run"]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width) for number, (cell, width) in enumerate(cells)
        )
        for cells in (zip(line, widths, strict=True) for line in [head, *lines])
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train under each weight, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.knowledge_weights", description=__doc__)
    parser.add_argument("tasks", nargs="*", help="digits, cora, citeseer, tutorial; else all")
    parser.add_argument("--seeds", type=int, default=10, help="how many runs under each weight")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--part", choices=PARTS, default="validation", help="what is measured on")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder that has `citation/cora.npz`")
    given = parser.parse_args(arguments)
    known = tasks(given.data)
    chosen = given.tasks or list(known)
    for name in chosen:
        if name not in known:
            parser.error(f"there is no task '{name}'; there are: {', '.join(known)}.")
    scores: Scores = {}
    for name in chosen:
        begun = time.perf_counter()
        for seed in range(given.first, given.first + given.seeds):
            for weight, values in run(known[name], seed, given.part).items():
                for score, value in values.items():
                    scores.setdefault(score, {}).setdefault(weight, []).append(value)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"mean scores of {given.seeds} runs on {given.part} data, in percent, by weight")
    print(table(scores))


if __name__ == "__main__":
    main()
