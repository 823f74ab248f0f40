"""Theories with and without `chunk`, and how they are compared."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn
from ltn.fuzzy_ops.base import as_written
from tests.theory.theories import (
    Table,
    assert_same_weights,
    labelled_points,
    trained_like,
    weights_of,
)
from tests.theory.trained import STEP_ATOL
from tests.tolerance import assert_close

DATA = labelled_points(10)
X: Table = {"x": DATA["x"]}


def both(make: Callable[..., Any], chunk: int, **settings: Any) -> tuple[Any, Any]:
    """Two theories that are equal but for the chunk."""
    whole, chunked = make(**settings), make(chunk=chunk, **settings)
    trained_like(chunked, whole)
    return whole, chunked


def gradients(theory: ltn.Theory, data: Any = None) -> tuple[Any, list[Any]]:
    """The satisfaction, and its gradient for all that is learned."""
    weights = [weight.value for weight in theory.trainable_variables]
    with as_written():
        with tf.GradientTape() as tape:
            satisfaction = theory(data or {})["satisfaction"]
        return satisfaction, tape.gradient(satisfaction, weights)


def assert_equal_gradients(theories: tuple[ltn.Theory, ltn.Theory], data: Any = None) -> None:
    (value, slopes), (expected, expected_slopes) = (gradients(theory, data) for theory in reversed(theories))
    assert_close(value, expected)
    assert any(slope is not None and np.any(slope) for slope in expected_slopes)
    for slope, other in zip(slopes, expected_slopes, strict=True):
        assert (slope is None) == (other is None)
        if slope is not None:
            # Sums in another order, of slopes of some size.
            assert_close(tf.convert_to_tensor(slope), tf.convert_to_tensor(other), rtol=1e-5, atol=1e-6)


def assert_trained_alike(
    theories: tuple[Any, Any],
    data: Any = None,
    steps: int = 2,
    optimizer: Any = None,
    whole: dict[str, Any] | None = None,
    **settings: Any,
) -> None:
    """Some steps, compiled with the settings, leave the same weights and logs.

    `whole` are the settings of the theory without chunks, if they are others.
    """
    histories = []
    for theory, how in zip(theories, (settings if whole is None else whole, settings), strict=True):
        before = weights_of(theory)
        theory.compile(keras.optimizers.SGD(0.5) if optimizer is None else optimizer(), **how)
        histories.append(theory.fit(data, epochs=steps, shuffle=False, verbose=0).history)
        assert any(np.any(old != new) for old, new in zip(before, weights_of(theory), strict=True))
    assert_same_weights(*theories, atol=STEP_ATOL)
    for name, values in histories[0].items():
        assert_close(histories[1][name], values, rtol=1e-5)


def points(text: str, model: Any = None, chunk: int | None = None, semantics: Any = "stable_product") -> Any:
    """One axiom about three variables over points, given as data, with a predicate S of one and F of two."""
    theory = ltn.Theory(semantics, chunk=chunk)
    domain = theory.domain("points", shape=2)
    theory.variables("x, y, z", domain)
    theory.predicate("S", domain, ltn.Predicate.MLP([2], (3,)) if model is None else model)
    theory.predicate("F", (domain, domain), ltn.Predicate.MLP([2, 2], (3,)))
    theory.function("first", domain, theory.domain("numbers"), lambda point: point[:, :1])
    theory.axiom(text, name="axiom")
    return theory


def relation(semantics: Any = "stable_product", chunk: int | None = None) -> ltn.Theory:
    """A relation of three people, who are learned, among each other."""
    theory = ltn.Theory(semantics, chunk=chunk)
    people = theory.domain("people", shape=2)
    theory.constants("a, b, c", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("F", (people, people), ltn.Predicate.MLP([2, 2], (3,)))
    theory.axiom("forall x, y: F(x, y) -> F(y, x)")
    theory.axiom("forall x: exists y: F(x, y)")
    return theory
