"""The most likely labels that satisfy clauses: mixed-integer programs, one for each set of outputs."""

from __future__ import annotations

import importlib
import numbers
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltn.errors import LogicValueError
from ltn.repair.labelling import satisfy
from ltn.repair.logics import Truths
from ltn.repair.patterns import Pattern

# Truths nearer than this to 0 and 1 count as this far, so that their logarithms are finite.
_NEAREST = 1e-7


class Decoder:
    """Finds labels for rows of a pattern.

    The labels y of the greatest sum of y_i log p_i + (1 - y_i) log(1 - p_i), the logarithm of their
    probability where outputs are independent.

    Attributes:
        gap: by how much that of labels may be below the best, at most over all rows so far.
    """

    def __init__(self, time_limit: Any):
        is_number = isinstance(time_limit, numbers.Real) and not isinstance(time_limit, bool)
        if not is_number or not time_limit > 0.0:
            raise LogicValueError(f"`time_limit` must be a number of seconds above 0; got {time_limit!r}.")
        self._optimize = _scipy("optimize")
        self._sparse = _scipy("sparse")
        self._end = time.monotonic() + float(time_limit)
        self.gap = 0.0

    def labels(self, pattern: Pattern, truths: Truths) -> Truths:
        """Labels for rows, (rows, atoms), 0 and 1; the rounded truths of rows that no labels satisfy."""
        found = (truths >= 0.5).astype(float)
        if not pattern.clauses.widths.all():
            return found
        fine = _satisfied(pattern, found)
        clipped = np.clip(truths, _NEAREST, 1.0 - _NEAREST)
        gains = np.log(clipped) - np.log1p(-clipped)
        rows = np.flatnonzero(~fine)
        if len(rows):
            distinct, which = np.unique(gains[rows], axis=0, return_inverse=True)
            solved = self._solve_all(pattern, distinct)
            if solved is not None:
                found[rows] = solved[which.reshape(-1)]
        return found

    def _solve_all(self, pattern: Pattern, gains: Truths) -> Truths | None:
        """Labels of the greatest gain for each row; None where there are none for the pattern."""
        clauses = pattern.clauses
        signs = np.where(clauses.signs, 1.0, -1.0)
        matrix = self._sparse.csr_matrix(
            (signs, clauses.atoms, clauses.starts), shape=(len(clauses), pattern.count)
        )
        # Of the sum of a clause's literals, 1 - y for a negated atom, at least 1.
        least = 1.0 - np.bincount(clauses.owners, weights=~clauses.signs, minlength=len(clauses))
        rules = self._optimize.LinearConstraint(matrix, least, np.inf)
        found = []
        for row in gains:
            labels = self._solve(pattern, rules, row)
            if labels is None:
                return None
            found.append(labels)
        return np.stack(found)

    def _solve(self, pattern: Pattern, rules: Any, gains: Truths) -> NDArray[np.float64] | None:
        left = self._end - time.monotonic()
        answer = None
        if left > 0.0:
            answer = self._optimize.milp(
                -gains,
                integrality=np.ones(pattern.count),
                bounds=self._optimize.Bounds(0.0, 1.0),
                constraints=rules,
                options={"time_limit": left, "mip_rel_gap": 0.0},
            )
        if answer is not None and answer.status == 0:
            return np.asarray(np.round(answer.x))
        if answer is not None and answer.status == 2:
            return None
        labels = None if answer is None or answer.x is None else np.asarray(np.round(answer.x))
        if labels is None:
            own = satisfy(pattern.clauses, pattern.count, (gains >= 0.0).tolist()).labels
            if own is None:
                return None
            labels = own.astype(float)
        # No labels gain more than all that gain alone do, nor more than the solver's bound.
        most = float(np.maximum(gains, 0.0).sum())
        bound = None if answer is None else getattr(answer, "mip_dual_bound", None)
        best = most if bound is None else min(most, -float(bound))
        self.gap = max(self.gap, best - float(labels @ gains))
        return labels


def _satisfied(pattern: Pattern, labels: Truths) -> NDArray[np.bool_]:
    """Which rows of labels satisfy all clauses."""
    found = np.ones(len(labels), bool)
    for _, atoms, signs in pattern.clauses.by_width():
        found &= ((labels[:, atoms] > 0.5) == signs).any(axis=2).all(axis=1)
    return found


def _scipy(name: str) -> Any:
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError as error:
        raise LogicValueError(
            "Labels are decoded by SciPy, which is not installed: install it with "
            "pip install 'ltn-keras[repair]'."
        ) from error
