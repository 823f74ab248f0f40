"""Groundings of symbols: Keras models and plain callables on flat batches of individuals."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import keras
import tensorflow as tf

from ltn._autograph import no_autograph
from ltn.errors import LogicTypeError, LogicValueError

Shape = SupportsIndex | Sequence[SupportsIndex]
FeatureShape = tuple[int | None, ...]


def mlp(
    input_shapes: Sequence[Shape],
    hidden_layer_sizes: Sequence[int],
    output_shape: Shape,
    activation: str,
) -> keras.Model:
    """A multilayer perceptron on its flattened and concatenated inputs, with elu hidden layers."""
    if not isinstance(input_shapes, list | tuple) or not input_shapes:
        raise LogicTypeError(f"`input_shapes` has one entry per argument, as [2]; got {input_shapes!r}.")
    if not isinstance(hidden_layer_sizes, list | tuple):
        raise LogicTypeError(
            f"`hidden_layer_sizes` has one entry per layer, as (16,); got {hidden_layer_sizes!r}."
        )
    inputs = [keras.Input(_as_shape(shape)) for shape in input_shapes]
    flat = [keras.layers.Flatten()(x) for x in inputs]
    hidden = keras.layers.Concatenate()(flat) if len(flat) > 1 else flat[0]
    for size in hidden_layer_sizes:
        hidden = keras.layers.Dense(size, activation="elu")(hidden)
    shape = _as_shape(output_shape)
    outputs = keras.layers.Dense(math.prod(shape), activation=activation)(hidden)
    if len(shape) != 1:
        outputs = keras.layers.Reshape(shape)(outputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


class LogitsModel(keras.Model):
    """A classifier read as a predicate: the probability that a logits model gives to a class.

    Called with `[*individuals, class_index]` on flat batches; without class indexing, with
    `[*individuals]`, it is the sigmoid of a single logit.
    """

    def __init__(
        self,
        logits_model: Callable[..., tf.Tensor],
        activation_function: str,
        with_class_indexing: bool = True,
        name: str | None = None,
    ):
        super().__init__(name=name)
        activations = {"softmax": tf.nn.softmax, "sigmoid": tf.sigmoid}
        if activation_function not in activations:
            raise LogicValueError(
                f"`activation_function` must be 'softmax' or 'sigmoid'; got {activation_function!r}."
            )
        if activation_function == "softmax" and not with_class_indexing:
            raise LogicValueError("A softmax is over classes: use `with_class_indexing=True`, or a sigmoid.")
        self.logits_model = logits_model
        self.activation = activations[activation_function]
        self.with_class_indexing = with_class_indexing
        # The logits model builds itself when it is first called.
        self.built = True

    def call(
        self, inputs: Sequence[tf.Tensor], *args: Any, training: bool | None = None, **kwargs: Any
    ) -> tf.Tensor:
        """One probability per row, shape (N,). Keras itself hands `training` on to the layers within."""
        individuals = inputs[:-1] if self.with_class_indexing else inputs
        logits = self.logits_model(packed(self.logits_model, individuals, True), *args, **kwargs)
        truths = self.activation(logits)
        if not self.with_class_indexing:
            return tf.squeeze(truths, axis=1)
        return tf.gather(truths, tf.cast(class_numbers(inputs[-1], 1), tf.int32), batch_dims=1)


def class_numbers(classes: tf.Tensor, leading: int) -> tf.Tensor:
    """Class indices without their feature axes of size 1, behind `leading` other axes."""
    features = list(range(leading, classes.shape.rank))
    if any(classes.shape[axis] not in (1, None) for axis in features):
        raise LogicValueError(
            "A class is given by its index, one number per individual; the classes have the feature "
            f"shape {tuple(classes.shape[leading:])}. For one-hot vectors take tf.argmax first."
        )
    return tf.reshape(classes, tf.shape(classes)[:leading]) if features else classes


@no_autograph
def packed(
    model: Callable[..., Any], tensors: Sequence[tf.Tensor], as_list: bool
) -> tf.Tensor | list[tf.Tensor]:
    """What to call the model on: a list, or a lone tensor itself where the model wants it so."""
    # A model that declares its inputs, and the layers that come with Keras, want a lone tensor; a
    # model that a user subclassed unpacks a list.
    wants_tensor = (
        isinstance(model, keras.Sequential)
        or input_shapes(model) is not None
        or (isinstance(model, keras.Layer) and type(model).__module__.startswith("keras."))
    )
    return tensors[0] if len(tensors) == 1 and (wants_tensor or not as_list) else list(tensors)


def input_shapes(model: Callable[..., Any]) -> list[FeatureShape] | None:
    """The feature shapes that a functional or Sequential model declares; None where there are none."""
    inputs = getattr(model, "inputs", None) if isinstance(model, keras.Model) else None
    return None if inputs is None else [tuple(tensor.shape[1:]) for tensor in inputs]


def _as_shape(shape: Shape) -> tuple[int, ...]:
    return tuple(operator.index(size) for size in (shape if isinstance(shape, Sequence) else [shape]))
