"""Callbacks: schedules of the operators' hyper-parameters."""

import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from ltn.callbacks import Schedule
from tests.theory.theories import (
    classifier,
    degrees,
    labelled_points,
    pmean,
    pmean_error,
    some_by_odds,
    traced,
    truth,
)
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

VALUES = (0.2, 0.6)
# Neither a dictionary nor a function.
WRONG: list[Any] = [6, [1, 2]]


def numbers(semantics: Any = "product", kind: type[ltn.Theory] = ltn.Theory, **settings: Any) -> ltn.Theory:
    """Two quantified axioms about known numbers, and a weight that does not move."""
    theory = degrees(VALUES, semantics, kind, **settings)
    theory.proposition("w", 1.0, trainable=True)
    theory.axiom("exists x: I(x)", name="some")
    theory.axiom("forall x: I(x)", name="all")
    theory.axiom("exists[p=3] x: I(x)", name="fixed")
    theory.axiom("w", name="so")
    theory.compile(keras.optimizers.SGD(0.0))
    return theory


def histories(theory: ltn.Theory, *schedules: Schedule, epochs: int = 3) -> Any:
    return theory.fit(epochs=epochs, callbacks=list(schedules), verbose=0).history


class TestValues:
    def test_a_dictionary_holds_from_its_epochs_on(self) -> None:
        found = histories(numbers(), Schedule("p_exists", {0: 1, 2: 6, 3: 8}), epochs=5)
        assert_close(found["some"], [pmean(VALUES, p) for p in (1, 1, 6, 8, 8)])

    def test_only_the_quantifiers_of_its_kind_change(self) -> None:
        found = histories(numbers(), Schedule("p_forall", {0: 1, 1: 6}))
        assert_close(found["all"], [pmean_error(VALUES, p) for p in (1, 6, 6)])
        assert_close(found["some"], [pmean(VALUES, 2)] * 3)

    def test_a_value_in_the_text_stays(self) -> None:
        found = histories(numbers(), Schedule("p_exists", {0: 1, 1: 6}))
        assert_close(found["fixed"], [pmean(VALUES, 3)] * 3)

    def test_a_function_of_the_epoch(self) -> None:
        found = histories(numbers(), Schedule("p_exists", lambda epoch: 1 + 2 * epoch))
        assert_close(found["some"], [pmean(VALUES, p) for p in (1, 3, 5)])

    def test_of_one_axiom(self) -> None:
        theory = numbers()
        theory.axiom("exists x: I(x) & I(x)", name="other")
        found = histories(theory, Schedule("p_exists", {0: 1, 1: 6}, axiom="some"))
        assert_close(found["some"], [pmean(VALUES, p) for p in (1, 6, 6)])
        assert_close(found["other"], [pmean(np.square(VALUES), 2)] * 3)

    def test_of_one_axiom_beside_one_of_all(self) -> None:
        theory = numbers()
        theory.axiom("exists x: I(x) & I(x)", name="other")
        schedules = [Schedule("p_exists", {0: 1, 1: 6}, axiom="some"), Schedule("p_exists", {0: 4, 2: 5})]
        for order in (schedules, schedules[::-1]):
            found = histories(theory, *order)
            assert_close(found["some"], [pmean(VALUES, p) for p in (1, 6, 6)])
            assert_close(found["other"], [pmean(np.square(VALUES), p) for p in (4, 4, 5)])

    def test_of_the_aggregator_of_formulas(self) -> None:
        found = histories(numbers(), Schedule("p_satagg", {0: 1, 1: 8}), epochs=2)
        axioms = np.array([found[name] for name in ("some", "all", "fixed", "so")])
        assert_close(found["satisfaction"], [pmean_error(axioms[:, 0], 1), pmean_error(axioms[:, 1], 8)])

    def test_of_a_connective(self) -> None:
        semantics = ltn.semantics.product.replace(
            Implies=ltn.fuzzy_ops.Implies_Sigmoidal(ltn.fuzzy_ops.Implies_Reichenbach(stable=False), s=9.0)
        )
        theory = numbers(semantics)
        theory.axiom("forall x: I(x) -> ~I(x)", name="implied")
        assert theory.hyperparameters["s_implies"] == 9.0
        found = histories(theory, Schedule("s_implies", {0: 9.0, 1: 1.0}), epochs=2)

        def expected(s: float) -> float:
            operator = ltn.fuzzy_ops.Implies_Sigmoidal(ltn.fuzzy_ops.Implies_Reichenbach(stable=False), s=s)
            x = np.array(VALUES, np.float32)
            return pmean_error(operator(x, 1.0 - x), 2)

        assert_close(found["implied"], [expected(9.0), expected(1.0)])
        assert abs(found["implied"][0] - found["implied"][1]) > 1e-3

    def test_of_the_log_product(self) -> None:
        found = histories(numbers("log_product"), Schedule("p_exists", {0: 1, 1: 6}), epochs=2)
        # The odds of powers add up.
        assert_close(found["some"], [some_by_odds(VALUES, 1), some_by_odds(VALUES, 6)])
        found = histories(numbers("log_product_mean"), Schedule("p_exists", {0: 1, 1: 6}), epochs=2)
        assert_close(found["some"], [pmean(VALUES, 1), pmean(VALUES, 6)])

    def test_a_switch_may_be_scheduled_too(self) -> None:
        found = histories(numbers("stable_product"), Schedule("stable_forall", {0: True, 1: False}), epochs=2)
        assert_close(found["all"][1], pmean_error(VALUES, 2))
        assert found["all"][0] != found["all"][1]

    def test_validation_uses_the_value_of_its_epoch(self) -> None:
        theory = numbers()
        found = theory.fit(
            epochs=2,
            callbacks=[Schedule("p_exists", {0: 1, 1: 6})],
            validation_data={"x": VALUES[:2]},
            verbose=0,
        ).history
        assert_close(found["val_some"], [pmean(VALUES[:2], p) for p in (1, 6)])

    def test_training_that_starts_later_starts_with_the_value_of_that_epoch(self) -> None:
        theory = numbers()
        schedule = Schedule("p_exists", {0: 1, 2: 6, 4: 8})
        found = theory.fit(initial_epoch=3, epochs=5, callbacks=[schedule], verbose=0).history
        assert_close(found["some"], [pmean(VALUES, 6), pmean(VALUES, 8)])


