"""The vocabulary: the declared symbols, for modules that check trees against them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ltn.language.domains import Domain


class Vocabulary(Protocol):
    """What a signature tells about names.

    A `Signature` checks trees too, so it stands above the modules that do the checking; they see this part.
    """

    @property
    def domains(self) -> Mapping[str, Domain]:
        """By name."""

    @property
    def constants(self) -> Mapping[str, Domain]:
        """The domain of each."""

    @property
    def variables(self) -> Mapping[str, Domain]:
        """The domain of each."""

    @property
    def functions(self) -> Mapping[str, tuple[tuple[Domain, ...], Domain]]:
        """The domains of the inputs, and that of the output."""

    @property
    def predicates(self) -> Mapping[str, tuple[Domain, ...]]:
        """The domains of the inputs."""

    @property
    def propositions(self) -> Mapping[str, None]:
        """Their names, as the keys."""

    def kind(self, name: str) -> str | None:
        """What the symbol is, or None."""

    def written(self, symbol: str) -> str:
        """How the function or predicate is applied, as in `lives_in(people, towns)`."""
