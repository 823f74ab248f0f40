"""Calls of networks: where each is made, which are made together, and what they return.

A network is called once for equal inputs, and all its calls that can be made together are one run. Which
calls there are is known only after all formulas have been seen. So formulas are planned twice, by the same
rules: the first time tells which calls there are, and the second time knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from ltn.core import axes
from ltn.core.scorers import Scorer
from ltn.core.symbols import Batch
from ltn.evaluation.frames import Frame, Frames, Occurrences
from ltn.language import Apply, Name, Node, Number
from ltn.language.tree import fold

# A function of the rows, and of the logits behind them; None where there are none.
Reading = Callable[[tf.Tensor, tf.Tensor | None], tf.Tensor]


@dataclass(frozen=True)
class Call:
    """A symbol on terms in a frame; calls with equal keys have the same inputs, row by row."""

    node: Apply
    frame: tuple[tuple[str, str], ...]
    key: Hashable

    @property
    def labels(self) -> list[str]:
        """The axes of the inputs, in order of first appearance."""
        return list(dict.fromkeys(label for _, label in self.frame))


@dataclass(frozen=True, eq=False)
class SharedRun:
    """Calls of one symbol that are made together."""

    symbol: str
    calls: tuple[Call, ...]


class Calls:
    """The calls that some formulas need.

    Args:
        frames: the axes of the formulas.
        source: where the individuals of a variable come from.
        symbols: those that are grounded by networks, or by other code.
        before: the calls as they were found when the same formulas were planned before.
    """

    def __init__(
        self,
        frames: Frames,
        source: Callable[[str], Any],
        symbols: Mapping[str, Any],
        before: Calls | None = None,
    ):
        self._frames = frames
        self._source = source
        self._symbols = symbols
        self._needed: dict[Hashable, Call] = {}
        self._depths: dict[Hashable, int] = {}
        self._runs: dict[Hashable, tuple[SharedRun, int]] = {}
        self._wide: set[Hashable] = set()
        # Those on tuples of samples that stay there.
        self._few: set[Hashable] = set()
        # For a call on a whole axis, where the individuals occur for which it is needed.
        self._occurrences: dict[Hashable, Occurrences] = {}
        if before is not None:
            self._expect(before)

    def agree_with(self, other: Calls) -> bool:
        """Whether both found the same calls."""
        return self._needed.keys() == other._needed.keys()

    def call(self, node: Apply, variables: Sequence[str], frame: Frame) -> Call:
        """Where to call a network that is needed in a frame; `variables` are those of its inputs."""
        by_axis = isinstance(self._symbols[node.symbol].network, Scorer)
        call = self._call_at(node, self._frames.place({v: frame[v] for v in variables}, by_axis))
        self._needed[call.key] = call
        return self._choose(call)

    def run(self, call: Call) -> tuple[SharedRun, int]:
        """The run that makes a call, and the place of the call in it."""
        if call.key not in self._runs:
            self._runs[call.key] = SharedRun(call.node.symbol, (call,)), 0
        return self._runs[call.key]

    def note(self, run: SharedRun, depth: int) -> None:
        """Record how many runs of networks come before this one."""
        self._depths.update((call.key, depth) for call in run.calls)

    def _expect(self, before: Calls) -> None:
        by_base: dict[Hashable, dict[Hashable, Call]] = {}
        for call in before._needed.values():
            by_base.setdefault(self._base(call).key, {})[call.key] = call
        for base, calls in by_base.items():
            # Selections from one axis overlap: it is computed as a whole once, and read by all; or only
            # for the individuals that occur in one of them, where these are known.
            if len(calls) > 1 and len(self._base(next(iter(calls.values()))).labels) == 1:
                self._note_few(calls.values())
                found = [self._occurrences_of(call) for call in calls.values() if not self._stays(call)]
                if None in found:
                    self._wide.add(base)
                elif found:
                    self._occurrences[base] = frozenset().union(*filter(None, found))
        self._wide.update(before._needed)
        groups: dict[tuple[str, int], dict[Hashable, Call]] = {}
        for call in map(self._choose, before._needed.values()):
            depth = before._depths.get(call.key, _nesting(call.node, self._symbols) - 1)
            groups.setdefault((call.node.symbol, depth), {})[call.key] = call
        for (symbol, _), calls in groups.items():
            run = SharedRun(symbol, tuple(calls.values()))
            self._runs.update((key, (run, place)) for place, key in enumerate(calls))

    def _base(self, call: Call) -> Call:
        return self._call_at(call.node, self._frames.base(dict(call.frame)))

    def _choose(self, call: Call) -> Call:
        """The call, or one on more individuals that is made anyway."""
        where = self._occurrences.get(self._base(call).key)
        if where is not None and not self._stays(call):
            (axis,) = self._base(call).labels
            joint = self._frames.occurring(axis, where)
            return self._call_at(call.node, {variable: joint for variable, _ in call.frame})
        wider = (self._call_at(call.node, frame) for frame in self._frames.below(dict(call.frame)))
        # The last one is on the most individuals.
        return [call, *(other for other in wider if other.key in self._wide)][-1]

    def _call_at(self, node: Apply, frame: Frame) -> Call:
        names = {variable: f"${position}" for position, variable in enumerate(frame)}
        positions = {label: position for position, label in enumerate(dict.fromkeys(frame.values()))}
        bases = self._frames.base(frame)
        # On an axis of tuples it also matters which member of the tuple the variable is.
        where = tuple(
            (self._source(v), positions[label], self._selection(label, bases[v]))
            for v, label in frame.items()
        )
        return Call(node, tuple(frame.items()), (_write(node, names), where))

    def _selection(self, label: str, base: str) -> Hashable:
        """Which individuals lie on an axis, of those of the axis `base`; None for all of them."""
        if self._frames.tuples(label) is None:
            return None
        # They are the same for every variable over them.
        return self._frames.occurrences(label) or (label, base)

    def _stays(self, call: Call) -> bool:
        """Whether a call is about the few individuals that occur in an execution, or that samples draw."""
        is_sparse = len(call.labels) == 1 and self._frames.is_sparse(call.labels[0])
        return is_sparse or call.key in self._few

    def _note_few(self, calls: Iterable[Call]) -> None:
        """Find out whether samples draw fewer individuals of one axis, all together, than it has."""
        drawn = {}
        for call in calls:
            tuples = self._frames.tuples(call.labels[0]) if len(call.labels) == 1 else None
            if tuples is not None and tuples.drawn is not None:
                [axis] = self._base(call).labels
                drawn[call.key] = tuples.drawn.most, tuples.drawn.sizes.get(axis)
        sizes = [size for _, size in drawn.values() if size is not None]
        if len(sizes) == len(drawn) and sum(most for most, _ in drawn.values()) < max(sizes, default=0):
            self._few.update(drawn)

    def _occurrences_of(self, call: Call) -> Occurrences | None:
        """Where the individuals occur that a call is about; None where it is about others too."""
        return self._frames.occurrences(call.labels[0]) if len(call.labels) == 1 else None


class RunOutput:
    """The rows that a network returned in one run, and the logits behind them where it has any.

    `counts` tells how many of them belong to each of the calls that were run together.
    """

    def __init__(self, rows: tf.Tensor, logits: tf.Tensor | None, counts: Sequence[axes.Size]):
        self.rows = rows
        self.logits = logits
        self._counts = counts
        self._read: dict[Hashable, list[tf.Tensor]] = {}

    def read(self, key: Hashable, reading: Reading) -> list[tf.Tensor]:
        """What a reading gives for each call; it is done once for all rows, and treats each row alone.

        `key` stands for the reading.
        """
        if key not in self._read:
            whole = reading(self.rows, self.logits)
            self._read[key] = [whole] if len(self._counts) == 1 else tf.split(whole, self._counts)
        return self._read[key]


class Output(NamedTuple):
    """What a network returned for one call: some of the rows of a run, and what it was called on.

    Attributes:
        run: the outputs of the run.
        position: the place of the call in it.
        batch: what it was called on.
        read_at: for a call that was not made, since another has its rows: the place of each row among those
            of that other call, whose `position` it is then.
    """

    run: RunOutput
    position: int
    batch: Batch
    read_at: tf.Tensor | None = None

    @property
    def rows(self) -> tf.Tensor:
        """The rows as they were returned."""
        return self.read("rows", lambda rows, _: rows)

    @property
    def logits(self) -> tf.Tensor | None:
        """The logits behind the rows; None where there are none."""
        return None if self.run.logits is None else self.read("logits", lambda _, logits: logits)

    def read(self, key: Hashable, reading: Reading) -> tf.Tensor:
        """What `RunOutput.read` gives for this call."""
        found = self.run.read(key, reading)[self.position]
        return found if self.read_at is None else tf.gather(found, self.read_at)


def _nesting(node: Node, symbols: Mapping[str, Any]) -> int:
    """How deeply networks are nested in a term."""

    def deepest(node: Node, below: tuple[int, ...]) -> int:
        return max(below, default=0) + (isinstance(node, Apply) and node.symbol in symbols)

    return fold(node, deepest)


def _write(node: Node, names: Mapping[str, str]) -> str:
    """The term with its variables replaced by their positions."""

    def combine(node: Node, below: tuple[str, ...]) -> str:
        if isinstance(node, Name):
            return names.get(node.name, node.name)
        if isinstance(node, Number):
            return repr(node.value)
        head = node.symbol if isinstance(node, Apply) else getattr(node, "operator", "-")
        return f"({head} {' '.join(below)})"

    return fold(node, combine)
