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
        neutral: its truth where it ranges over nothing; None where that depends on its count.
        dual: the name of the kind Q' with ~Q x: phi = Q' x: ~phi; None where there is none.
        bounds: the arguments of the operator that its count is, "least" or "most"; none for a kind without.

    >>> QUANTIFIERS["forall"].dual, QUANTIFIERS["at least"].of_count(2)
    ('exists', {'least': 2})
    """

    name: str
    sign: str
    operator: str
    neutral: float | None = None
    dual: str | None = None
    bounds: tuple[str, ...] = ()

    def of_count(self, count: int | None) -> dict[str, int]:
        """The arguments of the operator that its count is."""
        return {} if count is None else dict.fromkeys(self.bounds, count)

    def of_nothing(self, count: int | None) -> float:
        """Its truth where it ranges over nothing."""
        return float(not self.of_count(count).get("least")) if self.neutral is None else self.neutral


FORALL = QuantifierKind("forall", sign="∀", operator="Forall", neutral=1.0, dual="exists")
EXISTS = QuantifierKind("exists", sign="∃", operator="Exists", neutral=0.0, dual="forall")

EXACTLY = QuantifierKind("exactly", sign="∃=", operator="Count", bounds=("least", "most"))
AT_LEAST = QuantifierKind("at least", sign="∃≥", operator="Count", bounds=("least",))
AT_MOST = QuantifierKind("at most", sign="∃≤", operator="Count", bounds=("most",))

QUANTIFIERS = {kind.name: kind for kind in (FORALL, EXISTS, EXACTLY, AT_LEAST, AT_MOST)}
# Those that a text tells by a count, and those without.
COUNTING = tuple(name for name, kind in QUANTIFIERS.items() if kind.bounds)
PLAIN_QUANTIFIERS = tuple(name for name in QUANTIFIERS if name not in COUNTING)
LARGEST_COUNT = 1_000_000

# The same as the terminal NAME of the grammar; a test compares them.
NAME = r"[^\W\d]\w*'*"
KEYWORDS = tuple(sorted(("and", "diag", "not", "or", "where", *PLAIN_QUANTIFIERS)))
# Keywords where no name can stand, and names elsewhere: `exactly 1`, `at least 2`, `at most 3`, `A xor B`.
SOFT_KEYWORDS = ("at", "exactly", "least", "most", "xor")
# The Euclidean norm of a term, a number; and the absolute value, feature by feature.
BUILT_INS = ("abs", "norm")


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
