"""Data: what is wrong with them is said before training starts, and what it is."""

from collections.abc import Iterator
from typing import Any, ClassVar

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import Table, classifier, labelled_points, truth, weights_of
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = labelled_points(6)
POINTS, LABELS = DATA["x"], DATA["l"]


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    """The binary classifier, with a bounded domain, a finite one, and further variables."""
    keras.utils.set_random_seed(0)
    theory = classifier()
    theory.variable("ages", theory.domain("years", bounds=(0, 120)))
    theory.variable("mixture", theory.domain("mixtures", shape=3, bounds="simplex"))
    theory.variable("digit", theory.domain("digits", values=range(10)))
    theory.variable("town", theory.domain("towns", values=["Rome", "Seoul"]))
    theory.compile(keras.optimizers.SGD(0.5))
    return theory


def with_nan(row: int) -> Any:
    points = POINTS.copy()
    points[row, 1] = np.nan
    return points


# What is given beside or instead of good data, and what the message must say.
WRONG: dict[str, tuple[dict[str, Any], type[ltn.LogicError], str]] = {
    "missing": ({"l": LABELS}, ltn.LogicValueError, r"'positive'.*'x' has no individuals.*'l'"),
    "misspelt": ({"X": POINTS, "l": LABELS}, ltn.LogicValueError, "'X'.*Did you mean 'x'"),
    "unknown": (
        {"x": POINTS, "l": LABELS, "zebra": LABELS},
        ltn.LogicValueError,
        "'zebra'.*Declared are: x, l",
    ),
    "too many features": (
        {"x": np.zeros((6, 3)), "l": LABELS},
        ltn.LogicValueError,
        r"'x' must have the shape \(n, 2\).*'points'; got \(6, 3\)",
    ),
    "too few axes": ({"x": np.zeros(6), "l": LABELS}, ltn.LogicValueError, r"\(n, 2\).*got \(6,\)"),
    "too many axes": ({"x": np.zeros((6, 2, 1)), "l": LABELS}, ltn.LogicValueError, r"got \(6, 2, 1\)"),
    "a scalar": ({"x": POINTS, "l": 1.0}, ltn.LogicValueError, r"'l' must have the shape \(n, 1\).*got \(\)"),
    "numbers of two features": ({"x": POINTS, "l": POINTS}, ltn.LogicValueError, r"'l'.*\(n, 1\)"),
    "unequal lengths": ({"x": POINTS, "l": LABELS[:4]}, ltn.LogicValueError, "'x' has 6, 'l' has 4.*guard"),
    "NaN": ({"x": with_nan(3), "l": LABELS}, ltn.LogicValueError, "'x' hold 1 values.*NaN.*row 3"),
    "infinite": ({"x": POINTS * np.inf, "l": LABELS}, ltn.LogicValueError, "'x' hold 12 values.*infinite"),
    "outside a hypercube": (
        {**DATA, "ages": [3, 5, 130, 2, 1, -7]},
        ltn.LogicValueError,
        r"'ages' leave the bounds \(0\.0, 120\.0\).*'years' in 2 of 6 rows, the first in row 2",
    ),
    "outside a simplex": (
        {**DATA, "mixture": [[0.5, 0.5, 0.0]] * 5 + [[0.5, 0.6, 0.0]]},
        ltn.LogicValueError,
        "'mixture' leave the bounds simplex.*row 5",
    ),
    "not of a finite domain": (
        {**DATA, "digit": [0, 1, 2, 3, 4, 11]},
        ltn.LogicValueError,
        "'digit'.*'digits'",
    ),
    "no class of a finite domain": (
        {**DATA, "town": [0, 1, 0, 1, 0, 2]},
        ltn.LogicValueError,
        "'town'.*'towns'",
    ),
    "text": ({"x": [["a", "b"]] * 6, "l": LABELS}, ltn.LogicTypeError, "'x' must be numbers.*'a'"),
    "ragged": (
        {"x": [[0.1, 0.2], [0.3]], "l": [0, 1]},
        ltn.LogicTypeError,
        "'x' must be numbers of one shape",
    ),
    "None": ({"x": None, "l": LABELS}, ltn.LogicError, "'x'"),
    "no individuals": ({"x": POINTS[:0], "l": LABELS[:0]}, ltn.LogicValueError, "'x'|individuals"),
}


