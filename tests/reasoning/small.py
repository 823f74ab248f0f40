"""Small theories, and ways to ask them, that the tests of reasoning share."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ltn

# Where the outcome does not matter.
QUICK: dict[str, Any] = {"restarts": 1, "steps": 5, "seed": 0, "verbose": 0}
# Compiled steps against the same formulas evaluated eagerly, in float32.
GRAPH_ATOL = 1e-5


def propositions(names: str, axioms: Sequence[str], start: float = 0.0, **settings: Any) -> ltn.Theory:
    """A theory of learned propositions."""
    theory = ltn.Theory(**settings)
    for name in names:
        theory.proposition(name, start, trainable=True)
    for axiom in axioms:
        theory.axiom(axiom)
    return theory


def either() -> ltn.Theory:
    """The paper's example, with its starting point."""
    return propositions("AB", ["A | B"])


def chain() -> ltn.Theory:
    """B follows."""
    return propositions("AB", ["A", "A -> B"], start=0.5)


def contradiction() -> ltn.Theory:
    """No grounding satisfies it to more than a half."""
    return propositions("A", ["A", "~A"], start=0.25)


def people(axioms: Sequence[str], **settings: Any) -> ltn.Theory:
    """Two people who are embeddings, one predicate that is a network."""
    theory = ltn.Theory(**settings)
    people = theory.domain("people", shape=2)
    theory.constants("a, b", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("S", people, ltn.Predicate.MLP([2], (4,)))
    for axiom in axioms:
        theory.axiom(axiom)
    return theory


def satisfaction(theory: ltn.Theory, data: Any = None) -> float:
    """Of all axioms together, evaluated eagerly."""
    return float(theory.call(data or {})["satisfaction"][0])


def state_of(theory: ltn.Theory) -> list[NDArray[Any]]:
    """Copies of all weights, and of all that the optimizer knows."""
    optimizer = theory.optimizer.variables if theory.compiled else []
    return [np.array(variable.value.numpy()) for variable in (*theory.weights, *optimizer)]


def generators() -> tuple[Any, ...]:
    """The states of the generators of Python and NumPy."""
    of_numpy: Any = np.random.get_state()
    return random.getstate(), of_numpy[1].tolist(), of_numpy[2]


def assert_same(one: Any, other: Any) -> None:
    """Equal bit for bit: arrays, or lists of arrays."""
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)