class TestAfterTraining:
    def test_the_last_values_stay_in_force(self) -> None:
        theory = numbers()
        histories(theory, Schedule("p_exists", {0: 1, 1: 6}), Schedule("p_forall", {0: 4}, axiom="all"))
        assert theory.hyperparameters["p_exists"] == 6.0
        assert theory.hyperparameters["all.p_forall"] == 4.0
        assert theory.hyperparameters["p_forall"] == 2.0
        assert_close(theory.report().satisfaction[:2], [pmean(VALUES, 6), pmean_error(VALUES, 4)])
        assert_close(truth(theory, "exists x: I(x)"), pmean(VALUES, 6))

    def test_they_are_saved_and_restored(self, tmp_path: Path) -> None:
        theory = classifier()
        theory.compile(keras.optimizers.Adam(0.05))
        data = labelled_points(8)
        schedules = [
            Schedule("p_forall", {0: 1, 1: 5}),
            Schedule("p_forall", {0: 3}, axiom="negative"),
            Schedule("p_satagg", {0: 7}),
        ]
        theory.fit(data, epochs=2, callbacks=schedules, verbose=0)
        theory.save(tmp_path / "theory.keras")
        restored = ltn.load(tmp_path / "theory.keras")
        assert restored.hyperparameters == theory.hyperparameters
        assert restored.hyperparameters["negative.p_forall"] == 3.0
        assert restored.report(data).equals(theory.report(data))
        # And the schedule goes on.
        restored.fit(
            data, initial_epoch=2, epochs=3, callbacks=[Schedule("p_forall", {0: 1, 2: 8})], verbose=0
        )
        assert restored.hyperparameters["p_forall"] == 8.0

    def test_the_callback_can_be_used_again(self) -> None:
        schedule = Schedule("p_exists", {0: 1, 1: 6})
        for theory in (numbers(), numbers("stable_product")):
            for _ in range(2):
                assert_close(histories(theory, schedule)["some"][0], 0.4, atol=2e-4)  # stable: by up to 1e-4


class TestTracing:
    def test_nothing_is_compiled_again(self) -> None:
        kind, traces = traced()
        theory = numbers(kind=kind)
        schedules = [
            Schedule("p_exists", lambda epoch: 1 + epoch),
            Schedule("p_forall", {0: 1, 2: 4}),
            Schedule("p_forall", lambda epoch: 2 + epoch, axiom="all"),
            Schedule("p_satagg", {0: 1, 3: 4}),
        ]
        histories(theory, *schedules, epochs=5)
        assert traces == ["train"]
        histories(theory, *schedules, epochs=3)
        assert traces == ["train"]


