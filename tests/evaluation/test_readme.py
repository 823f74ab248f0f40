"""The page of the evaluation room: its plan is the plan that is made, and its files are there."""

import re
from pathlib import Path

import keras
import numpy as np

import ltn
from ltn.knowledge.data import read_batch
from ltn.language import parse

ROOM = Path(ltn.__file__).parent / "evaluation"
PAGE = (ROOM / "README.md").read_text(encoding="utf-8")
ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"


def test_the_plan_of_the_page_is_the_plan_of_its_formula() -> None:
    theory = ltn.Theory("product")
    images, digits = theory.domain("images", shape=8), theory.domain("digits", values=range(10))
    theory.variables("x, y", images)
    theory.variable("n", theory.domain("results"))
    theory.variables("d1, d2", digits)
    network = keras.Sequential([keras.Input((8,)), keras.layers.Dense(10)])
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))
    data = {"x": np.zeros((64, 8)), "y": np.zeros((64, 8)), "n": np.arange(64) % 19}
    evaluation = theory.evaluation(theory.space, read_batch(theory.signature, data))
    plan = evaluation.plan([parse(ADDITION)])
    assert ADDITION in PAGE
    written = re.findall(r"^ ?(\d+)  (\S.*?)  +\S.*$", PAGE, re.MULTILINE)
    assert written == [(str(number), step.describe()) for number, step in enumerate(plan.steps, start=1)]


def test_the_page_names_every_file_of_the_room() -> None:
    files = {str(path.relative_to(ROOM)) for path in ROOM.rglob("*.py")} - {"__init__.py"}
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert files <= named
    assert [name for name in named - files if not (ROOM.parent / name).exists()] == []
