"""Models whose files are written whole or not at all."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import keras

from ltn import _private, files
from ltn.errors import LogicValueError

# The bytes that HDF5 writes for a weight beside its numbers, at most, with the names of its layers.
OVERHEAD = 2**14


def save(
    model: Any, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
) -> None:
    """Write the model to one `.keras` file; all arguments are those of `keras.Model.save`.

    `ltn.load` reads a theory, and `keras.models.load_model` any model. A file that is there is replaced once
    the new one is whole: it stays if the disk is full, or if the process is killed.
    """
    if zipped is False:
        # A folder of several files.
        keras.Model.save(model, filepath, overwrite, zipped, **kwargs)
    else:
        _write(partial(keras.Model.save, model, **kwargs), filepath, ".keras", overwrite)


def save_weights(
    model: Any, filepath: Any, overwrite: bool = True, max_shard_size: float | None = None
) -> None:
    """Write the weights, as `keras.Model.save_weights`; as in `save`, a file is replaced by a whole one."""
    if max_shard_size is not None:
        # Several files.
        keras.Model.save_weights(model, filepath, overwrite, max_shard_size)
        return
    # HDF5 crashes where the disk is full.
    optimizer = getattr(model, "optimizer", None)
    variables = [*model.variables, *(optimizer.variables if optimizer is not None else [])]
    size = sum(8 * math.prod(variable.shape) + OVERHEAD for variable in variables) + OVERHEAD
    _write(partial(keras.Model.save_weights, model), filepath, ".weights.h5", overwrite, size)


def _write(save: Callable[[str], None], path: Any, ending: str, overwrite: bool, size: int = 0) -> None:
    """Let Keras write a file of at most so many bytes, if that is known."""
    name = files.name_of(path)
    if not name.endswith(ending):
        raise LogicValueError(f"It is saved to a file whose name ends with {ending}; got {name}.")
    if overwrite or not os.path.exists(name) or _private.may_overwrite(name):
        with files.replacing(name, size) as unfinished:
            save(unfinished)
