"""Errors about a text or a tree: each shows the text and points at the place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import list_names, nearest, written
from ltn.language.sorts import Vocabulary
from ltn.language.syntax import Name, Quantifier
from ltn.language.tree import Node, Span

# Longer lines are cut around the place.
WIDTH = 100
INDENT = "    "
_LONGEST_QUOTE = 60


def locate(message: str, text: str, span: Span | None) -> str:
    """The message, then the line where the span begins, and carets under the span.

    If the text has several lines, the number of the line is shown.

    >>> print(locate("There is no variable 'z'.", "forall x: P(z)", Span(12, 13)))
    There is no variable 'z'.
        forall x: P(z)
                    ^
    """
    if not text.strip():
        return message
    if span is None:
        return f"{message}\n{INDENT}{text}"
    start = min(span.start, len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : len(text) if last < 0 else last].rstrip()
    column = start - first
    width = max(1, min(span.end - start, len(line) - column))
    number = f"line {text.count(chr(10), 0, first) + 1}: " if "\n" in text else ""
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

    def __init__(self, vocabulary: Vocabulary, text: str):
        self.vocabulary = vocabulary
        self.text = text

    def of_type(self, message: str, place: Node | Span | None) -> NoReturn:
        """Something is of the wrong sort, domain or arity."""
        raise LogicTypeError(locate(message, self.text, _span(place)))

    def of_value(self, message: str, place: Node | Span | None) -> NoReturn:
        """Something is unknown or stands where it may not."""
        raise LogicValueError(locate(message, self.text, _span(place)))

    def of_name(self, name: str, what: str, known: Sequence[str], place: Node | Span | None) -> NoReturn:
        """There is no such name; perhaps another was meant."""
        suggestion = nearest(name, known)
        unquoted = self._unquoted(name, place)
        if unquoted is not None:
            hint = f"did you mean {written(unquoted)}, in quotes?"
        elif suggestion is not None:
            hint = f"did you mean '{suggestion}'?"
        elif name in self.vocabulary.domains:
            hint = "it is a domain: declare a variable of it."
        else:
            hint = f"declared: {list_names(list(map(written, known)))}." if known else "none is declared."
        self.of_value(f"There is no {what} '{name}'; {hint}", place)

    def _unquoted(self, beginning: str, place: Node | Span | None) -> str | None:
        """The declared name that stands at a place without the quotes that it needs."""
        span, vocabulary = _span(place), self.vocabulary
        kinds = (
            vocabulary.constants,
            vocabulary.variables,
            vocabulary.functions,
            vocabulary.predicates,
            vocabulary.propositions,
            vocabulary.definitions,
        )
        found = (
            name
            for declared in kinds
            for name in declared
            if name.startswith(beginning)
            and name != beginning
            and span is not None
            and self.text.startswith(name, span.start)
        )
        return max(found, key=len, default=None)


def quote(node: Node) -> str:
    """The node as messages show it."""
    if isinstance(node, Name):
        return f"'{node.name}'"
    text = str(node)
    return f"`{text}`" if len(text) <= _LONGEST_QUOTE else f"`{text[:_LONGEST_QUOTE].rstrip()}...`"


def span_of_options(node: Quantifier, text: str) -> Span | None:
    """Where the sign of a quantifier and its options stand in the text that it was read from."""
    return node.span and Span(node.span.start, text.index("]", node.span.start) + 1)


def _span(place: Node | Span | None) -> Span | None:
    return place.span if isinstance(place, Node) else place
