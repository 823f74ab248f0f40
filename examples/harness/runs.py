"""Seeded runs, kept on disk one by one: an interrupted study goes on where it stopped."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
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

    experiment: str
    setting: str
    metrics: tuple[Metric, ...]
    runs: list[Run]
    files: list[Path]
    about: list[dict[str, Any]]
    """Of each run: epochs, train_size, options, data, the versions, the date, its seconds."""


def perform(
    experiment: Experiment,
    settings: Sequence[Setting],
    seeds: Iterable[int],
    out: Path,
    fresh: bool = False,
    say: Callable[[str], None] = print,
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
    seeds = list(seeds)
    total = len(settings) * len(seeds)
    jobs = [(setting, seed) for setting in settings for seed in seeds]
    for number, (setting, seed) in enumerate(jobs, start=1):
        title = f"{experiment.name} [{number}/{total}] {setting.name}, seed {seed}"
        path = _path(out, experiment.name, setting.name, seed)
        if not fresh and _is_finished(path, setting):
            say(f"{title}: finished before, kept")
            continue
        say(f"{title}: {_plan(setting)} ...")
        start = time.perf_counter()
        keras.backend.clear_session()
        keras.utils.set_random_seed(seed)
        done = experiment.run(setting, seed)
        seconds = time.perf_counter() - start
        _write(path, setting, done, seconds)
        figures = ", ".join(f"{metric.name} {done.metrics[metric.name]:.3f}" for metric in setting.metrics)
        say(f"    {seconds:.0f} s: {figures}{'  (collapsed)' if done.collapsed else ''}")


def finished(out: Path, experiment: str) -> list[Finished]:
    """The runs of an experiment that a folder of results holds, by setting."""
    found = []
    for folder in sorted((out / "runs" / experiment).glob("*/")):
        files = sorted(folder.glob("seed-*.json"), key=lambda path: int(path.stem.removeprefix("seed-")))
        contents = [json.loads(path.read_text()) for path in files]
        if not contents:
            continue
        runs = [Run(c["values"], c["curves"], c["epochs"], c["collapsed"]) for c in contents]
        metrics = tuple(Metric(**metric) for metric in contents[0]["metrics"])
        found.append(
            Finished(experiment, contents[0]["setting"], metrics, runs, files, [c["about"] for c in contents])
        )
    return sorted(found, key=lambda each: each.setting)


def pictures(file: Path) -> list[Path]:
    """What a finished run drew."""
    return sorted(file.with_suffix("").glob("*.png"))


def _path(out: Path, experiment: str, setting: str, seed: int) -> Path:
    folder = re.sub(r"[^a-z0-9.]+", "-", setting.lower()).strip("-")
    return out / "runs" / experiment / folder / f"seed-{seed}.json"


def _plan(setting: Setting) -> str:
    size = f"{setting.train_size} examples, " if setting.train_size else ""
    return f"{size}{setting.epochs} epochs"


def _identity(setting: Setting) -> dict[str, Any]:
    versions = {"tensorflow": tf.__version__, "keras": keras.__version__}
    return json.loads(json.dumps({**setting.identity(), **versions}))


def _is_finished(path: Path, setting: Setting) -> bool:
    """Whether a run of just this setting is there; one of other data or versions is run again."""
    if not path.is_file():
        return False
    about = json.loads(path.read_text())["about"]
    return all(about.get(name) == value for name, value in _identity(setting).items())


def _write(path: Path, setting: Setting, run: Run, seconds: float) -> None:
    folder = path.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, figure in run.pictures.items():
        figure.savefig(folder / f"{name}.png", dpi=110)
    about = {**_identity(setting), "date": datetime.date.today().isoformat(), "seconds": round(seconds, 1)}
    content = {
        "setting": setting.name,
        "metrics": [dataclasses.asdict(metric) for metric in setting.metrics],
        "values": {metric.name: float(run.metrics[metric.name]) for metric in setting.metrics},
        "collapsed": bool(run.collapsed),
        "epochs": list(run.epochs),
        "curves": {name: [float(value) for value in values] for name, values in run.curves.items()},
        "about": about,
    }
    # Written beside and moved, so that an interruption leaves no half of a file.
    half = path.with_suffix(".part")
    half.write_text(json.dumps(content, indent=1, allow_nan=False))
    os.replace(half, path)
