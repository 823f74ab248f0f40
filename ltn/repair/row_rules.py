"""Rules that say the same of each row of data: clauses over the columns of a classifier's output."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltn.checks import check_choice
from ltn.errors import LogicValueError
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.questions import Knowledge, Question
from ltn.language import Domain
from ltn.language.forms import check_form
from ltn.language.names import list_names
from ltn.repair.logics import LOGICS, logic_of
from ltn.repair.rules import Rules, ground

_FORM = {"columns": int, "pairs": [[int]], "clauses": [[int]], "logic": str}


class RowRules(NamedTuple):
    """Clauses over columns.

    Attributes:
        columns: how many columns there are.
        pairs: (a, b) for each implication a -> b.
        clauses: all others: of each literal the number of the column, from 1 up, with a minus sign where it
            is negated.
        logic: the name of the logic in which these are true to a degree.
    """

    columns: int
    pairs: tuple[tuple[int, int], ...]
    clauses: tuple[tuple[int, ...], ...] = ()
    logic: str = "product"

    def get_config(self) -> dict[str, Any]:
        """The rules for JSON."""
        pairs, clauses = ([list(each) for each in those] for those in (self.pairs, self.clauses))
        return {"columns": self.columns, "pairs": pairs, "clauses": clauses, "logic": self.logic}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> RowRules:
        """The rules that `get_config` wrote."""
        check_form(config, _FORM, "rules")
        columns, pairs, clauses = config["columns"], config["pairs"], config["clauses"]
        for pair in pairs:
            if len(pair) != 2 or not all(0 <= column < columns for column in pair):
                raise LogicValueError(f"An implication is between two of {columns} columns; got {pair}.")
        for clause in clauses:
            if not clause or not all(1 <= abs(literal) <= columns for literal in clause):
                raise LogicValueError(f"A clause has literals from 1 to {columns}, or negated; got {clause}.")
        check_choice("logic", config["logic"], LOGICS)
        return cls(columns, tuple((a, b) for a, b in pairs), tuple(map(tuple, clauses)), config["logic"])

    @classmethod
    def of(cls, theory: Knowledge, axioms: Sequence[Axiom]) -> RowRules:
        """What axioms say of each row; raises where they say something of several."""
        nothing = questions.evaluation_for(theory, Question(None, None, None, {})).groundings
        data = {
            name: _any_row(domain)
            for name, domain in theory.signature.variables.items()
            if nothing.source(name) is None
        }
        rules = ground(questions.evaluation_for(theory, Question(data, None, None, {})), axioms)
        _check_same_for_all(rules, data)
        row, column, count = _columns(theory, rules)
        clauses, are_implications = rules.clauses, rules.clauses.are_implications()
        pairs, others = dict[tuple[int, int], None](), dict[tuple[int, ...], None]()
        for clause, (first, last) in enumerate(itertools.pairwise(clauses.starts)):
            atoms, signs = clauses.atoms[first:last], clauses.signs[first:last]
            if len(set(row[atoms].tolist())) != 1:
                axiom, _ = rules.describe(clause)
                raise LogicValueError(
                    f"The axiom '{axiom}' is not about the outputs of one row. Name the axioms that are, as "
                    "ltn.Repair(theory, axioms=[...]); theory.repair(data) repairs by all."
                )
            if are_implications[clause]:
                # The negated literal is the antecedent.
                antecedent, consequent = column[atoms[np.argsort(signs)]].tolist()
                pairs[antecedent, consequent] = None
            else:
                literals = np.where(signs, 1, -1) * (1 + column[atoms])
                others[tuple(literals.tolist())] = None
        logic = logic_of(theory.semantics).name if others else "product"
        return cls(count, tuple(pairs), tuple(others), logic)


def _any_row(domain: Domain) -> NDArray[np.float32]:
    """An individual of a domain; what it is does not matter."""
    shape = tuple(size or 1 for size in domain.shape)
    inside = 0.0
    if domain.bounds == "simplex":
        inside = 1.0 / math.prod(shape)
    elif isinstance(domain.bounds, tuple):
        inside = domain.bounds[0]
    return np.full((1, *shape), inside, np.float32)


def _check_same_for_all(rules: Rules, data: Mapping[str, Any]) -> None:
    """Raise where facts about the data decide what an axiom says."""
    copies = rules.world.groundings.signature.copies
    for part in rules.parts:
        for variable in part.selecting:
            if copies.get(variable, variable) in data:
                raise LogicValueError(
                    f"What the axiom '{part.axiom.name}' says depends on the data of '{variable}', and a "
                    "layer knows outputs only: name the axioms that say the same of each row, as "
                    "ltn.Repair(theory, axioms=[...])."
                )


def _columns(theory: Knowledge, rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """For each output the row and the column that it is, by number; and how many columns there are."""
    outputs = rules.outputs
    row, column = np.zeros(outputs.count, np.int64), np.zeros(outputs.count, np.int64)
    found = {block: outputs.in_row(block) for block in outputs.tables}
    symbols = list(dict.fromkeys(symbol for symbol, _ in outputs.tables))
    # The outputs that each predicate has of a row.
    counts = {place.size for place in found.values() if place is not None}
    several = len(symbols) > 1 and counts != {1}
    if None in found.values() or len(counts) > 1 or several:
        raise LogicValueError(
            "The columns of a classifier are the outputs of one predicate of a row and known individuals, as "
            "is(x, c), or those of predicates of a row alone, as dog(x); the rules speak of "
            f"{list_names([f'`{atom}`' for atom in outputs.first.values()])}."
        )
    order = _in_order(theory, rules, symbols) if counts == {1} else {symbols[0]: 0}
    for (symbol, _), place in found.items():
        if place is not None:
            own = slice(place.start, place.start + len(place.columns))
            row[own], column[own] = place.row, place.columns + order[symbol]
    return row, column, max(len(order), *counts)


def _in_order(theory: Knowledge, rules: Rules, symbols: Sequence[str]) -> dict[str, int]:
    """The column of each unary predicate: as its network has heads, or as they were declared."""
    heads = [rules.world.symbols[symbol].head for symbol in symbols]
    if None not in heads and len({head.names for head in heads}) == 1:
        return {name: place for place, name in enumerate(heads[0].names)} | {
            symbol: head.place for symbol, head in zip(symbols, heads, strict=True)
        }
    predicates = theory.signature.predicates
    domain = predicates[symbols[0]]
    declared = [
        name for name in predicates if predicates[name] == domain and name not in rules.world.relations
    ]
    return {name: place for place, name in enumerate(declared)}
