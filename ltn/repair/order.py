"""Implications between atoms as an order of truths: the exact ways to restore it.

`a -> b` between atoms is satisfied where the truth of b is not below that of a: the residuum of every
conjunction is then 1. Truths are coherent if they satisfy all implications.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ltn.repair.isotonic import nearest_on_graph

Truths = NDArray[np.float64]

DIRECTIONS = ("raise", "lower", "nearest")


class Order:
    """Implications between some atoms: each pair is (a, b) of a -> b.

    Attributes:
        group: the group of each atom: atoms that imply each other. Groups ascend along implications.
        sizes: how many atoms each group has.
        pairs: the implications between groups, so ordered that one pass over them is enough.
        is_trivial: whether there are none, between atoms either.
    """

    def __init__(self, count: int, pairs: Sequence[tuple[int, int]]):
        self.group, self.sizes = _numbered(count, pairs)
        between = {(int(self.group[a]), int(self.group[b])) for a, b in pairs}
        self.pairs = sorted((a, b) for a, b in between if a != b)
        self.is_trivial = not len(pairs)

    def restore(self, truths: Truths, direction: str) -> Truths:
        """The coherent truths of rows, (rows, atoms): the least not below, greatest not above, or nearest."""
        if self.is_trivial:
            return truths
        if direction == "raise":
            return self.raised(truths)
        return self.lowered(truths) if direction == "lower" else self.nearest(truths)

    def raised(self, truths: Truths) -> Truths:
        """The least coherent truths that are not below: the maximum over all that imply an atom."""
        found = np.full((len(self.sizes), len(truths)), -np.inf)
        np.maximum.at(found, self.group, truths.T)
        for a, b in self.pairs:
            np.maximum(found[b], found[a], out=found[b])
        return np.ascontiguousarray(found[self.group].T)

    def lowered(self, truths: Truths) -> Truths:
        """The greatest coherent truths that are not above: the minimum over all that an atom implies."""
        found = np.full((len(self.sizes), len(truths)), np.inf)
        np.minimum.at(found, self.group, truths.T)
        for a, b in sorted(self.pairs, key=lambda pair: -pair[1]):
            np.minimum(found[a], found[b], out=found[a])
        return np.ascontiguousarray(found[self.group].T)

    def nearest(self, truths: Truths) -> Truths:
        """The coherent truths with the smallest sum of squared changes: isotonic regression."""
        groups = np.zeros((len(self.sizes), len(truths)))
        np.add.at(groups, self.group, truths.T)
        means = groups.T / self.sizes
        found = np.stack([nearest_on_graph(row, self.sizes, self.pairs) for row in means])
        return np.asarray(found[:, self.group])


def _numbered(count: int, pairs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.int64], Truths]:
    """The group of each atom, numbered so that what implies comes first; and how many atoms each has.

    Tarjan's algorithm, without recursion: it completes a group after all groups that this one implies.
    """
    implied: list[list[int]] = [[] for _ in range(count)]
    for a, b in pairs:
        implied[a].append(b)
    number, low, group = [-1] * count, [0] * count, np.full(count, -1)
    open_atoms: list[int] = []
    groups = visited = 0
    for root in range(count):
        pending = [(root, 0)] if number[root] < 0 else []
        while pending:
            atom, done = pending.pop()
            if done == 0:
                number[atom] = low[atom] = visited
                visited += 1
                open_atoms.append(atom)
            else:
                low[atom] = min(low[atom], low[implied[atom][done - 1]])
            while done < len(implied[atom]):
                other = implied[atom][done]
                done += 1
                if number[other] < 0:
                    pending += [(atom, done), (other, 0)]
                    break
                if group[other] < 0:
                    low[atom] = min(low[atom], number[other])
            else:
                if low[atom] == number[atom]:
                    while group[atom] < 0:
                        group[open_atoms.pop()] = groups
                    groups += 1
    found = groups - 1 - group
    return found, np.bincount(found, minlength=groups).astype(float)
