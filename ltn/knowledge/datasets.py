"""Data sets as data of a question: all of their rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

from ltn._private import as_logic_errors
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge.data import (
    Data,
    as_columns,
    check_some_count,
    read_batch,
    read_dataset,
    with_weights,
)
from ltn.language import Signature


def all_rows(signature: Signature, data: Any) -> Data:
    """Data as a dictionary, empty for None; of a data set, all rows, one batch after the other.

    A data set yields batches, as for `fit`: dictionaries, or tuples (batch, None, weights). It must have an
    end.
    """
    if data is None:
        return {}
    if isinstance(data, tf.data.Dataset):
        if data.cardinality() == tf.data.INFINITE_CARDINALITY:
            raise _endless("data.take(10)")
        with as_logic_errors():
            return _join(iter(read_dataset(signature, data, lambda _: None)))
    if isinstance(data, keras.utils.PyDataset):
        if data.num_batches is None:
            raise _endless("batches by an own `__len__`")
        return _join(_read(signature, data[number]) for number in range(data.num_batches))
    if isinstance(data, Iterator):
        raise LogicTypeError(
            "A generator may be endless, and its batches can be read only once: give a dictionary of "
            f"arrays, or a tf.data.Dataset; got a {type(data).__name__}."
        )
    return as_columns(data)


def _endless(advice: str) -> LogicValueError:
    return LogicValueError(
        f"The data set is endless, and all of its rows are asked for: take some, as {advice}."
    )


def _read(signature: Signature, element: Any) -> dict[str, Any]:
    x, _, weights = keras.utils.unpack_x_y_sample_weight(element)
    return with_weights(read_batch(signature, x), weights)


def _join(batches: Iterator[Data]) -> Data:
    found = list(batches)
    if not found:
        raise LogicValueError("The data set has no batches, and so no individuals.")
    return check_some_count({name: tf.concat([batch[name] for batch in found], axis=0) for name in found[0]})
