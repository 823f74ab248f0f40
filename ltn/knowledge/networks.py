"""Networks of symbols: tried once when they are declared, and rebuilt with weights of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn.core import Term
from ltn.core.symbols import Symbol
from ltn.errors import LogicValueError
from ltn.language import Domain


def try_network(symbol: Symbol, domains: Sequence[Domain], output: Domain | None = None) -> None:
    """Call the network of a symbol once, to build its weights and to check its shapes.

    Raises unless it returns features of the `output` domain.
    """
    parts = [part for domain in domains for part in domain.flat]
    if not isinstance(symbol.network, keras.Layer) or any(None in part.shape for part in parts):
        return
    terms = [
        Term(tf.zeros(part.shape) if part.features is None else tf.constant(part.features[0]), [])
        for part in parts
    ]
    classes = domains[-1].features
    if symbol.picks_class and classes is not None:
        # The network must know even the last class.
        terms[-1] = Term(classes.max(axis=0), [])
    value = symbol(terms if len(terms) > 1 or symbol.picks_class else terms[0])
    if output is not None and value.feature_shape != output.shape:
        raise LogicValueError(
            f"{symbol!r} must return features of the domain '{output.name}', of shape {output.shape}; "
            f"its network returns the shape {value.feature_shape}."
        )


def layers_with_weights(network: keras.Layer) -> list[keras.Layer]:
    """The layers that a network is made of, and that have weights; of other than Keras's models, itself."""
    pending, found = [network], {}
    while pending:
        layer = pending.pop(0)
        if _is_graph(layer):
            pending = [*layer.layers, *pending]
        elif layer.weights:
            found[id(layer)] = layer
    return list(found.values())


def _with_seeds(config: Any, chance: Any) -> Any:
    """A configuration in which what had no seed has one."""
    if isinstance(config, dict):
        return {
            key: chance.randrange(1, 10**9) if key == "seed" and value is None else _with_seeds(value, chance)
            for key, value in config.items()
        }
    return [_with_seeds(part, chance) for part in config] if isinstance(config, list) else config


def _is_graph(layer: keras.Layer) -> bool:
    """Whether a layer is a model that Keras makes of other layers: sequential or functional."""
    return isinstance(layer, keras.Sequential) or bool(getattr(layer, "inputs", None))


def _without_weights(layer: keras.Layer) -> keras.Layer:
    """A twin of a layer without weights; the layer itself where it may hold what its configuration lacks.

    Keras notes in a layer each network that it is part of, and so keeps all networks that share it.
    """
    if not type(layer).__module__.startswith("keras."):
        return layer
    try:
        return type(layer).from_config(layer.get_config())
    except (NotImplementedError, TypeError, ValueError):
        # It calls a function of the user, as a Lambda does.
        return layer


def rebuild(
    network: keras.Layer, twins: dict[int, keras.Layer] | None = None, chance: Any = None
) -> keras.Layer:
    """A network of the same configuration, with weights of its own, initialised afresh.

    `twins` holds the layers that were rebuilt before, by the identity of the original: what networks share
    stays shared. Layers without weights are shared by both, unless they come with Keras. From `chance`, a
    generator of Python, initialisers take their seeds; Keras would take them from the one of the program.
    """
    twins = {} if twins is None else twins

    def twin_of(layer: keras.Layer) -> keras.Layer:
        if id(layer) not in twins:
            twins[id(layer)] = make_twin(layer)
        return twins[id(layer)]

    def make_twin(layer: keras.Layer) -> keras.Layer:
        if _is_graph(layer):
            return keras.models.clone_model(layer, clone_function=twin_of)
        if layer.weights or isinstance(layer, keras.layers.InputLayer):
            config = layer.get_config()
            return type(layer).from_config(config if chance is None else _with_seeds(config, chance))
        return _without_weights(layer)

    problem = "its weights are others then."
    shapes = [tuple(weight.shape) for weight in network.weights]
    try:
        twin = twin_of(network)
        if not twin.built:
            twin.build_from_config(network.get_build_config())
    except (NotImplementedError, TypeError, ValueError) as error:
        twin, problem = None, str(error).strip().split("\n")[0]
    if twin is None or [tuple(weight.shape) for weight in twin.weights] != shapes:
        raise LogicValueError(
            f"Keras cannot rebuild the network '{network.name}', a {type(network).__name__}, from its "
            f"configuration: {problem} Its classes need a get_config() that returns the arguments of "
            "__init__, which passes the others, **kwargs, on."
        )
    for own, weight in zip(twin.weights, network.weights, strict=True):
        own.trainable = weight.trainable
    return twin
