"""Drawing of trees: boxes with text, each above those that it consists of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch
from matplotlib.textpath import TextPath

from ltn.plot.style import FONT, colour, ink_on, picture
from ltn.plot.texts import fit_text

# Lengths are in inches, sizes of fonts in points.
_LABEL, _VALUE, _TERM = 12, 9, 10
_LINE = 1.35 / 72
_PADDING = 0.09
_BESIDE, _BELOW, _MARGIN = 0.16, 0.34, 0.2
_NARROWEST = 4.5


@dataclass
class Box:
    """A node of a tree: a formula with its truth as text, or a term without.

    `truth` colours it. The place (x, y) of its centre is set when the tree is drawn.
    """

    label: str
    value: str = ""
    truth: float | None = None
    below: list[Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    def walk(self) -> Iterator[Box]:
        """This box and all below it, from the top and from the left."""
        yield self
        for box in self.below:
            yield from box.walk()

    @property
    def font(self) -> int:
        """The size of the label."""
        return _TERM if self.truth is None else _LABEL

    @cached_property
    def width(self) -> float:
        """The width of the box itself."""
        widths = [_width(self.label, self.font), _width(self.value, _VALUE) if self.value else 0.0]
        return max(widths) + 2.0 * _PADDING + 0.06

    @cached_property
    def height(self) -> float:
        """The height of the box itself."""
        return _height(self.label, self.font) + _height(self.value, _VALUE) + 2.0 * _PADDING

    @cached_property
    def span(self) -> float:
        """The width of the box with all below it."""
        return max(self.width, _total(self.below))


def draw(root: Box, title: str, note: str = "") -> Figure:
    """A picture of the tree, under a title and a note."""
    width = max(_NARROWEST, root.span + 2.0 * _MARGIN)
    _place(root, 0.5 * (width - root.span))
    depth = _stack(root) + _MARGIN
    # A character of a title is some 0.088 inches wide, of the smaller notes 0.075.
    heading = fit_text(title, int(width / 0.088), lines=5)
    remark = fit_text(note, int(width / 0.075), lines=5)
    caption = fit_text(_caption(root), int(width / 0.066), lines=4)
    above = _height(heading, 11) + _height(remark, 9) + _MARGIN * (1.5 if note else 1.0)
    under = _height(caption, 8) + _MARGIN
    height = above + depth + under
    figure = picture(width, height, layout="none")
    # The axes measure inches, so that boxes are as large as their texts.
    axes = figure.add_axes((0.0, under / height, 1.0, depth / height))
    axes.set(xlim=(0.0, width), ylim=(depth, 0.0))
    axes.axis("off")
    for box in root.walk():
        _draw(axes, box)
    place: dict[str, Any] = {"ha": "center", "family": FONT, "parse_math": False, "linespacing": 1.2}
    figure.suptitle(heading, y=1.0 - 0.6 * _MARGIN / height, fontsize=11, va="top", **place)
    figure.text(0.5, (height - above + 0.3 * _MARGIN) / height, remark, fontsize=9, color="grey", **place)
    figure.text(0.5, 0.5 * _MARGIN / height, caption, fontsize=8, color="grey", **place)
    return figure


def _caption(root: Box) -> str:
    colours = "Colour: from false, red, to true, blue."
    if any("\n" in box.value for box in root.walk()):
        return f"{colours} With variables: mean, and lowest – highest, over their individuals."
    return colours


def _place(box: Box, left: float) -> None:
    """Give each box its place from the left: the middle of its span."""
    box.x = left + 0.5 * box.span
    start = box.x - 0.5 * _total(box.below)
    for child in box.below:
        _place(child, start)
        start += child.span + _BESIDE


def _stack(root: Box) -> float:
    """Give each box its place from the top, row by row; returns the height of all."""
    top, row = 0.5 * _MARGIN, [root]
    while True:
        tallest = max(box.height for box in row)
        for box in row:
            # The tops of a row are in line, so that edges are alike.
            box.y = top + 0.5 * box.height
        row = [child for box in row for child in box.below]
        if not row:
            return top + tallest
        top += tallest + _BELOW


def _draw(axes: Any, box: Box) -> None:
    for child in box.below:
        ends = [box.x, child.x], [box.y + 0.5 * box.height, child.y - 0.5 * child.height]
        axes.plot(*ends, color="#8c8c8c", linewidth=1.2, zorder=1)
    is_term = box.truth is None
    fill = "#f7f7f7" if box.truth is None else colour(box.truth)
    text = "#444444" if box.truth is None else ink_on(box.truth)
    corner = (box.x - 0.5 * box.width, box.y - 0.5 * box.height)
    style: dict[str, Any] = {"facecolor": fill, "edgecolor": "#c8c8c8" if is_term else "#555555"}
    shape = "round,pad=0,rounding_size=0.07"
    axes.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **style))
    label = box.y - 0.5 * _height(box.value, _VALUE)
    look = {"ha": "center", "va": "center", "color": text, "family": FONT, "parse_math": False}
    axes.text(box.x, label, box.label, fontsize=box.font, style="italic" if is_term else "normal", **look)
    if box.value:
        value = box.y + 0.5 * _height(box.label, box.font)
        axes.text(box.x, value, box.value, fontsize=_VALUE, **look)


def _total(boxes: list[Box]) -> float:
    """The width of boxes beside each other, with all below them."""
    return sum(box.span for box in boxes) + _BESIDE * max(0, len(boxes) - 1)


def _width(text: str, size: int) -> float:
    font = FontProperties(family=FONT)
    lines = (TextPath((0.0, 0.0), line, size=size, prop=font) for line in text.splitlines())
    return max(line.get_extents().width for line in lines) / 72


def _height(text: str, size: int) -> float:
    return len(text.splitlines()) * size * _LINE
