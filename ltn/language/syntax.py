"""The syntax tree of the written language: terms and formulas, compared by value, printed as text."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from ltn.errors import LogicValueError
from ltn.language.names import check_name, written
from ltn.language.quantifier import Quantifier
from ltn.language.tree import Level, Node, Operand, Sign, Span, is_finite, number

__all__ = [
    "And",
    "Apply",
    "Arithmetic",
    "Binary",
    "Comparison",
    "Iff",
    "Implies",
    "Name",
    "Negative",
    "Node",
    "Not",
    "Number",
    "Or",
    "Quantifier",
    "Span",
    "Unary",
    "Xor",
]


# Operators that mathematics writes differently.
SIGNS_OF_MATHEMATICS = {"!=": "≠", "<=": "≤", ">=": "≥"}


@dataclass(frozen=True, eq=False, repr=False)
class Number(Node):
    """A number, at least 0: `-1` is the `Negative` of 1.

    >>> from ltn.language import parse
    >>> parse("0.50").value
    0.5
    """

    value: float

    def _check(self) -> None:
        if not is_finite(self.value) or self.value < 0.0:
            raise LogicValueError(f"A number in a formula is finite and at least 0; got {self.value}.")
        object.__setattr__(self, "value", float(self.value))

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.value,)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        return [number(self.value)]


@dataclass(frozen=True, eq=False, repr=False)
class Name(Node):
    """A variable, a constant or a proposition: the signature tells which.

    >>> from ltn.language import parse
    >>> parse("x'").name
    "x'"
    """

    name: str

    def _check(self) -> None:
        check_name(self.name, "a variable, a constant or a proposition")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.name,)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        return [written(self.name)]


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Node):
    """A function or a predicate applied to terms: f(t_1, ..., t_m).

    `symbol_span` tells where the symbol itself was read.

    >>> from ltn.language import parse
    >>> atom = parse("lives_in(father(x), Rome)")
    >>> atom.symbol, atom.arguments
    ('lives_in', (Apply('father(x)'), Name('Rome')))
    """

    symbol: str
    arguments: tuple[Node, ...]
    symbol_span: Span | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        check_name(self.symbol, "a function or a predicate")
        if not self.arguments:
            raise LogicValueError(f"'{self.symbol}' is applied to nothing; without arguments use a Name.")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.symbol,)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.arguments

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        arguments: list[str | Operand] = []
        for argument in self.arguments:
            arguments += [", ", Operand(argument)]
        return [written(self.symbol), "(", *arguments[1:], ")"]


@dataclass(frozen=True, eq=False, repr=False)
class Unary(Node):
    """A node with one below it.

    >>> from ltn.language import parse
    >>> parse("~A").operand
    Name('A')
    """

    operand: Node

    @property
    @abstractmethod
    def sign(self) -> Sign:
        """What is written before the operand."""

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        return [self.sign[unicode], Operand(self.operand, self.level, followed)]


@dataclass(frozen=True, eq=False, repr=False)
class Binary(Node):
    """A node with two below it.

    >>> from ltn.language import parse
    >>> parse("A -> B -> C").right
    Implies('B -> C')
    """

    left: Node
    right: Node

    @property
    @abstractmethod
    def sign(self) -> Sign:
        """What is written between the operands."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Level, Level, Level]:
        """How tightly the node binds, and what it asks of its operands."""

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    @property
    def level(self) -> Level:
        return self.levels[0]

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        _, left, right = self.levels
        sign = f" {self.sign[unicode]} "
        return [Operand(self.left, left, followed=True), sign, Operand(self.right, right, followed)]


class Negative(Unary):
    """The term -t.

    >>> from ltn.language import parse
    >>> parse("-x")
    Negative('-x')
    """

    sign = Sign("-", "-")
    level = Level.NEGATIVE


@dataclass(frozen=True, eq=False, repr=False)
class Operation(Node):
    """Two terms with one of the signs of the class between them."""

    signs: ClassVar[tuple[str, ...]] = ()

    operator: str
    left: Node
    right: Node

    def _check(self) -> None:
        if self.operator not in self.signs:
            raise LogicValueError(
                f"{type(self).__name__} has one of the operators {' '.join(self.signs)}; "
                f"got {self.operator!r}."
            )

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.operator,)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    @property
    def sign(self) -> Sign:
        """The operator as it is written."""
        return Sign(self.operator, SIGNS_OF_MATHEMATICS.get(self.operator, self.operator))


class Arithmetic(Operation):
    """The term t1 + t2, t1 - t2, t1 * t2 or t1 / t2, feature by feature.

    >>> from ltn.language import parse
    >>> parse("x + 2 * y").operator
    '+'
    """

    signs = ("+", "-", "*", "/")

    @property
    def level(self) -> Level:
        return Level.SUM if self.operator in "+-" else Level.PRODUCT

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        sign = f" {self.sign[unicode]} "
        return [Operand(self.left, self.level), sign, Operand(self.right, self.level.above)]


class Comparison(Operation):
    """The atomic formula t1 = t2, or with one of != < <= > >=.

    >>> from ltn.language import parse
    >>> parse("age(x) ≥ 18").operator
    '>='
    """

    signs = ("=", "!=", "<", "<=", ">", ">=")
    level = Level.COMPARISON

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        return [Operand(self.left, Level.SUM), f" {self.sign[unicode]} ", Operand(self.right, Level.SUM)]


class Not(Unary):
    """Negation.

    >>> from ltn.language import parse
    >>> parse("not A")
    Not('~A')
    """

    sign = Sign("~", "¬")
    level = Level.PREFIX


class And(Binary):
    """Conjunction.

    >>> from ltn.language import parse
    >>> parse("A and B")
    And('A & B')
    """

    sign = Sign("&", "∧")
    levels = (Level.CONJUNCTION, Level.CONJUNCTION, Level.PREFIX)


class Or(Binary):
    """Disjunction.

    >>> from ltn.language import parse
    >>> parse("A or B & C")
    Or('A | B & C')
    """

    sign = Sign("|", "∨")
    levels = (Level.DISJUNCTION, Level.DISJUNCTION, Level.EXCLUSIVE)


class Xor(Binary):
    """Exclusive disjunction: one of the two and not both, read as (a | b) & ~(a & b).

    >>> from ltn.language import parse
    >>> parse("A or B xor C")
    Or('A | B xor C')
    """

    sign = Sign("xor", "⊻")
    levels = (Level.EXCLUSIVE, Level.EXCLUSIVE, Level.CONJUNCTION)


class Implies(Binary):
    """Implication.

    >>> from ltn.language import parse
    >>> parse("A → B")
    Implies('A -> B')
    """

    sign = Sign("->", "→")
    levels = (Level.IMPLICATION, Level.DISJUNCTION, Level.IMPLICATION)


class Iff(Binary):
    """Equivalence.

    >>> from ltn.language import parse
    >>> parse("A <-> B")
    Iff('A <-> B')
    """

    sign = Sign("<->", "↔")
    levels = (Level.EQUIVALENCE, Level.EQUIVALENCE, Level.IMPLICATION)


# By the names of their tokens in the grammar.
CONNECTIVES: dict[str, type[Binary]] = {kind.__name__.upper(): kind for kind in (And, Xor, Or, Implies, Iff)}
