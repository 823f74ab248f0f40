"""Notebooks as they are stored: with a header for Colab, executed, without what changes each time."""

from __future__ import annotations

import configparser
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
SETUP = """\
# In Colab: get the library, with its examples and their data. Where they are already, this does nothing.
import importlib.util
import sys

sys.path.append("..")  # of a notebook in the repository, the examples are beside its folder
if not (importlib.util.find_spec("ltn") and importlib.util.find_spec("examples")):
    import subprocess

    repository = "{address}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", repository, "ltn-repository"], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "./ltn-repository"], check=True)
    sys.path.insert(0, "ltn-repository")"""
# What TensorFlow's log says of the machine, or for information, whatever the program; all else is a warning.
_NO_WARNING = re.compile(
    r"^I\d{4} |^WARNING: All log messages before absl|OUT_OF_RANGE: End of sequence"
    r"|cuInit|Unable to register cu|Could not find TensorRT|oneDNN supports"
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
    return settings["notebooks"]["repository"]


def with_header(notebook: Any, path: Path) -> Any:
    """The notebook with a badge that opens it in Colab, and a cell that gets the library there."""
    address = repository()
    name = "/".join(address.split("/")[-2:])
    target = f"{COLAB}/github/{name}/blob/main/{path.relative_to(ROOT).as_posix()}"
    badge = nbformat.v4.new_markdown_cell(
        f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({target})", id="badge"
    )
    setup = nbformat.v4.new_code_cell(SETUP.format(address=address), id="setup")
    own = [cell for cell in notebook.cells if cell.id not in ("badge", "setup")]
    notebook.cells = [badge, setup, *own]
    return notebook


def executed(notebook: Any, short: bool = False) -> Any:
    """The notebook after all its cells were executed in a fresh kernel; an error or a warning raises."""
    # Data of one's own are not for what is stored; and in a test of pytest, as it believes, a kernel does not
    # show what TensorFlow's log says.
    removed = {SHORT, "LTN_DATA", "PYTEST_CURRENT_TEST"}
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "1", **({SHORT: "1"} if short else {})}
    client = NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(FOLDER)}})
    return cleaned(client.execute(env=environment))


def cleaned(notebook: Any) -> Any:
    """Without the times of execution and what TensorFlow says of the machine; a warning raises."""
    for cell in notebook.cells:
        cell.metadata = {name: value for name, value in cell.metadata.items() if name != "execution"}
        if cell.cell_type != "code":
            continue
        kept = []
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                lines = [line for line in output.text.splitlines() if line and not _NO_WARNING.search(line)]
                if lines:
                    raise NotebookError("\n".join(["A cell writes to stderr:", cell.source, "", *lines]))
            else:
                kept.append(output)
        cell.outputs = kept
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook
