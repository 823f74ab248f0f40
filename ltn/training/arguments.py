"""Arguments of Keras that it would take in silence, and then train nothing, or something else."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import keras

from ltn.checks import check_whole
from ltn.errors import LogicTypeError, LogicValueError

# The least value of arguments that count something; None where Keras has a default.
_COUNTS = {
    "batch_size": 1,
    "epochs": 0,
    "initial_epoch": 0,
    "steps": 1,
    "steps_per_epoch": 1,
    "steps_per_execution": 1,
    "validation_batch_size": 1,
    "validation_steps": 1,
}
_VERBOSE = ("auto", 0, 1, 2)


def check_fit(arguments: Mapping[str, Any]) -> None:
    """Raise for arguments of `fit`, `evaluate` or `predict` that mean nothing."""
    for name, least in _COUNTS.items():
        if arguments.get(name) is not None:
            check_whole(name, arguments[name], least=least)
    split = arguments.get("validation_split") or 0.0
    if isinstance(split, bool) or not isinstance(split, numbers.Real) or not 0.0 <= float(split) < 1.0:
        raise LogicValueError(
            "`validation_split` is the part of the rows that is kept for validation, from 0 up and below 1; "
            f"got {split!r}."
        )
    verbose = arguments.get("verbose", "auto")
    if not isinstance(verbose, str | int) or verbose not in _VERBOSE:
        raise LogicValueError(f"`verbose` is one of {', '.join(map(repr, _VERBOSE))}; got {verbose!r}.")
    _check_callbacks(arguments.get("callbacks"))


def check_compile(
    optimizer: Any, jit_compile: Any, run_eagerly: Any = False, steps_per_execution: Any = 1, **_: Any
) -> None:
    """Raise for arguments of `compile` with which nothing could be trained."""
    try:
        found = keras.optimizers.get(optimizer)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise LogicValueError(
            "`optimizer` must be one of keras.optimizers, as keras.optimizers.Adam(0.01), or the name of "
            f"one, as 'adam'; got {optimizer!r}."
        )
    if not isinstance(jit_compile, bool) and jit_compile != "auto":
        raise LogicValueError(f"`jit_compile` is True, False or 'auto'; got {jit_compile!r}.")
    if not isinstance(run_eagerly, bool):
        raise LogicValueError(f"`run_eagerly` is True or False; got {run_eagerly!r}.")
    check_whole("steps_per_execution", steps_per_execution)


def _check_callbacks(callbacks: Any) -> None:
    if callbacks is None or isinstance(callbacks, keras.callbacks.CallbackList):
        return
    for callback in keras.tree.flatten(callbacks):
        if not isinstance(callback, keras.callbacks.Callback):
            raise LogicTypeError(
                "`callbacks` are keras.callbacks.Callback objects, as [ltn.callbacks.Schedule('p_forall', "
                f"{{0: 1, 5: 4}})]; got {callback!r}."
            )
