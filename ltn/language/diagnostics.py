"""Messages that show the text and point at the place."""

from __future__ import annotations

from ltn.language.printer import text
from ltn.language.reader import read
from ltn.language.tree import Node, Span

# Longer lines are cut around the place.
WIDTH = 100
INDENT = "    "


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


def with_source(node: Node, source: str) -> tuple[Node, str]:
    """The tree and the text that its spans refer to: without a text, the tree is printed and read again."""
    if source:
        return node, source
    source = text(node)
    return read(source), source
