"""The search for true and false that satisfies clauses, and for the clauses that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.repair.clauses import Clauses

# How many decisions a search takes back before it gives up.
MOST_DECISIONS = 100_000
# A conflict of more clauses is not made smaller.
_MOST_IN_CONFLICT = 200


class Labelling(NamedTuple):
    """What a search found.

    Attributes:
        labels: true or false for each atom; None where there are none, or none were found.
        conflict: clauses that no labels satisfy together; None where the search gave up.
    """

    labels: NDArray[np.bool_] | None
    conflict: list[int] | None


def satisfy(clauses: Clauses, count: int, truths: Sequence[float]) -> Labelling:
    """Labels that satisfy clauses: those of the truths, the surest first, where nothing forces others.

    Davis, Putnam, Logemann and Loveland's search, with unit propagation and without recursion.
    """
    literals = [
        [(int(atom), bool(sign)) for atom, sign in zip(clauses.atoms[i:j], clauses.signs[i:j], strict=True)]
        for i, j in zip(clauses.starts[:-1], clauses.starts[1:], strict=True)
    ]
    return _search(dict(enumerate(literals)), count, truths)


def least_conflict(clauses: Clauses, count: int, conflict: Sequence[int]) -> list[int]:
    """A part of clauses that exclude each other of which none can be left out, unless it is too large."""
    left = list(conflict)
    if len(left) > _MOST_IN_CONFLICT:
        return left
    truths = [0.5] * count
    for clause in conflict:
        if clause in left:
            others = np.array([each for each in left if each != clause], np.int64)
            found = satisfy(clauses.take(others), count, truths)
            if found.conflict is not None:
                left = [int(others[place]) for place in found.conflict]
    return left


def _search(literals: dict[int, list[tuple[int, bool]]], count: int, truths: Sequence[float]) -> Labelling:
    inside: list[list[int]] = [[] for _ in range(count)]
    for clause, own in literals.items():
        for atom, _ in own:
            inside[atom].append(clause)
    value: list[bool | None] = [None] * count
    # What was set, in order; each decision with the other way that is left to try, or None.
    trail: list[int] = []
    decisions: list[tuple[int, tuple[int, bool] | None]] = []
    used: set[int] = set()
    pending = list(literals)
    taken_back = 0
    by_sureness = sorted(range(count), key=lambda atom: -abs(truths[atom] - 0.5))

    def assign(atom: int, is_true: bool) -> None:
        value[atom] = is_true
        trail.append(atom)
        pending.extend(inside[atom])

    while True:
        failed = _propagate(literals, value, pending, assign, used)
        if failed:
            pending.clear()
            taken_back += 1
            if taken_back > MOST_DECISIONS:
                return Labelling(None, None)
            while decisions and decisions[-1][1] is None:
                decisions.pop()
            if not decisions:
                return Labelling(None, sorted(used))
            length, other = decisions.pop()
            for atom in trail[length:]:
                value[atom] = None
            del trail[length:]
            decisions.append((length, None))
            if other is not None:
                assign(*other)
            continue
        free = next((atom for atom in by_sureness if value[atom] is None and inside[atom]), None)
        if free is None:
            return Labelling(np.array([bool(each) for each in value]), None)
        is_true = truths[free] >= 0.5
        decisions.append((len(trail), (free, not is_true)))
        assign(free, is_true)


def _propagate(
    literals: dict[int, list[tuple[int, bool]]],
    value: list[bool | None],
    pending: list[int],
    assign: Callable[[int, bool], None],
    used: set[int],
) -> bool:
    """Set what clauses force; whether one of them fails."""
    while pending:
        clause = pending.pop()
        open_literals = []
        for atom, sign in literals[clause]:
            if value[atom] is None:
                open_literals.append((atom, sign))
            elif value[atom] == sign:
                break
        else:
            if len(open_literals) < 2:
                used.add(clause)
            if not open_literals:
                return True
            if len(open_literals) == 1:
                assign(*open_literals[0])
    return False
