"""How models of the library are compiled: what they refuse, and an optimizer of all their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn import _private
from ltn.errors import LogicTypeError, LogicValueError
from ltn.training import distribution


def check_arguments(
    strategy: tf.distribute.Strategy, args: Sequence[Any], arguments: Mapping[str, Any]
) -> None:
    """Raise for arguments of `keras.Model.compile` that a theory does not take."""
    given = {**arguments, **dict(zip(("loss", "loss_weights", "metrics"), args, strict=False))}
    for argument in ("loss", "loss_weights", "metrics", "weighted_metrics"):
        if given.get(argument) is not None:
            raise LogicTypeError(
                f"A theory takes no `{argument}`: its loss is 1 minus the satisfaction of its axioms, "
                "and the logs hold the value of each. For a task loss beside it see ltn.with_knowledge."
            )
    if distribution.is_several(strategy):
        distribution.check_keras()
        if arguments.get("steps_per_execution", 1) != 1:
            raise LogicValueError(
                "Several replicas take one step at a time; got "
                f"steps_per_execution={arguments['steps_per_execution']!r}."
            )


def compile_from_config(model: keras.Model, config: dict[str, Any]) -> None:
    """Compile a model as it was when it was saved, with the variables of its optimizer."""
    model.compile(**keras.saving.deserialize_keras_object(config))
    if model.optimizer is not None:
        model.optimizer.build(model.trainable_variables)


def build_optimizer(model: keras.Model) -> bool:
    """Give the optimizer of a compiled model its variables. Returns whether a new one took its place.

    Keras fixes the weights of an optimizer when it is built. Where the model has other weights since, a new
    optimizer takes over what the old one knows.
    """
    if not model.compiled or model.optimizer is None:
        return False
    old, weights = model.optimizer, model.trainable_variables
    known = {id(weight) for weight in _private.weights_of_optimizer(old)}
    if not old.built or known == {id(weight) for weight in weights}:
        old.build(weights)
        return False
    values = {variable.path: variable.numpy() for variable in old.variables}
    model.optimizer = type(old).from_config(old.get_config())
    model.optimizer.build(weights)
    for variable in model.optimizer.variables:
        if variable.path in values:
            variable.assign(values[variable.path])
    return True
