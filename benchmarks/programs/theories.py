"""The workloads as theories with axioms in text, by the functions that `fit` and `evaluate` run."""

import itertools
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

import ltn
from benchmarks import inputs
from benchmarks.programs.keras_steps import BATCHES, fed, no_data, step_of
from benchmarks.worker import Step
from examples.addition import AXIOMS, network_of_digits
from examples.clustering import network_of_clusters, theory_of_clusters

THREE_DIGITS = """
    forall diag(x1, x2, x3, y1, y2, y3, n):
        exists d1, d2, d3, d4, d5, d6 where 100 * d1 + 10 * d2 + d3 + 100 * d4 + 10 * d5 + d6 = n:
            digit(x1, d1) & digit(x2, d2) & digit(x3, d3) & digit(y1, d4) & digit(y2, d5) & digit(y3, d6)
"""
IMAGES = {
    "single": ("x", "y"),
    "two": ("x1", "x2", "y1", "y2"),
    "three": ("x1", "x2", "x3", "y1", "y2", "y3"),
}


def addition(task: str, phase: str) -> Step:
    """A step of learning to read digits from sums, or of asking how true the axiom is."""
    theory = theory_of_addition(task, predicate_of_digits())
    return step_of_theory(theory, table_of_addition(task), inputs.BATCH, phase)


def predicate_of_digits() -> ltn.Predicate:
    """`digit(x, d)`, on the network of examples/addition.py."""
    return ltn.Predicate.FromLogits(network_of_digits(), "softmax")


def table_of_addition(task: str) -> dict[str, np.ndarray]:
    """The images and sums of some batches, by the names of their variables."""
    pixels, sums = inputs.additions(task, BATCHES)
    return {**dict(zip(IMAGES[task], pixels, strict=True)), "n": sums}


def theory_of_addition(task: str, digit: ltn.Predicate) -> ltn.Theory:
    """One axiom about images and the sum of the numbers that they show."""
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=2)
    images = theory.domain("images", shape=(28, 28, 1), bounds=(0, 1))
    digits = theory.domain("digits", values=range(10))
    theory.variables(", ".join(IMAGES[task]), images)
    theory.variable("n", theory.domain("results"))
    theory.variables(", ".join(f"d{place + 1}" for place in range(len(IMAGES[task]))), digits)
    theory.predicate("digit", (images, digits), digit)
    theory.axiom((AXIOMS | {"three": THREE_DIGITS})[task])
    return theory


def clustering(count: int, as_data: bool = False) -> Step:
    """A step on all points at once: they are the individuals of a domain, or data that come with the step."""
    network = network_of_clusters()
    points = inputs.clouds(count)
    if as_data:
        return step_of_theory(theory_of_clusters(network), {"x": points, "y": points}, count)
    return step_of_theory(theory_of_clusters(network, values=points))


def relation(count: int, chunk: int | None = None) -> Step:
    """A step on a symmetric relation between learned individuals."""
    theory = theory_of_things(count, chunk)
    theory.axiom("forall x, y: F(x, y) -> F(y, x)")
    return step_of_theory(theory)


def edges(count: int, individuals: int, sample: int = 0) -> Step:
    """A step on a rule about the edges of a graph of learned individuals; on all of them, or on a sample.

    A sample is also drawn of the pairs that are no edges.
    """
    theory = theory_of_things(individuals)
    things = theory.signature.domains["things"]
    theory.relation("linked", (things, things), inputs.edges(count, individuals))
    theory.predicate("P", things, ltn.Predicate.MLP([inputs.FEATURES], (8, 8)))
    if sample:
        theory.axiom(f"forall[sample={sample}] x, y where linked(x, y): P(x) <-> P(y)")
        theory.axiom(f"forall[sample={sample}] x, y where ~linked(x, y): P(x) -> P(y)")
    else:
        theory.axiom("forall x, y where linked(x, y): P(x) <-> P(y)")
    return step_of_theory(theory)


