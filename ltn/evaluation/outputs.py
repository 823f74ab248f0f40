"""What networks returned: the rows of several calls together, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import tensorflow as tf

from ltn.core import axes
from ltn.core.symbols import Batch

# A function of the rows, and of the logits behind them; None where there are none.
Reading = Callable[[tf.Tensor, tf.Tensor | None], tf.Tensor]


class Returned:
    """The rows that a network returned in one run, and the logits behind them where it has any.

    `counts` tells how many of them belong to each of the calls that were run together.
    """

    def __init__(self, rows: tf.Tensor, logits: tf.Tensor | None, counts: Sequence[axes.Size]):
        self.rows = rows
        self.logits = logits
        self._counts = counts
        self._read: dict[Hashable, list[tf.Tensor]] = {}

    def read(self, key: Hashable, reading: Reading) -> list[tf.Tensor]:
        """For each call its part of a reading, which treats each row alone, and is done once for all rows.

        `key` stands for the reading.
        """
        if key not in self._read:
            whole = reading(self.rows, self.logits)
            self._read[key] = [whole] if len(self._counts) == 1 else tf.split(whole, self._counts)
        return self._read[key]


class Output(NamedTuple):
    """What a network returned for one call: a part of its rows, and what it was called on."""

    returned: Returned
    part: int
    batch: Batch

    @property
    def rows(self) -> tf.Tensor:
        """The rows as they were returned."""
        return self.read("rows", lambda rows, _: rows)

    @property
    def logits(self) -> tf.Tensor | None:
        """The logits behind the rows; None where there are none."""
        return None if self.returned.logits is None else self.read("logits", lambda _, logits: logits)

    def read(self, key: Hashable, reading: Reading) -> tf.Tensor:
        """The part of `Returned.read` that belongs to this call."""
        return self.returned.read(key, reading)[self.part]
