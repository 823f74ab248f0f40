"""The truth of a clause under each family of operators, and the smallest change that makes it true enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ltn import fuzzy_ops
from ltn.errors import LogicValueError
from ltn.semantics import BaseSemantics

Truths = NDArray[np.float64]


class Logic(ABC):
    """Disjunction of the literals of a clause, which lie along the last axis."""

    name: ClassVar[str]

    @abstractmethod
    def truth(self, literals: Truths) -> Truths:
        """The truth of each clause."""

    @abstractmethod
    def lift(self, literals: Truths, q: float) -> Truths:
        """The literals with the smallest sum of changes by which each clause, all below `q`, reaches it."""

    @abstractmethod
    def join(self, left: Truths, right: Truths) -> Truths:
        """The disjunction of two truths, element by element."""

    def without_one(self, literals: Truths) -> Truths:
        """For each literal, the truth of the clause without it."""
        before, after = np.zeros_like(literals), np.zeros_like(literals)
        for place in range(1, literals.shape[-1]):
            before[..., place] = self.join(before[..., place - 1], literals[..., place - 1])
            after[..., -place - 1] = self.join(after[..., -place], literals[..., -place])
        return self.join(before, after)


class Godel(Logic):
    """max(l_1, ..., l_k): the greatest literal rises to q."""

    name = "min"

    def truth(self, literals: Truths) -> Truths:
        return np.max(literals, axis=-1, initial=0.0)

    def lift(self, literals: Truths, q: float) -> Truths:
        return _with_greatest(literals, np.full(literals.shape[:-1], q))

    def join(self, left: Truths, right: Truths) -> Truths:
        return np.maximum(left, right)


class Product(Logic):
    """1 - (1 - l_1) ... (1 - l_k): the greatest literal rises, since it gains most for each change."""

    name = "product"

    def truth(self, literals: Truths) -> Truths:
        return 1.0 - np.prod(1.0 - literals, axis=-1)

    def lift(self, literals: Truths, q: float) -> Truths:
        rest = np.partition(1.0 - literals, 0, axis=-1)[..., 1:]
        # None of the others is true: else the clause would be.
        return _with_greatest(literals, 1.0 - (1.0 - q) / np.prod(rest, axis=-1))

    def join(self, left: Truths, right: Truths) -> Truths:
        return 1.0 - (1.0 - left) * (1.0 - right)


class Lukasiewicz(Logic):
    """min(1, l_1 + ... + l_k): all literals rise alike, the smallest sum of squares too."""

    name = "Lukasiewicz"

    def truth(self, literals: Truths) -> Truths:
        return np.minimum(1.0, np.sum(literals, axis=-1))

    def lift(self, literals: Truths, q: float) -> Truths:
        missing = q - np.sum(literals, axis=-1, keepdims=True)
        return np.minimum(1.0, literals + missing / literals.shape[-1])

    def join(self, left: Truths, right: Truths) -> Truths:
        return np.minimum(1.0, left + right)


def _with_greatest(literals: Truths, values: Truths) -> Truths:
    """The literals with other values for the greatest of each clause."""
    lifted = literals.copy()
    greatest = np.argmax(literals, axis=-1)[..., np.newaxis]
    np.put_along_axis(lifted, greatest, values[..., np.newaxis], axis=-1)
    return lifted


_LOGICS: dict[type[Any], Logic] = {
    fuzzy_ops.And_Min: Godel(),
    fuzzy_ops.And_Prod: Product(),
    fuzzy_ops.And_Luk: Lukasiewicz(),
}


# Their names.
LOGICS = tuple(logic.name for logic in _LOGICS.values())


def logic_of(semantics: BaseSemantics) -> Logic:
    """The logic of a semantics, which its conjunction tells."""
    if semantics.space == "log":
        return Product()
    found = _LOGICS.get(type(semantics.And))
    if found is None:
        raise LogicValueError(
            "Truths are repaired under the minimum, the product or the conjunction of Lukasiewicz; the "
            f"semantics has {semantics.And!r}. Choose another one for the repair, as "
            'theory.repair(data, semantics="product").'
        )
    return found
