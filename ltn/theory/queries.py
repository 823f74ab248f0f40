"""Queries: truth and value queries of the paper, on a theory's own groundings or on unseen data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ltn import semantics as semantics_module
from ltn.core import Formula, Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.plan import Options
from ltn.evaluation.spaces import space_of
from ltn.language import Node, parse
from ltn.language.quantifiers import QUANTIFIERS
from ltn.semantics import BaseSemantics
from ltn.theory import data as data_module
from ltn.theory.axioms import Axiom

if TYPE_CHECKING:
    from ltn.theory.theory import Theory


def answer(theory: Theory, query: str | Node, asked: Question) -> Formula | Term:
    """The grounding of a formula or a term over its free variables, in order of appearance."""
    tree = parsed(theory, query)
    evaluation = evaluation_for(theory, asked, theory.chunk)
    space = evaluation.space
    is_formula = theory.signature.sort_of(tree).is_formula
    [value] = evaluation.ground([space.prepared(tree) if is_formula else tree])
    if is_formula:
        value = Formula(space.truth(value.tensor), value.free_vars)
    value.individuals = {
        label: names for label in value.free_vars if (names := evaluation.groundings.names(label)) is not None
    }
    return value


def parsed(theory: Theory, query: str | Node) -> Node:
    """The tree of a query, checked against the signature."""
    if not isinstance(query, str | Node):
        raise LogicTypeError(f"A query is text, or a syntax tree; got {query!r}.")
    tree = parse(query) if isinstance(query, str) else query
    theory.signature.check(tree, query if isinstance(query, str) else "")
    return tree


class Question(NamedTuple):
    """How something is asked: on which data, and with which operators.

    `named` holds hyper-parameters of the operators, and data of variables.
    """

    data: Mapping[str, Any] | None
    semantics: BaseSemantics | str | None
    p: float | None
    named: Mapping[str, Any]


def with_tensors(theory: Theory, asked: Question) -> Question:
    """The question with its data checked, and as tensors: compiled code takes arrays for constants."""
    hyperparameters, data = _settings_and_data(theory, asked)
    return asked._replace(data=data_module.checked(theory.signature, data), named=hyperparameters)


def evaluation_for(theory: Theory, asked: Question, chunk: int | None = None) -> Evaluation:
    """An evaluation for a question: on data given by name, perhaps with other operators than in training."""
    operators = _operators(theory, asked)
    hyperparameters, data = _settings_and_data(theory, asked)
    if asked.p is not None:
        known = operators.hyperparameters()
        quantifiers = {f"p_{kind}": asked.p for kind in QUANTIFIERS if f"p_{kind}" in known}
        if not quantifiers:
            aggregators = (str(getattr(operators, kind.operator)) for kind in QUANTIFIERS.values())
            raise LogicValueError(f"The quantifiers {', '.join(aggregators)} have no `p`.")
        hyperparameters = quantifiers | hyperparameters
    space = space_of(operators.with_hyperparameters(**hyperparameters))  # type: ignore[arg-type]
    table = data_module.checked(theory.signature, data)
    return theory.evaluation(space, table, other_operators=asked.semantics is not None, chunk=chunk)


def _operators(theory: Theory, asked: Question) -> BaseSemantics:
    return theory.semantics if asked.semantics is None else semantics_module.get(asked.semantics)


def _settings_and_data(theory: Theory, asked: Question) -> tuple[dict[str, Any], dict[str, Any]]:
    """The hyper-parameters that were given by name, and all data."""
    data = data_module.as_mapping(asked.data or {})
    known = _operators(theory, asked).hyperparameters()
    hyperparameters = {name: value for name, value in asked.named.items() if name in known}
    groundings = {name: value for name, value in asked.named.items() if name not in known}
    twice = [name for name in groundings if name in data]
    if twice:
        raise LogicValueError(f"Data came twice for {', '.join(twice)}.")
    return hyperparameters, {**data, **groundings}


def options_of(theory: Theory, axiom: Axiom, asked: Question) -> Options:
    """What was set for the quantifiers of an axiom alone, as far as the question does not set it itself."""
    if asked.semantics is not None or asked.p is not None:
        return {}
    return {
        kind: {name: value for name, value in options.items() if f"{name}_{kind}" not in asked.named}
        for kind, options in theory.options_of(axiom).items()
    }
