"""All experiments by one command, as `make reproduce` runs them, but briefly; and each once more."""

import contextlib
import functools
import io
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import keras
import pytest
from matplotlib.figure import Figure

from examples import addition
from examples.__main__ import EXPERIMENTS, main
from examples.harness import Experiment, Recorder, Setting, data, runs, study
from tests.examples.pictures import PICTURES
from tests.examples.test_command_line import rows, summary
from tests.examples.test_experiments import setting_of

SHORT = {"epochs": 2, "train_size": 40}
# Of the images of digits on which runs are measured.
TEST_IMAGES = 200


class Reproduction(NamedTuple):
    """The exit status of the command, and what it said."""

    status: int
    said: str


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(autouse=True)
def _few_test_images(monkeypatch: pytest.MonkeyPatch) -> None:
    images_for = addition.images_for

    def few(setting: Setting) -> data.Images:
        found = images_for(setting)
        return found._replace(test=found.test[:TEST_IMAGES], test_labels=found.test_labels[:TEST_IMAGES])

    monkeypatch.setattr(addition, "images_for", few)


def save_small(figure: Figure, path: Any, dpi: int) -> None:
    """As a picture of few pixels, which take less time."""
    print_figure(figure, path, dpi=dpi / 4)


print_figure = Figure.savefig


@functools.cache
def reproduction(out: Path) -> Reproduction:
    """Made within the first test: before it, nothing keeps the machine's data away."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as said,
        mock.patch.object(Figure, "savefig", save_small),
    ):
        status = main(["run", "all", "--epochs", "2", "--train-size", "40", "--out", str(out)])
    return Reproduction(status, said.getvalue())


def test_the_table_has_every_row(tmp_path: Path, out: Path) -> None:
    status, said = reproduction(out)
    assert status == 0
    expected = [
        (experiment.name, setting.changed(**SHORT).name, metric.name)
        for experiment in EXPERIMENTS.values()
        for setting in experiment.settings()
        for metric in setting.metrics
    ]
    assert [(r["experiment"], r["setting"], r["metric"]) for r in summary(out)] == expected
    assert [tuple(cell.strip() for cell in row.split("|")[1:4]) for row in rows(said)] == expected
    assert {path.stem for path in out.glob("*.png")} == set().union(*PICTURES.values())
    study.write(out, EXPERIMENTS, tmp_path / "RESULTS.md")
    page = (tmp_path / "RESULTS.md").read_text()
    for heading in ("# Results", "## Digits", "## Findings", "## What was run"):
        assert heading in page
    assert len(rows(page)) > len(expected)


class Started(Exception):  # noqa: N818
    """Ends a run before its training, with what it measured."""


def started(experiment: Experiment, setting: Setting, seed: int) -> dict[str, list[float]]:
    """The beginnings of the curves of a run: the first step takes longer than all that comes before it."""

    def measure(recorder: Recorder, logs: Any = None) -> None:
        raise Started({name: [float(value)] for name, value in recorder.measure().items()})

    keras.utils.set_random_seed(seed)
    with mock.patch.object(Recorder, "on_train_begin", measure), pytest.raises(Started) as ended:
        experiment.run(setting, seed)
    return ended.value.args[0]


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        *((name, None) for name in EXPERIMENTS if name != "addition"),
        ("addition", "single"),
        ("addition", "two"),
        ("addition", "single, baseline"),
    ],
)
def test_a_seed_gives_the_same_run_again(
    name: str, setting: str | None, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduction(out)
    # Drawn by the command; here only numbers are of interest.
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, dpi: path.touch())
    experiment = EXPERIMENTS[name]
    short = setting_of(experiment, setting).changed(**SHORT)
    # The command ran seed 0, after other experiments.
    runs.perform(experiment, [short], [0], tmp_path, say=lambda text: None)
    [done] = runs.finished(tmp_path, experiment)
    [again] = done.runs
    found = {done.name: done.runs for done in runs.finished(out, experiment)}
    [first] = found[short.name]
    assert first.metrics == again.metrics
    assert first.curves == again.curves
    if name != "reasoning":  # which begins at 0 whatever the seed
        assert {name: values[:1] for name, values in first.curves.items()} != started(experiment, short, 1)
