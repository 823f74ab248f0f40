"""Who is to blame for a step that was not finite: found by evaluating its batch again, eagerly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn.errors import LogicError
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge.data import Data, read_batch, with_weights
from ltn.knowledge.language import Language
from ltn.language.names import list_names

_NOBODY = (
    "Evaluated again, the batch is finite: a layer that draws random numbers, as dropout does, or that "
    "changes as it is called, may be to blame."
)
_UNKNOWN = (
    "Who is to blame is not known where XLA takes several steps at once, nor for a model of `with_knowledge` "
    "that is not built or has several replicas."
)


def of_theory(
    model: Any, language: Language, batches: Sequence[Any], loss: Callable[[Data], tf.Tensor]
) -> str:
    """Who is to blame for a step of a theory.

    Args:
        model: the theory.
        language: its language.
        batches: what the step was fed, one batch for each replica; None where that is not known.
        loss: that of a batch, as a dictionary.
    """
    found = _in_weights(language, model.weights)
    for batch in batches if found is None else ():
        if batch is None:
            return _UNKNOWN
        x, _, weights = keras.utils.unpack_x_y_sample_weight(batch)
        found = _in_evaluation(partial(_call, model, language, x))
        if found is None:
            data = with_weights(read_batch(language.signature, x), weights)
            found = _in_gradients(language, model.trainable_variables, partial(loss, data))
        if found is not None:
            break
    return found or _NOBODY


def of_model(
    model: Any, theory: Any, batch: Any, data_of: Callable[[Any, Any], Data], loss: Callable[..., tf.Tensor]
) -> str:
    """Who is to blame for a step of a model that has knowledge.

    Args:
        model: the model.
        theory: what it knows.
        batch: what the step was fed; None where that is not known.
        data_of: the individuals of the theory in inputs and targets.
        loss: that of inputs, targets and their weights.
    """
    language = theory.language
    if batch is None:
        return _in_weights(language, model.weights) or _UNKNOWN
    x, y, weights = keras.utils.unpack_x_y_sample_weight(batch)
    variable = model.input_variable
    whose = "" if variable is None else f", individuals of '{variable}',"
    arrays = {f"The inputs{whose}": x, "The targets": y, "The sample weights": weights}
    return (
        _in_arrays({name: given for name, given in arrays.items() if given is not None})
        or _in_weights(language, model.weights)
        or _in_arrays({"The predictions of the model": model(x)})
        or _in_evaluation(lambda: theory.call(data_of(x, y), training=True))
        or _in_gradients(language, model.trainable_variables, lambda: loss(x, y, weights))
        or _NOBODY
    )


def _call(model: Any, language: Language, data: Data) -> Any:
    # With the samples of training: all may be too many.
    return model.call(read_batch(language.signature, data), training=True)


def _in_arrays(arrays: Mapping[str, Any]) -> str | None:
    """The first of some arrays, by name, that holds NaN or infinite values; arrays may be nested."""
    for name, nested in arrays.items():
        for array in keras.tree.flatten(nested):
            values = np.asarray(array)
            wrong = ~np.isfinite(values) if np.issubdtype(values.dtype, np.number) else np.zeros(1, bool)
            if wrong.any():
                row = int(np.argwhere(wrong)[0][0])
                return (
                    f"{name} hold {int(wrong.sum())} values that are NaN or infinite, the first in row {row}."
                )
    return None


def _in_weights(language: Language, weights: Sequence[Any]) -> str | None:
    """Weights that are not finite any more."""
    wrong = [weight for weight in weights if not np.isfinite(_numbers(weight)).all()]
    if not wrong:
        return None
    return (
        f"Some weights are NaN or infinite already: {_owners(language, wrong)}. A learning rate that is too "
        "large, or not a number, makes them so."
    )


def _in_evaluation(evaluate: Callable[[], Any]) -> str | None:
    """What is raised by an eager evaluation, which checks all values."""
    try:
        with as_written():
            evaluate()
    except LogicError as error:
        return str(error)
    return None


def _in_gradients(language: Language, weights: Sequence[Any], loss: Callable[[], tf.Tensor]) -> str | None:
    """A loss, or gradients of it, that are not finite."""
    with as_written(), tf.GradientTape() as tape:
        value = loss()
    if not np.isfinite(_numbers(value)).all():
        return f"All truth values are finite, and the loss is {float(value):g}."
    gradients = zip(tape.gradient(value, weights), weights, strict=True)
    wrong = [weight for gradient, weight in gradients if gradient is not None and _is_wrong(gradient)]
    if not wrong:
        return None
    return (
        f"The loss is finite, but not its gradients by some weights: {_owners(language, wrong)}. Between "
        "them and the loss a function has no finite slope, as the root has none at 0."
    )


def _is_wrong(gradient: Any) -> bool:
    return not np.isfinite(_numbers(gradient)).all()


def _numbers(value: Any) -> np.ndarray:
    return np.asarray(tf.cast(tf.convert_to_tensor(value), tf.float64))


def _owners(language: Language, weights: Sequence[Any]) -> str:
    """What some weights belong to, in words."""
    found = {id(weight): str(weight.path) for weight in weights}
    for name, layer in _layers(language):
        for weight in layer.weights:
            if id(weight) in found:
                found[id(weight)] = f"those of {name}"
    return list_names(list(dict.fromkeys(found.values())))


def _layers(language: Language) -> Iterator[tuple[str, keras.Layer]]:
    for name, symbol in language.symbols.items():
        if isinstance(symbol.network, keras.Layer):
            yield f"'{name}'", symbol.network
    for name, proposition in language.propositions.items():
        yield f"'{name}'", proposition
    for table in language.individuals:
        yield list_names(table.names), table
