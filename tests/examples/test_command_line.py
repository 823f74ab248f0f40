"""`python -m examples`: what is run, kept and written."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from examples import __main__, addition, reasoning
from examples.__main__ import EXPERIMENTS, main
from examples.harness import DataError, Experiment, Metric, Run, Setting, report, runs, study, tables
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
    [done] = runs.finished(tmp_path, reasoning.EXPERIMENT)
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


def test_runs_of_other_data_are_not_averaged_with_these(tmp_path: Path) -> None:
    """Only the runs like the latest count, in number and in value."""
    source = "some sales"
    experiment = Experiment(
        "iris",
        "4.2",
        "Quick",
        lambda: (Setting("paper", (Metric("score"),), 7),),
        lambda setting, seed: Run({"score": float(len(source))}),
        lambda runs: {},
        data=lambda setting: source,
    )
    runs.perform(experiment, experiment.settings(), range(3), tmp_path, say=lambda text: None)
    source = "other"
    runs.perform(experiment, experiment.settings(), [1], tmp_path, say=lambda text: None)
    [done] = runs.finished(tmp_path, experiment)
    assert (done.seeds, [run.metrics["score"] for run in done.runs]) == ([1], [5.0])
    assert done.identity["data"] == "other"


def test_a_run_that_diverged_counts(tmp_path: Path) -> None:
    experiment = Experiment(
        "iris",
        "4.2",
        "Quick",
        lambda: (Setting("paper", (Metric("score", 0.5),), 7),),
        lambda setting, seed: Run({"score": math.nan if seed else 1.0}),
        lambda runs: {},
    )
    runs.perform(experiment, experiment.settings(), range(2), tmp_path, say=lambda text: None)
    table = report.write(tmp_path, [experiment])
    [record] = summary(tmp_path)
    assert record["values"] == [1.0, None]
    assert (record["mean"], record["worst"], record["runs"], record["collapsed"]) == (None, None, 2, 1)
    assert "nan ± nan" in table
    [metric] = experiment.settings()[0].metrics
    assert tables.falls_short(record, metric)


def test_a_file_that_cannot_be_read_is_run_again(counted: list[tuple[str, int]], tmp_path: Path) -> None:
    command = ["run", "reasoning", "--scenario", "a", "--out", str(tmp_path)]
    assert main(command) == 0
    (tmp_path / "runs/reasoning/plain/seed-0.json").write_text("{")
    assert main(command) == 0
    assert counted == [("plain", 0), ("plain", 0)]


def test_pictures_are_those_of_the_papers_setting_and_not_of_a_collapsed_run(tmp_path: Path) -> None:
    def run(setting: Setting, seed: int) -> Run:
        figure = Figure()
        figure.text(0, 0, f"{setting.name} {seed}")
        return Run({"score": 0.0}, collapsed=seed == 0, pictures={"iris_drawn": figure})

    settings = tuple(Setting(name, (Metric("score"),), 7) for name in ("paper", "another"))
    experiment = Experiment("iris", "4.2", "Quick", lambda: settings, run, lambda runs: {})
    runs.perform(experiment, settings, range(3), tmp_path, say=lambda text: None)
    report.write(tmp_path, [experiment])
    shown = (tmp_path / "iris_drawn.png").read_bytes()
    assert shown == (tmp_path / "runs/iris/paper/seed-1/iris_drawn.png").read_bytes()
    assert shown != (tmp_path / "runs/iris/another/seed-1/iris_drawn.png").read_bytes()
    assert "one run: paper, seed 1" in (tmp_path / "report.html").read_text()


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
        (["kind=c"], ["plain, c"]),
        (["size=0.09"], ["plain, size=0.09"]),
        (["b", "size=2"], ["other, size=2.0"]),
    ],
)
def test_scenarios(
    scenario: list[str], made: list[str], counted: list[tuple[str, int]], tmp_path: Path
) -> None:
    assert main(["run", "reasoning", "--out", str(tmp_path), "--scenario", *scenario]) == 0
    assert [name for name, _ in counted] == made


def test_the_other_experiments_are_run_where_one_lacks_its_data(
    counted: list[tuple[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(setting: Setting, seed: int) -> Run:
        raise DataError("iris.csv is missing.")

    settings = (Setting("paper", (Metric("score"),), 7),)
    lacking = Experiment("iris", "4.2", "Quick", lambda: settings, run, lambda runs: {})
    chosen = {"iris": lacking, "reasoning": EXPERIMENTS["reasoning"]}
    monkeypatch.setattr(__main__, "EXPERIMENTS", chosen)
    assert main(["run", "all", "--out", str(tmp_path)]) == 1
    assert "error: iris: iris.csv is missing." in capsys.readouterr().err
    assert {record["experiment"] for record in summary(tmp_path)} == {"reasoning"}


def test_results_need_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["run", "reasoning", "--out", str(tmp_path / "file")]) == 1
    assert "Results cannot be written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reasoning", "--scenario", "kind=z"], r"no scenario 'kind=z'; it has: kind=a\|b\|c size=NUMBER"),
        (["reasoning", "--scenario", "size=big"], "no scenario 'size=big'"),
        (["iris", "--scenario", "p=1"], "iris has no scenario 'p=1'; it has: none"),
        (["iris", "--train-size", "150"], "Of 150 examples at most 149"),
        (["iris", "--data", "nowhere"], "There is no folder nowhere"),
        (["smokers", "--train-size", "9"], "smokers has no examples to train on"),
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
    assert chosen("rate=decay") == ["single, decay", "two, decay"]
    assert chosen("single", "decay") == ["single, decay"]
    assert chosen("two", "baseline", "decay") == ["two, baseline, decay"]
    assert chosen("two", "p=1", "log_product") == ["two, p=1"]
    assert chosen("single", "decay", full=True) == ["single, full, decay"]


@pytest.mark.parametrize(
    "arguments", [["iris", "--runs", "0"], ["iris", "--epochs", "few"], ["iris", "--seed", "-1"], ["irises"]]
)
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", *arguments])
    assert re.search("a whole number of at least [01]|invalid choice: 'irises'", capsys.readouterr().err)


def rows(text: str) -> list[str]:
    names = "|".join(EXPERIMENTS)
    return [line for line in text.splitlines() if re.match(rf"\| ({names}) +\|", line)]


def test_the_study_runs_everything_and_says_where_the_paper_is_not_met(
    counted: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"reasoning": EXPERIMENTS["reasoning"]})
    page = tmp_path / "RESULTS.md"
    command = ["study", "--out", str(tmp_path / "out"), "--to", str(page)]
    assert main(command) == 0
    assert len(counted) == 2 * study.RUNS
    text = page.read_text()
    assert "0.450 ± 0.217" in text  # of 0, 0.1, ..., 0.9; inside the paper's 0.5 ± 0.1
    assert "falls short" not in text
    assert "| 10   | 0 to 9 | " in text
    for seed in range(5, 10):
        (tmp_path / f"out/runs/reasoning/plain/seed-{seed}.json").unlink()
    assert main([*command, "--write-only"]) == 0
    short = page.read_text().split("## Where a mean falls short of the paper")[1].split("## ")[0]
    assert [row.split("|")[2].strip() for row in rows(short)] == ["plain"]
    assert "| 5 of 10 | 0 to 4 | " in page.read_text()
    assert len(counted) == 2 * study.RUNS


def test_an_interrupted_study_leaves_the_page_as_it_is(
    counted: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(setting: Setting, seed: int) -> Run:
        raise KeyboardInterrupt

    quick = EXPERIMENTS["reasoning"]
    stopping = Experiment("reasoning", "4.8", "Quick", quick.settings, interrupted, quick.curves)
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"reasoning": stopping})
    assert main(["study", "--out", str(tmp_path), "--to", str(tmp_path / "RESULTS.md")]) == 130
    assert not (tmp_path / "RESULTS.md").exists()


def test_the_page_of_results_counts_all_runs_of_digits(tmp_path: Path) -> None:
    """Three runs of each semantics; one collapses."""
    accuracies = {"log_product": [95.0, 94.0, 96.0], "stable_product": [95.0, 40.0, 93.0]}
    settings = tuple(
        addition.setting("single", 3000, addition.accuracy_of(93.49, 0.28), **options)
        for options in ({}, {"semantics": "stable_product"}, {"model": "baseline"})
    )

    def run(setting: Setting, seed: int) -> Run:
        accuracy = accuracies.get(setting.options.get("semantics", ""), [70.0] * 3)[seed]
        values = dict.fromkeys((metric.name for metric in setting.metrics), 0.5)
        return Run(values | {"accuracy (%)": accuracy}, collapsed=accuracy < 50.0)

    experiment = Experiment("addition", "4.4", "Quick", lambda: settings, run, lambda runs: {})
    runs.perform(experiment, settings, range(3), tmp_path, say=lambda text: None)
    study.write(tmp_path, {"addition": experiment}, tmp_path / "RESULTS.md")
    page = (tmp_path / "RESULTS.md").read_text()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    stable = next(row for row in cells if row[0] == "single, stable_product" and len(row) == 8)
    assert stable[1:5] == ["93.49 ± 0.28", "76.00 ± 77.49", "3", "1"]
    assert stable[5:] == ["95.00 (seed 0)", "40.00 (seed 1)", "94.00 ± 12.71 (2 runs)"]
    compared = [row for row in cells if row[0] == "single" and len(row) == 7]
    assert [row[2:5] for row in compared] == [["log_product", "3", "0"], ["stable_product", "3", "1"]]
    assert "Where a mean falls short" in page
