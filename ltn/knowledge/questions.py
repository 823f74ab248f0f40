"""Questions: truth and value queries of the paper, on the declared individuals or on unseen data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from ltn import semantics as semantics_module
from ltn.checks import check_whole
from ltn.core import Formula, Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Evaluation, groups_of
from ltn.evaluation.groundings import ROW_WEIGHTS, Groundings, LabelledData
from ltn.evaluation.lacking import is_lacking
from ltn.evaluation.plan import Options, Sampling
from ltn.evaluation.spaces import Space, space_of
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.data import Data, check_aligned, labels_in, read_batch
from ltn.knowledge.datasets import all_rows
from ltn.knowledge.seeds import Seeds
from ltn.language import Node, Signature, parse
from ltn.language.names import QUANTIFIERS
from ltn.language.statements import Diagonals
from ltn.semantics import BaseSemantics


class Knowledge(Protocol):
    """What a question is put to: a `KnowledgeBase`, or a theory that has one."""

    @property
    def signature(self) -> Signature: ...

    @property
    def semantics(self) -> BaseSemantics: ...

    @property
    def axiom_list(self) -> Sequence[Axiom]: ...

    def find(self, axiom: str | Axiom) -> Axiom: ...

    def weight_of(self, axiom: str | Axiom) -> float: ...

    def options_of(self, axiom: Axiom) -> Options: ...

    def tell_lacking(self, semantics: BaseSemantics, names: Iterable[str]) -> None: ...

    def evaluation(
        self,
        space: Space,
        data: Data,
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
        sampling: Sampling | None = None,
    ) -> Evaluation: ...

    @property
    def seeds(self) -> Seeds: ...


class Question(NamedTuple):
    """The data and the operators of a question.

    `named` holds hyper-parameters of the operators, and data of variables. `sample` is how many tuples the
    quantifiers draw that are written so; None for all.
    """

    data: Data | None
    semantics: BaseSemantics | str | None
    p: float | None
    named: Mapping[str, Any]
    sample: int | None = None


def answer(
    knowledge: Knowledge, query: str | Node, question: Question, chunk: int | None = None
) -> Formula | Term:
    """The grounding of a formula or a term over its free variables, in order of appearance."""
    tree = read_query(knowledge, query, diagonals=True)
    evaluation = evaluation_for(knowledge, question, chunk)
    [value] = evaluation.ground([tree])
    if knowledge.signature.check(tree).is_formula:
        value = Formula(evaluation.space.truth(value.tensor), value.free_vars)
    value.text = str(tree)
    groups = groups_of(knowledge.signature.free_variables(tree), tree)
    value.individuals = {
        label: names
        for label, group in zip(value.free_vars, groups, strict=True)
        if (names := _names_on_axis(evaluation.groundings, group)) is not None
    }
    return value


def _names_on_axis(groundings: Groundings, group: Sequence[str]) -> list[Any] | pd.MultiIndex | None:
    """What the individuals of a variable, or of those of a diagonal, are called."""
    if len(group) == 1:
        return groundings.names(group[0])
    return pd.MultiIndex.from_arrays([shown_individuals(groundings, name) for name in group], names=group)


def shown_individuals(groundings: Groundings, variable: str, rows: Any = slice(None)) -> list[Any]:
    """How individuals of a variable are shown: by name, as a number, or by their row."""
    names = groundings.names(variable)
    if names is None:
        individuals = groundings.variable(variable).numpy()
        is_number = groundings.signature.variables[variable].shape == (1,)
        names = (individuals[:, 0] if is_number else np.arange(len(individuals))).tolist()
    return names[rows] if isinstance(rows, slice) else [names[row] for row in rows]


def read_query(knowledge: Knowledge, query: str | Node, diagonals: bool = False) -> Node:
    """The tree of a query, checked against the signature; `diagonals` tells whether it may ask for some."""
    if not isinstance(query, str | Node):
        raise LogicTypeError(f"A query is text, or a syntax tree; got {query!r}.")
    tree = parse(query) if isinstance(query, str) else query
    knowledge.signature.check(tree, query if isinstance(query, str) else "")
    if isinstance(tree, Diagonals) and not diagonals:
        raise LogicValueError(
            f"`{tree}`: diagonals are for queries, plans and explanations; leave out `for ...`."
        )
    return tree


def read_formula(
    knowledge: Knowledge, formula: str | Node | Axiom, what: str, diagonals: bool = False
) -> tuple[Node, Axiom | None]:
    """The tree of a formula, and its axiom if there is one; an axiom may be given by its name.

    `what` names what is wanted of the formula, for the error about an axiom that is Python code; `diagonals`
    tells whether it may ask for some.
    """
    if isinstance(formula, str):
        named = {axiom.name: axiom for axiom in knowledge.axiom_list}
        # A proposition may have the name of an axiom: then the proposition is meant.
        formula = formula if formula in knowledge.signature.propositions else named.get(formula, formula)
    if not isinstance(formula, Axiom):
        return read_query(knowledge, formula, diagonals), None
    axiom = knowledge.find(formula)
    if axiom.tree is None:
        raise LogicValueError(f"The axiom '{axiom.name}' is Python code: only formulas have {what}.")
    return axiom.tree, axiom


def with_tensors(knowledge: Knowledge, question: Question) -> Question:
    """The question with its data checked, and as tensors: compiled code would take arrays as constants."""
    hyperparameters, data = _settings_and_data(knowledge, question)
    return question._replace(data=read_batch(knowledge.signature, data), named=hyperparameters)


def evaluation_for(
    knowledge: Knowledge, question: Question, chunk: int | None = None, as_trained: bool = False
) -> Evaluation:
    """An evaluation for a question: on data given by name, perhaps with other operators than in training.

    `as_trained` lets quantifiers draw the samples that are written where the question asks for none.
    """
    operators = _operators(knowledge, question)
    hyperparameters, data = _settings_and_data(knowledge, question)
    if question.p is not None:
        known = operators.hyperparameters()
        quantifiers = {f"p_{kind}": question.p for kind in QUANTIFIERS if f"p_{kind}" in known}
        if not quantifiers:
            raise LogicValueError(f"The quantifiers {operators.Forall}, {operators.Exists} have no `p`.")
        hyperparameters = quantifiers | hyperparameters
    space = space_of(operators.with_hyperparameters(**hyperparameters))
    batch = LabelledData(read_batch(knowledge.signature, data), labels_in(data))
    if ROW_WEIGHTS in batch:
        check_aligned(batch)
    sampling = None
    if as_trained or question.sample is not None:
        most = question.sample
        if most is not None:
            most = check_whole("sample", most, "a number of tuples", otherwise=", or None for all")
        sampling = knowledge.seeds.for_question(most)
    return knowledge.evaluation(
        space, batch, other_operators=question.semantics is not None, chunk=chunk, sampling=sampling
    )


def options_of(knowledge: Knowledge, axiom: Axiom, question: Question) -> Options:
    """What was set for the quantifiers of an axiom alone, unless the question sets it itself."""
    if question.semantics is not None or question.p is not None:
        return {}
    return {
        kind: {name: value for name, value in options.items() if f"{name}_{kind}" not in question.named}
        for kind, options in knowledge.options_of(axiom).items()
    }


def has_own_operators(knowledge: Knowledge, question: Question) -> bool:
    """Whether a question is answered under the operators of the theory, as they are."""
    known = knowledge.semantics.hyperparameters()
    return question.semantics is None and question.p is None and known.keys().isdisjoint(question.named)


def _operators(knowledge: Knowledge, question: Question) -> BaseSemantics:
    return knowledge.semantics if question.semantics is None else semantics_module.get(question.semantics)


def _settings_and_data(knowledge: Knowledge, question: Question) -> tuple[dict[str, Any], dict[str, Any]]:
    """The hyper-parameters that were given by name, and all data."""
    data = all_rows(knowledge.signature, question.data)
    operators = _operators(knowledge, question)
    known = operators.hyperparameters()
    variables = knowledge.signature.variables
    lacking = [name for name in question.named if is_lacking(operators, name) and name not in variables]
    knowledge.tell_lacking(operators, lacking)
    hyperparameters = {name: value for name, value in question.named.items() if name in known}
    others = (*known, *lacking)
    named_data = {name: value for name, value in question.named.items() if name not in others}
    twice = [name for name in named_data if name in data]
    if twice:
        raise LogicValueError(f"Data came twice for {', '.join(twice)}.")
    return hyperparameters, {**data, **named_data}
