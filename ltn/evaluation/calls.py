"""Calls of networks: each once for equal inputs, and all calls of one symbol in one batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from ltn.core import Predicate, Term
from ltn.core.groundings import logits_of
from ltn.core.symbols import Batch, Symbol
from ltn.evaluation.frames import Frame, Frames
from ltn.evaluation.outputs import Output, Returned
from ltn.language import Apply, Arithmetic, Name, Negative, Node


@dataclass(frozen=True)
class Call:
    """A symbol on terms in a frame; calls with one key have the same inputs, row by row."""

    node: Apply
    frame: tuple[tuple[str, str], ...]
    key: Any

    @property
    def labels(self) -> list[str]:
        """The axes of the inputs, in order of first appearance."""
        return list(dict.fromkeys(label for _, label in self.frame))


class Calls:
    """The calls of one evaluation.

    Demanded first, they are run together; one that is asked for before is run alone.
    """

    def __init__(
        self,
        symbols: dict[str, Symbol],
        frames: Frames,
        source: Callable[[str], Any],
        terms: Callable[[Apply, Frame], list[Term]],
    ):
        self._symbols = symbols
        self._frames = frames
        self._source = source
        self._terms = terms
        self._demands: dict[Any, dict[Any, Call]] = {}
        self._whole: set[Any] = set()
        self._outputs: dict[Any, Output] = {}

    def demand(self, node: Apply, variables: Sequence[str], frame: Frame) -> None:
        """Announce a call; `variables` are those that the network's inputs depend on."""
        call = self._placed(node, variables, frame)
        self._demands.setdefault(self._base(call).key, {})[call.key] = call

    def run(self) -> None:
        """Run what is demanded, each symbol once for all inputs that are known at that depth."""
        for base, calls in self._demands.items():
            # Selections from one axis overlap, and the whole axis may be needed anyway: then it is
            # computed once, and read by all.
            if len(calls) > 1 and (base in calls or len(self._base(next(iter(calls.values()))).labels) == 1):
                self._whole.add(base)
        pending: dict[Any, Call] = {}
        for calls in self._demands.values():
            for call in calls.values():
                chosen = self._chosen(call)
                if chosen.key not in self._outputs:
                    pending[chosen.key] = chosen
        depths = {key: _depth(call.node, self._symbols) for key, call in pending.items()}
        for depth in sorted(set(depths.values())):
            groups: dict[str, list[Call]] = {}
            for key, call in pending.items():
                if depths[key] == depth:
                    groups.setdefault(call.node.symbol, []).append(call)
            for calls_of_symbol in groups.values():
                self._run(calls_of_symbol)

    def output(self, node: Apply, variables: Sequence[str], frame: Frame) -> tuple[Output, dict[str, str]]:
        """What the network returned, with the frame of its rows."""
        call = self._chosen(self._placed(node, variables, frame))
        if call.key not in self._outputs:
            self._run([call])
        output = self._outputs[call.key]
        # Another variable over the same individuals may have been the first to ask.
        return output._replace(batch=output.batch._replace(labels=call.labels)), dict(call.frame)

    def _placed(self, node: Apply, variables: Sequence[str], frame: Frame) -> Call:
        return self._call(node, self._frames.place({v: frame[v] for v in variables}))

    def _base(self, call: Call) -> Call:
        return self._call(call.node, self._frames.base(dict(call.frame)))

    def _chosen(self, call: Call) -> Call:
        """The call, or one on more that is made anyway: on whole axes, or for a guard."""
        wider = [self._call(call.node, frame) for frame in self._frames.below(dict(call.frame))]
        made = [other for other in wider if other.key in self._whole or other.key in self._outputs]
        return made[0] if made else call

    def _call(self, node: Apply, frame: Frame) -> Call:
        names = {variable: f"${position}" for position, variable in enumerate(frame)}
        positions = {label: position for position, label in enumerate(dict.fromkeys(frame.values()))}
        bases = self._frames.base(frame)
        # On an axis of tuples it also counts which member of the tuple the variable is.
        where = tuple(
            (self._source(v), positions[label], (label, bases[v]) if self._frames.tuples(label) else None)
            for v, label in frame.items()
        )
        return Call(node, tuple(frame.items()), (_renamed(node, names), where))

    def _run(self, calls: list[Call]) -> None:
        symbol = self._symbols[calls[0].node.symbol]
        inputs = [self._terms(call.node, dict(call.frame)) for call in calls]
        as_list = len(inputs[0]) > 1
        batches = [symbol.batch(terms) for terms in inputs]
        alike = len({batch.shapes for batch in batches}) == 1
        pairs = list(zip(calls, batches, strict=True))
        together = alike and _rows_are_independent(symbol)
        for group in [pairs] if together else [[pair] for pair in pairs]:
            returned = _returned(symbol, [batch for _, batch in group], as_list)
            for part, (call, batch) in enumerate(group):
                self._outputs[call.key] = Output(returned, part, batch)


def _returned(symbol: Symbol, batches: Sequence[Batch], as_list: bool) -> Returned:
    """What a network returns for some batches in one run."""
    whole = batches[0]
    if len(batches) > 1:
        tensors = zip(*(batch.tensors for batch in batches), strict=True)
        whole = whole._replace(tensors=[tf.concat(parts, axis=0) for parts in tensors])
    rows = symbol.run(whole, as_list)
    logits = logits_of(rows) if isinstance(symbol, Predicate) else None
    return Returned(rows, logits, [math.prod(batch.sizes) for batch in batches])


def _rows_are_independent(symbol: Symbol) -> bool:
    """Whether the network treats each row alone; of a plain callable nothing is known."""
    network = symbol.network
    return isinstance(network, keras.Layer) and not any(
        isinstance(layer, keras.layers.BatchNormalization) for layer in network._flatten_layers()
    )


def _depth(node: Node, symbols: dict[str, Symbol]) -> int:
    below = max((_depth(child, symbols) for child in node.children), default=0)
    return below + (isinstance(node, Apply) and node.symbol in symbols)


def _renamed(node: Node, names: dict[str, str]) -> Any:
    """The term with its variables replaced by where they come in it."""
    if isinstance(node, Name):
        return names.get(node.name, node)
    if isinstance(node, Apply):
        return (node.symbol, *(_renamed(argument, names) for argument in node.arguments))
    if isinstance(node, Arithmetic | Negative):
        kind = node.operator if isinstance(node, Arithmetic) else "-"
        return (kind, *(_renamed(child, names) for child in node.children))
    return node
