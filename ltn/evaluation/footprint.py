"""Footprints: about how many bytes the values of a formula take while it is evaluated.

Each part of a formula has a value for each combination of the individuals of its free variables, or for
each tuple where relations or samples leave fewer; a network holds its inputs and what its layers return for
each of its rows. The sum of these is what an evaluation keeps. It is found from the tree and the numbers of
individuals; nothing is evaluated.
"""

from __future__ import annotations

import contextlib
import functools
import math
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import keras

from ltn import _private
from ltn.core.scorers import Scorer
from ltn.errors import LogicError
from ltn.evaluation import guards
from ltn.evaluation.binding import bind_all, samples_of
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.joins import TooManyTuplesError
from ltn.evaluation.planner import Planner
from ltn.evaluation.runs import split_class
from ltn.language import Apply, Name, Node, Quantifier
from ltn.language.domains import Shape
from ltn.language.sorts import Sort, sort_above
from ltn.language.tree import fold

# The variables of one axis.
Group = tuple[str, ...]
# How many individuals there are on an axis.
Sizes = Mapping[Group, int]

# A value is a float32; an operator holds a second one while it computes.
_VALUE = 8
# A tuple has an int64 and two int32 for each variable, while it is found.
_INDEX = 16
_FLOAT = 4

_of_networks: weakref.WeakKeyDictionary[keras.Layer, int] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class _Position:
    """Where a part of a formula stands.

    Attributes:
        groups: for each variable of a diagonal around it, the variables on its axis.
        tuples: for quantifiers around it that relations or samples guard, the axes of their tuples, and which
            part of all combinations these are.
        sizes: those of axes that are taken in slices.
    """

    groups: Mapping[str, Group]
    tuples: tuple[tuple[frozenset[Group], float], ...]
    sizes: Sizes

    def axes(self, variables: Iterable[str]) -> frozenset[Group]:
        """The axes on which some variables lie."""
        return frozenset(self.groups.get(variable, (variable,)) for variable in variables)


class Footprint:
    """The bytes that a formula takes, by the numbers of individuals.

    Args:
        planner: one of its own, under groundings without slices.
        node: a formula or a term, as it is planned, without definitions.
        groups: the free variables, those of one axis together.
        front: how many quantifiers at the front of the formula are taken off, their variables being free.
        slices: how many individuals there are of variables of which only a slice is evaluated.
    """

    def __init__(
        self,
        planner: Planner,
        node: Node,
        groups: Iterable[Group] = (),
        front: int = 0,
        slices: Mapping[str, int] | None = None,
    ):
        self._planner = planner
        self._slices = slices or {}
        self._node = node
        self._front = front
        self.groups = tuple(groups)
        self._shares: Mapping[Quantifier, float] = {}

    def exceeds(self, limit: float, sliced: bool = False) -> bool:
        """Whether the formula takes more bytes; only where it may are the tuples of relations counted."""
        if self.bytes(sliced=sliced) <= limit:
            return False
        self.count_tuples()
        return self.bytes(sliced=sliced) > limit

    def count_tuples(self) -> None:
        """Take into account how few tuples relations and samples leave; this joins the relations."""
        # A join that is too large as a whole may not be in slices.
        with contextlib.suppress(LogicError):
            self._shares = shares_of(self._planner, self._node, all_guards=not self._planner.settings.dense)

    def size(self, group: Group, sizes: Sizes | None = None) -> int:
        """How many individuals are on an axis; 1 where that is not known while tracing."""
        if sizes and group in sizes:
            return sizes[group]
        for variable in group:
            if variable in self._slices:
                return self._slices[variable]
        counts = (self._planner.groundings.count(variable) for variable in group)
        return next((count for count in counts if count is not None), 1)

    def bytes(self, sizes: Sizes | None = None, sliced: bool = False) -> float:
        """About how many bytes all values take.

        `sizes` are those of axes of which only a slice is evaluated; `sliced` tells whether quantifiers go
        through the individuals on their longest axis one by one.
        """
        total = 0.0
        groups = {variable: group for group in self.groups for variable in group}
        pending = [(self._node, _Position(groups, (), sizes or {}), self._front)]
        seen: set[tuple[int, int]] = set()
        places = [pending[0][1]]  # kept, so that no other one has its id
        while pending:
            node, place, front = pending.pop()
            if (id(node), id(place)) in seen:
                continue
            seen.add((id(node), id(place)))
            if isinstance(node, Quantifier):
                total += _VALUE * self._combinations(place.axes(self._planner.free(node)), place)
                place = self._within(node, place, sliced and front <= 0)
                places.append(place)
                bound = place.axes([*self._planner.free(node), *node.variables])
                index = 0 if node.guard is None else _INDEX * len(bound)
                total += (_VALUE + index) * self._combinations(bound, place)
                pending += [(child, place, front - 1) for child in node.children]
                continue
            total += self._own(node, place)
            pending += [(child, place, front) for child in node.children]
        return total

    def rows_within(self, limit: float, group: Group, sliced: bool = False) -> int:
        """How many individuals of a group, at least one, fit together into some bytes."""
        rows = self.size(group)
        if self.exceeds(limit, sliced):
            while rows > 1 and self.bytes({group: rows}, sliced) > limit:
                rows = math.ceil(rows / 2)
        return max(rows, 1)

    def _within(self, node: Quantifier, place: _Position, sliced: bool) -> _Position:
        groups = {**place.groups, **{variable: group for group in node.groups for variable in group}}
        inner = replace(place, groups=groups)
        share = self._shares.get(node, 1.0)
        if share < 1.0:
            guarded = () if node.guard is None else self._planner.free(node.guard)
            axes = inner.axes(guarded or node.variables)
            inner = replace(inner, tuples=(*inner.tuples, (axes, share)))
        if sliced:
            longest = max(node.groups, key=lambda group: self.size(group, place.sizes))
            inner = replace(inner, sizes={**place.sizes, longest: 1})
        return inner

    def _combinations(self, axes: frozenset[Group], place: _Position) -> float:
        """How many combinations of individuals on some axes there are, or of tuples that they are part of."""
        count = self._product(axes, place)
        for drawn, share in place.tuples:
            if axes & drawn:
                count = min(count, share * self._product(axes | drawn, place))
        return count

    def _product(self, axes: Iterable[Group], place: _Position) -> float:
        return float(math.prod(self.size(axis, place.sizes) for axis in axes))

    @functools.cached_property
    def _shapes(self) -> dict[int, Shape | None]:
        """The shape of the features of each term, by the identity of its node; None of a formula."""
        shapes: dict[int, Shape | None] = {}

        def note(node: Node, below: tuple[Sort, ...]) -> Sort:
            sort = sort_above(self._planner.signature, node, below)
            shapes[id(node)] = sort.shape
            return sort

        fold(self._node, note)
        return shapes

    def _bytes_of(self, terms: Iterable[Node]) -> int:
        return sum(_bytes_of(self._shapes[id(term)]) for term in terms)

    def _own(self, node: Node, place: _Position) -> float:
        """The bytes of a part itself, without those below it."""
        planner = self._planner
        count = self._combinations(place.axes(planner.free(node)), place)
        if isinstance(node, Name):
            return count * self._bytes_of([node])
        if not isinstance(node, Apply) or node.symbol not in planner.symbols:
            return count * (_VALUE + self._bytes_of(node.children))
        call, _ = split_class(planner, node)
        symbol = planner.symbols[node.symbol]
        rows = self._combinations(place.axes(planner.free(call)), place)
        # A product of matrices needs no rows of inputs.
        inputs = 0
        if not isinstance(symbol.network, Scorer) or place.tuples:
            inputs = self._bytes_of(call.arguments)
        return count * _VALUE + rows * (inputs + _bytes_within(symbol.network))


