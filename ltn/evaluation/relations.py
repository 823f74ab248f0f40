"""Relations: predicates whose truth is known, as tables of individuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf
from numpy.typing import NDArray

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation.join_steps import distinct
from ltn.language import Domain
from ltn.language.names import written
from ltn.markup import Markup, element, table

Rows = NDArray[np.int32]

# Keys stay below, so that an int64 holds them.
_MOST_KEYS = 2**62
# How many rows a page shows.
_MOST_SHOWN = 20


class Relation:
    """A predicate whose truth is known: a set of rows, each of one individual of every domain.

    `theory.relation(name, domains, rows)` declares one. In a guard it is joined, so that the cost is that of
    its rows; in the body of a formula it is true, 1, of its rows, and false, 0, of all others.

    Args:
        name: its name.
        domains: those of its arguments, which are finite.
        read: reads rows, as a user gives them, to places of individuals in their domains, int32, (m, arity).
        names_of: the names of the individuals of a domain.
        notify: is called when rows were added.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> people = theory.domain("people", values=["Ann", "Bob", "Eve"])
    >>> knows = theory.relation("knows", (people, people), [("Ann", "Bob"), ("Bob", "Eve")])
    >>> knows.add([("Eve", "Ann"), ("Ann", "Bob")])
    >>> len(knows), ("Bob", "Eve") in knows, (2, 1) in knows
    (3, True, False)
    >>> knows.to_frame()
         1    2
    0  Ann  Bob
    1  Bob  Eve
    2  Eve  Ann
    """

    def __init__(
        self,
        name: str,
        domains: Sequence[Domain],
        read: Callable[[Any], Rows],
        names_of: Callable[[Domain], Sequence[str]],
        notify: Callable[[], None],
    ):
        self.name = name
        self.domains = tuple(domains)
        self._read = read
        self._names_of = names_of
        self._notify = notify
        self._rows: Rows | None = None
        self._keys: Keys | None = None

    @property
    def arity(self) -> int:
        """The number of its arguments."""
        return len(self.domains)

    @property
    def is_loaded(self) -> bool:
        """Whether its rows are there; those of a theory from a file come after it was made."""
        return self._rows is not None

    @property
    def rows(self) -> Rows:
        """The places of the individuals in their domains, int32, (m, arity): distinct, and ascending."""
        if self._rows is None:
            raise LogicValueError(
                f"The rows of the relation '{self.name}' were not loaded: they stand in the file of the "
                "theory, not in its configuration."
            )
        return self._rows

    @property
    def keys(self) -> Keys:
        """The rows, to be looked up."""
        if self._keys is None:
            self._keys = Keys(self.rows)
        return self._keys

    def add(self, rows: Any) -> None:
        """Add rows, in any form in which `theory.relation` takes them; those that are there stay one."""
        self.set_rows(np.concatenate([self.rows, self._read(rows)]))
        self._notify()

    def set_rows(self, rows: Rows) -> None:
        """Let it hold these rows, which may be repeated, and no others."""
        self._rows, self._keys = distinct_rows(rows), None
        self._rows.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, row: Any) -> bool:
        [places] = self._read([row])
        return bool(self.keys.find([tf.constant(place) for place in places]) >= 0)

    def to_frame(self) -> pd.DataFrame:
        """The rows by the names of their individuals, with the columns 1, 2, ..."""
        return self._frame(len(self))

    def _frame(self, most: int) -> pd.DataFrame:
        columns = {}
        for position, domain in enumerate(self.domains):
            # Names that many rows have in common are one object.
            names = np.array(self._names_of(domain), dtype=object)
            columns[position + 1] = names[self.rows[:most, position]]
        return pd.DataFrame(columns)

    @property
    def heading(self) -> str:
        """How it is applied, as in `lives_in(people, towns)`."""
        return f"{written(self.name)}({', '.join(written(domain.name) for domain in self.domains)})"

    @property
    def size(self) -> str:
        """How many rows it has, for people."""
        return f"{len(self):,} row{'s' * (len(self) != 1)}" if self.is_loaded else "not loaded"

    def __repr__(self) -> str:
        return f"Relation({self.heading}, {self.size})"

    def _repr_html_(self) -> Markup:
        cells = [tuple(map(str, row)) for row in self._frame(_MOST_SHOWN).itertuples(index=False)]
        return element("div", element("p", repr(self)), table([d.name for d in self.domains], cells))


class Keys:
    """Distinct rows of whole numbers from 0 up, in order, and where a row stands among them.

    A row is one number, its row-major index. Where an int64 cannot hold it, the first columns are replaced
    by their place among those that occur.
    """

    def __init__(self, rows: NDArray[Any]):
        self._sizes = [int(size) for size in rows.max(axis=0) + 1] if len(rows) else [0] * rows.shape[1]
        # For some columns, the numbers of the columns before them that occur.
        self._known: dict[int, NDArray[np.int64]] = {}
        keys, most = np.zeros(len(rows), np.int64), 1
        for position, size in enumerate(self._sizes):
            if most * size > _MOST_KEYS:
                self._known[position] = distinct(keys)
                keys, most = np.searchsorted(self._known[position], keys), len(rows)
            keys, most = keys * size + rows[:, position], most * size
        self.numbers = distinct(keys)
        self._tensors: dict[int, tf.Tensor] = {}

    def find(self, columns: Sequence[Any]) -> tf.Tensor:
        """The places of rows, given by columns of integers that broadcast; -1 for those not among them."""
        number: Any = tf.zeros([], tf.int64)
        holds: Any = tf.constant(True)
        for position, (size, column) in enumerate(zip(self._sizes, columns, strict=True)):
            if position in self._known:
                number, is_there = self._place(position, self._known[position], number)
                holds &= is_there
            own = tf.cast(column, tf.int64)
            holds &= (own >= 0) & (own < size)
            number = number * size + own
        place, is_there = self._place(-1, self.numbers, number)
        return tf.where(holds & is_there, place, tf.constant(-1, tf.int64))

    def _place(self, which: int, known: NDArray[np.int64], numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Where numbers stand among known ones, and whether they are among them."""
        if not len(known):
            return tf.zeros_like(numbers), tf.zeros_like(numbers, tf.bool)
        if which not in self._tensors:
            # Not in the graph of the step that is being compiled, which would hold a copy.
            with tf.init_scope():
                self._tensors[which] = tf.constant(known)
        ascending = self._tensors[which]
        found = tf.searchsorted(ascending, tf.reshape(numbers, [-1]), out_type=tf.int64)
        found = tf.minimum(found, len(known) - 1)
        sizes = [axes.size_of(numbers, axis) for axis in range(numbers.shape.rank)]
        place = tf.reshape(found, sizes)
        return place, tf.equal(tf.reshape(tf.gather(ascending, found), sizes), numbers)


def distinct_rows(rows: Rows) -> Rows:
    """The rows without repetitions, ascending."""
    if not len(rows):
        return rows.astype(np.int32)
    sizes = rows.max(axis=0).astype(object) + 1
    if np.prod(sizes) > _MOST_KEYS:
        return np.unique(rows, axis=0).astype(np.int32)
    numbers = np.zeros(len(rows), np.int64)
    for column, size in zip(rows.T, sizes, strict=True):
        numbers = numbers * size + column
    numbers = distinct(numbers)
    found = np.empty((len(numbers), len(sizes)), np.int32)
    for position in reversed(range(len(sizes))):
        numbers, found[:, position] = np.divmod(numbers, sizes[position])
    return found
