"""Frames: on which axis each variable of a formula lies while the formula is evaluated.

A variable starts on an axis of its own, or shares one with the others of a `diag`. A guard then replaces
the axes that it restricts by one axis, whose elements are the tuples of individuals that it selects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import tensorflow as tf

from ltn.core import Expression, axes
from ltn.core.checks import check_sizes

# The axis of each variable, by label.
Frame = Mapping[str, str]
E = TypeVar("E", bound=Expression)


@dataclass(frozen=True, eq=False)
class Tuples:
    """An axis of selected tuples.

    Attributes:
        label: of the axis.
        parents: the axes that the tuples are drawn from, with the index of each tuple there, (K,).
        members: the variables that lie on it, with the parent on which each lay before.
    """

    label: str
    parents: dict[str, tf.Tensor]
    members: dict[str, str]


class Frames:
    """The axes of one evaluation, and how to get from one to another."""

    def __init__(self) -> None:
        self._sizes: dict[str, axes.Size] = {}
        self._tuples: dict[str, Tuples] = {}
        # From an axis of tuples to one that it was reduced to: the index there of each of its tuples.
        self._reduced: dict[tuple[str, str], tf.Tensor] = {}

    def bind(self, variables: Sequence[str], tensors: Sequence[tf.Tensor]) -> str:
        """The axis of a variable, or of the variables of a `diag`; its label."""
        label = variables[0] if len(variables) == 1 else f"diag({', '.join(variables)})"
        if label not in self._sizes:
            found = [axes.size_of(tensor, 0) for tensor in tensors]
            if len(found) > 1:
                requirement = f"The variables of {label} must have the same number of individuals"
                found = check_sizes(found, requirement)
            self._sizes[label] = next((size for size in found if isinstance(size, int)), found[0])
        return label

    def size(self, label: str) -> axes.Size:
        """The number of individuals, or of tuples, on an axis."""
        return self._sizes[label]

    def tuples(self, label: str) -> Tuples | None:
        """The axis as one of selected tuples; None for an axis of individuals."""
        return self._tuples.get(label)

    def select(self, mask: tf.Tensor, labels: Sequence[str], frame: Frame) -> dict[str, str]:
        """The frame in which the axes of a mask are replaced by the tuples that it selects."""
        indices = tf.cast(tf.where(mask), tf.int32)
        parents = {label: indices[:, axis] for axis, label in enumerate(labels)}
        return self._add(parents, frame)

    def place(self, frame: Frame) -> dict[str, str]:
        """Where a network with these variables is to be called, so that no tuple is computed twice.

        Variables that draw on a single parent of the tuples go back to that parent; those that draw on
        several but not on all of them go to the distinct combinations; else the tuples stay.
        """
        placed = dict(frame)
        for label in dict.fromkeys(frame.values()):
            tuples = self._tuples.get(label)
            if tuples is None:
                continue
            used = list(dict.fromkeys(tuples.members[v] for v in frame if frame[v] == label))
            if len(used) == len(tuples.parents):
                continue
            mine = {v: tuples.members[v] for v in frame if frame[v] == label}
            lower = self.place(mine) if len(used) == 1 else self._distinct(tuples, used, mine)
            placed.update(lower)
        return placed

    def base(self, frame: Frame) -> dict[str, str]:
        """The frame without any selection: every variable on its first axis."""
        lowered = dict(frame)
        while any(label in self._tuples for label in lowered.values()):
            lowered = {
                v: self._tuples[label].members[v] if label in self._tuples else label
                for v, label in lowered.items()
            }
        return lowered

    def lift(self, expression: E, low: Frame, high: Frame) -> E:
        """An expression over the axes of `low`, read at the tuples of `high`."""
        targets: dict[str, dict[str, tf.Tensor]] = {}
        for variable, label in high.items():
            if low[variable] != label:
                sources = targets.setdefault(label, {})
                if low[variable] not in sources:
                    sources[low[variable]] = self._indices(label, variable, low[variable])
        for label, sources in targets.items():
            expression = self._gathered(expression, label, sources)
        return expression

    def rows(self, variable: str, frame: Frame, places: np.ndarray) -> np.ndarray:
        """Which individuals of a variable stand at some places of its axis; for eager tensors."""
        base = self.base({variable: frame[variable]})[variable]
        if base == frame[variable]:
            return places
        return self._indices(frame[variable], variable, base).numpy()[places]

    def flat_index(self, tuples: Tuples, labels: Sequence[str]) -> tf.Tensor:
        """The row-major index of each tuple among the combinations of some of its parents."""
        return _flat([tuples.parents[label] for label in labels], [self._sizes[label] for label in labels])

    def _add(self, parents: dict[str, tf.Tensor], frame: Frame) -> dict[str, str]:
        label = f"tuples {len(self._tuples) + 1}"
        members = {variable: axis for variable, axis in frame.items() if axis in parents}
        self._tuples[label] = Tuples(label, parents, members)
        self._sizes[label] = axes.size_of(next(iter(parents.values())), 0)
        return dict(frame) | dict.fromkeys(members, label)

    def _distinct(self, tuples: Tuples, used: list[str], mine: Frame) -> dict[str, str]:
        for (high, low), _ in self._reduced.items():
            if high == tuples.label and list(self._tuples[low].parents) == used:
                return dict.fromkeys(mine, low)
        unique, inverse = tf.unique(self.flat_index(tuples, used))
        parents = {}
        for label in reversed(used):
            parents[label] = unique % self._sizes[label]
            unique = unique // self._sizes[label]
        drawn = {variable: parent for variable, parent in tuples.members.items() if parent in used}
        low = next(iter(self._add({label: parents[label] for label in used}, drawn).values()))
        self._reduced[tuples.label, low] = inverse
        return dict.fromkeys(mine, low)

    def _indices(self, label: str, variable: str, low: str) -> tf.Tensor:
        if (label, low) in self._reduced:
            return self._reduced[label, low]
        tuples = self._tuples[label]
        parent = tuples.members[variable]
        index = tuples.parents[parent]
        return index if parent == low else tf.gather(self._indices(parent, variable, low), index)

    def _gathered(self, expression: E, label: str, sources: dict[str, tf.Tensor]) -> E:
        rest = [other for other in expression.free_vars if other not in sources]
        front = [source for source in sources if source in expression.free_vars]
        tensor = axes.reorder(expression.tensor, expression.free_vars, front + rest)
        if len(front) > 1:
            tail = [axes.size_of(tensor, axis) for axis in range(len(front), tensor.shape.rank)]
            tensor = tf.reshape(tensor, [-1, *tail])
        index = _flat([sources[s] for s in front], [self._sizes[s] for s in front])
        return cast(E, expression._of_this_kind(tf.gather(tensor, index), [label, *rest]))


def _flat(indices: Iterable[tf.Tensor], sizes: Iterable[axes.Size]) -> tf.Tensor:
    flat = None
    for index, size in zip(indices, sizes, strict=True):
        flat = index if flat is None else flat * size + index
    return flat
