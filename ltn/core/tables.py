"""Expressions as tables, labelled with the names of variables and individuals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from ltn.core.expressions import Expression


def labelled(expression: Expression, is_term: bool) -> pd.DataFrame:
    """The values of an expression; see `Expression.to_frame`."""
    values = np.asarray(expression.tensor)
    variables = list(expression.free_vars)
    levels = [
        _level(expression, variable, size) for variable, size in zip(variables, values.shape, strict=False)
    ]
    if is_term:
        features = values.reshape(math.prod(len(level) for level in levels), -1)
        return pd.DataFrame(features, index=_index(levels))
    if len(levels) < 2:
        return pd.DataFrame({"truth": values.reshape(-1)}, index=_index(levels))
    return pd.DataFrame(values.reshape(-1, values.shape[-1]), index=_index(levels[:-1]), columns=levels[-1])


def _level(expression: Expression, variable: str, size: int) -> pd.Index:
    return pd.Index(expression.individuals.get(variable, range(size)), name=variable)


def _index(levels: list[pd.Index]) -> pd.Index:
    if not levels:
        return pd.RangeIndex(1)
    return levels[0] if len(levels) == 1 else pd.MultiIndex.from_product(levels)
