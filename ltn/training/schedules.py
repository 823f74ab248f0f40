"""Values that change with the epochs of a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
