"""Small theories, and data for them, that the tests of theories share."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

import ltn

Array = NDArray[np.float32]
Table = dict[str, Array]


def labelled_points(count: int, seed: int = 0) -> Table:
    """Points of the unit square; the label tells on which side of the diagonal each lies."""
    points = np.random.default_rng(seed).uniform(size=(count, 2)).astype(np.float32)
    return {"x": points, "l": (points.sum(axis=1) > 1.0).astype(np.float32)}


def rows(data: Table, start: int, stop: int) -> Table:
    """A part of the data: the individuals from `start` on and before `stop`."""
    return {name: values[start:stop] for name, values in data.items()}


def classifier(
    semantics: Any = "stable_product", kind: type[ltn.Theory] = ltn.Theory, **settings: Any
) -> ltn.Theory:
    """The paper's binary classification: A on the points with the label 1, not A on the others."""
    theory = kind(semantics, **settings)
    points = theory.domain("points", shape=2)
    labels = theory.domain("labels")
    theory.variable("x", points)
    theory.variable("l", labels)
    theory.predicate("A", points, ltn.Predicate.MLP([2], (4,)))
    theory.axioms("""
        positive: forall diag(x, l) where l = 1: A(x)
        negative: forall diag(x, l) where l = 0: ~A(x)
    """)
    return theory


def slim(
    semantics: Any = "stable_product", kind: type[ltn.Theory] = ltn.Theory, **settings: Any
) -> ltn.Theory:
    """A single axiom about points, where no more is needed."""
    theory = kind(semantics, **settings)
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    theory.predicate("A", points, ltn.Predicate.MLP([2], (2,)))
    theory.axiom("forall x: A(x)", name="all")
    return theory


def trained_like(theory: ltn.Theory, other: ltn.Theory) -> None:
    """Give a theory the weights of another with the same declarations."""
    theory.set_weights([np.array(weight) for weight in other.get_weights()])


def smokers(semantics: Any = "stable_product", **settings: Any) -> ltn.Theory:
    """Four people who are learned embeddings, facts about them, and what holds of all: no data."""
    theory = ltn.Theory(semantics, **settings)
    people = theory.domain("people", shape=3)
    theory.constants("a, b, c, d", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("S", people, ltn.Predicate.MLP([3], (4,)))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([3, 3], (4,)))
    theory.axioms("""
        friends: F(a, b) & F(c, d)
        smoker: S(a) & ~S(c)
        symmetric: forall x, y: F(x, y) -> F(y, x)
        everyone: forall x: exists y: F(x, y)
        spreads: forall x, y: F(x, y) & S(x) -> S(y)
    """)
    return theory


def towns() -> tuple[ltn.Theory, Any, Any]:
    """People, given as features, who live in named towns."""
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    places = theory.domain("towns", values=["Rome", "Seoul"])
    theory.constants("Alice, Bob, Charlie", people, values=[[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    theory.predicate("lives_in", (people, places), lambda args: args[0][:, 0] * args[1][:, 0])
    return theory, people, places


def degrees(
    values: Sequence[float], semantics: Any = "stable_product", kind: type[ltn.Theory] = ltn.Theory, **kw: Any
) -> ltn.Theory:
    """Numbers that are their own degree of truth under `I`, so that values are known by hand."""
    theory = kind(semantics, **kw)
    numbers = theory.domain("numbers", values=list(values))
    theory.variables("x, y", numbers)
    theory.predicate("I", numbers, lambda x: x)
    return theory


def network() -> keras.Model:
    """A classifier of points into three classes."""
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(6, "elu"), keras.layers.Dense(3)])


def about(classifier: keras.Model, semantics: str = "stable_product", **settings: Any) -> ltn.Theory:
    """A theory about a classifier of points into three classes, without axioms yet."""
    theory = ltn.Theory(semantics, **settings)
    points = theory.domain("points", shape=2)
    classes = theory.domain("classes", values=["a", "b", "c"])
    theory.variable("x", points)
    theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(classifier, "sigmoid"))
    return theory


def knowledge(classifier: keras.Model, semantics: str = "stable_product", **settings: Any) -> ltn.Theory:
    """No point is of two classes that are neighbours."""
    theory = about(classifier, semantics, **settings)
    theory.axiom("forall x: P(x, a) -> ~P(x, b)", name="not_a_and_b")
    theory.axiom("forall x: P(x, b) -> ~P(x, c)", name="not_b_and_c")
    return theory


def one_weight(value: float = 0.5, **settings: Any) -> ltn.Theory:
    """A single learned proposition that is to be true."""
    theory = ltn.Theory(**settings)
    theory.proposition("w", value, trainable=True)
    theory.axiom("w", name="so")
    return theory


def weights_of(theory: keras.Model) -> list[Array]:
    """Copies of all weights."""
    return [np.array(weight) for weight in theory.get_weights()]


def assert_same_weights(one: keras.Model, other: keras.Model, atol: float = 0.0) -> None:
    """Equal bit for bit, or up to `atol`."""
    for mine, theirs in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=atol)


def truth(theory: ltn.Theory, formula: str | ltn.language.Node, data: Any = None, **options: Any) -> float:
    """The answer to a truth query without free variables."""
    found = theory.query(formula, data, **options)
    assert isinstance(found, ltn.Formula)
    return float(found)


def pmean(values: Any, p: float) -> float:
    """The p-mean, in float64."""
    array = np.asarray(values, np.float64)
    return float(np.mean(array**p) ** (1.0 / p))


def some_by_odds(values: Any, p: float) -> float:
    """What `exists` is under `log_product` of truths below 1: odds of powers, added; in float64."""
    powers = np.asarray(values, np.float64) ** p
    odds = np.sum(powers / (1.0 - powers))
    return float((odds / (1.0 + odds)) ** (1.0 / p))


def pmean_error(values: Any, p: float) -> float:
    """One minus the p-mean of the errors, in float64."""
    return 1.0 - pmean(1.0 - np.asarray(values, np.float64), p)


def traced(theory_class: type[ltn.Theory] = ltn.Theory) -> tuple[type[ltn.Theory], list[str]]:
    """A theory that notes each time Python runs one of its steps, as it does when they are traced."""
    traces: list[str] = []

    class Traced(theory_class):  # type: ignore[valid-type, misc]
        def train_step(self, data: Any) -> dict[str, tf.Tensor]:
            traces.append("train")
            return super().train_step(data)

        def test_step(self, data: Any) -> dict[str, tf.Tensor]:
            traces.append("test")
            return super().test_step(data)

    return Traced, traces


class Before(keras.callbacks.Callback):
    """Calls a function before each epoch."""

    def __init__(self, call: Callable[[int], None]):
        super().__init__()
        self.call = call

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.call(epoch)
