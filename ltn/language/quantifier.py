"""The quantifiers of the syntax tree: what they bind, under which guard, and how many they claim."""

from __future__ import annotations

from dataclasses import dataclass, field

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import (
    COUNTING,
    LARGEST_COUNT,
    QUANTIFIERS,
    axis_text,
    check_name,
    check_option,
    written,
)
from ltn.language.tree import Level, Node, Operand, Sign, Span, is_finite, number


@dataclass(frozen=True, eq=False, repr=False)
class Quantifier(Node):
    """Q x_1, ..., x_h where guard: body.

    `kind` is "forall" or "exists", or, with a `count`, "exactly", "at least" or "at most". Each of `groups`
    names the variables of one axis: one variable, or those of a `diag`. `options` are `sample`, how many
    tuples are drawn in a training step, and hyper-parameters of the aggregator, as (("p", 6.0),).
    `variable_spans` tells where `variables` were read, one for each, or is empty.

    >>> from ltn.language import parse
    >>> formula = parse("forall[p=6] diag(x, y), z where x < z: P(x, y, z)")
    >>> formula.kind, formula.groups, formula.guard, formula.options
    ('forall', (('x', 'y'), ('z',)), Comparison('x < z'), (('p', 6.0),))
    >>> formula = parse("exists! d: digit(x, d)")
    >>> formula, formula.kind, formula.count
    (Quantifier('exactly 1 d: digit(x, d)'), 'exactly', 1)
    """

    level = Level.PREFIX
    is_open = True

    kind: str
    groups: tuple[tuple[str, ...], ...]
    body: Node
    guard: Node | None = None
    options: tuple[tuple[str, float], ...] = ()
    count: int | None = field(default=None, kw_only=True)
    variable_spans: tuple[Span, ...] = field(default=(), kw_only=True)

    def _check(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in QUANTIFIERS:
            *kinds, last = map(repr, QUANTIFIERS)
            raise LogicValueError(f"A quantifier is {', '.join(kinds)} or {last}; got {self.kind!r}.")
        self._check_count()
        for name, pairs in (("groups", self.groups), ("options", self.options)):
            if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) for pair in pairs):
                raise LogicTypeError(f"The `{name}` of a quantifier are a tuple of tuples; got {pairs!r}.")
        if not self.groups or not all(self.groups):
            raise LogicValueError(f"A quantifier binds at least one variable; got the groups {self.groups}.")
        for variable in self.variables:
            check_name(variable, "a variable")
        for option, value in self.options:
            check_name(option, "an option of a quantifier")
            if not is_finite(value):
                raise LogicValueError(f"The option '{option}' must be a finite number; got {value}.")
            check_option(self.kind, option, value)
        options = [option for option, _ in self.options]
        if len(set(options)) < len(options):
            raise LogicValueError(f"The options of a quantifier are distinct; got {', '.join(options)}.")

    def _check_count(self) -> None:
        if self.kind not in COUNTING:
            if self.count is not None:
                raise LogicValueError(f"'{self.kind}' has no count; got {self.count!r}.")
        elif not isinstance(self.count, int) or isinstance(self.count, bool):
            raise LogicTypeError(f"'{self.kind}' has a count, a whole number; got {self.count!r}.")
        elif not 0 <= self.count <= LARGEST_COUNT:
            raise LogicValueError(f"A count is a whole number from 0 to {LARGEST_COUNT}; got {self.count}.")

    @property
    def _label(self) -> tuple[object, ...]:
        return (self.kind, self.count, self.groups, self.options)

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

    @property
    def sign(self) -> Sign:
        """What is written before the variables, with the count."""
        kind = QUANTIFIERS[self.kind]
        return (
            Sign(kind.name, kind.sign)
            if self.count is None
            else Sign(f"{kind.name} {self.count}", f"{kind.sign}{self.count}")
        )

    def pieces(self, unicode: bool, followed: bool) -> list[str | Operand]:
        options = ", ".join(f"{written(name)}={number(value)}" for name, value in self.options)
        groups = [axis_text(group) for group in self.groups]
        space = "" if unicode and not options and self.count is None else " "
        head = f"{self.sign[unicode]}{options and f'[{options}]'}{space}{', '.join(groups)}"
        # A quantifier in a guard could stand without parentheses, but two colons in a row are hard to read.
        guard: list[str | Operand] = (
            [] if self.guard is None else [" where ", Operand(self.guard, followed=True)]
        )
        return [head, *guard, ": ", Operand(self.body)]


def draws_samples(formula: Node) -> bool:
    """Whether a quantifier of a formula is written with `sample`."""
    return any(isinstance(node, Quantifier) and node.sample is not None for node in formula.walk())
