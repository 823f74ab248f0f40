"""The programs of the paper's section 4 are short, and learn what they should."""

import inspect
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from tests.theory import section4

PROGRAMS = [
    program
    for _, program in inspect.getmembers(section4, inspect.isfunction)
    if program.__module__ == section4.__name__
]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def network(features: int, classes: int) -> keras.Model:
    return keras.Sequential(
        [keras.Input((features,)), keras.layers.Dense(16, activation="elu"), keras.layers.Dense(classes)]
    )


def prototypes(rng: np.random.Generator, classes: int, features: int, count: int) -> tuple[Any, Any]:
    """Points around one centre per class, and their classes."""
    centres = rng.normal(scale=2.0, size=(classes, features))
    labels = np.arange(count) % classes
    return centres[labels] + 0.3 * rng.normal(size=(count, features)), labels


def test_there_are_nine_programs_of_at_most_forty_lines() -> None:
    assert len(PROGRAMS) == 9
    for program in PROGRAMS:
        lines = [line for line in inspect.getsource(program).splitlines() if line.strip()]
        assert len(lines) <= 40, program.__name__


def test_binary_classification(rng: np.random.Generator) -> None:
    x = rng.uniform(size=(200, 2))
    l = np.linalg.norm(x - 0.5, axis=1) < 0.3  # noqa: E741
    theory = section4.binary_classification({"x": x[:150], "l": l[:150]}, epochs=150)
    truths = theory.query("A(x)", x=x[150:]).tensor.numpy()
    # A guess of the larger class is right in about 70 of 100 points.
    assert np.mean((truths > 0.5) == l[150:]) > 0.8


def test_multi_class_single_label(rng: np.random.Generator) -> None:
    x, l = prototypes(rng, 3, 4, 150)  # noqa: E741
    theory = section4.multi_class_single_label({"x": x[:120], "l": l[:120]}, network(4, 3), epochs=30)
    truths = theory.query("P(x, l)", x=x[120:])
    assert truths.free_vars == ["x", "l"]
    assert list(truths.to_frame().columns) == ["setosa", "versicolor", "virginica"]
    assert np.mean(truths.tensor.numpy().argmax(axis=1) == l[120:]) > 0.9


def test_multi_class_multi_label(rng: np.random.Generator) -> None:
    x, kind = prototypes(rng, 4, 5, 200)
    data = {"x": x, "colour": kind // 2, "sex": 2 + kind % 2}
    theory = section4.multi_class_multi_label(data, network(5, 4), epochs=40)
    implied = theory.query("forall x: P(x, blue) -> ~P(x, orange)", x=x, p=5)
    denied = theory.query("forall x: P(x, blue) -> P(x, orange)", x=x, p=5)
    # Of what is not blue the second says nothing, so that half of it holds; strictly read it is false.
    assert float(implied) > 0.8
    assert float(denied) < 0.4


def test_single_digit_addition(rng: np.random.Generator) -> None:
    x, d = prototypes(rng, 10, 8, 600)
    order = rng.permutation(600)
    y, e = x[order], d[order]
    theory = section4.single_digit_addition({"x": x, "y": y, "n": d + e}, network(8, 10), epochs=12)
    digits = theory.query("digit(x, d1)", x=x).tensor.numpy().argmax(axis=1)
    # No digit is ever shown; the stable product may leave one of them taken for another.
    assert np.mean(digits == d) > 0.8


def test_multi_digit_addition(rng: np.random.Generator) -> None:
    x, d = prototypes(rng, 10, 8, 400)
    orders = [rng.permutation(400) for _ in range(4)]
    images, digits = [x[order] for order in orders], [d[order] for order in orders]
    data = dict(zip(("x1", "x2", "y1", "y2"), images, strict=True))
    data["n"] = 10 * digits[0] + digits[1] + 10 * digits[2] + digits[3]
    theory = section4.multi_digit_addition(data, network(8, 10), epochs=12)
    found = theory.query("digit(x1, d1)", x1=x).tensor.numpy().argmax(axis=1)
    assert np.mean(found == d) > 0.9


def test_regression(rng: np.random.Generator) -> None:
    x = rng.normal(size=(200, 6))
    y = 30.0 + x @ np.array([5.0, -3.0, 0.0, 2.0, 1.0, 0.0])
    theory = section4.regression({"x": x, "y": y}, epochs=150)
    predicted = theory.query("f(x)", x=x).tensor.numpy()[:, 0]
    assert np.sqrt(np.mean((predicted - y) ** 2)) < 0.5 * np.std(y)


def test_clustering(rng: np.random.Generator) -> None:
    centres = np.array([[-0.6, -0.6], [-0.6, 0.6], [0.6, -0.6], [0.6, 0.6]])
    points = np.clip(centres[np.arange(80) % 4] + 0.08 * rng.normal(size=(80, 2)), -1, 1)
    theory = section4.clustering({"points": points}, network(2, 4), epochs=300)
    assert theory.report({"points": points}).satisfaction.min() > 0.7
    clusters = theory.query("C(x, c)", x=points).tensor.numpy().argmax(axis=1).reshape(20, 4)
    assert len(set(clusters[0])) == 4
    assert np.all(clusters == clusters[0])


def test_smokers() -> None:
    theory = section4.smokers(epochs=700)
    assert theory.evaluate(verbose=0, return_dict=True)["satisfaction"] > 0.75
    # The paper's two queries: the one approaches true, the other false.
    true = theory.query("forall x: C(x) -> S(x)", p=5)
    false = theory.query("forall x, y: C(x) | C(y) -> F(x, y)", p=5)
    assert float(true) > 0.75 > 0.5 > float(false)


def test_reasoning() -> None:
    theory = section4.reasoning(epochs=300)
    assert float(theory.query("A | B", semantics="product")) > 0.95


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_program_is_tested(program: Callable[..., Any]) -> None:
    assert f"test_{program.__name__}" in globals()
