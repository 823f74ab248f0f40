"""Pictures of reasoning: the penalty that guides a search, and how a search went."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.parser import in_signs
from ltn.plot.style import COLOURS, FONT, add_legend, add_title, ink, picture
from ltn.reasoning import Verdict, elu

_SAYINGS = {
    "refuted": "Does not follow",
    "assumed": "Assumed to follow",
    "unsatisfied": "Follows only as the axioms were not satisfied",
}
_METHODS = {"refutation": "by refutation", "brave": "after learning"}
_COLOURS = {"satisfaction": COLOURS[0], "value": COLOURS[1], "loss": COLOURS[2]}
# In the deciding run. The value is thinner and lies above, so that both are seen where they run together.
_WIDTHS = {"satisfaction": 3.4, "value": 1.5, "loss": 1.5}
# Few, so that the numbers of a scale that is linear up to 1 and logarithmic above do not overlap.
_TICKS = (-1.0, 0.0, 1.0, *(10.0**power for power in range(1, 9)))
_TICKS_BETWEEN = (-0.5, 0.5, 3.0)
_DASHED: dict[str, Any] = {"linestyle": (0, (5, 3)), "linewidth": 1.1}


def penalty(settings: Iterable[tuple[float, float]] = ((1.0, 1.0), (0.5, 2.0))) -> Figure:
    """The curves of elu(alpha, beta x), the penalty of groundings that do not satisfy a theory enough.

    In a search x = q - G(K): the axioms are satisfied to q where x <= 0.

    Args:
        settings: a pair (alpha, beta) for each curve, see `ltn.reasoning.elu`; by default those of the
            paper's figure.

    >>> import ltn.plot
    >>> figure = ltn.plot.penalty([(0.05, 10)])
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['α = 0.05, β = 10']
    """
    figure = picture(7.2, 4.2)
    axes = figure.add_subplot()
    x = np.linspace(-3.0, 3.0, 601)
    for index, (alpha, beta) in enumerate(_pairs(settings)):
        style: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "linewidth": 2.0}
        style["linestyle"] = ("-", "--", ":", "-.")[index // len(COLOURS) % 4]
        axes.plot(x, elu(x, alpha, beta).numpy(), label=f"α = {alpha:g}, β = {beta:g}", **style)
    labels = [str(line.get_label()) for line in axes.lines]
    add_legend(figure, list(axes.lines), labels, loc="outside right upper", prop={"family": FONT, "size": 10})
    add_title(axes, "The penalty elu(α, β x)")
    axes.set(xlabel="x", ylabel="penalty", xlim=(-3.0, 3.0))
    axes.grid(alpha=0.3)
    return figure


def search(verdict: Verdict) -> Figure:
    """How a search went: the satisfaction of the axioms and the value of the formula, and below the loss.

    The run that decided is drawn strongly, with a dot at the grounding that decided; those from other
    starting points are faint. Dashed lines show q, and the level below which the formula counts as false.
    Where the loss jumps, the search went on with another penalty, or with learning.

    Args:
        verdict: what `theory.entails` returned.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> A, B = (theory.proposition(name, 0.0, trainable=True) for name in "AB")
    >>> axiom = theory.axiom("A | B")
    >>> figure = ltn.plot.search(theory.entails("A", verbose=0))
    >>> figure.axes[0].get_title()
    'Does not follow, by refutation: A'
    """
    if not isinstance(verdict, Verdict):
        raise LogicTypeError(
            "A search is drawn from its verdict, which theory.entails(...) returns; got a "
            f"{type(verdict).__name__}."
        )
    deciding = verdict.starting_point
    figure = picture(8.4, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for restart, run in verdict.curve.groupby("restart"):
        for column, axes in (("satisfaction", above), ("value", above), ("loss", below)):
            _draw(axes, run, column, int(restart), restart == deciding)
    entries = _dots(above, verdict, deciding) + _levels(above, verdict)
    dot = Line2D([], [], color=ink(), marker="o", linestyle="")
    entries.append((dot, f"decided: starting point {deciding} of {verdict.restarts}"))
    if verdict.restarts > 1:
        entries.append((Line2D([], [], color=_pale_colour(ink())), "other starting points"))
    handles, labels = map(list, zip(*entries, strict=True))
    add_legend(figure, handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    how = f"{_SAYINGS[verdict.case]}, {_METHODS[verdict.method]}"
    add_title(above, f"{how}: {in_signs(verdict.formula)}", 76)
    above.set(ylabel="truth", ylim=(0.0, 1.0))
    below.set(xlabel="step", ylabel="loss")
    if verdict.curve.loss.max() > 2.0:
        # The penalty makes it large at first: then what the formula adds, at most 1, would not be seen.
        below.set_yscale("symlog", linthresh=1.0)
        below.set_ylabel("loss\n(logarithmic above 1)")
        below.set_ylim(bottom=verdict.curve.loss.min() - 0.2)
        between = _TICKS_BETWEEN if verdict.curve.loss.max() < 30.0 else ()
        below.yaxis.set_major_locator(FixedLocator((*_TICKS, *between)))
        below.yaxis.set_major_formatter("{x:g}")
        below.yaxis.set_minor_locator(NullLocator())
    for axes in (above, below):
        axes.margins(x=0.02)
        axes.grid(alpha=0.3)
    return figure


def _pairs(settings: Any) -> list[tuple[float, float]]:
    advice = "`settings` are pairs (alpha, beta), as ((1.0, 1.0), (0.5, 2.0))"
    try:
        pairs = [tuple(pair) for pair in settings]
    except TypeError:
        raise LogicTypeError(f"{advice}; got {settings!r}. Put also a single pair in a list.") from None
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(number, numbers.Real) for number in pair):
            raise LogicTypeError(f"{advice}; got {pair!r} among them. Write two numbers for each curve.")
        if not all(0.0 <= number < math.inf for number in pair):
            raise LogicValueError(f"`alpha` and `beta` must be at least 0, and finite; got {pair!r}.")
    if not pairs:
        raise LogicValueError(f"{advice}; got none. Leave them out to draw those of the paper.")
    return pairs


def _draw(axes: Any, run: pd.DataFrame, column: str, restart: int, decides: bool) -> None:
    style: dict[str, Any] = {"color": _pale_colour(_COLOURS[column]), "linewidth": 0.9}
    if decides:
        # Unclipped, so that a thick line along 0 or 1 is seen whole.
        style = {"color": _COLOURS[column], "linewidth": _WIDTHS[column], "zorder": 3.0, "clip_on": False}
    axes.plot(run.step, run[column], label=f"{column} from starting point {restart}", **style)


def _pale_colour(colour: str) -> tuple[float, ...]:
    """A colour close to the background; not transparent, or many lines together would look strong."""
    ground = to_rgb(matplotlib.rcParams["axes.facecolor"])
    return tuple(0.4 * part + 0.6 * behind for part, behind in zip(to_rgb(colour), ground, strict=True))


def _levels(axes: Any, verdict: Verdict) -> list[tuple[Line2D, str]]:
    """Draw what the axioms and the formula must reach; returns the entries of the legend."""
    if math.isclose(verdict.level, verdict.q):
        return [(axes.axhline(verdict.q, color=ink(), **_DASHED), f"q = {verdict.q:g}")]
    q = axes.axhline(verdict.q, color=_COLOURS["satisfaction"], **_DASHED)
    level = axes.axhline(verdict.level, color=_COLOURS["value"], **_DASHED)
    return [(q, f"q = {verdict.q:g}"), (level, f"the formula is false below {verdict.level:.3g}")]


def _dots(axes: Any, verdict: Verdict, deciding: int) -> list[tuple[Line2D, str]]:
    """Mark the grounding that decided, and what it gives, on the curves of its run."""
    run = verdict.curve[verdict.curve.restart == deciding]
    # The grounding that decided is the first of its run with these values.
    decides = (run.satisfaction == verdict.satisfaction) & (run.value == verdict.value)
    step = run.step[decides].iloc[0]
    entries = []
    for column, what in (("satisfaction", "satisfaction of the axioms"), ("value", "truth of the formula")):
        value, width = getattr(verdict, column), _WIDTHS[column]
        look: dict[str, Any] = {"color": _COLOURS[column], "linewidth": width}
        look |= {"marker": "o", "markersize": 2.0 + 2.0 * width, "markeredgecolor": "white"}
        axes.plot([step], [value], label=f"{column} that decided", zorder=4.0, clip_on=False, **look)
        entries.append((Line2D([], [], **look), f"{what}  {value:.3f}"))
    return entries
