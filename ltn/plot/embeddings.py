"""Individuals in the plane: where those of a domain lie, learned ones as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from ltn.errors import LogicValueError
from ltn.language import Domain, Node, text
from ltn.plot.labels import name_points
from ltn.plot.points import find_domain, individuals_of, read_formula, truths_of
from ltn.plot.style import COLOURS, TRUTH, add_note, add_title, add_truth_bar, picture
from ltn.plot.tables import check_most
from ltn.plot.texts import count_in_words, shorten
from ltn.theory import Theory


class _View(NamedTuple):
    """Points in the plane, (n, 2), and what the axes are."""

    points: np.ndarray
    across: str
    up: str


def embeddings(
    theory: Theory,
    domain: Domain | str,
    colour: str | Node | None = None,
    *,
    most: int = 60,
    data: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """The individuals of a domain in the plane, with their names, perhaps coloured by the truth of a formula.

    Two features are drawn as they are; one is drawn on a line. More are projected on the two directions in
    which the individuals differ most, their principal components; the axes tell the share of the variance.
    Names that would overlap others are left out.

    Args:
        theory: whose domain it is.
        domain: one with individuals of its own, constants or values; or its name.
        colour: the name of a predicate of one argument, or a formula with one free variable over the domain.
        most: how many names are written.
        data: individuals for quantified variables of the formula.
        options: further ones as for `theory.query`: `semantics`, `p`, hyper-parameters.

    >>> import ltn.plot
    >>> theory = ltn.Theory()
    >>> towns = theory.domain("towns", values={"Rome": [0.1, 0.4], "Seoul": [0.9, 0.5], "Lima": [0.2, 0.1]})
    >>> u, P = theory.variable("u", towns), theory.predicate("east", towns, lambda town: town[:, 0])
    >>> figure = ltn.plot.embeddings(theory, "towns", "~east(u)")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['Rome', 'Seoul', 'Lima']
    >>> figure.axes[0].collections[0].get_array().round(2).tolist()
    [0.9, 0.1, 0.8]
    """
    check_most(most, "names")
    known = find_domain(theory, domain)
    roster = individuals_of(theory, known)
    rows = np.asarray(roster.features, float).reshape(len(roster.names), -1)
    truths, said = None, ""
    if colour is not None:
        tree, free = read_formula(theory, colour, 1, "Points are coloured by")
        if not theory.signature.variables[free[0]].is_same(known):
            raise LogicValueError(
                f"Points of the domain '{known.name}' are coloured by a formula over it; `{text(tree)}` is "
                f"over '{theory.signature.variables[free[0]].name}'."
            )
        truths = truths_of(theory, tree, free, roster, data, options)
        said = text(tree, unicode=True)
    return _draw(known.name, roster.names, _view(rows), truths, said, most)


def _draw(
    domain: str, names: tuple[str, ...], view: _View, truths: np.ndarray | None, said: str, most: int
) -> Figure:
    flat = not view.up
    figure = picture(8.0, 2.6 if flat else 6.0)
    axes = figure.add_subplot()
    look: dict[str, Any] = {"s": 46 if len(names) <= 200 else 18, "linewidths": 0.7, "edgecolors": "#555555"}
    if truths is None:
        axes.scatter(*view.points.T, **look | {"color": COLOURS[0]})
    else:
        look |= {"c": truths, "cmap": TRUTH, "vmin": 0.0, "vmax": 1.0}
        axes.scatter(*view.points.T, **look)
        add_truth_bar(figure, axes)
    axes.set(xlabel=view.across, ylabel=view.up)
    axes.margins(0.12)
    spans = np.ptp(view.points, axis=0)
    if flat:
        axes.set_ylim(-1.0, 1.0)
        axes.set_yticks([])
        axes.spines[["left", "top", "right"]].set_visible(False)
    elif spans.min() > 0.2 * spans.max():
        # True to scale, unless that made the picture a thin strip.
        axes.set_aspect("equal", adjustable="datalim")
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    add_title(axes, f"Individuals of {domain}" + (f", by the truth of {said}" if said else ""))
    note = count_in_words(len(names), "individual")
    # First without the names, as it takes room that they do not have.
    add_note(figure, note)
    shown = name_points(figure, axes, view.points, [shorten(name, 20) for name in names], most)
    if shown < len(names):
        add_note(figure, f"{note}, {shown} of them with a name")
    return figure


def _view(rows: np.ndarray) -> _View:
    """The features as places in the plane."""
    count = rows.shape[1]
    if count == 1:
        return _View(np.concatenate([rows, np.zeros_like(rows)], axis=1), "the only feature", "")
    if count == 2:
        return _View(rows, "first feature", "second feature")
    centred = rows - rows.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    total = float(np.sum(sizes**2))
    places, labels = np.zeros((len(rows), 2)), ["first main direction", "second main direction"]
    for index, (size, direction) in enumerate(zip(sizes[:2], directions[:2], strict=True)):
        # A direction may as well be turned round: its largest part is positive, so that pictures are alike.
        places[:, index] = centred @ direction * np.sign(direction[np.argmax(np.abs(direction))])
        if total:
            labels[index] += f" ({size**2 / total:.0%} of the variance of {count} features)"
    return _View(places, *labels)
