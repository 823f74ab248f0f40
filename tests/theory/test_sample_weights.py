"""Sample weights: a row of weight w counts w times wherever a quantifier ranges over the rows of a batch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.knowledge.data import with_weights
from tests.theory.chunked import gradients
from tests.theory.replicated import logs_of, points, theory_of
from tests.theory.theories import Table, assert_same_weights, degrees
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

DATA = points(6)
WEIGHTS = np.array([2.0, 0.0, 1.0, 3.0, 1.0, 0.0], np.float32)
REPEATED = {name: np.repeat(values, WEIGHTS.astype(int), axis=0) for name, values in DATA.items()}
# A step on sums in another order.
ATOL = 2e-6


def nested(theory: ltn.Theory) -> None:
    """Formulas in which weights meet: guards over guards, products of weights, nothing."""
    theory.axioms("""
        guarded_twice: forall x where norm(x) < 1: exists y where norm(x - y) < 1: R(x, y)
        half: forall diag(x, l), y where l = 1: R(x, y)
        nowhere: exists x where norm(x) > 9: P(x)
        elsewhere: exists y: forall x, l where norm(x - y) < 1: P(y) & l <= 0.5
    """)


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    return theory_of(axioms=("all",))


class TestRowsThatAreRepeated:
    @pytest.mark.parametrize("semantics", ["stable_product", "godel", "lukasiewicz", "log_product"])
    def test_values_and_gradients(self, semantics: str) -> None:
        true = semantics == "lukasiewicz"
        theory = theory_of(
            axioms=("classes", "close", "related"), more=nested, semantics=semantics, true=true
        )
        (truth, slopes), (expected, expected_slopes) = (
            gradients(theory, data) for data in (with_weights(DATA, WEIGHTS), REPEATED)
        )
        assert_close(truth, expected, rtol=1e-5)
        for slope, other in zip(slopes, expected_slopes, strict=True):
            assert_close(slope, other, rtol=1e-4, atol=ATOL)  # sums in another order

    @pytest.mark.parametrize("semantics", ["product", "godel", "log_product"])
    def test_in_chunks(self, semantics: str) -> None:
        theory = theory_of(axioms=("close", "related"), semantics=semantics, chunk=12)
        self.assert_same_truths(theory)

    def test_masks_of_guards(self) -> None:
        theory = theory_of(axioms=("close",), more=nested)
        theory.use_xla(True)
        self.assert_same_truths(tf.function(theory, autograph=False))

    def assert_same_truths(self, theory: Any) -> None:
        truths, expected = (theory(data) for data in (with_weights(DATA, WEIGHTS), REPEATED))
        for name in expected:
            assert_close(truths[name], expected[name], rtol=1e-5)

    def test_weights_need_not_be_whole_numbers(self) -> None:
        theory = degrees([0.0, 1.0], "product")
        theory.axiom("forall[p=1] x: I(x)", name="mean")
        theory.axiom("forall[p=1] x, y: I(x) & I(y)", name="pairs")
        theory.compile()
        data = {"x": [0.0, 1.0], "y": [0.0, 1.0]}
        found = theory.evaluate(data, sample_weight=[0.5, 1.5], verbose=0, return_dict=True)
        assert_close(found["mean"], 0.75)
        assert_close(found["pairs"], 0.75**2)

    def test_individuals_that_are_not_rows_have_no_weights(self) -> None:
        theory = degrees([0.0, 1.0], "product")
        theory.axiom("forall[p=1] x, y: I(x) | I(y)", name="all")
        theory.compile()
        found = theory.evaluate({"x": [0.0, 1.0]}, sample_weight=[3.0, 1.0], verbose=0, return_dict=True)
        assert_close(found["all"], 0.625)


class TestTraining:
    @pytest.fixture(scope="class")
    @classmethod
    def expected(cls) -> tuple[ltn.Theory, dict[str, list[float]]]:
        theory = theory_of(axioms=("close",))
        return theory, logs_of(theory.fit(REPEATED, batch_size=8, epochs=2, shuffle=False, verbose=0))

    def assert_law(self, expected: Any, data: Any, **settings: Any) -> ltn.Theory:
        theory = theory_of(axioms=("close",))
        other, logs = expected
        found = theory.fit(data, epochs=2, verbose=0, **settings)
        for name, values in logs_of(found).items():
            assert_close(values, logs[name.removeprefix("val_")], rtol=1e-5)
        assert_same_weights(theory, other, atol=ATOL)
        return theory

    def test_of_a_dictionary(self, expected: Any) -> None:
        theory = self.assert_law(expected, DATA, sample_weight=WEIGHTS)
        logs = theory.evaluate(DATA, sample_weight=WEIGHTS, verbose=0)
        assert_close(logs, expected[0].evaluate(REPEATED, verbose=0), rtol=1e-5)
        assert_close(theory.report(dataset()).satisfaction, expected[0].report(REPEATED).satisfaction)

    def test_of_a_data_set(self, expected: Any) -> None:
        self.assert_law(expected, dataset())

    def test_of_a_generator(self, expected: Any) -> None:
        def batches() -> Iterator[Any]:
            for _ in range(2):
                yield DATA, None, WEIGHTS

        self.assert_law(expected, batches(), steps_per_epoch=1)

    def test_of_validation_data(self, theory: ltn.Theory) -> None:
        history = theory.fit(DATA, validation_data=(DATA, None, WEIGHTS), verbose=0).history
        assert_close(history["val_all"], theory.report(REPEATED).satisfaction, rtol=1e-5)

    def test_means_over_batches_count_weights(self, theory: ltn.Theory) -> None:
        logs = theory.evaluate(DATA, sample_weight=WEIGHTS, batch_size=3, verbose=0, return_dict=True)
        halves = [
            theory.report(with_weights({name: values[part] for name, values in DATA.items()}, WEIGHTS[part]))
            for part in (slice(0, 3), slice(3, 6))
        ]
        first, second = (half.satisfaction[0] for half in halves)
        assert_close(logs["all"], (3.0 * first + 4.0 * second) / 7.0, rtol=1e-5)

    def test_a_batch_in_which_no_row_counts_teaches_nothing(self, theory: ltn.Theory) -> None:
        weights = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        logs = theory.evaluate(DATA, sample_weight=weights, batch_size=3, verbose=0, return_dict=True)
        last = {name: values[3:] for name, values in DATA.items()}
        assert_close(logs["all"], theory.report(last).satisfaction[0], rtol=1e-5)

    def test_the_plan_says_it(self) -> None:
        theory = theory_of(axioms=("all", "labelled"))
        assert "forall over x, weighted" in str(theory.plan(None, dataset()))
        assert "weighted" not in str(theory.plan(None, DATA))


def dataset(weights: Any = WEIGHTS) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((DATA, None, weights)).batch(6)


class TestWrongWeights:
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1.0, -1.0, 1.0, 1.0, 1.0, 1.0], "finite numbers from 0 up.*got -1.0 in row 1"),
            ([1.0, 1.0, np.nan, 1.0, 1.0, 1.0], "got nan in row 2"),
            ([np.inf] * 6, "got inf in row 0"),
            ([0.0] * 6, "All 6 rows of the data have the weight 0"),
            ([1.0] * 5, r"the shape \(6,\).*got \(5,\)"),
            (np.ones((6, 2)), r"the shape \(6,\).*got \(6, 2\)"),
            (1.0, r"the shape \(6,\).*got \(\)"),
            (["a"] * 6, "`sample_weight` must be numbers"),
        ],
    )
    def test_they_are_refused(self, theory: ltn.Theory, weights: Any, message: str) -> None:
        for call in (theory.fit, theory.evaluate):
            with pytest.raises(ltn.LogicError, match=message):
                call(DATA, sample_weight=weights, verbose=0)
        with pytest.raises(ltn.LogicError, match=message):
            theory.fit(DATA, validation_data=(DATA, None, weights), verbose=0)

    def test_a_column_will_do(self, theory: ltn.Theory) -> None:
        found = theory.evaluate(DATA, sample_weight=WEIGHTS[:, np.newaxis], verbose=0)
        assert_close(found, theory.evaluate(DATA, sample_weight=WEIGHTS, verbose=0))

    def test_wrong_ones_in_a_data_set(self, theory: ltn.Theory) -> None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="finite numbers from 0 up"):
            theory.evaluate(dataset(-WEIGHTS), verbose=0)
        with pytest.raises(ltn.LogicTypeError, match="no `y`"):
            theory.evaluate(tf.data.Dataset.from_tensors((DATA, WEIGHTS, WEIGHTS)), verbose=0)

    def test_beside_a_data_set(self, theory: ltn.Theory) -> None:
        with pytest.raises(
            ltn.LogicTypeError, match=r"yields its weights itself, as \(batch, None, weights\)"
        ):
            theory.fit(dataset(), sample_weight=WEIGHTS, verbose=0)

    def test_without_data(self) -> None:
        theory = ltn.Theory()
        theory.proposition("p", 0.5, trainable=True)
        theory.axiom("p")
        theory.compile()
        with pytest.raises(ltn.LogicValueError, match="for rows of data, and no data came"):
            theory.fit(sample_weight=[1.0], verbose=0)

    def test_axioms_of_python_code_cannot_count_them(self) -> None:
        theory = theory_of(
            axioms=("all",), more=lambda theory: theory.axiom(lambda: ltn.Formula(0.5, []), "c")
        )
        with pytest.raises(ltn.LogicTypeError, match="'c' is Python code, whose quantifiers know no sample"):
            theory.fit(DATA, sample_weight=WEIGHTS, verbose=0)

    def test_quantifiers_of_ones_own_cannot_count_them(self) -> None:
        def own(xs: Any, axis: Any) -> tf.Tensor:
            return tf.reduce_min(xs, axis)

        theory = theory_of(axioms=("all",), semantics=ltn.semantics.product.replace(Forall=own))
        with pytest.raises(ltn.LogicTypeError, match="Sample weights need quantifiers with an aggregator"):
            theory.fit(DATA, sample_weight=WEIGHTS, verbose=0)
        theory.evaluate(DATA, verbose=0)


def test_the_weights_are_no_variable() -> None:
    data: Table = {**DATA, "row_weights": WEIGHTS}
    with pytest.raises(ltn.LogicValueError, match="'row_weights', which is not a variable"):
        theory_of(axioms=("all",)).evaluate(data, verbose=0)
