"""Frames: on which axis each variable of a formula lies while the formula is evaluated.

A variable starts on an axis of its own, or shares one with the others of a `diag`. A guard then replaces
the axes that it restricts by one axis, whose elements are the tuples of individuals that it selects. Frames
know axes by their labels only; the tensors come when a plan is executed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltn.language.names import axis_text

# The axis of each variable, by label.
Frame = Mapping[str, str]
# Where tuples are on an axis.
Places = NDArray[Any]
# What is computed axis by axis computes more combinations than this in the time of one tuple, whose features
# have to be read and multiplied: about 60 of ComplEx with 128 features.
_COMBINATIONS = 16
# Axes of individuals, each with an axis of tuples on which some of them occur.
Occurrences = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Drawn:
    """How many tuples a sample has at most, and the known sizes of the first axes that it is drawn from."""

    most: int
    sizes: Mapping[str, int | None]


@dataclass(frozen=True, eq=False)
class Tuples:
    """An axis of tuples.

    Attributes:
        label: the name of the axis.
        parents: the axes that the tuples are drawn from.
        members: the variables that lie on it, with the parent on which each lay before.
        leading: the parent along which the tuples ascend, if there is one.
        origin: how the tuples are found: by a strategy for a guard; or the axis whose distinct
            combinations they are.
        known: where each tuple is on each of the first axes, for tuples that are known when they are
            planned; for others, such tuples that they are among; or None.
        is_known: whether these are the tuples themselves.
        sparse: first axes of whose individuals few occur in an execution.
        drawn: of tuples that are a sample, how they are drawn.
    """

    label: str
    parents: tuple[str, ...]
    members: dict[str, str]
    leading: str | None
    origin: Any
    known: Mapping[str, Places] | None = None
    is_known: bool = False
    sparse: Collection[str] = ()
    drawn: Drawn | None = None


class Frames:
    """The axes of some formulas, and how to get from one to another.

    Args:
        count: the number of individuals of a variable, where it is known.
    """

    def __init__(self, count: Callable[[str], int | None]) -> None:
        self._count = count
        self.groups: dict[str, tuple[str, ...]] = {}
        self._tuples: dict[str, Tuples] = {}
        self._known: dict[Hashable, str] = {}
        # From an axis of tuples to those of its distinct combinations.
        self._reduced: dict[str, list[str]] = {}
        # From the axis of the individuals that occur somewhere to these places.
        self._occurring: dict[str, Occurrences] = {}

    def bind(self, variables: Sequence[str]) -> str:
        """The axis of a variable, or of the variables of a `diag`; its label."""
        # In quotes a variable cannot be taken for a diagonal or for tuples, whatever its name.
        label = axis_text(variables)
        self.groups[label] = tuple(variables)
        return label

    def tuples(self, label: str) -> Tuples | None:
        """The axis of tuples with a label; None for an axis of individuals."""
        return self._tuples.get(label)

    def size(self, label: str) -> int | None:
        """The number of individuals on an axis, where it is known."""
        counts = map(self._count, self.groups.get(label, ()))
        return next((count for count in counts if count is not None), None)

    def find(self, key: Hashable) -> str | None:
        """The axis of tuples that was added under a key."""
        return self._known.get(key)

    def add(
        self,
        key: Hashable,
        parents: Sequence[str],
        frame: Frame,
        leading: str | None,
        origin: Any,
        known: Mapping[str, Places] | None = None,
        is_known: bool = False,
        sparse: Collection[str] = (),
        drawn: Drawn | None = None,
    ) -> Tuples:
        """A new axis of tuples in place of some axes of a frame; `find` knows it by its key."""
        label = f"tuples {len(self._tuples) - len(self._occurring) + 1}"
        members = {variable: axis for variable, axis in frame.items() if axis in parents}
        told = (known, is_known, sparse, drawn)
        self._tuples[label] = Tuples(label, tuple(parents), members, leading, origin, *told)
        self._known[key] = label
        return self._tuples[label]

    def occurring(self, axis: str, where: Occurrences) -> str:
        """The axis of the individuals that occur in known tuples, each once; they lie on `axis` before."""
        label = f"{axis} in {', '.join(sorted({label for label, _ in where}))}"
        while label in self._tuples and self._occurring.get(label) != where:
            label += "'"
        if label not in self._tuples:
            found = [self.known(tuples)[drawn] for tuples, drawn in sorted(where)]
            occurs = np.zeros(
                1 + max((int(places.max()) for places in found if len(places)), default=0), bool
            )
            for places in found:
                occurs[places] = True
            index, rank = np.flatnonzero(occurs), np.cumsum(occurs, dtype=np.int32) - 1
            members = dict.fromkeys(self.groups[axis], axis)
            self._tuples[label] = Tuples(
                label, (axis,), members, axis, Occurring(index, rank), {axis: index}, is_known=True
            )
            self._occurring[label] = where
        return label

    def known(self, label: str) -> Mapping[str, Places]:
        """Where each of some known tuples is on the first axes: those of an axis, or those it is among."""
        tuples = self._tuples[label]
        if tuples.known is None:
            raise RuntimeError(f"The tuples of '{label}' are not known when they are planned.")
        return tuples.known

    def is_sparse(self, label: str) -> bool:
        """Whether an axis holds the individuals of one first axis that occur in an execution."""
        tuples = self._tuples.get(label)
        return tuples is not None and isinstance(tuples.origin, Distinct) and len(tuples.parents) == 1

    def occurrences(self, label: str) -> Occurrences | None:
        """Where the individuals of an axis occur; None for an axis that `occurring` has not made."""
        return self._occurring.get(label)

    def replace(self, frame: Frame, label: str) -> dict[str, str]:
        """The frame in which the parents of an axis of tuples are replaced by that axis."""
        parents = self._tuples[label].parents
        return {variable: label if axis in parents else axis for variable, axis in frame.items()}

    def place(self, frame: Frame, by_axis: bool = False) -> dict[str, str]:
        """Where a network with these variables is to be called, so that no tuple is computed twice.

        Variables that draw on a single axis of known tuples go to the individuals that occur there; those
        that draw on a single axis of which few occur, to these, found in each execution. Others that draw
        on a single parent of the tuples go back to that parent; those that draw on several axes but not on
        all of them go to the distinct combinations; else the tuples stay. Those of a sample stay, unless
        all combinations that they may be are fewer. What is computed `by_axis` is computed for all
        combinations of the first axes, unless they are many times the tuples.
        """
        placed: dict[str, str] = {}
        pending = [frame]
        while pending:
            part = pending.pop()
            placed.update(part)
            for label in dict.fromkeys(part.values()):
                tuples = self._tuples.get(label)
                if tuples is None:
                    continue
                mine = {v: tuples.members[v] for v in part if part[v] == label}
                drawn = self._first_axes(tuples, mine)
                axis = next(iter(drawn))
                if by_axis and len(drawn) > 1 and self._are_most(tuples, drawn):
                    placed.update(self.base(dict.fromkeys(mine, label)))
                elif tuples.drawn is not None:
                    if self._are_fewer(tuples.drawn, drawn):
                        placed.update(self._below_sample(tuples, mine))
                elif label not in self._occurring and len(drawn) == 1 and axis in (tuples.known or ()):
                    placed.update(dict.fromkeys(mine, self.occurring(axis, frozenset({(label, axis)}))))
                elif label in self._occurring:
                    continue
                elif len(drawn) == 1 and axis in tuples.sparse:
                    placed.update(dict.fromkeys(mine, self._distinct_axis(tuples, drawn)))
                elif len(set(mine.values())) == 1 and len(tuples.parents) > 1:
                    pending.append(mine)
                elif len(drawn) < len(self._first_axes(tuples, tuples.members)):
                    placed.update(dict.fromkeys(mine, self._distinct_axis(tuples, drawn)))
        return placed

    def descend(self, variable: str, label: str, targets: Collection[str]) -> str:
        """The axis of a variable, at or below the given one, that is among `targets`; else its first axis."""
        while label in self._tuples and label not in targets:
            reduced = (low for low in self._reduced.get(label, ()) if low in targets)
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

    def is_reduced(self, high: str, low: str) -> bool:
        """Whether the axis `low` holds distinct combinations of the tuples of `high`."""
        return low in self._reduced.get(high, ())

    def _first_axes(self, tuples: Tuples, variables: Iterable[str]) -> dict[str, str]:
        """The first axes of some variables of the tuples, each with one variable that lies on it."""
        first = self.base(dict.fromkeys(variables, tuples.label))
        return {axis: variable for variable, axis in reversed(first.items())}

    def _are_fewer(self, sample: Drawn, axes: Collection[str]) -> bool:
        """Whether the combinations of some first axes are no more than the tuples of a sample."""
        sizes = [sample.sizes.get(axis) for axis in axes]
        if None in sizes:
            # A batch of data: its individuals are fewer than their combinations.
            return len(sizes) == 1
        return math.prod(size or 0 for size in sizes) <= sample.most

    def _are_most(self, tuples: Tuples, axes: Collection[str]) -> bool:
        """Whether known tuples, or those of a sample, are not few of the combinations of some first axes."""
        if tuples.drawn is not None:
            count = tuples.drawn.most
        elif tuples.is_known and tuples.known:
            count = len(next(iter(tuples.known.values())))
        else:
            return False
        sizes = [self.size(axis) for axis in axes]
        return None not in sizes and math.prod(size or 0 for size in sizes) <= _COMBINATIONS * count

    def _below_sample(self, tuples: Tuples, variables: Iterable[str]) -> dict[str, str]:
        """Where variables of a sample lie if not on its tuples: on their first axes, as far as they occur."""
        first, known = self.base(dict.fromkeys(variables, tuples.label)), tuples.known or {}
        occur = {
            axis: self.occurring(axis, frozenset({(tuples.label, axis)})) if axis in known else axis
            for axis in dict.fromkeys(first.values())
        }
        return {variable: occur[axis] for variable, axis in first.items()}

    def _distinct_axis(self, tuples: Tuples, drawn: dict[str, str]) -> str:
        """The axis of the distinct combinations of some of the first axes that the tuples draw on."""
        for low in self._reduced.get(tuples.label, ()):
            if set(self._tuples[low].parents) == set(drawn):
                return low
        first = self.base(dict.fromkeys(tuples.members, tuples.label))
        members = {variable: axis for variable, axis in first.items() if axis in drawn}
        key = ("distinct", tuples.label, tuple(drawn))
        known, inverse = None, None
        if tuples.is_known:
            known, inverse = _distinct({axis: self.known(tuples.label)[axis] for axis in drawn})
        origin = Distinct(tuples.label, tuple(drawn.items()), inverse)
        low = self.add(key, list(drawn), members, None, origin, known, known is not None).label
        self._reduced.setdefault(tuples.label, []).append(low)
        return low


@dataclass(frozen=True)
class Distinct:
    """The origin of tuples that are the distinct combinations of some axes of other tuples.

    Attributes:
        label: the axis of the other tuples.
        drawn: the axes, each with a variable that lies on it.
        inverse: which combination each of these tuples has, where they are known.
    """

    label: str
    drawn: tuple[tuple[str, str], ...]
    inverse: Places | None = None


@dataclass(frozen=True, eq=False)
class Occurring:
    """The origin of individuals of one axis that occur in known tuples: their places, ascending.

    `rank` tells for the place of an individual that occurs which of them it is.
    """

    index: Places
    rank: Places


def _distinct(columns: Mapping[str, Places]) -> tuple[dict[str, Places], Places]:
    """The distinct combinations of some columns, and which of them each row has."""
    numbers: Any = 0
    for column in columns.values():
        # The numbers stay small: there are no more than rows.
        known, places = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * len(known) + places.reshape(-1), return_inverse=True)
        numbers = numbers.reshape(-1)
    _, first = np.unique(numbers, return_index=True)
    return {axis: column[first] for axis, column in columns.items()}, numbers
