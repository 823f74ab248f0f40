"""A theory has a language, a knowledge base and a trainer: its methods are theirs."""

import inspect

import keras
import pytest

import ltn
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.language import Language
from ltn.training.trainer import Trainer
from tests.theory.everything import DATA, everything
from tests.tolerance import assert_close

OF_LANGUAGE = "domain constants constant variable predicate function proposition"
OF_KNOWLEDGE = "axiom axioms find weight_of options_of set_hyperparameters evaluation"
OF_TRAINER = "compile fit evaluate predict train_step test_step reset_metrics penalty"
METHODS = [
    (part, name)
    for part, names in ((Language, OF_LANGUAGE), (KnowledgeBase, OF_KNOWLEDGE), (Trainer, OF_TRAINER))
    for name in names.split()
]


def test_it_is_a_keras_model_and_nothing_in_between() -> None:
    assert ltn.Theory.__bases__ == (keras.Model,)


@pytest.mark.parametrize(("part", "name"), METHODS, ids=lambda value: getattr(value, "__name__", value))
def test_its_methods_tell_what_those_of_its_parts_tell(part: type, name: str) -> None:
    mine, theirs = getattr(ltn.Theory, name), getattr(part, name)
    assert inspect.getdoc(mine) == inspect.getdoc(theirs) is not None
    assert inspect.signature(mine) == inspect.signature(theirs)


def test_its_parts_share_what_keras_tracks() -> None:
    theory = everything()
    for name in ("symbols", "propositions", "individuals"):
        assert getattr(theory.language, name) is getattr(theory, name)
    tracked = {id(layer) for layer in theory.layers}
    declared = [*theory.symbols.values(), *theory.propositions.values(), *theory.individuals]
    assert {id(layer) for layer in declared} == tracked
    assert theory.knowledge.language is theory.language
    assert theory.signature is theory.language.signature


def test_a_copy_gives_the_same_and_has_weights_of_its_own() -> None:
    theory = everything()
    theory.set_hyperparameters("symmetric", p_forall=5)
    copy = theory.copy()
    assert type(copy) is ltn.Theory
    before = theory.report(DATA)
    assert copy.report(DATA).equals(before)
    copy.propositions["A"].trainable_weights[0].assign(0.9)
    assert_close(theory.query("A").tensor, 0.375)
    assert theory.report(DATA).equals(before)
