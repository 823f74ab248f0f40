"""Names of the language: keywords and quantifiers, which names are legal, the nearest to a misspelt one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ltn.errors import LogicTypeError, LogicValueError


@dataclass(frozen=True)
class QuantifierKind:
    """One kind of quantifier.

    Attributes:
        name: its keyword, which is the `kind` of a `Quantifier`.
        sign: how mathematics writes it.
        operator: the field of a semantics that holds its aggregator.
        neutral: its truth where it ranges over nothing.
        dual: the name of the kind Q' with ~Q x: phi = Q' x: ~phi.

    >>> QUANTIFIERS["forall"].dual
    'exists'
    """

    name: str
    sign: str
    operator: str
    neutral: float
    dual: str


FORALL = QuantifierKind("forall", sign="∀", operator="Forall", neutral=1.0, dual="exists")
EXISTS = QuantifierKind("exists", sign="∃", operator="Exists", neutral=0.0, dual="forall")

QUANTIFIERS = {kind.name: kind for kind in (FORALL, EXISTS)}

# The same as the terminal NAME of the grammar; a test compares them.
NAME = r"[^\W\d]\w*'*"
KEYWORDS = tuple(sorted(("and", "diag", "not", "or", "where", *QUANTIFIERS)))
# The Euclidean norm of a term, a number; and the absolute value, feature by feature.
BUILT_INS = ("abs", "norm")

# The most tuples that a quantifier draws; an int32 counts them.
MOST_DRAWN = 2**27


def check_option(option: str, value: float) -> None:
    """Raise for a `sample` that is no number of tuples; an operator checks its own options."""
    if option == "sample" and not (float(value).is_integer() and 1 <= value <= MOST_DRAWN):
        raise LogicValueError(
            "`sample` is how many tuples are drawn in a training step, a whole number from 1 to "
            f"{MOST_DRAWN:,}; got {value:.15g}. Leave it out to take all of them."
        )


def check_name(name: str, what: str) -> None:
    """Raise unless the grammar reads `name` as a name; `what` says whose it is."""
    if not isinstance(name, str):
        raise LogicTypeError(f"The name of {what} must be a string; got a {type(name).__name__}: {name!r}.")
    if not re.fullmatch(NAME, name):
        raise LogicValueError(
            f"{name!r} cannot name {what}: a name begins with a letter or an underscore, followed by "
            "letters, digits and underscores, and by primes (') at its end."
        )
    if name in KEYWORDS:
        raise LogicValueError(
            f"{name!r} cannot name {what}: it is a keyword of the language; they are {', '.join(KEYWORDS)}."
        )


def names_of(text: str) -> list[str]:
    """The names in a text such as "x, y": separated by commas, by spaces, or by both.

    >>> names_of("x, y z")
    ['x', 'y', 'z']
    """
    if not isinstance(text, str):
        raise LogicTypeError(
            f"Names are given as one string, as 'x, y'; got a {type(text).__name__}: {text!r}."
        )
    names = re.split(r"[,\s]+", text.strip(", \t\n"))
    if names == [""]:
        raise LogicValueError(
            f"There is no name in {text!r}; write names with commas between them, as 'x, y'."
        )
    return names


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like the name, regardless of case; None if none is near."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None


def list_names(names: Sequence[str], most: int = 8) -> str:
    """The names with commas between them; if there are many, the first two and the last.

    >>> list_names([str(number) for number in range(100)])
    '0, 1, ..., 99'
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, ..., {names[-1]}"
