"""Names that do not overlap: of ticks along an axis, and of points in a plane."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import Bbox

from ltn.plot.style import FONT

# In points: the size of names, and the least gap between two of them.
_SIZE = 9
_GAP = 5.0
# The sides of a point on which its name may stand: right, left, above, below.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))
_ACROSS = {1: "left", -1: "right", 0: "center"}
_UP = {1: "bottom", -1: "top", 0: "center"}


def name_ticks(figure: Figure, axes: Any, across: Sequence[str], up: Sequence[str]) -> None:
    """Name the ticks 0, 1, ... of the axes; as many names as there is room for, at regular places.

    Names along the first axis stand upright where many more of them fit so.

    Args:
        figure: with everything else that takes room.
        axes: its axes, whose limits are set.
        across: the names along the first axis.
        up: those along the second.
    """
    options: dict[str, Any] = {"fontsize": _SIZE, "family": FONT, "parse_math": False}
    # The widest names alone take as much room beside the axes as any choice of them.
    axes.set_xticks([0], [_widest(across)], rotation=90, **options)
    axes.set_yticks([0] if up else [], [_widest(up)] if up else [], **options)
    figure.draw_without_rendering()
    scale = 72.0 / figure.dpi
    longest = axes.get_xticklabels()[0].get_window_extent()
    thickness, length = (scale * side + _GAP for side in (longest.width, longest.height))
    room = scale * axes.bbox.width / max(1, len(across))
    flat, upright = (_step(side, room) for side in (length, thickness))
    stands = flat >= 2 * upright
    step = upright if stands else flat
    axes.set_xticks(
        range(0, len(across), step), list(across)[::step], rotation=90 if stands else 0, **options
    )
    step = _step(thickness, scale * axes.bbox.height / max(1, len(up)))
    axes.set_yticks(range(0, len(up), step), list(up)[::step], **options)


def _widest(names: Sequence[str]) -> str:
    return max(names, key=lambda name: sum(map(_advance, name)))


@functools.cache
def _advance(letter: str) -> float:
    """How wide a letter is between others, in points; to measure whole names would take seconds."""
    font = FontProperties(family=FONT)
    with_it, without = (
        TextPath((0.0, 0.0), text, size=_SIZE, prop=font).get_extents().width
        for text in (f"x{letter}x", "xx")
    )
    return float(with_it - without)


def _step(size: float, room: float) -> int:
    """Every how many ticks a name of a size fits, where each tick has so much room."""
    return max(1, int(np.ceil(size / room)))


def name_points(
    figure: Figure, axes: Any, points: np.ndarray, names: Sequence[str], most: int, radius: float = 5.0
) -> int:
    """Name points, in their order, where there is room beside them; how many of them have names.

    Args:
        figure: with everything that takes room.
        axes: its axes, whose limits are set.
        points: theirs, shape (n, 2).
        names: of the points.
        most: how many names are written at most.
        radius: of the marks, in points.
    """
    # Twice: axes that are true to scale find their limits only once they have their size.
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    pixel = figure.dpi / 72.0
    centres = axes.transData.transform(points)
    marks = np.concatenate([centres - radius * pixel, centres + radius * pixel], axis=1)
    room = axes.bbox.padded(-_GAP)
    options: dict[str, Any] = {"fontsize": _SIZE - 1, "family": FONT, "parse_math": False}
    ruler = axes.text(0.0, 0.0, "", **options)
    taken = np.empty((0, 4))
    for index, name in enumerate(names):
        if len(taken) == most:
            break
        others = np.concatenate([taken, np.delete(marks, index, axis=0)])
        ruler.set_text(name)
        size = ruler.get_window_extent().size
        for side in _SIDES:
            box = _beside(centres[index], np.array(side), size, (radius + 1.0) * pixel)
            if _is_free(box, others, room):
                taken = np.concatenate([taken, [box]])
                offset = (radius + 1.0) * np.array(side)
                place = {"ha": _ACROSS[side[0]], "va": _UP[side[1]], "textcoords": "offset points"}
                text = axes.annotate(name, points[index], offset, **options | place)
                # Or names would make the axes smaller, and lie elsewhere.
                text.set_in_layout(False)
                break
    ruler.remove()
    return len(taken)


def _beside(centre: np.ndarray, side: np.ndarray, size: np.ndarray, gap: float) -> np.ndarray:
    """The box (left, bottom, right, top) of a text on a side of a point."""
    middle = centre + side * (gap + 0.5 * size)
    return np.concatenate([middle - 0.5 * size, middle + 0.5 * size])


def _is_free(box: np.ndarray, others: np.ndarray, room: Bbox) -> bool:
    """Whether a box lies in the room, and apart from others."""
    inside = np.all(box[:2] >= room.min) and np.all(box[2:] <= room.max)
    apart = np.any((others[:, :2] > box[2:]) | (others[:, 2:] < box[:2]), axis=1)
    return bool(inside and apart.all())
