"""The study behind RESULTS.md: everything several times, all runs counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from examples.harness import tables
from examples.harness.experiment import Experiment, Setting
from examples.harness.runs import Finished, finished

RUNS, RUNS_OF_FULL = 10, 5

_HEAD = """# Results

Written by `python -m examples study` from runs of {dates}, with TensorFlow {tensorflow} and Keras {keras}.
Every run that was made is counted. Intervals are 95 % confidence intervals of the mean (Student's t); "worst"
is the worst run. Where the paper prints no figure its words stand in its column.

{table}
"""

_DIGITS = """## Digits: all runs, and those that the paper counts

The paper drops the worst 5 of 15 runs, since some collapse at the start. Here no run is dropped; the best
two thirds of them stand beside for comparison. A run counts as collapsed where it reads fewer than half of
the digits.

{table}
"""

_COLLAPSE = """## Collapse: the paper's operators beside those on logarithms

The same axiom, network, examples and seeds.

{table}
"""

_SHORT = """## Where a mean falls short of the paper's interval

{table}
"""


def plan(experiments: Mapping[str, Experiment]) -> Iterator[tuple[Experiment, tuple[Setting, ...], int]]:
    """What to run, and how often; the large settings last."""
    for experiment in experiments.values():
        yield experiment, experiment.settings(), RUNS
    for experiment in experiments.values():
        if experiment.full:
            yield experiment, experiment.full(), RUNS_OF_FULL


def write(out: Path, experiments: Iterable[Experiment], to: Path) -> None:
    """Write the page of results from the finished runs in a folder."""
    experiments = list(experiments)
    done = [setting for experiment in experiments for setting in finished(out, experiment.name)]
    rows, short = [], []
    for setting in done:
        records = tables.records(setting.experiment, setting.setting, setting.metrics, setting.runs)
        for record, metric in zip(records, setting.metrics, strict=True):
            rows.append(tables.row(record, metric))
            if tables.falls_short(record, metric):
                short.append(rows[-1])
    about = [run for setting in done for run in setting.about]
    dates = sorted({run["date"] for run in about})
    parts = [
        _HEAD.format(
            dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))),
            tensorflow=about[0]["tensorflow"],
            keras=about[0]["keras"],
            table=tables.table(rows),
        )
    ]
    digits = [_digits(setting) for setting in done if setting.experiment == "addition"]
    if digits:
        parts.append(_DIGITS.format(table=tables.table(digits, _DIGIT_HEADINGS)))
        compared = [s for s in done if s.experiment == "addition" and _is_compared(s.about[0]["options"])]
        parts.append(_COLLAPSE.format(table=tables.table(_collapse(compared), _COLLAPSE_HEADINGS)))
    if short:
        parts.append(_SHORT.format(table=tables.table(short)))
    findings = [f"**{e.name}**: {' '.join(e.findings.split())}" for e in experiments if e.findings]
    parts.append("\n\n".join(["## Findings", *findings]) + "\n")
    settings = tables.table([_settings(setting) for setting in done], _SETTING_HEADINGS)
    parts.append(f"## What was run\n\n{settings}\n")
    to.write_text("\n".join(parts))


_DIGIT_HEADINGS = ("setting", "paper", "all runs", "runs", "collapsed", "best", "worst", "best two thirds")


def _digits(setting: Finished) -> list[str]:
    metric, values = setting.metrics[0], [run.metrics["accuracy (%)"] for run in setting.runs]
    kept = tables.best(values)
    extremes = [
        f"{value:.2f} ({setting.files[values.index(value)].stem.replace('-', ' ')})"
        for value in (max(values), min(values))
    ]
    return [
        setting.setting,
        tables.said(metric),
        tables.interval(values),
        str(len(values)),
        str(sum(run.collapsed for run in setting.runs)),
        *extremes,
        f"{tables.interval(kept)} ({len(kept)} runs)",
    ]


_COLLAPSE_HEADINGS = ("digits", "examples", "semantics", "runs", "collapsed", "accuracy (%)", "worst")


def _is_compared(options: Mapping[str, str]) -> bool:
    return (options["model"], options["p"], options["rate"]) == ("ltn", "schedule", "constant")


def _collapse(settings: Iterable[Finished]) -> list[list[str]]:
    rows = []
    for setting in settings:
        values = [run.metrics["accuracy (%)"] for run in setting.runs]
        about = setting.about[0]
        rows.append(
            [
                about["options"]["task"],
                str(about["train_size"]),
                about["options"]["semantics"],
                str(len(values)),
                str(sum(run.collapsed for run in setting.runs)),
                tables.interval(values),
                f"{min(values):.2f}",
            ]
        )
    return sorted(rows)


_SETTING_HEADINGS = ("experiment", "setting", "examples", "epochs", "options", "data", "seeds", "s per run")


def _settings(setting: Finished) -> list[str]:
    about = setting.about[0]
    seconds = sum(run["seconds"] for run in setting.about) / len(setting.about)
    seeds = [int(path.stem.removeprefix("seed-")) for path in setting.files]
    return [
        setting.experiment,
        setting.setting,
        str(about["train_size"] or ""),
        str(about["epochs"]),
        ", ".join(f"{name}={value}" for name, value in about["options"].items()),
        about["data"],
        f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0]),
        f"{seconds:.0f}",
    ]
