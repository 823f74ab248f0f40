"""Individuals by name or by index: where the rows of data stand in their domain.

Where the individuals of a domain are known, declared with it or as constants, data may tell which of them
they are. A text is a name. A whole number is an index, if an individual is more than one number; where
individuals are single numbers, a number is the individual itself. In a batch both are places, which no other
column is: see `evaluation.groundings.PLACES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.evaluation.groundings import PLACES, are_places
from ltn.language import Domain, Signature
from ltn.language.domains import NUMBER
from ltn.language.names import list_names, nearest


def read_places(signature: Signature, name: str, domain: Domain, values: Any) -> tf.Tensor | None:
    """The places of individuals that are given by name or by index, (k,); None where they are features."""
    if tf.is_tensor(values) and not tf.executing_eagerly():
        return _read_symbolic(signature, name, domain, values)
    if tf.is_tensor(values) and are_places(values):
        check_places(signature, name, domain, values.numpy())
        return values
    names = names_in(name, values)
    if names is not None:
        return tf.constant(_find(signature, name, domain, names), PLACES)
    if not _takes_indices(signature, domain):
        return None
    array = _whole_numbers(values)
    if array is None:
        return None
    check_places(signature, name, domain, array)
    return tf.constant(array.astype(PLACES.as_numpy_dtype))


def check_places(signature: Signature, name: str, domain: Domain, places: np.ndarray) -> None:
    """Raise unless all places are those of individuals."""
    if places.dtype == PLACES.as_numpy_dtype:
        # A number below 0 was cast.
        places = places.astype(np.int32)
    count = len(signature.places(domain))
    wrong = np.flatnonzero((places < 0) | (places >= count))
    if len(wrong):
        row = int(wrong[0])
        raise LogicValueError(
            f"The data of '{name}' hold the index {places[row]} in row {row}; the {count} individuals of the "
            f"domain '{domain.name}' have the indices 0 to {count - 1}."
        )


def are_indices(signature: Signature, domain: Domain, column: tf.Tensor | tf.TensorSpec) -> bool:
    """Whether a column of data holds the indices of individuals."""
    whole_numbers = column.dtype.is_integer and column.shape.rank == 1
    return bool(whole_numbers) and _takes_indices(signature, domain)


def names_in(variable: str, values: Any) -> list[str] | None:
    """The names by which individuals are given; None where they are given by numbers."""
    if tf.is_tensor(values):
        if values.dtype != tf.string or values.shape.rank != 1:
            return None
        return [cell.decode() for cell in values.numpy().tolist()]
    is_array = isinstance(values, pd.Series | pd.Index | pd.Categorical | np.ndarray)
    if is_array and (pd.api.types.is_numeric_dtype(values.dtype) or values.ndim != 1):
        return None
    cells = values.tolist() if is_array else values
    if not isinstance(cells, list | tuple) or not any(isinstance(cell, str) for cell in cells):
        return None
    for row, cell in enumerate(cells):
        if not isinstance(cell, str):
            raise LogicTypeError(
                f"The data of '{variable}' are names of individuals; row {row} holds a "
                f"{type(cell).__name__}: {cell!r}."
            )
    return list(cells)


def lookup(signature: Signature, name: str, domain: Domain) -> Callable[[tf.Tensor], tf.Tensor]:
    """A function from names to places, for the graph of a data set."""
    _check_named(name, domain, signature.places(domain), "texts")
    table = name_table(signature, domain)

    def raise_for(names: tf.Tensor) -> None:
        try:
            _find(signature, name, domain, [cell.decode() for cell in names.numpy().tolist()])
        except LogicError as error:
            raise type(error)(f"In a batch of the data set: {error}") from None

    def find(names: tf.Tensor) -> tf.Tensor:
        found = table.lookup(names)

        def explain() -> None:
            tf.py_function(raise_for, [names], [])

        done = tf.cond(tf.reduce_all(found >= 0), lambda: None, explain)
        with tf.control_dependencies([done] if done is not None else []):
            return tf.cast(found, PLACES)

    return find


def name_table(signature: Signature, domain: Domain) -> tf.lookup.StaticHashTable:
    """The places of the individuals of a domain by name, int32, for a graph; -1 for other names."""
    places = signature.places(domain)
    values = tf.lookup.KeyValueTensorInitializer(list(places), list(places.values()), tf.string, tf.int32)
    return tf.lookup.StaticHashTable(values, -1)


class PlacedBatches(keras.utils.PyDataset):
    """The batches of a `PyDataset`, with places for names and indices."""

    def __init__(self, signature: Signature, batches: keras.utils.PyDataset):
        super().__init__(batches.workers, batches.use_multiprocessing, batches.max_queue_size)
        self._signature = signature
        self._batches = batches

    @property
    def num_batches(self) -> int | None:
        """How many there are."""
        count: int | None = self._batches.num_batches
        return count

    def __getitem__(self, number: int) -> Any:
        return place_batch(self._signature, self._batches[number], number)

    def on_epoch_begin(self) -> None:
        """Tell the batches."""
        self._batches.on_epoch_begin()

    def on_epoch_end(self) -> None:
        """Tell the batches."""
        self._batches.on_epoch_end()


def place_batch(signature: Signature, batch: Any, number: int) -> Any:
    """A batch as Keras takes it, a tuple, with places for names and indices; all else is left as it is."""
    columns, *others = batch if isinstance(batch, tuple | list) and batch else (batch,)
    if not isinstance(columns, Mapping):
        return batch
    placed = dict(columns)
    for name, values in columns.items():
        domain = signature.variables.get(name) or signature.domains.get(name)
        try:
            places = None if domain is None else read_places(signature, name, domain, values)
        except LogicError as error:
            raise type(error)(f"In batch {number + 1} of the data set: {error}") from None
        if places is not None:
            placed[name] = places.numpy()
    return (placed, *others)


def _read_symbolic(signature: Signature, name: str, domain: Domain, values: tf.Tensor) -> tf.Tensor | None:
    if are_places(values):
        return values
    if values.dtype == tf.string:
        raise LogicTypeError(
            f"The data of '{name}' are names, which compiled code cannot look up; give the index of each "
            "individual."
        )
    return tf.cast(values, PLACES) if are_indices(signature, domain, values) else None


def _takes_indices(signature: Signature, domain: Domain) -> bool:
    return domain.shape != NUMBER and bool(signature.places(domain))


def _whole_numbers(values: Any) -> np.ndarray | None:
    """Values as an array of whole numbers, one for each row; None where they are something else."""
    if isinstance(values, list | tuple):
        # Features of many individuals are not made an array twice.
        if not values or np.ndim(values[0]):
            return None
    elif np.ndim(values) != 1:
        return None
    array = np.asarray(values)
    return array if array.ndim == 1 and array.dtype.kind in "iu" else None


def _check_named(name: str, domain: Domain, places: Mapping[str, int], given: str) -> None:
    if not places:
        raise LogicTypeError(
            f"The data of '{name}' must be numbers of one shape; got {given}. The individuals of the "
            f"domain '{domain.name}' have no names: declare some, by `values` or as constants."
        )


def _find(signature: Signature, name: str, domain: Domain, names: Sequence[str]) -> np.ndarray:
    """The places of the individuals with some names."""
    places = signature.places(domain)
    _check_named(name, domain, places, f"names, as {names[0]!r}")
    found = np.fromiter((places.get(given, -1) for given in names), np.int64, len(names))
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        row = int(unknown[0])
        given = names[row]
        close = nearest(given, places)
        hint = f"did you mean '{close}'?" if close else f"they are: {list_names(list(places))}."
        raise LogicValueError(
            f"The data of '{name}' name {given!r} in row {row}, which is no individual of the domain "
            f"'{domain.name}'; {hint}"
        )
    return found.astype(PLACES.as_numpy_dtype)
