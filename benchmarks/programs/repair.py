"""A classifier of a hierarchy, alone and behind it the layer that keeps the hierarchy."""

import keras
import numpy as np

import ltn
from benchmarks.inputs import BATCH
from benchmarks.programs.keras_steps import BATCHES, fed, step_of
from benchmarks.worker import Step

CLASSES, FEATURES, HIDDEN = 500, 80, 1000


def alone() -> Step:
    """The step of a network of three layers."""
    return _step(_classifier())


def with_layer() -> Step:
    """The same with `ltn.Repair` at its end."""
    theory = ltn.Theory()
    rows = theory.domain("rows", shape=FEATURES)
    classes = theory.domain("classes", values=[f"c{number}" for number in range(CLASSES)])
    theory.variable("x", rows)
    theory.variables("c, d", classes)
    network = _classifier()
    theory.predicate("is", (rows, classes), ltn.Predicate.FromProbabilities(network))
    theory.relation("below", (classes, classes), _parents())
    theory.axiom("forall x, c, d where below(c, d): is(x, c) -> is(x, d)")
    return _step(keras.Sequential([keras.Input((FEATURES,)), network, ltn.Repair(theory)]))


def _classifier() -> keras.Model:
    hidden = [keras.layers.Dense(HIDDEN, "relu") for _ in range(2)]
    return keras.Sequential([keras.Input((FEATURES,)), *hidden, keras.layers.Dense(CLASSES, "sigmoid")])


def _parents() -> np.ndarray:
    """Pairs of a class and its parent, one of those of about a quarter of its number: some five levels."""
    chance, children = np.random.default_rng(0), np.arange(1, CLASSES)
    parents = (children * chance.uniform(0.1, 0.3, len(children))).astype(int)
    return np.stack([children, parents], axis=1)


def _step(model: keras.Model) -> Step:
    chance = np.random.default_rng(1)
    inputs = chance.normal(size=(BATCHES * BATCH, FEATURES)).astype(np.float32)
    labels = (chance.random((BATCHES * BATCH, CLASSES)) > 0.9).astype(np.float32)
    model.compile("adam", "binary_crossentropy", jit_compile=False)
    return step_of(model, fed((inputs, labels), BATCH), "train")
