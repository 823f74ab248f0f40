"""Two reports side by side: which axioms fell, which rose, and by how much."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ltn.errors import LogicValueError
from ltn.language.names import list_names
from ltn.plot.style import TRUTH, UNKNOWN, add_legend, add_note, add_title, ink, picture
from ltn.plot.tables import check_most, check_report, least
from ltn.plot.texts import count_in_words, shorten

# In inches.
_ROW = 0.27


def compare(before: pd.DataFrame, after: pd.DataFrame, *, most: int = 40) -> Figure:
    """How the satisfaction of each axiom changed between two reports; what fell most is on top.

    A ring stands for the satisfaction before, a dot for that after; the line between them is red where it
    fell and blue where it rose. Axioms that stand in one report only are told under the picture.

    Args:
        before: what `theory.report` returned first.
        after: what it returned later, or what that of another theory did.
        most: how many axioms are drawn; one line sums up those that follow.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> A, B = theory.proposition("A", 0.5), theory.proposition("B", 0.5)
    >>> axioms = theory.axioms("both: A & B\\neither: A | B")
    >>> figure = ltn.plot.compare(theory.report(semantics="product"), theory.report(semantics="godel"))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['-0.250', '+0.250']
    """
    check_report(before, "The report before")
    check_report(after, "The report after")
    check_most(most, "axioms")
    both = pd.DataFrame({"before": _by_name(before, "before"), "after": _by_name(after, "after")})
    common = both.loc[[name for name in before["axiom"] if name in set(after["axiom"])]]
    if common.empty:
        raise LogicValueError(
            f"The reports have no axiom in common: before there were {list_names(list(before['axiom']))}, "
            f"after {list_names(list(after['axiom']))}. Compare reports of theories whose axioms have the "
            "same names."
        )
    common = common.assign(change=common["after"] - common["before"])
    common = common.sort_values("change", kind="stable", na_position="first")
    shown, others = common.iloc[:most], common.iloc[most:]
    depth = _ROW * (len(shown) + (0 if others.empty else 1))
    figure = picture(8.4, 1.5 + depth)
    axes = figure.add_subplot()
    for place, (start, end, change) in enumerate(shown.itertuples(index=False)):
        look: dict[str, Any] = {"color": _colour(change), "zorder": 3.0, "clip_on": False}
        axes.plot([start, end], [place, place], linewidth=2.4, label="change", **look)
        axes.plot([start], [place], "o", markersize=8, markerfacecolor="none", label="before", **look)
        axes.plot([end], [place], "o", markersize=5.5, label="after", **look)
        said = f"{change:+.3f}" if change == change else "nan"
        axes.text(1.04, place, said, va="center", fontsize=9)
    if not others.empty:
        said = f"and {count_in_words(len(others), 'axiom')} {_summed_up(others)}"
        axes.text(0.0, len(shown), said, va="center", fontsize=9, style="italic")
    names = [shorten(str(name), 30) for name in shown.index]
    axes.set_yticks(range(len(shown)), names, fontsize=9, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="satisfaction", xlim=(-0.02, 1.16), ylim=(depth / _ROW - 0.4, -0.7))
    axes.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    ring = Line2D([], [], color=ink(), marker="o", markersize=8, markerfacecolor="none", linestyle="")
    dot = Line2D([], [], color=ink(), marker="o", markersize=5.5, linestyle="")
    add_legend(figure, [ring, dot], ["before", "after"], loc="outside upper right", ncols=2, fontsize=9)
    add_title(axes, "Change of the satisfaction of the axioms")
    alone = [("before", before, after), ("after", after, before)]
    add_note(figure, "  ".join(_only(when, one, other) for when, one, other in alone).strip())
    return figure


def _by_name(frame: pd.DataFrame, when: str) -> pd.Series:
    repeated = frame["axiom"][frame["axiom"].duplicated()]
    if len(repeated):
        raise LogicValueError(
            f"The report {when} has the axiom {repeated.iloc[0]!r} twice: compare two reports, each as "
            "theory.report(data) returned it."
        )
    return frame.set_index("axiom")["satisfaction"].astype(float)


def _colour(change: float) -> Any:
    """That of false where it fell, that of true where it rose."""
    if change != change:
        return UNKNOWN
    return "#8c8c8c" if abs(change) < 5e-4 else TRUTH(0.0 if change < 0.0 else 1.0)


def _summed_up(others: pd.DataFrame) -> str:
    lowest = least(others["change"])
    if lowest != lowest:
        return "whose change is not a number"
    return (
        f"that fell by at most {-lowest:.2f}, or rose"
        if lowest < 0.0
        else f"that rose by {lowest:.2f} or more"
    )


def _only(when: str, one: pd.DataFrame, other: pd.DataFrame) -> str:
    alone = [str(name) for name in one["axiom"] if name not in set(other["axiom"])]
    return f"Only {when}: {list_names(alone)}." if alone else ""
