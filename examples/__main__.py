"""The paper's experiments from the command line.

python -m examples list
python -m examples run iris --runs 10
python -m examples run all
python -m examples run addition --full --scenario single --data FOLDER
python -m examples study --data FOLDER
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from examples import addition, binary, clustering, crabs, iris, reasoning, regression, smokers
from examples.harness import DataError, Experiment, Setting, report, runs, study

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (binary, iris, crabs, addition, regression, clustering, smokers, reasoning)
}

Job = tuple[Experiment, Sequence[Setting], Iterable[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    given = _parser().parse_args(arguments)
    if given.command == "list":
        print(_listing())
        return 0
    try:
        _prepare(given)
        return _study(given) if given.command == "study" else _run(given)
    except (DataError, ScenarioError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _prepare(given: argparse.Namespace) -> None:
    """Find out before hours of training whether there is where to read and to write."""
    if given.data:
        os.environ["LTN_DATA"] = str(given.data)
        if not given.data.is_dir():
            raise DataError(f"There is no folder {given.data}, where --data looks for data. Create it.")
    try:
        given.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Results cannot be written to {given.out}: {error}. Give another --out.") from error


class ScenarioError(Exception):
    """A scenario that an experiment does not have."""


def _run(given: argparse.Namespace) -> int:
    names = list(EXPERIMENTS) if given.name == "all" else [given.name]
    seeds = range(given.seed, given.seed + given.runs)
    jobs = []
    for name in names:
        known = _settings(EXPERIMENTS[name], given.full, given.scenario)
        if given.train_size and given.name != "all" and not known[0].train_size:
            raise ScenarioError(f"{name} has no examples to train on: leave out --train-size.")
        chosen = [setting.changed(epochs=given.epochs, train_size=given.train_size) for setting in known]
        jobs.append((EXPERIMENTS[name], chosen, seeds))
    status = _perform(jobs, given.out, given.fresh)
    print(f"\n{report.write(given.out, EXPERIMENTS.values())}\n")
    print(f"Pictures, summary.json and table.md are in {given.out}; all on one page: {given.out}/report.html")
    return status


def _study(given: argparse.Namespace) -> int:
    jobs = [(experiment, settings, range(count)) for experiment, settings, count in study.plan(EXPERIMENTS)]
    status = 0 if given.write_only else _perform(jobs, given.out)
    if status:
        return status
    report.write(given.out, EXPERIMENTS.values())
    study.write(given.out, EXPERIMENTS, given.to)
    print(f"Written: {given.to}")
    return 0


def _perform(jobs: Iterable[Job], out: Path, fresh: bool = False) -> int:
    """The exit status: 1 where an experiment lacks its data (the others are run), 130 if interrupted."""
    status = 0
    try:
        for experiment, settings, seeds in jobs:
            try:
                runs.perform(experiment, settings, seeds, out, fresh)
            except DataError as error:
                print(f"error: {experiment.name}: {error}", file=sys.stderr)
                status = 1
    except KeyboardInterrupt:
        said = "Interrupted. The finished runs are kept: the same command goes on from there."
        print(said, file=sys.stderr)
        return 130
    return status


def _settings(experiment: Experiment, full: bool, scenario: Sequence[str]) -> list[Setting]:
    """The settings to run: those of the paper that the scenario fits, or the closest ones, changed."""
    known = list(experiment.full() if full and experiment.full else experiment.settings())
    asked = dict(_option(experiment, text) for text in scenario)
    fitting = [setting for setting in known if asked.items() <= setting.options.items()]
    if fitting:
        return fitting
    usual = {name: values[0] for name, values in experiment.options.items()}

    def likeness(setting: Setting) -> tuple[int, int]:
        as_asked = sum(setting.options.get(name) == value for name, value in asked.items())
        as_usual = sum(usual[name] in (None, setting.options.get(name)) for name in usual)
        return as_asked, as_usual

    closest = max(map(likeness, known))
    return [
        setting.changed(options={n: v for n, v in asked.items() if setting.options.get(n) != v})
        for setting in known
        if likeness(setting) == closest
    ]


def _option(experiment: Experiment, text: str) -> tuple[str, object]:
    """What `NAME=VALUE`, or a value alone where it is clear whose it is, asks for."""
    name, _, value = text.rpartition("=")
    for known, values in experiment.options.items():
        if name in ("", known):
            if value in values:
                return known, value
            if name and isinstance(values[0], float):
                try:
                    return known, float(value)
                except ValueError:
                    break
    raise ScenarioError(f"{experiment.name} has no scenario {text!r}; it has: {_scenarios(experiment)}.")


def _scenarios(experiment: Experiment) -> str:
    """What can be chosen, the default first."""
    texts = []
    for name, values in experiment.options.items():
        if isinstance(values[0], float):
            choice = f"NUMBER ({values[0]:g})"
        else:
            choice = "|".join(value for value in values if value)
        texts.append(f"{name}={choice}")
    return " ".join(texts) or "none"


def _listing() -> str:
    lines = []
    for experiment in EXPERIMENTS.values():
        lines.append(f"{experiment.name:12}{experiment.section}  {experiment.title}")
        if experiment.options:
            lines.append(f"{'':12}     --scenario {_scenarios(experiment)}")
        if experiment.full:
            lines.append(f"{'':12}     --full: the paper's large settings")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples", description="The paper's experiments.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the experiments and what can be varied")
    run = commands.add_parser("run", help="run one experiment, or all")
    run.add_argument("name", choices=[*EXPERIMENTS, "all"], metavar="NAME", help="see list; or all")
    run.add_argument("--runs", type=_count, default=1, help="how many, each with a seed of its own (1)")
    run.add_argument("--seed", type=_seed, default=0, help="of the first run (0)")
    run.add_argument("--epochs", type=_count, help="instead of the paper's number")
    run.add_argument("--train-size", type=_count, help="examples to train on, instead of the paper's number")
    run.add_argument("--scenario", nargs="+", default=[], metavar="NAME=VALUE", help="see list")
    run.add_argument("--full", action="store_true", help="the paper's large settings, where there are some")
    run.add_argument("--fresh", action="store_true", help="run again what is finished")
    whole = commands.add_parser("study", help="run everything several times, and write RESULTS.md")
    whole.add_argument("--to", type=Path, default=Path(__file__).parent / "RESULTS.md", help="the file")
    whole.add_argument("--write-only", action="store_true", help="write the file from the runs there are")
    for command, out in ((run, "results"), (whole, "results/study")):
        command.add_argument("--data", type=Path, help="a folder that holds data, as LTN_DATA")
        command.add_argument("--out", type=Path, default=Path(out), help=f"the folder of results ({out})")
    return parser


def _count(text: str, least: int = 1) -> int:
    if not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(f"a whole number of at least {least} is expected, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    return _count(text, least=0)


if __name__ == "__main__":
    raise SystemExit(main())
