"""From a formula without universal quantifiers to clauses, once for each pattern of what is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from ltn.errors import LogicValueError

# A literal is the number of an atom, from 1 up, with a minus sign where it is negated.
Clause = frozenset[int]

# The most clauses that the formula for one combination of individuals becomes.
MOST_CLAUSES = 4096


class SignedAtom(NamedTuple):
    """An atom, or its negation."""

    number: int


class Fact(NamedTuple):
    """What is known to be true or false of each combination of individuals: the number of the fact."""

    number: int


class Several(NamedTuple):
    """A conjunction, or a disjunction."""

    is_and: bool
    parts: tuple[Expression, ...]


class Counted(NamedTuple):
    """At least, or at most, so many of some formulas; of each there is the negation too."""

    least: int
    most: int | None
    holds: tuple[Expression, ...]
    fails: tuple[Expression, ...]


Expression = SignedAtom | Fact | Several | Counted


def clauses_of(expression: Expression, known: Sequence[bool]) -> list[Clause]:
    """The clauses of an expression, whose conjunction it is; none if it is true, an empty one if false.

    >>> both = Several(True, (SignedAtom(1), Fact(0)))
    >>> clauses_of(Several(False, (both, SignedAtom(-2))), [True])
    [frozenset({1, -2})]
    >>> clauses_of(Several(False, (both, SignedAtom(-2))), [False])
    [frozenset({-2})]
    """
    if isinstance(expression, SignedAtom):
        return [frozenset((expression.number,))]
    if isinstance(expression, Fact):
        return [] if known[expression.number] else [frozenset()]
    if isinstance(expression, Counted):
        return _counted(expression, known)
    parts = [clauses_of(part, known) for part in expression.parts]
    return (
        _distinct([clause for part in parts for clause in part]) if expression.is_and else _disjunction(parts)
    )


def _disjunction(parts: Sequence[list[Clause]]) -> list[Clause]:
    if any(not part for part in parts):
        return []
    alone = [part[0] for part in parts if len(part) == 1]
    found = _distinct([frozenset(itertools.chain.from_iterable(alone))])
    for part in sorted((part for part in parts if len(part) > 1), key=len):
        _check(len(found) * len(part))
        found = _distinct([one | two for one in found for two in part])
    return found


def _counted(node: Counted, known: Sequence[bool]) -> list[Clause]:
    """`at least k` of n: some of each n - k + 1; `at most k`: not all of each k + 1."""
    holds = [clauses_of(part, known) for part in node.holds]
    fails = [clauses_of(part, known) for part in node.fails]
    sure = sum(not part for part in holds)
    is_open = [bool(one) and bool(two) for one, two in zip(holds, fails, strict=True)]
    holds = [part for part, stays in zip(holds, is_open, strict=True) if stays]
    fails = [part for part, stays in zip(fails, is_open, strict=True) if stays]
    found: list[Clause] = []
    for size, parts in ((len(holds) - (node.least - sure) + 1, holds), (_above(node, sure), fails)):
        if size <= 0:
            return [frozenset()]
        if size <= len(parts):
            _check(len(found) + math.comb(len(parts), size))
            for chosen in itertools.combinations(parts, size):
                found += _disjunction(chosen)
                _check(len(found))
    return _distinct(found)


def _above(node: Counted, sure: int) -> int:
    """How many of the open ones are too many; more than there are where no number is."""
    return len(node.holds) + 1 if node.most is None else node.most - sure + 1


def _distinct(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses that are not always true, each once; of few ones, without those that others imply."""
    _check(len(clauses))
    found = [each for each in dict.fromkeys(clauses) if not any(-literal in each for literal in each)]
    if len(found) == 1 or len(found) > 64:
        return found
    return [each for each in found if not any(other < each for other in found)]


def _check(count: int) -> None:
    if count > MOST_CLAUSES:
        raise LogicValueError(
            f"of one combination of individuals it claims {count:,} clauses or more, above {MOST_CLAUSES:,}: "
            "quantify over fewer individuals, or give the conjunctions inside a predicate of their own"
        )
