"""Truth surfaces: the truth of a formula over a rectangle of a plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ltn.checks import check_whole
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge import questions
from ltn.language import Domain, Node, text
from ltn.plot.points import check_theory, joined
from ltn.plot.style import TRUTH, add_legend, add_title, picture
from ltn.plot.texts import fit_text
from ltn.theory import Theory

# Each kind of points by mark and colour, readable on all colours of truth.
_POINTS = (
    ("o", "white"),
    ("X", "black"),
    ("^", "#F0E442"),
    ("s", "#009E73"),
    ("D", "#CC79A7"),
    ("v", "#E69F00"),
)


class _Rectangle(NamedTuple):
    """The rectangle of the plane that is drawn: (low, high) of each feature."""

    across: tuple[float, float]
    up: tuple[float, float]


def surface(
    theory: Theory,
    query: str | Node,
    variable: str | None = None,
    bounds: Any = None,
    resolution: int = 100,
    points: Any = None,
    *,
    data: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """The truth of a formula with one free variable over a rectangle of its domain, of two features.

    A line marks where the truth is 0.5.

    Args:
        theory: the theory of the formula.
        query: the formula, as text or as a syntax tree.
        variable: the free variable; by default the only one.
        bounds: ((low, high), (low, high)) of the two features, or (low, high) of both; by default those of
            the domain, or else the unit square, or a rectangle around points that leave it.
        resolution: how many individuals along each side.
        points: points to draw on the surface, an array (n, 2); or a dictionary of such arrays by label.
        data: individuals for the quantified variables.
        options: further arguments of `theory.query`: `semantics`, `p`, hyper-parameters.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> plane = theory.domain("plane", shape=2, bounds=(-1, 1))
    >>> x = theory.variable("x", plane)
    >>> P = theory.predicate("right", plane, lambda x: (1 + x[:, 0]) / 2)
    >>> figure = ltn.plot.surface(theory, "~right(x)", resolution=3)
    >>> figure.axes[0].images[0].get_array()[0].tolist()
    [1.0, 0.5, 0.0]
    """
    check_theory(theory)
    tree = questions.read_query(theory, query)
    variable = _variable(theory, tree, variable)
    drawn = _groups(points)
    check_whole("resolution", resolution, least=2)
    sides = _rectangle(theory.signature.variables[variable], bounds, drawn)
    across, up = (np.linspace(low, high, resolution) for low, high in sides)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    answer = theory.query(tree, joined(theory, data, {variable: grid.reshape(-1, 2)}), **options)
    truths = answer.tensor.numpy().reshape(grid.shape[:2])

    figure = picture(6.4, 5.6)
    axes = figure.add_subplot()
    image = _paint(axes, across, up, truths)
    bar = figure.colorbar(image, ax=axes, label="truth", ticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    handles: list[Any] = []
    labels: list[str] = []
    if truths.min() < 0.5 < truths.max():
        axes.contour(across, up, truths, levels=[0.5], colors="black", linewidths=1.5)
        bar.ax.axhline(0.5, color="black", linewidth=1.5)
        handles.append(Line2D([], [], color="black", linewidth=1.5))
        labels.append("truth 0.5")
    for index, (label, rows) in enumerate(drawn.items()):
        marker, fill = _POINTS[index % len(_POINTS)]
        look: dict[str, Any] = {"edgecolors": "white" if fill == "black" else "black", "linewidths": 0.8}
        handles.append(axes.scatter(rows[:, 0], rows[:, 1], s=34, marker=marker, c=fill, **look))
        labels.append(fit_text(str(label), 30))
    if handles:
        add_legend(figure, handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
    axes.set(xlim=sides.across, ylim=sides.up)
    axes.set(xlabel=f"first feature of {variable}", ylabel=f"second feature of {variable}")
    add_title(axes, f"Truth of {text(tree, unicode=True)}")
    return figure


def _variable(theory: Theory, tree: Node, variable: str | None) -> str:
    """The free variable, checked."""
    written = text(tree)
    if not theory.signature.sort_of(tree).is_formula:
        raise LogicTypeError(f"A surface shows the truth of a formula; `{written}` is a term.")
    free = theory.signature.free_variables(tree)
    if len(free) != 1:
        raise LogicValueError(
            f"A surface shows a formula with one free variable; `{written}` has "
            f"{f'{len(free)}: ' if free else 'none'}{', '.join(free)}. "
            + (
                "Quantify the others, or put constants in their places."
                if free
                else "Leave out a quantifier."
            )
        )
    if variable is not None and variable != free[0]:
        raise LogicValueError(
            f"The free variable of `{written}` is '{free[0]}'; got `variable` {variable!r}."
        )
    domain = theory.signature.variables[free[0]]
    if domain.shape != (2,) or domain.bounds == "simplex":
        what = "bounds 'simplex'" if domain.shape == (2,) else f"shape {domain.shape}"
        raise LogicValueError(
            "A surface is drawn over a rectangle of individuals with two features, of shape (2,); the domain "
            f"'{domain.name}' of '{free[0]}' has the {what}. For other individuals see ltn.plot.heat_map."
        )
    return free[0]


def _groups(points: Any) -> dict[Any, np.ndarray]:
    """The points by label, each group an array (n, 2)."""
    if points is None:
        return {}
    named = points if isinstance(points, Mapping) else {"points": points}
    groups = {label: np.asarray(rows, float) for label, rows in named.items()}
    for label, rows in groups.items():
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise LogicValueError(
                "Points have the shape (n, 2), or are a dictionary of such arrays; those of "
                f"{label!r} have the shape {rows.shape}."
            )
    return groups


def _rectangle(domain: Domain, bounds: Any, drawn: Mapping[Any, np.ndarray]) -> _Rectangle:
    if bounds is None:
        sides = _default(domain, drawn)
    else:
        try:
            sides = np.broadcast_to(np.asarray(bounds, float), (2, 2))
        except (TypeError, ValueError):
            sides = np.full((2, 2), np.nan)
    if not np.isfinite(sides).all() or not (sides[:, 0] < sides[:, 1]).all():
        raise LogicValueError(
            "`bounds` are ((low, high), (low, high)) of the two features, or (low, high) of both, with "
            f"low < high; got {bounds if bounds is not None else domain.bounds!r}."
        )
    across, up = ((float(low), float(high)) for low, high in sides)
    return _Rectangle(across, up)


def _default(domain: Domain, drawn: Mapping[Any, np.ndarray]) -> np.ndarray:
    if isinstance(domain.bounds, tuple):
        return np.array([domain.bounds, domain.bounds])
    rows = np.concatenate([np.empty((0, 2)), *drawn.values()])
    if np.all((rows >= 0.0) & (rows <= 1.0)):
        return np.array([[0.0, 1.0], [0.0, 1.0]])
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    return np.stack([low - margin, high + margin], axis=1)


def _paint(axes: Any, across: np.ndarray, up: np.ndarray, truths: np.ndarray) -> Any:
    # Individuals stand in the middle of cells, so that the outer cells end beyond the rectangle.
    right, top = 0.5 * (across[1] - across[0]), 0.5 * (up[1] - up[0])
    extent = (across[0] - right, across[-1] + right, up[0] - top, up[-1] + top)
    # True to scale, unless that made the picture a thin strip.
    is_strip = not 1 / 3 <= right / top <= 3
    return axes.imshow(
        truths,
        cmap=TRUTH,
        vmin=0.0,
        vmax=1.0,
        origin="lower",
        extent=extent,
        interpolation="bilinear",
        aspect="auto" if is_strip else "equal",
    )
