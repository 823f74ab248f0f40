"""Faults that tests bring about: a process that is killed, a full disk, a folder that takes no file."""

import contextlib
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What happens to files, as Python tells its audit hooks.
FILE_EVENTS = ("open", "os.rename", "os.remove", "os.chmod")
# Someone without rights: root may write everywhere.
NOBODY = 65534


def kill_at(event: int, folder: Path) -> None:
    """Let this process be killed when it touches the files of a folder for the n-th time, counted from 0."""
    seen = 0

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if name in FILE_EVENTS and isinstance(arguments[0], str | Path) and str(folder) in str(arguments[0]):
            if seen == event:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1

    sys.addaudithook(watch)


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file grows beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def closed_folder(file: Path, rights: int = 0o644) -> Iterator[Path]:
    """A copy of a file, with some rights, in a folder that takes no further file, also from root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / file.name
        copy.write_bytes(file.read_bytes())
        copy.chmod(rights)
        folder.chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(NOBODY)
        try:
            yield copy
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o755)
