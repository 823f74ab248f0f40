"""The `raise` statements of the package, those that an error came from, and those that no row can reach."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ltn

PACKAGE = Path(ltn.__file__).parent

# What no row reaches: the file, a piece of the statement, and the test that reaches it.
ELSEWHERE = [
    ("callbacks.py", "of other weights or of another optimizer", "test_backup.py::test_a_backup_of_another"),
    ("core/functions.py", "a tensor of unknown rank", "core/test_symbols.py::test_"),
]
# What no call reaches: a rule that was forgotten, or a caller of ours that is wrong.
UNREACHABLE = ["RuntimeError("]


class Statement(NamedTuple):
    """A `raise` of the package: its file, its lines, and what it says."""

    file: str
    first: int
    last: int
    text: str


def statements() -> list[Statement]:
    """All that raise a new error; a bare `raise` passes on one that came from elsewhere."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Raise) and node.exc is not None:
                text = " ".join((ast.get_source_segment(source, node) or "").split())
                file = path.relative_to(PACKAGE).as_posix()
                found.append(Statement(file, node.lineno, node.end_lineno or node.lineno, text))
    return found


def lines_of(error: BaseException) -> set[tuple[str, int]]:
    """The lines of the package that an error, or one that led to it, passed through: file and number."""
    lines = set()
    for each in _chain(error):
        traceback = each.__traceback__
        while traceback is not None:
            path = Path(traceback.tb_frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE):
                lines.add((path.relative_to(PACKAGE).as_posix(), traceback.tb_lineno))
            traceback = traceback.tb_next
    return lines


def _chain(error: BaseException) -> Iterator[BaseException]:
    pending: list[BaseException | None] = [error]
    known: list[BaseException] = []
    while pending:
        each = pending.pop()
        if each is not None and each not in known:
            known.append(each)
            yield each
            pending += [each.__cause__, each.__context__]


def is_excused(statement: Statement) -> bool:
    """Whether no row has to reach it."""
    return any(kind in statement.text for kind in UNREACHABLE) or any(
        statement.file == file and piece in statement.text for file, piece, _ in ELSEWHERE
    )
