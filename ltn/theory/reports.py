"""Reports: which axioms hold, where one fails, and what a theory consists of."""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np
import pandas as pd

from ltn.checks import check_whole
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import groups_of
from ltn.evaluation.plan import Options
from ltn.evaluation.table import PlanTable
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.data import Data
from ltn.knowledge.questions import Knowledge, Question
from ltn.knowledge.satisfaction import note, satisfaction
from ltn.knowledge.seeds import draws_samples
from ltn.knowledge.tallies import tallies
from ltn.language import Node, Quantifier
from ltn.language.names import PLAIN
from ltn.language.statements import Diagonals
from ltn.semantics import BaseSemantics
from ltn.theory.report_frames import Report


class ReportedTheory(Knowledge, Protocol):
    """What reports need of a theory: knowledge, and how many combinations are evaluated at once."""

    @property
    def chunk(self) -> int | None: ...


def report(
    theory: ReportedTheory,
    data: Data | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> pd.DataFrame:
    """A table of the axioms: `axiom`, `satisfaction`, `violated`, `weight`, `formula`, on all the data.

    `violated` is the share of the groundings of the axiom, as `violations` finds them, whose truth is below
    0.5, whatever they weigh. The arguments are those of `query`; of a data set all rows are taken, one batch
    after the other, with the weights that it yields. In a notebook the table has bars; printed, its formulas
    are cut to the width that pandas prints.
    """
    axioms, question = theory.axiom_list, Question(data, semantics, p, named, sample)
    evaluation = questions.evaluation_for(theory, question, theory.chunk)

    def options_of(axiom: Axiom) -> Options:
        return questions.options_of(theory, axiom, question)

    # Without `chunk` in one plan, so that networks run once.
    counted, _ = tallies(axioms, options_of, evaluation, most=theory.chunk)
    known = [tally.value for tally in counted if tally.value is not None]
    found = satisfaction(axioms, options_of, evaluation, known=known if len(known) == len(axioms) else None)
    truths = {
        axiom.name: float(evaluation.space.truth(value))
        for axiom, value in zip(axioms, found.axioms, strict=True)
    }
    if questions.has_own_operators(theory, question):
        note(axioms, truths, "report")
    return Report(
        {
            "axiom": list(truths),
            "satisfaction": list(truths.values()),
            "violated": [tally.share for tally in counted],
            "weight": [theory.weight_of(axiom) for axiom in axioms],
            "formula": [str(axiom) for axiom in axioms],
        }
    )


def explain(
    theory: ReportedTheory,
    axiom: str | Node | Axiom,
    data: Data | None = None,
    worst: int = 5,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> pd.DataFrame:
    """The groundings that satisfy a formula least: its variables, and the truth of what it claims of them.

    The universal quantifiers at the front of the formula are taken off, and free variables count as bound by
    them; without any, the table has one row. The other arguments are those of `query`; of a data set all rows
    are taken, whatever they weigh.

    Args:
        axiom: an axiom, also by its name; or any formula.
        data, semantics, p, sample, named: as for `query`.
        worst: how many groundings.
    """
    question = Question(data, semantics, p, named, sample)
    tree, known = _formula_of(theory, axiom)
    worst = check_whole("worst", worst, "a number of groundings")
    evaluation = questions.evaluation_for(theory, question)
    own = {} if known is None else questions.options_of(theory, known, question)
    found = evaluation.instances(tree, own)
    truths = evaluation.space.truth(found.values).numpy()
    order = np.argsort(truths, axis=None, kind="stable")[: worst if found.are_claimed else 0]
    labels = found.labels
    places = dict(zip(labels, np.unravel_index(order, truths.shape) if labels else (), strict=True))
    columns = {}
    for variable, label in found.frame.items():
        rows = found.rows[variable]
        shown = places[label] if rows is None else rows[places[label]]
        columns[variable] = questions.shown_individuals(evaluation.groundings, variable, shown)
    return pd.DataFrame(columns | {"truth": truths.reshape(-1)[order]})


def _formula_of(theory: ReportedTheory, axiom: str | Node | Axiom) -> tuple[Node, Axiom | None]:
    """The closed formula that is meant, and the axiom that it belongs to, if there is one."""
    is_axiom = isinstance(axiom, Axiom)
    if isinstance(axiom, str) and re.fullmatch(PLAIN, axiom):
        is_axiom = axiom not in theory.signature.propositions
    if is_axiom and not isinstance(axiom, Node):
        found = theory.find(axiom)
        if found.tree is None:
            raise LogicValueError(f"The axiom '{found.name}' is Python code: only formulas can be explained.")
        return found.tree, found
    tree, known = questions.read_formula(theory, axiom, "an explanation", diagonals=True)
    if not theory.signature.sort_of(tree).is_formula:
        raise LogicTypeError(f"Only formulas can be explained; `{tree}` is a term.")
    groups = tuple(groups_of(theory.signature.free_variables(tree), tree))
    body = tree.body if isinstance(tree, Diagonals) else tree
    return (Quantifier("forall", groups, body) if groups else body), known


def plan(
    theory: ReportedTheory,
    formula: str | Node | Axiom | None = None,
    data: Data | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> PlanTable:
    """How a formula is evaluated: the steps, which networks run on how many rows, how guards select.

    Args:
        formula: text, a syntax tree, or an axiom, also by its name; by default all axioms together, as
            in training.
        data, semantics, p, sample, named: as for `query`. The plan is executed once, to see how large its
            values are. Samples are drawn as in training.

    Returns:
        A table: `print` shows a line for each step, `.to_frame()` gives it to pandas, `.rows` tells the
        rows of each network. Memory is that of the values; what networks keep inside is not in it.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> digits = theory.domain("digits", values=range(10))
    >>> d, P = theory.variable("d", digits), theory.predicate("P", digits, ltn.Predicate.MLP([1]))
    >>> theory.plan("forall d: P(d)")
       step                             reads  axes  shape    network rows  tuples  memory
    1  individuals of d, domain digits               (10, 1)                        40 B
    2  run P                            1                     10                    40 B
    3  atom P                           2      d     (10,)                          40 B
    4  forall over d                    3            ()                             4 B
    4 steps, 124 B of values
    """
    question = Question(data, semantics, p, named, sample)
    pairs: list[tuple[Node, Axiom | None]]
    if formula is None:
        pairs = [(axiom.tree, axiom) for axiom in theory.axiom_list if axiom.tree is not None]
    else:
        pairs = [questions.read_formula(theory, formula, "a plan", diagonals=True)]
    if not pairs:
        raise LogicValueError("There is no formula to plan: add axioms with theory.axiom(...), or give one.")
    options = [{} if axiom is None else questions.options_of(theory, axiom, question) for _, axiom in pairs]
    draws = any(draws_samples(tree) for tree, _ in pairs)
    evaluation = questions.evaluation_for(theory, question, theory.chunk, as_trained=draws)
    with as_written():
        return evaluation.tabulate([node for node, _ in pairs], options)
