"""What a theory says of itself: in one line, in sections, and as a page of a notebook."""

from __future__ import annotations

import math
from typing import Any

from ltn.knowledge.axiom_tables import axiom_table, origin_of
from ltn.knowledge.axioms import KnowledgeBase
from ltn.language import Domain
from ltn.language.names import written
from ltn.markup import Markup, element, join, table

# How many symbols of a kind, and how many axioms, a page shows.
_MOST_SYMBOLS, _MOST_AXIOMS = 40, 200


def description(name: str, knowledge: KnowledgeBase) -> str:
    """A theory in one line."""
    signature = knowledge.signature
    counts = {
        "domain": len(signature.domains),
        "constant": len(signature.constants),
        "variable": len(signature.variables),
        "function": len(signature.functions),
        "predicate": len(knowledge.language.symbols) - len(signature.functions),
        "relation": len(knowledge.language.known),
        "proposition": len(signature.propositions),
        "definition": len(signature.definitions),
        "axiom": len(knowledge.axiom_list),
    }
    parts = [f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items() if count]
    return f"<Theory '{name}': {', '.join(parts) or 'empty'}>"


def summary(name: str, parameters: int, knowledge: KnowledgeBase) -> str:
    """The sections of a theory, with its number of parameters and that of each symbol."""
    axioms = [
        f"{axiom.name}: {axiom}"
        + (f"  (weight {knowledge.weight_of(axiom):g})" if axiom.weight != 1.0 else "")
        for axiom in knowledge.axiom_list
    ]
    operators = [f"{symbol}: {operator}" for symbol, operator in vars(knowledge.plain_semantics).items()]
    lines = [f"Theory '{name}', {parameters} parameters"]
    for title, entries in {"Operators": operators, **_symbols(knowledge), "Axioms": axioms}.items():
        if entries:
            lines += [f"{title}:", *(f"  {entry}" for entry in entries)]
    return "\n".join(lines)


def page(name: str, parameters: int, knowledge: KnowledgeBase) -> Markup:
    """A theory for a notebook: domains, symbols, and axioms with their satisfaction as measured last.

    Nothing is evaluated for it: networks may take long, and axioms may need data.
    """
    rows = [
        [element("th", title), join(_first(entries, _MOST_SYMBOLS), "<br>")]
        for title, entries in _symbols(knowledge).items()
        if entries
    ]
    parts = [element("p", element("b", f"Theory '{name}'"), f", {parameters} parameters")]
    parts += [table([], rows)] if rows else []
    axioms = knowledge.axiom_list
    if axioms:
        more = len(axioms) - _MOST_AXIOMS
        left_out = f" {more} more axioms are not shown." if more > 0 else ""
        parts += [axiom_table(axioms[:_MOST_AXIOMS]), element("p", origin_of(axioms) + left_out)]
    return element("div", *parts)


def _symbols(knowledge: KnowledgeBase) -> dict[str, list[str]]:
    """What is declared, a line for each symbol, by kind."""
    language, signature = knowledge.language, knowledge.signature
    return {
        "Domains": [_domain(domain) for domain in signature.domains.values()],
        "Constants": [
            f"{_shorten(list(table.names))}: {table.domain.name}"
            + (f", {_count(table)} parameters" if table.trainable else ", given")
            for table in language.individuals
        ],
        "Variables": [f"{name}: {domain.name}" for name, domain in signature.variables.items()],
        "Functions": [
            f"{_head(name, inputs)}: {output.name}, {_count(language.symbols[name])} parameters"
            for name, (inputs, output) in signature.functions.items()
        ],
        "Predicates": [
            f"{_head(name, inputs)}, {_count(language.symbols[name])} parameters"
            for name, inputs in signature.predicates.items()
            if name in language.symbols
        ],
        "Relations": [f"{relation.heading}, {relation.size}" for relation in language.known.values()],
        "Propositions": [
            f"{name}{', learned' if proposition.trainable else ''}"
            for name, proposition in language.propositions.items()
        ],
        "Definitions": [str(definition) for definition in signature.definitions.values()],
    }


def _domain(domain: Domain) -> str:
    individuals = "" if domain.names is None else f", individuals {_shorten(list(domain.names))}"
    bounds = "" if domain.bounds is None else f", bounds {domain.bounds}"
    equality = "" if domain.equality == "strict" else f", equality exp(-{domain.alpha:g} distance)"
    return f"{domain.name}: shape {domain.shape}{individuals}{bounds}{equality}"


def _head(symbol: str, inputs: tuple[Domain, ...]) -> str:
    return f"{written(symbol)}({', '.join(domain.name for domain in inputs)})"


def _first(entries: list[str], most: int) -> list[str]:
    return entries if len(entries) <= most else [*entries[:most], f"and {len(entries) - most} more"]


def _shorten(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])


def _count(layer: Any) -> int:
    return sum(math.prod(weight.shape) for weight in layer.trainable_weights)
