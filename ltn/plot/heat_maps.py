"""Heat maps: the truth of a formula for each individual, or each pair of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ltn.core import Expression, Formula
from ltn.errors import LogicTypeError, LogicValueError
from ltn.plot.style import TRUTH, add_title, fit_text, ink_on, picture

# With more individuals, their values and all their names could not be read.
_MOST_VALUES = 20
_MOST_NAMES = 40
# In inches: what lies beside the cells, and the width of a letter with some air.
_MARGIN = 2.0
_LETTER = 0.09


def heat_map(answer: Formula, title: str | None = None) -> Figure:
    """The truth of a formula over one or two variables, a cell for each individual or pair.

    The first variable gives the rows, the second the columns; a single one gives the columns.

    Args:
        answer: what `theory.query` returned, or any formula over one or two variables.
        title: says what the formula is.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
    >>> u, v = theory.variables("u, v", towns)
    >>> P = theory.predicate("before", (towns, towns), lambda towns: towns[0] < towns[1])
    >>> figure = ltn.plot.heat_map(theory.query("before(u, v)"), title="before(u, v)")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['Rome', 'Seoul', 'Lima']
    """
    _check(answer)
    frame = answer.to_frame() if len(answer.free_vars) == 2 else answer.to_frame().T
    values = frame.to_numpy(float)
    rows, columns = values.shape
    names = [fit_text(str(name), 18) for name in frame.columns]
    width, height = _size(rows, columns)
    figure = picture(width, height)
    axes = figure.add_subplot()
    cells = axes.imshow(values, cmap=TRUTH, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    figure.colorbar(cells, ax=axes, label="truth", ticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    if max(rows, columns) <= _MOST_VALUES:
        for (row, column), value in np.ndenumerate(values):
            ink = ink_on(value)
            axes.text(column, row, f"{value:.2f}", color=ink, ha="center", va="center", fontsize=8)
    room = (width - _MARGIN) / columns
    upright = max(map(len, names)) * _LETTER > room
    _name_ticks(axes.set_xticks, names, rotation=90 if upright else 0)
    axes.set_xlabel(frame.columns.name)
    if len(answer.free_vars) == 2:
        _name_ticks(axes.set_yticks, [fit_text(str(name), 18) for name in frame.index])
        axes.set_ylabel(frame.index.name)
    else:
        axes.set_yticks([])
    add_title(axes, title if title is not None else f"Truth for each {' and '.join(answer.free_vars)}", 48)
    return figure


def _check(answer: Any) -> None:
    if not isinstance(answer, Formula):
        kind = "a term" if isinstance(answer, Expression) else f"a {type(answer).__name__}"
        raise LogicTypeError(
            f"A heat map shows truth: it takes the answer of theory.query to a formula; got {kind}."
        )
    count = len(answer.free_vars)
    if count not in (1, 2):
        advice = (
            "float(answer) is its truth"
            if not count
            else "choose an individual of the others, as answer.take('z', 0)"
        )
        raise LogicValueError(
            "A heat map shows a formula over one or two free variables; this one has "
            f"{count}{': ' if count else ''}{', '.join(answer.free_vars)}. To see it, {advice}."
        )
    if 0 in answer.tensor.shape:
        raise LogicValueError(
            f"There is nothing to draw: the formula has no individuals for {', '.join(answer.free_vars)}, "
            f"its shape is {tuple(answer.tensor.shape)}."
        )


def _size(rows: int, columns: int) -> tuple[float, float]:
    """The size of the figure in inches: cells have room for their values while it fits on a screen."""
    return min(14.0, max(5.0, _MARGIN + 0.42 * columns)), min(9.0, max(2.4, 1.6 + 0.36 * rows))


def _name_ticks(set_ticks: Any, names: list[str], **options: Any) -> None:
    step = -(-len(names) // _MOST_NAMES)
    places = range(0, len(names), step)
    set_ticks(places, [names[place] for place in places], fontsize=9, parse_math=False, **options)
