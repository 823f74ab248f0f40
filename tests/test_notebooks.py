"""The notebooks: each runs from start to end without a warning, and is stored as it should be."""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from notebooks import stored

ROOT = Path(__file__).parents[1]
PATHS = stored.notebooks()
TUTORIALS = 7
EXPERIMENTS = ("binary", "iris", "crabs", "addition", "regression", "clustering", "smokers", "reasoning")
LARGEST = 1_000_000


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def test_there_is_one_for_each_tutorial_and_for_each_experiment() -> None:
    numbered = [name.split("_")[0] for name in names(PATHS) if name[0].isdigit()]
    assert numbered == [str(number + 1) for number in range(TUTORIALS)]
    assert {name for name in names(PATHS) if not name[0].isdigit()} == set(EXPERIMENTS)


@pytest.mark.parametrize("path", PATHS, ids=names(PATHS))
def test_it_runs_in_a_fresh_kernel(path: Path) -> None:
    done = stored.executed(read(path), short=True)
    assert all(cell.execution_count for cell in done.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", PATHS, ids=names(PATHS))
class TestStored:
    def test_with_the_header_of_this_repository(self, path: Path) -> None:
        notebook = read(path)
        headed = stored.with_header(read(path), path)
        assert [cell.source for cell in notebook.cells] == [cell.source for cell in headed.cells]

    def test_executed_from_first_to_last_and_small(self, path: Path) -> None:
        notebook = read(path)
        counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
        assert counts == list(range(1, len(counts) + 1))
        assert path.stat().st_size < LARGEST

    def test_with_pictures_and_nothing_but_outputs(self, path: Path) -> None:
        outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
        assert any("image/png" in output.get("data", {}) for output in outputs)
        kinds = {(output.output_type, output.get("name")) for output in outputs}
        assert kinds <= {("stream", "stdout"), ("display_data", None), ("execute_result", None)}

    def test_with_what_it_says_asserted(self, path: Path) -> None:
        cells = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
        trees = [ast.parse(source) for source in cells]
        assert any(isinstance(node, ast.Assert) for tree in trees for node in ast.walk(tree))

    def test_linked_by_the_readme(self, path: Path) -> None:
        link = re.escape(path.relative_to(ROOT).as_posix())
        assert re.search(rf"\]\({link}\)", (ROOT / "README.md").read_text())


def notebook_of(*sources: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def with_error_line(line: str) -> Any:
    notebook = notebook_of("1 + 1")
    notebook.metadata["kernelspec"] = {"name": "python3"}
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", name="stderr", text=f"{line}\n")]
    return notebook


class TestMistakes:
    def test_a_warning_is_one(self) -> None:
        with pytest.raises(stored.NotebookError, match="wrote this"):
            stored.executed(notebook_of("import warnings\nwarnings.warn('wrote this')"))

    @pytest.mark.parametrize("kind", ["W", "E"])
    def test_a_warning_of_tensorflows_log_is_one(self, kind: str) -> None:
        log = (
            f"import os\nos.write(2, b'{kind}0000 00:00:1794858345.676026 27521 shape.cc:52] Surprising\\n')"
        )
        with pytest.raises(stored.NotebookError, match="Surprising"):
            stored.executed(notebook_of(log))

    @pytest.mark.parametrize(
        "line",
        [
            "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
            "I0000 00:00:1794858339.858188   27521 port.cc:153] oneDNN custom operations are on.",
            "E0000 00:00:1794858345.676026   27521 cuda_platform.cc:52] failed call to cuInit: INTERNAL",
        ],
    )
    def test_what_it_says_of_the_machine_is_none(self, line: str) -> None:
        assert stored.cleaned(with_error_line(line)).cells[0].outputs == []

    def test_an_error_is_one(self) -> None:
        with pytest.raises(Exception, match="1 / 0"):
            stored.executed(notebook_of("1 / 0"))


def test_the_first_cell_gets_the_library_only_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = stored.with_header(notebook_of(), stored.FOLDER / "any.ipynb").cells[1].source
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command))
    monkeypatch.setattr("sys.path", [*sys.path])
    exec(cell, {})
    assert commands == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(cell, {})
    assert commands[0][:2] == ["git", "clone"]
    assert stored.repository() in commands[0]
    assert commands[1][1:4] == ["-m", "pip", "install"]