def facts(count: int, together: bool) -> Step:
    """A step on facts about 32 individuals: each an axiom, or all of them one axiom over pairs."""
    theory = theory_of_things(32)
    pairs = list(itertools.product(names_of(32), repeat=2))[:count]
    if together:
        for variable, side in zip("uv", zip(*pairs, strict=True), strict=True):
            theory.variable(variable, theory.signature.domains["things"], values=list(side))
        theory.axiom("forall diag(u, v): F(u, v)")
    else:
        for left, right in pairs:
            theory.axiom(f"F({left}, {right})")
    return step_of_theory(theory)


def names_of(count: int) -> list[str]:
    """What individuals are called."""
    return [f"thing{number}" for number in range(count)]


def theory_of_things(count: int, chunk: int | None = None) -> ltn.Theory:
    """Learned individuals, and a relation between them."""
    theory = ltn.Theory("stable_product", p_forall=2, chunk=chunk)
    things = theory.domain("things", shape=inputs.FEATURES)
    theory.constants(names_of(count), things, values=inputs.embeddings(count), trainable=True)
    theory.variables("x, y", things)
    theory.predicate("F", (things, things), ltn.Predicate.MLP([inputs.FEATURES] * 2, (8, 8)))
    return theory


def smokers(**settings: Any) -> Step:
    """A step on the paper's smokers, compiled with some settings."""
    return step_of_theory(theory_of_smokers(), **settings)


def finite(task: str, on_nan: str) -> Step:
    """A step that finds out whether it is finite, or does not."""
    if task == "smokers":
        return smokers(on_nan=on_nan)
    theory = theory_of_addition("single", predicate_of_digits())
    return step_of_theory(theory, table_of_addition("single"), inputs.BATCH, on_nan=on_nan)


def predicates_of_smokers() -> dict[str, ltn.Predicate]:
    """Three networks: who smokes, who has cancer, who are friends."""
    arguments = {"S": 1, "C": 1, "F": 2}
    return {name: ltn.Predicate.MLP([inputs.FEATURES] * count, (8, 8)) for name, count in arguments.items()}


def theory_of_smokers(predicates: Mapping[str, ltn.Predicate] | None = None) -> ltn.Theory:
    """14 embeddings, three networks, twelve axioms; the networks are new unless they are given."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=6)
    people = theory.domain("people", shape=inputs.FEATURES)
    theory.constants(" ".join(inputs.PEOPLE), people, trainable=True)
    theory.variables("x, y", people)
    for name, individuals in inputs.GIVEN.items():
        theory.variable(name, people, values=individuals)
    for name, predicate in (predicates or predicates_of_smokers()).items():
        theory.predicate(name, (people, people) if name == "F" else people, predicate)
    theory.axioms("""
        forall diag(f1, f2): F(f1, f2)
        forall diag(g1, g2): ~F(g1, g2)
        forall s1: S(s1)
        forall s0: ~S(s0)
        forall c1: C(c1)
        forall c0: ~C(c0)
        forall[p=6] x: ~F(x, x)
        forall[p=6] x, y: F(x, y) -> F(y, x)
        forall x: exists y: F(x, y)
        forall x, y: F(x, y) & S(x) -> S(y)
        forall x: S(x) -> C(x)
        forall x: ~C(x) -> ~S(x)
    """)
    return theory


def step_of_theory(
    theory: ltn.Theory,
    table: dict[str, np.ndarray] | None = None,
    batch_size: int = 1,
    phase: str = "train",
    **settings: Any,
) -> Step:
    """What `fit` or `evaluate` calls for each batch, fed as they feed it."""
    theory.compile(keras.optimizers.Adam(1e-3), **settings)
    theory.fit(table, batch_size=batch_size, verbose=0)
    data = no_data() if table is None else fed(table, batch_size)
    return step_of(theory, data, phase)
