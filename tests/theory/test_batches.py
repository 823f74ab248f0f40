"""Batches: where they come from, and what a theory does with each."""

import functools
import gc
import math
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn._private import is_eager
from tests.theory.theories import (
    Array,
    Before,
    Table,
    assert_same_weights,
    classifier,
    degrees,
    one_weight,
    rows,
    slim,
    smokers,
    trained_like,
    weights_of,
)
from tests.theory.trained import DATA, OTHERS, POINTS, compiled
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


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


class TestSizesOfBatches:
    def test_validation_takes_the_batches_of_training(self) -> None:
        """A p-mean of one batch is not the mean of two."""
        theory = compiled(classifier(), keras.optimizers.SGD(0.0))
        logs = theory.fit(DATA, batch_size=10, validation_data=DATA, verbose=0).history
        assert_close(logs["val_satisfaction"], logs["satisfaction"])
        small = theory.fit(DATA, batch_size=10, validation_data=DATA, validation_batch_size=3, verbose=0)
        assert abs(small.history["val_satisfaction"][0] - logs["satisfaction"][0]) > 1e-5

    def test_validation_without_data_ends(self) -> None:
        theory = ltn.Theory()
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w", name="so")
        compiled(theory, keras.optimizers.SGD(0.0))
        assert theory.fit(validation_data={}, verbose=0).history["val_so"] == [0.5]

    def test_of_a_dataset_they_are_aligned_too(self) -> None:
        theory = compiled(classifier())
        one = tf.data.Dataset.from_tensors({"x": DATA["x"][:4], "l": DATA["l"][:5]})
        with pytest.raises(ltn.LogicValueError, match="'x' has 4, 'l' has 5"):
            theory.fit(one, verbose=0)


class Unequal(keras.utils.PyDataset):
    """Two batches in which y has another number of rows than x; l has as many as x, or as `labels` says."""

    def __init__(self, labels: int = 4):
        super().__init__()
        self.labels = labels

    def __len__(self) -> int:
        return 2

    def __getitem__(self, number: int) -> Table:
        labels = np.arange(4, dtype=np.float32)[: 4 if number == 0 else self.labels] % 3
        return {"x": POINTS["x"][4 * number :][:4], "l": labels, "y": POINTS["x"][: 2 + number]}

    def as_dataset(self) -> tf.data.Dataset:
        kinds = {"x": tf.TensorSpec([None, 2]), "l": tf.TensorSpec([None]), "y": tf.TensorSpec([None, 2])}
        return tf.data.Dataset.from_generator(lambda: (self[k] for k in range(2)), output_signature=kinds)


