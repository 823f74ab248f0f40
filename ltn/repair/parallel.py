"""Refinement of all clauses at once, in a graph: for the outputs of a classifier, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ltn.repair.refining import MARGIN
from ltn.repair.row_rules import RowRules


class Refinement:
    """One round of refinement.

    Each broken clause asks for its smallest change, and of what is asked of a column the largest is made.

    Args:
        rules: the clauses; implications are left to `Order`.
        q: how true each is to be.
    """

    def __init__(self, rules: RowRules, q: float):
        self._columns, self._q = rules.columns, q
        self._lift = _LIFTS[rules.logic]
        widths = sorted({len(clause) for clause in rules.clauses})
        # The clauses of each width: the columns, (clauses, width), and 1 or -1 for each literal.
        self._batches = []
        for width in widths:
            literals = np.array([clause for clause in rules.clauses if len(clause) == width])
            self._batches.append((np.abs(literals) - 1, np.sign(literals)[:, :, np.newaxis]))

    def apply(self, values: tf.Tensor) -> tf.Tensor:
        """The truths after a round, (columns, rows)."""
        asked, of = [], []
        for columns, signs in self._batches:
            sign = tf.constant(signs, values.dtype)
            # 1 - t of a negated literal.
            literals = sign * tf.gather(values, columns) + (1.0 - sign) / 2.0
            change, is_broken = self._lift(literals, self._q, min(1.0, self._q + MARGIN))
            change = tf.where(is_broken, sign * change, tf.zeros_like(change))
            asked.append(tf.reshape(change, [columns.size, -1]))
            of.append(columns.reshape(-1))
        changes, columns = tf.concat(asked, axis=0), np.concatenate(of)
        up = tf.math.unsorted_segment_max(changes, columns, self._columns)
        down = tf.math.unsorted_segment_min(changes, columns, self._columns)
        # A column without clauses has the least and the greatest number of the type.
        up, down = tf.maximum(up, 0.0), tf.minimum(down, 0.0)
        return tf.clip_by_value(values + tf.where(up >= -down, up, down), 0.0, 1.0)


def _lift_greatest(literals: tf.Tensor, q: float, aim: float) -> tuple[tf.Tensor, tf.Tensor]:
    """Under the maximum."""
    greatest = _greatest(literals)
    return greatest * (aim - literals), tf.reduce_max(literals, axis=1, keepdims=True) < q


def _lift_product(literals: tf.Tensor, q: float, aim: float) -> tuple[tf.Tensor, tf.Tensor]:
    """Under 1 - (1 - l_1) ... (1 - l_k)."""
    greatest = _greatest(literals)
    is_broken = 1.0 - tf.reduce_prod(1.0 - literals, axis=1, keepdims=True) < q
    rest = tf.reduce_prod(
        tf.where(greatest > 0.0, tf.ones_like(literals), 1.0 - literals), axis=1, keepdims=True
    )
    # Where the clause is not broken this may be 0.
    rest = tf.where(is_broken, rest, tf.ones_like(rest))
    return greatest * (1.0 - (1.0 - aim) / rest - literals), is_broken


def _lift_sum(literals: tf.Tensor, q: float, aim: float) -> tuple[tf.Tensor, tf.Tensor]:
    """Under min(1, l_1 + ... + l_k)."""
    total = tf.reduce_sum(literals, axis=1, keepdims=True)
    missing = (aim - total) / literals.shape[1]
    return tf.broadcast_to(missing, tf.shape(literals)), total < q


def _greatest(literals: tf.Tensor) -> tf.Tensor:
    """1 for the greatest literal of each clause, and 0 for the others."""
    return tf.one_hot(tf.argmax(literals, axis=1), literals.shape[1], axis=1, dtype=literals.dtype)


_LIFTS: dict[str, Callable[[tf.Tensor, float, float], tuple[Any, Any]]] = {
    "min": _lift_greatest,
    "product": _lift_product,
    "Lukasiewicz": _lift_sum,
}
