"""AutoGraph: it leaves the library's own code alone, and rewrites what users wrote.

Where a user's tf.function calls the library, AutoGraph would go on into the library: slow, for nothing, as our
code has no control flow on tensors; and it gives up, with a warning, on Python that it does not know. So no
function of this package is rewritten. AutoGraph then does not see what our code calls either. Where that is
code of the user, a grounding, an operator or an axiom, `user_code` hands it over.
"""

from collections.abc import Callable
from typing import Any

from ltn import _private

_private.leave_as_written("ltn")


def user_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, rewritten by AutoGraph if the code that led here is; `if` on a tensor works then."""
    return _private.rewritten(function) if _private.is_rewriting() else function
