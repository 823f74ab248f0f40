"""A graph of a million learned individuals with ten million edges: declaring, joining, and a step."""

import numpy as np

import ltn
from benchmarks import inputs
from benchmarks.programs.theories import names_of, step_of_theory
from benchmarks.worker import Step

INDIVIDUALS, EDGES, DRAWN = 1_000_000, 10_000_000, 4096


def train() -> Step:
    """A step on rules about edges and triangles, and on samples of what is an edge, and what is none."""
    theory = _declared(_edges())
    theory.axioms(f"""
        forall x, y where linked(x, y): P(x) <-> P(y)
        forall x, y, z where linked(x, y) & linked(y, z) & linked(x, z): P(x) & P(y) -> P(z)
        forall[sample={DRAWN}] x, y where linked(x, y): P(x) <-> P(y)
        forall[sample={DRAWN}] x, y where ~linked(x, y): P(x) -> P(y)
    """)
    return step_of_theory(theory)


def declare() -> Step:
    """The individuals and the edges are declared; a step is all of it."""
    edges = _edges()
    return lambda: len(_declared(edges).known["linked"])


def join() -> Step:
    """Edges in both directions are joined; a step finds all of them anew."""
    edges = _edges()
    theory = _declared(edges[1:])
    theory.axiom("forall[sample=1] x, y where linked(x, y) & linked(y, x): P(x)", name="mutual")

    def step() -> float:
        # Plans hold for the rows that are there.
        theory.known["linked"].add(edges[:1])
        return float(theory.report(sample=1).satisfaction.iloc[0])

    return step


def _edges() -> np.ndarray:
    return np.random.default_rng(0).integers(INDIVIDUALS, size=(EDGES, 2), dtype=np.int32)


def _declared(edges: np.ndarray) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2)
    things = theory.domain("things", shape=inputs.FEATURES)
    theory.constants(names_of(INDIVIDUALS), things, values=inputs.embeddings(INDIVIDUALS), trainable=True)
    theory.variables("x, y, z", things)
    theory.relation("linked", (things, things), edges)
    theory.predicate("P", things, ltn.Predicate.MLP([inputs.FEATURES], (8, 8)))
    return theory
