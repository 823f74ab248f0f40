"""The table of a report: a DataFrame that shows bars in notebooks, and fits on a line where it is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from ltn.language.parser import in_signs
from ltn.markup import bar, element, frame_table

# The width of a line where pandas sets none, and what a formula is cut to at the least.
_WIDTH, _LEAST = 80, 10


class Report(pd.DataFrame):
    """A DataFrame with the columns of a report; in all but its looks it is like any other.

    >>> report = Report({"axiom": ["all"], "satisfaction": [0.5], "weight": [1.0], "formula": ["A & B"]})
    >>> print(report)
      axiom  satisfaction  weight formula
    0   all           0.5     1.0   A & B
    """

    @property
    def _constructor(self) -> Callable[..., Report]:
        # What pandas makes of it, such as some of its rows, has the same look.
        return Report

    def __repr__(self) -> str:
        plain = pd.DataFrame(self)
        if "formula" not in plain or not plain.columns.is_unique:
            return repr(plain)
        beside = (
            plain.drop(columns="formula")
            .to_string(max_colwidth=pd.get_option("display.max_colwidth"))
            .split("\n")[0]
        )
        room = (pd.get_option("display.width") or _WIDTH) - len(beside) - 4
        cut = plain.assign(formula=[_cut(str(text), max(room, _LEAST)) for text in plain["formula"]])
        # With 0, its choice for a terminal, pandas would rather leave out columns than use another line.
        with pd.option_context("display.max_columns", pd.get_option("display.max_columns") or None):
            return repr(cut)

    def _repr_html_(self) -> str | None:
        if "satisfaction" not in self.columns or not self.columns.is_unique:
            return pd.DataFrame(self)._repr_html_()
        if not pd.get_option("display.notebook_repr_html"):
            return None
        most = pd.get_option("display.max_rows") or len(self)
        left_out = len(self) - most
        parts = [frame_table(self.iloc[:most], _show)]
        parts += [element("p", f"{left_out} more rows are not shown.")] if left_out > 0 else []
        return element("div", *parts)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _show(column: Any, value: Any) -> Any:
    if column == "satisfaction" and isinstance(value, float):
        return bar(value)
    if column == "violated" and isinstance(value, float):
        return f"{value:.1%}"
    if column == "formula":
        return in_signs(value)
    return f"{value:g}" if isinstance(value, float) else value
