"""The door for data: what users give is checked here, and turned into batches.

A batch is a dictionary from names of variables, or of domains, to individuals, (k, *features) each. Users
give one such dictionary, or a DataFrame with a column for each; a data set or a generator of them; or nothing
where the axioms need no data. Individuals may be given by name or by index, see `places`. The rows may have
weights, which are one more column of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError, NotFiniteError
from ltn.evaluation.groundings import ROW_WEIGHTS
from ltn.fuzzy_ops.arguments import LARGEST_WEIGHT
from ltn.knowledge.pairs import Pairs, check_pairs
from ltn.knowledge.places import PlacedBatches, are_indices, lookup, place_batch, read_places
from ltn.language import Domain, Signature
from ltn.language.names import list_names, nearest

Data = Mapping[str, Any]
# What a batch holds where the axioms need no data (tf.data has no empty elements); not a legal name.
NOTHING = "no\ndata"
# The columns of a batch that are not individuals.
OTHERS = (NOTHING, ROW_WEIGHTS)


# Individuals


def read_individuals(name: str, domain: Domain, values: Any) -> Any:
    """Individuals of a domain as float32, (k, *features); numbers get their feature axis.

    Values that are known now are checked; those of tensors in a graph are not known.
    """
    array = _numbers(name, values)
    if array.shape.rank is None:
        # In code that was compiled for numbers with and without their feature axis.
        array = tf.reshape(array, [-1, *domain.shape])
    _check_shape(name, domain, tuple(array.shape))
    array = array[:, np.newaxis] if array.shape.rank == 1 and domain.shape == (1,) else array
    if tf.executing_eagerly():
        check_values(name, domain, array.numpy())
    return array


def _numbers(name: str, values: Any) -> tf.Tensor:
    try:
        if isinstance(values, pd.Series) and values.dtype == object:
            # Each cell holds the features of one individual.
            values = np.stack([np.asarray(cell) for cell in values])
        if not tf.is_tensor(values):
            values = np.asarray(values)
            if values.dtype.kind in "cmMSU":
                raise TypeError("complex numbers, times or text")
            values = values.astype(np.float32, copy=False)
        tensor = tf.convert_to_tensor(values)
        if tensor.dtype == tf.string or tensor.dtype.is_complex:
            raise TypeError("text or complex numbers")
        return tf.cast(tensor, tf.float32)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(
            f"The data of '{name}' must be numbers of one shape; got {values!r:.200}."
        ) from error


def _check_shape(name: str, domain: Domain, shape: tuple[int | None, ...]) -> None:
    """Raise unless individuals of this shape, (k, *features), belong to the domain."""
    features = shape[1:]
    is_numbers = domain.shape == (1,) and len(shape) == 1
    fits = len(features) == len(domain.shape) and all(
        came is None or expected is None or came == expected
        for came, expected in zip(features, domain.shape, strict=True)
    )
    if not is_numbers and not fits:
        expected = ", ".join(str(size) for size in ("n", *domain.shape))
        raise LogicValueError(
            f"The data of '{name}' must have the shape ({expected}), n individuals of the domain "
            f"'{domain.name}'; got {shape}."
        )


def check_values(name: str, domain: Domain, values: np.ndarray, may_be_nan: bool = False) -> None:
    """Raise unless individuals, (k, *features), are finite and belong to their domain."""
    finite = np.isfinite(values)
    if not (finite.all() or may_be_nan):
        row = int(np.argwhere(~finite)[0][0])
        raise NotFiniteError(
            f"The data of '{name}' hold {int((~finite).sum())} values that are NaN or infinite, the first "
            f"in row {row}. Remove or replace them."
        )
    excused = ~finite.all(axis=tuple(range(1, values.ndim)))
    inside = domain.contains(values) | excused
    _check_all(inside, f"leave the bounds {domain.bounds} of the domain", name, domain)
    if domain.features is not None:
        _check_all(domain.has(values) | excused, "are not individuals of the finite domain", name, domain)


def _check_all(inside: np.ndarray, what: str, name: str, domain: Domain) -> None:
    if not inside.all():
        row = int(np.argmin(inside))
        raise LogicValueError(
            f"The data of '{name}' {what} '{domain.name}' in {int((~inside).sum())} of {len(inside)} rows, "
            f"the first in row {row}."
        )


# Batches


def read_batch(signature: Signature, data: Any) -> dict[str, Any]:
    """A dictionary of individuals that belong to the domains of their variables."""
    columns = as_columns(data)
    check_names(signature, columns)
    return {
        name: values if name in OTHERS else _read_column(signature, name, values)
        for name, values in columns.items()
    }


def _read_column(signature: Signature, name: str, values: Any) -> Any:
    """The individuals under a name: their features, or where they stand in their domain."""
    domain = domain_of(signature, name)
    places = read_places(signature, name, domain, values)
    return read_individuals(name, domain, values) if places is None else places


def as_columns(data: Any) -> Data:
    """Data as a dictionary: that of the columns of a DataFrame, or itself; raise for anything else."""
    if isinstance(data, pd.DataFrame):
        return {str(name): data[name] for name in data}
    if not isinstance(data, Mapping):
        raise LogicTypeError(
            "Data are a dictionary from names of variables to arrays, as {'x': points}; "
            f"got a {type(data).__name__}."
        )
    return data


def labels_in(data: Data) -> dict[str, list[Any]]:
    """What the rows of data are called by the index of a DataFrame, where that is not just numbers."""
    return {
        name: values.index.tolist()
        for name, values in data.items()
        if isinstance(values, pd.Series) and not isinstance(values.index, pd.RangeIndex)
    }


def check_names(signature: Signature, names: Iterable[str]) -> None:
    """Raise for data under a name that is neither a variable nor a domain."""
    for name in names:
        if name not in signature.variables and name not in signature.domains and name not in OTHERS:
            known = [*signature.variables, *signature.domains]
            close = nearest(str(name), known)
            hint = f"Did you mean '{close}'?" if close else f"Declared are: {list_names(known)}."
            if name in ("sample_forall", "sample_exists"):
                hint = "It is what axioms draw in training; a question draws with `sample=`."
            raise LogicValueError(f"Data came for {name!r}, which is not a variable of the theory. {hint}")


def domain_of(signature: Signature, name: str) -> Domain:
    """The domain of the individuals given under the name of a variable, or of the domain itself."""
    return signature.variables[name] if name in signature.variables else signature.domains[name]


def check_aligned(data: Data) -> None:
    """Raise unless all variables have the same number of individuals: a batch takes the i-th of each."""
    sizes = {name: values.shape[0] for name, values in data.items() if name != ROW_WEIGHTS}
    if len(set(sizes.values())) > 1:
        given = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        raise LogicValueError(
            f"The data of all variables must have the same number of individuals: {given}. Batches take "
            "the i-th individual of each. Tell classes apart by a label and a guard, as "
            "`forall diag(x, l) where l = 1: P(x)`, or give a variable its own individuals when it is "
            "declared: theory.variable(name, domain, values=...)."
        )
    if 0 in sizes.values():
        raise LogicValueError(f"The data of {list_names(list(sizes))} hold no individuals.")


def with_weights(batch: Data, weights: Any) -> dict[str, Any]:
    """The batch with weights of its rows, finite numbers from 0 up, (k,); without a change for None.

    Weights that are known now are checked; those in a graph are checked when it is executed.
    """
    if weights is None:
        return dict(batch)
    if not batch or NOTHING in batch:
        raise LogicValueError("Sample weights are for rows of data, and no data came.")
    rows = tf.convert_to_tensor(next(iter(batch.values())))
    try:
        given = tf.cast(weights if tf.is_tensor(weights) else np.asarray(weights, np.float32), tf.float32)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(f"`sample_weight` must be numbers; got {weights!r:.200}.") from error
    if given.shape.rank == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.shape.rank != 1 or not given.shape.is_compatible_with(rows.shape[:1]):
        raise LogicValueError(
            f"`sample_weight` must have the shape ({rows.shape[0] or 'n'},), one number for each row of the "
            f"data; got {tuple(given.shape)}."
        )
    return {**batch, ROW_WEIGHTS: _check_weights(given, tf.shape(rows)[0])}


def _check_weights(weights: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    message = "`sample_weight` must be finite numbers from 0 up, one for each row"
    if not tf.executing_eagerly():
        fine = (tf.size(weights) == count) & tf.reduce_all((weights >= 0.0) & (weights <= LARGEST_WEIGHT))
        with tf.control_dependencies([tf.debugging.Assert(fine, [message, weights])]):
            return tf.identity(weights)
    wrong = np.flatnonzero(~((weights.numpy() >= 0.0) & (weights.numpy() <= LARGEST_WEIGHT)))
    if len(wrong):
        raise LogicValueError(
            f"{message}; got {weights.numpy()[wrong[0]]} in row {wrong[0]}. The largest is "
            f"{LARGEST_WEIGHT:g}."
        )
    return weights


def check_some_count(data: dict[str, Any]) -> dict[str, Any]:
    """The data; raise where all of their rows weigh 0. Those of a batch may."""
    if ROW_WEIGHTS in data and not data[ROW_WEIGHTS].numpy().any():
        raise LogicValueError(
            f"All {len(data[ROW_WEIGHTS])} rows of the data have the weight 0: none of them counts."
        )
    return data


def empty_batch() -> dict[str, tf.Tensor]:
    """A batch without data."""
    return {NOTHING: tf.zeros(1)}


# What `fit` and `evaluate` are given


def read_data(
    signature: Signature,
    x: Any,
    check_complete: Callable[[Data], None],
    weights: Any = None,
    pairs: Pairs = (),
) -> Any:
    """The data that users give, checked as far as possible before the first batch.

    `check_complete` raises if an axiom mentions a variable that has no individuals, even with the data that
    it is called with. `weights` are those of the rows of a dictionary; data sets hold them themselves. Of the
    batches of a data set, variables in `pairs` have the same number of rows, or all where rows have weights.
    """
    if is_nothing(x):
        check_complete(with_weights({}, weights))
        return no_data()
    if isinstance(x, Mapping | pd.DataFrame):
        data = read_batch(signature, x)
        check_aligned(data)
        check_complete(data)
        return check_some_count(with_weights(data, weights))
    if weights is not None:
        raise LogicTypeError(
            "`sample_weight` is for a dictionary of arrays; a data set yields its weights itself, as "
            "(batch, None, weights)."
        )
    if isinstance(x, tf.data.Dataset):
        return read_dataset(signature, x, check_complete, pairs)
    if isinstance(x, keras.utils.PyDataset):
        return PlacedBatches(signature, x, pairs)
    if isinstance(x, Iterator):
        return (place_batch(signature, batch, number, pairs) for number, batch in enumerate(x))
    raise LogicTypeError(
        "Data are a dictionary from names of variables to arrays, as {'x': points}, or a data set of "
        f"such dictionaries; got a {type(x).__name__}."
    )


def read_dataset(
    signature: Signature,
    dataset: tf.data.Dataset,
    check_complete: Callable[[Data], None],
    pairs: Pairs = (),
) -> tf.data.Dataset:
    """A data set of checked batches, from one that users give; weights of rows are a column of them."""
    spec, *others = (
        dataset.element_spec if isinstance(dataset.element_spec, tuple) else [dataset.element_spec]
    )
    # A target that is None, as in (batch, None, weights), has no tensors.
    if others and tf.nest.flatten(others[0], expand_composites=True):
        check_no_targets(y=others[0])
    if not isinstance(spec, Mapping):
        raise LogicTypeError(
            "A data set for a theory yields dictionaries from names of variables to batches; "
            f"this one yields {spec}."
        )
    check_names(signature, spec)
    find = {}
    for name, tensor in spec.items():
        try:
            if tensor.dtype == tf.string and tensor.shape.rank == 1:
                find[name] = lookup(signature, name, domain_of(signature, name))
            elif not are_indices(signature, domain_of(signature, name), tensor):
                _check_shape(name, domain_of(signature, name), tuple(tensor.shape))
        except LogicValueError as error:
            raise LogicValueError(
                f"{error} A data set yields batches: `dataset.batch(32)` makes them."
            ) from None
    sized = {name: tensor for name, tensor in spec.items() if tensor.shape[0] is not None}
    if len(others) > 1:
        check_aligned(sized)
    check_pairs(signature, pairs, sized)
    check_complete(spec)

    def read(x: Data, y: Any = None, weights: Any = None) -> dict[str, Any]:
        placed = {name: find[name](values) if name in find else values for name, values in x.items()}
        return with_weights(read_batch(signature, placed), weights)

    return dataset.map(read)


def check_no_targets(**given: Any) -> None:
    """Raise for arguments that Keras models take beside their inputs."""
    for name, value in given.items():
        if value is not None:
            raise LogicTypeError(
                f"A theory takes no `{name}`: labels are variables too, as in "
                "theory.fit({'x': points, 'l': labels}); axioms have weights."
            )


def is_nothing(x: Any) -> bool:
    """Whether no data were given."""
    return x is None or (isinstance(x, Mapping | pd.DataFrame) and not len(x))


def no_data() -> tf.data.Dataset:
    """An endless data set of batches without data."""
    return tf.data.Dataset.from_tensors(empty_batch()).repeat()


def has_no_data(batches: tf.data.Iterator) -> bool:
    """Whether an iterator is one of `no_data`."""
    spec = batches.element_spec
    return isinstance(spec, Mapping) and set(spec) == {NOTHING}


def endless_batches(
    data: Data, batch_size: int, shuffle: bool, done: tf.Variable | None = None
) -> tf.data.Dataset:
    """The batches of all epochs; `shuffle` gives each epoch an order of its own.

    The epochs of the batches that are `done` are left out: a training that is resumed had them.
    One endless data set: the iterator that Keras makes for each epoch costs more than a step on little data.
    """
    count = len(next(iter(data.values())))

    def order(_: tf.Tensor) -> tf.Tensor:
        return tf.random.shuffle(tf.range(count)) if shuffle else tf.range(count)

    def epoch(rows: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)

    def batch(rows: tf.Tensor, whole: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return {name: tf.gather(tensor, rows) for name, tensor in whole.items()}

    epochs = tf.data.Dataset.from_tensors(0).repeat().map(order)
    if done is not None:
        in_epoch = math.ceil(count / batch_size)
        # Every order is drawn, so that each epoch has the one that it would have had.
        numbered = epochs.enumerate().filter(lambda number, _: number >= done // in_epoch)
        epochs = numbered.map(lambda _, rows: rows)
    # The graph of a function that read the data would keep them until Python looks for cycles.
    whole = tf.data.Dataset.from_tensors(dict(data)).repeat()
    return tf.data.Dataset.zip((epochs.flat_map(epoch), whole)).map(batch).prefetch(tf.data.AUTOTUNE)
