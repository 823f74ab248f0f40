"""The figures of all runs beside the paper's: records for `summary.json`, and one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from examples.harness.experiment import Metric, Run, Setting

Record = dict[str, Any]

# Student's distribution: the factor of a 95 % interval by degrees of freedom, then the normal distribution's.
_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.960


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % confidence interval of the mean: t s / sqrt(n).

    >>> round(half_width([1.0, 2.0, 3.0]), 3)
    2.484
    """
    count = len(values)
    mean = sum(values) / count
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    factor = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else _NORMAL
    return factor * deviation / math.sqrt(count)


def records(experiment: str, setting: str, metrics: Sequence[Metric], runs: Sequence[Run]) -> list[Record]:
    """One for each metric of a setting.

    What is not known is None: the interval of a single run, and what a run that diverged makes of the mean.
    """
    found = []
    for metric in metrics:
        values = [run.metrics[metric.name] for run in runs]
        found.append(
            {
                "experiment": experiment,
                "setting": setting,
                "metric": metric.name,
                "paper": metric.paper,
                "mean": _known(sum(values) / len(values)),
                "ci95": _known(half_width(values)) if len(values) > 1 else None,
                "worst": _known(_worst(values, metric)),
                "values": [_known(value) for value in values],
                "runs": len(values),
                "collapsed": sum(run.collapsed for run in runs),
            }
        )
    return found


def row(record: Record, metric: Metric) -> list[str]:
    """The cells of a record in the table."""
    values = [math.nan if value is None else value for value in record["values"]]
    return [
        record["experiment"],
        record["setting"],
        record["metric"],
        said(metric),
        interval(values),
        f"{_worst(values, metric):.{_digits(values)}f}",
        str(record["runs"]),
        str(record["collapsed"]),
    ]


def interval(values: Sequence[float]) -> str:
    """The mean and, of more than one value, the interval.

    >>> interval([0.5]), interval([97.0, 98.0, 98.5])
    ('0.500', '97.83 ± 1.90')
    """
    digits = _digits(values)
    mean = f"{sum(values) / len(values):.{digits}f}"
    return f"{mean} ± {half_width(values):.{digits}f}" if len(values) > 1 else mean


def _digits(values: Sequence[float | None]) -> int:
    """How many to show after the point: fewer of percentages and prices than of truths."""
    return 2 if any(value is not None and abs(value) >= 2.0 for value in values) else 3


def _worst(values: Sequence[float], metric: Metric) -> float:
    if any(map(math.isnan, values)):
        return math.nan
    return max(values) if metric.lower_is_better else min(values)


def _known(value: float) -> float | None:
    """JSON has no number for what diverged."""
    return value if math.isfinite(value) else None


def said(metric: Metric) -> str:
    """What the paper has for a metric.

    >>> said(Metric("accuracy", 98.04, 0.13)), said(Metric("satisfaction", words="over 0.8"))
    ('98.04 ± 0.13', 'over 0.8')
    """
    if metric.paper is None:
        return metric.words
    interval = "" if metric.interval is None else f" ± {metric.interval:g}"
    return f"{metric.paper:g}{interval}" + (f"; {metric.words}" if metric.words else "")


def beside_paper(setting: Setting, run: Run) -> pd.DataFrame:
    """What the paper has for each metric of a setting, and what one run has.

    >>> setting = Setting("paper", (Metric("accuracy", 0.95), Metric("error", words="low")), epochs=1)
    >>> print(beside_paper(setting, Run({"accuracy": 0.9421, "error": 2.5})).rename_axis(None))
             paper this run
    accuracy  0.95    0.942
    error      low     2.50
    """
    rows = [(m.name, said(m) or "-", interval([run.metrics[m.name]])) for m in setting.metrics]
    return pd.DataFrame(rows, columns=["metric", "paper", "this run"]).set_index("metric")


HEADINGS = ("experiment", "setting", "metric", "paper", "mean ± 95 %", "worst", "runs", "collapsed")


def table(rows: Sequence[Sequence[str]], headings: Sequence[str] = HEADINGS) -> str:
    """In Markdown, with columns as wide as they need be.

    >>> print(table([["iris", "0.95"]], ["experiment", "mean"]))
    | experiment | mean |
    |------------|------|
    | iris       | 0.95 |
    """
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"
        for cells in (headings, *rows)
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def best(values: Sequence[float]) -> list[float]:
    """The best two thirds, as the paper keeps 10 of 15 runs of digits; higher is better.

    >>> best([0.9, 0.1, 0.8])
    [0.9, 0.8]
    """
    return sorted(values, reverse=True)[: max(1, len(values) * 2 // 3)]


def falls_short(record: Record, metric: Metric) -> bool:
    """Whether the mean, as it is printed, is worse than the paper's interval or than what its words ask."""
    if record["mean"] is None:
        return True
    mean = round(record["mean"], _digits(record["values"]))
    side = -1.0 if metric.lower_is_better else 1.0
    limits = [] if metric.bound is None else [metric.bound]
    if metric.paper is not None:
        limits.append(metric.paper - side * (metric.interval or 0.0))
    return any(side * mean < side * limit for limit in limits)
