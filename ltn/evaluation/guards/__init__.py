"""Guards: which tuples of individuals they select.

Each strategy finds the tuples of some conjuncts of a guard; those that are left filter what it found. The
first strategy that applies is taken. A further one is a class in a file of its own, and a line here.
"""

from __future__ import annotations

import functools

from ltn.evaluation.frames import Frame, Tuples
from ltn.evaluation.guards.complement import Complement, excluded_by
from ltn.evaluation.guards.fixed import Fixed
from ltn.evaluation.guards.joined import Joined
from ltn.evaluation.guards.lookup import LookedUp
from ltn.evaluation.guards.search import Filtered, Searched
from ltn.evaluation.guards.strategy import Guard, Strategy
from ltn.evaluation.planner import Planner
from ltn.language import And, Node

STRATEGIES: list[type[Strategy]] = [Joined, LookedUp, Complement, Fixed, Searched]


def select(planner: Planner, node: Node, frame: Frame) -> str:
    """The axis of the tuples that a guard selects from the axes of a frame; its label.

    Quantifiers with one guard in one frame share it, so that what they have in common is equal.
    """
    key = (node, tuple(sorted(frame.items())))
    label = planner.frames.find(key)
    if label is not None:
        return label
    first, rest = _unfiltered(planner, node, frame)
    if not rest:
        return first.label
    labels = [label for node in rest for label in planner.restrict(frame, node).values()]
    others = [label for label in dict.fromkeys(labels) if label not in first.parents]
    origin = Filtered(first, rest, dict(frame), others)
    parents = [*first.parents, *others]
    return planner.frames.add(
        key, parents, frame, first.leading, origin, first.known, sparse=first.sparse
    ).label


def select_known(planner: Planner, node: Node, frame: Frame) -> tuple[str, Node | None] | None:
    """The axis of tuples that a guard with relations selects once for all, and the guard that is left of it.

    None where the tuples depend on what an evaluation is given.
    """
    guard = Guard(planner, node, frame)
    if not guard.has_relations(guard.conjuncts):
        return None
    first, rest = _unfiltered(planner, node, frame)
    return (first.label, functools.reduce(And, rest) if rest else None) if first.is_known else None


def _unfiltered(planner: Planner, node: Node, frame: Frame) -> tuple[Tuples, list[Node]]:
    """The tuples that a strategy finds, and the conjuncts that it leaves."""
    key = ("unfiltered", node, tuple(sorted(frame.items())))
    guard = Guard(planner, node, frame)
    label = planner.frames.find(key)
    found = None if label is None else planner.frames.tuples(label)
    if found is None:
        strategy = next(one for kind in STRATEGIES if (one := kind.find(guard)) is not None)
        selected = (strategy.known, strategy.is_known, strategy.sparse)
        found = planner.frames.add(key, strategy.parents, frame, strategy.leading, strategy, *selected)
    return found, [conjunct for conjunct in guard.conjuncts if conjunct not in found.origin.conjuncts]


__all__ = [
    "STRATEGIES",
    "Complement",
    "Filtered",
    "Fixed",
    "Guard",
    "Joined",
    "LookedUp",
    "Searched",
    "Strategy",
    "excluded_by",
    "select",
    "select_known",
]
