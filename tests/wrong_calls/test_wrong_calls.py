"""Each wrong call of the tables ends in its error, and leaves everything as it was; no `raise` is left out.

A row is a call, the class of its error, and a piece of its message; its names are those of `world.make`.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ltn
from tests.wrong_calls import (
    core,
    declarations,
    language,
    operators,
    pictures,
    questions,
    raises,
    reasoning,
    saving,
    semantics,
    training,
    world,
)

ROOMS = (
    operators,
    language,
    core,
    semantics,
    declarations,
    questions,
    training,
    reasoning,
    saving,
    pictures,
)
ROWS: list[tuple[str, type[Exception], str]] = [row for room in ROOMS for row in room.ROWS]
TESTS = Path(__file__).parents[1]


class Outcome(NamedTuple):
    """What a call ended in, the lines of the package that led there, and what it changed."""

    error: Exception | None
    lines: set[tuple[str, int]]
    changed: dict[str, Any]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What each row ends in: all are made on one world, so that what one of them leaves behind is seen."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "binary.txt").write_bytes(b"a: \xff\xfe")
    (folder / "binary.csv").write_bytes(b"ann,\xff\xfe")
    (folder / "empty.tsv").write_bytes(b"")
    (folder / "misspelt.csv").write_bytes(b"ann,red\nan,red\n")
    (folder / "corrupt.tfrecord").write_bytes(bytes(100))
    names = world.make(folder)
    before = world.state(names)
    found = {}
    for call, _, _ in ROWS:
        error, lines = None, set[tuple[str, int]]()
        try:
            exec(call, dict(names))
        except Exception as caught:
            error, lines = caught, raises.lines_of(caught)
        after = world.state(names)
        changed = {name: after[name] for name in before if after[name] != before[name]}
        found[call] = Outcome(error, lines, changed)
        if changed:
            names = world.make(folder)
            before = world.state(names)
    return found


@pytest.mark.parametrize(("call", "kind", "message"), ROWS, ids=[call for call, _, _ in ROWS])
def test_the_error_tells_what_is_wrong_and_nothing_has_changed(
    call: str, kind: type[Exception], message: str, outcomes: dict[str, Outcome]
) -> None:
    error, _, changed = outcomes[call]
    assert isinstance(error, kind), repr(error)
    assert message in str(error)
    assert not changed


def test_errors_are_ours_but_for_attributes_that_are_not_there() -> None:
    others = {kind for _, kind, _ in ROWS if not issubclass(kind, ltn.LogicError)}
    assert others == {AttributeError}


def test_no_call_stands_twice() -> None:
    calls = [call for call, _, _ in ROWS]
    assert sorted(set(calls)) == sorted(calls)


def test_every_raise_is_reached(outcomes: dict[str, Outcome]) -> None:
    reached = {line for outcome in outcomes.values() for line in outcome.lines}
    left = [
        statement
        for statement in raises.statements()
        if not any((statement.file, line) in reached for line in range(statement.first, statement.last + 1))
    ]
    missing = [(each.file, each.first, each.text) for each in left if not raises.is_excused(each)]
    assert not missing, "Add rows for these, or the tests that reach them to raises.ELSEWHERE."


@pytest.mark.parametrize(("file", "piece", "test"), raises.ELSEWHERE)
def test_an_exception_is_needed_and_has_a_test(
    file: str, piece: str, test: str, outcomes: dict[str, Outcome]
) -> None:
    meant = [each for each in raises.statements() if each.file == file and piece in each.text]
    assert len(meant) == 1, "Name one statement."
    [statement] = meant
    reached = {line for outcome in outcomes.values() for line in outcome.lines}
    lines = range(statement.first, statement.last + 1)
    assert not any((file, line) in reached for line in lines), "A row reaches it: leave the exception out."
    path, _, name = test.partition("::")
    assert f"def {name}(" in (TESTS / path).read_text()
