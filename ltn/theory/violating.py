"""Violations: which groundings break which axiom."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ltn.checks import check_whole
from ltn.errors import LogicValueError, NotFiniteError
from ltn.evaluation.evaluation import Evaluation
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.data import Data
from ltn.knowledge.questions import Question
from ltn.knowledge.tallies import THRESHOLD, RowCounts, Tally, combinations_within, tallies
from ltn.semantics import BaseSemantics
from ltn.theory.reports import ReportedTheory
from ltn.theory.violations import ViolationCounts, Violations

# The columns that are no variables.
_OWN = ("axiom", "truth", "atoms")


def violations(
    theory: ReportedTheory,
    data: Data | None = None,
    threshold: float = THRESHOLD,
    *,
    limit: int | None = 10_000,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> Violations:
    """Which groundings violate which axiom: a table with a row for each, the worst of each axiom first.

    A grounding is a choice of individuals for the universal quantifiers at the front of an axiom, of those
    that their guards select; an axiom without any has one. It is violated where what the axiom claims of it
    has a truth below the threshold. Axioms that are not active are left out; weights change nothing, neither
    of axioms nor of rows. An axiom that is Python code has one grounding, whose atoms are not known.

    The networks run once for all axioms. Memory is bounded: at most `chunk` combinations of individuals are
    evaluated at once, or where the theory sets none one for each KiB of `theory.memory_limit`, a million, and
    networks run on at most 8192 rows of data; what an axiom claims of one grounding is always evaluated
    whole. Where a network is about a variable that is not in slices, it runs in each slice of the other.

    Args:
        data: as for `report`.
        threshold: a truth, from 0 to 1.
        limit: how many rows the table has at most, the worst violations of each axiom; None for all. Axioms
            have equal parts of it, and what one does not need is for the others. Counts are of all.
        semantics, p, sample, named: as for `query`.

    Returns:
        A DataFrame: `axiom`, its name; for each variable the individual, by its name, by the index of the
        DataFrame that came, or as `explain` shows it, and nothing where an axiom does not have the variable;
        `truth`; and `atoms`, a dictionary with the truth of each atom by its text, where a quantified formula
        counts as one atom. `.counts()` has the number of violations of each axiom, `.counts("rows")` that of
        each row of the data, `.shares()` the share of groundings, `.total` the number of all.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> pets = theory.domain("pets", shape=2)
    >>> x = theory.variable("x", pets)
    >>> dog = theory.predicate("dog", pets, lambda x: x[:, 0])
    >>> animal = theory.predicate("animal", pets, lambda x: x[:, 1])
    >>> axiom = theory.axiom("forall x: dog(x) -> animal(x)", name="dogs")
    >>> found = theory.violations({"x": [[0.75, 1.0], [1.0, 0.25], [0.5, 0.0]]})
    >>> found
      axiom  x  truth                     atoms
    0  dogs  1   0.25  dog(x) 1, animal(x) 0.25
    1 violation, a truth below 0.5, of 3 groundings of 1 axiom.
    >>> found.counts().to_dict(), found.counts("rows").tolist(), found.atoms[0]["animal(x)"]
    ({'dogs': 1}, [0, 1, 0], 0.25)
    """
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real) or not 0.0 <= threshold <= 1.0:
        raise LogicValueError(f"`threshold` is a truth, from 0 to 1; got {threshold!r}.")
    if limit is not None:
        limit = check_whole("limit", limit, "a number of rows", otherwise=", or None for all")
    axioms = [axiom for axiom in theory.axiom_list if axiom.active]
    if not axioms:
        what = "no axiom of the theory is active" if len(theory.axiom_list) else "the theory has no axioms"
        raise LogicValueError(
            f"Nothing can be violated: {what}. Add one with theory.axiom(...), or set theory[name].active."
        )
    question = Question(data, semantics, p, named, sample)
    evaluation = questions.evaluation_for(theory, question)

    def options_of(axiom: Axiom) -> Any:
        return questions.options_of(theory, axiom, question)

    most = theory.chunk or combinations_within(theory.memory_limit)
    found, rows = tallies(axioms, options_of, evaluation, float(threshold), limit, most)
    _check_known(axioms, found)
    kept = [len(tally.truths) for tally in found]
    for tally, part in zip(found, kept if limit is None else _share_out(limit, kept), strict=True):
        tally.keep(part)
    names = pd.Index([axiom.name for axiom in axioms], name="axiom")
    counted = ViolationCounts(
        float(threshold),
        pd.Series([tally.violations for tally in found], names, name="violations"),
        pd.Series([tally.groundings for tally in found], names, name="groundings"),
        _by_row(rows, data),
        rows.why,
    )
    return Violations.of(_columns(axioms, found, _shown(evaluation, data)), counted)


def _check_known(axioms: Sequence[Axiom], found: Sequence[Tally]) -> None:
    for axiom, tally in zip(axioms, found, strict=True):
        if tally.unknown:
            raise NotFiniteError(
                f"The truth of the axiom '{axiom.name}' is NaN for {tally.unknown:,} of {tally.groundings:,} "
                "groundings, so it is not known whether they are violated. NaN comes from inputs or weights "
                "that are not finite."
            )


def _share_out(limit: int, counts: Sequence[int]) -> list[int]:
    """How many rows each axiom has, of as many violations: equal parts, of which none is left over."""
    parts = [0] * len(counts)
    for place, axiom in enumerate(sorted(range(len(counts)), key=counts.__getitem__)):
        parts[axiom] = min(counts[axiom], limit // (len(counts) - place))
        limit -= parts[axiom]
    return parts


def _shown(evaluation: Evaluation, data: Any) -> Callable[[str], Sequence[Any]]:
    """How the individuals of a variable are shown."""
    groundings = evaluation.groundings

    @cache
    def shown(variable: str) -> Sequence[Any]:
        _, name = groundings.source(variable) or ("", "")
        if isinstance(data, pd.DataFrame) and name in map(str, data) and not groundings.has_places(variable):
            labels: list[Any] = data.index.tolist()
            return labels
        return questions.shown_individuals(groundings, variable)

    return shown


def _columns(
    axioms: Sequence[Axiom], found: Sequence[Tally], shown: Callable[[str], Sequence[Any]]
) -> Mapping[str, Any]:
    """The columns of the table, from what was kept of each axiom."""
    sizes = [len(tally.truths) for tally in found]
    columns: dict[str, Any] = {"axiom": np.repeat([axiom.name for axiom in axioms], sizes)}
    for variable in dict.fromkeys(variable for tally in found for variable in tally.variables):
        cells: list[Any] = []
        for tally, size in zip(found, sizes, strict=True):
            places = tally.places.get(variable)
            names = shown(variable) if places is not None else ()
            cells += [None] * size if places is None else [names[place] for place in places]
        columns[f"variable {variable}" if variable in _OWN else variable] = _series(cells)
    atoms = [
        # As text a float32 has the digits that it knows: 0.1, not 0.10000000149.
        {text: float(str(truths[row])) for text, truths in tally.parts.items()}
        for tally, size in zip(found, sizes, strict=True)
        for row in range(size)
    ]
    columns["truth"] = np.concatenate([tally.truths for tally in found])
    columns["atoms"] = pd.Series(atoms, dtype=object)
    return columns


def _series(cells: list[Any]) -> pd.Series:
    """A column of individuals, of which some may be missing: whole numbers stay whole."""
    known = [cell for cell in cells if cell is not None]
    if len(known) < len(cells) and all(isinstance(cell, int) for cell in known):
        return pd.Series(cells, dtype="Int64" if known else object)
    return pd.Series(cells, dtype=None if cells else object)


def _by_row(rows: RowCounts, data: Any) -> pd.Series | None:
    if rows.counts is None:
        return None
    index = data.index if isinstance(data, pd.DataFrame) else pd.RangeIndex(len(rows.counts))
    return pd.Series(rows.counts, index, name="violations")
