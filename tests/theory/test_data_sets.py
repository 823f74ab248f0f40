"""Data sets wherever data are taken: batches for training, and all rows at once for questions."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import classifier, labelled_points
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
