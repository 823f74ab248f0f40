"""Outputs before and after a repair, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ltn.core import Formula
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import list_names
from ltn.plot.style import TRUTH, add_note, add_title, add_truth_bar, ink, ink_on, picture
from ltn.plot.tables import check_most
from ltn.plot.texts import count_in_words, shorten
from ltn.repair import Repaired

# In inches.
_CELL = 0.45
# More columns than these have no numbers.
_MOST_NUMBERS = 24


def repair(repaired: Repaired, predicate: str | None = None, *, rows: Any = None, most: int = 8) -> Figure:
    """The truths of a predicate before and after a repair, side by side; what changed has a frame.

    Args:
        repaired: what `theory.repair` returned.
        predicate: its name, or an atom; by default the only one.
        rows: which individuals of its first argument, by place; by default the first that changed.
        most: how many rows are drawn where `rows` does not tell.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> places = theory.domain("places", values=["Rome", "Seoul"])
    >>> x = theory.variable("x", places)
    >>> predicates = [theory.predicate(name, places, ltn.Predicate.MLP([1])) for name in ("town", "city")]
    >>> axiom = theory.axiom("forall x: city(x) -> town(x)")
    >>> figure = ltn.plot.repair(theory.repair(), "town")
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['before', 'after']
    """
    if not isinstance(repaired, Repaired):
        raise LogicTypeError(f"`repaired` is what theory.repair(data) returned; got {repaired!r:.200}.")
    check_most(most, "rows")
    if predicate is None:
        if len(repaired) > 1:
            raise LogicValueError(
                f"Several predicates were repaired: name one of {list_names(list(repaired))}."
            )
        predicate = next(iter(repaired))
    before, after = (_table(view[predicate]) for view in (repaired.before, repaired))
    changed = before != after
    chosen = _chosen(rows, changed, most)
    names = [_names(repaired[predicate], axis, size) for axis, size in enumerate(after.shape)]
    height, width = len(chosen) * _CELL, after.shape[1] * _CELL
    figure = picture(3.0 + min(2 * width, 14.0), 1.6 + min(height, 10.0))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, truths, title in zip(panels, (before, after), ("before", "after"), strict=True):
        axes.imshow(truths[chosen], cmap=TRUTH, vmin=0.0, vmax=1.0, aspect="auto")
        for place, row in enumerate(chosen):
            for column in range(after.shape[1]):
                _write(axes, place, column, truths[row, column], bool(changed[row, column]), after.shape[1])
        axes.set_xticks(
            range(after.shape[1]), names[1], rotation=60, ha="right", fontsize=8, parse_math=False
        )
        axes.set_yticks(range(len(chosen)), [names[0][row] for row in chosen], fontsize=8, parse_math=False)
        axes.tick_params(length=0)
        add_title(axes, title)
    add_truth_bar(figure, panels)
    left = int(changed.any(axis=1).sum()) - int(changed[chosen].any(axis=1).sum())
    add_note(figure, f"{count_in_words(left, 'more row')} changed." if left else "")
    return figure


def _table(formula: Formula) -> NDArray[np.float32]:
    """The truths as rows: one for each individual of the first argument."""
    truths = np.asarray(formula.tensor)
    return truths.reshape(truths.shape[0] if truths.ndim else 1, -1)


def _names(formula: Formula, axis: int, size: int) -> list[str]:
    """What the rows, or the columns, are called."""
    labels = formula.free_vars[axis : axis + 1] if axis == 0 else formula.free_vars[1:]
    known = [(formula.individuals or {}).get(label) for label in labels]
    if len(labels) == 1 and known[0] is not None:
        return [shorten(str(name), 20) for name in known[0]]
    if not labels:
        return [shorten(str(formula.text or "truth"), 20)] * size
    return [f"{shorten(', '.join(labels), 12)} {place}" for place in range(size)]


def _chosen(rows: Any, changed: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """The places of the rows that are drawn."""
    if rows is None:
        found = np.flatnonzero(changed.any(axis=1))[:most]
        return found if len(found) else np.arange(min(most, len(changed)))
    is_list = isinstance(rows, Sequence | np.ndarray) and not isinstance(rows, str)
    places = np.asarray(rows) if is_list else np.zeros(0)
    fits = places.ndim == 1 and len(places) and places.dtype.kind in "iu"
    if not fits or not ((places >= 0) & (places < len(changed))).all():
        raise LogicValueError(
            f"`rows` must be the places of rows, whole numbers from 0 to {len(changed) - 1}; "
            f"got {rows!r:.80}."
        )
    return places.astype(np.int64)


def _write(axes: Any, row: int, column: int, truth: float, changed: bool, columns: int) -> None:
    """The number of a cell, and a frame around one that changed."""
    if columns <= _MOST_NUMBERS:
        axes.text(column, row, f"{truth:.2f}", ha="center", va="center", fontsize=7, color=ink_on(truth))
    if changed:
        corner = (column - 0.47, row - 0.44)
        axes.add_patch(Rectangle(corner, 0.94, 0.88, fill=False, edgecolor=ink(), linewidth=1.4))
