"""Seeded runs, kept on disk one by one: an interrupted study goes on where it stopped."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import math
import re
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from examples.harness.experiment import Experiment, Metric, Run, Setting


class Finished(NamedTuple):
    """All finished runs of a setting, in the order of their seeds."""

    name: str
    metrics: tuple[Metric, ...]
    runs: list[Run]
    files: list[Path]
    identity: dict[str, Any]
    """What all runs agree in: epochs, train_size, options, data, the versions."""
    dates: list[str]
    seconds: list[float]

    @property
    def seeds(self) -> list[int]:
        """Of the runs."""
        return [int(path.stem.removeprefix("seed-")) for path in self.files]


def _say(text: str) -> None:
    print(text, flush=True)


def perform(
    experiment: Experiment,
    settings: Sequence[Setting],
    seeds: Iterable[int],
    out: Path,
    fresh: bool = False,
    say: Callable[[str], None] = _say,
) -> None:
    """Run what is not finished yet; each run is written as soon as it is done.

    Args:
        experiment: what to run.
        settings: in which ways.
        seeds: one for each run; the same seed gives the same run.
        out: the folder of results.
        fresh: run also what is finished.
        say: tells the progress.
    """
    jobs = list(itertools.product(settings, seeds))
    for number, (setting, seed) in enumerate(jobs, start=1):
        title = f"{experiment.name} [{number}/{len(jobs)}] {setting.name}, seed {seed}"
        path = _path(out, experiment.name, setting.name, seed)
        identity = _identity(experiment, setting)
        if not fresh and _is_finished(path, identity):
            say(f"{title}: finished before, kept ({path})")
            continue
        say(f"{title}: {_plan(setting, identity)}")
        start = time.perf_counter()
        keras.backend.clear_session()
        keras.utils.set_random_seed(seed)
        run = experiment.run(setting, seed)
        seconds = time.perf_counter() - start
        _write(path, setting, identity, run, seconds)
        figures = ", ".join(f"{metric.name} {run.metrics[metric.name]:.3f}" for metric in setting.metrics)
        say(f"    {seconds:.0f} s: {figures}{'  (collapsed)' if run.collapsed else ''}")


def finished(out: Path, experiment: Experiment) -> list[Finished]:
    """The runs of an experiment that a folder of results holds, by setting, as the experiment orders them.

    Where runs of one setting differ in data or versions, those like the latest count.
    """
    found = []
    for folder in (out / "runs" / experiment.name).glob("*/"):
        files = sorted(folder.glob("seed-*.json"), key=lambda path: int(path.stem.removeprefix("seed-")))
        contents = {path: content for path in files if (content := _read(path))}
        if not contents:
            continue
        latest = contents[max(contents, key=lambda path: path.stat().st_mtime_ns)]
        alike = {path: each for path, each in contents.items() if each["identity"] == latest["identity"]}
        found.append(
            Finished(
                latest["setting"],
                tuple(Metric(**metric) for metric in latest["metrics"]),
                [
                    Run(each["values"], each["curves"], each["epochs"], each["collapsed"])
                    for each in alike.values()
                ],
                list(alike),
                latest["identity"],
                [each["date"] for each in alike.values()],
                [each["seconds"] for each in alike.values()],
            )
        )
    return _ordered(found, experiment) if found else []


def _ordered(found: list[Finished], experiment: Experiment) -> list[Finished]:
    names = [setting.name for setting in experiment.settings()]
    names += [setting.name for setting in experiment.full()] if experiment.full else []

    def position(done: Finished) -> tuple[int, str]:
        # A changed setting stands behind the one that it was made from.
        known = [name for name in names if f"{done.name}, ".startswith(f"{name}, ")]
        return names.index(max(known, key=len)) if known else len(names), done.name

    return sorted(found, key=position)


def pictures(file: Path) -> list[Path]:
    """What a finished run drew."""
    return sorted(file.with_suffix("").glob("*.png"))


def _path(out: Path, experiment: str, setting: str, seed: int) -> Path:
    folder = re.sub(r"[^a-z0-9.]+", "-", setting.lower()).strip("-")
    return out / "runs" / experiment / folder / f"seed-{seed}.json"


def _plan(setting: Setting, identity: dict[str, Any]) -> str:
    size = f"{setting.train_size} examples, " if setting.train_size else ""
    data = f"; data: {identity['data']}" if identity["data"] else ""
    return f"{size}{setting.epochs} epochs{data}"


def _identity(experiment: Experiment, setting: Setting) -> dict[str, Any]:
    """What a run must agree in to count as one of the setting: one of other data is run again."""
    return {
        "epochs": setting.epochs,
        "train_size": setting.train_size,
        "options": {name: str(value) for name, value in setting.options.items()},
        "data": experiment.data(setting),
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
    }


def _is_finished(path: Path, identity: dict[str, Any]) -> bool:
    content = _read(path) if path.is_file() else None
    return content is not None and content["identity"] == identity


def _read(path: Path) -> dict[str, Any] | None:
    """What a run left; None where that cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _write(path: Path, setting: Setting, identity: dict[str, Any], run: Run, seconds: float) -> None:
    folder = path.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, figure in run.pictures.items():
        figure.savefig(folder / f"{name}.png", dpi=110)
    values = {metric.name: float(run.metrics[metric.name]) for metric in setting.metrics}
    diverged = not all(map(math.isfinite, values.values()))
    content = {
        "setting": setting.name,
        "metrics": [dataclasses.asdict(metric) for metric in setting.metrics],
        "values": values,
        "collapsed": bool(run.collapsed) or diverged,
        "epochs": list(run.epochs),
        "curves": {name: [float(value) for value in values] for name, values in run.curves.items()},
        "identity": identity,
        "date": datetime.date.today().isoformat(),
        "seconds": round(seconds, 1),
    }
    # Written beside and moved, so that an interruption leaves no half of a file.
    half = path.with_suffix(".part")
    half.write_text(json.dumps(content, indent=1), encoding="utf-8")
    half.replace(path)
