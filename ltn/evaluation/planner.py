"""The planner: turns formulas into a plan, by rules that stand in the file of each concept.

What is to be planned is a request: a formula, a term or a guard in a frame, the tuples of an axis, the run of
a network. A rule is a generator: it asks for what it needs with `yield`, gets its value, and returns a value
of its own. So rules read like recursive functions, and formulas of any depth need no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltn.checks import check_sizes
from ltn.core import Predicate
from ltn.errors import LogicError, LogicValueError
from ltn.evaluation import replicas
from ltn.evaluation.calls import Calls, SharedRun
from ltn.evaluation.frames import Frame, Frames
from ltn.evaluation.groundings import Groundings
from ltn.evaluation.plan import Options, Plan, Recent, Step, Value, World, with_formula, without_samples
from ltn.language import Name, Node, Not, Quantifier, negation_normal_form
from ltn.language.names import axis_text
from ltn.language.tree import fold

_Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FormulaIn:
    """A formula in a frame, as a value of the space.

    `owner` is the number of the whole formula, where that has options of its own for quantifiers.
    """

    node: Node
    frame: _Pairs
    owner: int | None


@dataclass(frozen=True)
class PartIn:
    """What a quantifier keeps of a slice of its individuals."""

    node: Quantifier
    frame: _Pairs
    owner: int | None


@dataclass(frozen=True)
class TermIn:
    """A term in a frame."""

    node: Node
    frame: _Pairs


@dataclass(frozen=True)
class GuardIn:
    """A guard in a frame, true or false."""

    node: Node
    frame: _Pairs


@dataclass(frozen=True)
class TuplesOf:
    """The tuples of an axis: the index of each tuple on each parent."""

    label: str


@dataclass(frozen=True)
class SizeOf:
    """The number of individuals, or of tuples, on an axis."""

    label: str


@dataclass(frozen=True)
class IndexOn:
    """Where the member `variable` of each tuple on the axis `high` lies on the axis `low`."""

    high: str
    variable: str
    low: str


@dataclass(frozen=True)
class RunOf:
    """What a network returns for all calls of a run."""

    run: SharedRun


Request = FormulaIn | PartIn | TermIn | GuardIn | TuplesOf | SizeOf | IndexOn | RunOf
Rule = Generator[Request, Value, Value]
Rules = Mapping[type[Any], Callable[["Planner", Any], Rule]]


@dataclass(frozen=True)
class Settings:
    """How formulas are evaluated.

    Attributes:
        dense: whether guards go into the aggregators as masks, so that all shapes stay static, which
            XLA needs; else the tuples of a guard are found first, and the body is evaluated for them only.
        chunk: how many combinations of individuals the outermost quantifiers evaluate at once; None for all.
        limit: about how many bytes the values of each formula may take, without `chunk`; None for any number.
        traced: whether the body of each guarded quantifier is also evaluated for the selected tuples alone,
            so that it can be shown.
        sampled: whether quantifiers that are written with `sample` draw so many tuples; else they take all.
        sample: how many they draw instead of what is written; None for as many as is written.
    """

    dense: bool = False
    chunk: int | None = None
    limit: int | None = None
    traced: bool = False
    sampled: bool = False
    sample: int | None = None

    @property
    def may_slice(self) -> bool:
        """Whether quantifiers may be evaluated in chunks."""
        return self.chunk is not None or self.limit is not None


# What the plans of a theory share: the combinations of fixed individuals that guards select.
Memory = Recent[Any]
# How often the rules are followed at most; any round gives a correct plan, but may compute values twice.
_MOST_ROUNDS = 8


class Planner:
    """Plans formulas of a world.

    Args:
        world: what symbols mean; a plan depends only on the sources and known sizes of its groundings.
        settings: how formulas are evaluated.
        rules: one for each kind of request.
        memory: what the plans of a theory share.
    """

    def __init__(self, world: World, settings: Settings, rules: Rules, memory: Memory):
        self.world = world
        self.settings = settings
        self.memory = memory
        self.groundings: Groundings = world.groundings
        self.signature = world.groundings.signature
        self.symbols = world.symbols
        self.relations = world.relations
        self.space = world.space
        self.replicas = replicas.count()
        self.frames = Frames(self.groundings.count)
        self.plan = Plan([])
        self.calls = self._new_calls()
        self._rules = rules
        self._values: dict[Request, Value] = {}
        self._free: dict[Node, tuple[str, ...]] = {}
        self._negations: dict[Node, Node] = {}
        self._origin: int | None = None
        # What each request asked for, in order.
        self.asked: dict[Request, list[Request]] = {}

    def fork(self, groundings: Groundings, settings: Settings) -> Planner:
        """A planner of the same theory, under other groundings."""
        return Planner(self.world._replace(groundings=groundings), settings, self._rules, self.memory)

    def plan_requests(
        self, requests: Sequence[Callable[[], Request]], formulas: Sequence[Node] | None = None
    ) -> Plan:
        """The plan of some requests; errors show the formulas that they are for, one for each.

        The rules are followed again until they find the calls of networks that they expect: twice, unless
        networks are applied to functions under several guards.
        """
        before = None
        for _ in range(_MOST_ROUNDS):
            self.calls = self._new_calls(before)
            self.plan, self._values, self.asked = Plan(formulas or []), {}, {}
            for number, request in enumerate(requests):
                self._origin = None if formulas is None else number
                try:
                    self.plan.results.append(self.value(request()))
                except LogicError as error:
                    if formulas is None:
                        raise
                    raise with_formula(error, formulas[number]) from error
            if before is not None and self.calls.agree_with(before):
                break
            before = self.calls
        return self.plan

    def value(self, request: Request) -> Value:
        """The value of a request, planned with all that it needs."""
        pending = [self._begin(request)] if request not in self._values else []
        answer: Value | None = None
        while pending:
            current, rule = pending[-1]
            try:
                # A rule that begins takes None.
                wanted = rule.send(answer)  # type: ignore[arg-type]
            except StopIteration as done:
                answer = self._values[current] = done.value
                pending.pop()
                continue
            self.asked[current].append(wanted)
            answer = self._values.get(wanted)
            if answer is None:
                pending.append(self._begin(wanted))
        return self._values[request]

    def _begin(self, request: Request) -> tuple[Request, Rule]:
        self.asked[request] = []
        return request, self._rules[type(request)](self, request)

    def add(self, step: Step, runs_network: bool = False) -> Value:
        """The value of a step, added to the plan unless it is there."""
        # A run serves several formulas: its errors name the symbol, not the formula that came first.
        return self.plan.add(step, None if runs_network else self._origin, runs_network)

    # Frames

    def free(self, node: Node) -> tuple[str, ...]:
        """The free variables of a node, in order of first appearance."""
        if node not in self._free:
            fold(node, self._note_free)
        return self._free[node]

    def root(self, node: Node) -> dict[str, str]:
        """The frame of a whole formula: every free variable on an axis of its own."""
        return {variable: self.bind([variable]) for variable in self.free(node)}

    def restrict(self, frame: Frame, node: Node) -> dict[str, str]:
        """The frame of the free variables of a node."""
        return {variable: frame[variable] for variable in self.free(node)}

    def bind(self, variables: Sequence[str]) -> str:
        """The axis of a variable, or of those of a `diag`."""
        kinds = {variable: self.kind_of(variable) for variable in variables}
        for variable, kind in kinds.items():
            if kind == "none":
                raise LogicValueError(self.groundings.explain_missing(variable))
        given = next((v for v, kind in kinds.items() if kind in ("data", "gathered")), None)
        if given is not None and "domain" in kinds.values():
            other = next(v for v, kind in kinds.items() if kind == "domain")
            raise LogicValueError(
                f"{axis_text(variables)} pairs the data of '{given}' with all individuals of the "
                f"domain '{self.signature.variables[other].name}': give data for '{other}' too."
            )
        if len(variables) > 1:
            # Those that are not known yet are compared when the plan is executed.
            counts = [self.groundings.count(variable) for variable in variables]
            check_same_size(self.frames.bind(variables), [count for count in counts if count is not None])
        return self.frames.bind(variables)

    def kind_of(self, variable: str) -> str:
        """The kind of the source of a variable: "data", "gathered", "choice", "domain", "slice", "none"."""
        return (self.groundings.source(variable) or ("none", ""))[0]

    def runner(self, symbol: str) -> str:
        """The symbol under whose name the network of a symbol runs: of heads that share one, the first."""
        own = self.symbols[symbol]
        if not isinstance(own, Predicate) or own.head is None:
            return symbol
        heads = (name for name, other in self.symbols.items() if other.model is own.model)
        return next(name for name in heads if self.symbols[name].head is not None)

    def negation(self, node: Node) -> Node:
        """The normal form of the negation of a formula: one tree, so that what is planned of it is once."""
        if node not in self._negations:
            self._negations[node] = negation_normal_form(Not(node))
        return self._negations[node]

    # Requests

    def formula(self, node: Node, frame: Frame, owner: int | None) -> FormulaIn:
        """The request for a formula."""
        return FormulaIn(node, tuple(self.restrict(frame, node).items()), owner)

    def term(self, node: Node, frame: Frame) -> TermIn:
        """The request for a term."""
        return TermIn(node, tuple(self.restrict(frame, node).items()))

    def guard(self, node: Node, frame: Frame) -> GuardIn:
        """The request for a guard."""
        return GuardIn(node, tuple(self.restrict(frame, node).items()))

    def _note_free(self, node: Node, below: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        if isinstance(node, Name):
            found: tuple[str, ...] = (node.name,) if node.name in self.signature.variables else ()
        else:
            bound = node.variables if isinstance(node, Quantifier) else ()
            found = tuple(dict.fromkeys(name for names in below for name in names if name not in bound))
        self._free[node] = found
        return found

    def _new_calls(self, before: Calls | None = None) -> Calls:
        return Calls(self.frames, self.groundings.source, self.symbols, before)


def check_same_size(label: str, sizes: Sequence[Any]) -> list[Any]:
    """The sizes of the variables of a `diag`; raise where they are not the same."""
    return check_sizes(sizes, f"The variables of {label} must have the same number of individuals")


def owner_of(number: int, options: Sequence[Options]) -> int | None:
    """The owner of the quantifiers of a formula: itself where it has options of its own."""
    return number if number < len(options) and without_samples(options[number]) else None
