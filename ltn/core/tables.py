"""Expressions as tables, labelled with the names of variables and individuals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd


def labelled(
    values: np.ndarray, variables: Sequence[str], individuals: Mapping[str, Sequence[str]], is_term: bool
) -> pd.DataFrame:
    """The values of an expression over its free variables; see `Expression.to_frame`.

    Args:
        values: shape (|x_1|, ..., |x_n|, *features).
        variables: x_1, ..., x_n.
        individuals: the names of the individuals of variables, where they are known.
        is_term: whether the values are features of individuals, rather than truths.
    """
    levels = [
        pd.Index(individuals.get(variable, range(size)), name=variable)
        for variable, size in zip(variables, values.shape, strict=False)
    ]
    if is_term:
        features = values.reshape(math.prod(len(level) for level in levels), -1)
        return pd.DataFrame(features, index=_index(levels))
    if len(levels) < 2:
        return pd.DataFrame({"truth": values.reshape(-1)}, index=_index(levels))
    return pd.DataFrame(values.reshape(-1, values.shape[-1]), index=_index(levels[:-1]), columns=levels[-1])


def _index(levels: list[pd.Index]) -> pd.Index:
    if not levels:
        return pd.RangeIndex(1)
    return levels[0] if len(levels) == 1 else pd.MultiIndex.from_product(levels)
