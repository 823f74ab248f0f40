"""Curves over the epochs, with confidence bands over the runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from examples.harness.experiment import Run
from examples.harness.tables import half_width
from ltn.plot.style import COLOURS, add_title, picture


class Line(NamedTuple):
    """A curve to draw: its name in the runs of one setting."""

    runs: Sequence[Run]
    curve: str


class Panel(NamedTuple):
    """One pair of axes: lines by their labels in the legend."""

    title: str
    lines: Mapping[str, Line]
    limits: tuple[float, float | None] = (0.0, 1.0)
    across: str = "epoch"


def draw(rows: Mapping[str, Sequence[Panel]]) -> Figure:
    """Rows of panels by name; each line is the mean over runs, its 95 % confidence interval is a band.

    The names are part of the titles where there is more than one row.
    """
    columns = max(map(len, rows.values()))
    labels = dict.fromkeys(label for panels in rows.values() for panel in panels for label in panel.lines)
    colours = dict(zip(labels, itertools.cycle(COLOURS), strict=False))
    figure = picture(0.6 + 4.4 * columns, 0.4 + 3.6 * len(rows))
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for row, (name, panels) in zip(grid, rows.items(), strict=True):
        for axes, panel in zip(row, panels, strict=False):
            _draw(axes, panel, colours)
            add_title(axes, f"{panel.title}: {name}" if len(rows) > 1 else panel.title)
        for axes in row[len(panels) :]:
            axes.set_axis_off()
    return figure


def accuracy_and_satisfaction(runs: Sequence[Run]) -> list[Panel]:
    """The two panels that most experiments have: on the training and on the test part."""
    parts = ("train", "test")
    return [
        Panel(what.capitalize(), {part: Line(runs, f"{part} {what}") for part in parts})
        for what in ("accuracy", "satisfaction")
    ]


def _draw(axes: Any, panel: Panel, colours: Mapping[str, str]) -> None:
    for label, (runs, curve) in panel.lines.items():
        values = np.array([run.curves[curve] for run in runs])
        epochs, mean, colour = runs[0].epochs, values.mean(axis=0), colours[label]
        many = len(runs) > 1
        name = f"{label} ({len(runs)} runs)" if many else label
        # Over the frame, so that a line along 0 or 1 is seen whole.
        axes.plot(epochs, mean, color=colour, label=name, clip_on=False, zorder=3.0)
        if many:
            band = np.array([half_width(column) for column in values.T])
            axes.fill_between(epochs, mean - band, mean + band, color=colour, alpha=0.2, linewidth=0)
    axes.set(xlabel=panel.across, ylim=panel.limits)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, framealpha=0.8)