def assert_untouched(theory: ltn.Theory, before: list[Any]) -> None:
    assert int(theory.optimizer.iterations) == 0
    for mine, theirs in zip(theory.get_weights(), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.fixture
def _no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras must not even be asked to train: on an empty data set it would never end."""

    def started(*args: Any, **kwargs: Any) -> None:
        pytest.fail("training started")

    monkeypatch.setattr(keras.Model, "fit", started)


@pytest.mark.usefixtures("_no_training")
class TestMistakes:
    @pytest.mark.parametrize("name", WRONG)
    def test_are_explained_before_training_starts(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = WRONG[name]
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(data, verbose=0)

    @pytest.mark.parametrize("name", ["missing", "misspelt", "too many features", "unequal lengths", "NaN"])
    def test_also_in_evaluation_prediction_and_validation(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = WRONG[name]
        calls: list[Any] = [
            lambda: theory.evaluate(data, verbose=0),
            lambda: theory.predict(data, verbose=0),
            lambda: theory.fit(DATA, validation_data=data, verbose=0),
        ]
        for call in calls:
            with pytest.raises(kind, match=f"(?s){message}"):
                call()

    @pytest.mark.parametrize("name", ["misspelt", "too many features", "NaN", "text"])
    def test_also_in_queries_and_reports(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = WRONG[name]
        for call in (lambda: theory.query("A(x)", data), lambda: theory.report(data)):
            with pytest.raises(kind, match=f"(?s){message}"):
                call()

    @pytest.mark.parametrize("name", ["NaN", "infinite", "outside a hypercube", "outside a simplex"])
    def test_values_of_tensors_are_looked_at_too(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = WRONG[name]
        tensors = {key: tf.constant(values, tf.float32) for key, values in data.items()}
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(tensors, verbose=0)

    def test_tensors_of_text(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicTypeError, match="'x' must be numbers"):
            theory.fit({"x": tf.constant([["a", "b"]] * 6), "l": LABELS}, verbose=0)


class TestMistakesOfDatasets:
    """As far as they can be seen before the first step."""

    DATASETS: ClassVar[dict[str, tuple[Any, type[ltn.LogicError], str]]] = {
        "missing": ({"l": LABELS}, ltn.LogicValueError, "'x' has no individuals"),
        "misspelt": ({"xx": POINTS, "l": LABELS}, ltn.LogicValueError, "'xx'.*Did you mean 'x'"),
        "misshapen": ({"x": np.zeros((6, 3)), "l": LABELS}, ltn.LogicValueError, r"\(n, 2\)"),
    }

    @pytest.mark.parametrize("name", DATASETS)
    def test_of_tf_data(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = self.DATASETS[name]
        dataset = tf.data.Dataset.from_tensor_slices(data).batch(2)
        before = weights_of(theory)
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(dataset, verbose=0)
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.evaluate(dataset, verbose=0)
        assert_untouched(theory, before)

    @pytest.mark.usefixtures("_no_training")
    @pytest.mark.parametrize("name", DATASETS)
    def test_of_validation(self, theory: ltn.Theory, name: str) -> None:
        """An epoch may take hours: it must not be trained for nothing."""
        data, kind, message = self.DATASETS[name]
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(DATA, validation_data=tf.data.Dataset.from_tensor_slices(data).batch(2), verbose=0)

    @pytest.mark.usefixtures("_no_training")
    @pytest.mark.parametrize("name", DATASETS)
    def test_of_validation_in_a_tuple(self, theory: ltn.Theory, name: str) -> None:
        data, kind, message = self.DATASETS[name]
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(DATA, validation_data=(data, None), verbose=0)

    @pytest.mark.parametrize("name", DATASETS)
    def test_of_generators_and_pydatasets(self, name: str) -> None:
        data, kind, message = self.DATASETS[name]

        class One(keras.utils.PyDataset):
            def __len__(self) -> int:
                return 1

            def __getitem__(self, index: int) -> Any:
                return data

        def generated() -> Iterator[Any]:
            while True:
                yield (data,)

        theory = classifier()
        theory.compile()
        before = weights_of(theory)
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(generated(), steps_per_epoch=1, shuffle=False, verbose=0)
        with pytest.raises(kind, match=f"(?s){message}"):
            theory.fit(One(), verbose=0)
        assert_untouched(theory, before)

    def test_a_dataset_that_is_not_batched(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"'x'.*\(n, 2\)"):
            theory.fit(tf.data.Dataset.from_tensor_slices(DATA), verbose=0)

    def test_a_dataset_of_arrays(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicTypeError, match="dictionaries"):
            theory.fit(tf.data.Dataset.from_tensor_slices(POINTS).batch(2), verbose=0)

    def test_labels_in_a_dataset_are_not_dropped_in_silence(self, theory: ltn.Theory) -> None:
        before = weights_of(theory)
        dataset = tf.data.Dataset.from_tensor_slices((DATA, LABELS)).batch(6)
        with pytest.raises(ltn.LogicTypeError, match="labels"):
            theory.fit(dataset, verbose=0)
        assert_untouched(theory, before)


class TestWrongKinds:
    @pytest.mark.parametrize(
        "data",
        [POINTS, [POINTS], pd.Series([1.0]), "points.csv", 3],
        ids=lambda data: type(data).__name__,
    )
    def test_what_is_no_dictionary(self, theory: ltn.Theory, data: Any) -> None:
        for call in (theory.fit, theory.evaluate, theory.predict):
            with pytest.raises(ltn.LogicTypeError, match=f"dictionary.*got a {type(data).__name__}"):
                call(data, verbose=0)

    def test_targets(self, theory: ltn.Theory) -> None:
        for call in (theory.fit, theory.evaluate):
            with pytest.raises(ltn.LogicTypeError, match="no `y`: labels are variables too"):
                call(DATA, LABELS, verbose=0)

    def test_weights_of_classes(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"no `class_weight`.*axioms have weights"):
            theory.fit(DATA, verbose=0, class_weight={0: 1.0})

    def test_no_data_where_some_are_needed(self, theory: ltn.Theory) -> None:
        for call in (theory.fit, theory.evaluate, theory.predict):
            with pytest.raises(ltn.LogicValueError, match=r"'x' has no individuals.*\{'x': array\}"):
                call(verbose=0)

    def test_an_empty_dictionary_is_no_data(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match="'x' has no individuals"):
            theory.fit({}, verbose=0)

    def test_an_empty_dictionary_will_do_where_no_data_are_needed(self) -> None:
        theory = ltn.Theory()
        theory.proposition("w", 0.25, trainable=True)
        theory.axiom("w", name="so")
        theory.compile(keras.optimizers.SGD(0.1))
        assert theory.evaluate({}, verbose=0, return_dict=True)["so"] == 0.25
        theory.fit({}, epochs=2, verbose=0)
        assert truth(theory, "w") > 0.25


class TestNamesOfDomains:
    """Data under the name of a domain ground all its variables, but for those with data of their own."""

    @pytest.fixture
    def numbers(self) -> ltn.Theory:
        theory = ltn.Theory("product")
        domain = theory.domain("numbers", bounds=(0, 1))
        theory.variables("x, y", domain)
        theory.variable("z", domain, values=[0.5])
        theory.predicate("I", domain, lambda x: x)
        for name in "xyz":
            theory.axiom(f"forall[p=1] {name}: I({name})", name=name)
        theory.compile(keras.optimizers.SGD(0.1))
        return theory

    def test_all_variables_range_over_them(self, numbers: ltn.Theory) -> None:
        logs = numbers.evaluate({"numbers": [0.2, 0.4]}, verbose=0, return_dict=True)
        assert_close([logs["x"], logs["y"], logs["z"]], [0.3, 0.3, 0.5])
        assert_close(numbers.report({"numbers": [0.2, 0.4]}).satisfaction, [0.3, 0.3, 0.5])
        assert_close(numbers.query("I(x) & I(y)", numbers=[0.5, 1.0]).tensor, [[0.25, 0.5], [0.5, 1.0]])

    def test_but_those_with_data_of_their_own(self, numbers: ltn.Theory) -> None:
        logs = numbers.evaluate(
            {"numbers": [0.2, 0.4], "y": [0.8, 1.0], "z": [0.0, 0.2]}, verbose=0, return_dict=True
        )
        assert_close([logs["x"], logs["y"], logs["z"]], [0.3, 0.9, 0.1])

    def test_they_are_checked_as_those_of_variables(self, numbers: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match="'numbers' leave the bounds"):
            numbers.evaluate({"numbers": [0.2, 1.4]}, verbose=0)
        with pytest.raises(ltn.LogicValueError, match=r"'nmbers'.*Did you mean 'numbers'"):
            numbers.evaluate({"nmbers": [0.2]}, verbose=0)
        with pytest.raises(ltn.LogicValueError, match=r"'numbers' must have the shape \(n, 1\)"):
            numbers.evaluate({"numbers": [[0.2, 0.3]]}, verbose=0)

    def test_they_take_the_place_of_the_constants_of_a_domain(self) -> None:
        theory = ltn.Theory("product")
        domain = theory.domain("numbers")
        theory.constants("a, b", domain, values=[0.2, 0.4])
        theory.variable("x", domain)
        theory.predicate("I", domain, lambda x: x)
        theory.axiom("forall[p=1] x: I(x)")
        assert_close(theory.report().satisfaction, [0.3])
        assert_close(theory.report({"numbers": [1.0]}).satisfaction, [1.0])
        assert_close(truth(theory, "I(a)", numbers=[1.0]), 0.2)


class TestAlignment:
    """All data variables of a batch are aligned, so that diag means what the paper says."""

    def test_shuffling_keeps_rows_together(self) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        theory.variables("x, y", numbers)
        theory.predicate("Same", (numbers, numbers), lambda args: args[0] == args[1])
        theory.axiom("forall diag(x, y): Same(x, y)", name="same")
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w", name="so")
        theory.compile(keras.optimizers.SGD(0.0))
        data: Table = {name: np.arange(20, dtype=np.float32) for name in "xy"}
        assert theory.fit(data, batch_size=3, epochs=2, verbose=0).history["same"] == [1.0, 1.0]
        swapped = data | {"y": data["y"][::-1]}
        assert theory.fit(swapped, batch_size=3, verbose=0).history["same"] == [0.0]

    def test_a_query_may_take_different_numbers_of_individuals(self) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        theory.variables("x, y", numbers)
        theory.predicate("less", (numbers, numbers), lambda args: args[0] < args[1])
        found = theory.query("less(x, y)", x=[1, 2], y=[0, 2, 3])
        np.testing.assert_array_equal(found.tensor, [[0, 1, 1], [0, 0, 1]])

    def test_but_not_for_a_diagonal(self) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        theory.variables("x, y", numbers)
        theory.predicate("less", (numbers, numbers), lambda args: args[0] < args[1])
        with pytest.raises(ltn.LogicValueError, match=r"diag\(x, y\).*2, 3"):
            theory.query("forall diag(x, y): less(x, y)", x=[1, 2], y=[0, 2, 3])
