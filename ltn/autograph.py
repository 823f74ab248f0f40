"""AutoGraph, told to leave the library's own code alone.

Compiled user code converts what it calls, which slows the first trace and finds nothing to convert here.
Between user code and a user's own model or operator, though, every frame stays open to it, so that
Python control flow on tensors works there.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

F = TypeVar("F", bound=Callable[..., Any])


def no_autograph(function: F) -> F:
    """Run the function, and all that it calls, as it is written."""
    return cast(F, tf.autograph.experimental.do_not_convert(function))
