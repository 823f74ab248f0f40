"""A knowledge base alone: its axioms, its operators, and what it tells those who compile them."""

import pytest
import tensorflow as tf

import ltn
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.satisfaction import Satisfaction, satisfaction
from tests.knowledge.small import knowledge_of
from tests.tolerance import assert_close


def satisfaction_of(knowledge: KnowledgeBase) -> Satisfaction:
    evaluation = knowledge.evaluation(knowledge.space, {})
    return satisfaction(knowledge.axiom_list, knowledge.options_of, evaluation)


class TestAxioms:
    def test_have_names_weights_and_an_order(self) -> None:
        knowledge = knowledge_of("A")
        knowledge.axioms("all: forall k: bright(k)\n~A")
        knowledge.axiom("exists k: bright(k)", weight=3)
        assert [axiom.name for axiom in knowledge.axiom_list] == ["axiom_1", "all", "axiom_3", "axiom_4"]
        assert [knowledge.weight_of(axiom) for axiom in knowledge.axiom_list] == [1.0, 1.0, 1.0, 3.0]
        assert knowledge.find("all") is knowledge.axiom_list[1]

    def test_of_a_text_are_added_all_or_none(self) -> None:
        knowledge = knowledge_of()
        with pytest.raises(ltn.LogicError, match=r"(?s)'dark'.*line 2: forall k: dark\(k\)\n +\^\^\^\^"):
            knowledge.axioms("A\nforall k: dark(k)")
        assert knowledge.axiom_list == []

    @pytest.mark.parametrize("label", ["a", "a [weight=2]"])
    def test_that_have_one_name_are_marked_by_their_labels(self, label: str) -> None:
        knowledge = knowledge_of()
        with pytest.raises(ltn.LogicError, match="are named 'a'") as error:
            knowledge.axioms(f"a: A\n{label}: ~A")
        *_, line, marks = str(error.value).splitlines()
        assert line[marks.index("^") : marks.index("^") + marks.count("^")] == label

    def test_with_a_learned_weight_declare_it(self) -> None:
        knowledge = knowledge_of()
        knowledge.axiom("A", name="doubt", weight="learned")
        assert knowledge.language.propositions["weight_of_doubt"].trainable
        assert knowledge.weight_of(knowledge.find("doubt")) == 0.5

    def test_are_satisfied_together(self) -> None:
        found = satisfaction_of(knowledge_of("A", "~A & A"))
        assert_close(tf.stack(found.axioms), [0.5, 0.25])
        assert_close(found.total, 1 - ((0.5**2 + 0.75**2) / 2) ** 0.5)


class TestData:
    def test_are_needed_by_some_variables(self) -> None:
        knowledge = knowledge_of("forall k: bright(k)", "forall x: bright(x)")
        assert knowledge.open_variables() == ["x"]
        knowledge.check_complete({"x": tf.zeros([1, 1])})
        with pytest.raises(ltn.LogicValueError, match=r"Axiom 'axiom_2': .*'x' has no individuals"):
            knowledge.check_complete({})


class TestChanges:
    def test_are_counted_and_told(self) -> None:
        knowledge = knowledge_of()
        told: list[int] = []
        knowledge.subscribe(lambda: told.append(knowledge.version))
        knowledge.axiom("A")
        knowledge.set_hyperparameters(p_forall=3)
        assert told == [1, 2]

    def test_of_a_number_that_is_a_variable_already_are_not(self) -> None:
        knowledge = knowledge_of("forall k: bright(k)")
        knowledge.set_hyperparameters(p_forall=3)
        version = knowledge.version
        knowledge.set_hyperparameters(p_forall=1)
        assert knowledge.version == version
        assert knowledge.hyperparameters["p_forall"] == 1.0
        assert_close(satisfaction_of(knowledge).axioms[0], 0.5)

    def test_of_one_axiom_alone(self) -> None:
        knowledge = knowledge_of("forall k: bright(k)", "~~(forall k: bright(k))")
        knowledge.set_hyperparameters("axiom_2", p_forall=1)
        own, other = (knowledge.options_of(axiom) for axiom in reversed(knowledge.axiom_list))
        assert (float(own["forall"]["p"]), other) == (1.0, {})
        assert_close(satisfaction_of(knowledge).axioms[1], 0.5)
