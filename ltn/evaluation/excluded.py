"""What a guard of negations excludes: the few combinations for which it does not hold.

Under `where ~known(x, y) & x != y` most combinations are left. Those that are not are the rows of the
relation, and the pairs of equal individuals: they are joined, and never searched for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ltn.evaluation.frames import Frame, Places
from ltn.evaluation.guards import Guard, Joined
from ltn.evaluation.guards.strategy import parts_of
from ltn.evaluation.joins import JoinTable, distinct, join
from ltn.evaluation.planner import Planner
from ltn.language import And, Comparison, Name, Node, Not


def excluded_by(planner: Planner, node: Node, frame: Frame, order: Sequence[str]) -> NDArray[np.int64] | None:
    """The numbers of the combinations that a guard excludes, row-major along axes in this order, ascending.

    None where the guard is not made of negated relations, and of `!=`, about all of these axes, whose
    individuals are known and lie on no tuples.
    """
    guard = Guard(planner, node, frame)
    if any(planner.frames.tuples(axis) for axis in order):
        return None
    if not all(guard.has_known_axis(variable) for variable in frame):
        return None
    sizes = [planner.groundings.count(planner.frames.groups[axis][0]) or 0 for axis in order]
    numbers = [np.zeros(0, np.int64)]
    for conjunct in guard.conjuncts:
        if guard.labels(conjunct) != set(order):
            return None
        columns = _rows(guard, conjunct)
        if columns is None:
            return None
        number = np.zeros(len(columns[order[0]]), np.int64)
        for axis, size in zip(order, sizes, strict=True):
            number = number * size + columns[axis]
        numbers.append(number)
    return distinct(np.concatenate(numbers)) if math.prod(sizes) < 2**62 else None


def _rows(guard: Guard, conjunct: Node) -> dict[str, Places] | None:
    """Where the combinations for which a conjunct does not hold are on each axis; None if it is not told."""
    inner = conjunct.operand if isinstance(conjunct, Not) else None
    sign = "=" if inner is not None else "!="
    equality = conjunct if inner is None else inner
    if isinstance(equality, Comparison) and equality.operator == sign:
        return _equal(guard, equality.left, equality.right)
    if inner is None:
        return None
    joined = Joined.find(Guard(guard.planner, inner, guard.frame))
    if joined is None or not joined.is_known or len(joined.conjuncts) < len(parts_of(inner, And)):
        return None
    return dict(joined.known or {})


def _equal(guard: Guard, left: Node, right: Node) -> dict[str, Places] | None:
    """The pairs of individuals with equal features, for two variables over fixed individuals."""
    tables = []
    for side in (left, right):
        if not isinstance(side, Name) or side.name not in guard.frame:
            return None
        features, places = guard.planner.signature.variables[side.name].features, guard.places(side.name)
        if features is None or places is None:
            return None
        # Individuals with equal features have one number.
        flat = features.reshape(len(features), -1) + np.float32(0.0)
        _, number = np.unique(flat, axis=0, return_inverse=True)
        label = guard.frame[side.name]
        place = np.arange(len(places))
        # The name of a column that no axis has.
        tables.append(JoinTable(str(side), {label: place, ("number",): number.reshape(-1)[places]}))
    found = join(tables).columns
    return {axis: places for axis, places in found.items() if isinstance(axis, str)}
