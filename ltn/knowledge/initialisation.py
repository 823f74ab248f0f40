"""Fresh weights: what is learned, drawn again by its own initialisers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from ltn import _private
from ltn.core import Proposition
from ltn.core.symbols import Symbol
from ltn.evaluation.individuals import Individuals
from ltn.knowledge.networks import layers_with_weights, rebuild


def values_of(variables: Sequence[keras.Variable]) -> list[np.ndarray]:
    """Copies of the values of Keras variables."""
    return [np.array(variable.value.numpy()) for variable in variables]


def draw_weights(model: Any, chance: Any = random) -> list[np.ndarray]:
    """The weights of a theory that are learned, initialised anew; the theory keeps its own.

    Initialisers draw embeddings and networks; propositions start anywhere in [0, 1]. What has no initialiser,
    such as the weight of an axiom, keeps its value. Keras and propositions take what is random from `chance`,
    which is the module `random` or one of its generators; code of the user takes it where it likes.
    """
    weights = model.trainable_variables
    values = dict(zip(map(id, weights), values_of(weights), strict=True))
    for layer in model.layers:
        values.update(_initialise(layer, chance))
    return [values[id(weight)] for weight in weights]


def is_drawn_by_keras(model: Any) -> bool:
    """Whether no code of the user takes part in drawing the weights of a theory."""
    parts: list[Any] = []
    for layer in model.layers:
        if isinstance(layer, Individuals):
            parts.append(layer.initializer)
        elif not isinstance(layer, Proposition):
            for part in _parts_of(layer):
                inner = _private.layers_within(part)
                parts += inner
                named = (pair for each in inner for pair in vars(each).items())
                parts += [value for name, value in named if name.endswith("_initializer")]
    return all(part is None or type(part).__module__.startswith("keras.") for part in parts)


def _parts_of(layer: keras.Layer) -> list[keras.Layer]:
    """The layers that have the weights of a symbol, or of another layer of the theory."""
    network = layer.network if isinstance(layer, Symbol) else layer
    is_learned = isinstance(network, keras.Layer) and network.trainable_weights
    return layers_with_weights(network) if is_learned else []


def _initialise(layer: keras.Layer, chance: Any) -> dict[int, np.ndarray]:
    """New values of the weights of a layer, by the identity of the weight."""
    if isinstance(layer, Proposition):
        return {id(weight): np.array(chance.random(), np.float32) for weight in layer.trainable_weights}
    if isinstance(layer, Individuals):
        return {id(layer.table): layer.draw_again(chance)}
    # Layer by layer: a network that shared some of them with this one would be kept by them. Weights that are
    # not learned are among them: the caller picks those that are.
    pairs = [(part, rebuild(part, chance=chance)) for part in _parts_of(layer)]
    return {
        id(weight): value
        for part, twin in pairs
        for weight, value in zip(part.weights, values_of(twin.weights), strict=True)
    }
