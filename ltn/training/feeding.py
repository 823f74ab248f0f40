"""What `fit`, `evaluate` and `predict` feed to Keras, made of the data that users give."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import keras
import numpy as np
import tensorflow as tf

from ltn import _private
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge import data as data_module
from ltn.knowledge import streams
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.pairs import pairs_in
from ltn.training import distribution

# The size of batches where none is given, as in Keras.
BATCH_SIZE = 32

# Each start of a training is tried for the planned steps divided by this. After a tenth of them some starts
# lead that are stuck soon after.
TRIAL = 5

Arguments = dict[str, Any]


@runtime_checkable
class Keeper(Protocol):
    """A callback that keeps what the others remember; `fit` tells it who they are, and calls it last."""

    companions: list[keras.callbacks.Callback]


def reading(fed: Arguments) -> contextlib.AbstractContextManager[None]:
    """In which Keras reads the data that it is fed with: errors in them are ours."""
    # An epoch is all batches of a data set, however many they are.
    ends = isinstance(fed["x"], tf.data.Dataset) and not (fed.get("steps_per_epoch") or fed.get("steps"))
    return _private.as_logic_errors(ends)


def introduce(callbacks: Any) -> Any:
    """Callbacks for Keras: keepers come last, when the others have begun or ended an epoch."""
    if callbacks is None or isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    given = keras.tree.flatten(callbacks)
    keepers = [callback for callback in given if isinstance(callback, Keeper)]
    others = [callback for callback in given if not isinstance(callback, Keeper)]
    for keeper in keepers:
        keeper.companions = others
    return [*others, *keepers]


class Feeding:
    """The arguments of Keras for a theory's data: checked, in batches, divided among replicas.

    Args:
        knowledge: the axioms that the data are for.
        strategy: under which one or several replicas train.
        learns_nan: whether `fit` deals with batches that hold NaN.
    """

    def __init__(self, knowledge: KnowledgeBase, strategy: tf.distribute.Strategy, learns_nan: bool = False):
        self._learns_nan = learns_nan
        self._knowledge = knowledge
        self._strategy = strategy

    def for_fit(
        self, x: Any, y: Any, arguments: Arguments, can_be_endless: bool
    ) -> tuple[Arguments, dict[str, Any] | None]:
        """The arguments of `keras.Model.fit`; and the first batch, empty where there are no data.

        Of a data set it is None: to read one twice may take long, or not be possible.

        With `can_be_endless` all epochs may come from one endless data set, whose batches are those that
        Keras would make.
        """
        fed = dict(arguments)
        first: dict[str, Any] | None = {} if data_module.is_nothing(x) else None
        fed["x"] = x = self._read(x, y, fed, "steps_per_epoch", self._learns_nan)
        size = fed["batch_size"] or BATCH_SIZE
        if isinstance(x, Mapping):
            first = {name: values[:size] for name, values in x.items()}
        if fed.get("validation_data") is not None:
            fed["validation_data"] = self._validation(fed)
        if distribution.is_several(self._strategy):
            self._divide(fed)
        elif (
            can_be_endless
            and isinstance(x, Mapping)
            and not fed.get("steps_per_epoch")
            and not fed.get("validation_split")
        ):
            fed["steps_per_epoch"] = steps = distribution.number_of_batches(x, size)
            fed["validation_batch_size"] = fed.get("validation_batch_size") or size
            done, callbacks = None, keras.tree.flatten(fed["callbacks"] or [])
            if any(isinstance(callback, Keeper) for callback in callbacks):
                # It may resume a training, whose next epoch has an order of its own.
                beginning = distribution.Beginning(steps)
                fed["callbacks"], done = [beginning, *callbacks], beginning.done
            fed["x"] = data_module.endless_batches(x, size, fed.pop("shuffle", True), done)
            fed["batch_size"] = None
        if not isinstance(fed["x"], Mapping):
            fed.setdefault("shuffle", False)
        return fed, first

    def for_trials(self, fed: Arguments, steps: int | None) -> tuple[tf.data.Dataset, int]:
        """The batches that the starts of a training are tried on, endless; and how many steps each takes.

        `fed` is what `for_fit` returned. A generator can be read once only: what trials need of it is kept,
        and its place in `fed` is taken by one that begins with the same batches.
        """
        if distribution.is_several(self._strategy):
            raise LogicValueError(
                "Several replicas take no `starts`: find the best start on one device with few epochs, save "
                "the theory, and load it under the strategy."
            )
        x = fed["x"]
        if isinstance(x, Mapping):
            size = fed["batch_size"] or BATCH_SIZE
            # The last rows are for validation.
            count = math.floor(len(next(iter(x.values()))) * (1.0 - (fed.get("validation_split") or 0.0)))
            x = data_module.endless_batches(
                {name: values[:count] for name, values in x.items()}, size, fed.get("shuffle", True)
            )
            in_epoch: int | None = math.ceil(count / size)
        elif isinstance(x, tf.data.Dataset):
            in_epoch = int(x.cardinality()) if x.cardinality() >= 0 else None
        else:
            in_epoch = x.num_batches if isinstance(x, keras.utils.PyDataset) else None
        in_epoch = fed.get("steps_per_epoch") or in_epoch
        if steps is None:
            steps = _trial_steps(in_epoch, fed)
        if isinstance(x, keras.utils.PyDataset):
            indices = range(steps if x.num_batches is None else min(steps, x.num_batches))
            x = _as_dataset(lambda: (fed["x"][index] for index in indices))
        elif isinstance(x, Iterator):
            kept = list(itertools.islice(x, steps))
            fed["x"] = (batch for batch in itertools.chain(kept, x))
            x = _as_dataset(lambda: kept)
        return x.repeat(), steps

    def for_evaluate(self, x: Any, y: Any, arguments: Arguments) -> Arguments:
        """The arguments of `keras.Model.evaluate`, or of `predict`."""
        fed = dict(arguments)
        checked = self._read(x, y, fed, "steps")
        fed["x"] = self._divide_once(checked, fed, "batch_size", "steps")
        return fed

    def _read(self, x: Any, y: Any, fed: Arguments, steps: str, may_be_nan: bool = False) -> Any:
        weights = fed.pop("sample_weight", None)
        data_module.check_no_targets(y=y, class_weight=fed.get("class_weight"))
        if data_module.is_nothing(x):
            fed[steps] = fed.get(steps) or 1
        signature, check = self._knowledge.signature, self._knowledge.check_complete
        pairs = pairs_in(signature, [axiom.tree for axiom in self._knowledge.axiom_list])
        data = data_module.read_data(signature, x, check, weights, pairs)
        return streams.checked(signature, data, may_be_nan, pairs) if isinstance(x, tf.data.Dataset) else data

    def _validation(self, fed: Arguments) -> Any:
        data = fed["validation_data"]
        x, y, weights, *_ = (*data, None, None) if isinstance(data, tuple) else (data, None, None)
        fed["sample_weight"] = weights
        return self._read(x, y, fed, "validation_steps")

    def _divide(self, fed: Arguments) -> None:
        """Divide the data of `fit` among replicas, and add the callback that this needs."""
        x, size = fed["x"], fed["batch_size"] or BATCH_SIZE
        callbacks = keras.tree.flatten(fed["callbacks"] or [])
        if not isinstance(x, Mapping | tf.data.Dataset):
            raise LogicTypeError(
                "Several replicas take data as a dictionary of arrays, or as a tf.data.Dataset of batches; "
                f"got a {type(x).__name__}."
            )
        if fed.pop("validation_split", None):
            raise LogicValueError("Several replicas take `validation_data`, not `validation_split`.")
        if isinstance(x, Mapping):
            steps = fed.get("steps_per_epoch") or distribution.number_of_batches(x, size)
            fed["steps_per_epoch"] = steps
            beginning = distribution.Beginning(steps)
            callbacks = [beginning, *callbacks]
            shuffle = fed.pop("shuffle", True)
            fed["x"] = distribution.batches(self._strategy, x, size, shuffle, beginning)
        fed.setdefault("validation_batch_size", size)
        if fed.get("validation_data") is not None:
            names = ("validation_batch_size", "validation_steps")
            fed["validation_data"] = self._divide_once(fed["validation_data"], fed, *names)
        fed["batch_size"], fed["callbacks"] = None, callbacks

    def _divide_once(self, x: Any, fed: Arguments, batch_size: str, steps: str) -> Any:
        """Data that are not learned from, divided among the replicas if there are several."""
        if not distribution.is_several(self._strategy) or not isinstance(x, Mapping):
            return x
        size = fed.pop(batch_size, None) or BATCH_SIZE
        fed[steps] = fed.get(steps) or distribution.number_of_batches(x, size)
        return distribution.batches(self._strategy, x, size)


def _trial_steps(steps_in_epoch: int | None, fed: Arguments) -> int:
    """A part of the steps that are planned."""
    if steps_in_epoch is None:
        raise LogicValueError(
            "How many steps an epoch of these data has is not known: say how many each start is tried for, "
            "as in fit(data, starts=5, trial_steps=100), or give steps_per_epoch."
        )
    return max(1, math.ceil(steps_in_epoch * (fed["epochs"] - fed.get("initial_epoch", 0)) / TRIAL))


def _as_dataset(read: Callable[[], Iterable[Any]]) -> tf.data.Dataset:
    """A data set of the batches that a function reads, each alone or as the first of a tuple."""

    def batches() -> Iterator[dict[str, np.ndarray]]:
        for batch in read():
            columns = batch if isinstance(batch, Mapping) else batch[0]
            yield {name: np.asarray(values) for name, values in columns.items()}

    first = next(batches(), None)
    if first is None:
        raise LogicValueError("The data have no batches.")
    signature = {
        name: tf.TensorSpec([None, *values.shape[1:]], values.dtype) for name, values in first.items()
    }
    return tf.data.Dataset.from_generator(batches, output_signature=signature)
