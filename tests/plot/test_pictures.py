"""Pictures as files and in notebooks: nothing is left open, and pyplot is not needed."""

from pathlib import Path
from typing import Any

import matplotlib.style

import ltn
import ltn.plot
from tests.plot.drawn import LOGS


def test_pictures_can_be_saved(people: ltn.Theory, tmp_path: Path) -> None:
    answer: Any = people.query("F(x, y)")
    figures = {
        "curves.png": ltn.plot.training(LOGS),
        "bars.png": ltn.plot.report(people.report()),
        "map.pdf": ltn.plot.heat_map(answer),
        "tree.svg": ltn.plot.tree(people, "spreads"),
        "changes.svg": ltn.plot.compare(people.report(), people.report(p=6)),
        "points.png": ltn.plot.embeddings(people, "people", "S"),
        "graph.pdf": ltn.plot.relation(people, "F(x, y)", nodes="S(x)", threshold=0.0),
        "histogram.png": ltn.plot.histogram(people, "spreads"),
        "repair.png": ltn.plot.repair(people.repair(axioms=["spreads"]), "F"),
        "shares.svg": ltn.plot.violations(people.violations()),
    }
    for name, figure in figures.items():
        figure.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000


def test_notebooks_show_pictures_also_without_pyplot(people: ltn.Theory) -> None:
    figure: Any = ltn.plot.tree(people, "wet")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_names_and_lines_are_seen_in_a_dark_style(people: ltn.Theory) -> None:
    with matplotlib.style.context("dark_background"):
        points = ltn.plot.embeddings(people, "people")
        bars = ltn.plot.histogram(people, "spreads")
        curves = ltn.plot.training(LOGS)
    assert {text.get_color() for text in points.axes[0].texts} == {"white"}
    assert bars.axes[0].lines[0].get_color() == "white"
    assert curves.axes[0].lines[-1].get_color() == "white"
