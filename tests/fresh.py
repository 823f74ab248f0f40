"""Fresh processes that start at once: forks of a server that has imported `ltn`, and has run nothing.

To start Python anew takes six seconds, for the imports alone.
"""

import gc
import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any
from unittest import mock

from notebooks import stored
from tests import kernels

ROOT = Path(__file__).parents[1]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__, "ltn", "ipykernel.ipkernel"])
# What is read by imports: as notebooks need it, of which all that is shown is looked at.
READ_BY_IMPORTS = {
    "TF_CPP_MIN_LOG_LEVEL": stored.LOG_LEVEL,
    "PYTHONWARNINGS": stored.WARNINGS,
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}
# In the server, this is what follows the first folder in the path of a Python that has just started.
PATH = sys.path[1:]
# Seconds, for a machine that has much else to do.
PATIENCE = 600.0


def start(
    module: str,
    *arguments: object,
    files: Mapping[int, Path] | None = None,
    environment: Mapping[str, str] = os.environ,
    folder: Path = ROOT,
) -> ForkServerProcess:
    """A process that does what `python -m module arguments` does, with files as its standard streams."""
    _ensure_a_server()
    here, there = CONTEXT.Pipe()
    command = [module, *map(str, arguments)]
    given = command, dict(files or {}), dict(environment), folder, there
    process = CONTEXT.Process(target=_run, args=given, daemon=True)
    process.start()
    # From here on, a signal to its group reaches no other process.
    here.recv()
    return process


def run(module: str, *arguments: object, output: Path) -> str:
    """What such a process writes until it ends."""
    process = start(module, *arguments, files={1: output, 2: output})
    process.join(PATIENCE)
    said = output.read_text(errors="replace")
    assert process.exitcode == 0, said[-3000:]
    return said


def stop() -> None:
    """End what is left of them, and the server, if there is one."""
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    server: Any = forkserver._forkserver
    server._stop()


def _ensure_a_server() -> None:
    folder = Path.cwd()
    try:
        os.chdir(ROOT)
        with mock.patch.dict(os.environ, READ_BY_IMPORTS):
            forkserver.ensure_running()
    finally:
        os.chdir(folder)


def _run(
    command: list[str],
    files: dict[int, Path],
    environment: dict[str, str],
    folder: Path,
    there: Connection,
) -> None:
    # No search for garbage passes over what the server imported.
    gc.freeze()
    kernels.keep()
    os.setsid()
    there.send(None)
    there.close()
    os.chdir(folder)
    os.environ.clear()
    # A kernel ends with its parent, which is the server.
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    for number, path in files.items():
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT if number else os.O_RDONLY), number)
    if 0 in files:
        sys.stdin = os.fdopen(0)
    sys.path[:] = [str(folder), *PATH]
    sys.argv[1:] = command[1:]
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
