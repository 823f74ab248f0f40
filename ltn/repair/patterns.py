"""Clauses that hang together by common atoms, and those of one pattern, which are repaired as one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ltn.repair.clauses import Clauses, Numbers
from ltn.repair.order import Order


class Pattern:
    """Clauses over atoms that are numbered from 0 up, which some sets of outputs have in common.

    Attributes:
        count: the number of atoms.
        clauses: all of them.
    """

    def __init__(self, count: int, clauses: Clauses):
        self.count = count
        self.clauses = clauses

    @cached_property
    def order(self) -> Order:
        """The implications between atoms."""
        implications = self.clauses.take(np.flatnonzero(self.clauses.are_implications()))
        pairs = [
            (int(a), int(b)) if second else (int(b), int(a))
            for (a, b), (_, second) in zip(
                implications.atoms.reshape(-1, 2), implications.signs.reshape(-1, 2), strict=True
            )
        ]
        return Order(self.count, pairs)

    @cached_property
    def others(self) -> Clauses:
        """The clauses that are no implications between atoms."""
        return self.clauses.take(np.flatnonzero(~self.clauses.are_implications()))

    def without(self, clauses: Numbers) -> Pattern:
        """The pattern without some clauses."""
        return Pattern(self.count, self.clauses.take(np.setdiff1d(np.arange(len(self.clauses)), clauses)))


@dataclass(frozen=True, eq=False)
class Group:
    """Sets of outputs of one pattern.

    Attributes:
        pattern: their pattern.
        atoms: the outputs of each set, (sets, atoms).
        clauses: the clauses of each set, (sets, clauses).
    """

    pattern: Pattern
    atoms: Numbers
    clauses: Numbers


def components(clauses: Clauses, count: int) -> Numbers:
    """The set that each clause is of: clauses with a common atom are of one set; -1 for an empty clause."""
    label = np.arange(count)
    filled = np.flatnonzero(clauses.widths > 0)
    starts, owners = clauses.starts[:-1][filled], np.repeat(np.arange(len(filled)), clauses.widths[filled])
    while len(filled):
        least = np.minimum.reduceat(label[clauses.atoms], starts)
        before = label.copy()
        # Also what the atom was called after: so that the least number travels far in a round.
        np.minimum.at(label, label[clauses.atoms], least[owners])
        np.minimum.at(label, clauses.atoms, least[owners])
        label = label[label]
        if np.array_equal(label, before):
            break
    found = np.full(len(clauses), -1)
    found[filled] = label[clauses.atoms[starts]]
    return found


def groups_of(clauses: Clauses, component: Numbers, wanted: NDArray[np.bool_]) -> Iterator[Group]:
    """The sets of outputs of some components, those of one pattern together."""
    which = np.flatnonzero(wanted)
    which = which[np.argsort(component[which], kind="stable")]
    own = clauses.take(which)
    label = component[which]
    edges = np.flatnonzero(np.diff(label, prepend=-2, append=-2))
    patterns: dict[bytes, tuple[Pattern, list[Numbers], list[Numbers]]] = {}
    for first, last in itertools.pairwise(edges):
        begin, end = own.starts[first], own.starts[last]
        atoms, local = np.unique(own.atoms[begin:end], return_inverse=True)
        starts = own.starts[first : last + 1] - begin
        key = b"".join(part.tobytes() for part in (starts, local, own.signs[begin:end]))
        if key not in patterns:
            part = Clauses(
                starts,
                local.reshape(-1),
                own.signs[begin:end],
                own.sources[first:last],
                own.places[first:last],
            )
            patterns[key] = Pattern(len(atoms), part), [], []
        patterns[key][1].append(atoms)
        patterns[key][2].append(which[first:last])
    for pattern, rows, numbers in patterns.values():
        yield Group(pattern, np.stack(rows), np.stack(numbers))
