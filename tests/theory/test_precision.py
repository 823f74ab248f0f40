"""Other precisions: theories and models with knowledge train, are saved, and agree with float32."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.theory.theories import classifier, knowledge, labelled_points, network, smokers, weights_of
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = labelled_points(8)
CLASSES = (DATA["x"][:, 0] > 0.5).astype(np.int32)
# Half of the last place of a number of 16 bits, and what six steps of Adam make of such errors.
PRECISIONS = {"float64": 1e-5, "mixed_float16": 5e-3, "mixed_bfloat16": 3e-2}


def log_product() -> ltn.Theory:
    return classifier("log_product")


THEORIES: dict[Any, Any] = {classifier: DATA, log_product: DATA, smokers: None}


@pytest.fixture(params=PRECISIONS)
def precision(request: pytest.FixtureRequest) -> Iterator[str]:
    """The precision of all that is made in a test."""
    if request.param == "float64":
        keras.config.set_floatx("float64")
    keras.config.set_dtype_policy(request.param)
    yield request.param
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")


def started(model: Any, weights: list[np.ndarray]) -> Any:
    model.set_weights(weights)
    return model


def losses(theory: ltn.Theory, data: Any) -> list[float]:
    """Of a training that is interrupted twice."""
    theory.compile(keras.optimizers.Adam(0.05))
    options: dict[str, Any] = {"batch_size": 4, "epochs": 1, "shuffle": False, "verbose": 0}
    return [theory.fit(data, **options).history["loss"][0] for _ in range(3)]


@pytest.fixture(scope="module")
def of_theories() -> dict[Any, tuple[list[np.ndarray], list[float]]]:
    """The first weights and the losses of theories in float32."""
    found = {}
    for make, data in THEORIES.items():
        keras.utils.set_random_seed(0)
        theory = make()
        found[make] = weights_of(theory), losses(theory, data)
    return found


@pytest.mark.parametrize("make", THEORIES, ids=lambda make: make.__name__)
def test_theories_agree_and_are_saved(precision: str, make: Any, of_theories: Any, tmp_path: Path) -> None:
    weights, expected = of_theories[make]
    theory = started(make(), weights)
    assert_close(losses(theory, THEORIES[make]), expected, atol=PRECISIONS[precision])
    theory.save(tmp_path / "theory.keras")
    loaded = ltn.load(tmp_path / "theory.keras")
    for one in (theory, loaded):
        one.fit(THEORIES[make], batch_size=4, shuffle=False, verbose=0)
    for mine, other in zip(theory.optimizer.variables, loaded.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())


def of_knowledge(
    weight: Any, weights: list[np.ndarray] | None = None
) -> tuple[list[np.ndarray], list[float]]:
    classifier = network()
    if weights is not None:
        classifier.set_weights(weights)
    first = weights_of(classifier)
    model = ltn.with_knowledge(classifier, knowledge(classifier), weight=weight)
    model.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(DATA["x"], CLASSES, batch_size=4, epochs=3, shuffle=False, verbose=0).history
    return first, history["loss"]


@pytest.fixture(scope="module")
def of_models() -> dict[Any, tuple[list[np.ndarray], list[float]]]:
    """The first weights and the losses of models with knowledge in float32."""
    keras.utils.set_random_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "In epoch")
        return {weight: of_knowledge(weight) for weight in (0.5, "balanced")}


@pytest.mark.filterwarnings("ignore:In epoch")  # a few steps teach one class
@pytest.mark.parametrize("weight", [0.5, "balanced"])
def test_models_with_knowledge_agree(precision: str, weight: Any, of_models: Any) -> None:
    weights, expected = of_models[weight]
    assert_close(of_knowledge(weight, weights)[1], expected, atol=PRECISIONS[precision])


def test_the_scale_of_a_loss_is_kept_by_fit_and_save(tmp_path: Path) -> None:
    keras.config.set_dtype_policy("mixed_float16")
    try:
        theory = classifier()
        theory.compile("adam")
        theory.fit(DATA, verbose=0)
        optimizer = theory.optimizer
        count = len(optimizer.variables)
        optimizer.dynamic_scale.assign(128.0)
        theory.fit(DATA, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
    finally:
        keras.config.set_dtype_policy("float32")
    assert theory.optimizer is optimizer
    for one in (theory, loaded):
        assert len(one.optimizer.variables) == count
        assert float(one.optimizer.dynamic_scale) == 128.0
        assert int(one.optimizer.step_counter) == 2
