"""Mutants: which are killed, which cannot matter, and which tests are run on them."""

from pathlib import Path

import pytest

from tests import fresh
from tests.mutation.__main__ import interval
from tests.mutation.covering import surroundings
from tests.mutation.mutants import meaning

TINY = "def larger(n: int) -> int:\n    return n + 1\n"
TEST = """
import tiny

def test_larger():
    assert tiny.larger(1) == 2

def test_that_does_not_run_it():
    assert False
"""


def test_a_mutant_is_killed_by_a_test_that_fails_and_by_the_end_of_its_time(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "tiny.py").write_text(TINY)
    (root / "test_tiny.py").write_text(TEST)
    said = fresh.run("tests.mutation.tiny_program", root, output=tmp_path / "said")
    killed, survived, endless = said.splitlines()[-3:]
    assert killed == "test_tiny.py::test_larger"
    assert survived == "None"
    assert endless.startswith("signal ")
    assert (root / "tiny.py").read_text() == TINY


@pytest.mark.parametrize(
    "change",
    [
        ("n: int", "n: int | None"),
        ("-> int", "-> str"),
        ("x: int = 2", "x: float = 2"),
        ("strict=True", "strict=False"),
        ("Mapping", "Sequence"),
        ("@abstractmethod", ""),
        ("@property", ""),
        ("self, *, n", "self, /, n"),
    ],
)
def test_what_cannot_matter(change: tuple[str, str]) -> None:
    text = (
        "if TYPE_CHECKING:\n    from collections.abc import Mapping\n"
        "x: int = 2\n"
        "def pairs(n: int) -> int:\n    return zip([n], [x + 1], strict=True)\n"
        "class A:\n    @property\n    @abstractmethod\n    def f(self, *, n): ...\n"
    )
    assert change[0] in text
    assert meaning(text.replace(*change)) == meaning(text)
    assert meaning(text.replace("x + 1", "x - 1")) != meaning(text)


def test_a_line_has_the_tests_of_its_statement_and_then_of_what_it_stands_in() -> None:
    text = """a = 1

class A:
    b = 2

    @property
    def f(self):
        if a:
            return (
                a
            )
"""
    around = {line: [list(lines) for lines in surroundings(text, line)] for line in (1, 4, 7, 8, 10)}
    file, whole, function = list(range(1, 12)), list(range(3, 12)), list(range(6, 12))
    assert around == {
        1: [[1], file],
        4: [[4], whole, file],
        7: [[6, 7], function, whole, file],
        8: [[8], list(range(8, 12)), function, whole, file],
        10: [[9, 10, 11], function, whole, file],
    }


def test_the_interval_of_a_share() -> None:
    """The numbers of Wilson's formula, for 85 of 100."""
    assert interval(85, 100) == pytest.approx((0.7672, 0.9069), abs=1e-4)
