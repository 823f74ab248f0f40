"""Training: steps of gradient descent on the axioms, their logs, their regularization, their traces."""

import copy
import math
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import (
    Array,
    Before,
    Table,
    assert_same_weights,
    classifier,
    degrees,
    labelled_points,
    one_weight,
    rows,
    slim,
    smokers,
    traced,
    trained_like,
    truth,
    weights_of,
)
from tests.theory.trained import DATA, OTHERS, POINTS, STEP_ATOL, compiled
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


@pytest.fixture(scope="module")
def fitted() -> tuple[ltn.Theory, Any]:
    """A theory after twelve epochs, and its history."""
    keras.utils.set_random_seed(0)
    theory = compiled(classifier(), keras.optimizers.Adam(0.1))
    return theory, theory.fit(DATA, batch_size=4, epochs=12, validation_data=OTHERS, verbose=0).history


class TestLogs:
    def test_they_hold_the_loss_the_satisfaction_and_each_axiom(self, fitted: tuple[ltn.Theory, Any]) -> None:
        names = ["loss", "satisfaction", "positive", "negative"]
        assert set(fitted[1]) == {*names, *(f"val_{name}" for name in names)}
        assert all(len(values) == 12 for values in fitted[1].values())

    def test_the_loss_is_one_minus_the_satisfaction(self, fitted: tuple[ltn.Theory, Any]) -> None:
        history = fitted[1]
        for prefix in ("", "val_"):
            # Both are rounded means over batches.
            assert_close(history[f"{prefix}loss"], 1.0 - np.array(history[f"{prefix}satisfaction"]))

    def test_training_raises_the_satisfaction(self, fitted: tuple[ltn.Theory, Any]) -> None:
        history = fitted[1]
        assert history["satisfaction"][-1] > history["satisfaction"][0] + 0.05
        assert history["val_satisfaction"][-1] > history["val_satisfaction"][0]

    def test_batches_count_by_their_size(self, fitted: tuple[ltn.Theory, Any]) -> None:
        theory = fitted[0]
        found = theory.evaluate(DATA, batch_size=4, verbose=0, return_dict=True)
        batches = [rows(DATA, 0, 4), rows(DATA, 4, 8), rows(DATA, 8, 10)]
        for name, index in (("positive", 0), ("negative", 1)):
            values = [theory.report(batch).satisfaction[index] for batch in batches]
            assert_close(found[name], np.average(values, weights=[4, 4, 2]))

    def test_a_list_of_logs_follows_the_names_of_the_metrics(self, fitted: tuple[ltn.Theory, Any]) -> None:
        theory = fitted[0]
        by_name = theory.evaluate(DATA, verbose=0, return_dict=True)
        as_list = theory.evaluate(DATA, verbose=0)
        assert as_list[0] == by_name["loss"]
        assert sorted(as_list) == sorted(by_name.values())

    def test_the_progress_bar_shows_the_worst_of_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        history = compiled(classifier()).fit(DATA, verbose=2).history
        shown = capsys.readouterr().out
        assert all(f"{name}: {history[name][0]:.4f}" in shown for name in ("loss", "satisfaction"))
        worst = min(("positive", "negative"), key=lambda name: float(history[name][0]))
        assert f"worst: {history[worst][0]:.4f} ({worst})" in shown

    def test_log_product_minimises_the_negative_logarithm(self) -> None:
        theory = compiled(classifier("log_product"))
        logs = theory.evaluate(DATA, verbose=0, return_dict=True)
        assert_close(logs["loss"], -math.log(logs["satisfaction"]))
        # The aggregator of formulas is the mean of the logarithms.
        assert_close(logs["satisfaction"], math.sqrt(logs["positive"] * logs["negative"]))


def core_loss(theory: ltn.Theory, data: Table) -> tf.Tensor:
    """The loss of `classifier`, written with `core` by hand."""
    Not, _, _, _, _, Forall, _, SatAgg = ltn.semantics.stable_product.wrap()
    A: Any = theory.symbols["A"]
    x1 = ltn.Variable("x1", data["x"][data["l"] == 1.0])
    x0 = ltn.Variable("x0", data["x"][data["l"] == 0.0])
    return 1.0 - SatAgg([Forall(x1, A(x1)), Forall(x0, Not(A(x0)))]).tensor


def core_gradients(theory: ltn.Theory, data: Table) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        loss = core_loss(theory, data)
    return [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, theory.trainable_variables)]


