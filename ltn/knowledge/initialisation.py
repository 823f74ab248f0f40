"""Fresh weights: what is learned, drawn again by its own initialisers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from ltn.core import Proposition
from ltn.core.symbols import Symbol
from ltn.evaluation.individuals import Individuals
from ltn.knowledge.networks import layers_with_weights, rebuild


def values_of(variables: Sequence[keras.Variable]) -> list[np.ndarray]:
    """Copies of the values of Keras variables."""
    return [np.array(variable.value.numpy()) for variable in variables]


def draw_weights(model: Any) -> list[np.ndarray]:
    """The weights of a theory that are learned, initialised anew; the theory keeps its own.

    Initialisers draw embeddings and networks; propositions start anywhere in [0, 1]. What has no initialiser,
    such as the weight of an axiom, keeps its value.
    """
    weights = model.trainable_variables
    values = dict(zip(map(id, weights), values_of(weights), strict=True))
    for layer in model.layers:
        values.update(_initialise(layer))
    return [values[id(weight)] for weight in weights]


def _initialise(layer: keras.Layer) -> dict[int, np.ndarray]:
    """New values of the weights of a layer, by the identity of the weight."""
    if isinstance(layer, Proposition):
        return {id(weight): np.array(random.random(), np.float32) for weight in layer.trainable_weights}
    if isinstance(layer, Individuals):
        return {id(layer.table): layer.draw_again()}
    network = layer.network if isinstance(layer, Symbol) else layer
    if not isinstance(network, keras.Layer) or not network.trainable_weights:
        return {}
    # Layer by layer: a network that shared some of them with this one would be kept by them. Weights that are
    # not learned are among them: the caller picks those that are.
    pairs = [(part, rebuild(part)) for part in layers_with_weights(network)]
    return {
        id(weight): value
        for part, twin in pairs
        for weight, value in zip(part.weights, values_of(twin.weights), strict=True)
    }
