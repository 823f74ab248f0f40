"""Domains: the types of the individuals that terms denote, and the shapes of their features."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.forms import NUMBER as A_NUMBER
from ltn.language.forms import check_form
from ltn.language.names import list_names, written
from ltn.language.rosters import Features, Roster, read_roster, restore_roster

Shape = tuple[int | None, ...]

# A number is a vector of one feature.
NUMBER: Shape = (1,)

Bounds = tuple[float, float] | str

# A gigabyte of float32.
_MOST_FEATURES = 2**28

# Softmax and sums of probabilities leave their bounds by a few units in the last place of float32.
ROUNDING = 1e-5

# What `get_config` gives.
_FORM = {
    "name": str,
    "shape": [(int, None)],
    "names": (None, [str]),
    "features": (None, list),
    "named": bool,
    "bounds": (None, str, [A_NUMBER]),
    "equality": str,
    "alpha": A_NUMBER,
}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Domain:
    """A set of individuals, each a tensor of features; two domains are the same only if they are one object.

    Args:
        name: its name.
        shape: the shape of the features of an individual, with None for unknown sizes. A number is a vector
            of size 1, which is the default.
        values: the individuals, if the domain is finite: a range or list of numbers; a list of names,
            grounded by their position, a class index; a dict from names to features; or an array (k, *shape).
        bounds: (low, high) for all features, or "simplex": not negative, with the sum 1.
        equality: what `t1 = t2` means outside guards: "strict", or "smooth" for exp(-alpha * distance).
        alpha: how quickly a smooth equality falls.

    Attributes:
        names: the names of the individuals of a finite domain, numerals if none were given; otherwise None.
        features: their features, float32 of shape (k, *shape); otherwise None.
        named: whether the names were given, so that they are constants of the language.
        parts: the factors of a product of domains; otherwise empty.

    >>> digits = Domain("digits", values=range(10))
    >>> digits
    Domain('digits', shape=(1,), 10 individuals)
    >>> Domain("people", shape=4) * Domain("towns", values=["Rome", "Seoul"])
    Domain('people * towns', shape=(5,))
    """

    name: str
    shape: Shape
    names: tuple[str, ...] | None
    features: Features | None
    named: bool
    bounds: Bounds | None
    equality: str
    alpha: float
    parts: tuple[Domain, ...]

    def __init__(
        self,
        name: str,
        shape: int | Sequence[int | None] = (),
        values: Any = None,
        bounds: Any = None,
        equality: str = "strict",
        alpha: float = 1.0,
    ):
        if not isinstance(name, str) or not name:
            raise LogicTypeError(f"The name of a domain must be a non-empty string; got {name!r}.")
        roster = None if values is None else read_roster(name, values)
        given = as_shape(shape, f"the domain '{name}'")
        self._set(
            name=name,
            shape=given or NUMBER if roster is None else _agreed_shape(name, given, roster),
            names=None if roster is None else roster.names,
            features=None if roster is None else _freeze(roster.features),
            named=roster is not None and roster.named,
            equality=_as_equality(name, equality),
            alpha=_as_alpha(name, alpha),
            parts=(),
        )
        self._set(bounds=_as_bounds(self, bounds))
        if roster is not None and not self.contains(roster.features).all():
            outside = np.flatnonzero(~self.contains(roster.features))
            raise LogicValueError(
                f"Individuals of '{name}' lie outside its bounds {self.bounds}: "
                f"{list_names([roster.names[index] for index in outside])}."
            )

    def _set(self, **attributes: Any) -> None:
        for attribute, value in attributes.items():
            object.__setattr__(self, attribute, value)

    def __mul__(self, other: Domain) -> Domain:
        if not isinstance(other, Domain):
            raise LogicTypeError(f"The product is of domains; got a {type(other).__name__}: {other!r}.")
        parts = (*self.flat, *other.flat)
        same = len({(part.equality, part.alpha) for part in parts}) == 1
        product = object.__new__(Domain)
        product._set(
            name=" * ".join(written(part.name) for part in parts),
            shape=(sum(_size(part) for part in parts),),
            names=None,
            features=None,
            named=False,
            bounds=None,
            equality=self.equality if same else "strict",
            alpha=self.alpha if same else 1.0,
            parts=parts,
        )
        return product

    def __repr__(self) -> str:
        said = [repr(self.name), f"shape={self.shape}"]
        if self.names is not None:
            said.append(f"{len(self.names)} individual{'s' if len(self.names) > 1 else ''}")
        if self.bounds is not None:
            said.append(f"bounds={self.bounds!r}")
        if self.equality == "smooth":
            said.append(f"equality='smooth', alpha={self.alpha:g}")
        return f"Domain({', '.join(said)})"

    @property
    def flat(self) -> tuple[Domain, ...]:
        """The parts of a product; otherwise the domain alone.

        >>> people, towns = Domain("people"), Domain("towns")
        >>> (people * towns).flat == (people, towns), people.flat == (people,)
        (True, True)
        """
        return self.parts or (self,)

    @property
    def is_bounded(self) -> bool:
        """Whether it, or a part of it, has bounds."""
        return any(part.bounds is not None for part in self.flat)

    def is_same(self, other: Domain | None) -> bool:
        """Whether the other is this domain, or a product of the same parts."""
        return other is self or (other is not None and bool(self.parts) and self.parts == other.parts)

    def contains(self, features: Any) -> NDArray[np.bool_]:
        """Whether individuals lie within the bounds, up to rounding.

        Args:
            features: their features, shape (n, *shape).

        >>> Domain("colours", shape=3, bounds="simplex").contains([[0.5, 0.5, 0.0], [1.0, 0.5, 0.0]])
        array([ True, False])
        """
        try:
            values = np.asarray(features, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise LogicTypeError(
                f"Individuals of '{self.name}' are numbers of one shape; got {features!r:.200}."
            ) from error
        if values.ndim != len(self.shape) + 1 or not fits(values.shape[1:], self.shape):
            raise LogicValueError(
                f"Individuals of '{self.name}' have the features {self.shape}, n of them an array "
                f"(n, *features); got the shape {values.shape}."
            )
        if self.parts:
            ends = np.cumsum([_size(part) for part in self.parts])[:-1]
            pieces = zip(self.parts, np.split(values, ends, axis=1), strict=True)
            inside = [part.contains(piece.reshape(-1, *part.shape)) for part, piece in pieces]
            return np.all(inside, axis=0)
        rows = values.reshape(len(values), math.prod(values.shape[1:]))
        if self.bounds is None:
            return np.ones(len(rows), dtype=np.bool_)
        if isinstance(self.bounds, str):
            return np.all(rows >= -ROUNDING, axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= ROUNDING)
        low, high = self.bounds
        return np.all((rows >= low - ROUNDING) & (rows <= high + ROUNDING), axis=1)

    def has(self, features: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Which features, (n, *shape), are those of an individual of this finite domain.

        >>> Domain("digits", values=range(10)).has(np.float32([[3], [3.5], [10]]))
        array([ True, False, False])
        """
        return np.fromiter((row in self._rows for row in _as_bytes(features)), np.bool_, len(features))

    @functools.cached_property
    def _rows(self) -> frozenset[bytes]:
        return frozenset(() if self.features is None else _as_bytes(self.features))

    def get_config(self) -> dict[str, Any]:
        """What `from_config` needs, for JSON; for a product, the names of its parts.

        >>> Domain.from_config(Domain("digits", values=range(10)).get_config())
        Domain('digits', shape=(1,), 10 individuals)
        """
        if self.parts:
            return {"parts": [part.name for part in self.parts]}
        return {
            "name": self.name,
            "shape": list(self.shape),
            "names": None if self.names is None else list(self.names),
            "features": None if self.features is None else self.features.tolist(),
            "named": self.named,
            "bounds": list(self.bounds) if isinstance(self.bounds, tuple) else self.bounds,
            "equality": self.equality,
            "alpha": self.alpha,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Domain:
        """The domain that `get_config` describes; a product is restored by its signature."""
        if isinstance(config, Mapping) and "parts" in config:
            raise LogicValueError(
                f"A product is made of the domains {config['parts']} themselves: restore it with `*`, or the "
                "whole signature with Signature.from_config."
            )
        check_form(config, _FORM, "domain")
        values = None
        if config["names"] is not None:
            values = restore_roster(config["name"], config["names"], config["features"], config["named"])
        bounds = tuple(config["bounds"]) if isinstance(config["bounds"], list) else config["bounds"]
        return cls(config["name"], config["shape"], values, bounds, config["equality"], config["alpha"])


def as_shape(shape: Any, what: str) -> Shape:
    """The shape as a tuple, from an int or a sequence of ints and None; `what` says whose it is."""
    try:
        sizes = (shape,) if hasattr(shape, "__index__") else tuple(shape)
        checked = tuple(None if size is None else operator.index(size) for size in sizes)
    except TypeError as error:
        raise LogicTypeError(
            f"The `shape` of {what} must be an int, or a tuple of ints and None; got {shape!r}."
        ) from error
    if any(size is not None and size < 1 for size in checked):
        raise LogicValueError(f"The sizes in the `shape` of {what} must be at least 1; got {shape!r}.")
    if math.prod(size for size in checked if size is not None) > _MOST_FEATURES:
        raise LogicValueError(
            f"The `shape` of {what} has more than {_MOST_FEATURES} features, a gigabyte for one individual; "
            f"got {shape!r}."
        )
    return checked


def fits(one: Shape, two: Shape) -> bool:
    """Whether the shapes may be equal.

    >>> fits((None, 3), (2, 3)), fits((1,), (2,))
    (True, False)
    """
    return len(one) == len(two) and all(
        a == b or a is None or b is None for a, b in zip(one, two, strict=True)
    )


def broadcast(one: Shape, two: Shape) -> Shape | None:
    """The shape of arithmetic on features of these shapes, one of which may be a number's; or None.

    >>> broadcast((1,), (28, 28)), broadcast((None,), (3,)), broadcast((2,), (3,))
    ((28, 28), (3,), None)
    """
    if NUMBER in (one, two):
        return two if one == NUMBER else one
    if not fits(one, two):
        return None
    return tuple(b if a is None else a for a, b in zip(one, two, strict=True))


def _agreed_shape(name: str, given: Shape, roster: Roster) -> Shape:
    shape = roster.features.shape[1:]
    if given and not fits(given, shape):
        raise LogicValueError(
            f"The domain '{name}' has the `shape` {given}, but its `values` have the features {shape}; "
            "leave `shape` out, or make them agree."
        )
    return shape


def _as_bounds(domain: Domain, bounds: Any) -> Bounds | None:
    if bounds is None:
        return None
    if isinstance(bounds, str):
        if bounds == "simplex" and len(domain.shape) == 1:
            return bounds
        if bounds == "simplex":
            raise LogicValueError(
                f"A simplex has one axis of features; the domain '{domain.name}' has the shape "
                f"{domain.shape}."
            )
    elif isinstance(bounds, list | tuple) and len(bounds) == 2:
        try:
            low, high = (float(bound) for bound in bounds)
        except (TypeError, ValueError):
            pass
        else:
            if low <= high:
                return low, high
    raise LogicValueError(
        f"The `bounds` of the domain '{domain.name}' are two numbers, (low, high), or 'simplex'; "
        f"got {bounds!r}."
    )


def _as_equality(name: str, equality: str) -> str:
    if not isinstance(equality, str) or equality not in ("strict", "smooth"):
        raise LogicValueError(
            f"The `equality` of the domain '{name}' must be 'strict' or 'smooth'; got {equality!r}."
        )
    return equality


def _as_alpha(name: str, alpha: float) -> float:
    is_number = isinstance(alpha, int | float | np.number) and not isinstance(alpha, bool)
    if not is_number or not 0.0 < alpha <= float(np.finfo(np.float32).max):
        raise LogicValueError(f"The `alpha` of the domain '{name}' must be a number above 0; got {alpha!r}.")
    return float(alpha)


def _size(domain: Domain) -> int:
    """The number of features."""
    if None in domain.shape:
        raise LogicValueError(
            f"A product needs domains of known shapes; '{domain.name}' has the shape {domain.shape}."
        )
    return math.prod(size for size in domain.shape if size is not None)


def _as_bytes(features: Features) -> list[bytes]:
    """Each row as bytes, which are equal where its numbers are: adding 0 makes 0 of -0."""
    size = math.prod(features.shape[1:])
    rows = np.ascontiguousarray(features.reshape(len(features), size) + np.float32(0.0))
    whole: list[Any] = rows.view(np.dtype((np.void, rows.itemsize * size))).ravel().tolist()
    return whole


def _freeze(features: Features) -> Features:
    features = features.copy()
    features.flags.writeable = False
    return features
