"""Networks on several arguments that are computed argument by argument, each on its own axis.

The scorers of `ltn.core.scorers` are. A network on the concatenation of its arguments begins with

    activation([x, y] K + b) = activation(x K_x + y K_y + b)

for a Dense layer with the kernel K, whose upper rows K_x meet x and whose lower rows K_y meet y. For n
individuals x and m individuals y the left side multiplies n m rows; the right side multiplies n and m of
them, and adds the products by broadcasting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import keras
import tensorflow as tf

from ltn import _private
from ltn.core import Term, axes
from ltn.core.scorers import Scorer


class ByArgument(Protocol):
    """What is computed argument by argument: products of terms, or of terms with weights; and the rest."""

    def products(self, terms: Sequence[Term]) -> tf.Tensor:
        """The products for terms on several axes, one row for each combination."""

    def joint_products(self, batches: Sequence[Sequence[tf.Tensor]]) -> tf.Tensor:
        """The products for inputs that come row by row, (N, *features) each; several batches, joined."""

    def finish(self, products: tf.Tensor) -> tf.Tensor:
        """What the network returns, from the products, row by row."""


def by_argument(network: Any) -> ByArgument | None:
    """The network as it is computed argument by argument; None where it cannot be."""
    if isinstance(network, Scorer):
        return network
    first = FirstLayer.of(network)
    return None if first is None or first.is_cast else first


class FirstLayer(NamedTuple):
    """The first layer of a network, and the layers that follow, one after the other.

    Attributes:
        dense: the first layer, on the concatenation of the flattened inputs.
        sizes: how many features each input has.
        rest: the layers after it.
    """

    dense: keras.layers.Dense
    sizes: tuple[int, ...]
    rest: tuple[keras.Layer, ...]

    @classmethod
    def of(cls, network: Any) -> FirstLayer | None:
        """The first layer of a network; None where it cannot be taken apart."""
        if not isinstance(network, keras.Model) or not type(network).__module__.startswith("keras."):
            return None
        inputs = getattr(network, "inputs", None)
        if not inputs or len(inputs) < 2 or len(network.outputs) != 1:
            return None
        layers: list[keras.Layer] = []
        tensor = network.outputs[0]
        while True:
            layer, came_from, has_more = _private.origin_of(tensor)
            if type(layer) is keras.layers.Concatenate:
                break
            if len(came_from) != 1 or has_more:
                return None
            layers.insert(0, layer)
            [tensor] = came_from
        # Flattened or not, they must be the inputs in their order.
        flat = [came if any(came is each for each in inputs) else _before_flatten(came) for came in came_from]
        in_order = len(flat) == len(inputs) and all(a is b for a, b in zip(flat, inputs, strict=True))
        is_flat = all(len(came.shape) == 2 and came.shape[1] is not None for came in came_from)
        is_float = all(tensor.dtype == "float32" for tensor in inputs)
        if not (in_order and is_flat and is_float and layers and _is_plain(layers[0])):
            return None
        dense, *rest = layers
        return cls(dense, tuple(came.shape[1] for came in came_from), tuple(rest))

    @property
    def is_cast(self) -> bool:
        """Whether its weights are read in another precision here, as in a theory of mixed precision."""
        return bool(tf.convert_to_tensor(self.dense.kernel).dtype != tf.float32)

    def products(self, terms: Sequence[Term]) -> tf.Tensor:
        """x K_x + y K_y + b for terms on several axes, one row for each combination."""
        kernels = tf.split(tf.convert_to_tensor(self.dense.kernel), self.sizes)
        order = axes.union([term.free_vars for term in terms])
        total = None
        for term, kernel, size in zip(terms, kernels, self.sizes, strict=True):
            found = tf.tensordot(_rows(term, size), kernel, 1)
            # The bias goes to the rows of the first term: there are fewer than combinations.
            found = _add_bias(self.dense, found) if total is None else found
            aligned = axes.align(found, term.free_vars, order)
            total = aligned if total is None else total + aligned
        return tf.reshape(total, [-1, self.dense.units])

    def joint_products(self, batches: Sequence[Sequence[tf.Tensor]]) -> tf.Tensor:
        """[x, y] K + b for inputs that come row by row, (N, *features) each."""
        columns = [tf.concat(each, axis=0) for each in zip(*batches, strict=True)]
        flat = [tf.reshape(column, [-1, size]) for column, size in zip(columns, self.sizes, strict=True)]
        return _add_bias(self.dense, tf.concat(flat, axis=1) @ tf.convert_to_tensor(self.dense.kernel))

    def finish(self, products: tf.Tensor) -> tf.Tensor:
        """What the network returns, from the products of its inputs with the kernel, and the bias."""
        output = self.dense.activation(products)
        for layer in self.rest:
            output = _apply(layer, output)
        return output


def _apply(layer: keras.Layer, inputs: tf.Tensor) -> tf.Tensor:
    """What a layer returns.

    TensorFlow would make one operation of a Dense layer with the activation elu, which takes more than twice
    the time of its parts.
    """
    if not _is_plain(layer) or layer.activation is not keras.activations.elu:
        return layer(inputs)
    return layer.activation(_add_bias(layer, inputs @ tf.convert_to_tensor(layer.kernel)))


def _add_bias(dense: keras.layers.Dense, products: tf.Tensor) -> tf.Tensor:
    return products + tf.convert_to_tensor(dense.bias) if dense.use_bias else products


def _before_flatten(tensor: Any) -> Any:
    """The input of the Flatten layer that made a tensor; None where another layer made it."""
    layer, came_from, _ = _private.origin_of(tensor)
    return came_from[0] if type(layer) is keras.layers.Flatten else None


def _is_plain(layer: keras.Layer) -> bool:
    """Whether a layer is x K + b and an activation, and nothing else."""
    return (
        type(layer) is keras.layers.Dense
        and layer.compute_dtype == "float32"
        and layer.activity_regularizer is None
        and not getattr(layer, "lora_enabled", False)
        and getattr(layer, "quantization_mode", None) is None
    )


def _rows(term: Term, size: int) -> tf.Tensor:
    """A term with its features on one axis."""
    if len(term.feature_shape) == 1:
        return term.tensor
    sizes = [axes.size_of(term.tensor, axis) for axis in range(len(term.free_vars))]
    return tf.reshape(term.tensor, [*sizes, size])
