"""Frames: on which axis each variable of a formula lies while the formula is evaluated.

A variable starts on an axis of its own, or shares one with the others of a `diag`. A guard then replaces
the axes that it restricts by one axis, whose elements are the tuples of individuals that it selects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import tensorflow as tf

from ltn.core import Expression, axes
from ltn.core.checks import check_sizes
from ltn.evaluation.rows import rows_of

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
        leading: the parent along which the tuples ascend, if there is one.
    """

    label: str
    parents: dict[str, tf.Tensor]
    members: dict[str, str]
    leading: str | None = None


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
        return self.add(parents, frame, leading=labels[0])

    def add(self, parents: dict[str, tf.Tensor], frame: Frame, leading: str | None = None) -> dict[str, str]:
        """The frame in which some axes are replaced by tuples, given by their index on each, (K,)."""
        label = f"tuples {len(self._tuples) + 1}"
        members = {variable: axis for variable, axis in frame.items() if axis in parents}
        self._tuples[label] = Tuples(label, parents, members, leading)
        self._sizes[label] = axes.size_of(next(iter(parents.values())), 0)
        return dict(frame) | dict.fromkeys(members, label)

    def place(self, frame: Frame) -> dict[str, str]:
        """Where a network with these variables is to be called, so that no tuple is computed twice.

        Variables that draw on a single parent of the tuples go back to that parent; those that draw on
        several axes but not on all of them go to the distinct combinations; else the tuples stay.
        """
        placed = dict(frame)
        for label in dict.fromkeys(frame.values()):
            tuples = self._tuples.get(label)
            if tuples is None:
                continue
            mine = {v: tuples.members[v] for v in frame if frame[v] == label}
            drawn = self._drawn_on(tuples, mine)
            if len(set(mine.values())) == 1 and len(tuples.parents) > 1:
                placed.update(self.place(mine))
            elif len(drawn) < len(self._drawn_on(tuples, tuples.members)):
                placed.update(dict.fromkeys(mine, self._distinct(tuples, drawn)))
        return placed

    def _drawn_on(self, tuples: Tuples, variables: Iterable[str]) -> dict[str, str]:
        """The first axes of some variables of the tuples, each with one variable that lies on it."""
        first = self.base(dict.fromkeys(variables, tuples.label))
        return {axis: variable for variable, axis in reversed(first.items())}

    def level(self, variable: str, label: str, levels: Collection[str]) -> str:
        """The axis of a variable, below the given one, that is among `levels`; else its first axis."""
        while label in self._tuples and label not in levels:
            reduced = (low for low in levels if (label, low) in self._reduced)
            shared = next((low for low in reduced if variable in self._tuples[low].members), None)
            if shared is not None:
                return shared
            label = self._tuples[label].members[variable]
        return label

    def base(self, frame: Frame) -> dict[str, str]:
        """The frame without any selection: every variable on its first axis."""
        return [dict(frame), *self.below(frame)][-1]

    def below(self, frame: Frame) -> Iterator[dict[str, str]]:
        """The frames that a frame was selected from, one guard after the other."""
        while any(label in self._tuples for label in frame.values()):
            frame = {
                v: self._tuples[label].members[v] if label in self._tuples else label
                for v, label in frame.items()
            }
            yield dict(frame)

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

    def _distinct(self, tuples: Tuples, drawn: dict[str, str]) -> str:
        """The axis of the distinct combinations of some of the first axes that the tuples draw on."""
        for high, low in self._reduced:
            if high == tuples.label and set(self._tuples[low].parents) == set(drawn):
                return low
        # The combinations of all axes may be more than an int32 can count.
        sizes = {axis: tf.cast(self._sizes[axis], tf.int64) for axis in drawn}
        indices = [
            tf.cast(self._indices(tuples.label, variable, axis), tf.int64) for axis, variable in drawn.items()
        ]
        unique, inverse = tf.unique(_flat(indices, sizes.values()))
        parents = {axis: tf.cast(index, tf.int32) for axis, index in unravelled(unique, sizes).items()}
        first = self.base(dict.fromkeys(tuples.members, tuples.label))
        members = {variable: axis for variable, axis in first.items() if axis in drawn}
        low = next(iter(self.add(parents, members).values()))
        self._reduced[tuples.label, low] = inverse
        return low

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
        # The gradient is a sum over neighbouring tuples then.
        ascending = front == [self._tuples[label].leading]
        return cast(E, expression.of_this_kind(rows_of(tensor, index, ascending), [label, *rest]))


def unravelled(flat: tf.Tensor, sizes: Mapping[str, axes.Size]) -> dict[str, tf.Tensor]:
    """The index on each axis, from a row-major index over all of them."""
    if not sizes:
        return {}
    first, *others = sizes
    indices = {}
    for label in reversed(others):
        indices[label] = flat % sizes[label]
        flat = flat // sizes[label]
    return {first: flat} | {label: indices[label] for label in others}


def _flat(indices: Iterable[tf.Tensor], sizes: Iterable[axes.Size]) -> tf.Tensor:
    flat = None
    for index, size in zip(indices, sizes, strict=True):
        flat = index if flat is None else flat * size + index
    return flat
