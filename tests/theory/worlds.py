"""A small language over points, labels and classes, with random groundings for the theories of the tests.

Points have two features. The first is a whole number, so that guards which compare it decide alike wherever
and in whatever batch it is computed.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

import ltn

Array = np.ndarray[Any, Any]
Semantics = ltn.semantics.BaseSemantics | str

POINTS = ("x", "y", "u", "v", "w")
LABELS = ("l",)
CLASSES = ("c", "d", "k")
# Those over known individuals, and those over numbers that are data.
FINITE = ("c", "d")
NUMBERS = ("l", "k")
# A point with a class.
PAIRS = ("h",)
VARIABLES = (*POINTS, *LABELS, *CLASSES, *PAIRS)
# Variables with the same number of individuals.
DIAGONALS = (("x", "l"), ("x", "k"), ("x", "l", "k"), ("x", "h"), ("u", "v"), ("w", "c"), ("c", "d"))
CONSTANTS = ("a", "b", "e")
# The constants that w ranges over.
CHOSEN = ("e", "a", "a")
NUMBER_OF_CLASSES = 3
ALPHA = 0.5
# The predicates that share a network.
HEADS = ("E", "O")

# The weights of each network, kernels and biases in turn.
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "P": [(2, 3), (3,), (3, 1), (1,)],
    "R": [(4, 3), (3,), (3, 1), (1,)],
    "C": [(2, NUMBER_OF_CLASSES), (NUMBER_OF_CLASSES,)],
    "D": [(4, NUMBER_OF_CLASSES), (NUMBER_OF_CLASSES,)],
    # A table.
    "T": [(NUMBER_OF_CLASSES, NUMBER_OF_CLASSES)],
    # The two heads E and O.
    "heads": [(2, 2), (2,)],
    "f": [(2, 2), (2,)],
    "score": [(2, 1), (1,)],
}


@dataclass(frozen=True)
class World:
    """Data for variables, and values for all that is learned: networks, the constants, the proposition A."""

    name: str
    data: dict[str, Array]
    parameters: dict[str, list[Array]]

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """As Hypothesis shows it."""
        printer.text(self.name)

    def moved(self, direction: Mapping[str, list[Array]], step: float) -> "World":
        """The world with its parameters moved."""
        moved = {
            name: [value + step * way for value, way in zip(values, direction[name], strict=True)]
            for name, values in self.parameters.items()
        }
        return replace(self, parameters=moved)


@st.composite
def worlds(draw: st.DrawFn, fewest: int = 0) -> World:
    """Up to four points x with labels l, classes k and pairs h, one to three points y, three constants."""
    sizes = draw(st.sampled_from([3, 4, 2, 1, 0][: 5 - fewest])), draw(st.integers(1, 3))
    return random_world(draw(st.integers(0, 2**16)), *sizes, draw(st.sampled_from([0.4, 0.9, 0.1])))


def random_world(seed: int, size: int, size_of_y: int, truth_of_a: float) -> World:
    rng = np.random.default_rng(seed)

    def points(count: int) -> Array:
        # Multiples of 1/8: points are equal, or far enough from each other to keep their digits.
        second = rng.integers(-16, 17, count) / 8.0
        return np.stack([rng.integers(0, 3, count), second], axis=1).astype(np.float32)

    data = {
        "x": points(size),
        "y": points(size_of_y),
        "l": rng.integers(0, 3, size).astype(np.float32),
        "k": rng.integers(0, NUMBER_OF_CLASSES, size).astype(np.float32),
    }
    classes = rng.integers(0, NUMBER_OF_CLASSES, (size, 1)).astype(np.float32)
    data["h"] = np.concatenate([points(size), classes], axis=1)
    networks = {
        name: [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        for name, shapes in SHAPES.items()
    }
    truth = np.array(truth_of_a, np.float32)
    parameters = {"constants": [points(len(CONSTANTS))], "A": [truth], **networks}
    return World(f"random_world({seed}, {size}, {size_of_y}, {truth_of_a})", data, parameters)


@functools.cache
def networks() -> dict[str, keras.Model]:
    """Built once: a world sets their weights."""
    linear = {
        name: keras.Sequential([keras.Input((2,)), keras.layers.Dense(SHAPES[name][-1][0], activation)])
        for name, activation in (("C", None), ("f", "tanh"), ("score", None))
    }
    pair = [keras.Input((2,)), keras.Input((2,))]
    classified = keras.layers.Dense(NUMBER_OF_CLASSES)(keras.layers.Concatenate()(pair))
    mlps = {"P": ltn.Predicate.MLP([2], (3,)).model, "R": ltn.Predicate.MLP([2, 2], (3,)).model}
    table = keras.layers.Embedding(NUMBER_OF_CLASSES, NUMBER_OF_CLASSES)
    others = {
        "D": keras.Model(pair, classified),
        "T": keras.Sequential([keras.Input((1,)), table, keras.layers.Flatten()]),
        "heads": keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)]),
    }
    return {**mlps, **linear, **others}


@dataclass(frozen=True)
class Declared:
    """A theory without axioms, its constants and propositions for `core`, and what it learns."""

    theory: ltn.Theory
    constants: dict[str, ltn.Term]
    propositions: dict[str, ltn.Formula]
    parameters: dict[str, list[Any]]

    @property
    def weights(self) -> list[Any]:
        """All that is learned, in the order of the world's parameters."""
        return [weight.value for weights in self.parameters.values() for weight in weights]


def declared(world: World, semantics: Semantics) -> Declared:
    """The world as a theory."""
    theory = ltn.Theory(semantics)
    points = theory.domain("points", shape=2, equality="smooth", alpha=ALPHA)
    numbers = theory.domain("numbers")
    classes = theory.domain("classes", values=range(NUMBER_OF_CLASSES))
    [table] = world.parameters["constants"]
    constants = theory.constants(list(CONSTANTS), points, values=table, trainable=True)
    theory.variables("x, u, v", points)
    # Where there are data of y, they come before these.
    theory.variable("y", points, values=world.data["y"])
    theory.variable("w", points, values=list(CHOSEN))
    for names, domain in ((LABELS, numbers), (CLASSES, classes), (PAIRS, points * classes)):
        theory.variables(", ".join(names), domain)
    for name, network in networks().items():
        network.set_weights(world.parameters[name])
    theory.predicate("P", points, networks()["P"])
    theory.predicate("R", (points, points), networks()["R"])
    theory.predicate("C", (points, classes), ltn.Predicate.FromLogits(networks()["C"], "softmax"))
    theory.predicate("D", (points, points, classes), ltn.Predicate.FromLogits(networks()["D"], "softmax"))
    theory.predicate("T", (classes, classes), ltn.Predicate.FromLogits(networks()["T"], "softmax"))
    for name, head in ltn.Predicate.heads(networks()["heads"], HEADS).items():
        theory.predicate(name, points, head)
    theory.function("f", points, points, networks()["f"])
    theory.function("at", points, points * classes, at)
    theory.function("score", points, numbers, networks()["score"])
    for name, (arguments, grounding) in PLAIN_PREDICATES.items():
        theory.predicate(name, [points if kind == "point" else numbers for kind in arguments], grounding)
    theory.function("first", points, numbers, first)
    theory.function("gap", (points, points), numbers, gap)
    A = theory.proposition("A", float(world.parameters["A"][0]), trainable=True)
    B = theory.proposition("B", 0.75)
    learned = {"constants": theory.individuals[0].trainable_variables, "A": A.trainable_variables}
    learned |= {name: network.trainable_variables for name, network in networks().items()}
    return Declared(theory, dict(zip(CONSTANTS, constants, strict=True)), {"A": A, "B": B}, learned)


# Groundings that are plain callables, registered so that a file can name them.
registered = keras.saving.register_keras_serializable("tests")


@registered
def near(args: list[tf.Tensor]) -> tf.Tensor:
    """A degree of truth."""
    return tf.exp(-0.5 * tf.reduce_sum(tf.square(args[0] - args[1]), axis=1))


@registered
def step(point: tf.Tensor) -> tf.Tensor:
    """Exactly 0 or 1 for the points of a world, but a number."""
    return tf.clip_by_value(point[:, 0], 0.0, 1.0)


@registered
def less(args: list[tf.Tensor]) -> tf.Tensor:
    """A boolean."""
    return args[0][:, 0] < args[1][:, 0]


@registered
def even(number: tf.Tensor) -> tf.Tensor:
    """A boolean."""
    return tf.equal(tf.math.floormod(number[:, 0], 2.0), 0.0)


@registered
def first(point: tf.Tensor) -> tf.Tensor:
    """The whole-numbered feature."""
    return point[:, :1]


@registered
def gap(args: list[tf.Tensor]) -> tf.Tensor:
    """The distance between whole-numbered features."""
    return tf.abs(args[0][:, :1] - args[1][:, :1])


@registered
def at(point: tf.Tensor) -> tf.Tensor:
    """The point with its whole-numbered feature as a class."""
    return tf.concat([point, point[:, :1]], axis=1)


PLAIN_PREDICATES: dict[str, tuple[tuple[str, ...], Any]] = {
    "near": (("point", "point"), near),
    "step": (("point",), step),
    "less": (("point", "point"), less),
    "even": (("number",), even),
}
