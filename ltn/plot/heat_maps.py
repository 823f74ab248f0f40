"""Heat maps: the truth of a formula for each individual, or each pair of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ltn.core import Expression, Formula
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.parser import in_signs
from ltn.plot.labels import name_ticks
from ltn.plot.style import TRUTH, add_title, add_truth_bar, ink_on, picture
from ltn.plot.texts import shorten

# In inches: what the value of a cell takes, and what lies beside the cells at least.
_VALUE = (0.33, 0.17)
_MARGIN = 2.0


def heat_map(answer: Formula, title: str | None = None) -> Figure:
    """The truth of a formula over one or two variables, a cell for each individual or pair.

    The first variable gives the rows, the second the columns; a single one gives the columns.

    Args:
        answer: what `theory.query` returned, or any formula over one or two variables.
        title: says what the formula is; by default its text, where the answer knows it.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
    >>> u, v = theory.variables("u, v", towns)
    >>> P = theory.predicate("before", (towns, towns), lambda towns: towns[0] < towns[1])
    >>> figure = ltn.plot.heat_map(theory.query("before(u, v)"), title="before(u, v)")
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['Rome', 'Seoul', 'Lima']
    """
    _check(answer, title)
    frame = answer.to_frame() if len(answer.free_vars) == 2 else answer.to_frame().T
    values = frame.to_numpy(float)
    rows, columns = values.shape
    across = [shorten(_label(name), 18) for name in frame.columns]
    figure = picture(*_size(rows, columns, max(map(len, across))))
    axes = figure.add_subplot()
    axes.imshow(values, cmap=TRUTH, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    add_truth_bar(figure, axes)
    add_title(axes, _title(answer) if title is None else title, 48)
    axes.set_xlabel(answer.free_vars[-1])
    down = []
    if len(answer.free_vars) == 2:
        down = [shorten(_label(name), 18) for name in frame.index]
        axes.set_ylabel(answer.free_vars[0])
    name_ticks(figure, axes, across, down)
    cell = axes.bbox.width / figure.dpi / columns, axes.bbox.height / figure.dpi / rows
    if cell[0] >= _VALUE[0] and cell[1] >= _VALUE[1]:
        for (row, column), value in np.ndenumerate(values):
            ink = ink_on(value)
            axes.text(column, row, f"{value:.2f}", color=ink, ha="center", va="center", fontsize=8)
    return figure


def _label(name: Any) -> str:
    """The name of an individual, or those of the individuals of a diagonal."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _title(answer: Formula) -> str:
    written = getattr(answer, "text", None)
    if isinstance(written, str) and written:
        return f"Truth of {in_signs(written)}"
    return f"Truth of a formula over {' and '.join(answer.free_vars)}"


def _check(answer: Any, title: Any) -> None:
    if title is not None and not isinstance(title, str):
        raise LogicTypeError(f"`title` is a text; got a {type(title).__name__}: {title!r}.")
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


def _size(rows: int, columns: int, longest: int) -> tuple[float, float]:
    """The size of the figure in inches: cells have room for their values while it fits on a screen."""
    # Below the cells is room for names that stand upright.
    height = 1.6 + 0.36 * rows + 0.07 * longest
    return min(14.0, max(5.0, _MARGIN + 0.42 * columns)), min(9.0, max(2.4, height))
