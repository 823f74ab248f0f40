"""Evaluation of syntax trees: the grounding of terms and formulas, on the axes of a frame."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, cast

from ltn.core import Formula, Proposition, Term, axes
from ltn.core.expressions import connect
from ltn.core.symbols import Symbol
from ltn.errors import LogicError, LogicValueError
from ltn.evaluation import chunks, connectives, crisp, guards, quantifiers, replicas, terms
from ltn.evaluation.calls import Calls
from ltn.evaluation.frames import Frame, Frames
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.spaces import Space, truth_of
from ltn.fuzzy_ops import Aggregator
from ltn.language import (
    Apply,
    Binary,
    Comparison,
    Name,
    Node,
    Quantifier,
    Signature,
)

# Options of quantifiers that one formula has of its own, by kind: {"exists": {"p": 6.0}}.
Options = dict[str, dict[str, Any]]


class Evaluation:
    """One evaluation of formulas under fixed groundings; equal parts of them are computed once.

    Args:
        groundings: what variables and constants denote.
        symbols: the predicates and functions by name.
        propositions: by name.
        space: in which truth is computed.
        dense: whether guards go into the aggregators as masks, so that all shapes stay static, as XLA
            needs it; else the guard is evaluated first, and the body only on what it selects.
        other_operators: whether the operators are not those that the formulas were written for: options
            of quantifiers that they lack are then left out.
        chunk: how many combinations of individuals the outermost quantifiers evaluate at once; None for all.
    """

    def __init__(
        self,
        groundings: Groundings,
        symbols: Mapping[str, Symbol],
        propositions: Mapping[str, Proposition],
        space: Space,
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
    ):
        self.groundings = groundings
        self.signature: Signature = groundings.signature
        self.symbols = dict(symbols)
        self.propositions = propositions
        self.space = space
        self.dense = dense
        self.other_operators = other_operators
        self.chunk = chunk
        self.frames = Frames()
        self.calls = Calls(self.symbols, self.frames, groundings.source, self._network_terms)
        self._options: Options = {}
        self._values: dict[Any, Any] = {}
        self._selections: dict[Any, dict[str, str]] = {}
        self._free: dict[Node, list[str]] = {}

    def ground(self, nodes: Sequence[Node], options: Sequence[Options] = ()) -> list[Any]:
        """The groundings of terms and formulas, over their free variables in order of appearance.

        Formulas are given as `Space.prepared` makes them; their tensors hold values of the space.
        `options` may give to each of them options of quantifiers which its text does not set.
        """
        if replicas.count() > 1:
            paths = [path for node in nodes for path in self._paths(node)]
            # Data that a `diag` pairs with individuals of its own are not divided either.
            paired = [group for path in paths for group in path if self._kinds(group) != {"data"}]
            self.groundings.gather(replicas.meeting(paths, paired))
        for node in nodes:
            with explained(node):
                self._announce(node, self.root(node))
        self.calls.run()
        grounded = []
        for node, own in zip(nodes, options or [{}] * len(nodes), strict=True):
            with explained(node):
                frame = self.root(node)
                grounded.append(_ordered(self.with_options(own).value(node, frame), frame))
        return grounded

    def demand(self, node: Node) -> None:
        """Run the networks that a formula needs."""
        self._announce(node, self.root(node))
        self.calls.run()

    def with_options(self, options: Options) -> Evaluation:
        """This evaluation with other options for quantifiers; it shares networks' outputs, not values."""
        if not options:
            return self
        twin = copy.copy(self)
        twin._options, twin._values = options, {}
        return twin

    def without_data(self) -> Evaluation:
        """A new evaluation of terms and guards that depend neither on data nor on what is learned."""
        return Evaluation(Groundings(self.signature, {}, self.groundings.choices, {}), {}, {}, self.space)

    def sliced(self, group: Sequence[str], start: Any, size: Any, data: Mapping[str, Any]) -> Evaluation:
        """A new evaluation in which some variables range over a slice of their individuals.

        `data` stands for what was given under the same names.
        """
        groundings = self.groundings.sliced(group, start, size, data)
        twin = Evaluation(
            groundings, self.symbols, self.propositions, self.space, self.dense, self.other_operators
        )
        twin._options = self._options
        return twin

    def root(self, node: Node) -> dict[str, str]:
        """The frame of a whole formula: every free variable on an axis of its own."""
        return {variable: self.bind([variable]) for variable in self.free(node)}

    def bind(self, variables: Sequence[str]) -> str:
        """The axis of a variable, or of those of a `diag`."""
        sources = {v: (self.groundings.source(v) or ("none", ""))[0] for v in variables}
        given = next((v for v, kind in sources.items() if kind in ("data", "gathered")), None)
        if given is not None and "domain" in sources.values():
            other = next(v for v, kind in sources.items() if kind == "domain")
            raise LogicValueError(
                f"diag({', '.join(variables)}) pairs the data of '{given}' with all individuals of the "
                f"domain '{self.signature.variables[other].name}': give data for '{other}' too."
            )
        return self.frames.bind(variables, [self.groundings.variable(v) for v in variables])

    def free(self, node: Node) -> list[str]:
        """The free variables, in order of first appearance."""
        if node not in self._free:
            self._free[node] = self.signature.free_variables(node)
        return self._free[node]

    def value(self, node: Node, frame: Frame) -> Any:
        """The value of a node over the axes of a frame: a `Formula`, or a `Term`."""
        own = self.restricted(frame, node)
        key = (node, tuple(own.items()))
        # Not by `once`: formulas may be nested so deep that each call in between counts.
        if key not in self._values:
            self._values[key] = self._compute(node, own)
        return self._values[key]

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """What is computed, by whoever needs it first in this evaluation; `key` stands for it."""
        if key not in self._values:
            self._values[key] = compute()
        return self._values[key]

    def restricted(self, frame: Frame, node: Node) -> dict[str, str]:
        """The part of a frame that a node depends on."""
        return {variable: frame[variable] for variable in self.free(node)}

    def _compute(self, node: Node, frame: Frame) -> Any:
        if isinstance(node, Quantifier):
            return quantifiers.quantified(self, node, frame)
        if isinstance(node, Binary):
            return connectives.connected(self, node, frame)
        atom, negated = connectives.signed(node)
        if self.is_atom(atom):
            return self._atom(atom, frame, negated)
        if negated:
            return connect(self.space.semantics.Not, self.value(atom, frame))
        return terms.term(self, node, frame)

    def is_atom(self, node: Node) -> bool:
        """Whether the node is an atomic formula."""
        if isinstance(node, Apply):
            return node.symbol in self.signature.predicates
        return isinstance(node, Comparison) or (
            isinstance(node, Name) and node.name in self.signature.propositions
        )

    def _atom(self, node: Node, frame: Frame, negated: bool) -> Formula:
        if isinstance(node, Name):
            return self.space.crisp(Formula(self.propositions[node.name].tensor, []), negated)
        if isinstance(node, Comparison):
            return crisp.compared(self, node, frame, negated)
        value, low = self.applied(cast(Apply, node), frame, negated)
        return self.frames.lift(value, low, frame)

    def applied(self, node: Apply, frame: Frame, negated: bool) -> tuple[Formula, Frame]:
        """The value of a predicate on terms, or of its negation, and the frame of the network's rows."""
        output, classes, low = self.output(node, frame)
        predicate = self.symbols[node.symbol]
        key = (node, tuple(low.items()), negated)
        return self.once(key, lambda: self.space.atom(predicate, output, classes, negated)), low

    def truth(self, node: Apply, frame: Frame) -> Formula:
        """The truth of a predicate on terms, in [0, 1] whatever the space."""
        predicate = self.symbols[node.symbol]
        output, classes, low = self.output(node, frame)
        return self.frames.lift(truth_of(predicate, output, classes), low, frame)

    def output(self, node: Apply, frame: Frame) -> tuple[Any, Term | None, dict[str, str]]:
        """What the network of a symbol returned, the classes to pick from it, and the frame of both."""
        network, class_node = self._split(node)
        output, low = self.calls.output(network, self.free(network), frame)
        if class_node is None:
            return output, None, low
        own = self.restricted(frame, class_node)
        if any(low[variable] != frame[variable] for variable in low):
            # Picking costs nothing: where the network runs on whole axes, so do the classes, on the same one
            # as their individuals if they share one.
            own = {v: self.frames.level(v, label, set(low.values())) for v, label in own.items()}
        low = own | low
        return output, self._arguments([class_node], low)[-1], low

    def _split(self, node: Apply) -> tuple[Apply, Node | None]:
        """A call of a network, and the class to pick from its output where it has several."""
        symbol = self.symbols[node.symbol]
        if symbol.picks_class:
            *others, last = node.arguments
            domain = terms.domain_of(self.signature, last)
            # Of a product, the last part is the class, and the others are for the network.
            whole = domain is not None and bool(domain.parts)
            return (node if whole else Apply(node.symbol, tuple(others))), last
        return node, None

    def _network_terms(self, node: Apply, frame: Frame) -> list[Term]:
        parts = self._arguments(node.arguments, frame)
        if self.symbols[node.symbol].picks_class:
            return parts[: len(self.signature.predicates[node.symbol]) - 1]
        return parts

    def _arguments(self, nodes: Sequence[Node], frame: Frame) -> list[Term]:
        return [part for node in nodes for part in terms.parts(self, node, frame)]

    def _announce(self, node: Node, frame: Frame) -> None:
        """Demand the network calls of a formula, in the frames in which `value` will ask for them."""
        if isinstance(node, Quantifier):
            own = self.restricted(frame, node)
            if chunks.needed(self, node, own):
                return
            inner = self.inside(node, own)
            if node.guard is not None and not self.selects(node):
                self._announce(node.guard, inner)
            self._announce(node.body, inner)
            return
        for child in connectives.operands(node) if isinstance(node, Binary) else node.children:
            self._announce(child, frame)
        if isinstance(node, Apply) and node.symbol in self.symbols:
            network, _ = self._split(node)
            self.calls.demand(network, self.free(network), frame)

    def _paths(self, node: Node, above: tuple[replicas.Group, ...] = ()) -> list[tuple[replicas.Group, ...]]:
        """The groups of data on each path of nested quantifiers."""
        if isinstance(node, Quantifier):
            groups = [group for group in node.groups if "data" in self._kinds(group)]
            return self._paths(node.body, (*above, *groups))
        below = [path for child in node.children for path in self._paths(child, above)]
        return below or [above]

    def _kinds(self, group: Sequence[str]) -> set[str]:
        return {(self.groundings.source(variable) or ("none", ""))[0] for variable in group}

    def inside(self, node: Quantifier, frame: Frame, select: bool = False) -> dict[str, str]:
        """The frame of a quantifier's body: with the axes it binds, or the tuples its guard selects.

        `select` demands the tuples, also where the aggregator would take a mask.
        """
        inner = dict(frame)
        for group in node.groups:
            inner |= dict.fromkeys(group, self.bind(group))
        if node.guard is not None and (self.selects(node) or (select and self.free(node.guard))):
            return self._selected(node.guard, inner)
        return inner

    def selects(self, node: Quantifier) -> bool:
        """Whether a guarded quantifier works on selected tuples, not on a mask."""
        has_variables = node.guard is not None and bool(self.free(node.guard))
        return has_variables and not self.dense and isinstance(self.operator(node), Aggregator)

    def operator(self, node: Quantifier) -> Any:
        """The operator of a quantifier."""
        return getattr(self.space.semantics, "Forall" if node.kind == "forall" else "Exists")

    def options(self, node: Quantifier) -> dict[str, Any]:
        """The hyper-parameters that a quantifier gives to its operator."""
        options = self._options.get(node.kind, {}) | dict(node.options)
        if self.other_operators:
            operator = self.operator(node)
            options = {name: value for name, value in options.items() if hasattr(operator, name)}
        return options

    def is_divided(self, node: Quantifier) -> bool:
        """Whether a quantifier binds data that several replicas have each a part of."""
        return replicas.count() > 1 and any(self._kinds(group) == {"data"} for group in node.groups)

    def _selected(self, guard: Node, frame: Frame) -> dict[str, str]:
        # One selection for all quantifiers with this guard in this frame: what they share is equal then.
        key = (guard, tuple(sorted(frame.items())))
        if key not in self._selections:
            self._selections[key] = guards.selected(self, guard, frame)
        return self._selections[key]


@contextlib.contextmanager
def explained(node: Node) -> Iterator[None]:
    """Let an error in the evaluation of a formula show the formula."""
    try:
        yield
    except LogicError as error:
        raise type(error)(f"In `{node}`: {error}") from error


def _ordered(value: Term | Formula, frame: Frame) -> Any:
    order = list(dict.fromkeys(frame.values()))
    return value.of_this_kind(axes.reorder(value.tensor, value.free_vars, order), order)
