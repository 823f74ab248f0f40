"""What callbacks remember from epoch to epoch, in their attributes, so that a training can go on with it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

# What Keras gives to every callback, in every training.
_OF_KERAS = ("params", "_model")


def remembered(callback: keras.callbacks.Callback) -> dict[str, Any]:
    """The attributes that are plain data: numbers, text, arrays, and lists and dictionaries of them.

    What callbacks of Keras were given is left out: they turn it round when training begins, as `min_delta`.

    >>> memory = remembered(keras.callbacks.ReduceLROnPlateau(patience=3))
    >>> memory["wait"], "patience" in memory
    (0, False)
    """
    kinds = [kind for kind in type(callback).__mro__ if kind.__module__.startswith("keras.")]
    given = {name for kind in kinds for name in inspect.signature(kind).parameters}
    return {
        name: value
        for name, value in vars(callback).items()
        if name not in given and name not in _OF_KERAS and _is_plain(value)
    }


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What is new or other than it was.

    >>> changed({"patience": 3, "wait": 0}, {"patience": 3, "wait": 2})
    {'wait': 2}
    """
    return {
        name: value for name, value in now.items() if name not in before or not _same(before[name], value)
    }


def encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Plain data for JSON, and its arrays beside it.

    >>> arrays = {}
    >>> encode([1.5, np.zeros(2)], arrays), arrays
    ({'list': [1.5, {'array': 'array 0'}]}, {'array 0': array([0., 0.])})
    """
    if isinstance(value, list | tuple):
        return {"list" if isinstance(value, list) else "tuple": [encode(part, arrays) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(part, arrays) for part in pair] for pair in value.items()]}
    if _is_array(value):
        name = f"array {len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"array": name}
    return value


def decode(code: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """What `encode` was given.

    >>> decode({"dict": [["best", {"list": [0.5, {"array": "array 0"}]}]]}, {"array 0": np.zeros(2)})
    {'best': [0.5, array([0., 0.])]}
    """
    if not isinstance(code, dict):
        return code
    [(kind, inside)] = code.items()
    if kind == "array":
        # A number, where the array has no axes.
        return arrays[inside][()]
    kinds: dict[str, Any] = {"list": list, "tuple": tuple, "dict": dict}
    return kinds[kind](
        decode(part, arrays) if kind != "dict" else [decode(each, arrays) for each in part] for part in inside
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(part) for key, part in value.items())
    return value is None or type(value) in (bool, int, float, str) or _is_array(value)


def _is_array(value: Any) -> bool:
    """Whether it is an array of numbers, or a tensor that has a value."""
    if tf.is_tensor(value) and not hasattr(value, "numpy"):
        return False
    return isinstance(value, np.ndarray | np.generic | tf.Tensor) and np.asarray(value).dtype.kind in "biuf"


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(_same, one.values(), other.values()))
    if _is_array(one):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return bool(one == other) or (one != one and other != other)
