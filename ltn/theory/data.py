"""Data for a theory: dictionaries from the names of variables to arrays, checked before they are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Domain, Signature
from ltn.language.names import listed, nearest

# What a batch holds where the axioms need no data: tf.data has no empty elements.
NOTHING = "nothing"


def no_data() -> tf.data.Dataset:
    """An endless data set of batches without data."""
    return tf.data.Dataset.from_tensors({NOTHING: tf.zeros(1)}).repeat()


def batches(table: Mapping[str, Any], batch_size: int, shuffle: bool) -> tf.data.Dataset:
    """The batches of all epochs, each epoch in an order of its own where it is shuffled.

    One endless data set: the iterator that Keras makes for each epoch costs more than a step on little data.
    """
    tensors = {name: tf.convert_to_tensor(values) for name, values in table.items()}
    count = len(next(iter(tensors.values())))

    def order(_: tf.Tensor) -> tf.Tensor:
        return tf.random.shuffle(tf.range(count)) if shuffle else tf.range(count)

    def epoch(rows: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)

    def batch(rows: tf.Tensor) -> dict[str, tf.Tensor]:
        return {name: tf.gather(tensor, rows) for name, tensor in tensors.items()}

    epochs = tf.data.Dataset.from_tensors(0).repeat().map(order)
    return epochs.flat_map(epoch).map(batch).prefetch(tf.data.AUTOTUNE)


def is_table(data: Any) -> bool:
    """Whether the data are a dictionary of arrays."""
    return isinstance(data, Mapping)


def check_names(signature: Signature, names: Iterable[str]) -> None:
    """Raise for data under a name that is neither a variable nor a domain."""
    for name in names:
        if name not in signature.variables and name not in signature.domains and name != NOTHING:
            known = [*signature.variables, *signature.domains]
            close = nearest(str(name), known)
            hint = f"Did you mean '{close}'?" if close else f"Declared are: {listed(known)}."
            raise LogicValueError(f"Data came for {name!r}, which is not a variable of the theory. {hint}")


def checked(signature: Signature, data: Any) -> dict[str, Any]:
    """A dictionary of arrays, or of tensors, with the shapes, sizes and bounds of their domains."""
    if not is_table(data):
        raise LogicTypeError(
            "Data are a dictionary from names of variables to arrays, as {'x': points}; "
            f"got a {type(data).__name__}."
        )
    check_names(signature, data)
    table = {name: _array(name, values) for name, values in data.items()}
    for name, values in table.items():
        if name != NOTHING:
            domain = domain_of(signature, name)
            check_shape(name, domain, tuple(values.shape))
            if isinstance(values, np.ndarray):
                _check_values(name, domain, values)
    return table


def check_aligned(table: Mapping[str, Any]) -> None:
    """Raise unless all variables have the same number of individuals: a batch takes the i-th of each."""
    sizes = {name: values.shape[0] for name, values in table.items()}
    known = {size for size in sizes.values() if size is not None}
    if len(known) > 1:
        listed = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        raise LogicValueError(
            f"The data of all variables must have the same number of individuals: {listed}. Batches take "
            "the i-th individual of each. Tell classes apart by a label and a guard, as "
            "`forall diag(x, l) where l = 1: P(x)`, or give a variable its own individuals when it is "
            "declared: theory.variable(name, domain, values=...)."
        )


def domain_of(signature: Signature, name: str) -> Domain:
    """The domain of the individuals given under the name of a variable, or of the domain itself."""
    return signature.variables[name] if name in signature.variables else signature.domains[name]


def check_shape(name: str, domain: Domain, shape: tuple[int | None, ...]) -> None:
    """Raise unless individuals of this shape, (k, *features), belong to the domain."""
    features = shape[1:]
    is_numbers = domain.shape == (1,) and len(shape) == 1
    fits = len(features) == len(domain.shape) and all(
        came is None or expected is None or came == expected
        for came, expected in zip(features, domain.shape, strict=True)
    )
    if not is_numbers and not fits:
        expected = ", ".join(str(size) for size in ("n", *domain.shape))
        raise LogicValueError(
            f"The data of '{name}' must have the shape ({expected}), n individuals of the domain "
            f"'{domain.name}'; got {shape}."
        )


def _array(name: str, values: Any) -> Any:
    if tf.is_tensor(values):
        return values
    try:
        array = np.asarray(values)
        return array if array.dtype == np.float32 else array.astype(np.float32)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(
            f"The data of '{name}' must be numbers of one shape; got {values!r:.200}."
        ) from error


def _check_values(name: str, domain: Domain, values: np.ndarray) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise LogicValueError(
            f"The data of '{name}' hold {int((~finite).sum())} values that are NaN or infinite, the first "
            f"in row {row}. Remove or replace them."
        )
    rows = values[:, np.newaxis] if values.ndim == 1 else values
    inside = domain.contains(rows)
    if not inside.all():
        row = int(np.argmin(inside))
        raise LogicValueError(
            f"The data of '{name}' leave the bounds {domain.bounds} of the domain '{domain.name}' in "
            f"{int((~inside).sum())} of {len(rows)} rows, the first in row {row}."
        )
