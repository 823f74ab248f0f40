"""A theory that is trained by one replica and by several, and data for it."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import ltn
from tests.theory.theories import Array, Table

# With an x, its label, and a y; every kind of quantifier over data.
AXIOMS = {
    "all": "forall x: P(x)",
    "labelled": "forall diag(x, l) where l = 1: P(x)",
    "others": "forall diag(x, l) where l = 0: ~P(x)",
    "close": "forall x, y where norm(x - y) < 0.9: P(x) <-> P(y)",
    "classes": "forall c: exists x: C(x, c)",
    "not_one": "forall x: exists c where c != 1: C(x, c)",
    "related": "forall x: exists y: R(x, y)",
    "weighted": "exists y: P(y)",
    "several": "at least 2 x: P(x)",
    "counted": "forall c: exactly 3 x: C(x, c)",
    "few": "forall x: at most 9 y where norm(x - y) < 0.9: R(x, y)",
}
SOME = ("all", "labelled", "close")


def points(count: int = 20, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    table = {name: rng.uniform(-1.0, 1.0, (count, 2)).astype(np.float32) for name in ("x", "y")}
    return table | {"l": rng.integers(0, 2, count).astype(np.float32)}


DATA = points()


def theory_of(
    strategy: tf.distribute.Strategy | None = None,
    axioms: Iterable[str] = SOME,
    semantics: Any = "stable_product",
    optimizer: Callable[[], Any] = lambda: keras.optimizers.SGD(0.5),
    more: Callable[[ltn.Theory], Any] = lambda theory: None,
    kind: type[ltn.Theory] = ltn.Theory,
    true: bool = False,
    **settings: Any,
) -> ltn.Theory:
    """A theory, with the same weights whoever trains it.

    Args:
        strategy: of the replicas; None for one.
        axioms: names of `AXIOMS`.
        optimizer: makes one.
        more: declares more.
        kind: of theory.
        true: whether all atoms begin close to true, where even Lukasiewicz conjunctions have a gradient.
        settings: of the theory.
    """
    keras.utils.set_random_seed(0)
    with contextlib.nullcontext() if strategy is None else strategy.scope():
        theory = kind(semantics, **settings)
        domain, classes = theory.domain("points", shape=2), theory.domain("classes", values=range(3))
        theory.variables("x, y", domain)
        theory.variable("c", classes)
        theory.variable("l", theory.domain("labels"))
        theory.predicate("P", domain, network(1, true))
        theory.predicate("C", (domain, classes), ltn.Predicate.FromLogits(network(3, true, None), "sigmoid"))
        theory.predicate("R", (domain, domain), Joined(true))
        for name in axioms:
            theory.axiom(AXIOMS[name], name=name, weight=2.0 if name == "weighted" else 1.0)
        more(theory)
        theory.compile(optimizer())
    return theory


def draws(strategy: tf.distribute.Strategy, theory: ltn.Theory, steps: int) -> list[list[Array]]:
    """What the replicas of this process add to the gradient of a table by the axiom `few`, in each step.

    Replicas have the same loss, and their gradients are added up, as in training.
    """
    [table] = theory.trainable_variables

    @tf.function
    def step() -> Any:
        def own() -> Any:
            with tf.GradientTape() as tape:
                share = theory.call({}, training=True)["few"] / strategy.num_replicas_in_sync
            return tape.gradient(share, table.value)

        return strategy.run(own)

    return [[share.numpy() for share in strategy.experimental_local_results(step())] for _ in range(steps)]


def network(units: int, true: bool, activation: str | None = "sigmoid", features: int = 2) -> keras.Model:
    layers = keras.layers
    start = keras.initializers.Constant(4.5 if true else 0.0)
    return keras.Sequential(
        [
            keras.Input((features,)),
            layers.Dense(4, "tanh"),
            layers.Dense(units, activation, bias_initializer=start),
        ]
    )


@keras.saving.register_keras_serializable(package="tests")
class Joined(keras.Layer):
    """A network of two points."""

    def __init__(self, true: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self.network = network(1, true, features=4)

    def call(self, inputs: Any) -> tf.Tensor:
        return self.network(tf.concat(list(inputs), axis=1))


def logs_of(history: Any) -> dict[str, list[float]]:
    return {name: [float(value) for value in values] for name, values in history.history.items()}
