"""Mixtures: batches in which some rows have labels, and others have none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError

BATCH_SIZE = 32


class Mixture(NamedTuple):
    """The inputs of a batch: those with targets, which the task is about, and those without."""

    labelled: Any
    unlabelled: Any


def labelled_part(x: Any) -> Any:
    """The inputs that have targets."""
    return x.labelled if isinstance(x, Mixture) else x


def size(x: Any) -> tf.Tensor:
    """The number of the inputs that have targets."""
    return tf.shape(keras.tree.flatten(labelled_part(x))[0])[0]


def join(labelled: Mapping[str, Any], unlabelled: Mapping[str, Any]) -> dict[str, Any]:
    """The individuals of each variable: labelled ones, and then those without labels."""
    return {
        **labelled,
        **{
            name: tf.concat([labelled[name], tf.cast(rows, labelled[name].dtype)], 0)
            if name in labelled
            else rows
            for name, rows in unlabelled.items()
        },
    }


def mix(
    x: Any,
    y: Any,
    sample_weight: Any,
    unlabelled: Any,
    batch_size: int | None,
    shuffle: bool,
) -> tf.data.Dataset:
    """Batches of labelled and unlabelled rows; an epoch sees every row of both once.

    Data sets are taken as they are batched; the unlabelled one is repeated as often as need be.
    """
    if isinstance(x, tf.data.Dataset):
        if not isinstance(unlabelled, tf.data.Dataset):
            raise LogicTypeError(
                "`x` is a tf.data.Dataset, so `unlabelled` must be one too, of batches of inputs; "
                f"got {type(unlabelled).__name__}."
            )
        labelled = x
    else:
        if isinstance(unlabelled, tf.data.Dataset):
            raise LogicTypeError(
                "`unlabelled` is a tf.data.Dataset, so `x` must be one too, of (inputs, targets)."
            )
        given = (x, y) if sample_weight is None else (x, y, sample_weight)
        arrays = keras.tree.map_structure(np.asarray, given)
        few = batch_size or BATCH_SIZE
        labelled = _batches(arrays, few, shuffle)
        rest = keras.tree.map_structure(np.asarray, unlabelled)
        count = _count(rest)
        steps = math.ceil(_count(arrays) / few)
        unlabelled = _batches(rest, math.ceil(count / steps), shuffle)
    pairs = tf.data.Dataset.zip((labelled, unlabelled.repeat()))
    return pairs.map(_place).prefetch(tf.data.AUTOTUNE)


def _place(labelled: Any, unlabelled: Any) -> Any:
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(labelled)
    return keras.utils.pack_x_y_sample_weight(Mixture(x, unlabelled), y, sample_weight)


def _batches(arrays: Any, batch_size: int, shuffle: bool) -> tf.data.Dataset:
    rows = tf.data.Dataset.from_tensor_slices(arrays)
    if shuffle:
        rows = rows.shuffle(_count(arrays), seed=np.random.randint(2**31 - 1))
    return rows.batch(batch_size)


def _count(arrays: Any) -> int:
    counts = {len(array) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        raise LogicValueError(f"Arrays of rows must have the same length, at least 1; got {sorted(counts)}.")
    return counts.pop()
