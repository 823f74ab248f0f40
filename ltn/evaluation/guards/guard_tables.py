"""What is joined for a guard: the rows of relations, by the axes on which their variables lie."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from ltn.evaluation.frames import Places
from ltn.evaluation.guards.strategy import Guard, parts_of
from ltn.evaluation.join_steps import Filter, JoinTable
from ltn.evaluation.joins import join
from ltn.evaluation.relations import distinct_rows
from ltn.language import And, Apply, Name, Node, Or


class GuardTables:
    """The tables of a guard.

    A column has the label of an axis: where the tuples are on it. That of a variable whose individuals come
    with data, or lie on an axis in another order than in their domain, holds their places there.

    Args:
        guard: the guard.
        known: the variables whose individuals are known, each with its axis.
    """

    def __init__(self, guard: Guard, known: Mapping[str, str]):
        self.guard = guard
        self.known = known

    def all(self, atoms: Sequence[Node]) -> list[JoinTable]:
        """The tables of some conjuncts, and of axes."""
        return [*self._axes(atoms), *(self._table(atom) for atom in atoms)]

    def filter(self, node: Node) -> Filter:
        labels = sorted(self.guard.labels(node))
        return Filter(labels, partial(self.guard.holds_at, [node], labels))

    def _axes(self, atoms: Sequence[Node]) -> list[JoinTable]:
        """Which individuals lie where, on axes that no relation has, and on those of no whole domain."""
        tables = []
        told = {name for atom in atoms for name in self.guard.planner.free(atom)}
        for label in dict.fromkeys(self.known.values()):
            members = [name for name, own in self.known.items() if own == label]
            if told.issuperset(members) and all(self._column(name) == label for name in members):
                continue
            columns: dict[Hashable, Places] = {}
            for name in members:
                places = self.guard.places(name)
                if places is not None:
                    columns |= {label: np.arange(len(places), dtype=np.int32), self._column(name): places}
            tables.append(JoinTable(label, columns))
        return tables

    def _column(self, name: str) -> Hashable:
        """The column of the places of a variable: the axis itself where it holds a whole domain."""
        label = self.known.get(name)
        alone = [other for other, own in self.known.items() if own == label] == [name]
        is_whole = alone and self.guard.planner.kind_of(name) == "domain"
        if label is not None and is_whole and self.guard.planner.frames.tuples(label) is None:
            return label
        return ("place", name)

    def _table(self, node: Node) -> JoinTable:
        """The tuples of a conjunct, among the variables that are in it."""
        first, *others = (
            join([self._rows(atom) for atom in parts_of(part, And) if isinstance(atom, Apply)])
            for part in parts_of(node, Or)
        )
        if not others:
            return first
        rows = [np.stack([part.columns[name] for name in first.columns], axis=1) for part in (first, *others)]
        union = distinct_rows(np.concatenate(rows))
        return JoinTable(f"({node})", dict(zip(first.columns, union.T, strict=True)))

    def _rows(self, atom: Apply) -> JoinTable:
        """The rows of a relation for which constants, and variables that are repeated, have one place."""
        planner = self.guard.planner
        rows = planner.relations[atom.symbol].rows
        columns: dict[Hashable, Places] = {}
        fits = np.ones(len(rows), bool)
        for position, argument in enumerate(atom.arguments):
            column = rows[:, position]
            if not isinstance(argument, Name):
                raise RuntimeError("A relation that is joined has names as arguments.")
            if argument.name in planner.signature.constants:
                fits &= column == planner.groundings.places(argument.name)
            else:
                known = columns.setdefault(self._column(argument.name), column)
                fits &= known == column
        table = JoinTable(str(atom), columns)
        return table if fits.all() else table.keep(fits)
