"""The repair of all outputs: what hangs together is repaired together, what excludes each other is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.repair.clauses import Clauses, Numbers
from ltn.repair.labelling import least_conflict, satisfy
from ltn.repair.logics import Logic, Truths
from ltn.repair.patterns import Group, Pattern, components, groups_of
from ltn.repair.refining import move_towards, refine

Floats = NDArray[np.float32]
# What repairs rows of a pattern, (rows, atoms); rows that it cannot are left as they come.
Method = Callable[[Pattern, Truths], Truths]


class Aim(NamedTuple):
    """What is to be reached.

    Attributes:
        logic: what the truth of a clause is.
        q: how true each is to be.
        direction: which of the coherent truths are taken.
        weights: how much each source of clauses weighs: of those that exclude each other, one of the least
            is given up.
    """

    logic: Logic
    q: float
    direction: str
    weights: Truths


class Solution(NamedTuple):
    """Truths of all outputs.

    Attributes:
        truths: the truths, (atoms,).
        conflicts: clauses that exclude each other, each with the one that was given up.
        undecided: clauses that are not satisfied, since a search for labels took too long.
        touched: the clauses of the outputs that were repaired.
    """

    truths: Floats
    conflicts: list[tuple[Numbers, int]]
    undecided: Numbers
    touched: Numbers


def solve(clauses: Clauses, truths: Floats, aim: Aim, crisp: Method | None = None) -> Solution:
    """Truths that satisfy the clauses; outputs of sets without a broken clause stay as they are.

    `crisp` finds labels, and then those without a broken clause become labels too.
    """
    found = truths.copy() if crisp is None else (truths >= 0.5).astype(np.float32)
    component = components(clauses, len(truths))
    broken = ~clauses.are_satisfied(found.astype(np.float64), aim.logic, aim.q)
    conflicts = [(np.array([clause]), int(clause)) for clause in np.flatnonzero(component < 0)]
    undecided: list[Numbers] = []
    wanted = np.isin(component, component[broken]) & (component >= 0)
    for group in groups_of(clauses, component, wanted):
        own = truths[group.atoms].astype(np.float64)
        repaired, excluded, pattern_left = _solve_group(group, own, aim, crisp)
        found[group.atoms] = repaired
        for local, given_up in excluded:
            conflicts += [(row[local], int(row[given_up])) for row in group.clauses]
        fine = group.pattern.clauses.are_satisfied(found[group.atoms].astype(np.float64), aim.logic, aim.q)
        undecided += [row[(~each) & pattern_left] for row, each in zip(group.clauses, fine, strict=True)]
    nothing = np.zeros(0, np.int64)
    return Solution(found, conflicts, np.concatenate([nothing, *undecided]), np.flatnonzero(wanted))


def _solve_group(
    group: Group, truths: Truths, aim: Aim, crisp: Method | None
) -> tuple[Truths, list[tuple[Numbers, int]], NDArray[np.bool_]]:
    """Truths of rows of one pattern, its conflicts, and which clauses are not given up."""
    pattern, left = group.pattern, np.ones(len(group.pattern.clauses), bool)
    conflicts: list[tuple[Numbers, int]] = []
    while True:
        if crisp is None:
            found = refine(pattern, truths, aim.logic, aim.q, aim.direction)
        else:
            found = crisp(pattern, truths)
        # As they are returned: rounding keeps an order, and the margin keeps q.
        rounded = found.astype(np.float32).astype(np.float64)
        failed = np.flatnonzero(~pattern.clauses.are_satisfied(rounded, aim.logic, aim.q).all(axis=1))
        if not len(failed):
            return found, conflicts, left
        known = np.flatnonzero(left)
        labels = satisfy(pattern.clauses, pattern.count, truths[failed[0]])
        if labels.conflict is not None:
            local = np.array(least_conflict(pattern.clauses, pattern.count, labels.conflict))
            weights = aim.weights[pattern.clauses.sources[local]]
            given_up = int(local[len(local) - 1 - np.argmin(weights[::-1])])
            conflicts.append((known[local], int(known[given_up])))
            left[known[given_up]] = False
            pattern = pattern.without(np.array([given_up]))
            continue
        for row in failed:
            own = satisfy(pattern.clauses, pattern.count, truths[row]).labels
            if own is None:
                continue
            if crisp is None:
                found[row] = move_towards(pattern, truths[row], own, aim.logic, aim.q)
            else:
                found[row] = own
        return found, conflicts, left


def causes(
    clauses: Clauses, before: Floats, after: Floats, aim: Aim, changed: Numbers, touched: Numbers
) -> Numbers:
    """For each changed output a clause because of which it changed.

    One that would be broken if the output alone had kept its truth; where there is none, one that was
    broken before; else one that speaks of it.
    """
    own = clauses.take(touched)
    old, new = before.astype(np.float64), after.astype(np.float64)
    score = np.zeros(len(own.atoms), np.int64)
    was_broken = ~own.are_satisfied(old, aim.logic, aim.q)
    for which, atoms, signs in own.by_width():
        literals, former = (np.where(signs, each[atoms], 1.0 - each[atoms]) for each in (new, old))
        back = aim.logic.join(aim.logic.without_one(literals), former) < aim.q
        if atoms.shape[1] == 2:
            is_order = (signs[:, 0] != signs[:, 1])[:, np.newaxis]
            # a -> b with one of both as it was: literals are 1 - a and b.
            total = np.stack([former[:, 0] + literals[:, 1], literals[:, 0] + former[:, 1]], axis=1)
            back = np.where(is_order, total < 1.0 - 1e-9, back)
        entries = own.starts[which][:, np.newaxis] + np.arange(atoms.shape[1])
        score[entries] = 2 * back + was_broken[which][:, np.newaxis]
    best = np.lexsort((np.arange(len(score)), -score, own.atoms))
    atoms, first = np.unique(own.atoms[best], return_index=True)
    place = np.searchsorted(atoms, changed)
    return touched[own.owners[best[first[place]]]]
