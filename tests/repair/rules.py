"""Theories whose outputs are given: the truths of each row are its features."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ltn
from ltn.repair.clauses import Clauses

NAMES = ["a", "b", "c", "d", "e", "f"]
# A clause: for each literal the atom, and whether it stands without negation.
Literals = list[tuple[int, bool]]


def theory_of(axioms: list[str], semantics: str = "product", count: int = len(NAMES)) -> ltn.Theory:
    """A theory of a predicate `is` of rows and classes, whose truths are the features of a row."""
    theory = ltn.Theory(semantics)
    classes = theory.domain("classes", values=NAMES[:count])
    rows = theory.domain("rows", shape=count)
    theory.variable("x", rows)
    theory.variables("k, l", classes)
    theory.predicate("is", (rows, classes), ltn.Predicate.FromProbabilities(lambda args: args[0]))
    for axiom in axioms:
        theory.axiom(axiom)
    return theory


def implications(edges: list[tuple[int, int]]) -> list[str]:
    """Axioms that a class implies another one."""
    return [f"forall x: is(x, {NAMES[a]}) -> is(x, {NAMES[b]})" for a, b in edges]


def axiom_of(literals: Literals) -> str:
    """The axiom of a clause."""
    parts = [f"{'' if sign else '~'}is(x, {NAMES[atom]})" for atom, sign in literals]
    return f"forall x: {' | '.join(parts)}"


def repaired(theory: ltn.Theory, rows: Any, **options: Any) -> NDArray[np.float32]:
    """The truths after a repair, (rows, classes)."""
    return np.asarray(theory.repair({"x": np.asarray(rows, np.float32)}, **options)["is"].tensor)


def labels_of(clauses: list[Literals], count: int) -> NDArray[np.float64]:
    """All labels that satisfy clauses, by trying all, (labels, atoms)."""
    fine = [
        labels
        for labels in itertools.product([False, True], repeat=count)
        if all(any(labels[atom] == sign for atom, sign in clause) for clause in clauses)
    ]
    return np.array(fine, float).reshape(len(fine), count)


def truth(kind: str, clause: Literals, truths: Any) -> float:
    """The truth of a clause, written from its definition."""
    literals = [float(truths[atom]) if sign else 1.0 - float(truths[atom]) for atom, sign in clause]
    if kind == "godel":
        return max(literals)
    if kind == "lukasiewicz":
        return min(1.0, sum(literals))
    return 1.0 - float(np.prod([1.0 - literal for literal in literals]))


def is_satisfied(kind: str, clause: Literals, truths: Any, q: float) -> bool:
    """Whether a clause is satisfied to q: an implication between two atoms where its truths ascend."""
    if len(clause) == 2 and clause[0][1] != clause[1][1]:
        (negated, _), (plain, _) = sorted(clause, key=lambda literal: literal[1])
        return bool(truths[negated] <= truths[plain])
    return truth(kind, clause, truths) >= q - 1e-6  # of float32


def clauses_from(literals: list[Literals]) -> Clauses:
    """Clauses as arrays."""
    return Clauses.of(
        [
            (
                np.array([[atom for atom, _ in clause]]).reshape(1, -1),
                np.array([[sign for _, sign in clause]], bool).reshape(1, -1),
                number,
                np.zeros(1, np.int64),
            )
            for number, clause in enumerate(literals)
        ]
    )
