"""Sorts: whether an expression of a vocabulary is a formula or a term, and of which shape and domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ltn.language.domains import NUMBER, Domain, Shape, broadcast
from ltn.language.names import BUILT_INS
from ltn.language.statements import Definition, Diagonals
from ltn.language.syntax import Apply, Arithmetic, Name, Negative, Number
from ltn.language.tree import Node, fold


class Vocabulary(Protocol):
    """What a signature tells about names.

    A `Signature` checks trees too, so it stands above the modules that do the checking; they see only this.
    """

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The domains by name."""

    @property
    def constants(self) -> Mapping[str, Domain]:
        """The domain of each constant."""

    @property
    def variables(self) -> Mapping[str, Domain]:
        """The domain of each variable."""

    @property
    def functions(self) -> Mapping[str, tuple[tuple[Domain, ...], Domain]]:
        """The domains of the inputs, and the domain of the output, of each function."""

    @property
    def predicates(self) -> Mapping[str, tuple[Domain, ...]]:
        """The domains of the inputs of each predicate."""

    @property
    def relations(self) -> Mapping[str, None]:
        """The predicates whose truth is known, as keys."""

    @property
    def propositions(self) -> Mapping[str, None]:
        """The names of the propositions, as keys."""

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """The definitions by name, each after those that it uses."""

    def parameters(self, definition: Definition) -> dict[str, Domain]:
        """The variables of the head of a definition, with their domains."""

    def kind(self, name: str) -> str | None:
        """What the symbol is, or None."""

    def written(self, symbol: str) -> str:
        """How the function, predicate or definition is applied, as in `lives_in(people, towns)`."""


@dataclass(frozen=True)
class Sort:
    """A formula, or a term with the shape of its features and its domain.

    The `shape` of a formula is None. A term that is a number or the result of arithmetic has no domain.
    """

    shape: Shape | None = None
    domain: Domain | None = None

    @property
    def is_formula(self) -> bool:
        """Whether it is true to a degree, rather than an individual."""
        return self.shape is None


FORMULA = Sort()


def sort_of(vocabulary: Vocabulary, node: Node) -> Sort:
    """The sort of a node of a checked tree; only the terms that decide it are visited."""
    return fold(node, lambda node, below: sort_above(vocabulary, node, below), below=_deciding_nodes)


def sort_above(vocabulary: Vocabulary, node: Node, below: Sequence[Sort]) -> Sort:
    """The sort of a node of a checked tree, from those of the nodes below it."""
    match node:
        case Number():
            return Sort(NUMBER)
        case Name(name=name):
            domain = vocabulary.variables.get(name, vocabulary.constants.get(name))
            return FORMULA if domain is None else Sort(domain.shape, domain)
        case Apply(symbol=symbol) if symbol in vocabulary.functions:
            _, output = vocabulary.functions[symbol]
            return Sort(output.shape, output)
        case Apply(symbol=symbol) if symbol in BUILT_INS:
            return Sort(NUMBER if symbol == "norm" else below[0].shape)
        case Negative():
            return Sort(below[0].shape)
        case Diagonals():
            return below[0]
        case Arithmetic():
            return Sort(broadcast(below[0].shape or NUMBER, below[1].shape or NUMBER))
    return FORMULA


def _deciding_nodes(node: Node) -> Sequence[Node]:
    """The nodes below that decide the sort of the node."""
    match node:
        case Negative() | Arithmetic() | Diagonals():
            return node.children
        case Apply(symbol=symbol) if symbol in BUILT_INS:
            return node.children
    return ()
