"""The door for the rows of relations: arrays of indices, names, frames, files of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ltn.errors import LogicFileError, LogicTypeError, LogicValueError
from ltn.evaluation.relations import Rows
from ltn.files import name_of, unreadable
from ltn.language import Domain
from ltn.language.names import list_names, nearest

# The separator of a table in a file, by the end of its name.
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
# Among more names a misspelt one is not compared with each.
_MOST_COMPARED = 10_000
_FORMS = (
    "an array of indices, a list of rows of names or indices, a DataFrame, or the path of a .csv or .tsv file"
)


def read_rows(
    relation: str, domains: Sequence[Domain], given: Any, names_of: Callable[[Domain], Sequence[str]]
) -> Rows:
    """Rows as places of individuals in their domains, int32, (m, arity).

    Whole numbers are places, and texts are names. A file has no header; its cells are names, which of
    individuals without names are their numbers.
    """
    where, columns = _columns(relation, given, len(domains))
    if len(columns) != len(domains):
        heading = f"{relation}({', '.join(domain.name for domain in domains)})"
        raise LogicValueError(
            f"{where}: {heading} takes {len(domains)} column{'s' * (len(domains) != 1)}; got {len(columns)}."
        )
    if not len(columns[0]):
        return np.zeros((0, len(domains)), np.int32)
    indices = {domain: _index_of(relation, domain, names_of(domain)) for domain in dict.fromkeys(domains)}
    found = [
        _places(f"{where}, column {position}", domain, column, indices[domain])
        for position, (column, domain) in enumerate(zip(columns, domains, strict=True), start=1)
    ]
    return np.stack(found, axis=1)


def read_triples(given: Any) -> pd.DataFrame:
    """A table of three columns from a frame, a list or a file."""
    where, columns = _columns("The triples", given, 3)
    if len(columns) != 3:
        raise LogicValueError(f"{where}: triples have 3 columns, (head, relation, tail); got {len(columns)}.")
    return pd.DataFrame(dict(enumerate(columns)))


def _columns(relation: str, given: Any, arity: int) -> tuple[str, list[pd.Series]]:
    """Where the rows come from, for messages, and their columns."""
    where = f"The rows of '{relation}'" if relation.isidentifier() else relation
    if isinstance(given, str | os.PathLike):
        frame = _read_file(name_of(given))
        return name_of(given), [frame[name] for name in frame]
    if isinstance(given, pd.DataFrame):
        return where, [given.iloc[:, position].reset_index(drop=True) for position in range(given.shape[1])]
    if hasattr(given, "__array__"):
        array = np.asarray(given)
    elif isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        rows = list(given)
        if arity == 1:
            rows = [row if isinstance(row, list | tuple) else (row,) for row in rows]
        return where, _columns_of(where, rows, arity)
    else:
        raise LogicTypeError(f"{where} are {_FORMS}; got a {type(given).__name__}: {given!r:.200}.")
    if array.ndim == 1 and (arity == 1 or not array.size):
        array = array.reshape(-1, arity)
    if array.ndim != 2:
        raise LogicValueError(f"{where} must have the shape (m, {arity}); got {array.shape}.")
    return where, [pd.Series(array[:, position]) for position in range(array.shape[1])]


def _columns_of(where: str, rows: list[Any], arity: int) -> list[pd.Series]:
    if not rows:
        return [pd.Series([], dtype=np.int32)] * arity
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != len(rows[0]):
            raise LogicTypeError(
                f"{where} are rows of {arity} names or indices each, as ('Ann', 'Bob'); got {row!r:.200} "
                f"in row {number}."
            )
    return [pd.Series(list(column)) for column in zip(*rows, strict=True)]


def ending_of(name: str) -> str:
    """The end of the name of a file, apart from `.gz`, in small letters: ".csv"; "" where there is none."""
    endings = [ending for ending in Path(name).suffixes if ending != ".gz"]
    return endings[-1].lower() if endings else ""


def _read_file(name: str) -> pd.DataFrame:
    separator = SEPARATORS.get(ending_of(name))
    if separator is None:
        raise LogicFileError(
            f"{name}: rows are read from files that end with {list_names(list(SEPARATORS))}, or these and "
            ".gz; read others with pandas, and give the DataFrame."
        )
    try:
        return pd.read_csv(
            name,
            sep=separator,
            header=None,
            dtype="category",
            na_filter=False,
            encoding="utf-8",
            # In tables that are separated by tabs a quotation mark is a letter.
            quoting=csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE,
        )
    except pd.errors.EmptyDataError:
        raise LogicFileError(f"{name}: the file has no rows.") from None
    except Exception as error:
        raise unreadable(name, error) from error


def _index_of(relation: str, domain: Domain, names: Sequence[str]) -> pd.Index:
    if not len(names):
        raise LogicValueError(
            f"The relation '{relation}' is about known individuals; the domain '{domain.name}' has none: "
            "declare it with `values=`, or constants of it, before the rows."
        )
    return pd.Index(list(names), dtype=object)


def _places(where: str, domain: Domain, column: pd.Series, index: pd.Index) -> np.ndarray:
    """The places of individuals that are given by name or by place."""
    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else "O"
    if kind in "iu":
        places = column.to_numpy()
        wrong = np.flatnonzero((places < 0) | (places >= len(index)))
        if len(wrong):
            raise no_individual(where, places[wrong[0]], wrong[0], domain, index, _how_many_more(wrong))
        return places.astype(np.int32)
    if kind in "fbcmM":
        raise LogicTypeError(
            f"{where}: individuals are given by names or whole numbers; got {column.iloc[0]} in row 0."
        )
    codes, names = pd.factorize(column.astype(object), use_na_sentinel=False)
    found = [_place(name, index) for name in names] if _is_mixed(names) else index.get_indexer(list(names))
    places = np.asarray(found, np.int64)[codes]
    wrong = np.flatnonzero(places < 0)
    if not len(wrong):
        return places.astype(np.int32)
    raise no_individual(where, column.iloc[wrong[0]], wrong[0], domain, index, _how_many_more(wrong))


def no_individual(
    where: str, given: Any, row: int, domain: Domain, names: Collection[str], more: str = ""
) -> LogicValueError:
    """The error for what is neither the name nor the place of an individual; `more` tells of further rows."""
    if isinstance(given, int | np.integer):
        return LogicValueError(
            f"{where}: {given} in row {row} is no index of the domain '{domain.name}', whose {len(names)} "
            f"individuals have the indices 0 to {len(names) - 1}{more}."
        )
    close = nearest(str(given), names) if len(names) <= _MOST_COMPARED else None
    hint = f"did you mean '{close}'?" if close else f"they are: {list_names(list(names))}."
    return LogicValueError(
        f"{where}: {given!r} in row {row} is no individual of the domain '{domain.name}'{more}; {hint}"
    )


def _is_mixed(names: Any) -> bool:
    return not all(isinstance(name, str) for name in names)


def _place(name: Any, index: pd.Index) -> int:
    """The place of an individual given by name or by place; -1 where it is none."""
    if isinstance(name, str):
        return int(index.get_indexer([name])[0])
    is_place = isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(index)
    return int(name) if is_place else -1


def _how_many_more(wrong: np.ndarray) -> str:
    return f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
