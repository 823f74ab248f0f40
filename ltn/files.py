"""Files that are written whole or not at all, and what is said of those that cannot be read or written."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from ltn.errors import LogicError, LogicFileError, LogicTypeError

AnyPath = str | os.PathLike[str]

# What is read from a file takes up no more memory than this, or than this many times the size of the file:
# Keras and NumPy do not compress.
ALWAYS_ALLOWED = 2**22
MOST_TIMES = 10


@contextlib.contextmanager
def replacing(path: AnyPath, size: int = 0) -> Iterator[str]:
    """The name of a file to write, which takes the place of `path` when it is whole and on the disk.

    Until then a file at `path` stays as it is, and it stays for good if the block raises or the process ends.
    A process that is killed leaves the unfinished file behind: `.unfinished-`, a number, and the name.
    There must be room for `size` bytes: a writer that cannot bear a full disk tells how many it needs.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rules.txt"
    >>> with replacing(path) as unfinished:
    ...     written = Path(unfinished).write_text("all: forall x: P(x)")
    ...     path.exists()
    False
    >>> path.read_text()
    'all: forall x: P(x)'
    """
    name = name_of(path)
    if is_remote(name) or (os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)):
        # A remote store has renames of its own, if any; a device or a pipe cannot be replaced.
        yield name
        return
    # A link goes on pointing to the file, which is replaced.
    target = Path(os.path.realpath(name))
    unfinished = target.with_name(f".unfinished-{secrets.token_hex(4)}-{target.name}")
    try:
        _check_replaceable(target)
        # Made here, so that a folder that takes no file is found before there is anything to write.
        unfinished.touch(exist_ok=False)
        _check_room(unfinished, size)
        yield str(unfinished)
        if target.exists():
            unfinished.chmod(target.stat().st_mode & 0o777)
        _flush(unfinished, os.O_RDWR)
        os.replace(unfinished, target)
    except LogicError:
        raise
    except Exception as error:
        fault = _fault_behind(error)
        if fault is None:
            raise
        raise LogicFileError(
            f"{name}: the file cannot be written, and nothing was changed: {describe(fault)}."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    if os.name == "posix":
        _flush(target.parent, os.O_RDONLY)


def most_bytes(size: int) -> int:
    """How much memory a file of some size may ask for."""
    return max(ALWAYS_ALLOWED, MOST_TIMES * size)


def check_archive(file: IO[bytes]) -> None:
    """Raise where a zip file, unpacked, would take up much more than it does."""
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > most_bytes(size):
        raise LogicFileError(
            f"the file has {size:,} bytes and unpacks to {unpacked:,}, but only to {most_bytes(size):,} is "
            "allowed: such files are written without compression."
        )
    file.seek(0)


def read_arrays(path: AnyPath) -> dict[str, np.ndarray]:
    """The numbers in a NumPy `.npz` file, by name; code that may be in it is not executed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "arrays.npz"
    >>> np.savez(path, a=[1, 2])
    >>> read_arrays(path)
    {'a': array([1, 2])}
    """
    name = name_of(path)
    try:
        with open(name, "rb") as file:
            check_archive(file)
            with np.load(file, allow_pickle=False) as arrays:
                found = {key: arrays[key] for key in arrays}
    except Exception as error:
        raise unreadable(name, error) from error
    for key, array in found.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise LogicFileError(f"{name}: '{key}' in it are not numbers.")
    return found


def unreadable(name: str, error: BaseException) -> LogicFileError:
    """The error for a file whose reading ended in another one."""
    if isinstance(error, LogicError):
        return LogicFileError(f"{name}: {error}")
    if isinstance(error, FileNotFoundError):
        return LogicFileError(f"{name}: there is no such file.")
    return LogicFileError(f"{name}: the file cannot be read: {describe(error)}.")


def describe(error: BaseException) -> str:
    """What was wrong, on one line.

    >>> describe(FileNotFoundError(2, "No such file or directory")), describe(KeyError("inputs"))
    ('No such file or directory', "KeyError: 'inputs'")
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".rstrip(".: ")


def name_of(path: AnyPath) -> str:
    """The path as text; raise for what is no path."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise LogicTypeError(f"A file is given by its path, text or a `Path`; got {path!r}.") from None


def is_remote(name: str) -> bool:
    """Whether Keras and TensorFlow find the file elsewhere, as in `gs://bucket/theory.keras`."""
    return "://" in name


def _check_replaceable(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file that is there is read-only")


def _check_room(unfinished: Path, size: int) -> None:
    """Raise unless a file may have so many bytes, where the system can tell."""
    if size and hasattr(os, "posix_fallocate"):
        with open(unfinished, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
            file.truncate(0)


def _flush(path: Path, access: int) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _fault_behind(error: BaseException | None) -> OSError | None:
    """What the system refused, where an error began with it: closing the file may have raised others."""
    while error is not None:
        if isinstance(error, OSError):
            return error
        error = error.__cause__ or error.__context__
    return None
