"""Quantifiers in chunks: the same values, gradients and weights, and memory that does not grow."""

from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
import ltn.fuzzy_ops as fo
from ltn.callbacks import Schedule
from ltn.knowledge.data import NOTHING
from tests.jit import assert_compiled, recorded
from tests.theory import everything as one_of_each
from tests.theory.chunked import DATA, X, assert_equal_gradients, assert_trained_alike, both, points, relation
from tests.theory.counting import Counter
from tests.theory.random_formulas import fewer
from tests.theory.test_text_equals_core import PATTERNS, SEMANTICS, WORLD, Comparison, formulas
from tests.theory.theories import (
    Before,
    assert_same_weights,
    classifier,
    knowledge,
    network,
    smokers,
    traced,
    trained_like,
    truth,
)
from tests.theory.trained import STEP_ATOL
from tests.theory.worlds import World, worlds
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

# Of 16 pairs and 4 people: one, several that leave a rest, all pairs, more than there are.
CHUNKS = [1, 5, 12, 16, 1000]


class TestEagerly:
    @pytest.mark.parametrize(("chunk", "patterns"), [(3, PATTERNS[::3]), (20, PATTERNS)], ids=["3", "20"])
    def test_patterns_of_all_kinds_are_as_without(self, chunk: int, patterns: list[str]) -> None:
        comparison = Comparison(WORLD, patterns, "stable_product")
        comparison.theory.chunk = chunk
        comparison.check(comparison.by_text)

    @pytest.mark.parametrize("semantics", SEMANTICS)
    @fewer(12)
    @given(data=st.data(), world=worlds(), chunk=st.sampled_from([1, 2, 5, 7, 100]))
    def test_random_axioms_are_as_without(
        self, semantics: str, data: st.DataObject, world: World, chunk: int
    ) -> None:
        comparison = Comparison(world, data.draw(formulas(semantics)), semantics)
        comparison.theory.chunk = chunk
        comparison.check(comparison.by_text)

    @pytest.mark.parametrize("chunk", CHUNKS)
    def test_chunks_of_all_sizes(self, chunk: int) -> None:
        assert_equal_gradients(both(smokers, chunk))

    @pytest.mark.parametrize(
        "semantics",
        [
            "stable_product",
            "product",
            "godel",
            # The aggregate of several axioms that are half true is 0, and learns nothing.
            ltn.semantics.lukasiewicz.replace(SatAgg=fo.Aggreg_Mean(), Forall=fo.Aggreg_Mean()),
            "log_product",
            ltn.semantics.product.replace(Forall=fo.Aggreg_Min(), Exists=fo.Aggreg_Max()),
            ltn.semantics.product.replace(Forall=fo.Aggreg_Mean(), Exists=fo.Aggreg_Mean()),
            ltn.semantics.product.replace(Forall=fo.Aggreg_Prod(), Exists=fo.Aggreg_ProbSum()),
            ltn.semantics.product.replace(Forall=fo.Aggreg_pMeanError(7), Exists=fo.Aggreg_pMean(7)),
        ],
        ids=str,
    )
    def test_every_semantics_has_the_same_gradients(self, semantics: Any) -> None:
        assert_equal_gradients(both(relation, 4, semantics=semantics))

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_declarations_of_all_kinds_are_as_without(self, semantics: str) -> None:
        theories = both(everything, 2, semantics=semantics)
        assert_equal_gradients(theories, one_of_each.DATA)


def everything(semantics: str, chunk: int | None = None) -> ltn.Theory:
    theory = one_of_each.everything(semantics)
    theory.chunk = chunk
    return theory


