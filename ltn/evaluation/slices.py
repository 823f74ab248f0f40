"""A loop over slices of individuals, which keeps an aggregator's part of each and forgets the rest.

What is forgotten is computed again when gradients are taken. So memory holds one slice at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn import _private
from ltn.errors import LogicValueError
from ltn.evaluation.plan import World
from ltn.fuzzy_ops.aggregation import Part
from ltn.language import Apply, Name, Node, Quantifier


class _Surroundings(keras.Layer):
    """Runs a function where layers know whether they are trained, and weights are read in their own dtype."""

    def __init__(self) -> None:
        super().__init__(autocast=False, dtype="float32", name="surroundings")
        self.built = True

    def call(self, function: Callable[[bool | None], Any], training: bool | None = None) -> Any:
        return function(training)


def each_slice(count: Any, function: Callable[[tf.Tensor], Part]) -> list[tf.Tensor]:
    """The parts that a function of 0, 1, ... gives. Gradients of them keep all slices in memory."""
    arrays = [tf.TensorArray(tf.float32, count) for _ in Part._fields]

    def write(k: tf.Tensor, arrays: list[tf.TensorArray]) -> tuple[tf.Tensor, list[tf.TensorArray]]:
        return k + 1, [array.write(k, t) for array, t in zip(arrays, function(k), strict=True)]

    start = tf.constant(0), arrays
    _, written = tf.while_loop(lambda k, _: k < count, write, start, parallel_iterations=1)
    return [array.stack() for array in written]


def map_slices(
    world: World,
    node: Quantifier,
    count: Any,
    function: Callable[[tf.Tensor, Mapping[str, tf.Tensor]], Part],
) -> list[tf.Tensor]:
    """The parts that a function of 0, 1, ... and data gives, each computed again when gradients are taken."""
    weights, data = _weights(world, node), _data(world, node)
    surroundings = _Surroundings()
    inputs, training = surroundings(
        function=lambda training: ([tf.convert_to_tensor(weight) for weight in weights], training)
    )

    def compute_slice(k: tf.Tensor, values: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
        # As a function of the weights' values: inside a loop TensorFlow does not follow variables.
        mapping = list(zip(weights, values, strict=False))
        with keras.StatelessScope(state_mapping=mapping, collect_losses=True) as scope:
            found = function(k, dict(zip(data, values[len(weights) :], strict=True)))
        _check_repeatable(world, node, scope, weights)
        return tuple(found)

    @_private.custom_gradient
    def map_all(*given: tf.Tensor) -> tuple[list[tf.Tensor], Callable[..., Any]]:
        # No tape may keep the slices.
        values = [tf.stop_gradient(value) for value in given]
        found = each_slice(count, lambda k: Part(*compute_slice(k, values)))

        def gradient(*upstream: tf.Tensor, variables: Sequence[tf.Variable] = ()) -> Any:
            """The gradients, also of variables outside the theory, which networks may read."""
            sources = [*values, *variables]

            def add(k: tf.Tensor, total: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
                with tf.GradientTape() as tape:
                    tape.watch(values)
                    found = surroundings(function=lambda _: compute_slice(k, values), training=training)
                mine = [tensor[k] for tensor in upstream]
                slopes = tape.gradient(found, sources, mine, tf.UnconnectedGradients.ZERO)
                # Those of constants may be sparse, and a slice may forget the features.
                slopes = [
                    tf.ensure_shape(tf.convert_to_tensor(slope), source.shape)
                    for slope, source in zip(slopes, sources, strict=True)
                ]
                return k + 1, [old + new for old, new in zip(total, slopes, strict=True)]

            start = tf.constant(0), [tf.zeros_like(source) for source in sources]
            shapes = tf.TensorShape([]), [source.shape for source in sources]
            _, added = tf.while_loop(lambda k, _: k < count, add, start, shapes, parallel_iterations=1)
            slopes, own = _forbid_second_derivatives(*added), len(values)
            return (slopes[:own], slopes[own:]) if variables else slopes

        return found, gradient

    return map_all(*inputs, *data.values())


@_private.custom_gradient
def _forbid_second_derivatives(*slopes: tf.Tensor) -> tuple[list[tf.Tensor], Callable[..., Any]]:
    """The slopes themselves, which cannot be differentiated again: the slices are forgotten."""

    def refuse(*_: tf.Tensor) -> Any:
        raise LogicValueError("There are no second derivatives through chunks: leave out `chunk`.")

    return list(slopes), refuse


def _weights(world: World, node: Quantifier) -> list[Any]:
    """The weights that a formula depends on."""
    names = {inner.name for inner in node.walk() if isinstance(inner, Name)}
    layers: list[Any] = _symbols(world, node)
    layers += world.groundings.tables_of(names)
    layers += [proposition for name, proposition in world.propositions.items() if name in names]
    weights = [weight for layer in layers for weight in layer.trainable_variables]
    return list({id(weight): weight for weight in weights}.values())


def _data(world: World, node: Quantifier) -> dict[str, tf.Tensor]:
    """The data that a formula depends on, which may come from what is learned."""
    names = {inner.name for inner in node.walk() if isinstance(inner, Name)}
    sources = [
        world.groundings.source(name) for name in world.groundings.signature.variables if name in names
    ]
    used = {name for kind, name in filter(None, sources) if kind == "data"}
    tensors = {name: tf.convert_to_tensor(world.groundings.data[name]) for name in sorted(used)}
    return {name: tensor for name, tensor in tensors.items() if tensor.dtype.is_floating}


def _symbols(world: World, node: Node) -> list[Any]:
    applied = {inner.symbol for inner in node.walk() if isinstance(inner, Apply)}
    return [symbol for name, symbol in world.symbols.items() if name in applied]


def _check_repeatable(world: World, node: Quantifier, scope: Any, weights: Sequence[Any]) -> None:
    """Raise where slices do not add up to the whole, or a second computation would not give the same."""
    changed = set(scope.state_mapping) - {id(weight) for weight in weights}
    if not changed and not scope.losses:
        return
    advice = "Leave out `chunk`, or the layer."
    for symbol in _symbols(world, node):
        # From the outside in: the last one is the layer itself.
        layers = [
            layer for layer in _private.layers_within(symbol) if changed & set(map(id, layer.variables))
        ]
        if layers:
            raise LogicValueError(
                f"`chunk` evaluates networks on slices, and again for gradients; '{symbol.name}' has "
                f"the layer '{layers[-1].name}', a {type(layers[-1]).__name__}, whose output depends on the "
                f"other rows, or on chance. {advice}"
            )
    raise LogicValueError(
        "`chunk` evaluates networks on slices, and again for gradients; a layer adds a loss of its own, by "
        f"`add_loss` or an activity regularizer, or changes its state: slices do not add up to it. {advice}"
    )
