"""Sources of batches for the training of a theory: dictionaries, data sets, generators, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import tensorflow as tf

from ltn.errors import LogicTypeError
from ltn.language import Signature
from ltn.theory import data as data_module

# Raises where an axiom mentions a variable that has no individuals beside those that come under these names.
Complete = Callable[[Mapping[str, Any]], None]


def no_data() -> tf.data.Dataset:
    """An endless data set of batches without data."""
    return tf.data.Dataset.from_tensors(nothing()).repeat()


def nothing() -> dict[str, tf.Tensor]:
    """A batch without data."""
    return {data_module.NOTHING: tf.zeros(1)}


def gives_nothing(batches: tf.data.Iterator) -> bool:
    """Whether an iterator is one of `no_data`."""
    spec = batches.element_spec
    return isinstance(spec, Mapping) and set(spec) == {data_module.NOTHING}


def batches(table: Mapping[str, Any], batch_size: int, shuffle: bool) -> tf.data.Dataset:
    """The batches of all epochs, each epoch in an order of its own where it is shuffled.

    One endless data set: the iterator that Keras makes for each epoch costs more than a step on little data.
    """
    count = len(next(iter(table.values())))

    def order(_: tf.Tensor) -> tf.Tensor:
        return tf.random.shuffle(tf.range(count)) if shuffle else tf.range(count)

    def epoch(rows: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)

    def batch(rows: tf.Tensor) -> dict[str, tf.Tensor]:
        return {name: tf.gather(tensor, rows) for name, tensor in table.items()}

    epochs = tf.data.Dataset.from_tensors(0).repeat().map(order)
    return epochs.flat_map(epoch).map(batch).prefetch(tf.data.AUTOTUNE)


def is_nothing(x: Any) -> bool:
    """Whether no data were given."""
    return x is None or (isinstance(x, Mapping) and not x)


def checked(signature: Signature, x: Any, complete: Complete) -> Any:
    """A source of data, checked as far as it can be seen before the first batch."""
    if is_nothing(x):
        complete({})
        return no_data()
    if isinstance(x, Mapping):
        table = data_module.checked(signature, x)
        data_module.check_aligned(table)
        complete(table)
        return table
    if isinstance(x, tf.data.Dataset):
        return _checked_dataset(signature, x, complete)
    if isinstance(x, keras.utils.PyDataset):
        return x
    if isinstance(x, Iterator):
        # Keras wants a tuple of each batch.
        return ((batch,) if isinstance(batch, Mapping) else batch for batch in x)
    raise LogicTypeError(
        "Data are a dictionary from names of variables to arrays, as {'x': points}, or a data set of "
        f"such dictionaries; got a {type(x).__name__}."
    )


def _checked_dataset(signature: Signature, dataset: tf.data.Dataset, complete: Complete) -> tf.data.Dataset:
    spec = dataset.element_spec
    if isinstance(spec, tuple):
        if len(spec) > 1:
            check_no_targets(y=spec[1])
        dataset, spec = dataset.map(lambda x, *_: x), spec[0]
    if not isinstance(spec, Mapping):
        raise LogicTypeError(
            "A data set for a theory yields dictionaries from names of variables to batches; "
            f"this one yields {spec}."
        )
    data_module.check_names(signature, spec)
    for name, part in spec.items():
        data_module.check_shape(name, data_module.domain_of(signature, name), tuple(part.shape))
    known = {name: part for name, part in spec.items() if part.shape[0] is not None}
    data_module.check_aligned(known)
    complete(spec)
    return dataset.map(lambda batch: data_module.checked(signature, batch))


def check_no_targets(**given: Any) -> None:
    """Raise for what Keras models take beside their inputs."""
    for name, value in given.items():
        if value is not None:
            raise LogicTypeError(
                f"A theory takes no `{name}`: labels are variables too, as in "
                "theory.fit({'x': points, 'l': labels}); axioms have weights."
            )
