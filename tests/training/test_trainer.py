"""A trainer alone: steps on a small model of one weight, without `fit`."""

from typing import Any

import keras
import pytest
import tensorflow as tf

from ltn import _private, semantics
from ltn.core import Proposition
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.data import empty_batch
from ltn.knowledge.language import Language
from ltn.knowledge.satisfaction import satisfaction
from ltn.training import compilation
from ltn.training.steps import CompiledStep
from ltn.training.trainer import Trainer
from tests.tolerance import assert_close


class Model(keras.Model):
    """What a trainer needs of a model: its satisfaction for a batch, and where Keras asks the trainer."""

    def __init__(self, knowledge: KnowledgeBase, propositions: list[Proposition], regularizer: Any = None):
        super().__init__()
        self.propositions = propositions
        self.knowledge = knowledge
        self.trainer = Trainer(self, knowledge, regularizer)
        self.xla: bool | None = None

    def call(self, inputs: Any, training: bool | None = None, as_truths: bool = True) -> Any:
        evaluation = self.knowledge.evaluation(self.knowledge.space, inputs)
        return satisfaction(self.knowledge.axiom_list, self.knowledge.options_of, evaluation)

    def use_xla(self, compiled: bool) -> None:
        self.xla = compiled

    def train_step(self, data: Any) -> Any:
        return self.trainer.train_step(data)

    def make_train_function(self, force: bool = False) -> Any:
        return self.trainer.make_train_function(force)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        return self.trainer.metrics

    _maybe_symbolic_build = _private.build_nothing


def model_of(preset: str = "product", regularizer: Any = None, **settings: Any) -> Model:
    """One proposition of truth 0.25 that is to be true, learned with a rate of 0.1."""
    language = Language()
    proposition = language.proposition("A", 0.25, trainable=True)
    knowledge = KnowledgeBase(language, semantics.get(preset))
    knowledge.axiom("A", name="claim")
    model = Model(knowledge, [proposition], regularizer)
    model.trainer.compile(keras.optimizers.SGD(0.1), **settings)
    return model


def truth_of(model: Model) -> float:
    return float(model.propositions[0].tensor)


class TestSteps:
    # The gradient of 1 - A is -1, that of -log(A) is -1 / A.
    @pytest.mark.parametrize(
        ("preset", "loss", "after"), [("product", 0.75, 0.35), ("log_product", 1.3863, 0.65)]
    )
    def test_descend(self, preset: str, loss: float, after: float) -> None:
        model = model_of(preset)
        logs = model.trainer.train_step(empty_batch())
        assert_close(logs["loss"], loss, atol=1e-4)  # written with four digits
        assert_close([logs["satisfaction"], logs["claim"]], [0.25, 0.25])
        assert_close(truth_of(model), after)

    def test_of_evaluation_do_not(self) -> None:
        model = model_of()
        assert_close(model.trainer.test_step(empty_batch())["loss"], 0.75)
        assert truth_of(model) == 0.25

    def test_pay_the_penalty(self) -> None:
        model = model_of(regularizer=keras.regularizers.L1(2.0))
        assert_close(model.trainer.penalty(), 0.5)
        assert_close(model.trainer.train_step(empty_batch())["loss"], 1.25)
        assert_close(truth_of(model), 0.15)

    def test_warn_where_nothing_is_learned(self) -> None:
        model = model_of()
        model.propositions[0].trainable = False
        with pytest.warns(UserWarning, match="nothing is learned"):
            model.trainer.train_step(empty_batch())


class TestFunctions:
    def test_are_compiled_steps(self) -> None:
        model = model_of()
        step = model.make_train_function()
        assert isinstance(step, CompiledStep)
        assert model.make_train_function() is step
        assert_close(step(iter([empty_batch()]))["loss"], 0.75)

    @pytest.mark.parametrize("settings", [{"run_eagerly": True}, {"steps_per_execution": 2}])
    def test_are_left_to_keras_where_it_takes_other_steps(self, settings: dict[str, Any]) -> None:
        model = model_of(**settings)
        model.make_train_function()
        assert model.train_function is not None
        assert not isinstance(model.train_function, CompiledStep)

    def test_are_made_anew_when_the_knowledge_changes(self) -> None:
        model = model_of()
        before = model.make_train_function()
        model.knowledge.axiom("~A", name="doubt")
        assert model.train_function is not before
        logs = model.train_function(iter([empty_batch()]))
        assert_close([logs["claim"], logs["doubt"]], [0.25, 0.75])

    def test_are_not_made_before_they_are_needed(self) -> None:
        model = model_of()
        model.knowledge.axiom("~A", name="doubt")
        assert model.train_function is None


def test_the_metrics_are_those_of_the_axioms_there_are() -> None:
    model = model_of()
    assert [metric.name for metric in model.metrics] == ["loss", "axioms"]
    model.knowledge.axiom("~A", name="doubt")
    assert model.trainer.means.names == ["satisfaction", "claim", "doubt"]


def test_without_compile_there_are_no_metrics() -> None:
    knowledge = KnowledgeBase(Language(), semantics.get("product"))
    assert Model(knowledge, []).metrics == []


@pytest.mark.parametrize("asked", [True, False])
def test_the_model_is_told_about_xla(asked: bool) -> None:
    assert model_of(jit_compile=asked).xla is asked


def test_a_batch_is_checked() -> None:
    with pytest.raises(ValueError, match="Data came for 'y'"):
        model_of().trainer.train_step({"y": tf.zeros([1, 1])})


class TestOptimizers:
    def test_are_built_for_the_weights_there_are(self) -> None:
        model = model_of()
        assert not compilation.build_optimizer(model)
        assert model.optimizer.built

    def test_are_replaced_when_there_are_more_weights(self) -> None:
        model = model_of()
        old = model.optimizer
        compilation.build_optimizer(model)
        old.iterations.assign(7)
        model.propositions.append(Proposition(0.5, trainable=True))
        assert compilation.build_optimizer(model)
        assert model.optimizer is not old
        assert int(model.optimizer.iterations) == 7
        assert not compilation.build_optimizer(model)

    def test_are_not_there_before_compile(self) -> None:
        knowledge = KnowledgeBase(Language(), semantics.get("product"))
        model = Model(knowledge, [])
        assert not compilation.build_optimizer(model)
        assert not model.trainer.get_compile_config()
