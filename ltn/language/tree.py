"""What all nodes of the syntax tree share: place, comparison, ways through a tree, and its text.

A text has the fewest parentheses, so that parsing it gives the same tree. Each kind of node tells its pieces
(`syntax`); where parentheses are needed is decided here. Trees may be deep, as a conjunction of thousands of
facts is: nothing here recurses over them. Nodes may share what is below them, as both halves of a normal form
of `A <-> B` do: what is worked on once for a node is worked on once for all.
"""

from __future__ import annotations

import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from ltn.errors import LogicTypeError

T = TypeVar("T")


class Span(NamedTuple):
    """Where a node stands in the text that it was read from: character offsets, the end exclusive.

    Parentheses around a node are not part of its span, those inside it are.

    >>> from ltn.language import parse
    >>> parse("(A) & B").span, parse("(A) & B").left.span
    (Span(start=0, end=7), Span(start=1, end=2))
    """

    start: int
    end: int


class Level(IntEnum):
    """How tightly a node binds, its precedence: the order of the grammar's rules."""

    ANY = 0
    EQUIVALENCE = 1
    IMPLICATION = 2
    DISJUNCTION = 3
    EXCLUSIVE = 4
    CONJUNCTION = 5
    PREFIX = 6
    COMPARISON = 7
    SUM = 8
    PRODUCT = 9
    NEGATIVE = 10
    ATOM = 11

    @property
    def above(self) -> Level:
        """The next tighter level: what an operator asks of the operand that it does not associate with."""
        return Level(self + 1)


class Sign(NamedTuple):
    """A sign of the language in ASCII, and as mathematics writes it."""

    ascii: str
    unicode: str


class Operand(NamedTuple):
    """A node to print: how tight it must be, and whether text follows that an open node would swallow."""

    node: Node
    level: Level = Level.ANY
    followed: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Node(ABC):
    """A node of a syntax tree; its span has no influence on equality.

    >>> from ltn.language import parse
    >>> parse("A & B") == parse("A and (B)"), parse("A & B").children
    (True, (Name('A'), Name('B')))
    """

    span: Span | None = field(default=None, kw_only=True)
    _hash: int = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.children, list | tuple):
            raise LogicTypeError(
                f"{type(self).__name__} is built of a tuple of nodes; got {self.children!r}."
            )
        for child in self.children:
            if not isinstance(child, Node):
                raise LogicTypeError(
                    f"{type(self).__name__} is built of nodes; got a {type(child).__name__}: {child!r}. "
                    "Read a text with ltn.language.parse."
                )
            if child.stands_alone:
                raise LogicTypeError(f"`{child}` is no formula or term, and stands in none.")
        self._check()
        self._set_hash()

    def _check(self) -> None:
        """Raise unless the node can be written down."""

    def _set_hash(self) -> None:
        # Once, from the hashes of the children, so that asking for it is cheap and does not recurse.
        content = (type(self).__name__, self._label, *(child._hash for child in self.children))
        object.__setattr__(self, "_hash", hash(content))

    @property
    def _label(self) -> tuple[object, ...]:
        """What distinguishes this node from another with the same children."""
        return ()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        pairs: list[tuple[Node, Node]] = [(self, other)]
        seen: set[tuple[int, int]] = set()
        while pairs:
            one, two = pairs.pop()
            if one is two or (id(one), id(two)) in seen:
                continue
            seen.add((id(one), id(two)))
            if type(one) is not type(two) or one._hash != two._hash or one._label != two._label:
                return False
            if len(one.children) != len(two.children):
                return False
            pairs.extend(zip(one.children, two.children, strict=True))
        return True

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Hashes of strings differ from one process to the next.
        self.__dict__.update(state)
        self._set_hash()

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly below, in the order of the text."""
        return ()

    @property
    def stands_alone(self) -> bool:
        """Whether it is no formula or term, and has its place outside of all of them."""
        return False

    # How it is printed, by default as an atom.

    @property
    def level(self) -> Level:
        """How tightly the node binds."""
        return Level.ATOM

    @property
    def is_open(self) -> bool:
        """Whether it would swallow text that follows it, as the body of a quantifier does."""
        return False

    @abstractmethod
    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        """Text and operands in the order of the text; `followed` tells whether text follows the node."""

    def walk(self) -> Iterator[Node]:
        """This node and all below it, from the top and from the left; each once, however many share it."""
        pending: list[Node] = [self]
        seen: set[int] = set()
        while pending:
            node = pending.pop()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                pending.extend(reversed(node.children))


def check_node(node: Any) -> None:
    """Raise unless it is a node."""
    if not isinstance(node, Node):
        raise LogicTypeError(f"Expected a part of a formula; got a {type(node).__name__}.")


def fold(
    root: Node,
    combine: Callable[[Node, tuple[T, ...]], T],
    enter: Callable[[Node], None] | None = None,
    below: Callable[[Node], Sequence[Node]] = lambda node: node.children,
) -> T:
    """Work on a tree from the bottom up and from the left, to any depth.

    Args:
        root: the tree.
        combine: is called with a node and the results of the nodes below it; gives the node's own.
        enter: is called with a node before those below it; then a node that several share is worked on for
            each of them, else once.
        below: the nodes that count as below a node; by default its children.
    """
    check_node(root)
    pending: list[tuple[Node, int | None]] = [(root, None)]
    results: list[T] = []
    known: dict[int, T] = {}
    while pending:
        node, count = pending.pop()
        if count is not None:
            first = len(results) - count
            results[first:] = [combine(node, tuple(results[first:]))]
            if enter is None:
                known[id(node)] = results[-1]
        elif id(node) in known:
            results.append(known[id(node)])
        else:
            if enter is not None:
                enter(node)
            children = below(node)
            pending.append((node, len(children)))
            pending.extend((child, None) for child in reversed(children))
    return results[0]


def text(node: Node, unicode: bool = False, most: int | None = None) -> str:
    """The node as text that parses to an equal tree, in ASCII or with the signs of mathematics.

    What is longer than `most` characters is cut, and not written any further.

    >>> from ltn.language import parse
    >>> formula = parse("∀x: ((P(x)) → (exists y where x <= y: (R(x, y))))")
    >>> text(formula)
    'forall x: P(x) -> exists y where x <= y: R(x, y)'
    >>> text(formula, unicode=True)
    '∀x: P(x) → ∃y where x ≤ y: R(x, y)'
    """
    check_node(node)
    written: list[str] = []
    length = 0
    pending: list[str | Operand] = [Operand(node)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            written.append(piece)
            length += len(piece)
            if most is not None and length > most:
                return "".join(written)[:most] + "..."
        elif piece.node.level < piece.level or (piece.node.is_open and piece.followed):
            pending += [")", Operand(piece.node), "("]
        else:
            pending.extend(reversed(piece.node.pieces(unicode, piece.followed)))
    return "".join(written)


def is_finite(value: Any) -> bool:
    """Whether it is a number that a text can hold."""
    return isinstance(value, numbers.Real) and abs(value) <= sys.float_info.max  # type: ignore[operator]


def number(value: float) -> str:
    """The number, so that it reads back exactly; whole ones without a point.

    >>> number(3.0), number(0.1), number(-2.5)
    ('3', '0.1', '-2.5')
    """
    whole = float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
