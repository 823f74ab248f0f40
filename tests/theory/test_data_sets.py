"""Data sets wherever data are taken: batches for training, and all rows at once for questions."""

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.test_replicas import replicas
from tests.theory.theories import classifier, knowledge, labelled_points, network
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = labelled_points(10)


class Batches(keras.utils.PyDataset):
    """Four rows at a time."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, number: int) -> Any:
        return ({name: values[4 * number : 4 * number + 4] for name, values in DATA.items()},)


class Endless(keras.utils.PyDataset):
    """It does not know its end."""

    @property
    def num_batches(self) -> None:
        return None

    def __getitem__(self, number: int) -> Any:
        return ({name: values[:4] for name, values in DATA.items()},)


def batches() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(DATA).batch(4)


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    theory = classifier()
    theory.compile()
    return theory


@pytest.mark.parametrize(
    "data",
    [
        batches(),
        batches().map(lambda batch: (batch,)),
        batches().take(3).filter(lambda batch: True),  # of a number of batches that is not known
        Batches(),
    ],
)
class TestQuestions:
    def test_report_and_explain_see_all_rows(self, theory: ltn.Theory, data: Any) -> None:
        assert theory.report(data).equals(theory.report(DATA))
        found = theory.explain("positive", data, worst=10)
        assert found.equals(theory.explain("positive", DATA, worst=10))
        assert found.x.max() > 3

    def test_query_and_plan(self, theory: ltn.Theory, data: Any) -> None:
        assert_close(theory.query("A(x)", data).numpy(), theory.query("A(x)", DATA).numpy())
        assert theory.plan("positive", data).rows == theory.plan("positive", DATA).rows


def test_evaluate_and_predict(theory: ltn.Theory) -> None:
    found = theory.evaluate(batches(), verbose=0)
    assert_close(found, theory.evaluate(DATA, batch_size=4, verbose=0))
    predicted, expected = theory.predict(batches(), verbose=0), theory.predict(DATA, 4, verbose=0)
    for name in expected:
        assert_close(predicted[name], expected[name])


def test_data_of_further_variables(theory: ltn.Theory) -> None:
    points = batches().map(lambda batch: {"x": batch["x"]})
    assert theory.report(points, l=DATA["l"]).equals(theory.report(DATA))
    with pytest.raises(ltn.LogicValueError, match="Data came twice for x"):
        theory.report(points, x=DATA["x"], l=DATA["l"])


SOURCES: dict[str, Callable[[], Any]] = {
    "dictionary": lambda: DATA,
    "data set": batches,
    "filtered": lambda: batches().filter(lambda batch: True),
    "generator": lambda: (Batches()[number] for number in range(3)),
    "PyDataset": Batches,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "compiled": {},
    "eager": {"run_eagerly": True},
    "XLA": {"jit_compile": True},
    "several steps": {"steps_per_execution": 2},
    "ignoring NaN": {"on_nan": "ignore"},
}


# Keras warns where a generator ends, as it cannot know that there is but one epoch.
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
class TestSteps:
    """One for each batch, also of axioms that need no data."""

    def half_true(self) -> ltn.Theory:
        theory = classifier()
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w")
        return theory

    @pytest.mark.parametrize("source", SOURCES)
    def test_are_as_many_as_batches(self, source: str) -> None:
        theory = self.half_true()
        theory.compile("adam")
        theory.fit(SOURCES[source](), batch_size=4 if source == "dictionary" else None, verbose=0)
        assert int(theory.optimizer.iterations) == 3

    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
    def test_however_they_are_compiled(self, settings: dict[str, Any]) -> None:
        theory = self.half_true()
        theory.compile("sgd", **settings)
        theory.fit(SOURCES["filtered"](), verbose=0)
        assert int(theory.optimizer.iterations) == 3

    def test_of_replicas(self) -> None:
        with replicas(2).scope():
            theory = self.half_true()
            theory.compile("sgd")
        theory.fit(SOURCES["filtered"](), verbose=0)
        assert int(theory.optimizer.iterations.numpy()) == 3

    def test_of_a_model_with_knowledge(self) -> None:
        model = network()
        theory = knowledge(model)
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w")
        joined = ltn.with_knowledge(model, theory)
        joined.compile("sgd", "mse")
        pairs = batches().map(lambda batch: (batch["x"], tf.zeros([tf.shape(batch["x"])[0], 3])))
        joined.fit(pairs.filter(lambda x, y: True), shuffle=False, verbose=0)
        assert int(joined.optimizer.iterations) == 3


def late(fault: str) -> tf.data.Dataset:
    """Batches of two, the third of which is wrong."""

    def generate() -> Iterator[dict[str, Any]]:
        for row in range(0, 8, 2):
            batch = {"x": DATA["x"][row : row + 2].copy(), "town": np.array([0.0, 2.0], np.float32)}
            if row == 4 and fault == "class":
                batch["town"][1] = 7.0
            elif row == 4 and fault == "short":
                batch["town"] = batch["town"][:1]
            elif row == 4:
                batch["x"][1, 0] = {"outside": 3.0, "NaN": np.nan}[fault]
            yield batch

    signature = {"x": tf.TensorSpec([None, 2]), "town": tf.TensorSpec([None])}
    return tf.data.Dataset.from_generator(generate, output_signature=signature)


LATE = {
    "class": "The data of 'town' are not individuals of the finite domain 'towns' in 1 of 2 rows, .* row 1",
    "short": "must have the same number of individuals: 'x' has 2, 'town' has 1",
    "outside": r"The data of 'x' leave the bounds \(0.0, 1.0\) of the domain 'points' in 1 of 2 rows",
    "NaN": "The data of 'x' hold 1 values that are NaN or infinite, the first in row 1",
}


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
class TestLaterBatches:
    """What is wrong with a batch that only comes later is told in the words of a dictionary."""

    @pytest.fixture(scope="class")
    @classmethod
    def pairs(cls) -> ltn.Theory:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2, bounds=(0, 1))
        towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
        theory.variable("x", points)
        theory.variable("town", towns)
        head = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        theory.predicate("lies_in", (points, towns), ltn.Predicate.FromLogits(head, "softmax"))
        theory.axiom("forall diag(x, town): lies_in(x, town)")
        theory.compile("adam")
        return theory

    @pytest.mark.parametrize("fault", LATE)
    def test_are_checked(self, pairs: ltn.Theory, fault: str) -> None:
        before = int(pairs.optimizer.iterations)
        with pytest.raises(ltn.LogicValueError, match=f"In batch 3 of the data set: .*{LATE[fault]}"):
            pairs.fit(late(fault), verbose=0)
        assert int(pairs.optimizer.iterations) == before + 2
        for ask in (pairs.evaluate, pairs.predict):
            with pytest.raises(ltn.LogicValueError, match=f"In batch 3 .*{LATE[fault]}"):
                ask(late(fault), verbose=0)

    def test_nan_comes_through_where_it_is_skipped(self, pairs: ltn.Theory) -> None:
        other = pairs.copy()
        other.compile("adam", on_nan="skip")
        other.fit(late("NaN"), verbose=0)
        assert int(other.optimizer.iterations) == 3


class TestWrongOnes:
    @pytest.mark.parametrize("data", [batches().repeat(), Endless()], ids=["dataset", "py_dataset"])
    def test_without_end(self, theory: ltn.Theory, data: Any) -> None:
        with pytest.raises(ltn.LogicValueError, match="endless, and all of its rows are asked for"):
            theory.report(data)

    def test_without_batches(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match="has no batches"):
            theory.report(batches().take(0))

    @pytest.mark.parametrize("ask", ["report", "evaluate"])
    def test_single_individuals(self, theory: ltn.Theory, ask: str) -> None:
        single = tf.data.Dataset.from_tensor_slices(DATA)
        with pytest.raises(
            ltn.LogicValueError, match=r"shape \(n, 2\).*yields batches: `dataset.batch\(32\)`"
        ):
            getattr(theory, ask)(single)

    def test_generators(self, theory: ltn.Theory) -> None:
        endless: Any = (batch for batch in [DATA])
        with pytest.raises(ltn.LogicTypeError, match=r"A generator may be endless.*got a generator"):
            theory.report(endless)

    def test_targets(self, theory: ltn.Theory) -> None:
        labelled = batches().map(lambda batch: (batch, batch["l"]))
        with pytest.raises(ltn.LogicTypeError, match="no `y`"):
            theory.report(labelled)

    def test_weights_of_another_shape(self, theory: ltn.Theory) -> None:
        wrong = tf.data.Dataset.from_tensors((DATA, None, np.ones((10, 2))))
        for ask in (theory.report, theory.evaluate):
            with pytest.raises(ltn.LogicValueError, match="one number for each row"):
                ask(wrong)

    def test_weights_of_other_rows(self, theory: ltn.Theory) -> None:
        weighted = tf.data.Dataset.from_tensors(({"x": DATA["x"]}, None, np.ones(10)))
        assert theory.report(weighted, l=DATA["l"]).equals(theory.report(DATA))
        with pytest.raises(ltn.LogicValueError, match="'x' has 10, 'l' has 3"):
            theory.report(weighted, l=DATA["l"][:3])
