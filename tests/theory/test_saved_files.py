"""Files that an earlier version wrote: they load, and give what they gave.

`files/` holds two theories with one of each kind of declaration, trained for three epochs, one in each space;
a model with knowledge, whose theory has chunks; and what version 3.0.0.dev0 computed from each after loading,
with the oldest Keras that is supported, since newer ones write what it cannot read.
"""

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.theory.everything import DATA, PEOPLE
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

FILES = Path(__file__).with_name("files")
VALUES: dict[str, Any] = json.loads((FILES / "values.json").read_text())


def assert_same_values(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(found) == set(expected)
    assert_close([float(found[name]) for name in expected], list(expected.values()))


@pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
def test_a_theory_of_an_earlier_version_gives_the_same_values(semantics: str) -> None:
    expected = VALUES[semantics]
    theory = ltn.load(FILES / f"{semantics}.keras")
    report = theory.report(DATA)
    assert_same_values(dict(zip(report.axiom, report.satisfaction, strict=True)), expected["satisfaction"])
    assert_close(report.weight, expected["weight"])
    assert theory.hyperparameters == expected["hyperparameters"]
    assert_close(theory.query("F(x, y) & lives_in(x, Rome)").tensor, expected["query"])
    assert_same_values(theory.evaluate(DATA, return_dict=True, verbose=0), expected["evaluate"])


@pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
def test_its_training_goes_on(semantics: str) -> None:
    theory = keras.models.load_model(FILES / f"{semantics}.keras")
    before = VALUES[semantics]["iterations"]
    assert int(theory.optimizer.iterations.numpy()) == before
    history = theory.fit(DATA, epochs=2, batch_size=len(PEOPLE), verbose=0).history
    assert int(theory.optimizer.iterations.numpy()) == before + 2
    assert history["satisfaction"][1] > history["satisfaction"][0]


def test_a_model_with_knowledge_gives_the_same_values() -> None:
    expected = VALUES["with_knowledge"]
    model = keras.models.load_model(FILES / "with_knowledge.keras")
    assert model.theory.symbols["P"].network is model.model
    assert_close(model.predict(PEOPLE, verbose=0), expected["predict"])
    report = model.theory.report({"x": PEOPLE})
    assert_same_values(dict(zip(report.axiom, report.satisfaction, strict=True)), expected["satisfaction"])
    found = model.evaluate(PEOPLE, np.arange(len(PEOPLE)) % 3, return_dict=True, verbose=0)
    assert_same_values(found, expected["satisfaction"] | expected["evaluate"])
