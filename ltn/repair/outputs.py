"""What is repaired: the outputs of predicates on known and given individuals, each a ground atom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.core import Formula
from ltn.errors import LogicValueError
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.groundings import PLACES, Groundings, Source
from ltn.evaluation.known import FoundByFeatures
from ltn.evaluation.plan import World
from ltn.evaluation.spaces import TruthSpace
from ltn.knowledge.questions import shown_individuals
from ltn.language import Apply, Domain, Name, Node

Places = NDArray[np.int64]
# The individuals of a domain, or the rows of a source.
Pool = tuple[str, Source]
# The predicate, and what each of its arguments ranges over.
Block = tuple[str, tuple[Pool, ...]]

# The most outputs that are repaired at once.
MOST_OUTPUTS = 2**27


@dataclass(frozen=True)
class OutputTable:
    """The outputs of one predicate: the first of them, and how many individuals each argument has."""

    start: int
    sizes: tuple[int, ...]


class InRow(NamedTuple):
    """The outputs of a predicate of one row of data.

    Attributes:
        row: which source of rows it is.
        start: the number of the first output.
        columns: the place of each output among those of all individuals of its domains.
        size: how many of these there are.
    """

    row: int
    start: int
    columns: Places
    size: int


class Outputs:
    """The atoms of some formulas, numbered, with the truths that the networks give them.

    Args:
        world: what the symbols mean, with the copies of variables that definitions bind.
        atoms: the atomic formulas; their arguments are variables and constants.
    """

    def __init__(self, world: World, atoms: Sequence[Node]):
        self.groundings: Groundings = world.groundings
        self.signature = world.groundings.signature
        self._atoms = list(atoms)
        self._pools: dict[Pool, list[Places]] = {}
        # For each name, its pool, and the place there of each of its individuals.
        self._of: dict[str, tuple[Pool, Places]] = {}
        for name in dict.fromkeys(name for atom in atoms for name in _arguments(atom)):
            pool, places = self._find(name)
            self._of[name] = pool, places
            is_constant = name in self.signature.constants
            # Beside a constant there are all others, as in a query.
            among = np.arange(len(self.groundings.roster(self._domain(name)))) if is_constant else places
            self._pools.setdefault(pool, []).append(among)
        self._members = {pool: np.unique(np.concatenate(found)) for pool, found in self._pools.items()}
        self.places = {
            name: np.searchsorted(self._members[pool], places) for name, (pool, places) in self._of.items()
        }
        self.tables: dict[Block, OutputTable] = {}
        self.first: dict[Block, Node] = {}
        self.count = 0
        for atom in atoms:
            block = self.block(atom)
            if block not in self.tables:
                sizes = tuple(len(self._members[pool]) for pool in block[1])
                self.tables[block], self.first[block] = OutputTable(self.count, sizes), atom
                self.count += math.prod(sizes)
        if self.count > MOST_OUTPUTS:
            raise LogicValueError(
                f"The rules speak of {self.count:,} outputs, more than {MOST_OUTPUTS:,}: repair fewer rows "
                "at a time."
            )

    def block(self, atom: Node) -> Block:
        """The predicate of an atom, and what its arguments range over."""
        return _symbol(atom), tuple(self._of[name][0] for name in _arguments(atom))

    def knows(self, atom: Node) -> bool:
        """Whether the atom is about individuals that the outputs are about."""
        if not isinstance(atom, Apply | Name):
            return False
        return all(map(self._is_among, _arguments(atom))) and self.block(atom) in self.tables

    def _is_among(self, name: str) -> bool:
        """Whether a variable or a constant stands for individuals of outputs, also one that no rule has."""
        is_given = name in self.signature.variables and self.groundings.source(name) is not None
        if name not in self._of and (is_given or name in self.signature.constants):
            pool, places = self._find(name)
            if pool in self._members and np.isin(places, self._members[pool]).all():
                self._of[name] = pool, places
                self.places[name] = np.searchsorted(self._members[pool], places)
        return name in self._of

    def numbers(self, atom: Node, where: dict[str, Any]) -> Places:
        """The numbers of an atom, for the individuals of its variables that stand at some places."""
        table = self.tables[self.block(atom)]
        number: Any = 0
        for name, size in zip(_arguments(atom), table.sizes, strict=True):
            places = self.places[name]
            number = number * size + (places[where[name]] if name in where else places[0])
        return np.asarray(number + table.start, np.int64)

    def in_row(self, block: Block) -> InRow | None:
        """The outputs of a predicate, where they are about one row of data, and known individuals."""
        rows = [pool for pool in block[1] if pool[0] == "rows" and len(self._members[pool]) == 1]
        known = [pool for pool in block[1] if pool[0] == "domain"]
        if len(rows) != 1 or len(rows) + len(known) < len(block[1]):
            return None
        columns, count = np.zeros(1, np.int64), 1
        for pool in known:
            size = len(self.groundings.roster(self.signature.domains[pool[1][1]]))
            columns = (columns[:, np.newaxis] * size + self._members[pool]).reshape(-1)
            count *= size
        return InRow(list(self._members).index(rows[0]), self.tables[block].start, columns, count)

    def truths(self, evaluation: Evaluation, world: World) -> NDArray[np.float32]:
        """What the networks give, for all outputs; each network runs once."""
        variables: dict[str, Domain] = {}
        data: dict[str, tf.Tensor] = {}
        nodes: list[Node] = []
        for (symbol, pools), atom in zip(self.tables, self.first.values(), strict=True):
            arguments: list[Node] = []
            for position, (pool, name) in enumerate(zip(pools, _arguments(atom), strict=True)):
                copy_of = f"{pool[0]} {pool[1][1]} {sum(pool == other for other in pools[:position])}"
                variables[copy_of], data[copy_of] = self._domain(name), self._individuals(pool, name)
                arguments.append(Name(copy_of))
            nodes.append(Apply(symbol, tuple(arguments)) if arguments else Name(symbol))
        twin = copy(evaluation)
        known = world.groundings
        groundings = Groundings(
            known.signature.with_variables(variables), known.tables, known.choices, {**known.data, **data}
        )
        twin.world = world._replace(groundings=groundings, space=TruthSpace(world.space.semantics))
        found = [np.asarray(value.tensor, np.float32).reshape(-1) for value in twin.ground(nodes)]
        return np.concatenate([np.zeros(0, np.float32), *found])

    def view(self, block: Block, truths: NDArray[np.float32]) -> Formula:
        """The truths of all outputs of a predicate, with one axis for each argument."""
        symbol, pools = block
        table, labels = self.tables[block], list[str]()
        for position in range(len(pools)):
            labels.append(next(label for label in self._labels(block, position) if label not in labels))
        shown = truths[table.start : table.start + math.prod(table.sizes)].reshape(table.sizes)
        found = Formula(tf.constant(shown), labels)
        found.text = f"{symbol}({', '.join(labels)})" if labels else symbol
        found.individuals = {
            label: names
            for label, pool in zip(labels, pools, strict=True)
            if (names := self._names(pool, only_names=True)) is not None
        }
        return found

    def _labels(self, block: Block, position: int) -> Iterator[str]:
        """What an axis may be called: as a variable that ranges over the same individuals, or as these."""
        pool = block[1][position]
        size = len(self._members[pool])
        own = [_arguments(atom)[position] for atom in self._atoms if self.block(atom) == block]
        for name in (*own, *self._of):
            is_whole = self._of[name][0] == pool and np.array_equal(self.places[name], np.arange(size))
            if name in self.signature.variables and is_whole:
                yield name
        for name, domain in self.signature.variables.items():
            is_known = pool[0] == "domain" and domain.name == pool[1][1]
            if is_known and (self.groundings.count(name) or 0) == size:
                yield name
        for number in itertools.count(1):
            yield pool[1][1] if number == 1 else f"{pool[1][1]} {number}"

    def formula(self, atom: Node, truths: NDArray[np.float32]) -> Formula:
        """The truths of an atom over its variables, in order of appearance, with the names of individuals."""
        variables = [name for name in dict.fromkeys(_arguments(atom)) if name in self.signature.variables]
        sizes = [len(self.places[name]) for name in variables]
        where = dict(zip(variables, np.indices(sizes), strict=True))
        found = Formula(tf.constant(truths[self.numbers(atom, where)]), variables)
        found.text = str(atom)
        found.individuals = {
            name: names for name in variables if (names := self.groundings.names(name)) is not None
        }
        return found

    def describe(self, numbers: Places) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The predicate of each of some outputs, and the names of the individuals that it is about."""
        starts = np.array([table.start for table in self.tables.values()], np.int64)
        which = np.searchsorted(starts, numbers, "right") - 1
        symbols = [""] * len(numbers)
        described: list[tuple[Any, ...]] = [()] * len(numbers)
        for number, ((symbol, pools), table) in enumerate(self.tables.items()):
            own = np.flatnonzero(which == number)
            at = np.unravel_index(numbers[own] - table.start, table.sizes) if table.sizes else ()
            columns = []
            for pool, places in zip(pools, at, strict=True):
                names = self._names(pool) or []
                columns.append([names[place] for place in places])
            rows = zip(*columns, strict=True) if columns else itertools.repeat(())
            for place, row in zip(own, rows, strict=False):
                symbols[place], described[place] = symbol, row
        return symbols, described

    def _names(self, pool: Pool, only_names: bool = False) -> list[Any] | None:
        kind, _ = pool
        name = next(name for name, (other, _) in self._of.items() if other == pool)
        if kind == "domain":
            roster = self.groundings.roster(self._domain(name))
            return [roster[place] for place in self._members[pool]]
        if only_names:
            return self.groundings.names(name)
        return shown_individuals(self.groundings, name, self._members[pool])

    def _domain(self, name: str) -> Domain:
        known = self.signature.variables if name in self.signature.variables else self.signature.constants
        return known[name]

    def _find(self, name: str) -> tuple[Pool, Places]:
        """What a variable or a constant ranges over, and the place there of each of its individuals."""
        domain, groundings = self._domain(name), self.groundings
        if name in self.signature.constants:
            return ("domain", ("domain", domain.name)), np.array([groundings.places(name)]).reshape(-1)
        source = groundings.source(name)
        if source is None:
            raise RuntimeError(f"'{name}' has no individuals.")
        if groundings.has_places(name):
            return ("domain", ("domain", domain.name)), groundings.places_now(name).numpy().astype(np.int64)
        if domain.features is not None and not domain.parts:
            found = FoundByFeatures(domain.features).places(groundings.variable(name))
            return ("domain", ("domain", domain.name)), found.numpy().astype(np.int64)
        return ("rows", source), np.arange(len(groundings.variable(name)))

    def _individuals(self, pool: Pool, name: str) -> tf.Tensor:
        if pool[0] == "domain":
            return tf.cast(tf.constant(self._members[pool]), PLACES)
        return self.groundings.variable(name)


def _symbol(atom: Node) -> str:
    if isinstance(atom, Apply):
        return atom.symbol
    if isinstance(atom, Name):
        return atom.name
    raise RuntimeError(f"`{atom}` is no output.")


def _arguments(atom: Node) -> list[str]:
    if isinstance(atom, Apply):
        return [argument.name for argument in atom.arguments if isinstance(argument, Name)]
    return []
