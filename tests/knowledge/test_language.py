"""A language alone: what is declared, and what it denotes."""

from typing import Any

import keras
import pytest
import tensorflow as tf

import ltn
from ltn import semantics
from ltn.core import Proposition
from ltn.core.symbols import Symbol
from ltn.evaluation.individuals import Individuals
from ltn.evaluation.spaces import space_of
from ltn.knowledge.language import Language
from ltn.language import parse
from tests.knowledge.small import bright, numbers
from tests.tolerance import assert_close


def test_formulas_are_evaluated_without_a_model() -> None:
    language = numbers()
    space = space_of(semantics.get("product"))
    evaluation = language.evaluation(space, {"x": tf.constant([[0.1], [0.6]])})
    of_data, of_choice = evaluation.ground([parse("A & bright(x)"), parse("A & bright(k)")])
    assert of_data.free_vars == ["x"]
    assert_close(of_data.tensor, [0.05, 0.3])
    assert_close(of_choice.tensor, [0.1, 0.2, 0.45])


def test_declarations_are_kept_where_the_owner_wants_them() -> None:
    symbols: dict[str, Symbol] = {}
    propositions: dict[str, Proposition] = {}
    individuals: list[Individuals] = []
    language = Language(symbols, propositions, individuals)
    people = language.domain("people", shape=2)
    language.constants("a, b", people)
    language.predicate("P", people, lambda x: x[:, 0])
    language.proposition("A")
    assert (list(symbols), list(propositions)) == (["P"], ["A"])
    assert [table.names for table in individuals] == [("a", "b")]


class TestVariables:
    def test_range_over_data_or_over_what_was_declared(self) -> None:
        language = numbers()
        assert language.groundings().source("x") is None
        assert language.groundings({"x": tf.zeros([2, 1])}).source("x") == ("data", "x")
        assert language.groundings().source("k") == ("choice", "k")

    def test_are_for_code_too(self) -> None:
        language = numbers()
        several = language.variables("u, v", language.signature.domains["numbers"], [1.0, 2.0])
        assert [variable.label for variable in several] == ["u", "v"]
        assert_close(several[1].tensor, [[1.0], [2.0]])

    def test_need_a_domain(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"Expected a Domain.*got 'numbers'"):
            numbers().variable("y", "numbers")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])])
def test_a_declaration_that_failed_can_be_made_again(wrong: Any) -> None:
    language = numbers()
    domain = language.signature.domains["numbers"]
    with pytest.raises(Exception, match=r"(?i)shape"):
        language.predicate("dark", domain, wrong)
    assert "dark" not in language.signature.predicates
    assert "dark" not in language.symbols
    language.predicate("dark", domain, bright)
    assert "dark" in language.symbols
