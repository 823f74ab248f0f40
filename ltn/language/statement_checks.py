"""Checking definitions, and the diagonals of questions."""

from __future__ import annotations

from typing import TypeVar, cast

from ltn.language.checking import free_occurrences, places, sort_within
from ltn.language.diagnostics import Complaints, quote
from ltn.language.parser import with_text
from ltn.language.sorts import Vocabulary
from ltn.language.statements import Definition, Diagonals
from ltn.language.syntax import Apply, Quantifier

S = TypeVar("S", Definition, Diagonals)


def check_head(vocabulary: Vocabulary, definition: Definition, text: str = "") -> None:
    """Raise unless the name of the definition is free, and its variables have domains."""
    node, text = _read(definition, text)
    complaints = Complaints(vocabulary, text)
    kind = vocabulary.kind(node.name)
    if kind is not None:
        complaints.of_value(f"'{node.name}' cannot be defined: it is already a {kind}.", node.name_span)
    names = [parameter.name for parameter in node.parameters]
    for name, domain, span, domain_span in node.parameters:
        kind = vocabulary.kind(name)
        if names.count(name) > 1:
            complaints.of_value(f"'{node.name}' has the variable '{name}' twice.", span)
        if kind not in ("variable", None):
            complaints.of_type(f"A definition has variables in its head; '{name}' is a {kind}.", span)
        if domain is not None and domain not in vocabulary.domains:
            complaints.of_name(domain, "domain", list(vocabulary.domains), domain_span)
        if domain is None and kind is None:
            complaints.of_value(
                f"There is no variable '{name}': declare it, or tell its domain, as in `({name}: people)`.",
                span,
            )
        if kind == "variable" and domain not in (None, vocabulary.variables[name].name):
            complaints.of_value(
                f"The variable '{name}' is declared, of the domain '{vocabulary.variables[name].name}': "
                "choose another name.",
                span,
            )


def check_definition(vocabulary: Vocabulary, definition: Definition, text: str = "") -> None:
    """Raise unless the definition is well formed; its variables are declared in the vocabulary."""
    node, text = _read(definition, text)
    complaints = Complaints(vocabulary, text)
    names = [parameter.name for parameter in node.parameters]
    for inner in node.body.walk():
        if isinstance(inner, Apply) and inner.symbol == node.name:
            complaints.of_value(
                f"'{node.name}' is defined by itself; a definition cannot be recursive.", inner.symbol_span
            )
    if not sort_within(vocabulary, node.body, complaints, names).is_formula:
        complaints.of_type(f"A definition names a formula; {quote(node.body)} is a term.", node.body)
    free = free_occurrences(vocabulary, node.body)
    for variable, place in free.items():
        if variable not in names:
            complaints.of_value(
                f"The variable '{variable}' is free in the definition of '{node.name}': bind it by a "
                f"quantifier, or name it in the head.",
                place,
            )
    for parameter in node.parameters:
        if parameter.name not in free:
            complaints.of_value(
                f"The variable '{parameter.name}' does not occur in the body: leave it out.", parameter.span
            )


def check_diagonals(vocabulary: Vocabulary, question: Diagonals, text: str = "") -> None:
    """Raise unless the diagonals pair free variables of the question, each once."""
    node, text = _read(question, text)
    complaints = Complaints(vocabulary, text)
    free = free_occurrences(vocabulary, node.body)
    bound = {name for each in node.body.walk() if isinstance(each, Quantifier) for name in each.variables}
    for position, (variable, span) in enumerate(places(node)):
        if vocabulary.kind(variable) is None:
            complaints.of_name(variable, "variable", list(vocabulary.variables), span)
        if vocabulary.kind(variable) != "variable":
            complaints.of_type(
                f"A diagonal pairs variables; '{variable}' is a {vocabulary.kind(variable)}.", span
            )
        if variable not in free:
            why = "is bound" if variable in bound else "does not occur"
            complaints.of_value(
                f"A diagonal pairs free variables; '{variable}' {why} in {quote(node.body)}.", span
            )
        if variable in node.variables[:position]:
            complaints.of_value(f"The variable '{variable}' stands twice in the diagonals.", span)


def _read(statement: S, text: str) -> tuple[S, str]:
    """The statement and the text that its spans refer to."""
    found, text = with_text(statement, text)
    return cast(S, found), text
