"""A grounding that a search found, by the names of what it grounds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import keras
import numpy as np

from ltn import files
from ltn.core import Proposition
from ltn.core.symbols import Symbol
from ltn.errors import LogicFileError, LogicTypeError, LogicValueError
from ltn.evaluation.individuals import Individuals
from ltn.knowledge.questions import Knowledge
from ltn.language.names import list_names

_KINDS = ("constants", "propositions", "weights")

L = TypeVar("L", bound="Learner")


@runtime_checkable
class Learner(Knowledge, Protocol):
    """What reasoning needs of a theory: knowledge with weights that are learned, which can be copied."""

    @property
    def symbols(self) -> dict[str, Symbol]: ...

    @property
    def propositions(self) -> dict[str, Proposition]: ...

    @property
    def individuals(self) -> list[Individuals]: ...

    @property
    def layers(self) -> list[keras.Layer]: ...

    @property
    def trainable_variables(self) -> list[keras.Variable]: ...

    def copy(self: L) -> L: ...


class Grounding:
    """G_theta: what the learned symbols of a theory denote.

    Attributes:
        constants: the features of each learned constant, by name.
        propositions: the truth value of each learned proposition, by name.
        weights: weights of networks, as "smokes/0/kernel": the symbol, the number of the weight, its name.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> A, B = (theory.proposition(name, 0.0, trainable=True) for name in "AB")
    >>> axiom = theory.axiom("A | B")
    >>> counterexample = theory.entails("A", verbose=0).counterexample
    >>> counterexample
    Grounding(A = 0.000, B = 1.000)
    >>> counterexample.apply_to(theory).query("A | B")
    Formula(tensor=1., free_vars=[])
    """

    def __init__(
        self,
        constants: dict[str, np.ndarray],
        propositions: dict[str, float],
        weights: dict[str, np.ndarray],
    ):
        self.constants = constants
        self.propositions = propositions
        self.weights = weights

    @classmethod
    def of(cls, theory: Learner, values: Sequence[np.ndarray]) -> Grounding:
        """The values of a theory's trainable variables, by name."""
        by_variable = {id(v): value for v, value in zip(theory.trainable_variables, values, strict=True)}
        entries: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
        for place in _places(theory):
            value = by_variable[id(place.variable)]
            entries[place.kind][place.name] = value if place.row is None else value[place.row]
        entries["propositions"] = {name: float(value) for name, value in entries["propositions"].items()}
        return cls(**entries)

    def apply_to(self, theory: L) -> L:
        """A copy of the theory with this grounding; the theory itself keeps its own.

        The copy is not compiled. What is plain Python code in the theory is shared with it.
        """
        if not isinstance(theory, Learner):
            raise LogicTypeError(f"A grounding is applied to a theory; got a {type(theory).__name__}.")
        places = list(_places(theory))
        expected = {(place.kind, place.name) for place in places}
        given = {(kind, name) for kind in _KINDS for name in getattr(self, kind)}
        if given != expected:
            differing = sorted(name for _, name in given ^ expected)
            raise LogicValueError(
                f"This grounding is of another theory: {list_names(differing)} is learned in one of "
                "them only."
            )
        copy = theory.copy()
        for place in _places(copy):
            value = getattr(self, place.kind)[place.name]
            shape = tuple(place.variable.shape)[0 if place.row is None else 1 :]
            if np.shape(value) != shape:
                raise LogicValueError(
                    f"This grounding is of another theory: '{place.name}' has the shape {np.shape(value)} "
                    f"here, and {shape} there."
                )
            if place.row is not None:
                table = place.variable.value.numpy().copy()
                table[place.row] = value
                value = table
            place.variable.assign(value)
        return copy

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arrays to a NumPy `.npz` file; `Grounding.load` reads it."""
        if not str(path).endswith(".npz"):
            raise LogicValueError(f"A grounding is saved to a file whose name ends with .npz; got {path}.")
        arrays = {f"{kind}:{name}": value for kind in _KINDS for name, value in getattr(self, kind).items()}
        with files.replacing(path) as unfinished:
            np.savez(unfinished, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Grounding:
        """Read what `save` wrote."""
        entries: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
        for key, array in files.read_arrays(path).items():
            kind, _, name = key.partition(":")
            if kind not in entries or (kind == "propositions" and array.shape != ()):
                raise LogicFileError(f"{path} holds '{key}': it is not the file of a grounding.")
            entries[kind][name] = float(array) if kind == "propositions" else array
        return cls(**entries)

    def __repr__(self) -> str:
        shown = [f"{name} = {value:.3f}" for name, value in self.propositions.items()]
        if self.constants:
            shown.append(f"constants {list_names(list(self.constants))}")
        if self.weights:
            symbols = list(dict.fromkeys(name.partition("/")[0] for name in self.weights))
            shown.append(f"weights of {list_names(symbols)}")
        return f"Grounding({', '.join(shown)})"


class _Place(NamedTuple):
    """Where a theory keeps one entry of its grounding."""

    kind: str
    name: str
    variable: Any
    row: int | None = None


def _places(theory: Learner) -> Iterator[_Place]:
    for table in theory.individuals:
        for row, name in enumerate(table.names if table.trainable else ()):
            yield _Place("constants", name, table.table, row)
    for name, proposition in theory.propositions.items():
        for weight in proposition.trainable_weights:
            yield _Place("propositions", name, weight)
    seen = {id(table.table) for table in theory.individuals}
    for name, symbol in theory.symbols.items():
        network = symbol.network
        for number, weight in enumerate(
            network.trainable_weights if isinstance(network, keras.Layer) else ()
        ):
            # Weights that several symbols share are named after the first of them.
            if id(weight) not in seen:
                seen.add(id(weight))
                # Keras numbers the names that it makes, and numbers those of a copy differently.
                own_name = re.sub(r"_\d+$", "", weight.name)
                yield _Place("weights", f"{name}/{number}/{own_name}", weight)
