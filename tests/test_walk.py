"""The walk of a formula: how many files of the package it passes through, for readers who follow it."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import keras
import numpy as np
import pytest

import ltn

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

PACKAGE = Path(ltn.__file__).parent
ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"
DATA = {
    "x": np.linspace(0.0, 1.0, 64, dtype="float32").reshape(16, 4),
    "y": np.linspace(1.0, 0.0, 64, dtype="float32").reshape(16, 4),
    "n": np.arange(16, dtype="float32"),
}


@pytest.fixture
def theory() -> ltn.Theory:
    """The sum of two digits, declared but without an axiom."""
    theory = ltn.Theory("product")
    images, digits = theory.domain("images", shape=4), theory.domain("digits", values=range(10))
    theory.variables("x, y", images)
    theory.variable("n", theory.domain("results"))
    theory.variables("d1, d2", digits)
    network = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(10)]
    )
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))
    theory.compile(optimizer=keras.optimizers.Adam(1e-3))
    return theory


@contextmanager
def watching(called: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Tell of every call of a Python function, in this thread and in new ones; then be as before."""
    before, before_in_threads = sys.getprofile(), threading.getprofile()
    sys.setprofile(called)
    threading.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(before_in_threads)


def files_of(walk: Callable[[], Any]) -> set[str]:
    """The files of the package in which a function is called."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    with watching(note):
        walk()
    ours = (path for path in map(Path, seen) if path.is_relative_to(PACKAGE))
    return {path.relative_to(PACKAGE).as_posix() for path in ours}


def assert_short(files: set[str], most: int, walk: str) -> None:
    assert {"language/parser.py", "evaluation/formulas.py", "theory/theory.py"} <= files
    assert len(files) <= most, (
        f"A formula now passes through {len(files)} files {walk}, and a reader with it; {most} were enough. "
        f"Put what is new into the file of its concept. The files: {', '.join(sorted(files))}"
    )


def test_from_the_text_of_an_axiom_to_a_step_of_the_optimizer(theory: ltn.Theory) -> None:
    def learn() -> None:
        theory.axiom(ADDITION, name="addition")
        theory.fit(DATA, batch_size=16, epochs=1, verbose=0)

    # Quantifiers, which may count, have a file of their own in the syntax tree.
    # What they bind is apart from how they aggregate; and every step asks whether it draws samples.
    # One of them asks of every guard whether there are relations to be joined.
    # Batches are checked for what diagonals pair, and data sets while they are read.
    assert_short(files_of(learn), 61, "from the text of an axiom to a step of the optimizer")


def test_from_the_text_of_a_query_to_a_table(theory: ltn.Theory) -> None:
    files = files_of(lambda: theory.query("digit(x, d1)", x=DATA["x"]).to_frame())
    # What is asked is measured before it is evaluated, since it may not fit into memory at once.
    assert_short(files, 44, "from the text of a query to a table")
