"""Values that change with the epochs of a training, and who tells a model that an epoch begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras

from ltn.errors import LogicTypeError, LogicValueError

# From epochs to values, each in force from its epoch on; or a function of the epoch.
ByEpoch = Mapping[int, float] | Callable[[int], float]


def check_epochs(values: ByEpoch, name: str = "values") -> ByEpoch:
    """The values; raise where an epoch would have none."""
    if isinstance(values, Mapping):
        if not values or min(values) != 0:
            raise LogicValueError(f"`{name}` must begin with epoch 0; got {dict(values)!r}.")
    elif not callable(values):
        raise LogicTypeError(f"`{name}` must be a dictionary or a function of the epoch; got {values!r}.")
    return values


def value_at(values: ByEpoch, epoch: int) -> float:
    """The value that is in force in an epoch.

    >>> [value_at({0: 0.0, 5: 1.0}, epoch) for epoch in (0, 4, 5, 9)]
    [0.0, 0.0, 1.0, 1.0]
    """
    if not isinstance(values, Mapping):
        return values(epoch)
    return values[max(start for start in values if start <= epoch)]


class Scheduled:
    """The weight of knowledge by epochs, as it was given; Keras would track a dictionary."""

    def __init__(self, values: ByEpoch):
        self._values = check_epochs(values, "weight")

    def at(self, epoch: int) -> float:
        """The weight of an epoch."""
        return value_at(self._values, epoch)

    def pairs(self) -> list[list[float]]:
        """Epochs and weights, as they are saved."""
        if not isinstance(self._values, Mapping):
            raise LogicValueError(
                "A schedule of `weight` that is a function cannot be saved: give a dictionary from epochs to "
                "weights."
            )
        return [[int(epoch), float(value)] for epoch, value in self._values.items()]


class EpochHistory(keras.callbacks.History):
    """The history of a training, and a model that is told when its epochs begin and end.

    Keras keeps a history anyway: another callback would cost time in each step.
    """

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Tell the model."""
        self.model.begin_epoch(epoch)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Tell the model, and note the logs."""
        self.model.end_epoch(epoch)
        super().on_epoch_end(epoch, logs)


def with_history(callbacks: Any) -> Any:
    """Callbacks for Keras with an `EpochHistory`."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks.append(EpochHistory())
        return callbacks
    # Last, as the history that Keras would add: it keeps what other callbacks add to the logs.
    return [*keras.tree.flatten(callbacks or []), EpochHistory()]
