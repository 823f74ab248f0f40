"""Data for a theory: dictionaries from the names of variables to arrays, checked before they are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Domain, Signature
from ltn.language.names import listed, nearest

# What a batch holds where the axioms need no data (tf.data has no empty elements); no name of a variable.
NOTHING = "no data"


def checked(signature: Signature, data: Any) -> dict[str, Any]:
    """A dictionary of individuals, (k, *features) each, that belong to the domains of their variables."""
    data = as_mapping(data)
    check_names(signature, data)
    return {
        name: values if name == NOTHING else individuals(name, domain_of(signature, name), values)
        for name, values in data.items()
    }


def as_mapping(data: Any) -> Mapping[str, Any]:
    """The data; raises where they are no dictionary."""
    if not isinstance(data, Mapping):
        raise LogicTypeError(
            "Data are a dictionary from names of variables to arrays, as {'x': points}; "
            f"got a {type(data).__name__}."
        )
    return data


def check_names(signature: Signature, names: Iterable[str]) -> None:
    """Raise for data under a name that is neither a variable nor a domain."""
    for name in names:
        if name not in signature.variables and name not in signature.domains and name != NOTHING:
            known = [*signature.variables, *signature.domains]
            close = nearest(str(name), known)
            hint = f"Did you mean '{close}'?" if close else f"Declared are: {listed(known)}."
            raise LogicValueError(f"Data came for {name!r}, which is not a variable of the theory. {hint}")


def check_aligned(table: Mapping[str, Any]) -> None:
    """Raise unless all variables have the same number of individuals: a batch takes the i-th of each."""
    sizes = {name: values.shape[0] for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        given = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        raise LogicValueError(
            f"The data of all variables must have the same number of individuals: {given}. Batches take "
            "the i-th individual of each. Tell classes apart by a label and a guard, as "
            "`forall diag(x, l) where l = 1: P(x)`, or give a variable its own individuals when it is "
            "declared: theory.variable(name, domain, values=...)."
        )
    if 0 in sizes.values():
        raise LogicValueError(f"The data of {listed(list(sizes))} hold no individuals.")


def domain_of(signature: Signature, name: str) -> Domain:
    """The domain of the individuals given under the name of a variable, or of the domain itself."""
    return signature.variables[name] if name in signature.variables else signature.domains[name]


def individuals(name: str, domain: Domain, values: Any) -> Any:
    """Individuals of a domain as float32, (k, *features); numbers get their feature axis.

    Values that are known now are checked; those of tensors in a graph are not known.
    """
    array = _numbers(name, values)
    if array.shape.rank is None:
        # As it comes from code that was compiled for numbers with and without their feature axis.
        array = tf.reshape(array, [-1, *domain.shape])
    check_shape(name, domain, tuple(array.shape))
    array = array[:, np.newaxis] if array.shape.rank == 1 and domain.shape == (1,) else array
    if tf.executing_eagerly():
        _check_values(name, domain, array.numpy())
    return array


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


def _numbers(name: str, values: Any) -> tf.Tensor:
    try:
        tensor = tf.convert_to_tensor(values if tf.is_tensor(values) else np.asarray(values, np.float32))
        if tensor.dtype == tf.string:
            raise TypeError("text")
        return tf.cast(tensor, tf.float32)
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
    _check_all(domain.contains(values), f"leave the bounds {domain.bounds} of the domain", name, domain)
    if domain.features is not None:
        axes = tuple(range(2, values.ndim + 1))
        known = np.all(values[:, np.newaxis] == domain.features[np.newaxis], axis=axes).any(axis=1)
        _check_all(known, "are not individuals of the finite domain", name, domain)


def _check_all(inside: np.ndarray, what: str, name: str, domain: Domain) -> None:
    if not inside.all():
        row = int(np.argmin(inside))
        raise LogicValueError(
            f"The data of '{name}' {what} '{domain.name}' in {int((~inside).sum())} of {len(inside)} rows, "
            f"the first in row {row}."
        )
