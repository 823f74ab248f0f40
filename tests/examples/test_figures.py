"""Curves with confidence bands, and what is measured while a model learns."""

from typing import Any

import keras
import numpy as np
import pytest

from examples.harness import Line, Panel, Recorder, Run, draw, tables

CURVES = [[0.1, 0.5, 0.9], [0.3, 0.5, 0.7]]


def runs(count: int) -> list[Run]:
    return [Run({}, {"accuracy": values}, [0, 10, 20]) for values in CURVES[:count]]


def panel(count: int, *labels: str) -> Panel:
    return Panel("Accuracy", {label: Line(runs(count), "accuracy") for label in labels})


def test_a_line_is_the_mean_of_the_runs_and_its_band_their_interval() -> None:
    axes: Any = draw({"paper": [panel(2, "test")]}).axes[0]
    [line], [band] = axes.lines, axes.collections
    np.testing.assert_allclose(line.get_xdata(), [0, 10, 20])
    np.testing.assert_allclose(line.get_ydata(), np.mean(CURVES, axis=0))
    corners = band.get_paths()[0].vertices
    for index, epoch in enumerate([0, 10, 20]):
        values = [curve[index] for curve in CURVES]
        drawn = corners[corners[:, 0] == epoch, 1]
        middle, half = np.mean(values), tables.half_width(values)
        np.testing.assert_allclose([drawn.min(), drawn.max()], [middle - half, middle + half])
    assert axes.get_legend().get_texts()[0].get_text() == "test (2 runs)"


def test_one_run_has_no_band() -> None:
    axes: Any = draw({"paper": [panel(1, "test")]}).axes[0]
    assert not axes.collections
    assert axes.get_legend().get_texts()[0].get_text() == "test"


def test_a_label_has_one_colour_in_all_panels() -> None:
    figure = draw({"large": [panel(1, "a", "b", "c"), panel(1, "c")], "small": [panel(1, "b")]})
    colours = [[line.get_color() for line in axes.lines] for axes in figure.axes]
    assert len(set(colours[0])) == 3
    assert colours[1] == [colours[0][2]]
    assert colours[2] == [colours[0][1]]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["Accuracy: large", "Accuracy: large", "Accuracy: small", ""]


def test_a_recorder_measures_first_every_few_epochs_and_last() -> None:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    count = iter(range(100))
    recorder = Recorder(lambda: {"count": next(count)}, every=3)
    model.fit(np.zeros((4, 1)), np.zeros(4), epochs=8, callbacks=[recorder], verbose=0)
    assert recorder.epochs == [0, 3, 6, 8]
    assert recorder.curves == {"count": [0.0, 1.0, 2.0, 3.0]}
    assert recorder.last == {"count": 3.0}


def test_a_terminal_is_told_the_epoch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(dict)
    recorder.set_params({"epochs": 20})
    recorder.on_epoch_end(4)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    recorder.on_epoch_end(4)
    assert "epoch 5 of 20" in capsys.readouterr().out
