"""What Keras is fed: arguments in, arguments out, without training."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.knowledge import data
from ltn.training.feeding import Feeding
from tests.knowledge.small import knowledge_of

SETTINGS: dict[str, Any] = {"batch_size": None, "callbacks": None}
NUMBERS = np.arange(40, dtype=np.float32) / 40


def feeding(*axioms: str) -> Feeding:
    return Feeding(knowledge_of(*axioms), tf.distribute.get_strategy())


class TestFit:
    def test_takes_all_epochs_from_one_endless_data_set(self) -> None:
        fed, first = feeding("forall x: bright(x)").for_fit({"x": NUMBERS}, None, SETTINGS, True)
        assert (fed["steps_per_epoch"], fed["batch_size"], fed["shuffle"]) == (2, None, False)
        assert first is not None
        assert first["x"].shape == (32, 1)
        assert [batch["x"].shape[0] for batch in fed["x"].take(4)] == [32, 8, 32, 8]

    @pytest.mark.parametrize(
        ("more", "can_be_endless"),
        [({}, False), ({"steps_per_epoch": 1}, True), ({"validation_split": 0.5}, True)],
    )
    def test_leaves_the_dictionary_to_keras_where_epochs_are_otherwise(
        self, more: dict[str, Any], can_be_endless: bool
    ) -> None:
        settings = SETTINGS | {"batch_size": 8} | more
        fed, first = feeding().for_fit({"x": NUMBERS}, None, settings, can_be_endless)
        assert fed["x"]["x"].shape == (40, 1)
        assert first is not None
        assert first["x"].shape == (8, 1)
        assert {name: fed[name] for name in settings} == settings

    def test_is_one_step_where_there_are_no_data(self) -> None:
        fed, first = feeding("A").for_fit(None, None, SETTINGS, True)
        assert (fed["steps_per_epoch"], first) == (1, {})
        assert data.has_no_data(iter(fed["x"]))

    def test_reads_data_for_validation_too(self) -> None:
        settings = SETTINGS | {"validation_data": {"x": NUMBERS[:3]}}
        fed, _ = feeding().for_fit({"x": NUMBERS}, None, settings, True)
        assert fed["validation_data"]["x"].shape == (3, 1)
        assert fed["validation_batch_size"] == 32
        # What a caller gave is theirs.
        assert settings["validation_data"]["x"].shape == (3,)

    def test_takes_no_targets(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match="A theory takes no `y`: labels are variables too"):
            feeding().for_fit({"x": NUMBERS}, NUMBERS, SETTINGS, True)

    def test_takes_what_the_axioms_need(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="'x' has no individuals"):
            feeding("forall x: bright(x)").for_fit(None, None, SETTINGS, True)


class TestEvaluate:
    def test_takes_the_dictionary(self) -> None:
        fed = feeding().for_evaluate({"x": NUMBERS}, None, {"batch_size": 8})
        assert fed["x"]["x"].shape == (40, 1)
        assert fed["batch_size"] == 8

    def test_is_one_step_where_there_are_no_data(self) -> None:
        assert feeding("A").for_evaluate(None, None, {})["steps"] == 1
