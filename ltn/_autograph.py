"""AutoGraph, told to leave the library's own code alone.

When a user's tf.function calls the library, AutoGraph would rewrite the library's functions too: slower
tracing for nothing, as they hold no control flow on tensors. Functions that call back into user code (a
model, an aggregator) are not decorated, because AutoGraph then would not reach that code either.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

F = TypeVar("F", bound=Callable[..., Any])


def no_autograph(function: F) -> F:
    """Run the function, and all that it calls, as it is written."""
    return cast(F, tf.autograph.experimental.do_not_convert(function))
