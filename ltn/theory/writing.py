"""Models whose files are written whole or not at all."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import keras

from ltn import _private, files
from ltn.errors import LogicValueError

# The bytes that HDF5 writes for a weight beside its numbers, at most, with the names of its layers.
OVERHEAD = 2**14


class WrittenWhole(keras.Model, ABC):
    """A Keras model that is saved beside the file that is there, which the new one replaces once it is whole.

    The old file stays if the disk is full, or if the process is killed.
    """

    # Set by Keras.
    optimizer: Any

    @abstractmethod
    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """What the model computes."""

    def save(self, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any) -> None:
        """Write one `.keras` file, as `keras.Model.save`; one that is there is replaced by a whole one."""
        if zipped is False:
            # A folder of several files.
            super().save(filepath, overwrite, zipped, **kwargs)
        else:
            _write(partial(super().save, **kwargs), filepath, ".keras", overwrite)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: float | None = None
    ) -> None:
        """Write the weights, as `keras.Model.save_weights`; a file is replaced by a whole one."""
        if max_shard_size is not None:
            # Several files.
            super().save_weights(filepath, overwrite, max_shard_size)
            return
        # HDF5 crashes where the disk is full.
        optimizer = getattr(self, "optimizer", None)
        variables = [*self.variables, *(optimizer.variables if optimizer is not None else [])]
        size = sum(8 * math.prod(variable.shape) + OVERHEAD for variable in variables) + OVERHEAD
        _write(super().save_weights, filepath, ".weights.h5", overwrite, size)


def _write(save: Callable[[str], None], path: Any, ending: str, overwrite: bool, size: int = 0) -> None:
    """Let Keras write a file of at most so many bytes, if that is known."""
    name = files.name_of(path)
    if not name.endswith(ending):
        raise LogicValueError(f"It is saved to a file whose name ends with {ending}; got {name}.")
    if overwrite or not os.path.exists(name) or _private.may_overwrite(name):
        with files.replacing(name, size) as unfinished:
            save(unfinished)
