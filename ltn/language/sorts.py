"""Sorts: whether an expression is a formula or a term, and of which shape and domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ltn.language.domains import Domain
from ltn.language.names import BUILT_INS
from ltn.language.shapes import NUMBER, Shape, broadcast
from ltn.language.syntax import Apply, Arithmetic, Name, Negative, Number
from ltn.language.tree import Node, fold
from ltn.language.vocabulary import Vocabulary


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
    return fold(node, lambda node, below: sort_above(vocabulary, node, below), below=_deciding)


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
        case Arithmetic():
            return Sort(broadcast(below[0].shape or NUMBER, below[1].shape or NUMBER))
    return FORMULA


def _deciding(node: Node) -> Sequence[Node]:
    """The nodes below on whose sorts that of the node depends."""
    match node:
        case Negative() | Arithmetic():
            return node.children
        case Apply(symbol=symbol) if symbol in BUILT_INS:
            return node.children
    return ()
