"""The figures of the table: means, intervals, worst runs, what the paper says."""

import numpy as np
import pytest

from examples.harness import Metric, Run, tables


def runs(*values: float) -> list[Run]:
    return [Run({"accuracy": value}, collapsed=value < 0.5) for value in values]


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    """With 4 values the normal distribution's factor would cover 86 %, Student's covers 95 %."""
    samples = np.random.default_rng(0).normal(size=(20_000, 4))
    covered = [abs(sample.mean()) <= tables.half_width(sample.tolist()) for sample in samples]
    # The standard error of this share is 0.0015.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.006)


def test_the_interval_of_many_values_is_the_normal_distributions() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    assert tables.half_width(values.tolist()) == pytest.approx(
        1.96 * values.std(ddof=1) / np.sqrt(1000), rel=1e-6
    )


def test_a_record() -> None:
    metric = Metric("accuracy", 0.8, 0.1)
    [record] = tables.records("iris", "paper", [metric], runs(0.7, 0.4, 1.0))
    assert list(record) == [
        *("experiment", "setting", "metric", "paper", "mean", "ci95"),
        *("worst", "values", "runs", "collapsed"),
    ]
    assert record["mean"] == pytest.approx(0.7)
    assert record["ci95"] == pytest.approx(4.303 * 0.3 / np.sqrt(3))
    assert (record["paper"], record["worst"], record["runs"], record["collapsed"]) == (0.8, 0.4, 3, 1)
    assert record["values"] == [0.7, 0.4, 1.0]


def test_a_single_run_has_no_interval() -> None:
    [record] = tables.records("iris", "paper", [Metric("accuracy")], runs(0.7))
    assert record["ci95"] is None
    assert record["paper"] is None
    assert tables.row(record, Metric("accuracy"))[3:6] == ["", "0.700", "0.700"]


def test_the_worst_run_depends_on_the_metric() -> None:
    [record] = tables.records(
        "regression", "paper", [Metric("accuracy", lower_is_better=True)], runs(3.0, 7.0)
    )
    assert record["worst"] == 7.0


@pytest.mark.parametrize(
    ("metric", "mean", "short"),
    [
        (Metric("accuracy", 0.8, 0.1), 0.71, False),
        (Metric("accuracy", 0.8, 0.1), 0.69, True),
        (Metric("accuracy", 0.8), 0.79, True),
        (Metric("accuracy", 0.8), 0.95, False),
        (Metric("accuracy", 0.2, 0.1, lower_is_better=True), 0.31, True),
        (Metric("accuracy", 0.2, 0.1, lower_is_better=True), 0.05, False),
        (Metric("accuracy", words="curves only"), 0.0, False),
        (Metric("accuracy", words="to true", bound=0.5), 0.49, True),
        (Metric("accuracy", words="to false", bound=0.5, lower_is_better=True), 0.49, False),
        # As it is printed: 1.000.
        (Metric("accuracy", 1.0), 0.99997, False),
    ],
)
def test_what_falls_short_of_the_paper(metric: Metric, mean: float, short: bool) -> None:
    [record] = tables.records("iris", "paper", [metric], runs(mean))
    assert tables.falls_short(record, metric) is short


def test_the_best_two_thirds() -> None:
    assert tables.best([float(value) for value in range(15)]) == [float(value) for value in range(14, 4, -1)]
    assert tables.best([0.5]) == [0.5]
