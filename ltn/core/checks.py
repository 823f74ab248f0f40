"""Checks on values: always in eager code, and in compiled code on request."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

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


def check(values: tf.Tensor, valid: Callable[[tf.Tensor], tf.Tensor], requirement: str) -> tf.Tensor:
    """The values; an error with the requirement if one is not valid, where checks are on."""
    if tf.executing_eagerly():
        invalid = values.numpy()[~valid(values).numpy()]
        if invalid.size:
            raise LogicValueError(
                f"{requirement}. Of {tf.size(values)} values {invalid.size} are not, as {invalid[0]}."
            )
    elif _compiled_checks:
        # A value that is not valid, NaN before all others, is shown; 0 stands for those that are.
        offence = tf.reduce_max(tf.where(valid(values), 0.0, tf.abs(values)))
        assertion = tf.debugging.Assert(tf.reduce_all(valid(values)), [requirement, "got:", offence])
        with tf.control_dependencies([assertion]):
            return tf.identity(values)
    return values


def check_truths(values: tf.Tensor, what: str) -> tf.Tensor:
    """The values, checked to lie in [0, 1]."""
    return check(
        values,
        lambda truths: (truths >= -_ROUNDING) & (truths <= 1.0 + _ROUNDING),
        f"{what} must lie in [0, 1]: end its model with a sigmoid, or use Predicate.FromLogits",
    )
