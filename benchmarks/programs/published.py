"""The workloads with wrappers and compiled steps: programs for `ltn` 2.1, which `ltn.core` runs unchanged."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

import ltn
from benchmarks import inputs
from benchmarks.programs.own_steps import step_of
from benchmarks.worker import Step

keras = tf.keras

Not = ltn.Wrapper_Connective(ltn.fuzzy_ops.Not_Std())
And = ltn.Wrapper_Connective(ltn.fuzzy_ops.And_Prod())
Implies = ltn.Wrapper_Connective(ltn.fuzzy_ops.Implies_Reichenbach())
Equiv = ltn.Wrapper_Connective(
    ltn.fuzzy_ops.Equiv(ltn.fuzzy_ops.And_Prod(), ltn.fuzzy_ops.Implies_Reichenbach())
)
Forall = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMeanError(p=2), semantics="forall")
Exists = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMean(p=2), semantics="exists")
SatAgg = ltn.Wrapper_Formula_Aggregator(ltn.fuzzy_ops.Aggreg_pMeanError(p=2))


def addition(task: str, phase: str) -> Step:
    """The axiom on one batch; the guard is a mask."""
    elu: dict[str, Any] = {"activation": "elu"}
    layers = keras.layers
    network = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(6, 5, **elu),
            layers.MaxPooling2D(2),
            layers.Conv2D(16, 5, **elu),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(100, **elu),
            layers.Dense(84, **elu),
            layers.Dense(10),
        ]
    )
    Digit = ltn.Predicate.FromLogits(network, "softmax")
    pixels, sums = inputs.additions(task)
    places = inputs.PLACES[task]
    digits = [ltn.Variable(f"d{number}", range(10)) for number in range(len(places))]
    adds_up = ltn.Predicate.Lambda(
        lambda args: tf.equal(
            tf.add_n([place * digit for place, digit in zip(places, args, strict=False)]), args[-1]
        )
    )

    def satisfaction(images: list[tf.Tensor], results: tf.Tensor) -> tf.Tensor:
        shown = [ltn.Variable(f"x{number}", image) for number, image in enumerate(images)]
        n = ltn.Variable("n", results)
        # Before the body: from here on they share an axis.
        rows = ltn.diag(*shown, n)
        first, *rest = (Digit([image, digit]) for image, digit in zip(shown, digits, strict=True))
        body = first
        for atom in rest:
            body = And(body, atom)
        return Forall(rows, Exists(digits, body, mask=adds_up([*digits, n]))).tensor

    batch = [tf.constant(image) for image in pixels], tf.constant(sums, tf.float32)
    return compiled(satisfaction, network.trainable_variables, batch, phase)


def clustering(count: int) -> Step:
    """Four axioms about points; the guards are masks."""
    hidden = [keras.layers.Dense(16, activation="elu") for _ in range(3)]
    network = keras.Sequential([keras.Input((2,)), *hidden, keras.layers.Dense(inputs.CLUSTERS)])
    C = ltn.Predicate.FromLogits(network, "softmax")
    is_close = ltn.Predicate.Lambda(lambda args: tf.norm(args[0] - args[1], axis=1) < 0.2)
    is_distant = ltn.Predicate.Lambda(lambda args: tf.norm(args[0] - args[1], axis=1) > 1.0)
    c = ltn.Variable("c", range(inputs.CLUSTERS))

    def satisfaction(points: tf.Tensor) -> tf.Tensor:
        x, y = ltn.Variable("x", points), ltn.Variable("y", points)
        axioms = [
            Forall(x, Exists(c, C([x, c]), p=1), p=4),
            Forall(c, Exists(x, C([x, c]), p=1), p=4),
            Forall([c, x, y], Equiv(C([x, c]), C([y, c])), mask=is_close([x, y]), p=4),
            Forall([c, x, y], Not(And(C([x, c]), C([y, c]))), mask=is_distant([x, y]), p=4),
        ]
        return SatAgg(axioms).tensor

    return compiled(satisfaction, network.trainable_variables, (tf.constant(inputs.clouds(count)),))


def relation(count: int) -> Step:
    """A symmetric relation between rows of a matrix that is learned."""
    table = tf.Variable(inputs.embeddings(count))
    F = ltn.Predicate.MLP([inputs.FEATURES] * 2, (8, 8))

    def satisfaction() -> tf.Tensor:
        x, y = ltn.Variable("x", tf.identity(table)), ltn.Variable("y", tf.identity(table))
        return Forall([x, y], Implies(F([x, y]), F([y, x]))).tensor

    satisfaction()
    return compiled(satisfaction, [table, *F.trainable_variables])


def smokers(phase: str = "train") -> Step:
    """The paper's smokers: constants, and variables over them."""
    people = {
        u: ltn.Constant(row, trainable=True)
        for u, row in zip(inputs.PEOPLE, inputs.embeddings(14), strict=True)
    }
    S, C = (ltn.Predicate.MLP([inputs.FEATURES], (8, 8)) for _ in "SC")
    F = ltn.Predicate.MLP([inputs.FEATURES] * 2, (8, 8))

    def satisfaction() -> tf.Tensor:
        x, y = (ltn.Variable.from_constants(label, list(people.values())) for label in "xy")
        f1, f2, g1, g2, s1, s0, c1, c0 = (
            ltn.Variable.from_constants(label, [people[u] for u in individuals])
            for label, individuals in inputs.GIVEN.items()
        )
        axioms = [
            Forall(ltn.diag(f1, f2), F([f1, f2])),
            Forall(ltn.diag(g1, g2), Not(F([g1, g2]))),
            Forall(s1, S(s1)),
            Forall(s0, Not(S(s0))),
            Forall(c1, C(c1)),
            Forall(c0, Not(C(c0))),
            Forall(x, Not(F([x, x])), p=6),
            Forall([x, y], Implies(F([x, y]), F([y, x])), p=6),
            Forall(x, Exists(y, F([x, y]), p=6)),
            Forall([x, y], Implies(And(F([x, y]), S(x)), S(y))),
            Forall(x, Implies(S(x), C(x))),
            Forall(x, Implies(Not(C(x)), Not(S(x)))),
        ]
        return SatAgg(axioms).tensor

    with tf.GradientTape():
        # The networks get their weights.
        satisfaction()
    weights = [constant.tensor for constant in people.values()]
    weights += [weight for P in (S, C, F) for weight in P.trainable_variables]
    return compiled(satisfaction, weights, phase=phase)


def compiled(
    satisfaction: Callable[..., tf.Tensor],
    weights: list[tf.Variable],
    batch: tuple[Any, ...] = (),
    phase: str = "train",
) -> Step:
    """A step of training, whose phases are those of `step_of`, or in phase "query" the satisfaction alone."""
    if phase == "query":
        value = tf.function(satisfaction)
        return lambda: value(*batch)
    return step_of(lambda *data: 1.0 - satisfaction(*data), weights, batch, phase)
