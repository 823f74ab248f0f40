"""What checking finds out about an expression."""

from __future__ import annotations

from dataclasses import dataclass

from ltn.language.domains import Domain
from ltn.language.shapes import Shape


@dataclass(frozen=True)
class Sort:
    """A formula, or a term with the shape of its features and its domain.

    The `shape` of a formula is None. A term that is a number or the result of arithmetic has no domain.
    """

    shape: Shape | None = None
    domain: Domain | None = None

    @property
    def is_formula(self) -> bool:
        """Whether it is true to a degree, rather than an individual."""
        return self.shape is None


FORMULA = Sort()
