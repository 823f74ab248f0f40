"""Histograms: how true an axiom is of each of the groundings that it speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.language import Node, text
from ltn.plot.points import check_theory
from ltn.plot.style import add_legend, add_title, colour, ink, picture
from ltn.semantics import BaseSemantics
from ltn.theory import Theory

_BINS = 20


def histogram(
    theory: Theory,
    axiom: str | Node | Axiom,
    data: Mapping[str, Any] | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    **named: Any,
) -> Figure:
    """How many groundings of an axiom are how true, and its satisfaction as a line.

    The universal quantifiers at the front of the axiom are taken off, as by `theory.explain`: a grounding is
    a choice of individuals for their variables. Of an axiom without them there is one.

    Args:
        theory: whose axiom it is.
        axiom: an axiom, also by its name; or any formula without free variables.
        data: individuals for variables, by name.
        semantics, p, named: as for `theory.query`.

    >>> import ltn.plot
    >>> theory = ltn.Theory("product")
    >>> numbers = theory.domain("numbers")
    >>> d, P = theory.variable("d", numbers), theory.predicate("P", numbers, lambda d: d[:, 0])
    >>> axiom = theory.axiom("forall d: P(d)", name="all")
    >>> figure = ltn.plot.histogram(theory, "all", {"d": [0.11, 0.12, 0.88]})
    >>> [int(bar.get_height()) for bar in figure.axes[0].patches if bar.get_height()]
    [2, 1]
    """
    check_theory(theory)
    node, known = questions.read_formula(theory, axiom, "a histogram")
    if not theory.signature.sort_of(node).is_formula:
        raise LogicTypeError(f"A histogram shows the truth of a formula; `{text(node)}` is a term.")
    free = theory.signature.free_variables(node)
    if free:
        raise LogicValueError(
            f"A histogram shows an axiom, which has no free variables; `{text(node)}` has {', '.join(free)}. "
            f"Write forall {', '.join(free)}: before it."
        )
    asked = questions.Question(data, semantics, p, named)
    evaluation = questions.evaluation_for(theory, asked)
    prepared = evaluation.space.prepare(node)
    own = {} if known is None else questions.options_of(theory, known, asked)
    found = evaluation.instances(node, own)
    truths = evaluation.space.truth(found.values).numpy().reshape(-1)
    if not truths.size or not found.are_claimed:
        raise LogicValueError(
            f"There is nothing to draw: the guards of `{text(node)}` select no individuals of these data."
        )
    [value] = evaluation.ground([prepared], [own])
    title = ("" if known is None else f"{known.name}:  ") + text(node, unicode=True)
    return _draw(truths, float(evaluation.space.truth(value.tensor)), title)


def _draw(truths: np.ndarray, satisfaction: float, title: str) -> Figure:
    # Truths leave [0, 1] by rounding.
    counts, edges = np.histogram(np.clip(truths, 0.0, 1.0), _BINS, (0.0, 1.0))
    middles, width = 0.5 * (edges[:-1] + edges[1:]), 1.0 / _BINS
    figure = picture(8.0, 4.2)
    axes = figure.add_subplot()
    look: dict[str, Any] = {"color": [colour(middle) for middle in middles], "edgecolor": "#555555"}
    bars = axes.bar(middles, counts, width=width, linewidth=0.8, **look)
    # A few groundings that fail must be seen beside many that do not.
    axes.bar_label(bars, [str(count) if count else "" for count in counts], fontsize=8, padding=1)
    line = axes.axvline(satisfaction, color=ink(), linewidth=2.0, clip_on=False)
    # A rim, as it may lie on bars of its own colour.
    line.set_path_effects([withStroke(linewidth=4.0, foreground=matplotlib.rcParams["axes.facecolor"])])
    said = f"satisfaction of the axiom  {satisfaction:.3f}"
    add_legend(figure, [line], [said], loc="outside lower center")
    axes.set(xlabel="truth", ylabel=f"groundings, {len(truths)} in all", xlim=(0.0, 1.0))
    axes.margins(y=0.1)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    add_title(axes, title, 76)
    return figure
