"""Guards with relations, such as `cites(a, b) & cites(b, c)`: their tables are joined.

The tuples cost what there are of them, never all combinations of individuals. Among known individuals they
are found once. Where some individuals come with data, the join of the others is sorted once by what the
relations say of them, and each execution looks up its rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.evaluation.frames import Places, Tuples
from ltn.evaluation.guards.guard_tables import GuardTables
from ltn.evaluation.guards.lookup import LookedUpTuples
from ltn.evaluation.guards.strategy import Combinations, Guard, SelectedTuples, Strategy, parts_of
from ltn.evaluation.join_steps import JoinTable
from ltn.evaluation.joins import join
from ltn.evaluation.known import plan_places
from ltn.evaluation.numbered_joins import NumberedJoin
from ltn.evaluation.occurring import as_constant
from ltn.evaluation.plan import Execution, Step, Value
from ltn.evaluation.planner import Planner, Rule
from ltn.evaluation.relations import Keys
from ltn.language import And, Apply, Name, Node, Or


@dataclass(frozen=True)
class JoinedTuples(SelectedTuples):
    """Tuples that were joined when the plan was made."""

    strategy = "joined"

    indices: tuple[tf.Tensor, ...] = field(compare=False)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        return self.indices


@dataclass(frozen=True)
class RowOf(Step):
    """Which of some known rows individuals are, from their places; -1 where they are none."""

    label: str
    columns: tuple[Value, ...]
    keys: Keys = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return self.keys.find([axes.align(execution[each], each.axes, self.axes) for each in self.columns])

    def describe(self) -> str:
        return f"what {self.label} are joined by"


class Joined(Strategy):
    """Relations of variables and constants, and what filters their join once for all.

    A conjunct may also be a disjunction of such relations about the same variables: its table is their union.
    Where all individuals are known, a filter may be about further variables: their axes are joined too.
    """

    def __init__(self, guard: Guard, atoms: Sequence[Node]):
        self._guard = guard
        self._known, self._asked = _variables(guard, atoms)
        filters = [node for node in guard.conjuncts if node not in atoms and _is_filter(guard, node)]
        if self._asked:
            # What comes with data leaves few of the tuples; further variables would make many of all.
            own = set(self._known.values())
            filters = [node for node in filters if guard.labels(node) <= own]
        for node in filters:
            self._known |= {name: guard.frame[name] for name in guard.planner.free(node)}
        labels = tuple(dict.fromkeys(self._known.values()))
        self.conjuncts = [*atoms, *filters]
        found = self._found(atoms, filters, labels)
        self.parents = (*dict.fromkeys(guard.frame[name] for name in self._asked), *labels)
        self.leading = self.parents[0]
        known = guard.on_first_axes(labels, [found.columns[label] for label in labels])
        self.is_known = not self._asked
        self.known, self.sparse = (known, ()) if self.is_known else (None, tuple(known))
        self._prepare(found, labels)

    @classmethod
    def find(cls, guard: Guard) -> Joined | None:
        atoms = [node for node in guard.conjuncts if _is_table(guard, node)]
        known, _ = _variables(guard, atoms)
        return cls(guard, atoms) if known else None

    @classmethod
    def applies(cls, guard: Guard) -> bool:
        """Whether it finds all tuples of a guard once, among the individuals that its relations are about."""
        atoms = [node for node in guard.conjuncts if _is_table(guard, node)]
        known, asked = _variables(guard, atoms)
        others = [node for node in guard.conjuncts if node not in atoms]
        are_filters = (
            _is_filter(guard, node) and known.keys() >= {*guard.planner.free(node)} for node in others
        )
        return bool(known) and not asked and all(are_filters)

    @classmethod
    def numbered(cls, guard: Guard, axes: Sequence[str], sizes: Sequence[int]) -> NumberedJoin | None:
        """The tuples by number, on these axes; None where they have no numbers. See `NumberedJoin.of`."""
        atoms = [node for node in guard.conjuncts if _is_table(guard, node)]
        known, asked = _variables(guard, atoms)
        if asked or not known or len(atoms) < len(guard.conjuncts):
            return None
        return NumberedJoin.of(GuardTables(guard, known).all(atoms), axes, sizes)

    def plan(self, planner: Planner, tuples: Tuples) -> Rule:
        written = " & ".join(map(str, self.conjuncts))
        if self._keys is None:
            return planner.add(JoinedTuples(tuples.label, written, self._combinations.places))
        columns: list[Value] = []
        for name in self._asked:
            own = {name: self._guard.frame[name]}
            columns += yield from plan_places(planner, Name(name), own, [planner.signature.variables[name]])
        row = planner.add(RowOf(tuples.label, tuple(columns), self._keys))
        order = tuple(label for label in self.parents if label in row.axes)
        return planner.add(LookedUpTuples(tuples.label, written, "=", row, order, self._combinations))

    def _found(self, atoms: Sequence[Node], filters: Sequence[Node], labels: Sequence[str]) -> JoinTable:
        """The join, filtered; it ascends along the first of the labels."""
        guard, tables = self._guard, GuardTables(self._guard, self._known)
        nodes = [*atoms, *filters]

        def find() -> JoinTable:
            kept = join(tables.all(atoms), [tables.filter(node) for node in filters])
            first = kept.columns[labels[0]]
            if (first[1:] < first[:-1]).any():
                kept = kept.keep(np.argsort(first, kind="stable"))
            return kept

        free = dict.fromkeys(name for node in nodes for name in guard.planner.free(node))
        frame = {name: guard.frame[name] for name in free}
        if any(guard.planner.frames.tuples(label) for label in frame.values()):
            # Another planner may call other tuples by the same name.
            return find()
        sources = tuple((*pair, guard.planner.groundings.source(pair[0])) for pair in frame.items())
        found: JoinTable = guard.planner.memory.get(("join", tuple(atoms), tuple(filters), sources), find)
        return found

    def _prepare(self, found: JoinTable, labels: Sequence[str]) -> None:
        """The tuples, or what they are looked up in, as tensors."""
        index: Mapping[Hashable, Places] = {label: found.columns[label] for label in labels}
        values, self._keys = None, None
        if self._asked:
            columns = np.stack([found.columns["place", name] for name in self._asked], axis=1)
            self._keys = Keys(columns)
            # Not in the graph of the training step that is being compiled.
            with tf.init_scope():
                row = self._keys.find([tf.constant(column) for column in columns.T]).numpy()
                order = np.argsort(row, kind="stable")
                values = tf.constant(row[order])
            index = {label: places[order] for label, places in index.items()}
        self._combinations = Combinations(tuple(labels), values, tuple(map(as_constant, index.values())))


def _variables(guard: Guard, atoms: Sequence[Node]) -> tuple[dict[str, str], list[str]]:
    """The variables whose individuals are known, each with its axis; and those that an execution is given."""
    variables = dict.fromkeys(name for atom in atoms for name in guard.planner.free(atom))
    unknown = {guard.frame[name] for name in variables if not guard.has_known_axis(name)}
    known = {name: guard.frame[name] for name in variables if guard.frame[name] not in unknown}
    return known, [name for name in variables if name not in known]


def _is_table(guard: Guard, node: Node) -> bool:
    """Whether the tuples of a conjunct are those of relations."""
    parts = parts_of(node, Or)
    atoms = [atom for part in parts for atom in parts_of(part, And)]
    free = {frozenset(guard.planner.free(part)) for part in parts}
    return len(free) == 1 and all(isinstance(atom, Apply) and _is_relation(guard, atom) for atom in atoms)


def _is_filter(guard: Guard, node: Node) -> bool:
    """Whether it is known once for all for which known individuals a conjunct holds."""
    free = guard.planner.free(node)
    is_known = bool(free) and all(map(guard.has_known_axis, free))
    return is_known and not guard.calls_network(node) and guard.is_the_same(node)


def _is_relation(guard: Guard, atom: Apply) -> bool:
    """Whether an atom is a relation of variables and constants, some individuals of which are known."""
    planner = guard.planner
    if atom.symbol not in planner.relations or not all(isinstance(each, Name) for each in atom.arguments):
        return False
    names = [argument.name for argument in atom.arguments if isinstance(argument, Name)]
    variables = [name for name in names if name in planner.signature.variables]
    if any(planner.signature.variables[name].parts for name in variables):
        return False
    if not all(planner.groundings.has_places(name) for name in names if name not in variables):
        return False
    return any(guard.has_known_axis(name) for name in variables)
