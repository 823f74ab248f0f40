"""Reports as bars: which axioms hold, and how well."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ltn.errors import LogicTypeError, LogicValueError
from ltn.plot.style import FONT, add_title, colour, fit_text, in_signs, picture

_COLUMNS = ("axiom", "formula", "satisfaction")


def report(frame: pd.DataFrame) -> Figure:
    """A bar for each axiom of a report, from top to bottom in its order, with formula and satisfaction.

    Sort the report to sort the bars: `report(frame.sort_values("satisfaction"))`.

    Args:
        frame: what `theory.report` returned.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> A, B = theory.proposition("A", 0.9), theory.proposition("B", 0.2)
    >>> axioms = theory.axioms("first: A\\nsecond: ~A & B")
    >>> figure = ltn.plot.report(theory.report())
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['first', 'second']
    """
    _check(frame)
    values = frame["satisfaction"].astype(float).tolist()
    formulas = [fit_text(in_signs(formula), 76, lines=2) for formula in frame["formula"]]
    lines = 1 + max(formula.count("\n") for formula in formulas)
    # In inches: a row holds the bar, and above it the formula.
    bar, row = 0.24, 0.36 + 0.17 * lines
    figure = picture(9.0, 1.1 + row * len(values))
    axes = figure.add_subplot()
    places = range(len(values))
    axes.barh(
        places,
        values,
        height=bar / row,
        color=[colour(value) for value in values],
        edgecolor="#555555",
        linewidth=0.8,
    )
    for place, value, formula in zip(places, values, formulas, strict=True):
        end = value if value == value else 0.0
        axes.text(end + 0.01, place, f"{value:.3f}", va="center", fontsize=10)
        top = place - 0.5 * bar / row - 0.04
        axes.text(0.004, top, formula, va="bottom", fontsize=9, family=FONT, parse_math=False)
    axes.set_yticks(places, _names(frame), fontsize=10, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="satisfaction", xlim=(0.0, 1.09), ylim=(len(values) - 0.6, -1.0 + bar / row))
    axes.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    add_title(axes, "Satisfaction of the axioms")
    return figure


def _check(frame: Any) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise LogicTypeError(
            f"A report is the table that theory.report(data) returns; got a {type(frame).__name__}."
        )
    missing = [column for column in _COLUMNS if column not in frame]
    if missing:
        raise LogicValueError(
            f"A report has the columns {', '.join(_COLUMNS)}; this table lacks {', '.join(missing)}. "
            "Pass what theory.report(data) returned."
        )
    if frame.empty:
        raise LogicValueError("The report has no rows: there is no axiom to draw.")


def _names(frame: pd.DataFrame) -> list[str]:
    weights = frame["weight"] if "weight" in frame else [1.0] * len(frame)
    return [
        fit_text(str(name), 24) + (f"\nweight {weight:.3g}" if weight != 1.0 else "")
        for name, weight in zip(frame["axiom"], weights, strict=True)
    ]
