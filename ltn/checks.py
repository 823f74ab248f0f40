"""Checks on arguments, when a call is made; and on values: in eager code, in compiled code on request."""

from __future__ import annotations

import numbers
import re
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError, NotFiniteError

T = TypeVar("T")

# Whose lines no warning points at: Keras calls us when it loads a file.
_LIBRARIES = (Path(__file__).parent, Path(keras.__file__).parent)

# Softmax and sums of probabilities leave [0, 1] by a few units in the last place of float32.
_ROUNDING = 1e-5

# What was switched, and has not ended; the last one counts. Several threads may be within a `with` at once:
# each takes out its own.
_switches: list[debug] = []


class debug:
    """Check values and sizes in code that is compiled from now on.

    Eager code is always checked: a truth value outside [0, 1], or NaN, is an error that names the
    predicate, and so are class indices that do not exist, numbers of individuals that do not agree, a `p`
    below 1, and values of a function outside the bounds of its domain. Functions traced while `debug` is in
    force contain the same checks, and raise `tf.errors.InvalidArgumentError`; those traced otherwise contain
    none and lose no time. XLA (`jit_compile=True`) drops them.

    Call it once to switch the checks on (`debug(False)` switches them off), or use it as a context
    manager around the first call of the function.

    >>> import ltn
    >>> with ltn.debug():
    ...     double = ltn.Predicate.Lambda(lambda x: 2 * x, name="double")
    ...     compiled = tf.function(lambda x: double(ltn.Variable("x", x)).tensor)
    ...     compiled(tf.constant([0.125, 0.25])).numpy().tolist()
    [0.25, 0.5]
    """

    def __init__(self, enabled: bool = True):
        self.enabled = check_flag("enabled", enabled)
        _switches.append(self)

    def __enter__(self) -> debug:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _switches.remove(self)


def _are_on() -> bool:
    last = next(reversed(_switches), None)
    return last is not None and last.enabled


def check(
    values: tf.Tensor, valid: Callable[[tf.Tensor], tf.Tensor], requirement: str, advice: str = ""
) -> None:
    """Raise with the requirement if a value is not valid, where checks are on."""
    if tf.executing_eagerly():
        invalid = values.numpy()[~valid(values).numpy()]
        if invalid.size:
            kind = LogicValueError
            if np.isnan(invalid).any():
                kind, advice = NotFiniteError, "NaN comes from inputs or weights that are not finite."
            share = f"{invalid.size} of {tf.size(values)} values are invalid"
            raise kind(f"{requirement}; got {invalid[0]:g} ({share}). {advice}".rstrip())
    else:
        check_in_graph(values, valid, requirement)


def check_in_graph(values: tf.Tensor, valid: Callable[[tf.Tensor], tf.Tensor], requirement: str) -> None:
    """Let the graph that is being traced raise if a value is not valid, where checks are on."""
    if _are_on():
        bounds = [tf.reduce_min(values), tf.reduce_max(values)]
        tf.debugging.Assert(tf.reduce_all(valid(values)), [requirement, "least and greatest:", *bounds])


def check_truths(
    values: tf.Tensor, what: str, advice: str = "End the model with a sigmoid, or use Predicate.FromLogits."
) -> None:
    """Raise unless the values lie in [0, 1], where checks are on."""
    check(
        values,
        lambda truths: (truths >= -_ROUNDING) & (truths <= 1.0 + _ROUNDING),
        f"{what} must lie in [0, 1]",
        advice,
    )


def size_of(tensor: tf.Tensor, axis: int) -> Any:
    """The size of an axis: an int where it is known, else a scalar tensor."""
    size = tensor.shape[axis]
    return tf.shape(tensor)[axis] if size is None else int(size)


def check_sizes(sizes: Sequence[Any], requirement: str) -> list[Any]:
    """The sizes; raise unless they are equal. Sizes unknown when tracing are compared where checks are on."""
    known = [size for size in sizes if isinstance(size, int)]
    if len(set(known)) > 1:
        raise LogicValueError(f"{requirement}; got {', '.join(str(size) for size in sizes)}.")
    if not _are_on() or len(known) == len(sizes):
        return list(sizes)
    found = tf.stack([tf.cast(size, tf.int32) for size in sizes])
    check = tf.debugging.Assert(tf.reduce_all(found == found[0]), [requirement, "got:", found])
    # Sizes are used after the check, lest another error come first.
    with tf.control_dependencies([check]):
        return [size if isinstance(size, int) else tf.identity(size) for size in sizes]


# Arguments


def warn(message: str) -> None:
    """Warn at the line of the user's program that called the library, by whatever way."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and any(
        Path(frame.f_code.co_filename).is_relative_to(library) for library in _LIBRARIES
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def check_flag(argument: str, value: Any) -> bool:
    """The value; raise unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise LogicTypeError(f"`{argument}` must be True or False; got {value!r}.")
    return bool(value)


def check_whole(
    argument: str, value: Any, what: str = "a whole number", least: int = 1, otherwise: str = ""
) -> int:
    """The value; raise unless it is a whole number from `least` up; `otherwise` names what else may come."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise LogicValueError(f"`{argument}` must be {what}, at least {least}{otherwise}; got {value!r}.")
    return int(value)


def check_choice(argument: str, value: Any, choices: Collection[str]) -> str:
    """The value; raise unless it is one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise LogicValueError(f"`{argument}` must be {' or '.join(map(repr, choices))}; got {value!r}.")
    return value


def check_layer_name(name: Any) -> None:
    """Raise unless a Keras layer can have the name, or choose one for None."""
    if name is not None and (not isinstance(name, str) or not name or "/" in name):
        raise LogicTypeError(f"`name` must be a text without a slash, or None; got {name!r}.")


def layer_name(symbol: str) -> str:
    """A name for the Keras layer of a symbol: its own, with what TensorFlow refuses in a name replaced.

    >>> layer_name("lives_in"), layer_name("co-occurs with"), layer_name("/m/08966")
    ('lives_in', 'co-occurs_with', 'symbol_m_08966')
    """
    legal = re.sub(r"[^A-Za-z0-9_.-]", "_", symbol)
    return legal if legal == symbol or legal[0].isalnum() else f"symbol{legal}"


def find_in_keras(argument: str, find: Callable[[Any], T], given: Any) -> T:
    """What Keras finds for an object, a name or a configuration of it; raise where it finds nothing."""
    try:
        return find(given)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(f"`{argument}` must be a Keras {argument}; got {given!r}.") from error
