"""Queries: truth and value queries of the paper, on a theory's own groundings or on unseen data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ltn import semantics as semantics_module
from ltn.core import Formula, Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Node, parse
from ltn.semantics import LogSemantics, Semantics
from ltn.theory import data as data_module
from ltn.theory.axioms import Axiom
from ltn.theory.evaluation import Evaluation
from ltn.theory.hyperparameters import Options
from ltn.theory.spaces import space_of

if TYPE_CHECKING:
    from ltn.theory.theory import Theory


def answer(theory: Theory, query: str | Node, asked: Question) -> Formula | Term:
    """The grounding of a formula or a term over its free variables, in order of appearance."""
    tree = parsed(theory, query)
    evaluation = evaluation_for(theory, asked)
    space = evaluation.space
    is_formula = theory.signature.check(tree).is_formula
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
    semantics: Semantics | LogSemantics | str | None
    p: float | None
    named: Mapping[str, Any]


def evaluation_for(theory: Theory, asked: Question) -> Evaluation:
    """An evaluation for a question: on data given by name, perhaps with other operators than in training."""
    data, semantics, p, named = asked
    operators = theory.semantics if semantics is None else semantics_module.get(semantics)
    known = operators.hyperparameters()
    hyperparameters = {name: value for name, value in named.items() if name in known}
    if p is not None:
        quantifiers = {name: p for name in ("p_forall", "p_exists") if name in known}
        if not quantifiers:
            raise LogicValueError(f"The quantifiers {operators.Forall}, {operators.Exists} have no `p`.")
        hyperparameters = quantifiers | hyperparameters
    groundings = {name: value for name, value in named.items() if name not in hyperparameters}
    twice = [name for name in groundings if data is not None and name in data]
    if twice:
        raise LogicValueError(f"Data came twice for {', '.join(twice)}.")
    table = data_module.checked(theory.signature, {**(data or {}), **groundings})
    space = space_of(operators.with_hyperparameters(**hyperparameters))
    return theory.evaluation(space, table, other_operators=semantics is not None)


def options_of(theory: Theory, axiom: Axiom, asked: Question) -> Options:
    """What was set for the quantifiers of an axiom alone, as far as the question does not set it itself."""
    if asked.semantics is not None or asked.p is not None:
        return {}
    return {
        kind: {name: value for name, value in options.items() if f"{name}_{kind}" not in asked.named}
        for kind, options in theory.options_of(axiom).items()
    }
