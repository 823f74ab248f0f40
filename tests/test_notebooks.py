"""The notebooks: each runs from start to end without a warning, and is stored as it should be."""

import ast
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from notebooks import stored
from tests import fresh

ROOT = Path(__file__).parents[1]
PATHS = stored.notebooks()
TUTORIALS = (
    "1_grounding",
    "2_formulas",
    "3_operators",
    "4_theory",
    "5_reasoning",
    "6_knowledge",
    "7_from_ltn_2",
    "9_repair",
)
EXPERIMENTS = ("binary", "iris", "crabs", "addition", "regression", "clustering", "smokers", "reasoning")
LARGEST = 1_000_000


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


class Kernel:
    """A kernel in a fresh process, as `jupyter_client` deals with the `Popen` of one."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], env: dict[str, str], cwd: str, **options: Any):
        _, _, module, *arguments = command
        self._process = fresh.start(module, *arguments, environment=env, folder=Path(cwd))
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self.poll()


@pytest.fixture
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that need not start Python."""
    monkeypatch.setattr("jupyter_client.provisioning.local_provisioner.launch_kernel", Kernel)


def test_there_is_one_for_each_tutorial_and_for_each_experiment() -> None:
    assert tuple(name for name in names(PATHS) if name[0].isdigit()) == TUTORIALS
    assert {name for name in names(PATHS) if not name[0].isdigit()} == set(EXPERIMENTS)