class TestCompiled:
    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_steps_learn_the_same_weights(self, semantics: str) -> None:
        assert_trained_alike(both(relation, 4, semantics=semantics))

    def test_xla_compiles_the_loops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        functions = recorded(monkeypatch)
        assert_trained_alike(both(relation, 4), whole={}, jit_compile=True)
        assert_compiled(functions[-1], {NOTHING: tf.zeros([1])})

    @pytest.mark.parametrize("pattern", PATTERNS[3::5])
    def test_sizes_may_be_unknown(self, pattern: str) -> None:
        comparison = Comparison(WORLD, [pattern], "stable_product")
        comparison.theory.chunk = 7
        comparison.check(comparison.by_text, unknown_sizes=True)

    def test_guards_over_data_with_a_last_batch_that_is_smaller(self) -> None:
        whole, chunked, by_xla = *both(classifier, 3), classifier(chunk=3)
        trained_like(by_xla, whole)
        for theory in (whole, chunked, by_xla):
            theory.remove("negative")
            theory.compile(keras.optimizers.SGD(0.5), jit_compile=theory is by_xla)
            theory.fit(DATA, batch_size=7, epochs=2, shuffle=False, verbose=0)
        assert_same_weights(whole, chunked, atol=STEP_ATOL)
        assert_same_weights(whole, by_xla, atol=STEP_ATOL)

    def test_nothing_is_traced_again(self) -> None:
        kind, traces = traced()
        theory = classifier(kind=kind, chunk=3)
        theory.compile("sgd")
        schedule = Schedule("p_forall", lambda epoch: 1.0 + epoch)
        theory.fit(DATA, batch_size=4, epochs=2, callbacks=[schedule], validation_data=DATA, verbose=0)
        first = list(traces)
        theory.fit(DATA, batch_size=3, epochs=4, callbacks=[schedule], validation_data=DATA, verbose=0)
        assert traces == first

    def test_hyperparameters_may_change_between_steps(self) -> None:
        theories = both(relation, 4)
        for theory in theories:
            theory.set_hyperparameters(p_exists=2.0)
            theory.set_hyperparameters("axiom_1", p_forall=3.0)

        def fit(theory: ltn.Theory) -> None:
            change = Before(lambda epoch: theory.set_hyperparameters(p_exists=3.0 + epoch))
            theory.compile(keras.optimizers.SGD(0.5))
            theory.fit(epochs=3, callbacks=[change], verbose=0)

        for theory in theories:
            fit(theory)
        assert_same_weights(*theories, atol=STEP_ATOL)

    def test_a_function_of_the_user_converts_nothing_of_it(self, capfd: pytest.CaptureFixture[str]) -> None:
        theory = points("forall x: exists y where first(y) < 0.5: F(x, y)", chunk=3)
        compiled = tf.function(lambda x: theory.query("forall x: exists y: F(x, y)", x=x, y=x).tensor)
        assert_close(
            compiled(tf.constant(DATA["x"])),
            truth(theory, "forall x: exists y: F(x, y)", X | {"y": DATA["x"]}),
        )
        assert "AutoGraph" not in capfd.readouterr().err


class TestSelections:
    def test_ties_share_the_gradient_across_slices(self) -> None:
        ties = tf.Variable([[0.3], [0.9], [0.3], [0.3], [0.7]])

        def gradient(chunk: int | None) -> tuple[float, Any]:
            theory = ltn.Theory("godel", chunk=chunk)
            numbers = theory.domain("numbers")
            theory.variable("x", numbers)
            theory.predicate("I", numbers, lambda x: x)
            with tf.GradientTape() as tape:
                value = theory.query("forall x: I(x)", x=tf.convert_to_tensor(ties)).tensor
            return float(value), tape.gradient(value, ties)

        for chunk in (None, 1, 2):
            value, slope = gradient(chunk)
            assert_close(value, 0.3)
            assert_close(slope[:, 0], [1 / 3, 0.0, 1 / 3, 1 / 3, 0.0])

    @pytest.mark.parametrize(("kind", "expected"), [("forall", 1.0), ("exists", 0.0)])
    @pytest.mark.parametrize("guard", ["first(x) > 9", "first(x) > first(y) + 9"])
    def test_nothing_selected(self, kind: str, expected: float, guard: str) -> None:
        theory = points("forall x: S(x)", chunk=3)
        assert truth(theory, f"{kind} x, y where {guard}: F(x, y)", X, y=DATA["x"]) == expected

    def test_nothing_selected_in_some_slices(self) -> None:
        theories = both(points, 4, text="forall x, y where first(x) > 0.8 & first(x) > first(y): F(x, y)")
        assert_equal_gradients(theories, X | {"y": DATA["x"]})

    @pytest.mark.parametrize("text", ["forall x, y: F(x, y)", "forall x: exists y: F(x, y)"])
    def test_no_individuals_at_all(self, text: str) -> None:
        whole, chunked = both(points, 3, text=text)
        specs = {name: tf.TensorSpec([None, 2]) for name in "xy"}
        compiled = [tf.function(t, input_signature=[specs], autograph=False) for t in (whole, chunked)]
        for sizes in [(0, 0), (0, 4), (4, 0), (4, 4)]:
            data = {name: tf.ones([size, 2]) for name, size in zip("xy", sizes, strict=True)}
            expected = whole(data)["axiom"]
            assert_close(chunked(data)["axiom"], expected)
            assert_close([function(data)["axiom"] for function in compiled], [expected] * 2)

    def test_a_diagonal_around_a_large_quantifier(self) -> None:
        # Of 10 pairs and 3 classes; alone, the inner one would be over 10 x 10 x 3.
        def make(chunk: int | None = None) -> ltn.Theory:
            theory = knowledge(network(), chunk=chunk)
            theory.variable("l", theory.domain("labels"))
            theory.variable("k", theory.signature.domains["classes"])
            theory.axiom("forall diag(x, l): exists k where k + 0 >= l: P(x, k)")
            return theory

        assert_equal_gradients(both(make, 40), DATA)


