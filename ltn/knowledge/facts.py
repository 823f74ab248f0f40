"""Facts: tables of individuals of which a formula is true, in all forms in which users have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from numpy.typing import NDArray

from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.groundings import PLACES, ROW_WEIGHTS, are_places
from ltn.evaluation.relations import Relation
from ltn.knowledge.data import Data, as_columns, check_aligned, read_batch
from ltn.knowledge.datasets import all_rows
from ltn.language import Domain, Node, Signature
from ltn.language.names import list_names


def read_facts(signature: Signature, formula: Node, table: Any) -> dict[str, tf.Tensor]:
    """The rows of a table as a column of individuals for each free variable of a formula.

    Columns without names are in the order in which the variables first appear. There may be no rows; the
    columns then are places.
    """
    free = signature.free_variables(formula)
    columns = _columns(signature, formula, free, table)
    if set(columns) != set(free):
        given = list_names([repr(name) for name in columns]) if columns else "none"
        raise LogicValueError(
            f"A table of rows has a column for each free variable of `{formula}`, {', '.join(free)}; "
            f"got {given}."
        )
    if all(map(_is_empty, columns.values())):
        return {variable: tf.zeros([0], PLACES) for variable in free}
    batch = read_batch(signature, {variable: columns[variable] for variable in free})
    check_aligned(batch)
    return batch


def _columns(signature: Signature, formula: Node, free: Sequence[str], table: Any) -> Data:
    """The columns of a table by variable, as they were given."""
    if isinstance(table, pd.DataFrame) and list(table.columns) == list(range(table.shape[1])):
        return _by_position(formula, free, [table[name] for name in table])
    if isinstance(table, Mapping | pd.DataFrame):
        return as_columns(table)
    if isinstance(table, tf.data.Dataset | keras.utils.PyDataset):
        return {name: values for name, values in all_rows(signature, table).items() if name != ROW_WEIGHTS}
    if isinstance(table, Relation):
        return _by_position(formula, free, list(tf.constant(table.rows.T, PLACES)))
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return _by_position(formula, free, list(table.T))
    if not isinstance(table, list | tuple) or not all(isinstance(row, list | tuple) for row in table):
        raise LogicTypeError(
            "Rows come as a dictionary or a DataFrame with a column for each variable, as an array of shape "
            f"(k, {len(free)}), or as a list of tuples; got a {type(table).__name__}: {table!r:.100}."
        )
    if not table:
        return {variable: [] for variable in free}
    for number, row in enumerate(table):
        if len(row) != len(free):
            raise _wrong_width(formula, free, f"{len(row)} in row {number}")
    return dict(zip(free, map(list, zip(*table, strict=True)), strict=True))


def _is_empty(column: Any) -> bool:
    if isinstance(column, list | tuple):
        return not column
    return tuple(getattr(column, "shape", ())[:1]) == (0,)


def _by_position(formula: Node, free: Sequence[str], columns: Sequence[Any]) -> Data:
    if len(columns) != len(free):
        raise _wrong_width(formula, free, f"{len(columns)} columns")
    return dict(zip(free, columns, strict=True))


def _wrong_width(formula: Node, free: Sequence[str], got: str) -> LogicValueError:
    return LogicValueError(
        f"A row has an individual for each free variable of `{formula}`, {', '.join(free)}; got {got}."
    )


def numbers_of(
    signature: Signature, variable: str, columns: Sequence[tf.Tensor], must_be_known: bool
) -> NDArray[np.int64]:
    """A number for each individual of some columns, one after the other: equal for equal individuals.

    Where the individuals of the domain are known, it is their place, which it has to be if they
    `must_be_known`.
    """
    domain = signature.variables[variable]
    given = [column for column in columns if len(column)]
    if domain.features is not None:
        return np.concatenate([_places(domain, column) for column in given])
    kinds = {are_places(column) for column in given}
    if kinds == {True}:
        return np.concatenate([column.numpy().astype(np.int64) for column in given])
    if must_be_known:
        raise LogicValueError(
            f"'{variable}' is ranked among the known individuals of its domain '{domain.name}', of which "
            f"there are {len(signature.places(domain))}, by `values` or as constants: its data tell which "
            "of them are meant, by name or by index; features came."
        )
    if len(kinds) > 1:
        raise LogicValueError(
            f"Some tables give the individuals of '{variable}' by name or index, others by their features, "
            "so that they cannot be compared: give all of them in one way."
        )
    return _distinct(np.concatenate([column.numpy() for column in given]))


def _places(domain: Domain, column: tf.Tensor) -> NDArray[np.int64]:
    """Where the individuals of a column stand among those of a domain; of equal ones, the first."""
    if are_places(column):
        return np.asarray(column.numpy(), np.int64)
    known = np.asarray(domain.features)
    numbers = _distinct(np.concatenate([known, column.numpy()]))
    _, first = np.unique(numbers[: len(known)], return_index=True)
    return first[numbers[len(known) :]]


def _distinct(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """A number for each row, from 0 on, equal for equal rows."""
    _, numbers = np.unique(features.reshape(len(features), -1), axis=0, return_inverse=True)
    return numbers.reshape(-1)
