"""Functions: symbols grounded on individuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn.core import axes
from ltn.core.expressions import Term
from ltn.core.models import Shape, mlp
from ltn.core.symbols import Batch, Symbol
from ltn.errors import LogicValueError


@keras.saving.register_keras_serializable(package="ltn")
class Function(Symbol):
    """A function symbol: G(f)(d_1, ..., d_m) in R^features for every combination of individuals.

    Args:
        model: a Keras model, or any callable, on flat batches: a tensor (N, *features) for `f(t)`, a list
            of them for `f([t1, t2])`. It returns (N, *features).
        name: shown in messages.

    `f(t)` and `f([t1, ..., tm])` give a `Term` over the union of the terms' free variables, in order of first
    appearance; further arguments, such as `training=True`, reach the model. In `keras.Sequential` and
    functional models it is a layer from (N, *features), or a list of them, to (N, *features).

    >>> import ltn
    >>> x, y = ltn.Variable("x", [1.0, 2.0]), ltn.Variable("y", [10.0, 20.0, 30.0])
    >>> add = ltn.Function(lambda args: args[0] + args[1])
    >>> add([x, y]).take("x", 1)
    Term(tensor=[[12.]
     [22.]
     [32.]], free_vars=['y'])
    """

    def __call__(self, inputs: Term | Sequence[Term], *args: Any, **kwargs: Any) -> Term:
        """The value of the function on a term, or on a list of terms."""
        if self._is_layer_of(inputs):
            return keras.Layer.__call__(self, inputs, *args, **kwargs)
        batch = self.batch(self._terms(inputs, *args))
        output = self.run(batch, isinstance(inputs, list | tuple), *args, **kwargs)
        return self.value(output, batch)

    def call(self, inputs: Any, training: bool | None = None) -> tf.Tensor:
        """The value for each row, shape (N, *features), as a layer of a Keras model gives it."""
        return self._on_rows(inputs).tensor

    def value(self, output: tf.Tensor, batch: Batch) -> Term:
        """The network's output rows as a term over the variables of its batch."""
        if output.shape.rank is None:
            raise LogicValueError(
                f"The model of {self!r} returned a tensor of unknown rank: give it one with tf.ensure_shape."
            )
        features = [axes.size_of(output, axis) for axis in range(1, output.shape.rank)]
        return Term(tf.reshape(output, batch.sizes + features), batch.labels)

    @classmethod
    def MLP(
        cls,
        input_shapes: Sequence[Shape],
        output_shape: Shape,
        hidden_layer_sizes: Sequence[int] = (16, 16),
        name: str | None = None,
    ) -> Function:
        """A function on a multilayer perceptron: elu hidden layers and a linear output of a shape.

        Args:
            input_shapes: the shape of the features of each argument, or an int; the arguments are
                flattened and concatenated.
            output_shape: the shape of the value's features, or an int.
            hidden_layer_sizes: units of each hidden layer.
            name: shown in messages.

        >>> import ltn
        >>> f = ltn.Function.MLP([2], output_shape=(3, 4))
        >>> f(ltn.Variable("x", [[1.0, 2.0]])).tensor.shape
        TensorShape([1, 3, 4])
        """
        return cls(mlp(input_shapes, hidden_layer_sizes, output_shape, "linear"), name)

    @classmethod
    def Lambda(cls, fn: Callable[..., Any], name: str | None = None) -> Function:
        """A function on a plain callable, which sees what a model would.

        >>> import ltn
        >>> ltn.Function.Lambda(lambda x: 2 * x)(ltn.Constant([1.0, 2.0], trainable=False))
        Term(tensor=[2. 4.], free_vars=[])
        """
        return cls(fn, name)
