"""Trees as text, with the fewest parentheses, so that parsing the text gives the same tree.

Each kind of node tells its pieces (`syntax`); where parentheses are needed is decided here.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, Protocol, runtime_checkable

from ltn.errors import LogicTypeError


class Level(IntEnum):
    """How tightly a node holds together: the order of the grammar's rules."""

    ANY = 0
    EQUIVALENCE = 1
    IMPLICATION = 2
    DISJUNCTION = 3
    CONJUNCTION = 4
    PREFIX = 5
    COMPARISON = 6
    SUM = 7
    PRODUCT = 8
    NEGATIVE = 9
    ATOM = 10

    @property
    def above(self) -> Level:
        """The next tighter one: what an operator asks of the operand that it does not associate with."""
        return Level(self + 1)


class Sign(NamedTuple):
    """A sign of the language in ASCII, and as mathematics writes it."""

    ascii: str
    unicode: str


@runtime_checkable
class Printable(Protocol):
    """What can be printed: the nodes of a tree."""

    @property
    def level(self) -> Level:
        """How tightly the node holds together."""

    @property
    def is_open(self) -> bool:
        """Whether it would swallow text that follows it, as the body of a quantifier does."""

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        """Text and operands in the order of the text; `followed` tells whether text follows the node."""


class Operand(NamedTuple):
    """A node to print: how tight it must be, and whether text follows that an open node would swallow."""

    node: Printable
    level: Level = Level.ANY
    followed: bool = False


def text(node: Printable, unicode: bool = False) -> str:
    """The node as text that parses to an equal tree, in ASCII or with the signs of mathematics.

    >>> from ltn.language import parse
    >>> formula = parse("∀x: ((P(x)) → (exists y where x <= y: (R(x, y))))")
    >>> text(formula)
    'forall x: P(x) -> exists y where x <= y: R(x, y)'
    >>> text(formula, unicode=True)
    '∀x: P(x) → ∃y where x ≤ y: R(x, y)'
    """
    if not isinstance(node, Printable):
        raise LogicTypeError(f"Expected a part of a formula; got a {type(node).__name__}.")
    written: list[str] = []
    pending: list[str | Operand] = [Operand(node)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            written.append(piece)
        elif piece.node.level < piece.level or (piece.node.is_open and piece.followed):
            pending += [")", Operand(piece.node), "("]
        else:
            pending.extend(reversed(piece.node.pieces(unicode, piece.followed)))
    return "".join(written)


def number(value: float) -> str:
    """The number, so that it reads back exactly; whole ones without a point.

    >>> number(3.0), number(0.1), number(-2.5)
    ('3', '0.1', '-2.5')
    """
    whole = float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
