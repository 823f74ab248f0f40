"""Checks on values: always in eager code, and in compiled code on request."""

from __future__ import annotations

from types import TracebackType

import numpy as np
import tensorflow as tf

from ltn.errors import LogicValueError

# Softmax and sums of probabilities leave [0, 1] by a few units in the last place of float32.
_ROUNDING = 1e-5

_compiled_checks = False


class debug:
    """Check the values of predicates in code that is compiled from now on.

    Eager code is always checked: a truth value outside [0, 1], or NaN, is an error that names the
    predicate. Functions traced while `debug` is in force contain the same checks, and raise
    `tf.errors.InvalidArgumentError`; those traced otherwise contain none and lose no time. XLA
    (`jit_compile=True`) drops them.

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
        global _compiled_checks
        self._before = _compiled_checks
        _compiled_checks = enabled

    def __enter__(self) -> debug:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        global _compiled_checks
        _compiled_checks = self._before


def check_range(values: tf.Tensor, low: float, high: float, what: str) -> tf.Tensor:
    """The values; an error if one lies outside [low, high], or is NaN, where checks are on."""
    message = f"{what} must lie in [{low:g}, {high:g}]"
    if tf.executing_eagerly():
        array = values.numpy()
        outside = array[~((array >= low - _ROUNDING) & (array <= high + _ROUNDING))]
        if outside.size:
            worst = outside[np.argmax(np.abs(np.nan_to_num(outside, nan=np.inf)))]
            raise LogicValueError(f"{message}; got {worst}, one of {outside.size} such values.")
    elif _compiled_checks:
        numbers = tf.cast(values, tf.float32)
        inside = (numbers >= low - _ROUNDING) & (numbers <= high + _ROUNDING)
        bounds = [tf.reduce_min(numbers), tf.reduce_max(numbers)]
        check = tf.debugging.Assert(tf.reduce_all(inside), [message, "least and greatest:", *bounds])
        with tf.control_dependencies([check]):
            return tf.identity(values)
    return values
