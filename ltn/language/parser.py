"""Text as trees: one formula or term, or many formulas with labels."""

from __future__ import annotations

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import layout
from ltn.language.diagnostics import located
from ltn.language.reader import MisreadError, read
from ltn.language.tree import Node, Span


def parse(text: str) -> Node:
    """Read one formula or term.

    Names are not looked up: `Signature.check_formula` and `Signature.check_term` do that.

    >>> parse("∀x: P(x) → ¬Q(x)")
    Quantifier('forall x: P(x) -> ~Q(x)')
    >>> parse("forall x P(x)")
    Traceback (most recent call last):
    ...
    ltn.errors.LogicValueError: Expected ',', 'where' or ':', found 'P'.
        forall x P(x)
                 ^
    """
    _check_text(text)
    try:
        return read(text)
    except MisreadError as error:
        raise LogicValueError(located(error.message, text, error.span)) from None


def parse_many(text: str) -> list[tuple[str | None, Node, str]]:
    """Read the formulas of a text: the label of each, or None, its tree, and its own text.

    A formula begins at the start of a line, apart from the indentation that all lines share; lines that are
    indented further continue it. It may have a label. Empty lines, and what follows a `#`, are skipped. The
    spans of a tree refer to the formula's own text.

    >>> for label, formula, source in parse_many('''
    ...     # friendship
    ...     symmetric: forall x, y:
    ...         F(x, y) -> F(y, x)
    ...     ~F(a, a)  # nobody is a friend of himself
    ... '''):
    ...     print(label, "|", formula)
    symmetric | forall x, y: F(x, y) -> F(y, x)
    None | ~F(a, a)
    """
    _check_text(text)
    text = layout.plain(text)
    formulas = []
    try:
        entries = layout.entries(text)
        for position, entry in enumerate(entries):
            try:
                formulas.append((entry.label, read(entry.source), entry.source))
            except MisreadError as error:
                start, end = error.span
                hint = _hint(entry, start, is_first=position == 0, is_last=entry is entries[-1])
                raise MisreadError(
                    error.message + hint, Span(entry.offset + start, entry.offset + end)
                ) from None
    except MisreadError as error:
        raise LogicValueError(located(error.message, text, error.span)) from None
    return formulas


def _hint(entry: layout.Entry, place: int, is_first: bool, is_last: bool) -> str:
    """What to do if the mistake is one of layout."""
    if place == 0 and entry.label is None and not is_first:
        return " To continue the formula above, indent the line."
    if place >= len(entry.source) and not is_last:
        return " If it continues on the next line, indent that line."
    _, broken, indentation = entry.source[:place].rpartition("\n")
    if broken and not indentation.strip():
        return " An indented line continues the formula above it: a new one begins at the start of a line."
    return ""


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise LogicTypeError(f"A formula is read from a string; got a {type(text).__name__}: {text!r}.")
