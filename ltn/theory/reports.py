"""Reports: which axioms hold, where one fails, and what a theory consists of."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Protocol

import pandas as pd

from ltn.checks import check_whole
from ltn.core import Formula, Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import batches
from ltn.evaluation.evaluation import groups_of
from ltn.evaluation.plan import samples_in
from ltn.evaluation.table import PlanTable
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.data import Data
from ltn.knowledge.questions import Knowledge, Question
from ltn.knowledge.satisfaction import note, satisfaction
from ltn.knowledge.tallies import combinations_within, tallies
from ltn.language import Node, Quantifier
from ltn.language.names import PLAIN
from ltn.language.quantifier import draws_samples
from ltn.language.statements import Diagonals
from ltn.semantics import BaseSemantics
from ltn.theory.report_frames import Report


class ReportedTheory(Knowledge, Protocol):
    """What reports need of a theory: knowledge, and how much is evaluated at once."""

    @property
    def chunk(self) -> int | None: ...

    @property
    def memory_limit(self) -> int: ...


def query(
    theory: ReportedTheory,
    formula: str | Node,
    data: Data | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> Formula | Term:
    """The truth of a formula, or the value of a term, one for each combination of its free variables.

    Args:
        formula: the text of a formula (truth query) or of a term (value query). Behind it may stand which
            free variables share an axis, as in `digit(x, d) for diag(x, d)`: the i-th value is then that
            of the i-th individual of each.
        data: unseen individuals for variables, by name; they need not have the same number. Of a
            `tf.data.Dataset` or `keras.utils.PyDataset` of batches: all rows, which must have an end.
        semantics: other operators than those of training.
        p: the `p` of both quantifiers, where the text sets none.
        sample: how many tuples quantifiers draw, those that are written with `sample`; or the outermost ones,
            where none of the formula is. By default all are taken.
        named: further data by the name of the variable, or hyper-parameters, such as `p_forall=5`.

    Returns:
        A `Formula` or a `Term` over the free variables in order of appearance; `.to_frame()` labels
        it with the names of variables and individuals.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> towns = theory.domain("towns", values=["Rome", "Seoul"])
    >>> u = theory.variable("u", towns)
    >>> P = theory.predicate("large", towns, lambda town: town > 0.5)
    >>> theory.query("large(u)").to_frame()
           truth
    u
    Rome     0.0
    Seoul    1.0
    """
    return questions.answer(
        theory, formula, Question(data, semantics, p, named, sample), theory.chunk, theory.memory_limit
    )


def report(
    theory: ReportedTheory,
    data: Data | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    sample: int | None = None,
    **named: Any,
) -> pd.DataFrame:
    """A table of the axioms: `axiom`, `satisfaction`, `violated`, `weight`, `formula`, on all of the data.

    `violated` is the share of the groundings of the axiom, as `violations` finds them, whose truth is below
    0.5, whatever they weigh. What takes more than `theory.memory_limit` bytes is evaluated in batches, here,
    by `query`, by `explain` and by `rank`, with the same values. The arguments are those of `query`; of a
    data set all rows are taken, one batch after the other, with the weights that it yields. In a notebook the
    table has bars; printed, its formulas are cut to the width that pandas prints.
    """
    axioms, question = theory.axiom_list, Question(data, semantics, p, named, sample)
    evaluation = questions.evaluation_for(theory, question, theory.chunk)
    options_of = partial(questions.options_of, theory, question=question)
    # What fits is evaluated in one plan, so that networks run once.
    most, limit = theory.chunk, theory.memory_limit
    written = [(axiom.tree, options_of(axiom)) for axiom in axioms if axiom.tree is not None]
    trees, options = [tree for tree, _ in written], [own for _, own in written]
    if most is None and not batches.are_small(evaluation, trees, options, limit):
        most = combinations_within(limit)
    counted, _ = tallies(axioms, options_of, evaluation, most=most)
    known = [tally.value for tally in counted if tally.value is not None]
    are_known = len(known) == len(axioms)
    found = satisfaction(axioms, options_of, evaluation, limit=limit, known=known if are_known else None)
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
    prepared = evaluation.space.prepare(tree)
    found = batches.least_true(evaluation, prepared, own, tree, worst, theory.memory_limit)
    columns = {
        variable: questions.shown_individuals(evaluation.groundings, variable, places)
        for variable, places in found.places.items()
    }
    return pd.DataFrame(columns | {"truth": found.truths})


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
    draws = any(draws_samples(tree) for tree, _ in pairs) or any(map(samples_in, options))
    evaluation = questions.evaluation_for(theory, question, theory.chunk, as_trained=draws)
    with as_written():
        return evaluation.tabulate([node for node, _ in pairs], options)