def near() -> ltn.Theory:
    """A theory whose axioms pair x and l, and put y beside them."""
    theory = classifier()
    points = theory.signature.variables["x"]
    theory.variable("y", points)
    theory.predicate("R", (points, points), ltn.Predicate.MLP([2, 2], (3,)))
    theory.axiom("forall x: exists y: R(x, y)", name="some")
    theory.axiom("forall x, y where norm(x - y) < 1: R(x, y) -> R(y, x)", name="alike")
    return compiled(theory, keras.optimizers.SGD(0.1))


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
class TestNumbersOfRows:
    """In a batch of a data set the variables that no `diag` pairs may have different numbers of rows."""

    @pytest.mark.parametrize("kind", ["PyDataset", "tf.data", "generator"])
    def test_may_differ_where_nothing_pairs_the_variables(self, kind: str) -> None:
        batches = Unequal()
        makes: dict[str, Callable[[], Any]] = {
            "PyDataset": lambda: batches,
            "tf.data": batches.as_dataset,
            "generator": lambda: (batches[number] for number in range(2)),
        }
        theory, alone = near(), near()
        alone.set_weights(theory.get_weights())
        # A dictionary is a batch where it is asked about as a whole.
        truths = [alone(batches[number]) for number in range(2)]
        logs = theory.evaluate(makes[kind](), steps=2, return_dict=True, verbose=0)
        for name in ("some", "alike", "satisfaction"):
            assert_close(logs[name], np.mean([found[name][0] for found in truths]), rtol=1e-5)
        reported = alone.report(batches[1]).set_index("axiom")["satisfaction"]
        assert_close(reported["some"], truths[1]["some"][0], rtol=1e-5)
        history = theory.fit(makes[kind](), steps_per_epoch=2, verbose=0).history
        assert np.isfinite(history["loss"]).all()
        assert any(np.any(a != b) for a, b in zip(theory.get_weights(), alone.get_weights(), strict=True))

    @pytest.mark.parametrize("kind", ["PyDataset", "tf.data"])
    def test_are_the_same_for_those_that_are_paired(self, kind: str) -> None:
        batches = Unequal(labels=3)
        message = r"In batch 2 of the data set: The variables of diag\(x, l\) must .*'x' has 4, 'l' has 3"
        theory = near()
        for use in (theory.fit, theory.evaluate):
            with pytest.raises(ltn.LogicValueError, match=message):
                use(batches if kind == "PyDataset" else batches.as_dataset(), verbose=0)
        with pytest.raises(ltn.LogicValueError, match=r"diag\(x, l\) must have the same number"):
            theory.report(batches[1])

    def test_are_the_same_where_rows_have_weights(self) -> None:
        weighted = Unequal().as_dataset().map(lambda batch: (batch, None, tf.ones(4)))
        with pytest.raises(ltn.LogicValueError, match=r"In batch 1 .*same number of individuals.*'y' has 2"):
            near().fit(weighted, verbose=0)

    def test_of_a_dictionary_are_the_same(self) -> None:
        # It is cut into batches, which take the i-th row of each.
        with pytest.raises(ltn.LogicValueError, match="Batches take the i-th individual of each"):
            near().fit(Unequal()[0], verbose=0)


def in_batches(theory: ltn.Theory) -> ltn.Theory:
    """The theory with a limit by which questions about a thousand rows take several batches."""
    theory.memory_limit = 8000
    return theory


@functools.cache
def ranked() -> ltn.Theory:
    """Points with a class each."""
    theory = ltn.Theory("product")
    points, classes = theory.domain("points", shape=2), theory.domain("classes", values=range(3))
    theory.variable("x", points)
    theory.variable("c", classes)
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    theory.predicate("C", (points, classes), ltn.Predicate.FromLogits(network, "softmax"))
    return theory


@pytest.mark.parametrize(
    "use",
    [
        lambda theory, data: theory.fit(data, batch_size=500, verbose=0),
        lambda theory, data: theory.fit(data, validation_data=data, batch_size=500, verbose=0),
        lambda theory, data: theory.evaluate(data, batch_size=500, verbose=0),
        lambda theory, data: theory.report(data),
        lambda theory, data: theory.query("A(x)", data),
        lambda theory, data: theory.fit(tf.data.Dataset.from_tensors(data), verbose=0),
        lambda theory, data: theory.evaluate(data, batch_size=500, sample=5, verbose=0),
        lambda theory, data: theory.explain("positive", data),
        lambda theory, data: ranked().rank({"x": data["x"], "c": data["l"]}, "C(x, c)", of="c"),
        lambda theory, data: in_batches(theory).report(data),
        lambda theory, data: in_batches(theory).query("A(x)", data),
        lambda theory, data: in_batches(theory).explain("positive", data),
    ],
    ids=[
        "fit",
        "validation",
        "evaluate",
        "report",
        "query",
        "data set",
        "sample",
        "explain",
        "rank",
        "report in batches",
        "query in batches",
        "explain in batches",
    ],
)
def test_data_do_not_outlive_a_call(use: Callable[..., Any]) -> None:
    theory, size = compiled(classifier()), 1237
    use(theory, {name: values[:8] for name, values in DATA.items()})
    gc.collect()
    # Python looks for cycles now and then only: data in one would pile up.
    gc.disable()
    try:
        use(theory, {"x": np.ones((size, 2)), "l": np.ones(size)})
        tensors = [each for each in gc.get_objects() if tf.is_tensor(each) and is_eager(each)]
        kept = [each for each in tensors if tuple(each.shape[:1]) == (size,)]
        assert len(kept) == 0
    finally:
        gc.enable()
