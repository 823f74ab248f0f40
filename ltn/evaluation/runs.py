"""Runs of networks: what they are run on, and what is read from their rows."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ltn import _private
from ltn.core import Predicate, Term, axes
from ltn.core.models import logits_of
from ltn.core.symbols import Batch, Symbol
from ltn.evaluation import tuples
from ltn.evaluation.bounds import check_inside
from ltn.evaluation.calls import Call, Output, RunOutput
from ltn.evaluation.first_layer import ByArgument, by_argument
from ltn.evaluation.frames import Frame
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import Planner, Request, Rule, RunOf
from ltn.language import Apply, Name, Node


class Cover(NamedTuple):
    """The call that has all rows of another one.

    Attributes:
        position: the place of the call in its run.
        every: the variables that it is about, each over all individuals of a domain.
        own: the variables and constants that the other call is about.
        labels: the axes of these; None for a constant.
    """

    position: int
    every: tuple[str, ...]
    own: tuple[str, ...]
    labels: tuple[str | None, ...]

    def rows(self, groundings: Groundings) -> np.ndarray:
        """For each row of the other call, its place among the rows of this one."""
        order = list(dict.fromkeys(label for label in self.labels if label is not None))
        rows = np.zeros([1] * len(order), int)
        for every, own, label in zip(self.every, self.own, self.labels, strict=True):
            # The number of individuals may have changed since the plan was made.
            places = groundings.places(own).reshape([-1 if label == other else 1 for other in order])
            rows = rows * groundings.count(every) + places
        return rows.ravel()


@dataclass(frozen=True)
class NetworkRun(Step):
    """The outputs of a network, one for each of its calls; a call has a list of terms.

    `covers` tells for each call which other one has its rows; None where it is made.
    """

    symbol: str
    calls: tuple[tuple[Value, ...], ...]
    covers: tuple[Cover | None, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return ()

    def compute(self, execution: Execution) -> list[Output]:
        symbol: Symbol = execution.world.symbols[self.symbol]
        calls = [[execution.term(term) for term in terms] for terms in self.calls]
        made = [number for number, cover in enumerate(self.covers) if cover is None]
        outputs = dict(zip(made, self._make(symbol, [calls[number] for number in made]), strict=True))
        for number, cover in enumerate(self.covers):
            if cover is not None:
                batch = symbol.outline(calls[number])
                read_at = tf.constant(cover.rows(execution.world.groundings), tf.int32)
                outputs[number] = outputs[cover.position]._replace(batch=batch, read_at=read_at)
        return [outputs[number] for number in range(len(calls))]

    def _make(self, symbol: Symbol, calls: list[list[Term]]) -> list[Output]:
        """The outputs of the calls that are made."""
        independent = _rows_are_independent(symbol)
        if independent and _are_on_several_axes(calls):
            parts = by_argument(symbol.network)
            if parts is not None:
                return _run_by_argument(symbol, parts, calls)
        batches = [symbol.batch(terms) for terms in calls]
        as_list = len(calls[0]) > 1
        if independent and len({batch.shapes for batch in batches}) == 1:
            returned = _run(symbol, batches, as_list)
            return [Output(returned, position, batch) for position, batch in enumerate(batches)]
        return [Output(_run(symbol, [batch], as_list), 0, batch) for batch in batches]

    def describe(self) -> str:
        made = self.covers.count(None)
        calls = "" if made == 1 else f", {made} calls"
        read = len(self.covers) - made
        return f"run {self.symbol}{calls}" + (f", read by {read} more" if read else "")


@dataclass(frozen=True)
class FunctionValue(Step):
    """The value of a function on terms, over the axes `labels` of the network's rows."""

    symbol: str
    run: Value
    position: int
    labels: tuple[str, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return self.labels

    def compute(self, execution: Execution) -> tf.Tensor:
        output, world = execution[self.run][self.position], execution.world
        values = world.symbols[self.symbol].value(output.rows, output.batch).tensor
        check_inside(self.symbol, world.groundings.signature.functions[self.symbol][1], values)
        return values

    def describe(self) -> str:
        return self.symbol


@dataclass(frozen=True)
class ProductPart(Step):
    """One part of a term of a product domain, with the shape of its own domain."""

    term: Value
    sizes: tuple[int, ...]
    position: int
    shape: tuple[int | None, ...]

    def compute(self, execution: Execution) -> tf.Tensor:
        piece = tf.split(execution[self.term], self.sizes, axis=-1)[self.position]
        return tf.reshape(piece, tf.concat([tf.shape(piece)[:-1], self.shape], 0))

    def describe(self) -> str:
        return f"part {self.position + 1}"


class PlannedCall(NamedTuple):
    """A call of a network, as its caller sees it.

    Attributes:
        run: the outputs of the run that makes the call.
        position: the place of the call in the run.
        labels: the axes of the rows, by the names that they have in the run.
        names: what the caller calls these axes.
        frame: the caller's variables on them.
    """

    run: Value
    position: int
    labels: tuple[str, ...]
    names: dict[str, str]
    frame: dict[str, str]


def plan_run(planner: Planner, request: RunOf) -> Rule:
    """The outputs of a network for all calls of a run."""
    calls = []
    for call in request.run.calls:
        terms = yield from _plan_arguments(planner, call.node.arguments, dict(call.frame))
        if planner.symbols[call.node.symbol].picks_class:
            terms = terms[: len(planner.signature.predicates[call.node.symbol]) - 1]
        calls.append(tuple(terms))
    covers: list[Cover | None] = [None] * len(calls)
    if _rows_are_independent(planner.symbols[request.run.symbol]):
        covers = _find_covers(planner, request.run.calls)
    step = NetworkRun(request.run.symbol, tuple(calls), tuple(covers))
    run = planner.add(step, runs_network=True)
    planner.calls.note(request.run, planner.plan.depth(run) - 1)
    return run


def _find_covers(planner: Planner, calls: Sequence[Call]) -> list[Cover | None]:
    """For each call of a run the call that covers it, or None where it has to be made.

    F(x, y) for all individuals of a domain covers F(a, b) for two constants, F(x, x), and F(u, v) for
    variables over some of the individuals.
    """
    whole = [number for number, call in enumerate(calls) if _is_whole(planner, call)]
    return [
        None
        if number in whole
        else next(filter(None, (_cover(planner, calls, other, number) for other in whole)), None)
        for number in range(len(calls))
    ]


def _is_whole(planner: Planner, call: Call) -> bool:
    """Whether a call is about all individuals of some domains, each on an axis of its own."""
    frame = dict(call.frame)
    names = _names_in(planner, call)
    if names is None or not all(planner.kind_of(name) == "domain" for name in names if name in frame):
        return False
    return len({frame.get(name) for name in names} - {None}) == len(names)


def _cover(planner: Planner, calls: Sequence[Call], whole: int, number: int) -> Cover | None:
    every, own = _names_in(planner, calls[whole]), _names_in(planner, calls[number])
    if every is None or own is None:
        return None
    for all_of, name in zip(every, own, strict=True):
        domain, own_domain = (planner.signature.sort_of(Name(each)).domain for each in (all_of, name))
        if domain is None or own_domain is None or not domain.is_same(own_domain):
            return None
        if not planner.groundings.is_of_domain(name):
            return None
    frame = dict(calls[number].frame)
    return Cover(whole, tuple(every), tuple(own), tuple(map(frame.get, own)))


def _names_in(planner: Planner, call: Call) -> list[str] | None:
    """The variables and constants that a call is about; None where it is about other terms, or tuples."""
    frame = dict(call.frame)
    if any(planner.frames.tuples(label) is not None for label in frame.values()):
        return None
    names = [argument.name for argument in call.node.arguments if isinstance(argument, Name)]
    return names if len(names) == len(call.node.arguments) else None


def plan_call(planner: Planner, node: Apply, frame: Frame) -> Generator[Request, Value, PlannedCall]:
    """A call of a network: where its rows are, and on which axes."""
    node = Apply(planner.runner(node.symbol), node.arguments)
    call = planner.calls.call(node, planner.free(node), frame)
    shared, position = planner.calls.run(call)
    run = yield RunOf(shared)
    step = planner.plan.steps[run.place]
    if not isinstance(step, NetworkRun):
        raise RuntimeError("A run is planned as a NetworkRun.")
    labels = tuple(axes.union([term.axes for term in step.calls[position]]))
    # Another variable over the same individuals may have been the first to ask.
    names = dict(zip(shared.calls[position].labels, call.labels, strict=True))
    return PlannedCall(run, position, labels, names, dict(call.frame))


def plan_function(planner: Planner, node: Apply, frame: Frame) -> Rule:
    """The value of a function over the axes of a frame."""
    called = yield from plan_call(planner, node, frame)
    value = planner.add(FunctionValue(node.symbol, called.run, called.position, called.labels))
    return (yield from tuples.lift(planner, value.rename(called.names), called.frame, frame))


def plan_classes(
    planner: Planner, node: Node, called: PlannedCall, frame: Frame
) -> Generator[Request, Value, tuple[Value, dict[str, str]]]:
    """The classes to pick from the rows of a call, and the frame of both."""
    low = called.frame
    own = planner.restrict(frame, node)
    if any(low[variable] != frame[variable] for variable in low):
        # Picking costs nothing: where the network runs on whole axes, the classes lie on whole axes too,
        # on that of their individuals if they share it.
        own = {v: planner.frames.descend(v, label, set(low.values())) for v, label in own.items()}
    low = own | low
    terms = yield from _plan_arguments(planner, [node], low)
    return terms[-1], low


def split_class(planner: Planner, node: Apply) -> tuple[Apply, Node | None]:
    """A call of a network, and the class to pick from its output where it has several."""
    if not planner.symbols[node.symbol].picks_class:
        return node, None
    *others, last = node.arguments
    domain = planner.signature.sort_of(last).domain
    # The last part of a product is the class, and the others are for the network.
    is_product = domain is not None and bool(domain.parts)
    return (node if is_product else Apply(node.symbol, tuple(others))), last


def _plan_arguments(
    planner: Planner, nodes: Sequence[Node], frame: Frame
) -> Generator[Request, Value, list[Value]]:
    terms = []
    for node in nodes:
        terms += yield from plan_parts(planner, node, planner.restrict(frame, node))
    return terms


def plan_parts(planner: Planner, node: Node, frame: Frame) -> Generator[Request, Value, list[Value]]:
    """The arguments that a term stands for: itself, or its parts where its domain is a product."""
    whole = yield planner.term(node, frame)
    domain = planner.signature.sort_of(node).domain
    if domain is None or not domain.parts:
        return [whole]
    sizes = tuple(math.prod(size or 1 for size in part.shape) for part in domain.parts)
    return [
        planner.add(ProductPart(whole, sizes, position, part.shape))
        for position, part in enumerate(domain.parts)
    ]


def _are_on_several_axes(calls: Sequence[Sequence[Term]]) -> bool:
    return any(len({tuple(term.free_vars) for term in terms}) > 1 for terms in calls)


def _run_by_argument(symbol: Symbol, network: ByArgument, calls: Sequence[Sequence[Term]]) -> list[Output]:
    """The outputs of a network that is computed argument by argument."""
    products: list[tf.Tensor] = []
    parts: dict[int, Batch] = {}
    together = [number for number, terms in enumerate(calls) if len({tuple(t.free_vars) for t in terms}) == 1]
    if together:
        batches = [symbol.batch(calls[number]) for number in together]
        products.append(network.joint_products([batch.tensors for batch in batches]))
        parts.update(zip(together, batches, strict=True))
    for number, terms in enumerate(calls):
        if number not in parts:
            parts[number] = symbol.outline(terms)
            products.append(network.products(terms))
    whole = products[0] if len(products) == 1 else tf.concat(products, axis=0)
    size, shapes = axes.size_of(whole, 0), parts[0].shapes
    rows = symbol.check_run(lambda: network.finish(whole), shapes, size, "one list of tensors")
    returned = _run_output(symbol, rows, list(parts.values()))
    places = {number: place for place, number in enumerate(parts)}
    return [Output(returned, places[number], parts[number]) for number in range(len(calls))]


def _run(symbol: Symbol, batches: Sequence[Batch], as_list: bool) -> RunOutput:
    """What a network returns for some batches in one run."""
    whole = batches[0]
    if len(batches) > 1:
        tensors = zip(*(batch.tensors for batch in batches), strict=True)
        whole = whole._replace(tensors=[tf.concat(parts, axis=0) for parts in tensors])
    return _run_output(symbol, symbol.run(whole, as_list), batches)


def _run_output(symbol: Symbol, rows: tf.Tensor, batches: Sequence[Batch]) -> RunOutput:
    logits = logits_of(rows) if isinstance(symbol, Predicate) else None
    return RunOutput(rows, logits, [math.prod(batch.sizes) for batch in batches])


def _rows_are_independent(symbol: Symbol) -> bool:
    """Whether the network treats each row alone; nothing is known about a plain callable."""
    network = symbol.network
    return isinstance(network, keras.Layer) and not any(
        isinstance(layer, keras.layers.BatchNormalization) for layer in _private.layers_within(network)
    )
