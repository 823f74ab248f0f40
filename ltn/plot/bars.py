"""Reports as bars: which axioms hold, and how well."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ltn.language.parser import in_signs
from ltn.plot.style import FONT, add_title, colour, picture
from ltn.plot.tables import check_most, check_report, least
from ltn.plot.texts import count_in_words, fit_text, shorten

# In inches: a row holds the bar, and above it the formula, on one or two lines.
_BAR, _LINE, _GAP = 0.22, 0.16, 0.11


def report(frame: pd.DataFrame, *, sort: bool = True, most: int = 40) -> Figure:
    """A bar for each axiom of a report, with formula and satisfaction; the least satisfied is on top.

    Args:
        frame: what `theory.report` returned.
        sort: False to draw the axioms in the order of the report.
        most: how many axioms are drawn; one line sums up those that follow.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> A, B = theory.proposition("A", 0.9), theory.proposition("B", 0.2)
    >>> axioms = theory.axioms("first: A\\nsecond: ~A & B")
    >>> figure = ltn.plot.report(theory.report())
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['second', 'first']
    """
    check_report(frame)
    check_most(most, "axioms")
    if sort:
        # A satisfaction that is not a number stands on top, so that it is seen.
        frame = frame.sort_values("satisfaction", kind="stable", na_position="first")
    frame, others = frame.iloc[:most], frame.iloc[most:]
    values = frame["satisfaction"].astype(float).tolist()
    formulas = [fit_text(in_signs(formula), 76, lines=2) for formula in frame["formula"]]
    heights = [_GAP + _BAR + _LINE * (1 + formula.count("\n")) for formula in formulas]
    ends = np.cumsum(heights)
    # The middles of the bars, from the top, in inches.
    places = ends - 0.5 * _BAR
    depth = float(ends[-1]) + (0.1 if others.empty else 0.4)
    figure = picture(9.0, 0.9 + depth)
    axes = figure.add_subplot()
    colours = [colour(value) for value in values]
    axes.barh(places, values, height=_BAR, color=colours, edgecolor="#555555", linewidth=0.8)
    for place, value, formula in zip(places, values, formulas, strict=True):
        end = value if value == value else 0.0
        axes.text(end + 0.01, place, f"{value:.3f}", va="center", fontsize=10)
        top = place - 0.5 * _BAR - 0.02
        axes.text(0.004, top, formula, va="bottom", fontsize=9, family=FONT, parse_math=False)
    if not others.empty:
        axes.text(0.004, ends[-1] + 0.22, _summed_up(others), va="center", fontsize=10, style="italic")
    axes.set_yticks(places, _names(frame), fontsize=10, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="satisfaction", xlim=(0.0, 1.09), ylim=(depth, 0.0))
    axes.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    add_title(axes, "Satisfaction of the axioms")
    return figure


def _summed_up(others: pd.DataFrame) -> str:
    lowest = least(others["satisfaction"])
    known = lowest == lowest
    said = f"with a satisfaction of at least {lowest:.2f}" if known else "whose satisfaction is not a number"
    return f"and {count_in_words(len(others), 'axiom')} {said}"


def _names(frame: pd.DataFrame) -> list[str]:
    weights = frame["weight"] if "weight" in frame else [1.0] * len(frame)
    return [
        shorten(str(name), 24) + (f"\nweight {weight:.3g}" if weight != 1.0 else "")
        for name, weight in zip(frame["axiom"], weights, strict=True)
    ]
