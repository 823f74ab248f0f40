"""Rosters: the individuals of a finite domain, read from the forms in which a user may give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import list_names

Features = NDArray[np.float32]

_FORMS = "a range or list of numbers, a list of names, a dict from names to features, or an array"


class Roster(NamedTuple):
    """The k individuals of a domain: names, and features (k, *shape); `named` if the names were given."""

    names: tuple[str, ...]
    features: Features
    named: bool


def read_roster(domain: str, values: Any) -> Roster:
    """The individuals in `values`; `domain` names their domain in messages."""
    if isinstance(values, Roster):
        return values
    if isinstance(values, str | bytes | Set) or not (
        hasattr(values, "__array__") or hasattr(values, "__iter__")
    ):
        raise LogicTypeError(
            f"The `values` of the domain '{domain}' are {_FORMS}; got a {type(values).__name__}: {values!r}."
        )
    return _checked(domain, _read(domain, values), values)


def restore_roster(domain: str, names: list[str], features: Any, named: bool) -> Roster:
    """The individuals of a domain that was saved."""
    array = _as_features(domain, features)
    if len(array) != len(names):
        raise LogicValueError(
            f"The domain '{domain}' needs a name for each individual; got {len(names)} for {len(array)}."
        )
    return _checked(domain, Roster(tuple(names), array, named), features)


def _checked(domain: str, roster: Roster, values: Any) -> Roster:
    if not roster.names:
        raise LogicValueError(f"The domain '{domain}' needs at least one individual; got {values!r}.")
    if not roster.features.size:
        raise LogicValueError(f"The individuals of '{domain}' need features; got {values!r}.")
    if not np.isfinite(roster.features).all():
        raise LogicValueError(
            f"The features of the domain '{domain}' must be finite float32; got {values!r}."
        )
    repeated = [name for name, count in Counter(roster.names).items() if count > 1]
    if repeated:
        raise LogicValueError(
            f"The individuals of '{domain}' must be distinct; repeated: {list_names(repeated)}."
        )
    return roster


def _read(domain: str, values: Any) -> Roster:
    if isinstance(values, Mapping):
        return _read_named(domain, list(values), _as_features(domain, list(values.values())))
    if not hasattr(values, "__array__"):
        values = list(values)
    elif np.asarray(values).dtype.kind in "UO":
        values = np.asarray(values).tolist()
    if isinstance(values, list) and any(isinstance(value, str) for value in values):
        # Names stand for classes, grounded on their index.
        return _read_named(domain, values, np.arange(len(values), dtype=np.float32)[:, np.newaxis])
    features = _as_features(domain, values)
    if np.ndim(values) == 1:
        return Roster(tuple(_numeral(value) for value in np.asarray(values)), features, named=False)
    return Roster(tuple(str(index) for index in range(len(features))), features, named=False)


def _read_named(domain: str, names: list[Any], features: Features) -> Roster:
    for name in names:
        if not isinstance(name, str):
            raise LogicTypeError(
                f"The names of individuals of '{domain}' must be strings; "
                f"got a {type(name).__name__}: {name!r}."
            )
    return Roster(tuple(str(name) for name in names), features, named=True)


def _as_features(domain: str, values: Any) -> Features:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise LogicValueError(
            f"The individuals of '{domain}' must have one shape; got {values!r}."
        ) from error
    if array.dtype.kind not in "biuf":
        raise LogicTypeError(f"The features of the domain '{domain}' must be numbers; got {values!r}.")
    if array.ndim == 0:
        raise LogicTypeError(
            f"The `values` of the domain '{domain}' are {_FORMS}; got the scalar {values!r}."
        )
    with np.errstate(over="ignore"):
        features = array.astype(np.float32)
    return features[:, np.newaxis] if array.ndim == 1 else features


def _numeral(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)