class TestMistakes:
    """Each is found before the first step."""

    @pytest.mark.parametrize(
        ("schedule", "kind", "message"),
        [
            (lambda: Schedule("p_foral", {0: 1}), ltn.LogicTypeError, "no hyper-parameter `p_foral`"),
            (lambda: Schedule("p_exists", {0: 1}, axiom="sum"), ltn.LogicValueError, "no axiom 'sum'"),
            (
                lambda: Schedule("p_forall", {0: 1}, axiom="some"),
                ltn.LogicValueError,
                "'some' has no quantifier whose `p_forall`",
            ),
            (
                lambda: Schedule("p_exists", {0: 1}, axiom="fixed"),
                ltn.LogicValueError,
                "'fixed' has no quantifier.*stays",
            ),
            (
                lambda: Schedule("p_satagg", {0: 1}, axiom="some"),
                ltn.LogicValueError,
                "p_forall` or `p_exists`",
            ),
            (lambda: Schedule("p_exists", {1: 1}), ltn.LogicValueError, "epoch 0"),
            (lambda: Schedule("p_exists", {}), ltn.LogicValueError, "epoch 0"),
            (lambda: Schedule("p_exists", {-1: 1, 0: 2}), ltn.LogicValueError, "epoch 0"),
            (lambda: Schedule("p_exists", WRONG[0]), ltn.LogicTypeError, "dictionary or a function"),
            (lambda: Schedule("p_exists", WRONG[1]), ltn.LogicTypeError, "dictionary or a function"),
            (lambda: Schedule("p_exists", {0: 0.5}), ltn.LogicValueError, "`p` must be"),
            (lambda: Schedule("p_exists", {0: 1, 2: 0.5}), ltn.LogicValueError, "`p` must be"),
        ],
    )
    def test_are_explained(self, schedule: Any, kind: type[Exception], message: str) -> None:
        theory = numbers()
        with pytest.raises(kind, match=message):
            histories(theory, schedule(), epochs=4)
        assert int(theory.optimizer.iterations) == 0

    def test_an_axiom_in_python_has_no_quantifiers_to_schedule(self) -> None:
        theory = numbers()
        w: Any = theory.propositions["w"]
        theory.axiom(lambda: w, name="code")
        with pytest.raises(ltn.LogicValueError, match=r"'code'.*Python"):
            histories(theory, Schedule("p_exists", {0: 1}, axiom="code"))

    def test_godel_has_no_p(self) -> None:
        theory = degrees(VALUES, "godel")
        theory.axiom("forall x: I(x)", name="all")
        theory.compile()
        for axiom in (None, "all"):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = histories(theory, Schedule("p_forall", {0: 1, 1: 3}, axiom), epochs=3)
            assert_close(found["all"], [min(VALUES)] * 3)
            # Once for a theory, however many epochs and schedules.
            about = [str(each.message) for each in told if "p_forall" in str(each.message)]
            assert len(about) == (axiom is None)
            assert all("`Forall`, has no hyper-parameter `p`; it has: none" in message for message in about)
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `q_forall`"):
            histories(theory, Schedule("q_forall", {0: 1}))

    def test_another_model(self) -> None:
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        with pytest.raises(ltn.LogicTypeError, match=r"ltn.Theory"):
            model.fit(np.zeros((1, 1)), np.zeros((1, 1)), callbacks=[Schedule("p_exists", {0: 1})], verbose=0)


class TestSettingByHand:
    def test_of_all_and_of_one_axiom(self) -> None:
        theory = numbers()
        theory.set_hyperparameters(p_exists=4, p_forall=5)
        theory.set_hyperparameters(axiom="all", p_forall=7)
        assert_close(theory.report().satisfaction[:2], [pmean(VALUES, 4), pmean_error(VALUES, 7)])
        assert_close(theory.evaluate(verbose=0, return_dict=True)["all"], pmean_error(VALUES, 7))

    @pytest.mark.parametrize(
        "values", [{"p_exists": 0.0}, {"p_foral": 2}, {"p_exists": "six"}, {"p_exists": None}]
    )
    def test_impossible_values_change_nothing(self, values: dict[str, Any]) -> None:
        theory = numbers()
        before = theory.hyperparameters
        with pytest.raises(ltn.LogicError):
            theory.set_hyperparameters(**values)
        assert theory.hyperparameters == before

    def test_a_switch(self) -> None:
        theory = numbers("stable_product")
        theory.set_hyperparameters(stable_forall=False)
        assert_close(theory.report().satisfaction[1], pmean_error(VALUES, 2))
        assert_close(theory.evaluate(verbose=0, return_dict=True)["all"], pmean_error(VALUES, 2))
