"""Formulas whose quantifiers draw samples: where the text tells how many, and where somebody else does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ltn.language.names import COUNTING
from ltn.language.quantifier import Quantifier
from ltn.language.tree import Node, fold
from ltn.language.writing_out import with_children


def with_samples(formula: Node, samples: Mapping[str, int]) -> Node:
    """The formula in which quantifiers draw so many tuples, by their kind; what is written stays.

    >>> from ltn.language import parse
    >>> with_samples(parse("forall x: exists[sample=5] y: P(x, y)"), {"forall": 9, "exists": 9})
    Quantifier('forall[sample=9] x: exists[sample=5] y: P(x, y)')
    """

    def combine(node: Node, below: tuple[Node, ...]) -> Node:
        node = with_children(node, below)
        draws = isinstance(node, Quantifier) and node.kind in samples and node.sample is None
        return _drawing(node, samples[node.kind]) if draws and isinstance(node, Quantifier) else node

    return fold(formula, combine) if samples else formula


def with_sample_outside(formula: Node, most: int) -> Node:
    """The formula in which its outermost quantifiers draw so many tuples, but for those that count.

    >>> from ltn.language import parse
    >>> with_sample_outside(parse("A & forall x: exists y: P(x, y)"), 9)
    And('A & forall[sample=9] x: exists y: P(x, y)')
    """

    def below(node: Node) -> tuple[Node, ...]:
        return () if isinstance(node, Quantifier) else node.children

    def combine(node: Node, found: tuple[Node, ...]) -> Node:
        if not isinstance(node, Quantifier):
            return with_children(node, found)
        return node if node.kind in COUNTING else _drawing(node, most)

    return fold(formula, combine, below=below)


def _drawing(node: Quantifier, most: int) -> Quantifier:
    return replace(node, options=(("sample", float(most)), *node.options))
