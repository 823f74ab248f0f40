"""Random formulas in the language of `worlds`: connectives, nested, guarded and diagonal quantifiers.

Comparisons are crisp, so they jump where their sides are equal. Terms that a network computes are therefore
compared only with a number that they never hit: elsewhere two computations of one value may differ by a
rounding, which is not a mistake.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from ltn.language import (
    And,
    Apply,
    Arithmetic,
    Binary,
    Comparison,
    Iff,
    Implies,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Quantifier,
    Xor,
)
from ltn.language.names import COUNTING, QUANTIFIERS
from tests.theory.worlds import (
    CLASSES,
    CONSTANTS,
    DIAGONALS,
    FINITE,
    HEADS,
    LABELS,
    NUMBER_OF_CLASSES,
    NUMBERS,
    PAIRS,
    POINTS,
    VARIABLES,
)

# All that the language has: one that is added is tried in every test of random formulas.
CONNECTIVES = Binary.__subclasses__()
# At most so many variables in one scope: a formula has at most 4^4 instances.
WIDEST_SCOPE = 4


def fewer(divisor: int) -> settings:
    """For tests that compile: a part of the examples of the profile."""
    return settings(max_examples=max(1, settings().max_examples // divisor))


@st.composite
def closed_formulas(draw: st.DrawFn, options: bool = True) -> Node:
    """A formula without free variables; with `options` its quantifiers may set those of p-means."""
    return _Writer(draw, options).quantified(3, [])


@st.composite
def open_formulas(draw: st.DrawFn, options: bool = True) -> Node:
    """A formula with one to three free variables."""
    scope = draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=3, unique=True))
    writer = _Writer(draw, options)
    formula = writer.formula(2, scope)
    missing = [variable for variable in scope if variable not in free(formula)]
    return writer.mentioning(missing, formula, scope)


@st.composite
def terms(draw: st.DrawFn) -> Node:
    """A term with variables."""
    writer, scope = _Writer(draw, options=False), draw(st.permutations(VARIABLES))
    term = draw(st.sampled_from([writer.point, writer.number, writer.crisp_point]))(scope)
    return term if free(term) else Arithmetic("+", term, Name("l"))


def free(node: Node) -> list[str]:
    """The free variables in the order in which a reader meets them."""
    if isinstance(node, Name):
        return [node.name] if node.name in VARIABLES else []
    found = [name for child in node.children for name in free(child)]
    bound = node.variables if isinstance(node, Quantifier) else ()
    return [name for name in dict.fromkeys(found) if name not in bound]


def jumps(tree: Node) -> bool:
    """Whether the truth of a formula jumps, or has a kink, where the points of the world are."""
    crisp = ("step", "less", "even", "at")
    return any(
        isinstance(node, Comparison) or (isinstance(node, Apply) and node.symbol in crisp)
        for node in tree.walk()
    )


def with_options_of(semantics: Any, node: Node, positive: bool | None = True) -> Node:
    """The formula in which no quantifier has options that its operator lacks.

    Logarithms are of the negation normal form, where a negation turns a quantifier round.
    """
    opposite = None if positive is None else not positive

    def below(child: Node, sign: bool | None = positive) -> Node:
        return with_options_of(semantics, child, sign)

    match node:
        case Quantifier(count=int(), body=body):
            return replace(node, body=below(body, None if positive is None else True))
        case Quantifier(kind=kind, body=body, options=options):
            known = vars(getattr(semantics, QUANTIFIERS[kind].operator))
            is_turned = semantics.space == "log" and not positive
            kept = () if is_turned else tuple(option for option in options if option[0] in known)
            return replace(node, body=below(body), options=kept)
        case Not(operand=operand):
            return Not(below(operand, opposite))
        case Implies(left=left, right=right):
            return Implies(below(left, opposite), below(right))
        case Iff(left=left, right=right):
            return Iff(below(left, None), below(right, None))
        case Xor(left=left, right=right):
            return Xor(below(left, None), below(right, None))
        case And(left=left, right=right):
            return And(below(left), below(right))
        case Or(left=left, right=right):
            return Or(below(left), below(right))
    return node


class _Writer:
    """Writes formulas whose free variables lie in a scope."""

    def __init__(self, draw: st.DrawFn, options: bool):
        self.draw = draw
        self.options = options

    def choice(self, *kinds: str) -> str:
        return self.draw(st.sampled_from(kinds))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    # Terms

    def crisp_point(self, scope: Sequence[str]) -> Node:
        """A point that comes out the same however it is computed."""
        if self.chance(15):
            factor = Number(self.draw(st.sampled_from([2.0, 0.5])))
            return Arithmetic("*", factor, self._individual(scope))
        if self.chance(15):
            return Arithmetic(self.choice("+", "-"), self._individual(scope), self._individual(scope))
        return Negative(self._individual(scope)) if self.chance(5) else self._individual(scope)

    def point(self, scope: Sequence[str]) -> Node:
        return Apply("f", (self.point(scope),)) if self.chance(25) else self.crisp_point(scope)

    def pair(self, scope: Sequence[str]) -> Node:
        """A point with a class."""
        names = [name for name in PAIRS if name in scope]
        if names and self.chance(70):
            return Name(self.draw(st.sampled_from(names)))
        return Apply("at", (self._individual(scope),))

    def _individual(self, scope: Sequence[str]) -> Node:
        variables = [name for name in POINTS if name in scope]
        names = variables if variables and self.chance(85) else list(CONSTANTS)
        return Name(self.draw(st.sampled_from(names)))

    def number(self, scope: Sequence[str]) -> Node:
        kinds = ["literal", "first", "gap", "arithmetic", "abs", "norm"]
        kinds += ["variable"] * 4 * any(name in scope for name in (*LABELS, *CLASSES))
        match self.choice(*kinds):
            case "variable":
                names = [name for name in (*LABELS, *CLASSES) if name in scope]
                return Name(self.draw(st.sampled_from(names)))
            case "arithmetic":
                operator = self.choice("+", "-", "*", "/")
                right = Number(2.0) if operator == "/" else self.number(scope)
                return Arithmetic(operator, self.number(scope), right)
            case "abs":
                return Apply("abs", (self.number(scope),))
            case "first":
                return Apply("first", (self.crisp_point(scope),))
            case "gap":
                return Apply("gap", (self.crisp_point(scope), self.crisp_point(scope)))
            case "norm":
                return Apply("norm", (self._individual(scope),))
        return Number(self.draw(st.sampled_from([0.0, 1.0, 2.0, 0.5, 9.0])))

    def class_(self, scope: Sequence[str]) -> Node:
        names = [name for name in CLASSES if name in scope]
        if names and self.chance(80):
            return Name(self.draw(st.sampled_from(names)))
        return Number(self.draw(st.integers(0, NUMBER_OF_CLASSES - 1)))

    def point_and_class(self, scope: Sequence[str]) -> tuple[Node, ...]:
        """As two terms, or as one of the product."""
        if self.chance(30):
            return (self.pair(scope),)
        return self.point(scope), self.class_(scope)

    # Atoms and guards

    def atom(self, scope: Sequence[str]) -> Node:
        match self.choice("R", "P", "C", "D", "near", "step", "A", "B", "equal", "crisp", "T", *HEADS):
            case "P" | "E" | "O" as symbol:
                return Apply(symbol, (self.point(scope),))
            case "C":
                return Apply("C", self.point_and_class(scope))
            case "D":
                return Apply("D", (self.point(scope), *self.point_and_class(scope)))
            case "T":
                return Apply("T", (self.class_(scope), self.class_(scope)))
            case "R" | "near" as symbol:
                return Apply(symbol, (self.point(scope), self.point(scope)))
            case "step":
                return Apply("step", (self._individual(scope),))
            case "equal":
                return Comparison("=", self.point(scope), self.crisp_point(scope))
            case "crisp":
                return self.crisp(scope)
            case proposition:
                return Name(proposition)

    def crisp(self, scope: Sequence[str], equalities: str = "") -> Node:
        """An atom that is true or false: with `=` between any numbers in guards only.

        Elsewhere `=` is the equality of a domain, and that of points is smooth.
        """
        match self.choice("order", "order", "class", "less", "even", "differ", "pairs"):
            case "order":
                operator = self.choice("<", "<=", ">", ">=", "!=", *equalities)
                # Arithmetic has no domain: labels and classes are compared through it.
                left = Arithmetic("+", self.number(scope), Number(0.0))
                return Comparison(operator, left, self.number(scope))
            case "class":
                return Comparison(self.choice("=", "!="), self._numeric_class(scope), self.class_(scope))
            case "less":
                return Apply("less", (self.crisp_point(scope), self.crisp_point(scope)))
            case "even":
                return Apply("even", (self._plain_number(scope),))
            case "pairs":
                return Comparison(self.choice("=", "!="), self.pair(scope), self.pair(scope))
        return Comparison("!=", self.crisp_point(scope), self.crisp_point(scope))

    def _numeric_class(self, scope: Sequence[str]) -> Node:
        left = self.class_(scope)
        return left if isinstance(left, Name) else Arithmetic("+", left, Number(0.0))

    def _plain_number(self, scope: Sequence[str]) -> Node:
        return Arithmetic("-", self.number(scope), Number(1.0))

    def guard(self, depth: int, scope: Sequence[str]) -> Node:
        if depth and self.chance(40):
            connective = self.draw(st.sampled_from(CONNECTIVES))
            return connective(self.guard(depth - 1, scope), self.guard(depth - 1, scope))
        if depth and self.chance(20):
            return Not(self.guard(depth - 1, scope))
        kinds = ["crisp", "crisp", "crisp", "equal", "degree", "score"]
        kinds += ["number"] * 6 * any(name in scope for name in FINITE)
        match self.choice(*kinds):
            case "crisp":
                return self.crisp(scope, equalities="=")
            case "number":
                return self.by_number(scope)
            case "equal":
                return Comparison("=", self.crisp_point(scope), self.crisp_point(scope))
            case "score":
                score = Apply("score", (self.point(scope),))
                return Comparison(self.choice("<", ">="), score, Number(0.3717))
        arguments = self.point_and_class(scope)
        atom = Apply("C", arguments) if self.chance(50) else Apply("P", (self.point(scope),))
        return Comparison(self.choice(">", "<="), atom, Number(0.3717))

    def by_number(self, scope: Sequence[str]) -> Node:
        """What is fixed or may be looked up: a number of known individuals beside another, or one of data."""
        known = [Name(name) for name in FINITE if name in scope]
        other = self.draw(st.sampled_from([*known, Number(1.0)]))
        left = Arithmetic(self.choice("+", "-"), self.draw(st.sampled_from(known)), other)
        data = [Name(name) for name in NUMBERS if name in scope]
        right = self.draw(st.sampled_from([*data * 9, Number(1.0)]))
        return Comparison(self.choice("=", "<", "<=", ">", ">="), left, right)

    # Formulas

    def formula(self, depth: int, scope: Sequence[str]) -> Node:
        kinds = ["atom"]
        if depth:
            kinds += ["connective", "connective", "not"]
            kinds += ["quantified"] * 3 * (len(scope) < WIDEST_SCOPE)
        match self.choice(*kinds):
            case "quantified":
                return self.quantified(depth, scope)
            case "not":
                return Not(self.formula(depth - 1, scope))
            case "connective":
                connective = self.draw(st.sampled_from(CONNECTIVES))
                return connective(self.formula(depth - 1, scope), self.formula(depth - 1, scope))
        return self.atom(scope)

    def quantified(self, depth: int, scope: Sequence[str]) -> Node:
        groups = self._groups(scope)
        bound = [variable for group in groups for variable in group]
        inner = [*scope, *bound]
        guard = self._guard(inner, bound) if self.chance(60) else None
        body = self.formula(depth - 1, inner)
        seen = {*free(body), *(free(guard) if guard else ())}
        body = self.mentioning([name for name in bound if name not in seen], body, inner)
        if self.chance(25):
            count = self.draw(st.sampled_from([0, 1, 1, 2, 3, 9]))
            return Quantifier(self.draw(st.sampled_from(COUNTING)), groups, body, guard, count=count)
        options = self._options() if self.options and self.chance(30) else ()
        return Quantifier(self.choice("forall", "exists"), groups, body, guard, options)

    def _options(self) -> tuple[tuple[str, float], ...]:
        p = ("p", self.draw(st.sampled_from([1.0, 2.0, 3.5])))
        stable = ("stable", self.draw(st.sampled_from([0.0, 1.0])))
        return self.draw(st.sampled_from([(p,), (p, stable), (stable,)]))

    def _groups(self, scope: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        groups: list[tuple[str, ...]] = []
        for _ in range(self.draw(st.integers(1, 2))):
            taken = {*scope, *(name for group in groups for name in group)}
            room = WIDEST_SCOPE - len(taken)
            candidates: list[tuple[str, ...]] = [
                group for group in DIAGONALS if not taken & {*group} and len(group) <= room
            ]
            candidates += [(name,) for name in VARIABLES if name not in taken and room > 0] * 2
            if candidates:
                groups.append(self.draw(st.sampled_from(candidates)))
        return tuple(groups)

    def _guard(self, scope: Sequence[str], bound: Sequence[str]) -> Node:
        guard = self.guard(2, scope)
        # Guards without variables are tested apart.
        return guard if free(guard) else And(guard, self._mention(self.draw(st.sampled_from(bound))))

    def mentioning(self, variables: Sequence[str], formula: Node, scope: Sequence[str]) -> Node:
        """The formula, in which these variables occur too."""
        for variable in variables:
            atom: Node = self._mention(variable)
            if variable in CLASSES and self.chance(70):
                atom = Apply("C", (self.point(scope), Name(variable)))
            elif variable in PAIRS:
                atom = Apply("C", (Name(variable),))
            elif variable in POINTS:
                atom = Apply("R", (Name(variable), self.point(scope)))
            formula = self.draw(st.sampled_from(CONNECTIVES))(atom, formula)
        return formula

    @staticmethod
    def _mention(variable: str) -> Node:
        if variable in PAIRS:
            return Comparison("=", Name(variable), Apply("at", (Name(CONSTANTS[0]),)))
        term = Apply("first", (Name(variable),)) if variable in POINTS else Name(variable)
        return Comparison("<=", term, Number(1.0))
