"""What an experiment is: settings, seeded runs of them, and the figures that come of the runs."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
from matplotlib.figure import Figure

import ltn

_UNITS = {"epochs": "epochs", "train_size": "examples"}


@dataclasses.dataclass(frozen=True)
class Metric:
    """A figure that every run of a setting measures, and what the paper says about it.

    Args:
        name: as the table shows it.
        paper: the paper's mean, if it prints one.
        interval: half the width of the paper's 95 % confidence interval.
        words: what the paper says where it prints no number, or beside it.
        bound: what the words ask of the mean: to be better than that.
        lower_is_better: decides which run is the worst.
    """

    name: str
    paper: float | None = None
    interval: float | None = None
    words: str = ""
    bound: float | None = None
    lower_is_better: bool = False


@dataclasses.dataclass(frozen=True)
class Setting:
    """One way to run an experiment.

    Args:
        name: as the table shows it.
        metrics: what is measured.
        epochs: how long to train.
        train_size: how many examples to train on.
        options: whatever else distinguishes it, by name.
    """

    name: str
    metrics: tuple[Metric, ...]
    epochs: int
    train_size: int = 0
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def changed(self, **changes: Any) -> Setting:
        """Another setting, which the paper says nothing about; its name tells what is different.

        Args:
            changes: of `epochs`, `train_size`, where there are examples, or `options`; None and {} change
                nothing.

        >>> setting = Setting("paper", (Metric("accuracy", paper=0.9),), epochs=500, train_size=120)
        >>> shorter = setting.changed(epochs=5, train_size=None)
        >>> shorter.name, shorter.metrics[0].paper
        ('paper, 5 epochs', None)
        """
        new = {name: value for name, value in changes.items() if value not in (None, getattr(self, name))}
        if not self.train_size:
            new.pop("train_size", None)
        new = {name: value for name, value in new.items() if value != {}}
        if not new:
            return self
        labels = [label(*option) for option in new.get("options", {}).items()]
        labels += [f"{new[name]} {unit}" for name, unit in _UNITS.items() if name in new]
        metrics = tuple(
            Metric(metric.name, lower_is_better=metric.lower_is_better) for metric in self.metrics
        )
        new["options"] = {**self.options, **new.get("options", {})}
        return dataclasses.replace(self, name=", ".join([self.name, *labels]), metrics=metrics, **new)


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run came to.

    Args:
        metrics: its figures by name, those that the setting promises.
        curves: values over the epochs by name; all as long as `epochs`.
        epochs: where the curves were measured.
        collapsed: whether it is lost in a bad optimum.
        pictures: drawn with what was learned, by the name of their file.
        model: what was learned, the theory or a baseline; where only searches are made, the theory asked.
        examples: what it learned from and what it was measured on, by the name of the part.

    A run that is read from its file has figures and curves only.
    """

    metrics: Mapping[str, float]
    curves: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    epochs: Sequence[int] = ()
    collapsed: bool = False
    pictures: Mapping[str, Figure] = dataclasses.field(default_factory=dict, compare=False, repr=False)
    model: Any = dataclasses.field(default=None, compare=False, repr=False)
    examples: Mapping[str, Mapping[str, Any]] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )


@dataclasses.dataclass(frozen=True)
class Experiment:
    """An experiment of the paper's section 4.

    Args:
        name: for the command line.
        section: of the paper.
        title: what it is about.
        settings: those of the paper; a function, since what data there are may decide.
        run: trains and measures once, given a setting and a seed. The harness has set the seeds of Python,
            NumPy and TensorFlow before.
        curves: draws the curves of all runs, given the runs of each setting by its name; figures by the
            name of their file.
        full: the paper's large settings, where it has some.
        data: what data a setting uses, in words.
        options: what `--scenario` can change, by name: the values that are allowed, the default first,
            or None if each has settings of its own. Where the default is a number, any number is allowed.
        findings: what its results teach, for the page of results.
    """

    name: str
    section: str
    title: str
    settings: Callable[[], tuple[Setting, ...]]
    run: Callable[[Setting, int], Run]
    curves: Callable[[Mapping[str, Sequence[Run]]], dict[str, Figure]]
    full: Callable[[], tuple[Setting, ...]] | None = None
    data: Callable[[Setting], str] = lambda setting: ""
    options: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    findings: str = ""


def label(name: str, value: Any) -> str:
    """How an option is named in a setting: by its value, or by both where the value is a number.

    >>> label("rate", "decay"), label("p", "2"), label("radius", 0.09)
    ('decay', 'p=2', 'radius=0.09')
    """
    return value if isinstance(value, str) and not value.isdigit() else f"{name}={value}"


class Recorder(keras.callbacks.Callback):
    """Measures while a model learns: before the first epoch, after every few, and after the last.

    On a terminal it also tells which epoch it is.

    Args:
        measure: gives values by the names of their curves.
        every: how many epochs lie between two measurements.
    """

    def __init__(self, measure: Callable[[], Mapping[str, float]], every: int = 1):
        super().__init__()
        self.measure = measure
        self.every = every
        self.epochs: list[int] = []
        self.curves: dict[str, list[float]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        """Measure what the initial grounding gives."""
        self._append(0)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Measure, if it is time."""
        if sys.stdout.isatty():
            print(f"\r    epoch {epoch + 1} of {self.params['epochs']}\r", end="", flush=True)
        if (epoch + 1) % self.every == 0 or epoch + 1 == self.params["epochs"]:
            self._append(epoch + 1)

    @property
    def last(self) -> dict[str, float]:
        """What was measured last."""
        return {name: values[-1] for name, values in self.curves.items()}

    def _append(self, epoch: int) -> None:
        self.epochs.append(epoch)
        for name, value in self.measure().items():
            self.curves.setdefault(name, []).append(float(value))


def satisfaction(theory: ltn.Theory, data: Mapping[str, Any]) -> float:
    """Of the theory on all of the data at once, with the hyper-parameters in force."""
    return float(theory(data)["satisfaction"][0])


def on_both_parts(
    theory: ltn.Theory,
    train: Mapping[str, Any],
    test: Mapping[str, Any],
    **measures: Callable[[ltn.Theory, Mapping[str, Any]], float],
) -> dict[str, float]:
    """The satisfaction and further measures of a theory, of each on the training and on the test part."""
    return {
        f"{part} {name}": measure(theory, examples)
        for name, measure in {"satisfaction": satisfaction, **measures}.items()
        for part, examples in (("train", train), ("test", test))
    }
