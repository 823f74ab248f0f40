"""One tolerance policy: float32 results against float64 references."""

from typing import Any

import numpy as np

# Some ten operations of float32, each with a relative error of 6e-8.
RTOL = 2e-6
ATOL = 2e-6


def assert_close(actual: Any, expected: Any, rtol: float = RTOL, atol: float = ATOL) -> None:
    """Equal to float32 precision; a looser tolerance stands beside its case with the reason."""
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=rtol, atol=atol)
