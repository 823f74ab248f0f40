"""The mutants of a file: changes by the operators of cosmic-ray, without those that cannot matter."""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    file: str
    line: int
    # Of the whole file.
    text: str


class Place(NamedTuple):
    """A piece of source code, and the operators that change it, each with the number of its occurrence."""

    file: str
    line: int
    changes: tuple[tuple[str, int], ...]


def places(root: Path, file: str) -> list[Place]:
    """Where the operators of cosmic-ray change a file.

    A sample of places, with one mutant of each, counts `a + b` once. Of all mutants, eleven change it.
    """
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast((root / file).read_text())))
    found = defaultdict[tuple[tuple[int, int], tuple[int, int]], list[tuple[str, int]]](list)
    for name in operator_names():
        # These need to be told the names of variables.
        if "Variable" not in name:
            operator = get_operator(name)()
            spans = (span for node in nodes for span in operator.mutation_positions(node))
            for occurrence, span in enumerate(spans):
                found[span].append((name, occurrence))
    return [Place(file, span[0][0], tuple(changes)) for span, changes in sorted(found.items())]


def draw(root: Path, rooms: list[str], seed: int) -> Iterator[Mutant]:
    """Mutants in random order, one for each place where there is one that can matter."""
    chance = random.Random(seed)
    files = [
        path.relative_to(root).as_posix() for room in rooms for path in sorted((root / room).rglob("*.py"))
    ]
    everywhere = [place for file in files for place in places(root, file)]
    chance.shuffle(everywhere)
    originals = {file: (root / file).read_text() for file in files}
    meanings = {file: meaning(text) for file, text in originals.items()}
    for place in everywhere:
        for name, occurrence in chance.sample(place.changes, len(place.changes)):
            try:
                text = changed(originals[place.file], name, occurrence)
                matters = meaning(text) != meanings[place.file]
            except (AttributeError, SyntaxError):
                # Cosmic-ray cannot replace an exception of a module, and takes `/` of parameters for a sign.
                continue
            if matters:
                yield Mutant(place.file, place.line, text)
                break


def changed(text: str, name: str, occurrence: int) -> str:
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    return str(mutate_code(text, get_operator(name)(), occurrence))


def meaning(text: str) -> str:
    """What of a program decides what it does: without the parts that `_Meaning` leaves out."""
    return ast.dump(_Meaning().visit(ast.parse(text)))


class _Meaning(ast.NodeTransformer):
    """Leaves out what cannot change the result of a call."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        # Types are read by type checkers alone.
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        node.returns = None
        if "overload" in map(ast.unparse, node.decorator_list):
            return None
        if all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in node.body):
            # A docstring alone: what derived classes define.
            node.decorator_list = []
        # Called on a class it changes nothing, and called on an object all calls fail.
        kept = [each for each in node.decorator_list if ast.unparse(each) != "staticmethod"]
        node.decorator_list = kept
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        # More ways to pass an argument, or fewer that nobody uses, are no mistake.
        node.args, node.posonlyargs, node.kwonlyargs = (
            [*node.posonlyargs, *node.args, *node.kwonlyargs],
            [],
            [],
        )
        node.defaults += [default for default in node.kw_defaults if default is not None]
        node.kw_defaults = []
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # It says what holds: the lengths are equal.
        if ast.unparse(node.func) == "zip":
            node.keywords = [each for each in node.keywords if each.arg != "strict"]
        return self.generic_visit(node)
