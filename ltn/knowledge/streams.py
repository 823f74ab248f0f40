"""Batches that only come while a data set is read: their values are checked there, in its own threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from ltn import errors
from ltn.evaluation.bounds import are_inside
from ltn.evaluation.groundings import ROW_WEIGHTS, are_places
from ltn.knowledge import data as data_module
from ltn.knowledge.data import Data
from ltn.knowledge.pairs import Pairs, check_pairs, columns_of
from ltn.knowledge.places import check_places
from ltn.language import Domain, Signature


def checked(
    signature: Signature, batches: tf.data.Dataset, may_be_nan: bool = False, pairs: Pairs = ()
) -> tf.data.Dataset:
    """A data set of the same batches, dictionaries of individuals, that ends with an error at a wrong one.

    Variables in `pairs` have the same number of rows; where rows have weights, all variables do.

    TensorFlow finds out which batch is wrong, and Python, which is slower, what is wrong with it.
    `_private.as_logic_errors` makes the error one of ours.
    """

    def check(number: tf.Tensor, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        names = [name for name in batch if name not in data_module.OTHERS]
        are_weighted = ROW_WEIGHTS in batch

        def explain() -> None:
            def raise_for(at: tf.Tensor, *values: tf.Tensor) -> None:
                _raise_for(
                    signature, int(at), dict(zip(names, values, strict=True)), may_be_nan, pairs, are_weighted
                )

            tf.py_function(raise_for, [number, *(batch[name] for name in names)], [])

        columns = {name: batch[name] for name in names}
        own = (columns_of(signature, pair, names).values() for pair in pairs)
        aligned = [names] if are_weighted else [list(dict.fromkeys(given)) for given in own]
        done = tf.cond(_are_fine(signature, columns, may_be_nan, aligned), lambda: None, explain)
        with tf.control_dependencies([done] if done is not None else []):
            return {name: tf.identity(values) for name, values in batch.items()}

    return batches.enumerate().map(check)


def _are_fine(
    signature: Signature, columns: Data, may_be_nan: bool, aligned: Sequence[Sequence[str]]
) -> tf.Tensor:
    """Whether all values belong to their domains, and aligned columns have the same number of rows."""
    sizes = {name: tf.shape(values)[0] for name, values in columns.items()}
    fine = [tf.constant(True)]
    fine += [tf.equal(sizes[name], sizes[names[0]]) for names in aligned for name in names]
    for name, values in columns.items():
        domain = data_module.domain_of(signature, name)
        if are_places(values):
            places = tf.cast(values, tf.int32)
            fine.append(tf.reduce_all((places >= 0) & (places < len(signature.places(domain)))))
            continue
        finite = tf.math.is_finite(values)
        if domain.is_bounded:
            inside = are_inside(domain, values)
            fine.append(tf.reduce_all(inside | ~finite))
        if domain.features is not None:
            fine.append(tf.reduce_all(_are_known(domain, values) | ~_rows(finite)))
        if not may_be_nan:
            fine.append(tf.reduce_all(finite))
    return tf.reduce_all(tf.stack(fine))


def _are_known(domain: Domain, values: tf.Tensor) -> tf.Tensor:
    if domain.features is None or domain.shape != (1,):
        return tf.ensure_shape(tf.numpy_function(domain.has, [values], tf.bool), [None])
    known = tf.constant(np.sort(domain.features[:, 0]))
    places = tf.minimum(tf.searchsorted(known, values[:, 0]), len(domain.features) - 1)
    return tf.equal(tf.gather(known, places), values[:, 0])


def _rows(finite: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(finite, axis=list(range(1, finite.shape.rank)))


def _raise_for(
    signature: Signature, number: int, columns: Data, may_be_nan: bool, pairs: Pairs, are_weighted: bool
) -> None:
    try:
        if are_weighted:
            data_module.check_aligned(columns)
        check_pairs(signature, pairs, columns)
        for name, values in columns.items():
            domain = data_module.domain_of(signature, name)
            if are_places(values):
                check_places(signature, name, domain, values.numpy())
            else:
                data_module.check_values(name, domain, values.numpy(), may_be_nan)
    except errors.LogicError as error:
        raise type(error)(f"In batch {number + 1} of the data set: {error}") from None
