"""Tuples that are known when they are planned, and the individuals that occur in them.

A network runs once for each individual that occurs, however many tuples there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from ltn.evaluation.frames import Places
from ltn.evaluation.plan import Execution, Step, Value


@dataclass(frozen=True)
class KnownTuples(Step):
    """Tuples that were known when the plan was made: for each parent their places there, int32, (K,)."""

    label: str
    what: str = field(compare=False)
    indices: tuple[tf.Tensor, ...] = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.label,)

    def compute(self, execution: Execution) -> tuple[tf.Tensor, ...]:
        return self.indices

    def describe(self) -> str:
        return self.what


@dataclass(frozen=True)
class KnownIndex(Step):
    """Where each of some known tuples is among the individuals that occur."""

    high: str
    low: str
    index: tf.Tensor = field(compare=False)

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.high,)

    def compute(self, execution: Execution) -> tf.Tensor:
        return self.index

    def describe(self) -> str:
        return f"where each tuple is on {self.low}"


@dataclass(frozen=True)
class IndexAmong(Step):
    """Where tuples are among the individuals that occur, from where they are among all."""

    among_all: Value
    low: str
    occurring: tf.Tensor = field(compare=False)

    def compute(self, execution: Execution) -> tf.Tensor:
        return tf.searchsorted(self.occurring, execution[self.among_all])

    def describe(self) -> str:
        return f"where each tuple is on {self.low}"


def as_constant(index: Places) -> tf.Tensor:
    """An index as a tensor, int32, that is not part of the graph which is being made."""
    with tf.init_scope():
        return tf.constant(index.astype(np.int32))