class TestSlices:
    """How many rows networks see at once."""

    def rows(self, text: str, chunk: int) -> list[int]:
        counter = Counter()
        theory = points("forall x: S(x)", chunk=chunk)
        theory.predicate("R", [theory.signature.domains["points"]] * 2, counter)
        counter.counted()
        theory.query(text, X, y=DATA["x"], z=DATA["x"])
        return counter.counted()

    def test_are_of_one_size_but_for_the_rest(self) -> None:
        assert self.rows("forall x, y: R(x, y)", 40) == [40, 40, 20]
        assert self.rows("forall x, y: R(x, y)", 39) == [30, 30, 30, 10]

    def test_are_at_least_one_individual_with_all_others(self) -> None:
        assert self.rows("forall x, y: R(x, y)", 1) == [10] * 10

    def test_are_not_cut_where_all_are_few_enough(self) -> None:
        assert self.rows("forall x, y: R(x, y)", 100) == [100]

    def test_of_quantifiers_beside_each_other_the_largest_counts(self) -> None:
        # x with y, and x with z, but never all three.
        text = "forall x: (exists y: R(x, y)) & (exists z: R(z, x))"
        assert self.rows(text, 50) == [100, 100]
        assert self.rows(text, 100) == [200]

    def test_only_large_quantifiers_are_cut(self) -> None:
        assert sorted(self.rows("(forall x: R(x, x)) -> exists x, y: R(x, y)", 50)) == [10, 50, 50]


class TestQuestions:
    def test_queries_with_free_variables_beside_quantified_ones(self) -> None:
        whole, chunked = both(smokers, 5)
        for text in (
            "forall x: F(x, y)",
            "S(x) & exists y: F(x, y) | F(y, x)",
            "F(x, a) -> forall[p=6] y: F(y, x)",
        ):
            answer, expected = chunked.query(text), whole.query(text)
            assert answer.free_vars == expected.free_vars
            assert_close(answer.tensor, expected.tensor)
            assert answer.to_frame().index.equals(expected.to_frame().index)

    def test_reports_evaluation_and_prediction(self) -> None:
        whole, chunked = both(classifier, 3)
        assert_close(chunked.report(DATA)["satisfaction"], whole.report(DATA)["satisfaction"])
        assert_close(chunked.explain("positive", DATA)["truth"], whole.explain("positive", DATA)["truth"])
        logs = []
        for theory in (whole, chunked):
            theory.compile("sgd", run_eagerly=theory is whole)
            evaluated = theory.evaluate(DATA, batch_size=4, verbose=0)
            predicted = theory.predict(DATA, batch_size=4, verbose=0)
            logs.append([*evaluated, *predicted["satisfaction"], *predicted["negative"]])
        assert_close(logs[1], logs[0])

    def test_other_semantics_and_exponents(self) -> None:
        whole, chunked = both(smokers, 5)
        for settings in ({"semantics": "log_product"}, {"p": 5}, {"semantics": "godel"}):
            text = "forall x: exists y: F(x, y)"
            assert_close(truth(chunked, text, **settings), truth(whole, text, **settings))

    def test_saving_keeps_the_chunk(self, tmp_path: Path) -> None:
        theory = smokers(chunk=5)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.chunk == 5
        assert_close(loaded({})["satisfaction"], theory({})["satisfaction"])

    def test_entailment_is_decided_alike(self) -> None:
        verdicts = []
        for chunk in (None, 2):
            theory = ltn.Theory(chunk=chunk)
            people = theory.domain("people", shape=2)
            theory.constants("a, b, c", people, values=[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
            theory.variable("x", people)
            for name in "SC":
                layers = [keras.Input((2,)), keras.layers.Dense(1, "sigmoid", kernel_initializer="zeros")]
                theory.predicate(name, people, keras.Sequential(layers))
            theory.axioms("forall x: S(x) -> C(x)\nforall x: S(x)")
            settings: dict[str, Any] = {"restarts": 1, "steps": 60, "seed": 0, "verbose": 0}
            verdicts.append([theory.entails("C(b)", **settings), theory.entails("~C(b)", **settings)])
        for one, other in zip(*verdicts, strict=True):
            assert (bool(one), one.case) == (bool(other), other.case)
        assert verdicts[1][0]
        assert not verdicts[1][1]
