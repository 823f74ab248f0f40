"""Errors about a tree: each shows the text and points at the place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.diagnostics import located
from ltn.language.names import listed, nearest
from ltn.language.syntax import Name
from ltn.language.tree import Node, Span
from ltn.language.vocabulary import Vocabulary

_LONGEST_QUOTE = 60


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
