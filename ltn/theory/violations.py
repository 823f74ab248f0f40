"""The table of violations: a DataFrame that knows how many there were, and says so where it is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from ltn.checks import check_choice
from ltn.errors import LogicValueError
from ltn.markup import bar, element, frame_table

# What a cell of truths is cut to at the least, and the width of a line where pandas sets none.
_LEAST, _WIDTH = 12, 80


class ViolationCounts(NamedTuple):
    """What the violations of a theory are counted as, also of those that the table has no room for.

    Attributes:
        threshold: below which truth a grounding is violated.
        violations: how many of the groundings of each axiom are violated, by its name.
        groundings: how many there are.
        rows: in how many violations each row of the data takes part; None where the data are no rows.
        why: why they are none.
    """

    threshold: float
    violations: pd.Series
    groundings: pd.Series
    rows: pd.Series | None
    why: str


class Violations(pd.DataFrame):
    """A DataFrame of violations, a row for each; what pandas makes of it, such as some rows, is a plain one.

    `axiom` is the name of the axiom; a column for each variable has the individual, and is empty where an
    axiom has no such variable; `truth` is the truth of what the axiom claims of the individuals; `atoms` has
    the truth of each of its atoms, by their texts.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> towns = theory.domain("towns", values=["Rome", "Seoul"])
    >>> x, y = theory.variables("x, y", towns)
    >>> near = theory.predicate("near", (towns, towns), lambda pair: pair[0] <= pair[1])
    >>> axiom = theory.axiom("forall x, y: near(x, y) -> near(y, x)", name="symmetric")
    >>> found = theory.violations()
    >>> found
           axiom     x      y  truth                         atoms
    0  symmetric  Rome  Seoul    0.0  near(x, y) 1, near(y, x) 0
    1 violation, a truth below 0.5, of 4 groundings of 1 axiom.
    >>> found.atoms[0]
    {'near(x, y)': 1.0, 'near(y, x)': 0.0}
    """

    # Kept where the table is pickled.
    _metadata: ClassVar[list[str]] = ["found"]
    found: ViolationCounts

    @classmethod
    def of(cls, columns: Mapping[str, Any], found: ViolationCounts) -> Violations:
        """The table of some columns."""
        table = cls(columns)
        table.found = found
        return table

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        # Of some rows the counts would not be those of the table.
        return pd.DataFrame

    @property
    def threshold(self) -> float:
        """The truth below which a grounding is violated."""
        return self.found.threshold

    @property
    def total(self) -> int:
        """How many violations there were, also those that the table has no room for."""
        return int(self.found.violations.sum())

    def counts(self, by: str = "axioms") -> pd.Series:
        """How many violations there were, also those that the table has no room for.

        Args:
            by: "axioms" for the violations of each axiom, by its name; "rows" for the violations in which
                each row of the data takes part, by its label. A violation about several rows counts for
                each of them.

        >>> import ltn
        >>> theory = ltn.Theory("product")
        >>> numbers = theory.domain("numbers")
        >>> x, y = theory.variables("x, y", numbers)
        >>> near = theory.predicate("near", (numbers, numbers), lambda pair: pair[0] == pair[1])
        >>> axiom = theory.axiom("forall x, y: near(x, y)", name="same")
        >>> found = theory.violations({"numbers": [3.0, 3.0, 7.0]})
        >>> found.counts().to_dict()
        {'same': 4}
        >>> found.counts("rows").to_dict()
        {0: 2, 1: 2, 2: 4}
        """
        check_choice("by", by, ("axioms", "rows"))
        if by == "axioms":
            return self.found.violations.copy()
        if self.found.rows is None:
            raise LogicValueError(f"Violations are counted by the rows of the data, and {self.found.why}.")
        return self.found.rows.copy()

    @property
    def has_rows(self) -> bool:
        """Whether the data are rows, of which each has one individual for each variable that has data."""
        return self.found.rows is not None

    def groundings(self) -> pd.Series:
        """How many groundings each axiom has, violated or not."""
        return self.found.groundings.copy()

    def shares(self) -> pd.Series:
        """The share of its groundings that is violated, for each axiom; 0 where it has none."""
        return (self.found.violations / self.found.groundings.clip(lower=1)).rename("share")

    @property
    def _sum(self) -> str:
        """What is said below the table."""
        below = f"a truth below {self.threshold:g}"
        groundings, axioms = int(self.found.groundings.sum()), len(self.found.groundings)
        of = f"of {_count(groundings, 'grounding')} of {_count(axioms, 'axiom')}"
        said = f"{_count(self.total, 'violation') if self.total else 'No violations'}, {below}, {of}."
        if len(self) < self.total:
            said += (
                f"\nThe table has {_count(len(self), 'row')}, the worst of each axiom: `limit` sets how many."
            )
        return said

    def _shown(self) -> pd.DataFrame:
        """The rows that there is room for."""
        return pd.DataFrame(self).iloc[: pd.get_option("display.max_rows") or len(self)]

    def _more(self, shown: pd.DataFrame) -> list[str]:
        """What is said of the others."""
        others = len(self) - len(shown)
        return [f"{_count(others, 'more row')} {'is' if others == 1 else 'are'} not shown."] if others else []

    @property
    def _is_whole(self) -> bool:
        """Whether it has its columns still: they may be taken out in place."""
        return {"truth", "atoms"} <= set(self.columns) and self.columns.is_unique

    def __repr__(self) -> str:
        if not self._is_whole:
            return repr(pd.DataFrame(self))
        shown = self._shown()
        if not len(shown):
            return self._sum
        cells = shown.astype(object).where(shown.notna(), "").assign(truth=shown["truth"])
        beside = cells.drop(columns="atoms").to_string().split("\n")[0]
        room = max((pd.get_option("display.width") or _WIDTH) - len(beside) - 4, _LEAST)
        cells = cells.assign(atoms=[_cut(_said(atoms), room) for atoms in shown["atoms"]])
        with pd.option_context(
            "display.max_columns", None, "display.show_dimensions", False, "display.max_colwidth", None
        ):
            return "\n".join([repr(cells), *self._more(shown), self._sum])

    def _repr_html_(self) -> str | None:
        if not self._is_whole:
            return pd.DataFrame(self)._repr_html_()
        if not pd.get_option("display.notebook_repr_html"):
            return None
        shown = self._shown()
        table = [frame_table(shown, _show)] if len(shown) else []
        return element("div", *table, *(element("p", line) for line in (*self._more(shown), self._sum)))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _said(atoms: Mapping[str, float]) -> str:
    return ", ".join(f"{text} {truth:.3g}" for text, truth in atoms.items())


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _show(column: Any, value: Any) -> Any:
    if column == "truth":
        return bar(float(value))
    if column == "atoms":
        return _said(value)
    return "" if pd.isna(value) else value
