"""The individuals of a domain that a picture shows, and what formulas say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge import questions
from ltn.knowledge.datasets import all_rows
from ltn.language import Apply, Domain, Name, Node, text
from ltn.language.names import list_names
from ltn.language.rosters import Roster
from ltn.theory import Theory


def individuals_of(theory: Theory, domain: Domain) -> Roster:
    """Those that the domain was declared with, or its constants, learned ones as they are now."""
    if domain.names is not None and domain.features is not None:
        return Roster(domain.names, domain.features, domain.named)
    tables = [table for table in theory.individuals if table.domain.is_same(domain)]
    if not tables:
        raise LogicValueError(
            f"The domain '{domain.name}' has no individuals of its own to draw: declare its values, or "
            "constants with theory.constants(...)."
        )
    names = tuple(name for table in tables for name in table.names)
    features = np.concatenate([table.tensor.numpy() for table in tables])
    broken = [name for name, row in zip(names, features, strict=True) if not np.isfinite(row).all()]
    if broken:
        raise LogicValueError(
            f"Individuals of '{domain.name}' have features that are not finite: {list_names(broken)}. Train "
            "again with a smaller learning rate, or with other operators."
        )
    return Roster(names, features, named=True)


def check_theory(theory: Any) -> None:
    """Raise unless it is a theory."""
    if not isinstance(theory, Theory):
        raise LogicTypeError(f"A picture is of an ltn.Theory; got a {type(theory).__name__}: {theory!r}.")


def joined(theory: Theory, data: Any, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The data that were given, and what is drawn."""
    return {**all_rows(theory.signature, data), **drawn}


def find_domain(theory: Theory, domain: Domain | str) -> Domain:
    """The domain, which may be given by its name."""
    check_theory(theory)
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, str):
        raise LogicTypeError(f"`domain` is a domain of the theory, or its name; got {domain!r}.")
    if domain not in theory.signature.domains:
        known = list_names(list(theory.signature.domains)) or "none"
        raise LogicValueError(f"The theory has no domain {domain!r}; its domains are: {known}.")
    return theory.signature.domains[domain]


def read_formula(theory: Theory, formula: str | Node, count: int, what: str) -> tuple[Node, list[str]]:
    """The tree of a formula, and its free variables, of which there must be so many over one domain.

    The name of a predicate or definition stands for it on variables. `what` begins the message of an error,
    as "A graph shows".
    """
    check_theory(theory)
    tree = _applied(theory, formula) or questions.read_query(theory, formula)
    written = text(tree)
    if not theory.signature.sort_of(tree).is_formula:
        raise LogicTypeError(f"{what} the truth of a formula; `{written}` is a term.")
    free = theory.signature.free_variables(tree)
    number = {1: "one free variable", 2: "two free variables"}[count]
    if len(free) != count:
        raise LogicValueError(
            f"{what} a formula with {number}; `{written}` has {len(free)}{': ' if free else ''}"
            f"{', '.join(free)}. Quantify the others, or leave out a quantifier."
        )
    domains = [theory.signature.variables[variable] for variable in free]
    if not all(domain.is_same(domains[0]) for domain in domains):
        raise LogicValueError(
            f"{what} a formula with {number} over one domain; those of `{written}` are of the domains "
            f"{' and '.join(repr(domain.name) for domain in domains)}."
        )
    return tree, free


def truths_of(
    theory: Theory,
    tree: Node,
    free: Sequence[str],
    roster: Roster,
    data: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> np.ndarray:
    """The truths of a formula for individuals of its free variables, in their order."""
    answer = theory.query(tree, joined(theory, data, dict.fromkeys(free, roster.features)), **options)
    return np.asarray(answer.tensor, float)


def _applied(theory: Theory, formula: str | Node) -> Node | None:
    """A predicate or definition, given by its name, on declared variables; over one domain two of them."""
    signature = theory.signature
    if not isinstance(formula, str) or signature.kind(formula) not in ("predicate", "definition"):
        return None
    definition = signature.definitions.get(formula)
    known = signature.predicates.get(formula, ())
    domains = known if definition is None else signature.parameters(definition).values()
    chosen: list[str] = []
    for domain in domains:
        variables = [name for name, of in signature.variables.items() if of.is_same(domain)]
        free = [name for name in variables if name not in chosen]
        if not free:
            raise LogicValueError(
                f"The {signature.kind(formula)} '{formula}' is applied to variables of the domain "
                f"'{domain.name}', and the theory has too few: declare one with theory.variable(...)."
            )
        chosen.append(free[0])
    return Apply(formula, tuple(Name(name) for name in chosen))
