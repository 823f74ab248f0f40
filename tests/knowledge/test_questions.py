"""Questions to a knowledge base alone."""

import pytest

import ltn
from ltn.core import Formula
from ltn.knowledge.questions import Question, answer, evaluation_for, options_of
from tests.knowledge.small import knowledge_of
from tests.tolerance import assert_close

PLAIN = Question(None, None, None, {})


def test_a_formula_is_answered_as_truth_in_either_space() -> None:
    for preset in ("product", "log_product"):
        found = answer(knowledge_of(preset=preset), "A & bright(k)", PLAIN)
        assert isinstance(found, Formula)
        assert found.free_vars == ["k"]
        assert_close(found.tensor, [0.1, 0.2, 0.45])


def test_a_term_is_answered_by_its_value() -> None:
    assert_close(answer(knowledge_of(), "k + 1", PLAIN).tensor, [[1.2], [1.4], [1.9]])


def test_data_come_by_name_or_in_a_dictionary() -> None:
    knowledge = knowledge_of()
    for asked in (PLAIN._replace(data={"x": [0.3]}), PLAIN._replace(named={"x": [0.3]})):
        assert_close(answer(knowledge, "bright(x)", asked).tensor, [0.3])
    both = Question({"x": [0.3]}, None, None, {"x": [0.4]})
    with pytest.raises(ltn.LogicValueError, match="Data came twice for x"):
        answer(knowledge, "bright(x)", both)


def test_other_operators_are_those_of_the_question_only() -> None:
    knowledge = knowledge_of()
    godel = PLAIN._replace(semantics="godel")
    assert_close(answer(knowledge, "A & bright(k)", godel).tensor, [0.2, 0.4, 0.5])
    assert_close(answer(knowledge, "A & bright(k)", PLAIN).tensor, [0.1, 0.2, 0.45])


def test_what_a_question_sets_overrules_what_was_set_for_an_axiom() -> None:
    knowledge = knowledge_of("forall k: bright(k)")
    knowledge.set_hyperparameters("axiom_1", p_forall=1)
    [axiom] = knowledge.axiom_list
    assert float(options_of(knowledge, axiom, PLAIN)["forall"]["p"]) == 1.0
    assert options_of(knowledge, axiom, PLAIN._replace(p=4)) == {}
    assert options_of(knowledge, axiom, PLAIN._replace(named={"p_forall": 4})) == {"forall": {}}
    assert evaluation_for(knowledge, PLAIN._replace(p=4)).space.semantics.hyperparameters()["p_forall"] == 4
