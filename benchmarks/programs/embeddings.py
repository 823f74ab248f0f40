"""Embeddings of many individuals: a step on a batch of triples, with a network on their joined features."""

import keras
import numpy as np
import tensorflow as tf

import ltn
from benchmarks.programs.keras_steps import BATCHES, fed, step_of
from benchmarks.worker import Step

ENTITIES, RELATIONS, FEATURES, BATCH = 40_000, 20, 64, 512


def theory() -> Step:
    """Constants, and data that name them by index."""
    knowledge = ltn.Theory("product", p_forall=1)
    entities = knowledge.domain("entities", shape=FEATURES)
    relations = knowledge.domain("relations", shape=FEATURES)
    knowledge.constants([f"e{number}" for number in range(ENTITIES)], entities)
    knowledge.constants([f"r{number}" for number in range(RELATIONS)], relations)
    knowledge.variables("h, t", entities)
    knowledge.variable("r", relations)
    knowledge.predicate("holds", (entities, relations, entities), network())
    knowledge.axiom("forall diag(h, r, t): holds(h, r, t)")
    knowledge.compile("adam")
    return step_of(knowledge, fed(triples(), BATCH), "train")


def plain() -> Step:
    """The same with `keras.layers.Embedding`."""
    h, r, t = (keras.Input((), dtype="int32", name=name) for name in "hrt")
    entity, relation = keras.layers.Embedding(ENTITIES, FEATURES), keras.layers.Embedding(RELATIONS, FEATURES)
    model = keras.Model({"h": h, "r": r, "t": t}, network()([entity(h), relation(r), entity(t)]))
    model.compile("adam", lambda _, truths: 1.0 - tf.reduce_mean(truths))
    return step_of(model, fed((triples(), np.ones((BATCHES * BATCH, 1), np.float32)), BATCH), "train")


def triples() -> dict[str, np.ndarray]:
    """Indices of heads, relations and tails, drawn at random."""
    rng, rows = np.random.default_rng(0), BATCHES * BATCH
    counts = {"h": ENTITIES, "r": RELATIONS, "t": ENTITIES}
    return {name: rng.integers(0, count, rows, np.int32) for name, count in counts.items()}


def network() -> keras.Model:
    """A multilayer perceptron."""
    keras.utils.set_random_seed(0)
    inputs = [keras.Input((FEATURES,)) for _ in "hrt"]
    hidden = keras.layers.Dense(64, activation="elu")(keras.layers.Concatenate()(inputs))
    return keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
