"""The study behind RESULTS.md: everything several times, all runs counted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from examples.harness import report, tables
from examples.harness.experiment import Experiment, Setting
from examples.harness.runs import Finished, finished

RUNS, RUNS_OF_FULL = 10, 5

_HEAD = """# Results

Written by `python -m examples study` from runs of {dates}, with {versions}.
Every finished run of the study is counted, none is dropped. Intervals are 95 % confidence intervals of the
mean (Student's t); "worst" is the worst run. Where the paper prints no figure its words stand in its column.

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

_SHORT = """## Where a mean falls short of the paper

Of its interval, or of what its words ask for. The findings below say why.

{table}
"""

_DIGIT_HEADINGS = ("setting", "paper", "all runs", "runs", "collapsed", "best", "worst", "best two thirds")
_COLLAPSE_HEADINGS = ("digits", "examples", "semantics", "runs", "collapsed", "accuracy (%)", "worst")
_RUN_HEADINGS = (
    "experiment",
    "setting",
    "examples",
    "epochs",
    "options",
    "data",
    "runs",
    "seeds",
    "s per run",
)


def plan(experiments: Mapping[str, Experiment]) -> Iterator[tuple[Experiment, tuple[Setting, ...], int]]:
    """What to run, and how often; the large settings last."""
    for experiment in experiments.values():
        yield experiment, experiment.settings(), RUNS
    for experiment in experiments.values():
        if experiment.full:
            yield experiment, experiment.full(), RUNS_OF_FULL


def write(out: Path, experiments: Mapping[str, Experiment], to: Path) -> None:
    """Write the page of results from the finished runs in a folder, be they all that are planned or not."""
    done = {name: finished(out, experiment) for name, experiment in experiments.items()}
    all_done = list(itertools.chain(*done.values()))
    rows, short, findings = [], [], []
    for name, settings in done.items():
        records, shown = report.summary(experiments[name], settings)
        metrics = [metric for setting in settings for metric in setting.metrics]
        rows += shown
        short += [
            row
            for record, row, metric in zip(records, shown, metrics, strict=True)
            if tables.falls_short(record, metric)
        ]
        if settings and experiments[name].findings:
            findings.append(f"**{name}**: {' '.join(experiments[name].findings.split())}")
    dates = sorted({date for setting in all_done for date in setting.dates})
    parts = [
        _HEAD.format(
            dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no day",
            versions=_versions(all_done),
            table=tables.table(rows),
        )
    ]
    digits = done.get("addition", [])
    if digits:
        parts.append(_DIGITS.format(table=tables.table(list(map(_digits, digits)), _DIGIT_HEADINGS)))
        parts.append(_COLLAPSE.format(table=tables.table(_collapse(digits), _COLLAPSE_HEADINGS)))
    if short:
        parts.append(_SHORT.format(table=tables.table(short)))
    if findings:
        parts.append("\n\n".join(["## Findings", *findings]) + "\n")
    parts.append(f"## What was run\n\n{tables.table(list(_run(experiments, done)), _RUN_HEADINGS)}\n")
    to.write_text("\n".join(parts), encoding="utf-8")


def _versions(done: Sequence[Finished]) -> str:
    texts = (f"TensorFlow {s.identity['tensorflow']} and Keras {s.identity['keras']}" for s in done)
    return "; ".join(dict.fromkeys(texts))


def _digits(setting: Finished) -> list[str]:
    metric, values = setting.metrics[0], [run.metrics["accuracy (%)"] for run in setting.runs]
    kept = tables.best(values)
    extremes = [f"{v:.2f} (seed {setting.seeds[values.index(v)]})" for v in (max(values), min(values))]
    return [
        setting.name,
        tables.said(metric),
        tables.interval(values),
        str(len(values)),
        str(sum(run.collapsed for run in setting.runs)),
        *extremes,
        f"{tables.interval(kept)} ({len(kept)} run{'s' * (len(kept) > 1)})",
    ]


def _collapse(settings: Sequence[Finished]) -> list[list[str]]:
    """The theories with the paper's schedules, of sizes that both semantics were run on."""
    rows = []
    for setting in settings:
        options, size = setting.identity["options"], setting.identity["train_size"]
        if (options["model"], options.get("p"), options["rate"]) == ("ltn", "schedule", "constant"):
            values = [run.metrics["accuracy (%)"] for run in setting.runs]
            collapsed = sum(run.collapsed for run in setting.runs)
            figures = [str(len(values)), str(collapsed), tables.interval(values), f"{min(values):.2f}"]
            rows.append([options["task"], str(size), options["semantics"], *figures])
    sizes = [row[:2] for row in rows]
    return sorted(row for row in rows if sizes.count(row[:2]) > 1)


def _run(experiments: Mapping[str, Experiment], done: Mapping[str, list[Finished]]) -> Iterator[list[str]]:
    """What was planned and done, setting by setting."""
    planned = {
        (experiment.name, setting.name): count
        for experiment, settings, count in plan(experiments)
        for setting in settings
    }
    for name, settings in done.items():
        for setting in settings:
            identity, runs = setting.identity, len(setting.runs)
            expected = planned.pop((name, setting.name), runs)
            yield [
                name,
                setting.name,
                str(identity["train_size"] or ""),
                str(identity["epochs"]),
                ", ".join(f"{option}={value}" for option, value in identity["options"].items()),
                identity["data"],
                str(runs) if runs >= expected else f"{runs} of {expected}",
                _ranges(setting.seeds),
                f"{sum(setting.seconds) / runs:.0f}",
            ]
    for (name, setting_name), expected in planned.items():
        yield [name, setting_name, "", "", "", "", f"0 of {expected}", "", ""]


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, those that follow each other as a range.

    >>> _ranges([0, 1, 2, 7])
    '0 to 2, 7'
    """
    groups = itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
