"""What a repair returns: truths by predicate, what changed and why, and what could not be satisfied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ltn.core import Formula
from ltn.errors import LogicError, LogicValueError
from ltn.language import Node, parse
from ltn.language.names import list_names
from ltn.repair.clauses import Numbers
from ltn.repair.outputs import Block
from ltn.repair.rules import Rules
from ltn.repair.solving import Aim, Floats, Solution, causes


class View(Mapping[str, Formula]):
    """Truths by the name of a predicate, or by an atom such as `is(x, c)`; each as a query gives them."""

    def __init__(self, rules: Rules, truths: Floats):
        self._rules = rules
        self._truths = truths

    def __getitem__(self, name: str) -> Formula:
        outputs = self._rules.outputs
        blocks = self._blocks().get(name, [])
        if len(blocks) == 1:
            return outputs.view(blocks[0], self._truths)
        if blocks:
            atoms = list_names([f"`{outputs.first[block]}`" for block in blocks])
            raise LogicValueError(
                f"'{name}' has outputs for several sources of individuals: ask for one of them by its "
                f"atom, {atoms}."
            )
        atom = self._atom(name)
        if atom is None:
            known = list_names(list(self._blocks()))
            raise LogicValueError(f"Nothing was repaired under {name!r}; the rules speak of: {known}.")
        return outputs.formula(atom, self._truths)

    def __contains__(self, name: object) -> bool:
        try:
            return name in self._blocks() or self._atom(name) is not None
        except LogicError:  # The text of no atom.
            return False

    def get(self, name: str, default: Any = None) -> Any:
        """The truths, or the default where nothing was repaired under the name."""
        if name not in self:
            return default
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks())

    def __len__(self) -> int:
        return len(self._blocks())

    def _blocks(self) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        for block in self._rules.outputs.tables:
            found.setdefault(block[0], []).append(block)
        return found

    def _atom(self, name: object) -> Node | None:
        """The atom of a text, where the rules speak of such outputs."""
        if not isinstance(name, str) or "(" not in name:
            return None
        atom = parse(name)
        return atom if self._rules.outputs.knows(atom) else None


class Repaired(Mapping[str, Formula]):
    """The truths nearest to the networks' own that satisfy the rules, as `theory.repair` returns them.

    Attributes:
        before: the networks' own truths, likewise by name.
        q: how true each rule is.
        gap: of labels, by how much the logarithm of their probability may be below the best, for any set of
            outputs that hang together; 0 where they are proved to be the best. None where truths were asked.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> theory.proposition("dog", 0.75), theory.proposition("animal", 0.25)
    (Proposition(tensor=0.75, free_vars=[]), Proposition(tensor=0.25, free_vars=[]))
    >>> theory.axiom("dog -> animal", name="dogs")
    Axiom(dogs: dog -> animal)
    >>> repaired = theory.repair()
    >>> repaired
    Repaired(dog, animal: 2 of 2 outputs changed)
    >>> repaired["dog"], repaired.before["dog"]
    (Formula(tensor=0.5, free_vars=[]), Formula(tensor=0.75, free_vars=[]))
    >>> repaired.changes
      predicate individuals  from   to axiom
    0       dog          ()  0.75  0.5  dogs
    1    animal          ()  0.25  0.5  dogs
    """

    def __init__(self, rules: Rules, before: Floats, solution: Solution, aim: Aim, gap: float | None = None):
        self._rules = rules
        self._after = View(rules, solution.truths)
        self.before = View(rules, before)
        self.q = aim.q
        self.gap = gap
        self._own = before
        self._solution = solution
        self._aim = aim

    def __getitem__(self, name: str) -> Formula:
        return self._after[name]

    def __contains__(self, name: object) -> bool:
        return name in self._after

    def get(self, name: str, default: Any = None) -> Any:
        """The truths, or the default where nothing was repaired under the name."""
        return self._after.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._after)

    def __len__(self) -> int:
        return len(self._after)

    @property
    def _former(self) -> Floats:
        """What the outputs would be without rules."""
        return self._own if self.gap is None else (self._own >= 0.5).astype(np.float32)

    @property
    def _changed(self) -> Numbers:
        """The outputs that changed."""
        return np.flatnonzero(self._former != self._solution.truths)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Each output that changed: `predicate`, `individuals`, `from`, `to`, `axiom`.

        Of labels, each whose label is not the rounded truth. It changed because of the axiom: one that would
        not be satisfied if the output alone had kept its truth.
        """
        outputs, changed, former = self._rules.outputs, self._changed, self._former
        why = causes(
            self._rules.clauses, former, self._solution.truths, self._aim, changed, self._solution.touched
        )
        symbols, individuals = outputs.describe(changed)
        axioms = np.array([part.axiom.name for part in self._rules.parts], dtype=object)
        return pd.DataFrame(
            {
                "predicate": pd.Series(symbols, dtype=object),
                "individuals": pd.Series(individuals, dtype=object),
                "from": self._own[changed],
                "to": self._solution.truths[changed],
                "axiom": pd.Series(axioms[self._rules.clauses.sources[why]], dtype=object),
            }
        )

    @cached_property
    def conflicts(self) -> pd.DataFrame:
        """Rules that no truths satisfy together: `conflict`, `axiom`, `individuals`, `satisfied`.

        Those of one conflict have one number. One of them was given up, which is not `satisfied`; the others
        are. It is one of the axiom of the least weight, or of the last one.
        """
        rows = [
            (number, *self._rules.describe(int(clause)), int(clause) != given_up)
            for number, (clauses, given_up) in enumerate(self._solution.conflicts, start=1)
            for clause in clauses
        ]
        return pd.DataFrame(rows, columns=["conflict", "axiom", "individuals", "satisfied"])

    @cached_property
    def undecided(self) -> pd.DataFrame:
        """Rules that are not satisfied since the search for labels that satisfy them took too long."""
        rows = [self._rules.describe(int(clause)) for clause in self._solution.undecided]
        return pd.DataFrame(rows, columns=["axiom", "individuals"])

    def __repr__(self) -> str:
        count = self._rules.outputs.count
        found = f"{len(self._changed):,} of {count:,} outputs changed"
        broken = len(self._solution.conflicts)
        said = f", {broken:,} conflict{'s' * (broken != 1)}" if broken else ""
        return f"Repaired({', '.join(self)}: {found}{said})"
