"""Tests of changed code, in forks of this process, which has imported what is large and has run nothing."""

import compileall
import contextlib
import os
import py_compile
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from tests.mutation.mutants import Mutant

# Bytes: a mutant that asks for all memory of the machine does not get it.
MEMORY = 8 << 30
# How much longer than its seconds of the processor a mutant may take: one that waits for ever is never busy.
PATIENCE = 30.0
# What a pipe takes before it is read.
MOST_SAID = 10_000
# What this process has imported, as Hypothesis, is not rewritten.
OPTIONS = ["--exitfirst", "--quiet", "-p", "no:cacheprovider", "--rootdir", "."]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]


class Copy:
    """A copy of a work tree, in which files are changed."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        # Without environments, and caches.
        ignore = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "results")
        shutil.copytree(root, folder, ignore=ignore, dirs_exist_ok=True)
        # Python compares times of files by the second, and mutants are quicker.
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder, quiet=2, invalidation_mode=mode)

    def killer(self, mutant: Mutant, tests: Mapping[str, list[str]], seconds: float) -> str | None:
        """The first test that fails on a mutant, of the tests of each file; or what else ended them."""
        file = self.folder / mutant.file
        original = file.read_text()
        file.write_text(mutant.text)
        try:
            return self.failure(tests, seconds)
        finally:
            file.write_text(original)

    def failure(self, tests: Mapping[str, list[str]], seconds: float) -> str | None:
        """The first test that fails, or takes more than these seconds of the processor; None if all pass."""
        reader, writer = os.pipe()
        process = os.fork()
        if not process:
            _end_with(self.folder, tests, seconds, writer)
        os.close(writer)
        with os.fdopen(reader) as failed:
            status = _ended(process, time.monotonic() + PATIENCE * seconds)
            said = failed.read()
        if os.WIFSIGNALED(status):
            return f"signal {os.WTERMSIG(status)}"
        if os.WEXITSTATUS(status) > 1:
            raise RuntimeError(said)
        return said or None


class _Selection:
    """A plugin of pytest: some tests of a file, and the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = set(tests)
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.tests]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def _end_with(folder: Path, tests: Mapping[str, list[str]], seconds: float, writer: int) -> NoReturn:
    """End this process and say which test fails, if one does; with 2 for a mistake of this program."""
    code = 0
    try:
        os.setsid()
        for name, most in (("CPU", int(seconds) + 1), ("DATA", MEMORY), ("CORE", 0)):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        _move_to(folder)
        said = _first_failure(tests)
    except BaseException:
        said, code = traceback.format_exc(), 2
    os.write(writer, said.encode()[:MOST_SAID])
    os._exit(code)


def _move_to(folder: Path) -> None:
    os.chdir(folder)
    ours = {path.name for path in folder.iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))


def _first_failure(tests: Mapping[str, list[str]]) -> str:
    for file, names in tests.items():
        selection = _Selection(names)
        code = pytest.main([*OPTIONS, file], plugins=[selection])
        # A mutant may change the names of tests, which are then not run.
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return selection.failed or file
    return ""


def _ended(process: int, deadline: float) -> int:
    """The status with which a process ends, at the deadline at the latest, with all that it started."""
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    return status
