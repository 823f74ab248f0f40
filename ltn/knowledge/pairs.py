"""Pairs: variables that a `diag` lays on one axis, whose rows belong together in every batch of data.

Other variables may have another number of rows in a batch: each quantifier takes all rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ltn.errors import LogicValueError
from ltn.language import Node, Quantifier, Signature
from ltn.language.names import axis_text

# The variables of one axis.
Pairs = Sequence[tuple[str, ...]]


def pairs_in(signature: Signature, formulas: Iterable[Node | None]) -> Pairs:
    """The variables that formulas pair, also within definitions; of Python code, None, nothing is known."""
    trees = [tree for formula in formulas if formula is not None for tree in signature.trees_of(formula)]
    nodes = (node for tree in trees for node in tree.walk() if isinstance(node, Quantifier))
    return sorted({group for node in nodes for group in node.groups if len(group) > 1})


def columns_of(signature: Signature, pair: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    """The names under which the data of variables come: their own, or that of their domain."""
    known, found = set(names), {}
    for variable in pair:
        given = variable if variable in known else signature.variables[variable].name
        if given in known:
            found[variable] = given
    return found


def check_pairs(signature: Signature, pairs: Pairs, data: Mapping[str, Any]) -> None:
    """Raise where a batch has different numbers of individuals for variables that are paired."""
    for pair in pairs:
        columns = columns_of(signature, pair, data)
        sizes = {name: np.shape(data[given])[:1] for name, given in columns.items()}
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"'{name}' has {size[0] if size else 'one'}" for name, size in sizes.items())
            raise LogicValueError(
                f"The variables of {axis_text(pair)} must have the same number of individuals: {counts}. "
                "A `diag` takes the i-th of each; variables that none pairs may have other numbers."
            )
