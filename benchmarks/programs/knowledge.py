"""What knowledge costs: an epoch of `fit` of a small multi-label network, alone and with fifty rules."""

import keras
import numpy as np

import ltn
from benchmarks.worker import Step

ROWS, FEATURES, DIGITS, ATTRIBUTES = 2000, 196, 10, 5


def alone() -> Step:
    """The network without knowledge."""
    return epochs(network())


def with_rules(weight: float | str) -> Step:
    """Each digit has, or has not, each attribute."""
    inner, theory = network(), ltn.Theory()
    names = [*(f"d{digit}" for digit in range(DIGITS)), *(f"a{place}" for place in range(ATTRIBUTES))]
    rows, kinds = theory.domain("rows", shape=FEATURES), theory.domain("kinds", values=names)
    theory.variable("x", rows)
    theory.predicate("P", (rows, kinds), ltn.Predicate.FromLogits(inner, "sigmoid"))
    for digit in range(DIGITS):
        for place in range(ATTRIBUTES):
            theory.axiom(f"forall x: P(x, d{digit}) -> {'~' if (digit + place) % 2 else ''}P(x, a{place})")
    return epochs(ltn.with_knowledge(inner, theory, weight))


def network() -> keras.Model:
    """One logit for each digit and each attribute."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(64, activation="relu"), keras.layers.Dense(DIGITS + ATTRIBUTES)]
    return keras.Sequential([keras.Input((FEATURES,)), *layers])


def epochs(model: keras.Model) -> Step:
    """An epoch of training on batches of 32."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    y = rng.integers(0, 2, (ROWS, DIGITS + ATTRIBUTES)).astype(np.float32)
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
    return lambda: model.fit(x, y, batch_size=32, verbose=0).history["loss"][0]
