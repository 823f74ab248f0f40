"""Errors about a text or a tree: each shows the text and points at the place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import listed, nearest
from ltn.language.sorts import Vocabulary
from ltn.language.syntax import Name
from ltn.language.tree import Node, Span

# Longer lines are cut around the place.
WIDTH = 100
INDENT = "    "
_LONGEST_QUOTE = 60


def located(message: str, source: str, span: Span | None) -> str:
    """The message, below it the line where the span begins, and carets under the span.

    Of a text of several lines, the line's number is told.

    >>> print(located("There is no variable 'z'.", "forall x: P(z)", Span(12, 13)))
    There is no variable 'z'.
        forall x: P(z)
                    ^
    """
    if not source.strip():
        return message
    if span is None:
        return f"{message}\n{INDENT}{source}"
    start = min(span.start, len(source))
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", start)
    line = source[first : len(source) if last < 0 else last].rstrip()
    column = start - first
    width = max(1, min(span.end - start, len(line) - column))
    number = f"line {source.count(chr(10), 0, first) + 1}: " if "\n" in source else ""
    shown, column, width = _cut(line, column, width)
    # A tab stays a tab, so that the carets stand below the place.
    before = "".join("\t" if character == "\t" else " " for character in shown[:column].ljust(column))
    return f"{message}\n{INDENT}{number}{shown}\n{INDENT}{' ' * len(number)}{before}{'^' * width}"


def _cut(line: str, column: int, width: int) -> tuple[str, int, int]:
    first = max(0, min(column - WIDTH // 3, len(line) - WIDTH))
    left = "..." if first else ""
    right = "..." if first + WIDTH < len(line) else ""
    shown = left + line[first : first + WIDTH] + right
    return shown, column - first + len(left), max(1, min(width, first + WIDTH - column))


class Complaints:
    """Raises the errors about one text."""

    def __init__(self, vocabulary: Vocabulary, source: str):
        self.vocabulary = vocabulary
        self.source = source

    def of_type(self, message: str, place: Node | Span | None) -> NoReturn:
        """Something is of the wrong sort, domain or arity."""
        raise LogicTypeError(located(message, self.source, _span(place)))

    def of_value(self, message: str, place: Node | Span | None) -> NoReturn:
        """Something is unknown or stands where it may not."""
        raise LogicValueError(located(message, self.source, _span(place)))

    def unknown(self, name: str, what: str, known: Sequence[str], place: Node | Span | None) -> NoReturn:
        """There is no such name; perhaps another was meant."""
        suggestion = nearest(name, known)
        if suggestion is not None:
            hint = f"did you mean '{suggestion}'?"
        elif name in self.vocabulary.domains:
            hint = "it is a domain: declare a variable of it."
        else:
            hint = f"declared: {listed(known)}." if known else "none is declared."
        self.of_value(f"There is no {what} '{name}'; {hint}", place)


def quoted(node: Node) -> str:
    """The node as it is shown in messages."""
    if isinstance(node, Name):
        return f"'{node.name}'"
    text = str(node)
    return f"`{text}`" if len(text) <= _LONGEST_QUOTE else f"`{text[:_LONGEST_QUOTE].rstrip()}...`"


def _span(place: Node | Span | None) -> Span | None:
    return place.span if isinstance(place, Node) else place