@pytest.fixture(scope="module")
def plain() -> tuple[list[Array], ltn.Theory, Any]:
    """The first weights of a theory, the theory after two epochs, and its history."""
    keras.utils.set_random_seed(0)
    theory = compiled(classifier(), keras.optimizers.Adam(0.05))
    before = weights_of(theory)
    history = theory.fit(DATA, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return before, theory, history


class TestSteps:
    def test_a_step_is_one_of_gradient_descent_on_one_minus_the_satisfaction(self) -> None:
        theory = compiled(classifier())
        expected = [
            weight - 0.5 * gradient.numpy()
            for weight, gradient in zip(weights_of(theory), core_gradients(theory, DATA), strict=True)
        ]
        theory.fit(DATA, batch_size=10, epochs=1, verbose=0)
        for weight, wanted in zip(theory.get_weights(), expected, strict=True):
            assert_close(weight, wanted, atol=STEP_ATOL)

    @pytest.mark.parametrize("clipping", [{"clipnorm": 0.01}, {"global_clipnorm": 0.01}, {"clipvalue": 1e-3}])
    def test_gradients_are_clipped_as_the_optimizer_says(self, clipping: dict[str, float]) -> None:
        theory = compiled(classifier(), keras.optimizers.SGD(1.0, **clipping))
        gradients = core_gradients(theory, DATA)
        before = weights_of(theory)
        if "clipnorm" in clipping:
            clipped = [tf.clip_by_norm(gradient, 0.01) for gradient in gradients]
        elif "global_clipnorm" in clipping:
            clipped, _ = tf.clip_by_global_norm(gradients, 0.01)
        else:
            clipped = [tf.clip_by_value(gradient, -1e-3, 1e-3) for gradient in gradients]
        # The bound is felt.
        assert (
            max(float(tf.reduce_max(tf.abs(a - b))) for a, b in zip(clipped, gradients, strict=True)) > 1e-3
        )
        theory.fit(DATA, batch_size=10, epochs=1, verbose=0)
        for old, new, gradient in zip(before, theory.get_weights(), clipped, strict=True):
            assert_close(old - new, gradient, atol=STEP_ATOL)

    @pytest.mark.parametrize(
        "settings",
        [
            {"jit_compile": True},
            {"run_eagerly": True},
            {"steps_per_execution": 2},
        ],
        ids=str,
    )
    def test_ways_to_compile_them_give_the_same_numbers(
        self, plain: tuple[list[Array], ltn.Theory, Any], settings: dict[str, Any]
    ) -> None:
        before, theory, history = plain
        other = compiled(classifier(), keras.optimizers.Adam(0.05), **settings)
        other.set_weights(before)
        found = other.fit(DATA, batch_size=4, epochs=2, shuffle=False, verbose=0).history
        # Adam divides by the size of a gradient: six steps of 0.05 amplify rounding in small ones.
        assert_same_weights(other, theory, atol=2e-5)
        for name, values in history.items():
            assert_close(found[name], values, rtol=1e-5, atol=1e-5)
        assert int(other.optimizer.iterations) == 6

    def test_xla_computes_the_same_in_log_space_and_evaluates(self) -> None:
        one, two = compiled(slim("log_product")), compiled(slim("log_product"), jit_compile=True)
        trained_like(two, one)
        assert_close(two.evaluate(POINTS, verbose=0), one.evaluate(POINTS, verbose=0))
        for theory in (one, two):
            theory.fit(POINTS, verbose=0)
        assert_same_weights(two, one, atol=STEP_ATOL)

    def test_mixed_precision_scales_the_loss(self) -> None:
        keras.config.set_dtype_policy("mixed_float16")
        try:
            theory = compiled(slim(), keras.optimizers.Adam(0.05))
            history = theory.fit(POINTS, epochs=8, verbose=0).history
        finally:
            keras.config.set_dtype_policy("float32")
        assert "LossScale" in type(theory.optimizer).__name__
        assert history["satisfaction"][-1] > history["satisfaction"][0]

    def test_gradients_accumulate_over_steps(self) -> None:
        theory = compiled(one_weight(), keras.optimizers.SGD(0.1, gradient_accumulation_steps=2))
        values = theory.fit(epochs=5, verbose=0).history["so"]
        assert values[0] == values[1] < values[2] == values[3] < values[4]

    def test_train_on_batch_and_test_on_batch(self) -> None:
        theory = compiled(slim())
        expected = theory.evaluate(POINTS, verbose=0, return_dict=True)
        assert theory.test_on_batch(POINTS, return_dict=True)["loss"] == pytest.approx(expected["loss"])
        logs = theory.train_on_batch(POINTS, return_dict=True)
        assert logs["loss"] == pytest.approx(expected["loss"])
        assert int(theory.optimizer.iterations) == 1


class TestTraining:
    """What networks do differently while they learn."""

    def test_dropout_is_at_work_in_training_only(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        network = keras.Sequential(
            [keras.Input((2,)), keras.layers.Dropout(0.5), keras.layers.Dense(1, activation="sigmoid")]
        )
        theory.predicate("P", points, network)
        theory.axiom("forall x: P(x)", name="all")
        compiled(theory, keras.optimizers.SGD(0.0))
        data = {"x": DATA["x"]}
        trained = {theory.fit(data, verbose=0).history["all"][0] for _ in range(3)}
        still = {theory.evaluate(data, verbose=0, return_dict=True)["all"] for _ in range(3)}
        assert len(trained) == 3
        assert len(still) == 1
        assert_close(theory.report(data).satisfaction[0], still.pop())

    def test_batch_normalisation_learns_its_statistics(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        normalisation = keras.layers.BatchNormalization(momentum=0.0)
        theory.predicate(
            "P",
            points,
            keras.Sequential([keras.Input((2,)), normalisation, keras.layers.Dense(1, activation="sigmoid")]),
        )
        theory.axiom("forall x: P(x)", name="all")
        compiled(theory).fit({"x": DATA["x"]}, batch_size=10, verbose=0)
        assert_close(normalisation.moving_mean, DATA["x"].mean(axis=0))
        before = np.array(normalisation.moving_mean)
        theory.evaluate({"x": 1.0 + DATA["x"]}, verbose=0)
        np.testing.assert_array_equal(normalisation.moving_mean, before)

    def test_a_frozen_network_stays(self) -> None:
        theory = classifier()
        theory.symbols["A"].trainable = False
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w", name="so")
        compiled(theory)
        network = copy.deepcopy(theory.symbols["A"].network.get_weights())
        history = theory.fit(DATA, epochs=2, verbose=0).history
        assert history["so"][1] > history["so"][0]
        for before, after in zip(network, theory.symbols["A"].network.get_weights(), strict=True):
            np.testing.assert_array_equal(before, after)

    def test_a_network_of_unknown_shapes_is_built_by_the_first_batch(self) -> None:
        theory = ltn.Theory()
        texts = theory.domain("texts", shape=(None, 2))
        theory.variable("x", texts)
        theory.predicate(
            "P",
            texts,
            keras.Sequential(
                [keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, activation="sigmoid")]
            ),
        )
        theory.axiom("forall x: P(x)", name="all")
        compiled(theory)
        data = {"x": np.random.default_rng(0).uniform(size=(6, 3, 2))}
        history = theory.fit(data, epochs=3, verbose=0).history
        assert history["all"][-1] > history["all"][0]


class TestRegularization:
    """The paper's lambda R: the loss is 1 - SatAgg + lambda R, in training and in evaluation."""

    def added(self, theory: ltn.Theory, data: Any = None) -> float:
        """What is added to 1 - satisfaction."""
        compiled(theory, keras.optimizers.SGD(0.0))
        logs = theory.evaluate(data, verbose=0, return_dict=True)
        return logs["loss"] - (1.0 - logs["satisfaction"])

    def test_in_training_as_in_evaluation(self) -> None:
        theory = one_weight(0.5, regularizer=keras.regularizers.L1(0.1))
        assert_close(self.added(theory), 0.05)
        logs = theory.fit(verbose=0).history
        assert_close(logs["loss"][0] - (1.0 - logs["satisfaction"][0]), 0.05)

    def test_of_layers(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        dense = keras.layers.Dense(1, activation="sigmoid", kernel_regularizer=keras.regularizers.L2(0.1))
        theory.predicate("P", points, keras.Sequential([keras.Input((2,)), dense]))
        theory.axiom("forall x: P(x)")
        theory.axiom("exists x: ~P(x)")
        expected = 0.1 * float(np.sum(np.square(np.array(dense.kernel))))
        assert_close(self.added(theory, POINTS), expected)

    def test_of_constants(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        theory.constants("a, b", people, regularizer=keras.regularizers.L1(0.2))
        theory.variable("x", people)
        theory.predicate("P", people, lambda x: tf.sigmoid(x[:, 0]))
        theory.axiom("forall x: P(x)")
        expected = 0.2 * float(np.sum(np.abs(theory.individuals[0].tensor.numpy())))
        assert_close(self.added(theory), expected)

    def test_of_the_theory(self) -> None:
        theory = smokers(regularizer="l2")
        learned = [np.array(weight) for weight in theory.trainable_weights]
        expected = 0.01 * sum(float(np.sum(np.square(weight))) for weight in learned)
        assert_close(self.added(theory), expected)

    def test_it_draws_weights_to_zero(self) -> None:
        theory = one_weight(0.5, regularizer=keras.regularizers.L1(10.0))
        compiled(theory, keras.optimizers.SGD(0.01)).fit(epochs=3, verbose=0)
        assert truth(theory, "w") < 0.5

    def test_of_activities(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        dense = keras.layers.Dense(
            1, activation="sigmoid", activity_regularizer=keras.regularizers.L1(0.5), name="out"
        )
        network = keras.Sequential([keras.Input((2,)), dense])
        theory.predicate("P", points, network)
        theory.axiom("forall x: P(x)")
        network(DATA["x"])
        # What Keras makes of it: some versions divide by the number of rows, others do not.
        [expected] = [float(loss) for loss in network.losses]
        assert expected > 0.0
        assert_close(self.added(theory, POINTS), expected)


class TestTracing:
    def test_once_over_epochs_smaller_batches_and_schedules(self) -> None:
        kind, traces = traced()
        theory = classifier(kind=kind)
        rate = keras.optimizers.schedules.ExponentialDecay(0.05, 1, 0.9)
        theory.compile(keras.optimizers.Adam(rate))
        schedules = [
            ltn.callbacks.Schedule("p_forall", {0: 1, 1: 2, 2: 6}),
            ltn.callbacks.Schedule("p_satagg", lambda epoch: 1 + epoch),
        ]
        theory.fit(DATA, batch_size=4, epochs=4, validation_data=OTHERS, callbacks=schedules, verbose=0)
        assert sorted(traces) == ["test", "train"]
        theory.fit(labelled_points(9, seed=2), batch_size=5, epochs=2, callbacks=schedules, verbose=0)
        assert sorted(traces) == ["test", "train"]

    def test_once_for_axioms_without_data(self) -> None:
        calls: list[int] = []

        def network(x: tf.Tensor) -> tf.Tensor:
            calls.append(1)
            return x

        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        theory.constants("a, b", numbers)
        theory.variable("x", numbers)
        theory.predicate("I", numbers, network)
        theory.axiom("forall x: I(x)")
        compiled(theory, keras.optimizers.SGD(0.01))
        theory.fit(epochs=5, verbose=0)
        theory.fit(epochs=5, verbose=0)
        # Once eagerly, to look at the first values; once to compile the step.
        assert len(calls) == 2

    def test_a_learning_rate_set_by_a_callback_traces_nothing(self) -> None:
        kind, traces = traced()
        theory = compiled(slim(kind=kind))
        rates = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.5 / (1 + epoch))
        theory.fit(POINTS, epochs=3, callbacks=[rates], verbose=0)
        assert traces == ["train"]
        assert float(theory.optimizer.learning_rate) == pytest.approx(0.5 / 3)

    def test_changing_a_hyperparameter_between_fits_traces_once_more_and_then_never(self) -> None:
        kind, traces = traced()
        theory = compiled(slim(kind=kind))
        theory.fit(POINTS, verbose=0)
        for p in (3, 4, 5):
            theory.set_hyperparameters(p_forall=p)
            theory.fit(POINTS, verbose=0)
        assert traces == ["train"] * 2

    def test_a_hyperparameter_may_change_within_a_users_own_callback(self) -> None:
        theory = compiled(degrees([0.2, 0.6]), keras.optimizers.SGD(0.0))
        theory.proposition("w", 1.0, trainable=True)
        theory.axiom("w & exists x: I(x)", name="some")
        change = Before(lambda epoch: theory.set_hyperparameters(p_exists=1 + 5 * epoch))
        values = theory.fit(epochs=2, callbacks=[change], verbose=0).history["some"]
        # The stable operators move truths by up to 1e-4.
        assert_close(values, [0.4, (0.5 * (0.2**6 + 0.6**6)) ** (1 / 6)], atol=3e-4)