def whole(groundings: Groundings) -> Groundings:
    """The groundings without slices."""
    return Groundings(groundings.signature, groundings.tables, groundings.choices, groundings.data)


def slice_sizes(groundings: Groundings) -> dict[str, int]:
    """How many individuals the slices of variables have, where that is known."""
    return {name: size for name, (_, size) in groundings.slices.items() if isinstance(size, int)}


def shares_of(planner: Planner, node: Node, all_guards: bool = False) -> dict[Quantifier, float]:
    """Which part of all combinations relations leave, for the quantifiers that they guard.

    With `all_guards` also what others select whose tuples are looked up, or found once.
    """
    found: dict[Quantifier, float] = {}
    frame: dict[str, str] = planner.root(node)
    for inner in node.walk():
        # From the outside in: the variables around a quantifier are bound before.
        if not isinstance(inner, Quantifier):
            continue
        frame = bind_all(planner, inner, frame)
        most = samples_of(planner, inner)
        if most is not None:
            drawn = [planner.groundings.count(group[0]) for group in inner.groups]
            found[inner] = min(1.0, most / max(math.prod(size or 1 for size in drawn), 1))
            continue
        try:
            selected = None if inner.guard is None else guards.select_known(planner, inner.guard, frame)
        except TooManyTuplesError:
            # Too many to be found at once; each slice finds its own.
            continue
        tuples = None if selected is None else planner.frames.tuples(selected[0])
        if tuples is not None and tuples.known is not None:
            count = len(next(iter(tuples.known.values())))
            sizes = [planner.groundings.count(planner.frames.groups[axis][0]) for axis in tuples.parents]
            found[inner] = min(1.0, count / max(math.prod(size or 1 for size in sizes), 1))
        elif all_guards and inner.guard is not None and planner.free(inner.guard):
            found[inner] = guards.share(planner, inner.guard, planner.restrict(frame, inner.guard))
    return found


def _bytes_of(shape: tuple[int | None, ...] | None) -> int:
    return 0 if shape is None else _FLOAT * math.prod(size or 1 for size in shape)


def _bytes_within(network: Any) -> int:
    """The bytes that the layers of a network return for one row; of a plain callable nothing is known."""
    if not isinstance(network, keras.Layer):
        return _FLOAT
    found = _of_networks.get(network)
    if found is None:
        layers = [
            layer for layer in _private.layers_within(network) if len(_private.layers_within(layer)) == 1
        ]
        found = sum(_bytes_of(shape[1:]) for layer in layers for shape in _output_shapes(layer))
        if network.built:
            _of_networks[network] = found
    return found


def _output_shapes(layer: keras.Layer) -> list[tuple[int | None, ...]]:
    """The shapes of what a layer returned when it was built; nothing where it does not tell."""
    if isinstance(layer, keras.layers.InputLayer):
        return []
    # Layers raise whatever they like where they were never called, or have no shape to tell.
    with contextlib.suppress(Exception):
        return [tuple(tensor.shape) for tensor in keras.tree.flatten(layer.output)]
    with contextlib.suppress(Exception):
        return [tuple(layer.compute_output_shape(layer.get_build_config()["input_shape"]))]
    return []
