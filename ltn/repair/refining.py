"""The repair of outputs of one pattern: an order exactly, other clauses by refinement, else by a search.

Iterative local refinement: A. Daniele, E. van Krieken, L. Serafini, F. van Harmelen, Refining neural network
predictions using background knowledge, Machine Learning 112, 2023.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ltn.repair.clauses import Clauses
from ltn.repair.logics import Logic, Truths
from ltn.repair.patterns import Pattern

# How often all clauses are refined before labels are searched.
ROUNDS = 50
# What a clause is refined to lies above q by this, so that rounding to float32 leaves it there.
MARGIN = 1e-6


def refine(pattern: Pattern, truths: Truths, logic: Logic, q: float, direction: str) -> Truths:
    """Truths of rows, (rows, atoms), of which most satisfy the pattern to q.

    Where there are only implications between atoms they are the exact ones of the direction.
    """
    order, others = pattern.order, pattern.others
    if not len(others):
        return order.restore(truths, direction)
    found = truths.copy()
    left = np.arange(len(truths))
    for _ in range(ROUNDS):
        part = found[left]
        if not order.is_trivial:
            part = _ordered(pattern, part, direction)
        fine = others.are_satisfied(part, logic, q)
        found[left] = part
        broken = ~fine.all(axis=1)
        left, fine = left[broken], fine[broken]
        if not len(left):
            break
        part = found[left]
        for clause in np.flatnonzero(~fine.all(axis=0)):
            _lift(others, int(clause), part, logic, q)
        found[left] = part
    if not order.is_trivial:
        found = _ordered(pattern, found, direction)
    return found


def _ordered(pattern: Pattern, truths: Truths, direction: str) -> Truths:
    """Coherent truths; in place of the nearest ones, which take long, the middle of highest and lowest."""
    order = pattern.order
    if direction == "nearest":
        return np.asarray((order.raised(truths) + order.lowered(truths)) / 2.0)
    return order.restore(truths, direction)


def _lift(clauses: Clauses, clause: int, truths: Truths, logic: Logic, q: float) -> None:
    """Let the rows satisfy one clause, by the smallest change."""
    atoms = clauses.atoms[clauses.starts[clause] : clauses.starts[clause + 1]]
    signs = clauses.signs[clauses.starts[clause] : clauses.starts[clause + 1]]
    if not len(atoms):
        return
    literals = np.where(signs, truths[:, atoms], 1.0 - truths[:, atoms])
    rows = np.flatnonzero(logic.truth(literals) < q)
    if len(rows):
        lifted = logic.lift(literals[rows], min(1.0, q + MARGIN))
        truths[np.ix_(rows, atoms)] = np.where(signs, lifted, 1.0 - lifted)


def move_towards(
    pattern: Pattern, truths: Truths, labels: NDArray[np.bool_], logic: Logic, q: float
) -> Truths:
    """Truths of one row, (atoms,), that satisfy the pattern to q, since labels satisfy it.

    As long as a clause is broken, its truest literal among those that the labels make true goes to q. What
    moves goes towards its label only, so that no clause is broken again that way, and all end satisfied.
    """
    found = truths.copy()
    high, low = min(1.0, q + MARGIN), max(0.0, 1.0 - q - MARGIN)
    clauses, order = pattern.others, pattern.order
    while True:
        if not order.is_trivial:
            # Those that are true rise, and those that are false fall: none is above another that it implies.
            rises = order.raised(np.where(labels, found, -np.inf)[np.newaxis])[0]
            falls = order.lowered(np.where(labels, np.inf, found)[np.newaxis])[0]
            found = np.where(labels, np.maximum(found, rises), np.minimum(found, falls))
            # A false one may be above a true one that it implies.
            found = np.where(labels, found, np.minimum(found, order.lowered(found[np.newaxis])[0]))
        broken = np.flatnonzero(~clauses.are_satisfied(found, logic, q))
        if not len(broken):
            return found
        for clause in broken:
            atoms = clauses.atoms[clauses.starts[clause] : clauses.starts[clause + 1]]
            signs = clauses.signs[clauses.starts[clause] : clauses.starts[clause + 1]]
            own = labels[atoms] == signs
            literals = np.where(signs, found[atoms], 1.0 - found[atoms])
            best = np.flatnonzero(own)[np.argmax(literals[own])]
            found[atoms[best]] = (
                max(found[atoms[best]], high) if signs[best] else min(found[atoms[best]], low)
            )
