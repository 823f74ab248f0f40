"""What reasoning answers: a verdict on a formula, or the bounds of its truth value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ltn.language.parser import in_signs
from ltn.markup import bar, element, table
from ltn.reasoning.grounding import Grounding
from ltn.reasoning.refutation import level

Case = Literal["unsatisfied", "assumed", "refuted"]
Method = Literal["refutation", "brave"]


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether a formula is a logical consequence of a theory, as far as a search could tell.

    It is truthy where the formula follows. The case that decided is one of the paper's three:

        "unsatisfied": no grounding found satisfies the axioms to q, so that everything follows;
        "assumed": no grounding found that satisfies the axioms to q makes the formula false;
        "refuted": one does, and is the counterexample.

    Only the third is certain; the other two hold for the groundings that the search has seen.

    Attributes:
        formula: the text of the formula.
        method: "refutation" or "brave".
        q: the satisfaction of the axioms that was demanded.
        slack: the factor by which the formula's error may exceed the axioms' before it counts as false.
        case: which case decided.
        satisfaction: G*(K), under the grounding that decided.
        value: G*(phi), under the same grounding.
        grounding: the grounding that decided.
        starting_point: the number of the starting point that led to it; 1 is the theory as it was.
        runs: a table with a row per starting point: `satisfaction` and `value` of its best grounding.
        curve: a table with a row per step: `restart`, `step`, `loss`, `satisfaction`, `value`.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> A, B = (theory.proposition(name, 0.0, trainable=True) for name in "AB")
    >>> axiom = theory.axiom("A | B")
    >>> verdict = theory.entails("A", verbose=0)
    >>> bool(verdict), verdict.case
    (False, 'refuted')
    >>> print(verdict)
    `A` does not follow: a grounding that satisfies the theory (1.000, q = 0.95) gives it 0.000. Found from \
starting point 1.
    """

    formula: str
    method: Method
    q: float
    slack: float
    case: Case
    satisfaction: float
    value: float
    grounding: Grounding
    starting_point: int
    runs: pd.DataFrame
    curve: pd.DataFrame

    def __bool__(self) -> bool:
        return self.case != "refuted"

    @property
    def counterexample(self) -> Grounding | None:
        """The grounding that satisfies the axioms and not the formula; None where none was found."""
        return self.grounding if self.case == "refuted" else None

    @property
    def level(self) -> float:
        """The formula counts as false below this, at the satisfaction of the grounding that decided."""
        return float(level(np.float64(self.satisfaction), self.q, self.slack))

    @property
    def restarts(self) -> int:
        """The number of starting points that were tried."""
        return len(self.runs)

    @property
    def steps(self) -> int:
        """The number of steps of gradient descent, from all starting points together."""
        return len(self.curve)

    @property
    def share(self) -> float | None:
        """The share of the best groundings that satisfy the formula, among those that satisfy the axioms."""
        satisfying = self.runs[self.runs.satisfaction >= self.q].to_numpy()
        levels = level(satisfying[:, 0], self.q, self.slack).numpy()
        return float((satisfying[:, 1] >= levels).mean()) if len(satisfying) else None

    def __repr__(self) -> str:
        return self._say(self.formula)

    def _repr_html_(self) -> str:
        formula = in_signs(self.formula)
        rows = [
            ["satisfaction of the axioms", bar(self.satisfaction, f", q = {self.q:g}")],
            [formula, bar(self.value)],
        ]
        return element(
            "div", element("p", self._say(formula)), table(["", "under the grounding that decided"], rows)
        )

    def _say(self, formula: str) -> str:
        """The verdict in words; `formula` is how the formula is written."""
        tried = f"{self.restarts} starting point{'s' * (self.restarts != 1)}"
        if self.case == "unsatisfied":
            return (
                f"`{formula}` follows only because nothing was found that satisfies the theory to "
                f"q = {self.q:g}: the best of {tried} reached {self.satisfaction:.3f}. Ask with a lower q, "
                "or with more restarts."
            )
        if self.case == "refuted":
            return (
                f"`{formula}` does not follow: a grounding that satisfies the theory "
                f"({self.satisfaction:.3f}, q = {self.q:g}) gives it {self.value:.3f}. Found from starting "
                f"point {self.starting_point}."
            )
        satisfying = int((self.runs.satisfaction >= self.q).sum())
        searched = f"no counterexample was found from {tried}"
        if self.method == "brave":
            searched = f"it holds in all {satisfying} groundings learned from {tried} that satisfy the theory"
        found = f"`{formula}` is assumed to follow: {searched}; "
        found += f"its lowest value was {self.value:.3f}, at satisfaction {self.satisfaction:.3f}."
        if self.value < self.q:
            found += (
                f" That is below q = {self.q:g}: a counterexample by the definition of the paper, which "
                f"`slack=1` demands; but its error is no more than {self.slack:g} times that of the axioms."
            )
        return found


class Bounds(NamedTuple):
    """The lowest and the highest truth value of a formula that were found while the axioms are satisfied.

    Attributes:
        low, high: None where nothing was found that satisfies the axioms to q.
        satisfaction: the best that was reached.
        q: the satisfaction that was demanded.
        lowest, highest: the groundings of `low` and `high`.

    >>> import ltn
    >>> theory = ltn.Theory("product")
    >>> A, B = (theory.proposition(name, 0.0, trainable=True) for name in "AB")
    >>> axioms = theory.axioms("A\\nA -> B")
    >>> low, high, *_ = theory.bounds("B", verbose=0)
    >>> print(f"{low:.2f} {high:.2f}")
    0.93 1.00
    """

    low: float | None
    high: float | None
    satisfaction: float
    q: float
    lowest: Grounding | None
    highest: Grounding | None
