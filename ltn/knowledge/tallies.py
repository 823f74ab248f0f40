"""Tallies: how many groundings of axioms are violated, which are the worst, and in which rows of the data.

A grounding of an axiom is a choice of individuals for the universal quantifiers at its front. It is violated
where what the axiom claims of it is less true than a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.evaluation.claims import Instances
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.groundings import ROW_WEIGHTS, Groundings
from ltn.evaluation.plan import Options
from ltn.evaluation.spaces import Space
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.satisfaction import call

# A grounding is violated where its truth is below, unless another threshold is asked for.
THRESHOLD = 0.5
# About how many bytes the values of one combination of individuals take, those of all formulas together.
_BYTES = 2**10

Columns = Mapping[str, NDArray[Any]]


class RowCounts:
    """In how many violations each row of the data takes part.

    Attributes:
        counts: a number for each row; None where the data are no rows.
        why: why they are none.
    """

    def __init__(self, groundings: Groundings):
        self._groundings = groundings
        sizes = {name: int(own.shape[0]) for name, own in groundings.data.items() if name != ROW_WEIGHTS}
        given = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        self.why = f"their columns differ: {given}" if sizes else "no data came"
        is_table = len(set(sizes.values())) == 1
        self.counts = np.zeros(next(iter(sizes.values())), np.int64) if is_table else None

    def add(self, places: Columns) -> None:
        """Count violations: for each variable, which of its individuals takes part in each of them."""
        if self.counts is None:
            return
        before: list[NDArray[Any]] = []
        for variable, own in places.items():
            if (self._groundings.source(variable) or ("", ""))[0] != "data":
                continue
            # One violation counts once for a row, for however many variables it stands.
            first = np.logical_and.reduce([own != other for other in before]) if before else slice(None)
            self.counts += np.bincount(own[first], minlength=len(self.counts))
            before.append(own)


class Tally:
    """What was found of one axiom.

    Attributes:
        groundings: how many it has.
        violations: how many of them are violated.
        unknown: how many of them have a truth that is not a number.
        variables: those of its universal quantifiers.
        places: by variable, which of its individuals each violation is about, of those that were kept.
        truths: their truths.
        parts: the truths of what the connectives of the axiom combine there, by its text.
        value: that of the axiom, in the space of the semantics; None where it was not computed.
    """

    def __init__(self, limit: int | None):
        self.value: tf.Tensor | None = None
        self.groundings = self.violations = self.unknown = 0
        self.variables: tuple[str, ...] = ()
        self.places: Columns = {}
        self.truths = np.zeros(0)
        self.parts: Columns = {}
        self._limit = limit

    @property
    def share(self) -> float:
        """The share of the groundings that is violated: 0 of none, not a number where truths are not."""
        return math.nan if self.unknown else self.violations / max(self.groundings, 1)

    def add(self, found: Instances, space: Space, threshold: float, rows: RowCounts) -> None:
        """Count the groundings of a slice, and keep the worst violations so far."""
        self.variables, self.value = tuple(found.frame), found.whole
        if not found.are_claimed:
            return
        truths = space.truth(found.values).numpy()
        below = truths < threshold
        self.groundings += truths.size
        self.violations += int(np.count_nonzero(below))
        self.unknown += int(np.count_nonzero(np.isnan(truths)))
        violated = np.flatnonzero(below if self._limit != 0 else [])
        if not len(violated):
            return
        if rows.counts is not None:
            rows.add(_places(found, _at(found, violated, truths.shape)))
        worst = truths.reshape(-1)[violated]
        kept = _least(worst, self._limit)
        at = _at(found, violated[kept], truths.shape)
        parts = {
            text: np.broadcast_to(
                space.truth(part.values).numpy()[tuple(at[axis] for axis in part.axes)], len(kept)
            )
            for text, part in found.parts.items()
        }
        self._keep(_places(found, at), worst[kept].astype(float), parts)

    def keep(self, limit: int) -> None:
        """Forget all but the worst `limit` violations, which are in order then."""
        kept = np.argsort(self.truths, kind="stable")[:limit]
        self.truths = self.truths[kept]
        self.places = {variable: own[kept] for variable, own in self.places.items()}
        self.parts = {text: own[kept] for text, own in self.parts.items()}

    def _keep(self, places: Columns, truths: NDArray[Any], parts: Columns) -> None:
        if len(self.truths):
            places = {name: np.concatenate([self.places[name], own]) for name, own in places.items()}
            parts = {name: np.concatenate([self.parts[name], own]) for name, own in parts.items()}
            truths = np.concatenate([self.truths, truths])
        self.places, self.truths, self.parts = places, truths, parts
        if self._limit is not None and len(truths) > 2 * self._limit:
            self.keep(self._limit)


def combinations_within(limit: int) -> int:
    """How many combinations of individuals are evaluated at once within about so many bytes."""
    return max(limit // _BYTES, 1)


def tallies(
    axioms: Sequence[Axiom],
    options_of: Callable[[Axiom], Options],
    evaluation: Evaluation,
    threshold: float = THRESHOLD,
    limit: int | None = 0,
    most: int | None = None,
) -> tuple[list[Tally], RowCounts]:
    """What was found of each axiom, and of the rows of the data.

    Args:
        axioms: whose groundings are counted; all together, so that networks run once for all of them.
        options_of: tells what was set for the quantifiers of one axiom alone.
        evaluation: the groundings and the space.
        threshold: below which truth a grounding is violated.
        limit: how many violations are kept of each axiom; None for all. With 0 the rows are not counted.
        most: how many combinations of individuals are evaluated at once; None for all, and then the tallies
            have the values of the axioms too.
    """
    found, rows = [Tally(limit) for _ in axioms], RowCounts(evaluation.groundings)
    written = [(place, axiom.tree) for place, axiom in enumerate(axioms) if axiom.tree is not None]
    options = [options_of(axioms[place]) for place, _ in written]
    space = evaluation.space
    trees = [tree for _, tree in written]
    for number, instances in evaluation.claims(trees, options, most, with_parts=limit != 0):
        found[written[number][0]].add(instances, space, threshold, rows)
    for tally, axiom in zip(found, axioms, strict=True):
        if axiom.tree is None:
            # Of Python code the value is known, and not what it quantifies.
            value = call(axiom, evaluation).tensor
            tally.add(Instances(value, {}, {}, True, {}, value), space, threshold, rows)
    return found, rows


def _at(found: Instances, violated: NDArray[Any], shape: tuple[int, ...]) -> Columns:
    """Where violations are on each axis, from their places among all values."""
    labels = found.labels
    return dict(zip(labels, np.unravel_index(violated, shape) if labels else (), strict=True))


def _places(found: Instances, at: Columns) -> Columns:
    """Which individual of each variable stands at some places of its axis."""
    individuals = {}
    for variable, label in found.frame.items():
        rows = found.rows[variable]
        individuals[variable] = at[label] if rows is None else rows[at[label]]
    return individuals


def _least(values: NDArray[Any], limit: int | None) -> NDArray[Any]:
    """The places of the least `limit` values; all where there are no more."""
    if limit is None or len(values) <= limit:
        return np.arange(len(values))
    return np.argsort(values, kind="stable")[:limit]
