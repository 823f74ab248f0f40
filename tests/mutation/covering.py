"""Which tests run a line, as `make coverage` stored it."""

import ast
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from coverage import CoverageData

from tests.mutation.contexts import TIMES

ROOT = TIMES.parent


class Covering:
    """The tests that run each line, and the seconds that each test takes."""

    def __init__(self) -> None:
        self._data = CoverageData(str(ROOT / ".coverage"))
        self._data.read()
        self._seconds: dict[str, float] = json.loads(TIMES.read_text())
        self._of_file = defaultdict[str, list[str]](list)
        for test in self._seconds:
            self._of_file[test.partition("::")[0]].append(test)

    def tests(self, file: str, line: int, budget: float) -> dict[str, list[str]]:
        """By file, the tests that run a line; the quickest files first, as many as fit into the seconds.

        Constants, decorators and defaults run while modules are imported. They have the tests of what they
        stand in: the function, the class, the file.
        """
        contexts = self._data.contexts_by_lineno(str(ROOT / file))
        names = set[str]()
        for lines in surroundings((ROOT / file).read_text(), line):
            here = {name for each in lines for name in contexts.get(each, ())}
            names = here - {""}
            # An empty name is that of an import.
            if names or not here:
                break
        tests = {test for name in names for test in (self._of_file[name] if "::" not in name else [name])}
        return _quickest({test: self._seconds.get(test, 0.0) for test in tests}, budget)

    def seconds(self, tests: Mapping[str, list[str]]) -> float:
        return sum(self._seconds.get(test, 0.0) for names in tests.values() for test in names)


def surroundings(text: str, line: int) -> Iterator[range]:
    """The lines of the statement in which a line stands, of the function or class around it, of the file."""
    tree = ast.parse(text)
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and line in _lines(node)]
    # `walk` finds what is inside later.
    for node in reversed(around):
        body = getattr(node, "body", None)
        if node is around[-1] and body:
            yield range(_lines(node).start, body[0].lineno)
        if node is around[-1] or isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield _lines(node)
    yield range(1, len(text.splitlines()) + 1)


def _lines(node: ast.stmt) -> range:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _quickest(seconds: Mapping[str, float], budget: float) -> dict[str, list[str]]:
    files = defaultdict[str, list[str]](list)
    for test in seconds:
        files[test.partition("::")[0]].append(test)
    found, spent = dict[str, list[str]](), 0.0
    for file, tests in sorted(files.items(), key=lambda item: sum(seconds[test] for test in item[1])):
        fitting = list[str]()
        for test in sorted(tests, key=seconds.__getitem__):
            spent += seconds[test]
            # The quickest of all always fits.
            if spent <= budget or not (found or fitting):
                fitting.append(test)
        if fitting:
            found[file] = fitting
    return found
