"""Trees as text, with the fewest parentheses, so that parsing the text gives the same tree."""

from __future__ import annotations

from typing import NamedTuple

from ltn.errors import LogicTypeError
from ltn.language import syntax
from ltn.language.syntax import Node

# How tightly a node holds together, and what it asks of its operands: as the order of the grammar's rules.
_CONNECTIVES: dict[type[Node], tuple[int, int, int]] = {
    syntax.Iff: (1, 1, 2),
    syntax.Implies: (2, 3, 2),
    syntax.Or: (3, 3, 4),
    syntax.And: (4, 4, 5),
}
_PREFIX = 5
_COMPARISON = 6
_SUM = 7
_PRODUCT = 8
_NEGATIVE = 9
_ATOM = 10

_SIGNS: dict[type[Node] | str, tuple[str, str]] = {
    syntax.Iff: ("<->", "↔"),
    syntax.Implies: ("->", "→"),
    syntax.Or: ("|", "∨"),  # noqa: RUF001
    syntax.And: ("&", "∧"),
    syntax.Not: ("~", "¬"),
    "!=": ("!=", "≠"),
    "<=": ("<=", "≤"),
    ">=": (">=", "≥"),
    "forall": ("forall", "∀"),
    "exists": ("exists", "∃"),
}


class _Operand(NamedTuple):
    """A node to print: how tight it must be, and whether text follows that a quantifier would swallow."""

    node: Node
    level: int = 0
    followed: bool = False


def text(node: Node, unicode: bool = False) -> str:
    """The node as text that parses to an equal tree, in ASCII or with the signs of mathematics.

    >>> from ltn.language import parse
    >>> formula = parse("∀x: ((P(x)) → (exists y where x <= y: (R(x, y))))")
    >>> text(formula)
    'forall x: P(x) -> exists y where x <= y: R(x, y)'
    >>> text(formula, unicode=True)
    '∀x: P(x) → ∃y where x ≤ y: R(x, y)'
    """
    written: list[str] = []
    pending: list[str | _Operand] = [_Operand(node)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            written.append(piece)
        else:
            pending.extend(reversed(_pieces(piece, int(unicode))))
    return "".join(written)


def _pieces(operand: _Operand, style: int) -> list[str | _Operand]:
    node = operand.node
    swallows = isinstance(node, syntax.Quantifier) and operand.followed
    if _level(node) < operand.level or swallows:
        return ["(", _Operand(node), ")"]
    match node:
        case syntax.Number():
            return [number(node.value)]
        case syntax.Name():
            return [node.name]
        case syntax.Apply():
            arguments: list[str | _Operand] = []
            for argument in node.arguments:
                arguments += [", ", _Operand(argument)]
            return [node.symbol, "(", *arguments[1:], ")"]
        case syntax.Quantifier():
            return _quantifier(node, style)
        case syntax.Not():
            return [_SIGNS[syntax.Not][style], _Operand(node.operand, _PREFIX, operand.followed)]
        case syntax.Negative():
            return ["-", _Operand(node.operand, _NEGATIVE)]
        case syntax.Comparison():
            sign = _SIGNS.get(node.operator, (node.operator, node.operator))[style]
            return [_Operand(node.left, _SUM), f" {sign} ", _Operand(node.right, _SUM)]
        case syntax.Arithmetic():
            level = _level(node)
            return [_Operand(node.left, level), f" {node.operator} ", _Operand(node.right, level + 1)]
        case syntax.Binary():
            _, left, right = _CONNECTIVES[type(node)]
            return [
                _Operand(node.left, left, followed=True),
                f" {_SIGNS[type(node)][style]} ",
                _Operand(node.right, right, operand.followed),
            ]
    raise LogicTypeError(f"Expected a part of a formula; got a {type(node).__name__}.")


def _quantifier(node: syntax.Quantifier, style: int) -> list[str | _Operand]:
    options = ", ".join(f"{name}={number(value)}" for name, value in node.options)
    groups = [group[0] if len(group) == 1 else f"diag({', '.join(group)})" for group in node.groups]
    space = "" if style and not options else " "
    head = f"{_SIGNS[node.kind][style]}{options and f'[{options}]'}{space}{', '.join(groups)}"
    # A quantifier in a guard could stand without parentheses, but two colons in a row are hard to read.
    guard: list[str | _Operand] = (
        [] if node.guard is None else [" where ", _Operand(node.guard, followed=True)]
    )
    return [head, *guard, ": ", _Operand(node.body)]


def _level(node: Node) -> int:
    match node:
        case syntax.Not() | syntax.Quantifier():
            return _PREFIX
        case syntax.Comparison():
            return _COMPARISON
        case syntax.Arithmetic():
            return _SUM if node.operator in "+-" else _PRODUCT
        case syntax.Negative():
            return _NEGATIVE
        case syntax.Binary():
            return _CONNECTIVES[type(node)][0]
    return _ATOM


def number(value: float) -> str:
    """The number, so that it reads back exactly; whole ones without a point.

    >>> number(3.0), number(0.1), number(-2.5)
    ('3', '0.1', '-2.5')
    """
    whole = float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
