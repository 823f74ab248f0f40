"""Training: a theory is compiled, fitted, evaluated and watched as any Keras model is."""

import copy
import glob
import importlib.util
import math
from collections.abc import Callable, Iterator
from pathlib import Path
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
    pmean_error,
    rows,
    slim,
    smokers,
    traced,
    trained_like,
    truth,
    weights_of,
)
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = labelled_points(10)
OTHERS = labelled_points(7, seed=1)
POINTS = {"x": DATA["x"]}
EPS = 1e-4  # of the stable operators


def compiled(theory: ltn.Theory, optimizer: Any = None, **settings: Any) -> ltn.Theory:
    theory.compile(optimizer or keras.optimizers.SGD(0.5), **settings)
    return theory


def stable_satagg(truths: Any, p: float = 2.0) -> float:
    """The paper's aggregator of formulas, which moves truths away from 1 first."""
    return pmean_error((1.0 - EPS) * np.asarray(truths, np.float64), p)


class Batches(keras.utils.PyDataset):
    """Batches of four, in order."""

    def __init__(self, data: Table):
        super().__init__()
        self.data = data

    def __len__(self) -> int:
        return math.ceil(len(self.data["x"]) / 4)

    def __getitem__(self, index: int) -> Table:
        return rows(self.data, 4 * index, 4 * index + 4)


def tf_data(data: Table) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data).batch(4)


def generated(data: Table) -> Iterator[Table]:
    """Endless batches: Keras is told how many make an epoch."""
    while True:
        for index in range(len(Batches(data))):
            yield Batches(data)[index]


SOURCES: dict[str, Callable[[Table], Any]] = {
    "tf.data": tf_data,
    "PyDataset": Batches,
    "generator": generated,
    "generator of tuples": lambda data: ((batch,) for batch in generated(data)),
}


@pytest.fixture(scope="module")
def from_arrays() -> ltn.Theory:
    """A theory after an epoch of three batches; `before` are its first weights."""
    keras.utils.set_random_seed(0)
    theory = compiled(slim())
    theory.before = weights_of(theory)
    theory.fit(POINTS, batch_size=4, shuffle=False, epochs=1, verbose=0)
    return theory


class TestSourcesOfData:
    @pytest.mark.parametrize("name", SOURCES)
    def test_all_of_them_train_and_evaluate_as_arrays_do(self, from_arrays: ltn.Theory, name: str) -> None:
        theory = compiled(slim())
        theory.set_weights(from_arrays.before)
        theory.fit(SOURCES[name](POINTS), shuffle=False, epochs=1, steps_per_epoch=3, verbose=0)
        assert_same_weights(theory, from_arrays)
        arrays = from_arrays.evaluate(POINTS, batch_size=4, verbose=0, return_dict=True)
        assert theory.evaluate(SOURCES[name](POINTS), steps=3, verbose=0, return_dict=True) == arrays

    @pytest.mark.parametrize("name", ["arrays", "tf.data", "generator"])
    def test_prediction_has_one_entry_per_batch(self, from_arrays: ltn.Theory, name: str) -> None:
        if name == "arrays":
            predicted = from_arrays.predict(POINTS, batch_size=4, verbose=0)
        else:
            predicted = from_arrays.predict(SOURCES[name](POINTS), steps=3, verbose=0)
        assert list(predicted) == ["satisfaction", "all"]
        batches = [rows(POINTS, start, start + 4) for start in (0, 4, 8)]
        assert_close(predicted["all"], [from_arrays.report(batch).satisfaction[0] for batch in batches])

    def test_prediction_needs_no_compilation(self) -> None:
        theory = slim()
        assert_close(theory.predict(POINTS, verbose=0)["all"], [theory.report(POINTS).satisfaction[0]])

    def test_positional_arguments_are_those_of_keras(self) -> None:
        theory = compiled(slim())
        history = theory.fit(POINTS, None, 4, 2, 0)
        assert history.epoch == [0, 1]

    def test_integers_lists_tensors_and_float64_are_data_too(self) -> None:
        theory = compiled(classifier())
        wide = {"x": DATA["x"].astype(np.float64), "l": DATA["l"].astype(np.int64)}
        plain = {"x": DATA["x"].tolist(), "l": DATA["l"].astype(bool).tolist()}
        tensors = {name: tf.constant(values) for name, values in DATA.items()}
        expected = theory.evaluate(DATA, verbose=0)
        for data in (wide, plain, tensors):
            assert theory.evaluate(data, verbose=0) == expected

    def test_numbers_may_come_flat_once_and_as_a_column_later(self) -> None:
        theory = compiled(classifier())
        flat = theory.evaluate(DATA, verbose=0)
        assert theory.evaluate(DATA | {"l": DATA["l"][:, np.newaxis]}, verbose=0) == flat
        assert theory.evaluate(DATA, verbose=0) == flat


