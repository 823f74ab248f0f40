"""Clauses over ground atoms: disjunctions of atoms and negated atoms, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ltn.repair.logics import Logic, Truths

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clauses:
    """Clauses over atoms that are numbered from 0 up.

    Attributes:
        starts: where the literals of each clause begin, and the number of all, (n + 1,).
        atoms: the atom of each literal.
        signs: whether it stands without negation.
        sources: the part of an axiom that each clause is from, by number, (n,).
        places: for which combination of individuals of that part, (n,).
    """

    starts: Numbers
    atoms: Numbers
    signs: NDArray[np.bool_]
    sources: Numbers
    places: Numbers

    @classmethod
    def of(cls, batches: Sequence[tuple[Numbers, NDArray[np.bool_], int, Numbers]]) -> Clauses:
        """The clauses of some batches: atoms (n, width) with their signs, a source, the places (n,)."""
        nothing = np.zeros(0, np.int64)
        widths = np.concatenate(
            [nothing, *(np.full(len(atoms), atoms.shape[1]) for atoms, _, _, _ in batches)]
        )
        return cls(
            np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
            np.concatenate([nothing, *(atoms.reshape(-1) for atoms, _, _, _ in batches)]),
            np.concatenate([nothing.astype(bool), *(signs.reshape(-1) for _, signs, _, _ in batches)]),
            np.concatenate([nothing, *(np.full(len(atoms), source) for atoms, _, source, _ in batches)]),
            np.concatenate([nothing, *(places for _, _, _, places in batches)]),
        )

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def widths(self) -> Numbers:
        """The number of literals of each clause."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Numbers:
        """The clause of each literal."""
        return np.repeat(np.arange(len(self)), self.widths)

    def take(self, which: Numbers) -> Clauses:
        """Some of the clauses."""
        widths = self.widths[which]
        starts = np.concatenate([[0], np.cumsum(widths)])
        entries = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], widths)
        return Clauses(
            starts, self.atoms[entries], self.signs[entries], self.sources[which], self.places[which]
        )

    def by_width(self) -> Iterator[tuple[Numbers, Numbers, NDArray[np.bool_]]]:
        """The clauses of each width: which they are, their atoms and their signs, (n, width)."""
        widths = self.widths
        for width in np.unique(widths):
            which = np.flatnonzero(widths == width)
            entries = self.starts[which][:, np.newaxis] + np.arange(width)
            yield which, self.atoms[entries], self.signs[entries]

    def are_implications(self) -> NDArray[np.bool_]:
        """Which clauses are an implication a -> b between atoms: one negated literal and one that is not."""
        found = np.zeros(len(self), bool)
        for which, _, signs in self.by_width():
            if signs.shape[1] == 2:
                found[which] = signs[:, 0] != signs[:, 1]
        return found

    def are_satisfied(self, truths: Truths, logic: Logic, q: float) -> NDArray[np.bool_]:
        """Which clauses truths (..., atoms) satisfy, (..., clauses).

        An implication between atoms is satisfied where its consequent is at least as true as its antecedent;
        any other clause where its truth is q or more.
        """
        found = np.ones((*truths.shape[:-1], len(self)), bool)
        for which, atoms, signs in self.by_width():
            values = truths[..., atoms]
            fine = logic.truth(np.where(signs, values, 1.0 - values)) >= q
            if atoms.shape[1] == 2:
                is_order = signs[:, 0] != signs[:, 1]
                ascends = np.where(
                    signs[:, 1], values[..., 0] <= values[..., 1], values[..., 1] <= values[..., 0]
                )
                fine = np.where(is_order, ascends, fine)
            found[..., which] = fine
        return found
