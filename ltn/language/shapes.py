"""Shapes of features, with None for sizes that are not known."""

from __future__ import annotations

import operator
from typing import Any

from ltn.errors import LogicTypeError, LogicValueError

Shape = tuple[int | None, ...]

# A number is a vector of one feature.
NUMBER: Shape = (1,)


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
    """The shape of arithmetic on features of these shapes, either of which may be a number's; None if none.

    >>> broadcast((1,), (28, 28)), broadcast((None,), (3,)), broadcast((2,), (3,))
    ((28, 28), (3,), None)
    """
    if NUMBER in (one, two):
        return two if one == NUMBER else one
    if not fits(one, two):
        return None
    return tuple(b if a is None else a for a, b in zip(one, two, strict=True))
