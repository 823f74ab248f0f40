"""Arguments of operators as they come from the caller: converted, and checked with clear errors."""

import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np
import tensorflow as tf

from ltn.checks import check_in_graph
from ltn.errors import LogicTypeError, LogicValueError

# Larger numbers would be infinite in float32.
_LARGEST = float(np.finfo(np.float32).max)
# Of weights, so that sums of many, and products of a few, are finite too.
LARGEST_WEIGHT = 1e12


def truth_values(*values: Any) -> list[tf.Tensor]:
    """Tensors of one floating dtype: booleans and integers become float32, the widest dtype wins."""
    tensors = []
    for value in values:
        try:
            tensor = tf.convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise LogicTypeError(f"Truth values must be numbers; got {value!r}.") from error
        if tensor.dtype == tf.string or tensor.dtype.is_complex:
            raise LogicTypeError(f"Truth values must be numbers; got {value!r}.")
        tensors.append(tensor if tensor.dtype.is_floating else tf.cast(tensor, tf.float32))
    widest = max((tensor.dtype for tensor in tensors), key=lambda dtype: dtype.size)
    return [tf.cast(tensor, widest) for tensor in tensors]


def as_mask(mask: Any) -> tf.Tensor:
    """A mask as booleans: whether its numbers are not 0."""
    is_bool = tf.is_tensor(mask) and mask.dtype == tf.bool
    return mask if is_bool else tf.cast(truth_values(mask)[0], tf.bool)


def is_number(value: Any) -> bool:
    """Whether the value is one real number, of Python or NumPy."""
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in "iuf"
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def as_flag(what: str, value: Any) -> bool:
    """The hyper-parameter as a boolean; formulas write its values as the numbers 0 and 1."""
    if value is True or value is False:
        return value
    is_flag = isinstance(value, np.bool_) or (is_number(value) and value in (0, 1))
    if not is_flag:
        raise LogicTypeError(f"{what} must be True or False; got {value!r}.")
    return bool(value)


def check_scalar(
    what: str, value: Any, valid: Callable[[Any], bool], requirement: str, advice: str = ""
) -> None:
    """Raise unless the hyper-parameter is a valid number, or a scalar tensor of a valid value.

    The value of a tensor in a graph is not known yet: the graph checks it, under `ltn.debug`. `valid` takes
    numbers and tensors.
    """
    if not is_number(value):
        is_tensor = tf.is_tensor(value) and value.shape.rank in (0, None)
        if not is_tensor or not (value.dtype.is_floating or value.dtype.is_integer):
            raise LogicTypeError(f"{what} must be a number or a scalar tensor; got {value!r}.")
        is_known = tf.executing_eagerly() and hasattr(value, "numpy")
        known = value.numpy() if is_known else tf.get_static_value(value)
        if known is None:
            check_in_graph(value, valid, f"{what} must be {requirement}")
            return
        value = known.item()
    if not valid(value) or not abs(value) <= _LARGEST:
        raise LogicValueError(f"{what} must be {requirement}; got {value}. {advice}".rstrip())


def as_scalar(value: Any) -> tf.Tensor:
    """The hyper-parameter as a tensor, which a trace takes as an argument: new values do not retrace."""
    return tf.constant(value, tf.float64) if is_number(value) else tf.convert_to_tensor(value)


def check_empty(empty: Any) -> float:
    """The truth value of an empty selection, as a float."""
    if not is_number(empty) or not 0.0 <= empty <= 1.0:
        raise LogicValueError(f"`empty` is a truth value, a number from 0 to 1; got {empty!r}.")
    return float(empty)


def check_broadcast(caller: object, *tensors: tf.Tensor) -> None:
    """Raise where the static shapes of the operands do not broadcast together."""
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        try:
            shape = tf.broadcast_static_shape(shape, tensor.shape)
        except ValueError as error:
            shapes = " and ".join(str(tuple(tensor.shape)) for tensor in tensors)
            raise LogicValueError(
                f"{caller} cannot broadcast operands of shapes {shapes}: "
                "two sizes must be equal, or one of them 1."
            ) from error


def weights_for(caller: object, xs: tf.Tensor, weights: Any) -> tf.Tensor:
    """Weights in the dtype of the values; impossible ones raise where they can be seen."""
    (given,) = truth_values(weights)
    check_broadcast(caller, xs, given)
    if tf.executing_eagerly() and not tf.reduce_all((given >= 0.0) & (given <= LARGEST_WEIGHT)):
        raise LogicValueError(
            f"`weights` must be finite numbers from 0 up; got {weights!r}. The largest is {LARGEST_WEIGHT:g}."
        )
    return tf.cast(given, xs.dtype)


def segments_for(xs: tf.Tensor, ids: Any, count: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """The segment of each tuple and the number of segments, as integer tensors."""
    try:
        numbers, total = tf.convert_to_tensor(ids), tf.convert_to_tensor(count)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(f"`ids` and `count` must be integers; got {ids!r} and {count!r}.") from error
    if not numbers.dtype.is_integer or not total.dtype.is_integer:
        raise LogicTypeError(f"`ids` and `count` must be integers; got {ids!r} and {count!r}.")
    if numbers.shape.rank != 1 or not xs.shape.rank or not xs.shape[:1].is_compatible_with(numbers.shape):
        raise LogicValueError(
            "`ids` names the segment of each entry along axis 0 of the values; got ids of shape "
            f"{numbers.shape} for values of shape {xs.shape}."
        )
    if total.shape.rank != 0:
        raise LogicValueError(f"`count`, the number of segments, must be one integer; got {count!r}.")
    # Tensors are made by code that counts right, and to look at them takes time.
    is_known = not tf.is_tensor(ids) and not tf.is_tensor(count)
    if is_known and not all(0 <= number < count for number in np.ravel(ids)):
        raise LogicValueError(
            f"`ids` must lie between 0 and `count` - 1; got {ids!r} for {count!r} segments."
        )
    return numbers, total


def positive_axes(axis: SupportsIndex | Sequence[SupportsIndex] | None, rank: int) -> tuple[int, ...]:
    """The axes, counted from the front; None for all of them."""
    if axis is None:
        return tuple(range(rank))
    try:
        axes = [operator.index(a) for a in (axis if isinstance(axis, Sequence) else [axis])]
    except TypeError as error:
        raise LogicTypeError(f"`axis` must be an int, a list of ints or None; got {axis!r}.") from error
    for a in axes:
        if not -rank <= a < rank:
            raise LogicValueError(f"`axis` {a} does not exist in a tensor with {rank} axes.")
    positive = tuple(a % rank for a in axes)
    if len(set(positive)) < len(positive):
        raise LogicValueError(f"`axis` names an axis twice: {axis}.")
    return positive
