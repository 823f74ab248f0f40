"""How much knowledge counts beside a task: schedules, warm-ups, balance; and what training tells about it."""

import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.training.balance import Balance, add
from tests.theory.replicated import logs_of
from tests.theory.theories import about, assert_same_weights, knowledge, network, weights_of
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = np.random.default_rng(0).normal(size=(24, 2)).astype(np.float32)
CLASSES = (POINTS[:, 0] > 0).astype(np.int32) + (POINTS[:, 1] > 0)
OPTIONS: dict[str, Any] = {"batch_size": 12, "shuffle": False, "verbose": 0}


def model_of(
    weight: Any = 1.0, optimizer: Any = None, compiled: dict[str, Any] | None = None, **settings: Any
) -> Any:
    """A model with the same initial weights whenever it is made."""
    keras.utils.set_random_seed(0)
    classifier = network()
    model = ltn.with_knowledge(classifier, knowledge(classifier), weight, **settings)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer or keras.optimizers.SGD(0.1), loss, **(compiled or {}))
    return model


def fit(model: Any, epochs: int = 1, **settings: Any) -> dict[str, list[float]]:
    return logs_of(model.fit(POINTS, CLASSES, epochs=epochs, **OPTIONS | settings))


class Weights(keras.callbacks.Callback):
    """Notes the weight that compiled steps read."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seen.append(float(self.model._weight))


class TestSchedules:
    @pytest.mark.parametrize(
        "schedule", [{0: 0.0, 2: 0.5}, lambda epoch: 0.5 * (epoch >= 2)], ids=["dict", "code"]
    )
    def test_hold_from_their_epochs_on(self, schedule: Any) -> None:
        weights = Weights()
        model = model_of(schedule)
        logs = fit(model, 3, callbacks=[weights])
        assert weights.seen == [0.0, 0.0, 0.5]
        assert model.weight == 0.5
        other = model_of(0.0)
        assert_close(logs["loss"][:2], fit(other, 2)["loss"])
        other.weight = 0.5
        assert_close(logs["loss"][2:], fit(other)["loss"])
        assert_same_weights(model, other, atol=1e-6)  # steps of rounded gradients

    def test_must_begin_with_epoch_0_and_have_weights(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="`weight` must begin with epoch 0"):
            model_of({1: 0.5})
        with pytest.raises(ltn.LogicValueError, match='number of at least 0, a schedule, or "balanced"'):
            model_of({0: -1.0})

    def test_are_saved(self, tmp_path: Path) -> None:
        model_of({0: 0.0, 2: 0.5}, warmup=1).save(tmp_path / "model.keras")
        loaded: Any = keras.models.load_model(tmp_path / "model.keras")
        weights = Weights()
        fit(loaded, 3, callbacks=[weights])
        assert weights.seen == [0.0, 0.0, 0.5]
        assert loaded.warmup == 1

    def test_that_are_code_cannot_be_saved(self, tmp_path: Path) -> None:
        with pytest.raises(ltn.LogicValueError, match="function cannot be saved: give a dictionary"):
            model_of(lambda epoch: 1.0).save(tmp_path / "model.keras")


class TestWarmup:
    def test_leaves_the_axioms_out_and_logs_them(self) -> None:
        weights = Weights()
        model, plain = model_of(2.0, warmup=2), model_of(0.0)
        logs, expected = fit(model, 3, callbacks=[weights]), fit(plain, 3)
        assert weights.seen == [0.0, 0.0, 2.0]
        for name in ("loss", "satisfaction", "not_a_and_b"):
            assert_close(logs[name][:2], expected[name][:2])
        assert logs["loss"][2] > expected["loss"][2]

    def test_of_a_training_that_ends_in_it_leaves_the_weight_as_it_was(self) -> None:
        model = model_of(2.0, warmup=5)
        fit(model)
        assert model.weight == float(model._weight) == 2.0

    def test_goes_with_balance(self) -> None:
        model, plain = (model_of(weight, keras.optimizers.SGD(0.5), warmup=1) for weight in ("balanced", 0.0))
        fit(model)
        fit(plain)
        assert_same_weights(model.model, plain.model, atol=1e-6)  # steps of rounded gradients
        assert model.weight == 0.0
        fit(model, 12, initial_epoch=1)
        assert model.weight > 0.0

    @pytest.mark.parametrize("warmup", [-1, 1.5, True, "2"])
    def test_is_a_number_of_epochs(self, warmup: Any) -> None:
        with pytest.raises(ltn.LogicValueError, match="`warmup` must be a number of epochs"):
            model_of(warmup=warmup)


class TestBalance:
    def shares(self, *steps: tuple[list[float], list[float]]) -> tuple[float, float]:
        """The shares of the last of some steps with given gradients."""
        balance = Balance()
        for task, axioms in steps:
            found = balance.weigh([tf.constant(task)], [tf.constant(axioms)], 1.0)
        return float(found.task), float(found.axioms)

    # The gradient of the task falls from 4 to 0, that of the axioms is five times as large or smaller.
    LEARNED = [([4.0, 0.0], [0.0, 5.0])] * 10 + [([0.0, 0.0], [0.0, 5.0])] * 30

    def test_keeps_both_gradients_in_proportion(self) -> None:
        # The gradient of the task is what it was: nothing is learned, and the axioms are not trusted.
        assert self.shares(([2.0, 0.0], [0.0, 5.0])) == (1.0, 0.0)
        _, weight = self.shares(*self.LEARNED)
        trust = 1.0 - 4.0 * 0.9**30
        assert_close(weight, trust * 4.0 / 5.0, rtol=1e-4)
        # However large the gradient of the axioms becomes, the step is bounded.
        _, less = self.shares(*self.LEARNED, ([0.0, 0.0], [0.0, 5e6]))
        assert 0.0 < less * 5e6 < 4.0

    def test_axioms_that_hold_count_no_more(self) -> None:
        # Nor less: the gradient of the task was small for a hundred steps too.
        _, weight = self.shares(*self.LEARNED, *[([0.0, 0.0], [0.0, 1e-3])] * 100)
        assert_close(weight, 4.0 / 5.0, rtol=1e-3)

    def test_a_small_gradient_of_the_axioms_is_not_blown_up(self) -> None:
        _, weight = self.shares(*((task, [0.0, 1e-3 * axioms[1]]) for task, axioms in self.LEARNED))
        assert 0.6 < weight <= 1.0

    def test_takes_out_what_goes_against_the_task(self) -> None:
        balance = Balance()
        # The task is learned, so that the axioms are trusted.
        for size in (4.0,) * 10 + (1.0,) * 20:
            task, axioms = [tf.constant([size, 0.0])], [tf.constant([-3.0, 4.0])]
            shares = balance.weigh(task, axioms)
        [joined] = add(task, axioms, shares)
        assert float(shares.axioms) > 0.0
        assert_close(joined.numpy(), [1.0, 4.0 * float(shares.axioms)])

    def test_a_step_that_overflows_leaves_no_trace(self) -> None:
        steps = [([4.0, 0.0], [0.0, 5.0])] * 10 + [([1.0, 0.0], [0.0, 5.0])] * 10
        found = self.shares(*steps)[1]
        assert self.shares(*steps, ([1.0, np.inf], [0.0, np.nan]))[1] == found > 0.0

    def test_learns_from_the_axioms_without_losing_the_task(self) -> None:
        models = {weight: model_of(weight, keras.optimizers.Adam(0.05)) for weight in (0.0, "balanced")}
        logs = {weight: fit(model, 20) for weight, model in models.items()}
        model = models["balanced"]
        assert logs["balanced"]["satisfaction"][-1] > logs[0.0]["satisfaction"][-1] + 0.02
        found = model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)
        of_task = found["loss"] - model.weight * (1.0 - found["satisfaction"])
        assert of_task < logs[0.0]["loss"][-1] + 0.1

    def test_a_weight_cannot_be_set(self) -> None:
        with pytest.raises(ltn.LogicValueError, match="axioms are balanced"):
            model_of("balanced").weight = 1.0

    def test_xla_gives_the_same(self) -> None:
        plain, xla = (
            model_of("balanced", keras.optimizers.SGD(0.5), {"jit_compile": jit}) for jit in (False, True)
        )
        logs = [fit(model, 12) for model in (plain, xla)]
        assert plain.weight > 0.0
        for name, values in logs[0].items():
            assert_close(values, logs[1][name], rtol=1e-5)
        assert_same_weights(plain, xla, atol=1e-5)  # steps of rounded gradients

    def test_clipping_and_accumulation_are_left_to_the_optimizer(self) -> None:
        model = model_of("balanced", keras.optimizers.SGD(1.0, clipnorm=1e-3, gradient_accumulation_steps=2))
        before = weights_of(model.model)
        model.fit(POINTS, CLASSES, **OPTIONS | {"batch_size": 24})
        assert_close(weights_of(model.model)[0], before[0])
        fit(model)
        moved = [np.linalg.norm(new - old) for new, old in zip(weights_of(model.model), before, strict=True)]
        assert 0.0 < max(moved) < 2.1e-3

    def test_goes_on_from_a_file(self, tmp_path: Path) -> None:
        model = model_of("balanced", keras.optimizers.Adam(0.05))
        fit(model, 12)
        model.save(tmp_path / "model.keras")
        loaded: Any = keras.models.load_model(tmp_path / "model.keras")
        assert loaded.weight == model.weight > 0.0
        assert loaded.evaluate(POINTS, CLASSES, verbose=0) == model.evaluate(POINTS, CLASSES, verbose=0)
        assert fit(model, 2) == fit(loaded, 2)


class TestUnlabelled:
    MORE = np.random.default_rng(1).normal(size=(50, 2)).astype(np.float32)

    def test_rows_count_for_the_axioms_and_not_for_the_task(self) -> None:
        model = model_of(0.5, keras.optimizers.SGD(0.0), {"metrics": ["accuracy"]})
        logs = fit(model, unlabelled=self.MORE, batch_size=24)
        expected = model.evaluate(POINTS, CLASSES, batch_size=24, verbose=0, return_dict=True)
        assert_close(logs["accuracy"], [expected["accuracy"]])
        satisfied = float(model.theory({"x": np.concatenate([POINTS, self.MORE])})["satisfaction"][0])
        assert_close(logs["satisfaction"], [satisfied])
        assert_close(logs["loss"], [expected["loss"] + 0.5 * (expected["satisfaction"] - satisfied)])

    def test_rows_are_spread_over_the_batches_of_an_epoch(self) -> None:
        sizes = []
        for x, y in ltn.training.mixture.mix(POINTS, CLASSES, None, self.MORE, 12, shuffle=True):
            sizes.append((len(x.labelled), len(x.unlabelled), len(y)))
        assert sizes == [(12, 25, 12)] * 2

    def test_data_sets_and_sample_weights(self) -> None:
        weights = np.linspace(0.0, 1.0, 24).astype(np.float32)
        arrays, sets = model_of(0.5), model_of(0.5)
        one = fit(arrays, 2, sample_weight=weights, unlabelled=self.MORE)
        labelled = tf.data.Dataset.from_tensor_slices((POINTS, CLASSES, weights)).batch(12)
        unlabelled = tf.data.Dataset.from_tensor_slices(self.MORE).batch(25)
        two = logs_of(sets.fit(labelled, epochs=2, verbose=0, unlabelled=unlabelled))
        assert one.keys() == two.keys()
        assert_same_weights(arrays, sets)

    def test_a_dictionary_grounds_other_variables(self) -> None:
        model = model_of(0.5, keras.optimizers.SGD(0.0))
        theory = model.theory
        theory.variable("u", theory.signature.domains["points"])
        theory.axiom("forall u: P(u, a)", name="of_u")
        logs = fit(model, unlabelled={"u": self.MORE}, batch_size=24)
        assert_close(logs["of_u"], [float(theory({"x": POINTS, "u": self.MORE})["of_u"][0])])

    def test_mistakes_have_their_messages(self) -> None:
        model = model_of()
        with pytest.raises(ltn.LogicValueError, match="`validation_data`, not `validation_split`"):
            fit(model, unlabelled=self.MORE, validation_split=0.5)
        with pytest.raises(ltn.LogicTypeError, match="`unlabelled` must be one too"):
            model.fit(tf.data.Dataset.from_tensors((POINTS, CLASSES)), unlabelled=self.MORE, verbose=0)
        classifier = network()
        theory = knowledge(classifier)
        theory.variable("l", theory.signature.domains["classes"])
        theory.axiom("forall diag(x, l): P(x, l)", name="supervision")
        paired: Any = ltn.with_knowledge(classifier, theory, targets="l", inputs="x")
        paired.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        with pytest.raises(ltn.LogicValueError, match=r"unlabelled rows have no targets.*unlabelled=\{'u'"):
            fit(paired, unlabelled=self.MORE)


def test_starts_are_for_theories() -> None:
    with pytest.raises(ltn.LogicTypeError, match="`starts` is for theories"):
        fit(model_of(), starts=5)


class TestLogs:
    def test_an_axiom_with_the_name_of_a_metric_is_refused(self) -> None:
        model = model_of(compiled={"metrics": ["accuracy"]})
        model.theory.axiom("exists x: P(x, a)", name="accuracy")
        with pytest.raises(ltn.LogicValueError, match="'accuracy' is the name of an axiom and of a metric"):
            fit(model)

    def test_an_axiom_that_is_added_is_logged(self) -> None:
        model = model_of()
        fit(model)
        model.theory.axiom("exists x: P(x, a)", name="some")
        assert set(fit(model)) == {"loss", "satisfaction", "not_a_and_b", "not_b_and_c", "some"}
        assert model.metrics_names == ["loss", "satisfaction", "not_a_and_b", "not_b_and_c", "some"]


class TestCollapse:
    def trained(self, weight: float, several: bool = False, **settings: Any) -> list[str]:
        """The warnings of a training whose axioms hold where all points are of the first class."""
        keras.utils.set_random_seed(0)
        classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        theory = about(classifier)
        theory.axiom("forall x: P(x, a) & ~P(x, b) & ~P(x, c)", name="first")
        model: Any = ltn.with_knowledge(classifier, theory, weight, **settings)
        losses = keras.losses.SparseCategoricalCrossentropy, keras.losses.BinaryCrossentropy
        model.compile(keras.optimizers.Adam(0.3), losses[several](from_logits=True))
        targets = np.eye(3, dtype=np.float32)[CLASSES] if several else CLASSES
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(POINTS, targets, epochs=12, batch_size=24, verbose=0)
        return [str(warning.message) for warning in caught if "predicted the same" in str(warning.message)]

    @pytest.mark.parametrize("several", [False, True], ids=["one class", "several labels"])
    def test_is_told_with_what_to_do(self, several: bool) -> None:
        found = self.trained(1000.0, several)
        assert "`warmup=`" in found[-1]
        assert '`weight="balanced"`' in found[-1]
        assert self.trained(0.0, several) == self.trained(0.01, several) == []
