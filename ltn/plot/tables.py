"""Reports as tables to draw: checked, and cut to the rows that a picture has room for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ltn.errors import LogicTypeError, LogicValueError

_COLUMNS = ("axiom", "formula", "satisfaction")


def check_report(frame: Any, what: str = "A report") -> None:
    """Raise unless it is a report with at least one axiom; `what` names it."""
    if not isinstance(frame, pd.DataFrame):
        raise LogicTypeError(
            f"{what} is the table that theory.report(data) returns; got a {type(frame).__name__}."
        )
    missing = [column for column in _COLUMNS if column not in frame]
    if missing:
        raise LogicValueError(
            f"{what} has the columns {', '.join(_COLUMNS)}; this table lacks {', '.join(missing)}. "
            "Pass what theory.report(data) returned."
        )
    if frame.empty:
        raise LogicValueError(f"{what} has no rows: there is no axiom to draw.")


def check_most(most: Any, what: str) -> None:
    """Raise unless `most` is a number of what is drawn."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise LogicValueError(
            f"`most` is how many {what} are drawn, a whole number of at least 1; got {most!r}."
        )


def least(values: pd.Series) -> float:
    """A number of two digits that all values reach; not a number where none of them is one."""
    lowest = float(values.min())
    # Not rounded up, so that all reach it; but a float32 just below 0.93 is 0.93.
    return lowest if math.isnan(lowest) else math.floor(100.0 * lowest + 1e-4) / 100.0
