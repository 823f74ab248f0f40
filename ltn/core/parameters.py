"""Constants and propositions: groundings that can be learned, tracked by Keras as weights."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from ltn.checks import check_flag, check_layer_name
from ltn.core.expressions import Formula, Term, as_float_tensor
from ltn.errors import LogicValueError


class _UnitInterval(keras.constraints.Constraint):
    def __call__(self, w: Any) -> tf.Tensor:
        return tf.clip_by_value(tf.convert_to_tensor(w), 0.0, 1.0)


class _Parameter(keras.Layer, ABC):
    """A tensor, fixed or a weight: a Keras layer, found, saved and restored by the model that holds it."""

    def __init__(
        self,
        value: tf.Tensor,
        trainable: bool,
        constraint: keras.constraints.Constraint | None = None,
        name: str | None = None,
    ):
        check_layer_name(name)
        super().__init__(name=name, trainable=check_flag("trainable", trainable), dtype="float32")
        self.free_vars: list[str] = []
        self._fixed = None if trainable else value
        if trainable:

            def create(next_creator: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
                # Optimizers may be given the Keras weight or, as `tensor`, the tf.Variable inside it:
                # both carry the constraint, and a name without the slash that Adafactor refuses.
                with tf.name_scope(""):
                    return next_creator(**kwargs | {"constraint": constraint})

            with tf.variable_creator_scope(create):
                self._weight = self.add_weight(
                    shape=tuple(value.shape),
                    initializer=lambda shape, dtype=None: tf.cast(value, dtype),
                    constraint=constraint,
                    name="value",
                    autocast=False,
                )
        self.built = True

    @abstractmethod
    def __repr__(self) -> str:
        """Show the expression, not the layer."""

    @property
    def tensor(self) -> tf.Tensor | tf.Variable:
        """The grounding: a `tf.Variable` when trainable, else a `tf.Tensor`."""
        return self._weight.value if self._fixed is None else self._fixed


class Constant(_Parameter, Term):
    """A constant, grounded on one individual: G(c) in R^features.

    For a variable that ranges over constants see `Variable.from_constants`.

    Args:
        value: shape `features`; a scalar gets a feature axis of size 1.
        trainable: whether it is learned, as an embedding; then `tensor` is a `tf.Variable`.
        name: the name of its Keras layer.

    >>> Constant(3.0, trainable=False)
    Constant(tensor=[3.], free_vars=[])
    """

    def __init__(self, value: Any, trainable: bool, name: str | None = None):
        tensor = as_float_tensor(value)
        if tensor.shape.rank == 0:
            tensor = tensor[tf.newaxis]
        super().__init__(tensor, trainable, name=name)

    __repr__ = Term.__repr__


class Proposition(_Parameter, Formula):
    """A propositional variable: a 0-ary predicate with a truth value in [0, 1], of shape ().

    Args:
        truth_value: a number in [0, 1].
        trainable: whether it is learned; then `tensor` is a `tf.Variable` whose constraint keeps it in
            [0, 1] under any Keras optimizer.
        name: the name of its Keras layer.

    >>> Proposition(0.3, trainable=False)
    Proposition(tensor=0.3, free_vars=[])
    """

    def __init__(self, truth_value: Any, trainable: bool, name: str | None = None):
        tensor = as_float_tensor(truth_value)
        if tensor.shape.rank != 0:
            raise LogicValueError(f"`truth_value` must be one number; got the shape {tuple(tensor.shape)}.")
        known = tf.get_static_value(tensor)
        if known is not None and not 0.0 <= known <= 1.0:
            raise LogicValueError(f"`truth_value` must lie in [0, 1]; got {truth_value}.")
        super().__init__(tensor, trainable, constraint=_UnitInterval(), name=name)

    __repr__ = Formula.__repr__
