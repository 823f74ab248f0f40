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
img {{ max-width: 100%; display: block; margin: 1em 0; }}
</style>
<h1>Logic Tensor Networks: the experiments</h1>
{content}
</html>
"""


def write(out: Path, experiments: Iterable[Experiment]) -> str:
    """Write everything that the finished runs in a folder give; returns the table.

    What was drawn of one run is shown for the first run of the first setting that drew it.
    """
    records: list[tables.Record] = []
    rows: list[list[str]] = []
    sections: list[str] = []
    for experiment in experiments:
        done = finished(out, experiment.name)
        if not done:
            continue
        own: list[list[str]] = []
        for setting in done:
            found = tables.records(setting.experiment, setting.setting, setting.metrics, setting.runs)
            records += found
            own += [tables.row(r, metric) for r, metric in zip(found, setting.metrics, strict=True)]
        rows += own
        sections.append(_section(experiment, done, own, _draw(out, experiment, done)))
    table = tables.table(rows)
    out.mkdir(parents=True, exist_ok=True)
    (out / "summary.json").write_text(json.dumps(records, indent=1, allow_nan=False))
    (out / "table.md").write_text(table + "\n")
    (out / "report.html").write_text(_PAGE.format(content="\n".join(sections)))
    return table


def _draw(out: Path, experiment: Experiment, done: list[Finished]) -> list[Path]:
    """The pictures of an experiment, curves first."""
    drawn = []
    for name, figure in experiment.curves({each.setting: each.runs for each in done}).items():
        drawn.append(out / f"{name}.png")
        figure.savefig(drawn[-1], dpi=110)
    for setting in done:
        for picture in pictures(setting.files[0]):
            if out / picture.name not in drawn:
                drawn.append(out / picture.name)
                shutil.copyfile(picture, drawn[-1])
    return drawn


def _section(experiment: Experiment, done: list[Finished], rows: list[list[str]], drawn: list[Path]) -> str:
    sources = {run["data"] for each in done for run in each.about if run["data"]}
    parts = [f"<h2>{html.escape(experiment.title)} (section {experiment.section})</h2>"]
    parts += [f"<p>Data: {html.escape(source)}.</p>" for source in sorted(sources)]
    cells = [f"<tr>{''.join(f'<th>{html.escape(h)}</th>' for h in tables.HEADINGS[1:])}</tr>"]
    cells += [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row[1:])}</tr>" for row in rows]
    parts.append(f"<table>{''.join(cells)}</table>")
    for path in drawn:
        content = base64.b64encode(path.read_bytes()).decode()
        parts.append(f'<img alt="{path.stem}" src="data:image/png;base64,{content}">')
    return "\n".join(parts)
