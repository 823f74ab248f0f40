"""Plans: a flat list of steps, each of which computes one value from values before it."""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ltn.core import Formula, Term, axes
from ltn.errors import LogicError
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.spaces import Space
from ltn.language import Node

T = TypeVar("T")

# Options for the quantifiers of one formula alone, by kind: {"exists": {"p": 6.0}}.
Options = dict[str, dict[str, Any]]


class Value(NamedTuple):
    """A value of a plan: the place of the step that computes it, and the axes that its tensor begins with."""

    place: int
    axes: tuple[str, ...] = ()

    def rename(self, axes: Mapping[str, str]) -> Value:
        """The same tensor for other variables: F(x, y) over everyone is the table of F(u, v) too."""
        return Value(self.place, tuple(axes[axis] for axis in self.axes))


@dataclass(frozen=True)
class Reader:
    """What reads values of a plan: a step, or the range of a quantifier."""

    @property
    def inputs(self) -> list[Value]:
        """The values that it reads."""
        return list(_values_in(getattr(self, field.name) for field in dataclasses.fields(self)))


def _values_in(parts: Iterable[Any]) -> Iterator[Value]:
    for part in parts:
        if isinstance(part, Value):
            yield part
        elif isinstance(part, tuple):
            yield from _values_in(part)
        elif isinstance(part, Reader):
            yield from part.inputs


class Step(Reader, ABC):
    """What computes one value. Equal steps are one step of a plan: nothing is computed twice.

    `strategy` tells how a step finds tuples, if it does.
    """

    strategy: ClassVar[str] = ""

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that the value begins with, before its features: by default those of what it reads."""
        return tuple(axes.union([value.axes for value in self.inputs]))

    @abstractmethod
    def compute(self, execution: Execution) -> Any:
        """The value: a tensor; for some steps a tuple of tensors, or a size."""

    @abstractmethod
    def describe(self) -> str:
        """The step in a few words, for people."""


class Plan:
    """Steps in the order of evaluation, and the values that were asked for.

    Attributes:
        steps: each reads values of steps before it only.
        formulas: what the plan is for, as it was written.
        results: the value of each formula.
        origins: for each step the number of the formula that needed it first.
    """

    def __init__(self, formulas: Sequence[Node]):
        self.formulas = list(formulas)
        self.steps: list[Step] = []
        self.results: list[Value] = []
        self.origins: list[int | None] = []
        self._places: dict[Step, int] = {}
        self._depths: list[int] = []

    def add(self, step: Step, origin: int | None = None, runs_network: bool = False) -> Value:
        """The value of a step, which is appended unless an equal one is there."""
        place = self._places.get(step)
        if place is None:
            place = self._places[step] = len(self.steps)
            self.steps.append(step)
            self.origins.append(origin)
            self._depths.append(max(map(self.depth, step.inputs), default=0) + runs_network)
        return Value(place, step.axes)

    def depth(self, value: Value) -> int:
        """How many runs of networks, one after the other, a value needs."""
        return self._depths[value.place]


class World(NamedTuple):
    """What formulas are evaluated in: the meaning of their symbols, and the space of their values."""

    groundings: Groundings
    symbols: Mapping[str, Any]
    propositions: Mapping[str, Any]
    space: Space
    # Whether the operators differ from those that the formulas were written for: options of quantifiers
    # that they lack are left out.
    other_operators: bool = False


class Execution:
    """The values of a plan in a world, as they are computed.

    Args:
        world: what symbols mean.
        options: for each formula of the plan the options of its quantifiers that its text does not set.
    """

    def __init__(self, world: World, options: Sequence[Options] = ()):
        self.world = world
        self.options = options
        self.values: list[Any] = []

    def run(self, plan: Plan) -> list[Any]:
        """Compute every step, and return the results of the plan."""
        for step, origin in zip(plan.steps, plan.origins, strict=True):
            try:
                self.values.append(step.compute(self))
            except LogicError as error:
                if origin is None:
                    raise
                raise with_formula(error, plan.formulas[origin]) from error
        return [self[result] for result in plan.results]

    def __getitem__(self, value: Value) -> Any:
        return self.values[value.place]

    def formula(self, value: Value) -> Formula:
        """A value as a formula over its axes."""
        return Formula(self[value], value.axes)

    def term(self, value: Value) -> Term:
        """A value as a term over its axes."""
        return Term(self[value], value.axes)


class Recent(Generic[T]):
    """The `most` values that were used last, by key. Several threads may use it at once.

    >>> recent = Recent[int](most=2)
    >>> [recent.get(key, lambda: len(key)) for key in ("a", "bb", "a", "ccc")]
    [1, 2, 1, 3]
    >>> list(recent.keys)
    ['a', 'ccc']
    """

    def __init__(self, most: int):
        self.most = most
        self._values: dict[Hashable, T] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value under a key; else what `make` gives, kept from now on."""
        with self._lock:
            if key in self._values:
                # Move it to the end: the value that was unused for longest stands first.
                self._values[key] = self._values.pop(key)
                return self._values[key]
        # Not under the lock: it may take long, or ask for something else that is kept here.
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self.most:
                del self._values[next(iter(self._values))]
        return value

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys, the one that was used last at the end."""
        return tuple(self._values)


def with_formula(error: LogicError, formula: Node) -> LogicError:
    """The error with the formula in whose evaluation it occurred."""
    return type(error)(f"In `{formula}`: {error}")