@pytest.mark.usefixtures("_forked")
@pytest.mark.parametrize("path", PATHS, ids=names(PATHS))
def test_it_runs_in_a_fresh_kernel(path: Path) -> None:
    done = stored.executed(read(path), short=True)
    counts = [cell.execution_count for cell in done.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


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

    def test_with_the_outputs_of_this_code(self, path: Path) -> None:
        metadata = read(path).metadata
        assert metadata["executed"] == stored.fingerprint(read(path))
        assert metadata["language_info"] == {"name": "python"}  # nothing of the machine

    def test_with_pictures_and_nothing_but_outputs(self, path: Path) -> None:
        outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
        assert any("image/png" in output.get("data", {}) for output in outputs)
        kinds = {(output.output_type, output.get("name")) for output in outputs}
        assert kinds <= {("stream", "stdout"), ("display_data", None), ("execute_result", None)}

    def test_with_what_it_says_asserted(self, path: Path) -> None:
        cells = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
        trees = [ast.parse(source) for source in cells]
        assert any(isinstance(node, ast.Assert) for tree in trees for node in ast.walk(tree))

    def test_with_links_to_what_there_is(self, path: Path) -> None:
        texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
        links = [link for text in texts for link in re.findall(r"\]\(([^)#]+)", text)]
        for link in links:
            assert link.startswith("https://") or (path.parent / link).exists()

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
    @pytest.fixture(autouse=True, params=["kernel", "forked"])
    @staticmethod
    def _kernels(request: pytest.FixtureRequest) -> None:
        """Both find the same."""
        if request.param == "forked":
            request.getfixturevalue("_forked")

    def test_a_warning_is_one(self) -> None:
        with pytest.raises(stored.NotebookError, match="wrote this"):
            stored.executed(notebook_of("import warnings\nwarnings.warn('wrote this')"))

    @pytest.mark.parametrize("kind", ["W", "E"])
    def test_a_warning_of_tensorflows_log_is_one(self, kind: str) -> None:
        line = f"{kind}0000 00:00:1794858345.676026 27521 shape.cc:52] Surprising"
        # A thread of the kernel must get to read it before the cell ends.
        log = f"import os, time\nos.write(2, b'{line}\\n')\ntime.sleep(0.5)"
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

    def test_a_deprecation_inside_the_library_is_one(self) -> None:
        warn = "warnings.warn_explicit('is old', DeprecationWarning, 'theory.py', 1, 'ltn.theory')"
        with pytest.raises(stored.NotebookError, match="is old"):
            stored.executed(notebook_of(f"import warnings\n{warn}"))

    def test_an_error_is_one_whatever_the_tags_say(self) -> None:
        notebook = notebook_of("1 / 0")
        notebook.cells[0].metadata["tags"] = ["raises-exception"]
        with pytest.raises(CellExecutionError, match="1 / 0"):
            stored.executed(notebook)


def test_text_that_comes_in_pieces_is_stored_in_one() -> None:
    notebook = notebook_of(
        "for word in ('one', 'two'):\n    print(word, flush=True)\ndisplay(3)\nprint('three')"
    )
    first, shown, last = stored.executed(notebook).cells[0].outputs
    assert (first.text, shown.data["text/plain"], last.text) == ("one\ntwo\n", "3", "three\n")


class TestFirstCell:
    """On a machine that has packages of other people with the names ltn and examples."""

    @pytest.fixture(autouse=True)
    def _machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands: list[list[str]] = []
        self.installed: list[str] = []
        self.here, self.foreign = tmp_path / "content", tmp_path / "site-packages"
        self.make_repository(self.foreign)
        monkeypatch.setattr("subprocess.run", self.command)
        monkeypatch.setattr("importlib.metadata.distributions", lambda name: self.installed)

    def make_repository(self, folder: Path) -> None:
        for package in ("ltn", "examples", "examples/harness", "notebooks"):
            (folder / package).mkdir(parents=True)
            (folder / package / "__init__.py").touch()

    def command(self, command: list[str], check: bool) -> None:
        self.commands.append(command)
        if command[0] == "git":
            self.make_repository(Path(command[-1]))
        else:
            self.installed.append(command[-1])

    def run(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
        """Run it in a new session; the programs that it called."""
        folder.mkdir(exist_ok=True, parents=True)
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.path", [str(self.foreign)])
        self.commands.clear()
        exec(stored.with_header(notebook_of(), stored.FOLDER / "any.ipynb").cells[1].source, {})
        return ["git" if command[0] == "git" else command[2] for command in self.commands]

    def found(self, name: str) -> Path:
        spec = PathFinder.find_spec(name, sys.path)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin)

    def test_gets_the_repository_once_in_colab(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clone = self.here / "ltn-repository"
        assert self.run(monkeypatch, self.here) == ["git", "pip"]
        assert stored.repository() in self.commands[0]
        assert self.installed == [str(clone)]
        assert self.found("ltn") == clone / "ltn" / "__init__.py"
        assert self.run(monkeypatch, self.here) == []
        assert self.found("examples") == clone / "examples" / "__init__.py"

    def test_installs_what_was_cloned_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.make_repository(self.here / "ltn-repository")
        assert self.run(monkeypatch, self.here) == ["pip"]

    @pytest.mark.parametrize("folder", ["notebooks", ""])
    def test_does_nothing_in_the_repository(self, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.make_repository(self.here)
        self.installed.append("ltn-keras")
        assert self.run(monkeypatch, self.here / folder) == []
        assert self.found("ltn") == self.here / "ltn" / "__init__.py"
        assert self.found("examples") == self.here / "examples" / "__init__.py"


@pytest.mark.parametrize("end", ["", "/", ".git", ".git/"])
def test_the_address_may_end_in_several_ways(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = stored.address(f"https://github.com/someone/logic{end}")
    monkeypatch.setattr(stored, "repository", lambda: plain)
    badge, setup = stored.with_header(notebook_of(), stored.FOLDER / "any.ipynb").cells
    colab = "https://colab.research.google.com/github/someone/logic/blob/main/notebooks/any.ipynb"
    assert f"]({colab})" in badge.source
    assert '"https://github.com/someone/logic"' in setup.source


@pytest.mark.parametrize("address", ["git@github.com:someone/logic", "https://github.com/logic", ""])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(stored.NotebookError, match="Colab opens notebooks of GitHub"):
        stored.address(address)


def test_the_header_is_written_once_also_into_what_colab_saved() -> None:
    path = stored.FOLDER / "any.ipynb"
    notebook = stored.with_header(notebook_of("1 + 1"), path)
    notebook.nbformat_minor = 0
    for cell in notebook.cells:
        del cell["id"]
    again = stored.with_header(notebook, path)
    assert [cell.source for cell in again.cells] == [cell.source for cell in notebook.cells]
    nbformat.validate(again)
