"""Guards: which tuples of individuals they select.

Each strategy finds the tuples of some conjuncts of a guard; those that are left filter what it found. The
first strategy that applies is taken. A further one is a class in a file of its own, and a line here.
"""

from __future__ import annotations

from ltn.evaluation.frames import Frame
from ltn.evaluation.guards.fixed import Fixed
from ltn.evaluation.guards.lookup import LookedUp
from ltn.evaluation.guards.search import Filtered, Searched
from ltn.evaluation.guards.strategy import Guard, Strategy
from ltn.evaluation.planner import Planner
from ltn.language import Node

STRATEGIES: list[type[Strategy]] = [LookedUp, Fixed, Searched]


def select(planner: Planner, node: Node, frame: Frame) -> str:
    """The axis of the tuples that a guard selects from the axes of a frame; its label.

    Quantifiers with one guard in one frame share it, so that what they have in common is equal.
    """
    frames = planner.frames
    key = (node, tuple(sorted(frame.items())))
    label = frames.find(key)
    if label is not None:
        return label
    guard = Guard(planner, node, frame)
    strategy = next(found for kind in STRATEGIES if (found := kind.find(guard)) is not None)
    rest = [conjunct for conjunct in guard.conjuncts if conjunct not in strategy.conjuncts]
    if not rest:
        return frames.add(key, strategy.parents, frame, strategy.leading, strategy).label
    first = frames.add(("unfiltered", *key), strategy.parents, frame, None, strategy)
    labels = [label for node in rest for label in planner.restrict(frame, node).values()]
    others = [label for label in dict.fromkeys(labels) if label not in strategy.parents]
    origin = Filtered(first, rest, dict(frame), others)
    return frames.add(key, [*strategy.parents, *others], frame, strategy.leading, origin).label


__all__ = ["STRATEGIES", "Filtered", "Fixed", "Guard", "LookedUp", "Searched", "Strategy", "select"]
