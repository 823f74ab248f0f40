"""Pictures as files and in notebooks: nothing is left open, and pyplot is not needed."""

from pathlib import Path
from typing import Any

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
    }
    for name, figure in figures.items():
        figure.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000


def test_notebooks_show_pictures_also_without_pyplot(people: ltn.Theory) -> None:
    figure: Any = ltn.plot.tree(people, "wet")
    assert figure._repr_png_().startswith(b"\x89PNG")
