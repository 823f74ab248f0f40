"""The result of a ranking: where the true answers stand, and the usual means over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ltn.checks import check_whole
from ltn.markup import Markup, bar, element, table

# The numbers of places of which people read the hits.
_PLACES = (1, 3, 10)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each true answer, 1 for the best; `theory.rank` computes them.

    Attributes:
        formula: what was ranked, as text.
        of: the variable whose individuals are ranked, or several.
        ranks: a rank for each row, (k,); of several variables, (k, number of them).
        is_filtered: whether other known answers were left out.
        individuals: how the individuals of each row are shown, by variable.

    >>> ranks = Ranks("P(x)", "x", np.array([1.0, 2.5]), False, {"x": ["a", "b"]})
    >>> ranks
    Ranks of x in `P(x)`, raw: 2 rows, MRR 0.700, hits@1 0.500, hits@3 1.000, hits@10 1.000
    >>> ranks.mrr, ranks.hits(2)
    (0.7, 0.5)
    >>> ranks.to_frame()
       x  rank
    0  a   1.0
    1  b   2.5
    """

    formula: str
    of: str | tuple[str, ...]
    ranks: NDArray[np.float64]
    is_filtered: bool
    individuals: Mapping[str, Sequence[Any]]

    @property
    def mrr(self) -> float:
        """The mean of the reciprocal ranks, in (0, 1]."""
        return float(np.mean(1.0 / self.ranks))

    def hits(self, places: int) -> float:
        """The share of ranks that are at most `places`, in [0, 1]."""
        return float(np.mean(self.ranks <= check_whole("places", places, "a number of places")))

    def to_frame(self) -> pd.DataFrame:
        """A row for each row that was ranked: its individuals, and their rank.

        Where several variables were ranked, each has a column of ranks, as `rank of h`.
        """
        columns: dict[str, Any] = dict(self.individuals)
        if isinstance(self.of, str):
            return pd.DataFrame(columns | {"rank": self.ranks})
        names = [f"rank of {variable}" for variable in self.of]
        return pd.DataFrame(columns | dict(zip(names, self.ranks.T, strict=True)))

    @property
    def _title(self) -> str:
        of = self.of if isinstance(self.of, str) else ", ".join(self.of)
        rows = f"{len(self.ranks):,} row{'s' * (len(self.ranks) != 1)}"
        return f"Ranks of {of} in `{self.formula}`, {'filtered' if self.is_filtered else 'raw'}: {rows}"

    @property
    def _means(self) -> dict[str, float]:
        return {"MRR": self.mrr} | {f"hits@{places}": self.hits(places) for places in _PLACES}

    def __repr__(self) -> str:
        return ", ".join([self._title, *(f"{name} {mean:.3f}" for name, mean in self._means.items())])

    def _repr_html_(self) -> Markup:
        means = table([], [[element("th", name), bar(mean)] for name, mean in self._means.items()])
        return element("div", element("p", self._title), means)
