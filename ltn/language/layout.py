"""How several formulas stand in one text: each begins at the start of a line, indented lines continue it."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from ltn.errors import LogicValueError
from ltn.language.names import KEYWORDS, NAME, read_name
from ltn.language.syntax_errors import MisreadError
from ltn.language.tree import Span

_LABEL = re.compile(rf"({NAME})[ \t]*(?:\[([^\]\n]*)\][ \t]*)?:(?:\s|#[^\n]*)*")
# In a name in quotes a `#` begins no comment.
_BEFORE_COMMENT = re.compile(rf"(?:{NAME}|[^#])*")


class Entry(NamedTuple):
    """One formula of a text.

    Attributes:
        label: its name, if it has one.
        text: its own text.
        offset: where that begins in the whole.
        settings: what stands in brackets behind the label.
        place: where the label and its settings stand, or the formula where there is no label.
    """

    label: str | None
    text: str
    offset: int
    settings: str
    place: Span


def clean(text: str) -> str:
    """The text without lines that are comments, and without the indentation that all lines share.

    Comments leave empty lines behind, so that the numbers of lines stay.
    """
    return textwrap.dedent(re.sub(r"(?m)^[ \t]*#.*$", "", text.replace("\r\n", "\n")))


def entries(text: str) -> list[Entry]:
    """The formulas of a clean text, not yet parsed."""
    found: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        end = start + len(_before_comment(line).rstrip())
        if line.strip():
            if not line[0].isspace():
                found.append((start, end))
            elif found:
                found[-1] = (found[-1][0], end)
            else:
                first = start + len(line) - len(line.lstrip())
                raise MisreadError(
                    "An indented line continues the formula above it, and there is none. Begin each formula "
                    "at the start of a line.",
                    Span(first, end),
                )
        start += len(line) + 1
    return [_entry(text, start, end) for start, end in found]


def _before_comment(line: str) -> str:
    found = _BEFORE_COMMENT.match(line) if "#" in line else None
    return line if found is None else found[0]


def _entry(text: str, start: int, end: int) -> Entry:
    label = _LABEL.match(text, start, end)
    if label is None or label[1] in KEYWORDS:
        return Entry(None, text[start:end], start, "", Span(start, end))
    if label.end() == end:
        raise MisreadError(
            f"The label '{label[1]}' stands alone; write its formula behind it, or below it and indented.",
            Span(*label.span(1)),
        )
    place = Span(start, label.end(2) + 1 if label[2] is not None else label.end(1))
    try:
        name = read_name(label[1])
    except LogicValueError as error:
        raise MisreadError(str(error), Span(*label.span(1))) from None
    return Entry(name, text[label.end() : end], label.end(), label[2] or "", place)
