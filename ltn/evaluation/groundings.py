"""Groundings of variables and constants for one evaluation: from data, or from what was declared."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from ltn.core import Variable
from ltn.errors import LogicValueError
from ltn.evaluation import replicas
from ltn.evaluation.individuals import Choice, Individuals
from ltn.language import Domain, Signature

_in_force: contextvars.ContextVar[Groundings | None] = contextvars.ContextVar("groundings", default=None)


# The weights of the rows of a batch, among its data; the line break makes it no legal name.
ROW_WEIGHTS = "row\nweights"
# The type of a column of data that tells which individuals of their domain the rows are, by their places
# among them, (k,); no other column has it.
PLACES = tf.uint32
# Whence individuals come: "data", "gathered" (of all replicas), "choice", "domain" or "slice"; and a name.
Source = tuple[str, str]


def are_places(column: tf.Tensor) -> bool:
    """Whether a column of data holds places of individuals, not their features."""
    return bool(column.dtype == PLACES and column.shape.rank == 1)


class LabelledData(dict[str, tf.Tensor]):
    """Data by the name of a variable or domain; `labels` holds what their rows are called, if anything."""

    def __init__(self, data: Mapping[str, tf.Tensor], labels: Mapping[str, Sequence[Any]] | None = None):
        super().__init__(data)
        self.labels = dict(labels or {})


class Groundings:
    """What variables and constants denote: G(x) of shape (k, *features), G(c) of shape `features`.

    A variable ranges over the data given under its name; or over the individuals that it was declared
    with; or over the data given under the name of its domain; or over the individuals of its domain.
    """

    def __init__(
        self,
        signature: Signature,
        tables: Sequence[Individuals],
        choices: Mapping[str, Choice],
        data: Mapping[str, tf.Tensor],
    ):
        self.signature = signature
        self.tables = tables
        self.choices = choices
        self.data = data
        self._found: dict[Source, tf.Tensor] = {}
        self._shared: frozenset[str] = frozenset()
        self.slices: dict[str, tuple[Any, Any]] = {}

    def source(self, variable: str) -> Source | None:
        """Where the individuals of a variable come from; one source means the same individuals."""
        whole, mine = self._whole_source(variable), self.slices.get(variable)
        alike = [v for v, own in self.slices.items() if own is mine and self._whole_source(v) == whole]
        return ("slice", alike[0]) if alike else whole

    def _whole_source(self, variable: str) -> Source | None:
        domain = self.signature.variables[variable]
        data = "gathered" if variable in self._shared else "data"
        declared = self._declared(variable)
        if declared in self.data:
            return (data, declared)
        if declared in self.choices:
            return ("choice", declared)
        if domain.name in self.data:
            return (data, domain.name)
        if domain.features is not None or self._tables_of(domain):
            return ("domain", domain.name)
        return None

    def _declared(self, variable: str) -> str:
        """The variable itself, or the one that it is a copy of."""
        return self.signature.copies.get(variable, variable)

    def is_fixed(self, name: str) -> bool:
        """Whether a variable or constant is the same in every evaluation: neither data nor learned."""
        if name in self.signature.constants:
            domain = self.signature.constants[name]
            return domain.names is not None and domain.features is not None
        kind, origin = self.source(name) or ("none", "")
        if kind == "choice" and self.choices[origin].features is not None:
            return True
        return kind in ("choice", "domain") and self.signature.variables[name].features is not None

    def count(self, variable: str) -> int | None:
        """How many individuals a variable ranges over; None if that is unknown while tracing."""
        return self._count(variable, self.source(variable))

    def _count(self, variable: str, source: Source | None) -> int | None:
        kind, name = source or ("none", "")
        if kind == "data":
            size = self.data[name].shape[0]
            return None if size is None else int(size)
        if kind == "choice":
            choice = self.choices[name]
            return len(choice.names) if choice.features is None else len(choice.features)
        if kind == "domain":
            domain = self.signature.variables[variable]
            if domain.features is not None:
                return len(domain.features)
            return sum(len(table.names) for table in self._tables_of(domain))
        return None

    def without_data(self) -> Groundings:
        """The groundings without data, and apart from any graph; what is learned is as it is now."""
        return Groundings(self.signature, self.tables, self.choices, {})

    def with_copies(
        self,
        copies: Mapping[str, str],
        others: Mapping[str, Domain] = {},
        predicates: Mapping[str, tuple[Domain, ...]] = {},
    ) -> Groundings:
        """These groundings, with copies of declared variables, which range over the same individuals.

        There may be other variables, over domains, and further predicates.
        """
        variables = {copy: self.signature.variables[declared] for copy, declared in copies.items()}
        signature = self.signature.with_variables(variables | dict(others), copies)
        signature.predicates |= predicates
        twin = Groundings(signature, self.tables, self.choices, self.data)
        twin._found, twin._shared, twin.slices = self._found, self._shared, self.slices
        return twin

    def share(self, variables: Iterable[str]) -> Groundings:
        """These groundings, in which some variables over data range over the data of all replicas."""
        twin = Groundings(self.signature, self.tables, self.choices, self.data)
        twin._found = self._found
        twin._shared = frozenset(variables)
        return twin

    def share_all(self) -> Groundings:
        """These groundings, in which all variables over data range over the data of all replicas."""
        return self if replicas.count() == 1 else self.share(self.signature.variables)

    def slice(
        self, variables: Iterable[str], start: Any, size: Any, data: Mapping[str, tf.Tensor]
    ) -> Groundings:
        """Groundings in which some variables range over a slice of their individuals, besides those that do.

        `data` replaces what was given under the same names.
        """
        twin = Groundings(self.signature, self.tables, self.choices, {**self.data, **data})
        # What is learned is read anew, so that gradients find it. What is gathered is not: replicas
        # would have to meet again.
        twin._found = {source: found for source, found in self._found.items() if source[0] == "gathered"}
        twin._shared = self._shared
        twin.slices = {**self.slices, **dict.fromkeys(variables, (start, size))}
        return twin

    def tables_of(self, names: Collection[str]) -> list[Individuals]:
        """The tables of constants that some variables and constants depend on."""
        found = [table for table in self.tables if not table.places.keys().isdisjoint(names)]
        for name, domain in self.signature.variables.items():
            kind, _ = (self.source(name) if name in names else None) or ("none", "")
            found += self._tables_of(domain) if kind in ("choice", "domain") else []
        return list(dict.fromkeys(found))

    def names(self, variable: str) -> list[Any] | None:
        """The names of the individuals that a variable ranges over, where they have names."""
        domain = self.signature.variables[variable]
        kind, name = self.source(variable) or ("data", "")
        if kind == "choice":
            return list(self.choices[name].names) or None
        if kind == "domain":
            return self.roster(domain)
        column = self.data.get(name)
        if column is not None and are_places(column):
            everyone = self.roster(domain)
            return [everyone[place] for place in column.numpy()]
        labels = self.data.labels if isinstance(self.data, LabelledData) else {}
        return list(labels[name]) if name in labels else None

    def is_of_domain(self, name: str) -> bool:
        """Whether a variable ranges over declared individuals of its domain, or a constant is one of them."""
        if name in self.signature.constants:
            return self.signature.constants[name].name not in self.data
        kind, origin = self.source(name) or ("none", "")
        if self.signature.variables[name].name in self.data:
            return False
        return kind == "domain" or (kind == "choice" and self.choices[origin].features is None)

    def places(self, name: str) -> np.ndarray:
        """Where the individuals of a variable, or a constant, stand among those of their domain."""
        is_constant, declared = name in self.signature.constants, self._declared(name)
        if not is_constant and declared not in self.choices:
            return np.arange(self._count(name, self._whole_source(name)) or 0)
        domain = (self.signature.constants if is_constant else self.signature.variables)[name]
        found = self.signature.places(domain)
        if is_constant:
            return np.array(found[name])
        return np.array([found[other] for other in self.choices[declared].names], int)

    def has_places(self, name: str) -> bool:
        """Whether it is told which individuals of its domain a variable ranges over, or a constant is."""
        if name in self.signature.constants:
            return not self.signature.constants[name].parts
        kind, given = self._whole_source(name) or ("none", "")
        is_named = kind == "domain" or (kind == "choice" and self.choices[given].features is None)
        is_placed = kind in ("data", "gathered") and are_places(self.data[given])
        return (is_named or is_placed) and not self.signature.variables[name].parts

    def places_now(self, name: str) -> tf.Tensor:
        """What `places` gives, as int32; of a variable over a slice of its individuals, the slice."""
        kind, given = (
            (None, "") if name in self.signature.constants else self._whole_source(name) or ("none", "")
        )
        if kind in ("data", "gathered"):
            column = self.data[given] if kind == "data" else replicas.gather(self.data[given])
            places = tf.cast(column, tf.int32)
        else:
            places = tf.constant(self.places(name), tf.int32)
        if name not in self.slices:
            return places
        start, size = self.slices[name]
        return tf.slice(places, [start], [size])

    def variable(self, name: str) -> tf.Tensor:
        """The individuals that a variable ranges over, (k, *features)."""
        source = self.source(name)
        if source is None:
            raise LogicValueError(self.explain_missing(name))
        return self.individuals(source, name)

    def individuals(self, source: Source, variable: str) -> tf.Tensor:
        """The individuals of a source, (k, *features), for a variable that ranges over them."""
        return self._individuals(source, self.signature.variables[variable])

    @property
    def has_weights(self) -> bool:
        """Whether the rows of the data have weights."""
        return ROW_WEIGHTS in self.data

    def is_weighted(self, variable: str) -> bool:
        """Whether the individuals of a variable are rows of data that have weights."""
        if not self.has_weights:
            return False
        kind, _ = self._whole_source(variable) or ("none", "")
        return kind in ("data", "gathered")

    def weights(self, variable: str) -> tf.Tensor:
        """The weights of the individuals of a variable that is weighted, (k,)."""
        kind, _ = self._whole_source(variable) or ("none", "")
        weights = self._individuals((kind, ROW_WEIGHTS), self.signature.variables[variable])
        if variable not in self.slices:
            return weights
        start, size = self.slices[variable]
        return tf.slice(weights, [start], [size])

    def constant(self, name: str) -> tf.Tensor:
        """The grounding of a constant, of shape `features`."""
        domain = self.signature.constants[name]
        if domain.names is not None and domain.features is not None:
            return tf.constant(domain.features[self.signature.places(domain)[name]])
        table = next(table for table in self.tables if name in table.places)
        return table.tensor[table.places[name]]

    def _individuals(self, source: Source, domain: Domain) -> tf.Tensor:
        if source not in self._found:
            kind, name = source
            read = {
                "data": self._from_data,
                "gathered": self._from_all_replicas,
                "slice": self._from_slice,
                "choice": self._from_choice,
                "domain": self._from_domain,
            }[kind]
            self._found[source] = read(name, domain)
        return self._found[source]

    def _from_data(self, name: str, domain: Domain) -> tf.Tensor:
        return self._features(self.data[name], domain)

    def _from_all_replicas(self, name: str, domain: Domain) -> tf.Tensor:
        return self._features(replicas.gather(self.data[name]), domain)

    def _features(self, column: tf.Tensor, domain: Domain) -> tf.Tensor:
        """The features of the individuals in a column of data."""
        if not are_places(column):
            return column
        return self.rows(domain, tf.cast(column, tf.int32))

    def rows(self, domain: Domain, places: tf.Tensor) -> tf.Tensor:
        """Some of the individuals of a domain, (k, *features)."""
        tables = self._tables_of(domain)
        if domain.features is None and len(tables) == 1:
            # Its gradient is sparse: one row for each place.
            return tables[0].rows(places)
        return tf.gather(self._individuals(("domain", domain.name), domain), places)

    def _from_slice(self, variable: str, domain: Domain) -> tf.Tensor:
        start, size = self.slices[variable]
        source = self._whole_source(variable)
        if source is None:
            raise LogicValueError(self.explain_missing(variable))
        whole = self._individuals(source, domain)
        features = whole.shape[1:]
        rows = tf.slice(whole, [start] + [0] * len(features), [size] + [-1] * len(features))
        # Older versions of TensorFlow forget the features where the size is a tensor.
        return tf.ensure_shape(rows, [size if isinstance(size, int) else None, *features])

    def _from_choice(self, variable: str, domain: Domain) -> tf.Tensor:
        choice = self.choices[variable]
        if choice.features is not None:
            return choice.features
        everyone = self._individuals(("domain", domain.name), domain)
        return tf.gather(everyone, self.places(variable))

    def _from_domain(self, _: str, domain: Domain) -> tf.Tensor:
        if domain.features is not None:
            return tf.constant(domain.features)
        tables = [table.tensor for table in self._tables_of(domain)]
        return tables[0] if len(tables) == 1 else tf.concat(tables, axis=0)

    def roster(self, domain: Domain) -> list[str]:
        """The names of the individuals of a domain; empty where they are not known."""
        return list(self.signature.places(domain))

    def _tables_of(self, domain: Domain) -> list[Individuals]:
        return [table for table in self.tables if table.domain.is_same(domain)]

    def explain_missing(self, variable: str) -> str:
        """The message for a variable that has no individuals."""
        domain, variable = self.signature.variables[variable].name, self._declared(variable)
        given = ", ".join(f"'{name}'" for name in self.data if name != ROW_WEIGHTS) or "none"
        return (
            f"The variable '{variable}' has no individuals: give data for it, as {{'{variable}': array}} "
            f"(data came for: {given}), or declare constants or values of its domain '{domain}'."
        )

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Let the theory's variables, used in code written with `core`, read these groundings."""
        token = _in_force.set(self)
        try:
            yield
        finally:
            _in_force.reset(token)


class DeclaredVariable(Variable):
    """A variable of a theory for code written with `core`: it reads its individuals when it is used.

    Inside an axiom that is a Python callable it ranges over the batch; elsewhere over the individuals
    that it, or its domain, was declared with.
    """

    def __init__(self, label: str, domain: Domain, declared: Callable[[], Groundings]):
        self.label = label
        self.domain = domain
        self.free_vars = [label]
        self._declared = declared

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except LogicValueError:
            return f"{type(self).__name__}('{self.label}' of '{self.domain.name}', without individuals yet)"

    if not TYPE_CHECKING:  # an attribute for readers, but never stale

        @property
        def tensor(self) -> tf.Tensor:
            declared, in_force = self._declared(), _in_force.get()
            ours = in_force is not None and in_force.signature is declared.signature
            return (in_force if ours else declared).variable(self.label)
