"""Negation normal form: negations on atoms, and on quantifiers that count, only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ltn.errors import LogicTypeError
from ltn.language.names import QUANTIFIERS
from ltn.language.syntax import And, Apply, Binary, Comparison, Iff, Implies, Name, Not, Or, Quantifier, Xor
from ltn.language.tree import Node, fold


class _Both(NamedTuple):
    """The normal forms of a formula and of its negation."""

    holds: Node
    fails: Node


def negation_normal_form(node: Node) -> Node:
    """The formula without `->`, `<->` and `xor`, its negations on atoms and on counts only.

    `a -> b` becomes `~a | b`, `a <-> b` becomes `(~a | b) & (~b | a)`, and `a xor b` becomes
    `(a | b) & (~a | ~b)`; negations move inward by the laws of De Morgan and the duality of the quantifiers,
    whose guards and options stay. A quantifier that counts keeps its negation before it. Classically the
    result is equivalent; in Real Logic only under operators that have these laws. Nested equivalences, and
    nested `xor`, make it exponentially large.

    >>> from ltn.language import parse
    >>> print(negation_normal_form(parse("~forall x where x > 0: P(x) -> Q(x)")))
    exists x where x > 0: P(x) & ~Q(x)
    """
    return fold(node, _combine, below=_formulas_below).holds


def _formulas_below(node: Node) -> Sequence[Node]:
    match node:
        case Quantifier():
            return (node.body,)
        case Not() | Binary():
            return node.children
    return ()


def _combine(node: Node, below: tuple[_Both, ...]) -> _Both:
    span = node.span
    match node, below:
        case Name() | Apply() | Comparison(), _:
            return _Both(node, Not(node, span=span))
        case Not(), (operand,):
            # Before an atom or a count it stays.
            stays = isinstance(operand.fails, Not) and operand.fails.operand is node.operand
            return _Both(node if stays else operand.fails, operand.holds)
        case And(), (a, b):
            return _Both(_keep(node, a.holds, b.holds), Or(a.fails, b.fails, span=span))
        case Or(), (a, b):
            return _Both(_keep(node, a.holds, b.holds), And(a.fails, b.fails, span=span))
        case Implies(), (a, b):
            return _Both(Or(a.fails, b.holds, span=span), And(a.holds, b.fails, span=span))
        case Iff(), (a, b):
            there = Or(a.fails, b.holds, span=span), And(a.holds, b.fails, span=span)
            back = Or(b.fails, a.holds, span=span), And(b.holds, a.fails, span=span)
            return _Both(And(there[0], back[0], span=span), Or(there[1], back[1], span=span))
        case Xor(), (a, b):
            some = Or(a.holds, b.holds, span=span), And(a.fails, b.fails, span=span)
            not_all = Or(a.fails, b.fails, span=span), And(a.holds, b.holds, span=span)
            return _Both(And(some[0], not_all[0], span=span), Or(some[1], not_all[1], span=span))
        case Quantifier(), (body,):
            holds = node if body.holds is node.body else replace(node, body=body.holds)
            dual = QUANTIFIERS[node.kind].dual
            # A count is of what holds: there is no count of what fails that would be its negation.
            fails = Not(holds, span=span) if dual is None else replace(node, kind=dual, body=body.fails)
            return _Both(holds, fails)
    raise LogicTypeError(f"Only formulas have a negation normal form; `{node}` is a term.")


def _keep(node: Binary, left: Node, right: Node) -> Node:
    """The node with other operands: itself if they are its own.

    Equal trees that are not the same are compared from top to bottom; a deep one is, at each of its nodes.
    """
    return node if left is node.left and right is node.right else replace(node, left=left, right=right)
