"""Groundings of variables and constants for one evaluation: from data, or from what was declared."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from ltn.core import Variable
from ltn.errors import LogicValueError
from ltn.language import Domain, Signature
from ltn.theory.individuals import Individuals

_in_force: contextvars.ContextVar[Groundings | None] = contextvars.ContextVar("groundings", default=None)


class Choice(NamedTuple):
    """The individuals that a variable was declared to range over: named constants, or features."""

    names: tuple[str, ...]
    features: tf.Tensor | None = None

    def get_config(self) -> dict[str, Any]:
        """For JSON; float32 is restored exactly."""
        features = None if self.features is None else self.features.numpy().tolist()
        return {"names": list(self.names), "features": features}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Choice:
        """What `get_config` described."""
        features = config["features"]
        return cls(tuple(config["names"]), None if features is None else tf.constant(features, tf.float32))


class Groundings:
    """What variables and constants denote: G(x) of shape (k, *features), G(c) of shape `features`.

    A variable ranges over the data given under its name; or over the individuals that it was declared
    with; or over the data given under the name of its domain; or over the individuals of its domain.
    """

    def __init__(
        self,
        signature: Signature,
        tables: Mapping[str, Individuals],
        choices: Mapping[str, Choice],
        data: Mapping[str, tf.Tensor],
    ):
        self.signature = signature
        self.tables = tables
        self.choices = choices
        self.data = data
        self._found: dict[Any, tf.Tensor] = {}

    def source(self, variable: str) -> tuple[str, str] | None:
        """Where the individuals of a variable come from: two variables with one source are alike."""
        domain = self.signature.variables[variable]
        if variable in self.data:
            return ("data", variable)
        if variable in self.choices:
            return ("choice", variable)
        if domain.name in self.data:
            return ("data", domain.name)
        if domain.features is not None or self._tables_of(domain):
            return ("domain", domain.name)
        return None

    def names(self, variable: str) -> list[str] | None:
        """The names of the individuals that a variable ranges over, where they have names."""
        domain = self.signature.variables[variable]
        kind, _ = self.source(variable) or ("data", "")
        if kind == "choice":
            return list(self.choices[variable].names) or None
        return self._names_of(domain) if kind == "domain" else None

    def variable(self, name: str) -> tf.Tensor:
        """The individuals that a variable ranges over, (k, *features)."""
        source = self.source(name)
        if source is None:
            raise LogicValueError(self.missing(name))
        return self._individuals(source, self.signature.variables[name])

    def constant(self, name: str) -> tf.Tensor:
        """The grounding of a constant, of shape `features`."""
        domain = self.signature.constants[name]
        if domain.names is not None and domain.features is not None:
            return tf.constant(domain.features[domain.names.index(name)])
        table = self.tables[name]
        return table.tensor[table.names.index(name)]

    def _individuals(self, source: tuple[str, str], domain: Domain) -> tf.Tensor:
        if source not in self._found:
            kind, name = source
            read = {"data": self._from_data, "choice": self._chosen, "domain": self._everyone}[kind]
            self._found[source] = read(name, domain)
        return self._found[source]

    def _from_data(self, name: str, domain: Domain) -> tf.Tensor:
        return self.data[name]

    def _chosen(self, variable: str, domain: Domain) -> tf.Tensor:
        choice = self.choices[variable]
        if choice.features is not None:
            return choice.features
        names = self._names_of(domain)
        everyone = self._individuals(("domain", domain.name), domain)
        return tf.gather(everyone, [names.index(name) for name in choice.names])

    def _everyone(self, _: str, domain: Domain) -> tf.Tensor:
        if domain.features is not None:
            return tf.constant(domain.features)
        tables = [table.tensor for table in self._tables_of(domain)]
        return tables[0] if len(tables) == 1 else tf.concat(tables, axis=0)

    def _names_of(self, domain: Domain) -> list[str]:
        return list(domain.names or [name for table in self._tables_of(domain) for name in table.names])

    def _tables_of(self, domain: Domain) -> list[Individuals]:
        return [table for table in dict.fromkeys(self.tables.values()) if table.domain.is_same(domain)]

    def missing(self, variable: str) -> str:
        domain = self.signature.variables[variable].name
        given = ", ".join(f"'{name}'" for name in self.data) or "none"
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
        self._diagonal = None
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
