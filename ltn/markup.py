"""HTML for notebooks: tables, and bars of truth. What is not markup already is escaped.

Colours are translucent and text keeps the colour of the page, so that it is legible on light and dark ones.
There are no scripts, and no styles that would reach beyond a cell.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

_BAR = "rgba(67, 147, 195, 0.4)"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def markup(part: Any) -> Markup:
    """A part of a page: markup as it is, anything else as escaped text.

    >>> markup("x < y"), markup(Markup("<b>x</b>"))
    ('x &lt; y', '<b>x</b>')
    """
    return part if isinstance(part, Markup) else Markup(html.escape(str(part)))


def join(parts: Iterable[Any], between: str) -> Markup:
    """Parts of a page with markup between them.

    >>> join(["a & b", "c"], "<br>")
    'a &amp; b<br>c'
    """
    return Markup(between.join(map(markup, parts)))


def element(tag: str, *parts: Any, style: str = "") -> Markup:
    """An element around some parts.

    >>> element("b", "a & b", style="color: red")
    '<b style="color: red">a &amp; b</b>'
    """
    attribute = f' style="{html.escape(style)}"' if style else ""
    return Markup(f"<{tag}{attribute}>{''.join(map(markup, parts))}</{tag}>")


def bar(truth: float | None, note: str = "") -> Markup:
    """The cell of a truth value, a number on a bar of that length; empty for None.

    A number that is no truth value has no bar.

    >>> "50.0%" in bar(0.5), "%" in bar(2.0)
    (True, False)
    """
    style = "text-align: left; min-width: 6em;"
    if truth is None:
        return element("td", style=style)
    if 0.0 <= truth <= 1.0:
        share = f"{100.0 * truth:.1f}%"
        style += f" background: linear-gradient(to right, {_BAR} {share}, transparent {share});"
    return element("td", f"{truth:.3f}{note}", style=style)


def cell(part: Any) -> Markup:
    """The cell of a table; a cell that was made already, such as a bar, stays as it is.

    >>> cell("x < y")
    '<td style="text-align: left">x &lt; y</td>'
    """
    if isinstance(part, Markup) and part.startswith(("<td", "<th")):
        return part
    return element("td", part, style="text-align: left")


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table; an empty header is left out.

    >>> table([], [[element("th", "A")]])
    '<table><tbody><tr><th>A</th></tr></tbody></table>'
    """
    titles = (element("th", title, style="text-align: left") for title in header)
    head = [element("thead", element("tr", *titles))] if header else []
    return element("table", *head, element("tbody", *(element("tr", *map(cell, row)) for row in rows)))


def frame_table(frame: pd.DataFrame, show: Callable[[Any, Any], Any]) -> Markup:
    """A table of a DataFrame with its index; `show` tells how a value of a column is shown.

    >>> "<td" in frame_table(pd.DataFrame({"truth": [0.5]}), lambda column, value: bar(value))
    True
    """
    labels = frame.index.to_frame(index=False)
    header = [*(name or "" for name in frame.index.names), *frame.columns]
    # With the index: without it pandas 2 has no rows where there are no columns.
    rows = zip(labels.itertuples(index=False, name=None), frame.itertuples(name=None), strict=True)
    return table(
        header,
        (
            [*(element("th", label) for label in of_row), *map(show, frame.columns, values)]
            for of_row, (_, *values) in rows
        ),
    )
