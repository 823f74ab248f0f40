"""Names of the language: keywords and quantifiers, how a name is written, the nearest to a misspelt one.

A name holds any characters but control characters and line breaks. In Python it is given as it is, and shown
so in tables and pictures. In a text it stands plainly if it is made of letters, digits and underscores, else
in quotes.
"""

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

# A name that needs no quotes, unless it is a keyword.
PLAIN = r"[^\W\d]\w*'*"
# A name in quotes; inside, a backslash stands before a quote and before a backslash.
_QUOTED = r"'(?:\\.|(?!['\\]).)*'"
# The same as the terminal NAME of the grammar; a test compares them.
NAME = rf"(?:{PLAIN}|{_QUOTED})"
KEYWORDS = tuple(sorted(("and", "diag", "not", "or", "where", *PLAIN_QUANTIFIERS)))
# Keywords where no name can stand, and names elsewhere, as in `exactly 1`, `at least 2`, `A xor B`.
SOFT_KEYWORDS = ("at", "define", "exactly", "for", "least", "most", "xor")
# The Euclidean norm of a term, a number; and the absolute value, feature by feature.
BUILT_INS = ("abs", "norm")

# The most tuples that a quantifier draws; an int32 counts them.
MOST_DRAWN = 2**27


def check_option(kind: str, option: str, value: float) -> None:
    """Raise for a `sample` that is no number of tuples; an operator checks its own options."""
    if option == "sample" and kind in COUNTING:
        raise LogicValueError(f"`{kind}` counts all that there are: leave out `sample`.")
    if option == "sample" and not (float(value).is_integer() and 1 <= value <= MOST_DRAWN):
        raise LogicValueError(
            "`sample` is how many tuples are drawn in a training step, a whole number from 1 to "
            f"{MOST_DRAWN:,}; got {value:.15g}. Leave it out to take all of them."
        )


# Control characters, line breaks, and halves of characters, which no file can hold.
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PIECE = re.compile(rf"{_QUOTED}(?=[,\s]|$)|[^,\s]+")


def check_name(name: str, what: str) -> None:
    """Raise unless `name` can be a name; `what` says whose it is."""
    if not isinstance(name, str):
        raise LogicTypeError(f"The name of {what} must be a string; got a {type(name).__name__}: {name!r}.")
    if not name or _REFUSED.search(name):
        raise LogicValueError(
            f"{name!r} cannot name {what}: a name has at least one character, and neither line breaks nor "
            "other control characters."
        )


def written(name: str) -> str:
    """The name as a text holds it: in quotes if it needs them.

    >>> print(written("lives_in"), written("co-occurs_with"), written("or"), written("L'Aquila"))
    lives_in 'co-occurs_with' 'or' 'L\\'Aquila'
    """
    if re.fullmatch(PLAIN, name) and name not in KEYWORDS:
        return name
    return "'" + re.sub(r"(['\\])", r"\\\1", name) + "'"


def axis_text(variables: Sequence[str]) -> str:
    """The variables of one axis as a text holds them: one variable, or those of a `diag`.

    >>> axis_text(["x"]), axis_text(["x", "New York"])
    ('x', "diag(x, 'New York')")
    """
    names = ", ".join(map(written, variables))
    return names if len(variables) == 1 else f"diag({names})"


def read_name(text: str) -> str:
    """The name that stands in a text, plainly or in quotes; the inverse of `written`.

    >>> read_name("'/m/08966'")
    '/m/08966'
    """
    if not text.startswith("'"):
        return str(text)
    inner = text[1:-1]
    if re.search(r"\\[^'\\]", inner.replace("\\\\", "")):
        raise LogicValueError(
            "In quotes a backslash stands before a quote or a backslash; for a backslash write two."
        )
    name = re.sub(r"\\(['\\])", r"\1", inner)
    check_name(name, "anything")
    return name


def names_of(names: str | Sequence[str]) -> list[str]:
    """The names in a text such as "x, y", separated by commas, by spaces, or by both; or those of a list.

    In a text, names stand in quotes if they need them; in a list they stand as they are.

    >>> names_of("x, y 'New York'"), names_of(["x", "New York"])
    (['x', 'y', 'New York'], ['x', 'New York'])
    """
    if not isinstance(names, str):
        if not isinstance(names, Sequence):
            raise LogicTypeError(
                f"Names are one string, as 'a, b', or a list; got a {type(names).__name__}: {names!r}."
            )
        if not names:
            raise LogicValueError("There is no name in the list.")
        return list(names)
    pieces = _PIECE.findall(names)
    if not pieces:
        raise LogicValueError(
            f"There is no name in {names!r}; write names with commas between them, as 'x, y'."
        )
    for piece in pieces:
        if not re.fullmatch(NAME, piece) or piece in KEYWORDS:
            raise LogicValueError(
                f"{piece!r} in {names!r} needs quotes, {written(piece)}: without them a name begins with a "
                "letter or an underscore, has letters, digits, underscores, perhaps primes (') at its end, "
                f"and is none of the keywords {', '.join(KEYWORDS)}."
            )
    return [read_name(piece) for piece in pieces]


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