class TestWithoutData:
    def test_an_epoch_is_one_step_or_as_many_as_are_asked_for(self) -> None:
        theory = compiled(one_weight())
        history = theory.fit(epochs=3, verbose=0)
        assert int(theory.optimizer.iterations) == 3
        assert history.epoch == [0, 1, 2]
        theory.fit(epochs=2, steps_per_epoch=5, verbose=0)
        assert int(theory.optimizer.iterations) == 13

    def test_evaluation_and_prediction_agree_with_the_report(self) -> None:
        theory = compiled(smokers())
        report = theory.report().set_index("axiom").satisfaction
        evaluated = theory.evaluate(verbose=0, return_dict=True)
        predicted = theory.predict(verbose=0)
        for name, value in report.items():
            assert_close(evaluated[name], value)
            assert_close(predicted[name], [value])

    def test_a_variable_may_have_any_name(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", values=[0.25, 0.75])
        theory.variable("nothing", numbers)
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("forall nothing: I(nothing)", name="all")
        theory.compile()
        assert_close(theory.evaluate(verbose=0, return_dict=True)["all"], theory.report().satisfaction[0])

    def test_a_theory_without_weights_warns_as_keras_does_and_stays_as_it_is(self) -> None:
        theory = compiled(degrees([0.25, 0.75]))
        theory.axiom("forall x: I(x)", name="all")
        with pytest.warns(UserWarning, match="nothing is learned"):
            history = theory.fit(epochs=2, verbose=0).history
        assert history["all"][0] == history["all"][1] > 0.0


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

    def test_the_progress_bar_shows_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        compiled(classifier()).fit(DATA, verbose=2)
        shown = capsys.readouterr().out
        assert all(name in shown for name in ("loss: ", "satisfaction: ", "positive: ", "negative: "))

    def test_log_product_minimises_the_negative_logarithm(self) -> None:
        theory = compiled(classifier("log_product"))
        logs = theory.evaluate(DATA, verbose=0, return_dict=True)
        assert_close(logs["loss"], -math.log(logs["satisfaction"]))
        # The aggregator of formulas is the mean of the logarithms.
        assert_close(logs["satisfaction"], math.sqrt(logs["positive"] * logs["negative"]))


class TestValidation:
    def test_a_dataset_is_evaluated_after_each_epoch_and_teaches_nothing(self) -> None:
        one, two = compiled(slim()), compiled(slim())
        trained_like(two, one)
        one.fit(POINTS, epochs=2, shuffle=False, verbose=0)
        unseen = tf_data({"x": OTHERS["x"]})
        history = two.fit(POINTS, epochs=2, shuffle=False, validation_data=unseen, verbose=0).history
        assert_same_weights(one, two)
        evaluated = two.evaluate(unseen, verbose=0, return_dict=True)
        assert {name: history[f"val_{name}"][-1] for name in evaluated} == evaluated

    def test_a_split_takes_the_last_individuals(self) -> None:
        theory = compiled(slim(), keras.optimizers.SGD(0.0))
        history = theory.fit(POINTS, batch_size=4, epochs=1, validation_split=0.3, verbose=0).history
        expected = theory.evaluate(rows(POINTS, 7, 10), verbose=0, return_dict=True)
        assert_close(history["val_satisfaction"][0], expected["satisfaction"])

    def test_the_tuple_that_keras_users_write(self) -> None:
        theory = compiled(slim(), keras.optimizers.SGD(0.0))
        unseen = {"x": OTHERS["x"]}
        history = theory.fit(POINTS, validation_data=(unseen, None), verbose=0).history
        expected = theory.evaluate(unseen, verbose=0, return_dict=True)
        assert_close(history["val_satisfaction"][0], expected["satisfaction"])

    def test_a_theory_without_data_validates_without_data(self) -> None:
        """Axioms about learned individuals; validation asks for unseen ones."""
        theory = compiled(smokers())
        unseen = {"people": np.random.default_rng(1).uniform(size=(5, 3))}
        history = theory.fit(epochs=2, validation_data=unseen, verbose=0).history
        assert_close(history["val_everyone"][-1], theory.report(unseen).satisfaction[3])


class TestBatches:
    def seen(self, epochs: int, **settings: Any) -> list[list[Array]]:
        """The rows of the batches that a theory is trained on, epoch by epoch."""
        epochs_seen: list[list[Array]] = []

        class Recording(ltn.Theory):
            def train_step(self, data: Any) -> dict[str, tf.Tensor]:
                epochs_seen[-1].append(np.stack([data["x"].numpy()[:, 0], data["y"].numpy()[:, 0]], axis=1))
                return super().train_step(data)

        theory = Recording()
        numbers = theory.domain("numbers")
        theory.variables("x, y", numbers)
        theory.proposition("w", 0.5, trainable=True)
        theory.predicate("P", numbers, lambda x: x < 100.0)
        theory.axiom("w & forall x: P(x)")
        compiled(theory, run_eagerly=True)
        column = np.arange(10, dtype=np.float32)[:, np.newaxis]
        new_epoch = Before(lambda epoch: epochs_seen.append([]))
        theory.fit({"x": column, "y": -column}, epochs=epochs, callbacks=[new_epoch], verbose=0, **settings)
        return epochs_seen

    def test_each_epoch_sees_every_individual_once_in_an_order_of_its_own(self) -> None:
        epochs = self.seen(3, batch_size=4)
        orders = []
        for batches in epochs:
            assert [len(batch) for batch in batches] == [4, 4, 2]
            rows_seen = np.concatenate(batches)
            assert sorted(rows_seen[:, 0]) == list(range(10))
            np.testing.assert_array_equal(rows_seen[:, 1], -rows_seen[:, 0])  # aligned
            orders.append(tuple(rows_seen[:, 0]))
        assert len(set(orders)) == 3

    def test_without_shuffling_the_order_is_that_of_the_data(self) -> None:
        for batches in self.seen(2, batch_size=4, shuffle=False):
            np.testing.assert_array_equal(np.concatenate(batches)[:, 0], np.arange(10))

    def test_by_default_they_have_32_individuals(self) -> None:
        assert [len(batch) for batch in self.seen(1)[0]] == [10]
        theory = compiled(slim())
        theory.fit({"x": np.zeros((33, 2))}, verbose=0)
        assert int(theory.optimizer.iterations) == 2

    def test_a_seed_repeats_the_training(self) -> None:
        learned = []
        for _ in range(2):
            keras.utils.set_random_seed(3)
            theory = compiled(slim())
            theory.fit(POINTS, batch_size=4, epochs=2, verbose=0)
            learned.append(theory)
        assert_same_weights(*learned)

    def test_the_last_may_be_smaller(self) -> None:
        theory = compiled(slim())
        theory.fit(POINTS, batch_size=4, verbose=0)
        assert int(theory.optimizer.iterations) == 3

    def test_one_may_lack_a_class(self) -> None:
        """What is said of nobody is true, and teaches nothing."""
        only_zeros = {"x": DATA["x"], "l": np.zeros(10, np.float32)}
        theory = compiled(classifier())
        history = theory.fit(only_zeros, batch_size=10, epochs=3, verbose=0).history
        assert history["positive"] == [1.0] * 3
        assert history["negative"][-1] > history["negative"][0]
        assert all(np.isfinite(weight).all() for weight in theory.get_weights())

    def test_sorted_classes_train_to_finite_weights(self) -> None:
        order = np.argsort(DATA["l"], kind="stable")
        theory = compiled(classifier())
        history = theory.fit(
            {name: values[order] for name, values in DATA.items()}, batch_size=2, shuffle=False, verbose=0
        ).history
        assert np.isfinite(history["loss"]).all()
        assert all(np.isfinite(weight).all() for weight in theory.get_weights())

    def test_the_data_may_be_fewer_than_a_batch(self) -> None:
        theory = compiled(slim())
        for count in (3, 1):
            history = theory.fit(rows(POINTS, 0, count), batch_size=64, epochs=2, verbose=0).history
            assert history["satisfaction"][1] > history["satisfaction"][0]


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
    # Sums of ten gradients in another order, each with the relative error of some thirty operations.
    ATOL = 1e-6

    def test_a_step_is_one_of_gradient_descent_on_one_minus_the_satisfaction(self) -> None:
        theory = compiled(classifier())
        expected = [
            weight - 0.5 * gradient.numpy()
            for weight, gradient in zip(weights_of(theory), core_gradients(theory, DATA), strict=True)
        ]
        theory.fit(DATA, batch_size=10, epochs=1, verbose=0)
        for weight, wanted in zip(theory.get_weights(), expected, strict=True):
            assert_close(weight, wanted, atol=self.ATOL)

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
            assert_close(old - new, gradient, atol=self.ATOL)

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
        assert_same_weights(two, one, atol=self.ATOL)

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


class TestCallbacks:
    def test_early_stopping_on_the_satisfaction(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.5))
        stopping = keras.callbacks.EarlyStopping("satisfaction", mode="max", patience=2, min_delta=1e-3)
        history = theory.fit(epochs=50, callbacks=[stopping], verbose=0)
        # It is true after a step, and stays so.
        assert len(history.epoch) == 4

    def test_early_stopping_on_one_axiom_restores_the_best_weights(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.2))
        best = weights_of(theory)
        stopping = keras.callbacks.EarlyStopping("so", mode="min", patience=1, restore_best_weights=True)
        theory.fit(epochs=5, callbacks=[stopping], verbose=0)
        # After the first epoch the weight has had one step; Keras keeps what it was at the end of it.
        assert truth(theory, "w") == pytest.approx(float(best[0]) + 0.2, abs=1e-3)

    def test_terminate_on_nan(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.constants("a", numbers)
        theory.predicate("I", numbers, tf.sigmoid)
        theory.axiom("I(a)")
        compiled(theory, keras.optimizers.SGD(float("nan")))
        history = theory.fit(epochs=5, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0)
        # The first step is taken from a number, the second one from NaN.
        assert len(history.epoch) == 2

    @pytest.mark.parametrize(
        ("grounding", "message"),
        [(lambda x: x / 0.0, "'I'.*must lie in .*got nan"), (lambda x: x - 5.0, "'I'.*must lie in .*got -")],
    )
    def test_truths_that_are_none_are_found_before_the_first_step(self, grounding: Any, message: str) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        theory.variable("x", numbers)
        theory.predicate("I", numbers, grounding)
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("forall x: I(x) | w")
        compiled(theory)
        with pytest.raises(ltn.LogicValueError, match=message):
            theory.fit({"x": [0.0, 0.0]}, verbose=0)
        assert float(theory.query("w")) == 0.5

    def test_data_paired_with_all_individuals_of_a_domain_are_found_too(self) -> None:
        theory = ltn.Theory()
        points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["a", "b", "c"])
        theory.variable("x", points)
        theory.variable("l", classes)
        theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(keras.layers.Dense(3), "softmax"))
        theory.axiom("forall diag(x, l): P(x, l)")
        compiled(theory)
        with pytest.raises(ltn.LogicValueError, match=r"'x' with all individuals.*give data for 'l'"):
            theory.fit({"x": np.zeros((3, 2))}, verbose=0)

    def test_checkpoints_of_the_whole_model(self, tmp_path: Path) -> None:
        theory = compiled(slim(), keras.optimizers.Adam(0.05))
        path = str(tmp_path / "best.keras")
        checkpoint = keras.callbacks.ModelCheckpoint(
            path, monitor="val_satisfaction", mode="max", save_best_only=True
        )
        unseen = {"x": OTHERS["x"]}
        theory.fit(POINTS, epochs=3, validation_data=unseen, callbacks=[checkpoint], verbose=0)
        restored = ltn.load(path)
        found = restored.evaluate(unseen, verbose=0, return_dict=True)
        assert found["satisfaction"] == pytest.approx(checkpoint.best, abs=1e-6)

    def test_checkpoints_of_weights(self, tmp_path: Path) -> None:
        theory = compiled(one_weight())
        path = str(tmp_path / "{epoch}.weights.h5")
        checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        theory.fit(epochs=2, callbacks=[checkpoint], verbose=0)
        other = one_weight()
        other.load_weights(str(tmp_path / "2.weights.h5"))
        assert_same_weights(other, theory)
        other.load_weights(str(tmp_path / "1.weights.h5"))
        with pytest.raises(AssertionError):
            assert_same_weights(other, theory)

    def test_backup_and_restore_goes_on_where_training_broke_off(self, tmp_path: Path) -> None:
        def fail(epoch: int) -> None:
            if epoch == 2:
                raise KeyboardInterrupt

        broken, whole, again = (compiled(one_weight(), keras.optimizers.Adam(0.05)) for _ in range(3))
        whole.fit(epochs=4, verbose=0)
        backup = keras.callbacks.BackupAndRestore(str(tmp_path), delete_checkpoint=False)
        with pytest.raises(KeyboardInterrupt):
            broken.fit(epochs=4, callbacks=[backup, Before(fail)], verbose=0)
        backup = keras.callbacks.BackupAndRestore(str(tmp_path))
        history = again.fit(epochs=4, callbacks=[backup], verbose=0)
        assert history.epoch == [2, 3]
        assert_same_weights(again, whole)

    def test_the_learning_rate_is_reduced_on_a_plateau(self) -> None:
        theory = compiled(one_weight(1.0), keras.optimizers.SGD(0.5))
        plateau = keras.callbacks.ReduceLROnPlateau("satisfaction", mode="max", patience=1, factor=0.1)
        theory.fit(epochs=4, callbacks=[plateau], verbose=0)
        assert float(theory.optimizer.learning_rate) < 0.1

    def test_tensorboard_shows_a_curve_for_each_axiom(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_tensorboard(monkeypatch)
        theory = compiled(classifier())
        history = theory.fit(
            DATA,
            epochs=2,
            validation_data=OTHERS,
            callbacks=[keras.callbacks.TensorBoard(tmp_path)],
            verbose=0,
        ).history
        for folder, prefix in (("train", ""), ("validation", "val_")):
            curves = scalars(tmp_path / folder)
            for name in ("loss", "satisfaction", "positive", "negative"):
                assert_close([curves[f"epoch_{name}"][step] for step in (0, 1)], history[prefix + name])


def without_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow writes scalars by a function of the package `tensorboard`; stand in where it is missing."""
    if importlib.util.find_spec("tensorboard") is None:

        def scalar(name: str, data: Any, step: Any = None) -> Any:
            plugin = tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars")
            metadata = tf.compat.v1.SummaryMetadata(plugin_data=plugin)
            return tf.summary.write(name, tf.cast(data, tf.float32), step=step, metadata=metadata)

        monkeypatch.setattr(importlib.import_module("tensorflow.summary"), "scalar", scalar)


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """The curves in the event files of a folder, by name and step."""
    curves: dict[str, dict[int, float]] = {}
    for path in glob.glob(str(folder / "**" / "*tfevents*"), recursive=True):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "scalars":
                    number = float(tf.make_ndarray(value.tensor))
                    curves.setdefault(value.tag, {})[event.step] = number
    return curves


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


class TestWeights:
    def test_an_integer_weight_repeats_the_axiom(self) -> None:
        once, repeated = degrees([0.2, 0.6]), degrees([0.2, 0.6])
        once.axiom("forall x: I(x)", weight=3)
        once.axiom("exists x: I(x)")
        for name in ("one", "two", "three"):
            repeated.axiom("forall x: I(x)", name=name)
        repeated.axiom("exists x: I(x)")
        found = [
            compiled(theory).evaluate(verbose=0, return_dict=True)["satisfaction"]
            for theory in (once, repeated)
        ]
        assert_close(found[0], found[1])
        values = once.report().satisfaction
        assert_close(found[0], stable_satagg([values[0]] * 3 + [values[1]]))

    def test_the_gradient_too(self) -> None:
        once, repeated = ltn.Theory(), ltn.Theory()
        for theory in (once, repeated):
            theory.proposition("a", 0.3, trainable=True)
            theory.proposition("b", 0.4, trainable=True)
        once.axiom("a", weight=2)
        repeated.axiom("a", name="first")
        repeated.axiom("a", name="second")
        for theory in (once, repeated):
            theory.axiom("b", name="other")
            compiled(theory).fit(verbose=0)
        assert_same_weights(once, repeated, atol=1e-6)

    def test_a_weight_of_zero_leaves_an_axiom_out_but_reports_it(self) -> None:
        theory = compiled(degrees([0.2, 0.6]))
        theory.axiom("forall x: I(x)", name="counts")
        theory.axiom("forall x: ~I(x)", name="watched", weight=0.0)
        logs = theory.evaluate(verbose=0, return_dict=True)
        assert_close(logs["satisfaction"], stable_satagg([logs["counts"]]))
        assert logs["watched"] > 0.0

    def test_a_learned_one_is_p_w_and_the_formula(self) -> None:
        theory = compiled(degrees([0.2, 0.6]))
        theory.axiom("forall x: I(x)", name="doubtful", weight="learned")
        theory.axiom("exists x: I(x)", name="sure")
        logs = theory.evaluate(verbose=0, return_dict=True)
        p_w = 0.5
        stable_and = ((1.0 - EPS) * p_w + EPS) * ((1.0 - EPS) * logs["doubtful"] + EPS)
        assert_close(logs["satisfaction"], stable_satagg([stable_and, logs["sure"]]))
        # The log shows the formula, not p_w & formula.
        assert_close(logs["doubtful"], theory.report().satisfaction[0])

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_it_trains_and_is_reported(self, semantics: str) -> None:
        theory = degrees([0.2, 0.6], semantics)
        theory.axiom("forall x: I(x)", name="doubtful", weight="learned")
        assert list(theory.report().weight) == [0.5]
        compiled(theory, keras.optimizers.SGD(0.05)).fit(epochs=3, verbose=0)
        # p_w alone can raise p_w & formula.
        assert 0.5 < theory.report().weight[0] <= 1.0

    def test_log_product_takes_weights(self) -> None:
        theory = compiled(degrees([0.2, 0.6], "log_product"))
        theory.axiom("forall x: I(x)", name="often", weight=3)
        theory.axiom("exists x: I(x)", name="once")
        logs = theory.evaluate(verbose=0, return_dict=True)
        assert_close(logs["satisfaction"], (logs["often"] ** 3 * logs["once"]) ** 0.25)


class TestGrowingTheories:
    def test_an_axiom_may_be_added_after_a_fit(self) -> None:
        theory = compiled(slim())
        theory.fit(POINTS, verbose=0)
        theory.axiom("exists x: ~A(x)", name="new")
        history = theory.fit(POINTS, epochs=2, validation_data=POINTS, verbose=0).history
        assert {"new", "val_new"} <= set(history)
        assert "new" in theory.evaluate(POINTS, verbose=0, return_dict=True)
        assert "new" in theory.predict(POINTS, verbose=0)

    def test_and_it_teaches(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.1))
        theory.fit(epochs=1, verbose=0)
        theory.axiom("~w", name="not_so", weight=100.0)
        before = truth(theory, "w")
        theory.fit(epochs=1, verbose=0)
        assert truth(theory, "w") < before

    def test_what_is_declared_after_a_fit_is_learned(self) -> None:
        theory = compiled(slim(), keras.optimizers.Adam(0.05))
        theory.fit(POINTS, verbose=0)
        theory.predicate("B", theory.signature.domains["points"], ltn.Predicate.MLP([2], (2,)))
        theory.axiom("forall x: B(x)", name="new", weight="learned")
        history = theory.fit(POINTS, epochs=3, verbose=0).history
        assert history["new"][-1] > history["new"][0]
        assert theory.report(POINTS).weight[1] > 0.5

    def test_and_what_was_there_keeps_its_place_in_the_optimizer(self) -> None:
        """Adam's averages of the old weights go on; those of the new ones begin at zero."""
        theory = compiled(one_weight(), keras.optimizers.Adam(0.01))
        theory.fit(epochs=3, verbose=0)
        theory.proposition("v", 0.5, trainable=True)
        theory.axiom("v", name="new")
        theory.fit(verbose=0)
        assert int(theory.optimizer.iterations) == 4
        # Adam's first steps are of the size of the learning rate: the new weight has had one.
        assert truth(theory, "v") == pytest.approx(0.51, abs=0.005)
        assert truth(theory, "w") == pytest.approx(0.54, abs=0.005)

    def test_unused_predicates_and_constants_warn_of_nothing(self) -> None:
        theory = slim()
        points = theory.signature.domains["points"]
        theory.predicate("unused", points, ltn.Predicate.MLP([2], (4,)))
        theory.constants("a, b", theory.domain("people", shape=3))
        theory.proposition("p", 0.5, trainable=True)
        before = theory.symbols["unused"].network.get_weights()
        compiled(theory, keras.optimizers.Adam(0.05)).fit(POINTS, epochs=2, verbose=0)  # warnings are errors
        for old, new in zip(before, theory.symbols["unused"].network.get_weights(), strict=True):
            np.testing.assert_array_equal(old, new)

    def test_compiling_again_goes_on_with_the_learned_weights(self) -> None:
        theory = compiled(one_weight())
        theory.fit(verbose=0)
        learned = weights_of(theory)
        compiled(theory, keras.optimizers.Adam(0.0))
        theory.fit(verbose=0)
        for mine, theirs in zip(theory.get_weights(), learned, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_an_empty_theory_says_so(self) -> None:
        theory = ltn.Theory()
        theory.compile()
        with pytest.raises(ltn.LogicValueError, match="no axioms"):
            theory.fit(verbose=0)

    def test_a_theory_that_is_not_compiled_says_so(self) -> None:
        with pytest.raises(ValueError, match="compile"):
            classifier().fit(DATA, verbose=0)

    @pytest.mark.parametrize("argument", ["loss", "metrics", "loss_weights", "weighted_metrics"])
    def test_losses_and_metrics_of_targets_are_refused(self, argument: str) -> None:
        settings: dict[str, Any] = {argument: ["mse"]}
        with pytest.raises(ltn.LogicTypeError, match=f"`{argument}`.*satisfaction"):
            classifier().compile("adam", **settings)


class TestEmbeddings:
    def test_they_are_learned(self) -> None:
        theory = compiled(smokers(), keras.optimizers.Adam(0.05))
        before = theory.individuals[0].tensor.numpy()
        history = theory.fit(epochs=60, verbose=0).history
        assert history["satisfaction"][-1] > history["satisfaction"][0] + 0.1
        moved = np.abs(theory.individuals[0].tensor.numpy() - before).max(axis=1)
        assert moved.min() > 1e-3
        truth = theory.query("S(x)").to_frame().truth
        assert truth["a"] > 0.5 > truth["c"]

    def test_variables_over_them_are_never_stale(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        a, b = theory.constants("a, b", numbers, values=[0.2, 0.4], trainable=True)
        x = theory.variable("x", numbers)
        chosen = theory.variable("y", numbers, values=["b"])
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("forall x: I(x)")
        theory.axiom("forall y: I(y)")
        compiled(theory).fit(epochs=2, verbose=0)
        learned = theory.individuals[0].table.numpy()
        assert learned.min() > 0.4
        np.testing.assert_array_equal(x.tensor, learned)
        np.testing.assert_array_equal(chosen.tensor, learned[1:])
        np.testing.assert_array_equal(a.tensor, learned[0])
        np.testing.assert_array_equal(b.tensor, learned[1])
        np.testing.assert_array_equal(theory.query("x").tensor, learned)

    def test_the_step_equals_one_written_with_core(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        theory.constants("a, b, c", people)
        theory.variables("x, y", people)
        P = theory.predicate("P", (people, people), ltn.Predicate.MLP([2, 2], (4,)))
        theory.axiom("forall x: exists y: P(x, y) & ~P(y, x)")
        constants = [ltn.Constant(row, trainable=True) for row in theory.individuals[0].tensor]
        _, And, _, _, _, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()
        Not = ltn.semantics.stable_product.wrap().Not
        with tf.GradientTape() as tape:
            x = ltn.Variable.from_constants("x", constants)
            y = ltn.Variable.from_constants("y", constants)
            loss = 1.0 - SatAgg([Forall(x, Exists(y, And(P([x, y]), Not(P([y, x])))))]).tensor
        gradients = tape.gradient(loss, [constant.tensor for constant in constants])
        before = theory.individuals[0].tensor.numpy()
        compiled(theory, keras.optimizers.SGD(1.0)).fit(verbose=0)
        moved = before - theory.individuals[0].tensor.numpy()
        assert np.abs(moved).max() > 1e-3
        assert_close(moved, np.stack([gradient.numpy() for gradient in gradients]), atol=TestSteps.ATOL)

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_a_hypercube_keeps_them_inside(self, jit_compile: bool) -> None:
        theory = ltn.Theory("product")
        points = theory.domain("points", shape=2, bounds=(-1, 2))
        theory.constants("a, b, c", points)
        theory.variable("x", points)
        theory.predicate("P", points, lambda x: tf.sigmoid(x[:, 0] - x[:, 1]))
        theory.axiom("forall x: P(x)")
        start = theory.individuals[0].tensor.numpy()
        assert (start >= -1).all()
        assert (start <= 2).all()
        assert (start < -0.1).any()  # not only in [0, 1]
        compiled(theory, keras.optimizers.SGD(100.0), jit_compile=jit_compile).fit(epochs=3, verbose=0)
        np.testing.assert_array_equal(theory.individuals[0].tensor, [[2.0, -1.0]] * 3)

    def test_a_simplex_keeps_them_inside(self) -> None:
        theory = ltn.Theory("product")
        colours = theory.domain("colours", shape=3, bounds="simplex")
        theory.constants("a, b", colours)
        theory.variable("x", colours)
        theory.predicate("P", colours, lambda x: x[:, 0])
        theory.axiom("forall x: P(x)")

        def assert_inside() -> None:
            table = theory.individuals[0].tensor.numpy()
            assert (table >= 0.0).all()
            assert_close(table.sum(axis=1), [1.0, 1.0])

        assert_inside()
        compiled(theory, keras.optimizers.SGD(2.0))
        for _ in range(3):
            theory.fit(verbose=0)
            assert_inside()
        assert theory.individuals[0].tensor.numpy()[:, 0].min() > 0.6

    def test_a_product_of_bounded_domains_keeps_them_inside(self) -> None:
        theory = ltn.Theory("product")
        ages = theory.domain("ages", bounds=(0, 1))
        incomes = theory.domain("incomes", bounds=(0, 2))
        theory.constants("a, b", ages * incomes)
        theory.variable("x", ages * incomes)
        theory.predicate("P", (ages, incomes), lambda args: tf.sigmoid(args[0] + args[1]))
        theory.axiom("forall x: P(x)")
        compiled(theory, keras.optimizers.SGD(1000.0)).fit(epochs=2, verbose=0)
        np.testing.assert_array_equal(theory.individuals[0].tensor, [[1.0, 2.0]] * 2)

    def test_given_constants_stay(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        theory.constants("a, b", numbers, values=[0.2, 0.4])
        theory.variable("x", numbers)
        theory.proposition("w", 0.5, trainable=True)
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("w & forall x: I(x)")
        compiled(theory).fit(epochs=2, verbose=0)
        assert_close(theory.query("x").tensor, [[0.2], [0.4]])


class TestAxiomsInPython:
    """`theory.axiom(callable)`: the whole of `core` stays usable."""

    def test_with_what_the_declarations_returned(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        a, _ = theory.constants("a, b", numbers, values=[0.2, 0.4], trainable=True)
        x = theory.variable("x", numbers)
        I = theory.predicate("I", numbers, lambda x: x)  # noqa: E741
        w = theory.proposition("w", 0.5, trainable=True)
        _, And, _, _, _, Forall, _, _ = ltn.semantics.stable_product.wrap()
        theory.axiom(lambda: Forall(x, And(I(x), And(w, I(a)))), name="code")
        theory.axiom("forall x: I(x) & (w & I(a))", name="text")
        compiled(theory)
        logs = theory.fit(epochs=3, verbose=0).history
        assert logs["code"] == logs["text"]
        assert logs["code"][2] > logs["code"][0]
        assert theory.individuals[0].tensor.numpy().min() > 0.2

    def test_with_the_operators_of_formulas(self) -> None:
        theory = degrees([0.2, 0.6])
        x = theory.signature.variables  # the variables of the language
        assert list(x) == ["x", "y"]
        w = theory.proposition("w", 0.5, trainable=True)
        v = theory.proposition("v", 0.25)
        theory.axiom(lambda: ~w | v, name="code")
        theory.axiom("~w | v", name="text")
        report = compiled(theory).report().satisfaction
        assert report[0] == report[1]

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_with_data_variables_and_diag(self, jit_compile: bool) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        labels = theory.domain("labels")
        x, y = theory.variables("x, y", points)
        n = theory.variable("l", labels)
        P = theory.predicate("P", points, ltn.Predicate.MLP([2], (4,)))
        Equal = theory.predicate(
            "Equal", (points, points), lambda args: tf.exp(-tf.norm(args[0] - args[1], axis=1))
        )
        One = ltn.Predicate.Lambda(lambda number: number == 1.0)
        Not, And, _, _, _, Forall, _, _ = ltn.semantics.stable_product.wrap()
        theory.axiom(lambda: Forall(ltn.diag(x, n), P(x), mask=One(n)), name="code")
        theory.axiom("forall diag(x, l) where l = 1: P(x)", name="text")
        theory.axiom(lambda: Forall(ltn.diag(x, y), And(P(x), Not(Equal([x, y])))), name="code2")
        theory.axiom("forall diag(x, y): P(x) & ~Equal(x, y)", name="text2")
        compiled(theory, jit_compile=jit_compile)
        data = DATA | {"y": OTHERS["x"][[0, 1, 2, 3, 4, 5, 6, 0, 1, 2]]}
        # XLA compiles again for each size of a batch.
        logs = theory.fit(data, batch_size=10 if jit_compile else 4, epochs=2, verbose=0).history
        for number in ("", "2"):
            assert_close(logs[f"code{number}"], logs[f"text{number}"])
        assert np.ptp(logs["code"]) > 1e-3  # it learns

    def test_and_text_share_a_fit(self) -> None:
        theory = compiled(slim())
        z = theory.variable("z", theory.signature.domains["points"])
        A: Any = theory.symbols["A"]
        Forall = ltn.semantics.stable_product.wrap().Forall
        theory.axiom(lambda: Forall(z, A(z)), name="code")
        history = theory.fit(POINTS | {"z": DATA["x"]}, verbose=0).history
        assert set(history) == {"loss", "satisfaction", "all", "code"}

    def test_missing_data_are_named_before_training(self) -> None:
        theory = compiled(classifier())
        z = theory.variable("z", theory.signature.domains["points"])
        A: Any = theory.symbols["A"]
        theory.axiom(lambda: ltn.semantics.stable_product.wrap().Forall(z, A(z)), name="all")
        before = weights_of(theory)
        with pytest.raises(ltn.LogicValueError, match="'z' has no individuals"):
            theory.fit(DATA, verbose=0)
        assert int(theory.optimizer.iterations) == 0
        for mine, theirs in zip(theory.get_weights(), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    @pytest.mark.parametrize("result", [0.5, "open"])
    def test_what_is_no_closed_formula_is_refused(self, result: Any) -> None:
        theory = degrees([0.2, 0.6])
        z = theory.variable("z", theory.signature.domains["numbers"])
        I: Any = theory.symbols["I"]  # noqa: E741
        theory.axiom(lambda: I(z) if result == "open" else result, name="wrong")
        compiled(theory)
        with pytest.raises(ltn.LogicTypeError, match="'wrong' must return a closed"):
            theory.report()

    def test_log_product_takes_them_as_truth_values(self) -> None:
        theory = degrees([0.25, 0.64], "log_product")
        z = theory.variable("z", theory.signature.domains["numbers"])
        I: Any = theory.symbols["I"]  # noqa: E741
        theory.axiom(lambda: ltn.semantics.product.wrap().Exists(z, I(z), p=1), name="some")
        assert_close(theory.report().satisfaction[0], 0.445)
        assert_close(compiled(theory).evaluate(verbose=0, return_dict=True)["loss"], -math.log(0.445))
