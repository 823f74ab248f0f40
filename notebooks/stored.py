"""Notebooks as they are stored: with a header for Colab, executed, without what changes each time."""

from __future__ import annotations

import configparser
import hashlib
import os
import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
# Where this environment variable is set, notebooks train for a moment only.
SHORT = "LTN_SHORT"
COLAB = "https://colab.research.google.com"
BADGE = "[![Open in Colab]"
SETUP = """\
# In Colab: get the library, with its examples and their data. Where they are already, this does nothing.
import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

here = Path.cwd()
places = [place for place in (here, here.parent) if (place / "examples" / "harness").is_dir()]
root = places[0] if places else here / "ltn-repository"
if not root.exists():
    repository = "{address}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", repository, str(root)], check=True)
if not any(metadata.distributions(name="ltn-keras")):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", str(root)], check=True)
    importlib.invalidate_caches()
sys.path.insert(0, str(root))  # before another ltn, or other examples"""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# A cell of a short run takes some seconds at most; one that hangs should not keep the tests from ending.
PATIENCE = 600
# All warnings, also those about our own modules; but not what NumPy says of TensorFlow's variables.
WARNINGS = "default,ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
# TensorFlow's log has warnings and errors, but no information.
LOG_LEVEL = "1"
# What TensorFlow's log says of the machine, or for information, whatever the program; all else is a warning.
_NO_WARNING = re.compile(
    r"^I\d{4} |^WARNING: All log messages before absl::InitializeLog|^[^\]]*\.cc:\d+\] ("
    r"failed call to cuInit|Unable to register cu|TF-TRT Warning: Could not find TensorRT|oneDNN supports DT_"
    r"|Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence)"
)


class NotebookError(Exception):
    """A notebook does not run as it should."""


def notebooks() -> list[Path]:
    """All of them: the tutorials in their order, then the experiments."""
    return sorted(FOLDER.glob("*.ipynb"))


def repository() -> str:
    """The public address, as setup.cfg has it."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    return address(settings["notebooks"]["repository"])


def address(text: str) -> str:
    """An address from which Colab opens notebooks and git clones.

    >>> address("https://github.com/someone/logic.git")
    'https://github.com/someone/logic'
    """
    plain = text.strip().removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://github\.com/[\w-]+/[\w.-]+", plain):
        raise NotebookError(
            f"[notebooks] repository in setup.cfg is {text!r}. Colab opens notebooks of GitHub: write "
            "https://github.com/ with the owner and the name."
        )
    return plain


def with_header(notebook: Any, path: Path) -> Any:
    """The notebook with a badge that opens it in Colab, and a cell that gets the library there."""
    # Colab saves notebooks without ids.
    notebook = nbformat.v4.upgrade(notebook, 4, notebook.nbformat_minor)
    place = path.relative_to(ROOT).as_posix()
    target = f"{repository().replace('https://github.com', f'{COLAB}/github')}/blob/main/{place}"
    badge = f"{BADGE}({COLAB}/assets/colab-badge.svg)]({target})"
    first, _ = SETUP.split("\n", 1)
    own = [cell for cell in notebook.cells if not cell.source.startswith((BADGE, first))]
    notebook.cells = [
        nbformat.v4.new_markdown_cell(badge, id="badge"),
        nbformat.v4.new_code_cell(SETUP.format(address=repository()), id="setup"),
        *own,
    ]
    return notebook


def executed(notebook: Any, short: bool = False) -> Any:
    """The notebook after all its cells were executed in a fresh kernel; an error or a warning raises."""
    notebook.metadata = {"kernelspec": KERNEL}
    for cell in notebook.cells:
        cell.metadata = {}  # no tag excuses a cell from being executed, or its errors
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    client = NotebookClient(
        notebook, timeout=PATIENCE if short else None, resources={"metadata": {"path": str(FOLDER)}}
    )
    return cleaned(client.execute(env=_environment(short)))


def fingerprint(notebook: Any) -> str:
    """That of the code: stored with the outputs, it tells whether they are still those of this code."""
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return hashlib.sha256(code.encode()).hexdigest()


def _environment(short: bool) -> dict[str, str]:
    """That of a kernel: what the machine has does not decide what is stored, and warnings are shown."""
    # In a test of pytest, as it believes, a kernel does not show what TensorFlow's log says.
    removed = {SHORT, "LTN_DATA", "PYTEST_CURRENT_TEST"}
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    environment |= {"LTN_SHIPPED_DATA": "1", "TF_CPP_MIN_LOG_LEVEL": LOG_LEVEL, "PYTHONWARNINGS": WARNINGS}
    return environment | ({SHORT: "1"} if short else {})


def cleaned(notebook: Any) -> Any:
    """Without the times of execution and what is said of the machine; a warning raises."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        kept: list[Any] = []
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                lines = [line for line in output.text.splitlines() if line and not _NO_WARNING.search(line)]
                if lines:
                    raise NotebookError("\n".join(["A cell writes to stderr:", cell.source, "", *lines]))
            elif kept and output.output_type == kept[-1].output_type == "stream":
                kept[-1].text += output.text  # a kernel sends it in pieces, as time goes
            else:
                kept.append(output)
        cell.outputs = kept
    language = {"name": "python"}  # whatever its version
    notebook.metadata = {"kernelspec": KERNEL, "language_info": language, "executed": fingerprint(notebook)}
    return notebook
