"""Violations as bars: the share of each axiom, and how many violations the rows of the data have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ltn.errors import LogicTypeError
from ltn.plot.style import COLOURS, add_title, picture
from ltn.plot.tables import check_most
from ltn.plot.texts import count_in_words, shorten
from ltn.theory.violations import Violations

# In inches.
_ROW = 0.3
# The last bar of the rows stands for so many violations, or more.
_MOST = 10


def violations(found: Violations, *, most: int = 40) -> Figure:
    """The share of the groundings of each axiom that is violated; what is violated most is on top.

    Beside it stands how many rows of the data take part in how many violations, where the data are rows.

    Args:
        found: what `theory.violations` returned; violations that its table has no room for count too.
        most: how many axioms are drawn; one line sums up those that follow.

    >>> import ltn.plot
    >>> theory = ltn.Theory("product")
    >>> x = theory.variable("x", theory.domain("numbers"))
    >>> P = theory.predicate("P", theory.signature.domains["numbers"], lambda x: x[:, 0])
    >>> axioms = theory.axioms("all: forall x: P(x)\\nnone: forall x: ~P(x)")
    >>> figure = ltn.plot.violations(theory.violations({"x": [0.1, 0.2, 0.7]}))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['all', 'none']
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['66.7%  2 of 3', '33.3%  1 of 3']
    """
    if not isinstance(found, Violations):
        raise LogicTypeError(
            "Violations are the table that theory.violations(data) returned, whole: some of its rows do not "
            f"tell how many there were; got a {type(found).__name__}."
        )
    check_most(most, "axioms")
    of_axioms = pd.DataFrame(
        {"violated": found.counts(), "of": found.groundings(), "share": found.shares()}
    ).sort_values(["share", "violated"], ascending=False, kind="stable")
    shown, others = of_axioms.iloc[:most], of_axioms.iloc[most:]
    depth = len(shown) + (0 if others.empty else 1)
    rows = found.counts("rows") if found.has_rows else None
    figure = picture(8.4 if rows is None else 11.6, max(1.2 + _ROW * depth, 1.8 if rows is None else 3.0))
    if rows is None:
        axes = figure.add_subplot()
    else:
        axes, beside = figure.subplots(1, 2, width_ratios=(2.2, 1.0))
        _draw_rows(beside, rows)
    axes.barh(range(len(shown)), shown["share"], height=0.7, color=COLOURS[1])
    for place, (violated, of, share) in enumerate(shown.itertuples(index=False)):
        said = f"{share:.1%}  {violated:,} of {of:,}"
        axes.text(share + 0.01, place, said, va="center", fontsize=9)
    if not others.empty:
        worst = f"of whose groundings at most {others['share'].max():.1%} are violated"
        said = f"and {count_in_words(len(others), 'axiom')} {worst}"
        axes.text(0.0, len(shown), said, va="center", fontsize=9, style="italic")
    names = [shorten(str(name), 30) for name in shown.index]
    axes.set_yticks(range(len(shown)), names, fontsize=9, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="share of groundings that is violated", xlim=(0.0, 1.34), ylim=(depth - 0.4, -0.6))
    axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
    _tidy(axes, "x")
    add_title(axes, f"{count_in_words(found.total, 'violation')}, a truth below {found.threshold:g}")
    return figure


def _draw_rows(axes: Any, rows: pd.Series) -> None:
    """How many rows take part in no violation, in one, in two, ..."""
    counts = np.bincount(np.minimum(rows.to_numpy(), _MOST), minlength=2)
    names = [str(number) if number < _MOST else f"{_MOST}+" for number in range(len(counts))]
    bars = axes.bar(range(len(counts)), counts, color=[COLOURS[0], *[COLOURS[1]] * (len(counts) - 1)])
    axes.bar_label(bars, [f"{count:,}" if count else "" for count in counts], fontsize=8, padding=1)
    axes.set_xticks(range(len(counts)), names)
    axes.set(xlabel="violations of a row", ylabel="rows")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.12)
    _tidy(axes, "y")
    violated = int((rows > 0).sum())
    add_title(axes, f"{violated:,} of {count_in_words(len(rows), 'row')} in violations", 40)


def _tidy(axes: Any, across: str) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=across, alpha=0.3)
    axes.set_axisbelow(True)
