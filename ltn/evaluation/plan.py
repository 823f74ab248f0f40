"""Plans: a flat list of steps, each of which computes one value from values before it."""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import tensorflow as tf

from ltn.core import Formula, Term, axes
from ltn.errors import LogicError
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.relations import Relation
from ltn.evaluation.spaces import Space
from ltn.language import Node, text

T = TypeVar("T")
R = TypeVar("R", bound="Reader")

# Options for the quantifiers of one formula alone, by kind: {"exists": {"p": 6.0}}.
Options = dict[str, dict[str, Any]]
# What is no argument of an operator: how many tuples are drawn.
_SAMPLE = "sample"

# How many alike steps are computed as one: fewer gain nothing.
LEAST_ALIKE = 4
# Errors show this many characters of a formula.
_LONGEST_SHOWN = 300
# The axis on which their values are stacked; no variable has this name.
_ALIKE = "(alike)"


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

    def on(self: R, change: Callable[[Value], Value]) -> R:
        """The same, reading other values."""
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return dataclasses.replace(self, **{name: _change(part, change) for name, part in parts.items()})


def _values_in(parts: Iterable[Any]) -> Iterator[Value]:
    for part in parts:
        if isinstance(part, Value):
            yield part
        elif isinstance(part, tuple):
            yield from _values_in(part)
        elif isinstance(part, Reader):
            yield from part.inputs


def _change(part: Any, change: Callable[[Value], Value]) -> Any:
    if isinstance(part, Value):
        return change(part)
    if isinstance(part, Reader):
        return part.on(change)
    return tuple(_change(each, change) for each in part) if isinstance(part, tuple) else part


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

    def may_stack(self, world: World) -> bool:
        """Whether it may be computed on a further axis, together with alike steps on other values."""
        return False

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


class Sampling(NamedTuple):
    """How samples are drawn.

    Attributes:
        seed: by what, int64, (2,).
        most: how many tuples each quantifier draws that is written with `sample`; None for as many as that.
    """

    seed: tf.Tensor
    most: int | None = None


class World(NamedTuple):
    """What formulas are evaluated in: the meaning of their symbols, and the space of their values."""

    groundings: Groundings
    symbols: Mapping[str, Any]
    propositions: Mapping[str, Any]
    space: Space
    # The predicates whose truth is known.
    relations: Mapping[str, Relation]
    # Whether the operators differ from those that the formulas were written for: options of quantifiers
    # that they lack are left out.
    other_operators: bool = False
    # What samples are drawn by, int64, (2,); None where none are drawn.
    seed: Any = None


class Execution:
    """The values of a plan in a world, as they are computed.

    Args:
        world: what symbols mean.
        options: for each formula of the plan the options of its quantifiers that its text does not set.
    """

    def __init__(self, world: World, options: Sequence[Options] = ()):
        self.world = world
        self.options = [without_samples(own) for own in options]
        self.values: list[Any] = []

    def run(self, plan: Plan, joins_alike: bool = False) -> list[Any]:
        """Compute every step, and return the results of the plan.

        Alike steps are computed as one in compiled code; and in eager code with `joins_alike`, for plans that
        are executed again and again.
        """
        # Eager operators are compiled functions of their own, few of which is better than short ones.
        joins = joins_alike or not tf.executing_eagerly()
        groups = self._groups(plan) if joins else [[n] for n in range(len(plan.steps))]
        self.values = [None] * len(plan.steps)
        for places in groups:
            origin = plan.origins[places[0]]
            try:
                self._compute(plan, places)
            except LogicError as error:
                if origin is None:
                    raise
                raise with_formula(error, plan.formulas[origin]) from error
        return [self[result] for result in plan.results]

    def _groups(self, plan: Plan) -> list[list[int]]:
        """The places of the steps, in an order of evaluation; alike steps that can be one are together.

        Many axioms of one form, as `forall x: P(x, a) -> P(x, b)`, are then as few operations as one.
        """
        levels: list[int] = []
        groups: dict[tuple[int, Hashable], list[int]] = {}
        for place, step in enumerate(plan.steps):
            inputs = step.inputs
            levels.append(1 + max((levels[value.place] for value in inputs), default=-1))
            # Values on several axes may be large: they are not copied.
            stacks = max((len(value.axes) for value in inputs), default=2) < 2 and step.may_stack(self.world)
            likeness = step.on(lambda value: value._replace(place=-1)) if stacks else place
            groups.setdefault((levels[place], likeness), []).append(place)
        return [groups[key] for key in sorted(groups, key=lambda key: key[0])]

    def _compute(self, plan: Plan, places: Sequence[int]) -> None:
        steps = [plan.steps[place] for place in places]
        read = list(zip(*(step.inputs for step in steps), strict=True))
        kinds = [{self[value].dtype for value in values} for values in read] if len(steps) > 1 else []
        if len(steps) < LEAST_ALIKE or any(len(kind) > 1 for kind in kinds):
            for place, step in zip(places, steps, strict=True):
                self.values[place] = step.compute(self)
            return
        stacked = []
        for values in read:
            stacked.append(Value(len(self.values), (_ALIKE, *values[0].axes)))
            self.values.append(tf.stack([self[value] for value in values]))
        operands = iter(stacked)
        found = tf.unstack(steps[0].on(lambda _: next(operands)).compute(self), len(steps))
        for place, value in zip(places, found, strict=True):
            self.values[place] = value

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


def samples_in(options: Options) -> dict[str, int]:
    """How many tuples quantifiers draw, by their kind, where options tell it."""
    return {kind: own[_SAMPLE] for kind, own in options.items() if _SAMPLE in own}


def without_samples(options: Options) -> Options:
    """The options that operators take."""
    found = {kind: {n: v for n, v in own.items() if n != _SAMPLE} for kind, own in options.items()}
    return {kind: own for kind, own in found.items() if own}


def with_formula(error: LogicError, formula: Node) -> LogicError:
    """The error with the formula in whose evaluation it occurred."""
    # The normal form of a short formula may be very long.
    return type(error)(f"In `{text(formula, most=_LONGEST_SHOWN)}`: {error}")
