"""Graphs of a relation: individuals as nodes, and arrows where it holds between them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from ltn.errors import LogicValueError
from ltn.language import Node, text
from ltn.plot.labels import name_points
from ltn.plot.layouts import by_springs, on_circle
from ltn.plot.points import individuals_of, read_formula, truths_of
from ltn.plot.style import FONT, add_note, add_title, add_truth_bar, colour, ink_on, picture
from ltn.plot.texts import count_in_words, shorten
from ltn.theory import Theory

# Of more individuals the arrows could not be followed.
_MOST = 60
_LAYOUTS = ("springs", "circle")
_MANY = 300
_TEXT: dict[str, Any] = {"family": FONT, "parse_math": False, "zorder": 4.0}


def relation(
    theory: Theory,
    formula: str | Node,
    *,
    threshold: float = 0.5,
    nodes: str | Node | None = None,
    layout: str = "springs",
    data: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """The graph of a relation: an arrow from each individual to those to which it is related.

    The colour and the width of an arrow tell the truth of the formula for the pair; a ring at an individual
    is its relation to itself.

    Args:
        theory: whose formula it is.
        formula: one with two free variables over a domain with individuals of its own, as "F(x, y)", or the
            name of a predicate of two arguments. Arrows go from the first variable to the second.
        threshold: the least truth of which an arrow is drawn.
        nodes: a formula with one free variable over the same domain, or the name of a predicate: its truth
            colours the individuals.
        layout: "springs", where related individuals stand near each other, or "circle".
        data: individuals for quantified variables.
        options: further ones as for `theory.query`: `semantics`, `p`, hyper-parameters.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
    >>> u, v = theory.variables("u, v", towns)
    >>> P = theory.predicate("before", (towns, towns), lambda towns: towns[0] < towns[1])
    >>> figure = ltn.plot.relation(theory, "before(u, v)")
    >>> [arrow.get_label() for arrow in figure.axes[0].patches]
    ['Rome to Seoul', 'Rome to Lima', 'Seoul to Lima']
    """
    _check(threshold, layout)
    tree, free = read_formula(theory, formula, 2, "A graph shows")
    domain = theory.signature.variables[free[0]]
    roster = individuals_of(theory, domain)
    if len(roster.names) > _MOST:
        raise LogicValueError(
            f"The domain '{domain.name}' has {len(roster.names)} individuals, and a graph of more than "
            f"{_MOST} cannot be read. See ltn.plot.heat_map, which shows hundreds."
        )
    truths = truths_of(theory, tree, free, roster, data, options)
    title, fills = f"Truth of {text(tree, unicode=True)}", None
    if nodes is not None:
        own, [variable] = read_formula(theory, nodes, 1, "Individuals are coloured by")
        other = theory.signature.variables[variable]
        if not other.is_same(domain):
            raise LogicValueError(
                f"Individuals of '{domain.name}' are coloured by a formula over that domain; `{text(own)}` "
                f"is over '{other.name}'."
            )
        fills = truths_of(theory, own, [variable], roster, data, options)
        title += f"; of individuals: {text(own, unicode=True)}"

    holds = truths >= threshold
    places = on_circle(len(roster.names)) if layout == "circle" else by_springs(holds)
    names = [shorten(name, 16) for name in roster.names]
    drawn = Nodes(places, names, fills, is_circle=layout == "circle")
    side = min(11.0, 4.8 + 0.11 * len(names) + drawn.beyond)
    figure = picture(side + 0.9, side)
    axes = figure.add_subplot()
    axes.axis("off")
    add_truth_bar(figure, axes)
    add_title(axes, title)
    note = _note(holds, threshold, free)
    add_note(figure, note)
    shown = drawn.draw(figure, axes)
    if shown < len(names):
        add_note(figure, f"{note} {len(names) - shown} names have no room: see layout='circle'.")
    for start, end in zip(*np.nonzero(holds), strict=True):
        label = f"{roster.names[start]} to {roster.names[end]}"
        look = _look(truths[start, end], threshold) | {"label": label}
        if start == end:
            _draw_ring(figure, axes, places[start], drawn.radius, look)
        else:
            _draw_arrow(axes, places[[start, end]], drawn.radius, bool(holds[end, start]), look)
    return figure


def _check(threshold: Any, layout: Any) -> None:
    number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if not number or not 0.0 <= float(threshold) <= 1.0:
        raise LogicValueError(
            f"`threshold` is the least truth of an arrow, a number from 0 to 1; got {threshold!r}."
        )
    if not isinstance(layout, str) or layout not in _LAYOUTS:
        raise LogicValueError(f"`layout` is one of {', '.join(map(repr, _LAYOUTS))}; got {layout!r}.")


def _note(holds: np.ndarray, threshold: float, free: list[str]) -> str:
    if not holds.any():
        said = f"No pair of individuals reaches a truth of {threshold:g}: there is no arrow."
    else:
        arrows = count_in_words(int(holds.sum()), "arrow")
        said = f"{arrows} from {free[0]} to {free[1]}, where the truth is at least {threshold:g}."
    if holds.sum() > _MANY:
        said += " A higher `threshold` leaves fewer."
    return said


def _look(truth: float, threshold: float) -> dict[str, Any]:
    strength = (truth - threshold) / (1.0 - threshold) if threshold < 1.0 else 1.0
    width = 1.0 + 2.0 * strength
    # A rim, as the middle of the colours is close to that of the paper.
    rim = withStroke(linewidth=width + 1.0, foreground="#777777")
    return {"color": colour(truth), "linewidth": width, "path_effects": [rim]}


def _draw_arrow(axes: Any, ends: np.ndarray, radius: float, bent: bool, look: dict[str, Any]) -> None:
    """An arrow between two nodes, bent where there is one in the other direction."""
    look |= {"connectionstyle": f"arc3,rad={0.14 if bent else 0.0}", "arrowstyle": "-|>"}
    look |= {"shrinkA": radius, "shrinkB": radius + 1.5, "mutation_scale": 8.0 + 2.0 * look["linewidth"]}
    (left, low), (right, high) = ends.tolist()
    axes.add_patch(FancyArrowPatch((left, low), (right, high), **look))


def _draw_ring(figure: Figure, axes: Any, place: np.ndarray, radius: float, look: dict[str, Any]) -> None:
    """A ring half behind a node, on the side away from the middle."""
    distance = float(np.linalg.norm(place))
    outward = place / distance if distance > 1e-6 else np.array([0.0, 1.0])
    across, up = 1.3 * radius / 72.0 * outward
    shift = ScaledTranslation(across, up, figure.dpi_scale_trans)
    edge = {"markeredgecolor": look.pop("color"), "markeredgewidth": look.pop("linewidth")}
    look |= edge | {"marker": "o", "markersize": 1.6 * radius, "markerfacecolor": "none", "linestyle": ""}
    axes.plot(*place[:, np.newaxis], transform=axes.transData + shift, zorder=2.0, **look)


class Nodes(NamedTuple):
    """The individuals of a graph: where they stand, what they are called, and truths that colour them."""

    places: np.ndarray
    names: list[str]
    truths: np.ndarray | None
    is_circle: bool

    @property
    def hold_names(self) -> bool:
        """Whether names are short enough to stand in the nodes."""
        return max(map(len, self.names)) <= 3

    @property
    def radius(self) -> float:
        """Of each node, in points."""
        return 11.0 if self.hold_names else 6.0

    @property
    def beyond(self) -> float:
        """How far names reach beyond a circle, in inches."""
        return 0.2 + 0.08 * max(map(len, self.names)) if self.is_circle and not self.hold_names else 0.0

    def draw(self, figure: Figure, axes: Any) -> int:
        """Draw them with their names; how many names there was room for."""
        truths = self.truths
        fills = ["#f7f7f7"] * len(self.names) if truths is None else [colour(truth) for truth in truths]
        look: dict[str, Any] = {"edgecolors": "#555555", "linewidths": 1.0, "zorder": 3.0}
        axes.scatter(*self.places.T, **look | {"s": (2.0 * self.radius) ** 2, "c": fills})
        # Of springs, names need room at the sides; of a circle, all around.
        across = up = 1.15 / (1.0 - self.beyond / (0.5 * figure.get_figheight() - 0.4))
        if self.is_circle:
            axes.set_aspect("equal")
        elif not self.hold_names:
            across = 1.4
        axes.set(xlim=(-across, across), ylim=(-up, up))
        if self.hold_names:
            self._write_inside(axes)
        elif self.is_circle:
            self._write_along_rays(axes)
        else:
            name_points(figure, axes, self.places, self.names, len(self.names), self.radius)
            rim = withStroke(linewidth=2.5, foreground=matplotlib.rcParams["figure.facecolor"])
            for written in axes.texts:
                written.set(zorder=4.0, path_effects=[rim])
        return len(axes.texts)

    def _write_inside(self, axes: Any) -> None:
        for index, (place, name) in enumerate(zip(self.places, self.names, strict=True)):
            on = "black" if self.truths is None else ink_on(self.truths[index])
            axes.text(*place, name, ha="center", va="center", fontsize=10, color=on, **_TEXT)

    def _write_along_rays(self, axes: Any) -> None:
        # So that long names do not meet.
        for (across, up), name in zip(self.places, self.names, strict=True):
            left, angle = across < -1e-6, np.degrees(np.arctan2(up, across))
            turned = {"rotation": angle + 180.0 if left else angle, "rotation_mode": "anchor"}
            where = {"ha": "right" if left else "left", "va": "center", "fontsize": 9}
            # Behind a ring.
            offset = (15.0 * across, 15.0 * up)
            axes.annotate(name, (across, up), offset, textcoords="offset points", **turned | where | _TEXT)
