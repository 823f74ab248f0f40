"""The folder of results: `summary.json`, the table, one picture per figure, and a page with all of it."""

from __future__ import annotations

import base64
import html
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from examples.harness import tables
from examples.harness.experiment import Experiment
from examples.harness.runs import Finished, finished, pictures

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Logic Tensor Networks: the experiments</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em; color: #222; }}
table {{ border-collapse: collapse; margin: 1em 0 2em; }}
th, td {{ text-align: left; padding: .25em .8em; border-bottom: 1px solid #ddd; }}
figure {{ margin: 1.5em 0; }}
img {{ max-width: 100%; display: block; }}
figcaption {{ color: #666; }}
</style>
<h1>Logic Tensor Networks: the experiments</h1>
<p>The paper's figures stand beside the paper's settings only. A run is counted as collapsed where it ends in
a bad optimum: where it reads fewer than half of the digits, or does not find the clouds of points.</p>
{content}
</html>
"""


def write(out: Path, experiments: Iterable[Experiment]) -> str:
    """Write everything that the finished runs in a folder give; returns the table.

    What is drawn of one run is shown for the first of each setting that did not collapse, if there is one.
    """
    records: list[tables.Record] = []
    rows: list[list[str]] = []
    sections: list[str] = []
    for experiment in experiments:
        done = finished(out, experiment)
        if done:
            own, shown = summary(experiment, done)
            records += own
            rows += shown
            sections.append(_section(experiment, done, shown, _draw(out, experiment, done)))
    table = tables.table(rows)
    out.mkdir(parents=True, exist_ok=True)
    files = {
        "summary.json": json.dumps(records, indent=1, allow_nan=False),
        "table.md": f"{table}\n",
        "report.html": _PAGE.format(content="\n".join(sections)),
    }
    for name, content in files.items():
        (out / name).write_text(content, encoding="utf-8")
    return table


def summary(experiment: Experiment, done: Iterable[Finished]) -> tuple[list[tables.Record], list[list[str]]]:
    """The records of an experiment, and their rows in the table."""
    records, rows = [], []
    for setting in done:
        found = tables.records(experiment.name, setting.name, setting.metrics, setting.runs)
        records += found
        rows += [tables.row(record, metric) for record, metric in zip(found, setting.metrics, strict=True)]
    return records, rows


def _draw(out: Path, experiment: Experiment, done: Iterable[Finished]) -> dict[Path, str]:
    """The pictures of an experiment, curves first, with what to say below them."""
    drawn = {}
    for name, figure in experiment.curves({setting.name: setting.runs for setting in done}).items():
        path = out / f"{name}.png"
        figure.savefig(path, dpi=110)
        drawn[path] = "all runs: means, and their 95 % confidence intervals where there are several"
    for setting in done:
        collapsed = [run.collapsed for run in setting.runs]
        index = collapsed.index(False) if False in collapsed else 0
        for picture in pictures(setting.files[index]):
            path = out / picture.name
            if path not in drawn:
                shutil.copyfile(picture, path)
                lost = ", collapsed" if collapsed[index] else ""
                drawn[path] = f"one run: {setting.name}, seed {setting.seeds[index]}{lost}"
    return drawn


def _section(
    experiment: Experiment, done: Iterable[Finished], rows: list[list[str]], drawn: dict[Path, str]
) -> str:
    sources = dict.fromkeys(setting.identity["data"] for setting in done if setting.identity["data"])
    parts = [f"<h2>{html.escape(experiment.title)} (section {experiment.section})</h2>"]
    parts += [f"<p>Data: {html.escape(source)}.</p>" for source in sources]
    parts += [f"<p>{html.escape(experiment.findings)}</p>"] if experiment.findings else []
    cells = [f"<tr>{''.join(f'<th>{html.escape(h)}</th>' for h in tables.HEADINGS[1:])}</tr>"]
    cells += [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row[1:])}</tr>" for row in rows]
    parts.append(f"<table>{''.join(cells)}</table>")
    for path, caption in drawn.items():
        content = base64.b64encode(path.read_bytes()).decode()
        image = f'<img alt="{path.stem}" src="data:image/png;base64,{content}">'
        parts.append(f"<figure>{image}<figcaption>{path.name}, {html.escape(caption)}</figcaption></figure>")
    return "\n".join(parts)
