"""A call that declares does all of its work, or none: after an error it can be made again, corrected."""

from pathlib import Path
from typing import Any, NamedTuple

import keras
import pytest

import ltn
from ltn.knowledge.language import Language


class Case(NamedTuple):
    """A call of a theory with a part that fails, and the same call without that part."""

    call: str
    wrong: dict[str, Any]
    right: dict[str, Any]


def theory_of() -> ltn.Theory:
    theory = ltn.Theory()
    people = theory.domain("people", shape=2)
    theory.domain("colours", values=["red", "green"])
    theory.constants("ann, bob", people)
    theory.variable("x", people)
    theory.predicate("P", people, ltn.Predicate.MLP([2], (3,)))
    theory.proposition("A", 0.5, trainable=True)
    theory.proposition("weight_of_taken", 0.5)
    theory.predicate("weight_of_second", people, ltn.Predicate.MLP([2], (3,)))
    theory.axiom("forall x: P(x)", name="all")
    return theory


def cases(theory: ltn.Theory) -> list[Case]:
    people = theory.signature.domains["people"]
    narrow = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, "sigmoid")])
    return [
        Case("domain", {"name": "n", "values": ["k", "ann"]}, {"name": "n", "values": ["k", "zoe"]}),
        Case("constants", {"names": "k, red", "domain": people}, {"names": "k, zoe", "domain": people}),
        Case("constants", {"names": ["k", 3], "domain": people}, {"names": ["k"], "domain": people}),
        Case("constants", {"names": "k k", "domain": people}, {"names": "k, zoe", "domain": people}),
        Case(
            "constants",
            {"names": "k, zoe", "domain": people, "initializer": "nonsense"},
            {"names": "k, zoe", "domain": people, "initializer": "ones"},
        ),
        Case(
            "constants",
            {"names": "k, zoe", "domain": people, "initializer": lambda shape, dtype: [[0.0]]},
            {"names": "k, zoe", "domain": people},
        ),
        Case("constant", {"name": "k", "domain": people, "regularizer": 3}, {"name": "k", "domain": people}),
        Case("variable", {"name": "y", "domain": people, "values": ["zoe"]}, {"name": "y", "domain": people}),
        Case(
            "variables",
            {"names": "y, x", "domain": people, "values": ["ann"]},
            {"names": "y, z", "domain": people, "values": ["ann"]},
        ),
        Case("variables", {"names": "y, y", "domain": people}, {"names": "y, z", "domain": people}),
        Case(
            "predicate",
            {"name": "Q", "domains": people, "grounding": narrow},
            {"name": "Q", "domains": people, "grounding": ltn.Predicate.MLP([2], (3,))},
        ),
        Case(
            "predicate",
            {"name": "Q", "domains": people, "grounding": 3},
            {"name": "Q", "domains": people, "grounding": ltn.Predicate.MLP([2], (3,))},
        ),
        Case(
            "function",
            {"name": "f", "domains": people, "output": people, "grounding": ltn.Function.MLP([2], 3)},
            {"name": "f", "domains": people, "output": people, "grounding": ltn.Function.MLP([2], 2)},
        ),
        Case(
            "relation",
            {"name": "R", "domains": (people, people), "rows": [("ann", "bob"), ("ann", "zoe")]},
            {"name": "R", "domains": (people, people), "rows": [("ann", "bob")]},
        ),
        Case(
            "relations",
            {"triples": [("ann", "R", "bob"), ("bob", "P", "ann")], "entities": people},
            {"triples": [("ann", "R", "bob"), ("bob", "Q", "ann")], "entities": people},
        ),
        Case("proposition", {"name": "B", "trainable": "yes"}, {"name": "B", "trainable": True}),
        Case("proposition", {"name": "B", "truth": 2.0}, {"name": "B", "truth": 1.0}),
        Case("axiom", {"formula": "A", "weight": -1.0}, {"formula": "A", "weight": 1.0}),
        Case(
            "axiom",
            {"formula": "A", "name": "second", "weight": "learned"},
            {"formula": "A", "name": "third", "weight": "learned"},
        ),
        Case(
            "axioms",
            {"text": "first [weight=learned]: A\nsecond [weight=learned]: A"},
            {"text": "first [weight=learned]: A\nthird [weight=learned]: A"},
        ),
        Case("axioms", {"text": ["first [weight=learned]: A", "B"]}, {"text": ["first: A", "~A"]}),
        Case(
            "set_hyperparameters",
            {"p_forall": 3.0, "stable_and": False, "p_exists": 0.5},
            {"p_forall": 3.0, "stable_and": False, "p_exists": 5.0},
        ),
        Case(
            "set_hyperparameters",
            {"axiom": "all", "p_forall": 3.0, "p_exists": 5.0},
            {"axiom": "all", "p_forall": 3.0, "stable_forall": False},
        ),
    ]


CASES = [(number, case.call) for number, case in enumerate(cases(theory_of()))]


def state_of(theory: ltn.Theory) -> dict[str, Any]:
    """All that is declared, with the number of weights."""
    return {**theory.get_config(), "version": theory.version, "weights": len(theory.weights)}


@pytest.mark.parametrize(("number", "call"), CASES)
def test_what_failed_left_nothing_behind(number: int, call: str) -> None:
    theory = theory_of()
    case = cases(theory)[number]
    before = state_of(theory)
    with pytest.raises(ltn.LogicError):
        getattr(theory, call)(**case.wrong)
    assert state_of(theory) == before
    getattr(theory, call)(**case.right)
    assert state_of(theory) != before


def test_all_calls_that_declare_are_walked() -> None:
    """Those that the theory takes from its language, and those that change its knowledge."""
    declaring = {name for name in vars(Language) if not name.startswith("_")} & set(dir(ltn.Theory))
    declaring -= {"evaluation"}  # it only reads
    assert {call for _, call in CASES} == declaring | {"axiom", "axioms", "set_hyperparameters"}


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_a_theory_with_corrected_declarations_is_saved(tmp_path: Path) -> None:
    theory = theory_of()
    people = theory.signature.domains["people"]
    with pytest.raises(ltn.LogicValueError, match="'red' cannot name a constant"):
        theory.constants("k, red", people)
    theory.constants("k, zoe", people)
    theory.axiom("P(k)", name="of_k")
    before = theory.report()
    theory.save(tmp_path / "theory.keras")
    loaded = ltn.load(tmp_path / "theory.keras")
    assert loaded.report().satisfaction.tolist() == before.satisfaction.tolist()
