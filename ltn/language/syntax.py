"""The syntax tree of the written language: terms and formulas, compared by value, printed as text."""

from __future__ import annotations

import numbers
import sys
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import QUANTIFIERS, check_name, check_option
from ltn.language.tree import Level, Node, Operand, Sign, Span, number

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
]


def _is_finite(value: Any) -> bool:
    """Whether it is a number that a text can hold."""
    return isinstance(value, numbers.Real) and abs(value) <= sys.float_info.max  # type: ignore[operator]


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
        if not _is_finite(self.value) or self.value < 0.0:
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
        return [self.name]


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Node):
    """A function or a predicate applied to terms: f(t_1, ..., t_m).

    >>> from ltn.language import parse
    >>> atom = parse("lives_in(father(x), Rome)")
    >>> atom.symbol, atom.arguments
    ('lives_in', (Apply('father(x)'), Name('Rome')))
    """

    symbol: str
    arguments: tuple[Node, ...]

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
        return [self.symbol, "(", *arguments[1:], ")"]


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
    levels = (Level.DISJUNCTION, Level.DISJUNCTION, Level.CONJUNCTION)


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
CONNECTIVES: dict[str, type[Binary]] = {kind.__name__.upper(): kind for kind in (And, Or, Implies, Iff)}


@dataclass(frozen=True, eq=False, repr=False)
class Quantifier(Node):
    """Q x_1, ..., x_h where guard: body.

    `kind` is "forall" or "exists". Each of `groups` names the variables of one axis: one variable, or those
    of a `diag`. `options` are `sample`, how many tuples are drawn in a training step, and hyper-parameters of
    the aggregator, as (("p", 6.0),). `variable_spans` tells where `variables` were read, or is empty.

    >>> from ltn.language import parse
    >>> formula = parse("forall[p=6] diag(x, y), z where x < z: P(x, y, z)")
    >>> formula.kind, formula.groups, formula.guard, formula.options
    ('forall', (('x', 'y'), ('z',)), Comparison('x < z'), (('p', 6.0),))
    """

    level = Level.PREFIX
    is_open = True

    kind: str
    groups: tuple[tuple[str, ...], ...]
    body: Node
    guard: Node | None = None
    options: tuple[tuple[str, float], ...] = ()
    variable_spans: tuple[Span, ...] = field(default=(), kw_only=True)

    def _check(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in QUANTIFIERS:
            kinds = " or ".join(map(repr, QUANTIFIERS))
            raise LogicValueError(f"A quantifier is {kinds}; got {self.kind!r}.")
        for name, pairs in (("groups", self.groups), ("options", self.options)):
            if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) for pair in pairs):
                raise LogicTypeError(f"The `{name}` of a quantifier are a tuple of tuples; got {pairs!r}.")
        if not self.groups or not all(self.groups):
            raise LogicValueError(f"A quantifier binds at least one variable; got the groups {self.groups}.")
        for variable in self.variables:
            check_name(variable, "a variable")
        for option, value in self.options:
            check_name(option, "an option of a quantifier")
            if not _is_finite(value):
                raise LogicValueError(f"The option '{option}' must be a finite number; got {value}.")
            check_option(option, value)
        if len(dict(self.options)) < len(self.options):
            names = ", ".join(option for option, _ in self.options)
            raise LogicValueError(f"The options of a quantifier are distinct; got {names}.")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.kind, self.groups, self.options)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.body,) if self.guard is None else (self.guard, self.body)

    @property
    def sample(self) -> int | None:
        """How many tuples are drawn in a training step; None for all."""
        return next((int(value) for option, value in self.options if option == "sample"), None)

    @property
    def hyperparameters(self) -> tuple[tuple[str, float], ...]:
        """The options that the aggregator takes."""
        return tuple(pair for pair in self.options if pair[0] != "sample")

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are bound here."""
        return tuple(variable for group in self.groups for variable in group)

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        sign = QUANTIFIERS[self.kind].sign if unicode else self.kind
        options = ", ".join(f"{name}={number(value)}" for name, value in self.options)
        groups = [group[0] if len(group) == 1 else f"diag({', '.join(group)})" for group in self.groups]
        head = (
            f"{sign}{options and f'[{options}]'}{'' if unicode and not options else ' '}{', '.join(groups)}"
        )
        # A quantifier in a guard could stand without parentheses, but two colons in a row are hard to read.
        guard: list[str | Operand] = (
            [] if self.guard is None else [" where ", Operand(self.guard, followed=True)]
        )
        return [head, *guard, ": ", Operand(self.body)]
