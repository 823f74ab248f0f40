"""`python -m examples`: what is run, kept and written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from examples import __main__, reasoning
from examples.__main__ import EXPERIMENTS, main
from examples.harness import DataError, Experiment, Metric, Run, Setting, runs, study
from tests.examples.pictures import PICTURES

KEYS = ["experiment", "setting", "metric", "paper", "mean", "ci95", "worst", "values", "runs", "collapsed"]


def summary(out: Path) -> list[dict[str, Any]]:
    return json.loads((out / "summary.json").read_text())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """An experiment that takes no time, in the place of reasoning; which of its runs were made."""
    made: list[tuple[str, int]] = []

    def run(setting: Setting, seed: int) -> Run:
        made.append((setting.name, seed))
        return Run({"score": seed / 10}, {"score": [0.0, seed / 10]}, [0, setting.epochs])

    def settings() -> tuple[Setting, ...]:
        metric = Metric("score", 0.5, 0.1)
        return tuple(
            Setting(name, (metric,), 7, 40, {"kind": kind, "size": 1.5})
            for name, kind in (("plain", "a"), ("other", "b"))
        )

    options = {"kind": ("a", "b", "c"), "size": (1.5,)}
    experiment = Experiment("reasoning", "4.8", "Quick", settings, run, lambda runs: {}, options=options)
    monkeypatch.setitem(EXPERIMENTS, "reasoning", experiment)
    return made


def test_the_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    names = "binary iris crabs addition regression clustering smokers reasoning".split()  # noqa: SIM905
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == names
    assert "p=schedule|1|2" in listed


def test_what_a_run_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    assert main(["run", "reasoning", "--runs", "2", "--epochs", "100", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    records = summary(out)
    assert all(list(record) == KEYS for record in records)
    [refuted] = [record for record in records if record["metric"] == "A is refuted by refutation"]
    assert refuted["values"] == [1.0, 1.0]
    assert (refuted["setting"], refuted["runs"], refuted["collapsed"]) == ("paper, 100 epochs", 2, 0)
    # The paper says nothing about a changed setting.
    assert refuted["paper"] is None
    table = (out / "table.md").read_text()
    assert table in said + "\n"
    assert "A is refuted by refutation" in table
    assert f"{out}/report.html" in said
    pictures = {path.stem for path in out.glob("*.png")}
    assert pictures == PICTURES["reasoning"]
    page = (out / "report.html").read_text()
    assert set(re.findall(r'<img alt="(\w+)" src="data:image/png;base64,', page)) == pictures
    assert "<td>A is refuted by refutation</td>" in page
    assert "[2/2] paper, 100 epochs, seed 1" in said


def test_the_papers_figures_stand_beside_the_papers_setting(tmp_path: Path) -> None:
    runs.perform(reasoning.EXPERIMENT, reasoning.settings(), [0], tmp_path, say=lambda text: None)
    [done] = runs.finished(tmp_path, "reasoning")
    assert done.metrics == reasoning.settings()[0].metrics


def test_finished_runs_are_kept(
    counted: list[tuple[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "reasoning", "--scenario", "a", "--out", str(tmp_path)]
    assert main([*command, "--seed", "3"]) == 0
    assert main([*command, "--seed", "2", "--runs", "2"]) == 0
    assert counted == [("plain", 3), ("plain", 2)]
    assert "seed 3: finished before, kept" in capsys.readouterr().out
    [record] = summary(tmp_path)
    assert record["values"] == [0.2, 0.3]
    assert main([*command, "--seed", "3", "--fresh"]) == 0
    assert counted[2:] == [("plain", 3)]


def test_a_run_of_other_data_does_not_count(
    counted: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = EXPERIMENTS["reasoning"]
    [setting, *_] = experiment.settings()
    for source in ("some sales", "other sales", "other sales"):
        changed = Setting(setting.name, setting.metrics, 7, 40, setting.options, source)
        runs.perform(experiment, [changed], [0], tmp_path, say=lambda text: None)
    assert len(counted) == 2


def test_an_interruption_keeps_what_is_finished(
    counted: list[tuple[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = EXPERIMENTS["reasoning"]

    def interrupted(setting: Setting, seed: int) -> Run:
        if len(counted) == 2:
            raise KeyboardInterrupt
        return whole.run(setting, seed)

    stopping = Experiment("reasoning", "4.8", "Quick", whole.settings, interrupted, whole.curves)
    monkeypatch.setitem(EXPERIMENTS, "reasoning", stopping)
    command = ["run", "reasoning", "--runs", "3", "--out", str(tmp_path)]
    assert main(command) == 130
    assert "The finished runs are kept" in capsys.readouterr().err
    assert [(record["setting"], record["runs"]) for record in summary(tmp_path)] == [("plain", 2)]
    monkeypatch.setitem(EXPERIMENTS, "reasoning", whole)
    assert main(command) == 0
    made = [("plain", 0), ("plain", 1), ("plain", 2), ("other", 0), ("other", 1), ("other", 2)]
    assert counted == made
    assert [record["runs"] for record in summary(tmp_path)] == [3, 3]


@pytest.mark.parametrize(
    ("scenario", "made"),
    [
        (["kind=b"], ["other"]),
        (["a"], ["plain"]),
        (["kind=c"], ["plain, kind=c"]),
        (["size=0.09"], ["plain, size=0.09"]),
        (["b", "size=2"], ["plain, kind=b, size=2.0"]),
    ],
)
def test_scenarios(
    scenario: list[str], made: list[str], counted: list[tuple[str, int]], tmp_path: Path
) -> None:
    assert main(["run", "reasoning", "--out", str(tmp_path), "--scenario", *scenario]) == 0
    assert [name for name, _ in counted] == made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reasoning", "--scenario", "kind=z"], r"no scenario 'kind=z'; it has: kind=a\|b\|c size=NUMBER"),
        (["reasoning", "--scenario", "size=big"], "no scenario 'size=big'"),
        (["iris", "--scenario", "p=1"], "iris has no scenario 'p=1'; it has: none"),
        (["iris", "--train-size", "150"], "Of 150 examples at most 149"),
        (["iris", "--data", "nowhere"], "There is no folder nowhere"),
    ],
)
def test_wrong_choices_are_explained(
    arguments: list[str],
    message: str,
    counted: list[tuple[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LTN_DATA", "")  # so that --data, which sets it, is undone
    assert main(["run", *arguments, "--out", str(tmp_path)]) == 1
    assert re.search(message, capsys.readouterr().err)
    assert not counted


def test_scenarios_of_addition() -> None:
    """The experiment with the most: a value alone chooses settings, a new choice makes some."""

    def chosen(*scenario: str, full: bool = False) -> list[str]:
        settings = __main__._settings(EXPERIMENTS["addition"], full, scenario)
        return [setting.name for setting in settings]

    assert chosen("single") == ["single", "single, stable_product", "single, baseline"]
    assert chosen("baseline", "two") == ["two, baseline"]
    assert chosen("p=1") == ["two, stable_product, p=1"]
    assert chosen("rate=decay") == ["single, rate=decay", "two, rate=decay"]
    with pytest.raises(DataError, match=r"30000|60000"):
        chosen("single", full=True)


@pytest.mark.parametrize("arguments", [["iris", "--runs", "0"], ["iris", "--epochs", "few"], ["irises"]])
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", *arguments])
    assert re.search("a whole number of at least 1|invalid choice: 'irises'", capsys.readouterr().err)


def test_the_table_of_all_experiments_has_every_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `make reproduce` runs them, but briefly."""
    assert main(["run", "all", "--epochs", "2", "--train-size", "40", "--out", str(tmp_path)]) == 0
    expected = [
        (experiment.name, setting.changed(epochs=2, train_size=40).name, metric.name)
        for experiment in EXPERIMENTS.values()
        for setting in sorted(experiment.settings(), key=lambda setting: setting.name)
        for metric in setting.metrics
    ]
    assert [(r["experiment"], r["setting"], r["metric"]) for r in summary(tmp_path)] == expected
    rows = [tuple(cell.strip() for cell in row.split("|")[1:4]) for row in _rows(capsys.readouterr().out)]
    assert rows == expected
    assert {path.stem for path in tmp_path.glob("*.png")} == set().union(*PICTURES.values())
    study.write(tmp_path, EXPERIMENTS.values(), tmp_path / "RESULTS.md")
    page = (tmp_path / "RESULTS.md").read_text()
    for heading in ("# Results", "## Digits", "## Findings", "## What was run"):
        assert heading in page
    assert len(_rows(page)) > len(expected)


def _rows(text: str) -> list[str]:
    names = "|".join(EXPERIMENTS)
    return [line for line in text.splitlines() if re.match(rf"\| ({names}) +\|", line)]


def test_the_study_runs_everything_and_says_where_the_paper_is_not_met(
    counted: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"reasoning": EXPERIMENTS["reasoning"]})
    page = tmp_path / "RESULTS.md"
    assert main(["study", "--out", str(tmp_path / "out"), "--to", str(page)]) == 0
    assert len(counted) == 2 * study.RUNS
    text = page.read_text()
    assert "0.450 ± 0.217" in text  # of 0, 0.1, ..., 0.9; inside the paper's 0.5 ± 0.1
    assert "falls short" not in text
    assert "| 0 to 9 | " in text
