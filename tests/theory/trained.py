"""Data and small helpers for the tests of training."""

from typing import Any

import keras

import ltn
from tests.theory.theories import (
    labelled_points,
)

DATA = labelled_points(10)
OTHERS = labelled_points(7, seed=1)
POINTS = {"x": DATA["x"]}
# A step of gradients that were rounded differently.
STEP_ATOL = 1e-6


def compiled(theory: ltn.Theory, optimizer: Any = None, **settings: Any) -> ltn.Theory:
    theory.compile(optimizer or keras.optimizers.SGD(0.5), **settings)
    return theory
