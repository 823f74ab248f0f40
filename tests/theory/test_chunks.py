"""Quantifiers in chunks: the same values, gradients and weights, and memory that does not grow."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import ltn
import ltn.fuzzy_ops as fo
from ltn.callbacks import Schedule
from ltn.errors import LogicTypeError, LogicValueError
from tests.jit import assert_compiled, recorded
from tests.theory import everything as one_of_each
from tests.theory.counting import Counter
from tests.theory.random_formulas import fewer
from tests.theory.test_text_equals_core import PATTERNS, SEMANTICS, WORLD, Comparison, formulas
from tests.theory.theories import (
    Before,
    Table,
    assert_same_weights,
    classifier,
    degrees,
    knowledge,
    labelled_points,
    network,
    smokers,
    traced,
    trained_like,
    truth,
    weights_of,
)
from tests.theory.trained import STEP_ATOL
from tests.theory.worlds import World, worlds
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

ROOT = Path(__file__).parents[2]
DATA = labelled_points(10)
# Of 16 pairs and 4 people: one, several that leave a rest, all pairs, more than there are.
CHUNKS = [1, 5, 12, 16, 1000]


def both(make: Callable[..., Any], chunk: int, **settings: Any) -> tuple[Any, Any]:
    """Two theories that are equal but for the chunk."""
    whole, chunked = make(**settings), make(chunk=chunk, **settings)
    trained_like(chunked, whole)
    return whole, chunked


def gradients(theory: ltn.Theory, data: Any = None) -> tuple[Any, list[Any]]:
    """The satisfaction, and its gradient for all that is learned."""
    weights = [weight.value for weight in theory.trainable_variables]
    with tf.GradientTape() as tape:
        satisfaction = theory(data or {})["satisfaction"]
    return satisfaction, tape.gradient(satisfaction, weights)


def assert_equal_gradients(theories: tuple[ltn.Theory, ltn.Theory], data: Any = None) -> None:
    (value, slopes), (expected, expected_slopes) = (gradients(theory, data) for theory in reversed(theories))
    assert_close(value, expected)
    assert any(slope is not None and np.any(slope) for slope in expected_slopes)
    for slope, other in zip(slopes, expected_slopes, strict=True):
        assert (slope is None) == (other is None)
        if slope is not None:
            # Sums in another order, of slopes of some size.
            assert_close(tf.convert_to_tensor(slope), tf.convert_to_tensor(other), rtol=1e-5, atol=1e-6)


def assert_trained_alike(
    theories: tuple[Any, Any], data: Any = None, steps: int = 2, optimizer: Any = None, **settings: Any
) -> None:
    """Some steps, compiled with the settings, leave the same weights and logs."""
    histories = []
    for theory in theories:
        before = weights_of(theory)
        theory.compile(keras.optimizers.SGD(0.5) if optimizer is None else optimizer(), **settings)
        histories.append(theory.fit(data, epochs=steps, shuffle=False, verbose=0).history)
        assert any(np.any(old != new) for old, new in zip(before, weights_of(theory), strict=True))
    assert_same_weights(*theories, atol=STEP_ATOL)
    for name, values in histories[0].items():
        assert_close(histories[1][name], values, rtol=1e-5)


def points(text: str, model: Any = None, chunk: int | None = None, semantics: Any = "stable_product") -> Any:
    """One axiom about three variables over points, given as data, with a predicate S of one and F of two."""
    theory = ltn.Theory(semantics, chunk=chunk)
    domain = theory.domain("points", shape=2)
    theory.variables("x, y, z", domain)
    theory.predicate("S", domain, ltn.Predicate.MLP([2], (3,)) if model is None else model)
    theory.predicate("F", (domain, domain), ltn.Predicate.MLP([2, 2], (3,)))
    theory.function("first", domain, theory.domain("numbers"), lambda point: point[:, :1])
    theory.axiom(text, name="axiom")
    return theory


X: Table = {"x": DATA["x"]}


def relation(semantics: Any = "stable_product", chunk: int | None = None) -> ltn.Theory:
    """A relation of three people, who are learned, among each other."""
    theory = ltn.Theory(semantics, chunk=chunk)
    people = theory.domain("people", shape=2)
    theory.constants("a, b, c", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("F", (people, people), ltn.Predicate.MLP([2, 2], (3,)))
    theory.axiom("forall x, y: F(x, y) -> F(y, x)")
    theory.axiom("forall x: exists y: F(x, y)")
    return theory


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
    def test_every_semantics_learns_the_same_weights(self, semantics: Any) -> None:
        assert_trained_alike(both(relation, 4, semantics=semantics), run_eagerly=True)

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
        assert_trained_alike(both(smokers, 5, semantics=semantics))

    def test_xla_compiles_the_loops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        functions = recorded(monkeypatch)
        assert_trained_alike(both(relation, 4), jit_compile=True)
        assert_compiled(functions[-1], {"no data": tf.zeros([1])})

    @pytest.mark.parametrize("pattern", PATTERNS[3::5])
    def test_sizes_may_be_unknown(self, pattern: str) -> None:
        comparison = Comparison(WORLD, [pattern], "stable_product")
        comparison.theory.chunk = 7
        comparison.check(comparison.by_text, unknown_sizes=True)

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_guards_over_data_with_a_last_batch_that_is_smaller(self, jit_compile: bool) -> None:
        theories = both(classifier, 3)
        for theory in theories:
            theory.compile(keras.optimizers.SGD(0.5), jit_compile=jit_compile)
            theory.fit(DATA, batch_size=7, epochs=2, shuffle=False, verbose=0)
        assert_same_weights(*theories, atol=STEP_ATOL)

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
            theory.compile("sgd")
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


class TestWhatIsLearned:
    """Gradients reach everything that they reach without chunks, and nothing else."""

    def test_a_model_with_knowledge(self) -> None:
        def make(chunk: int | None = None) -> Any:
            model = network()
            return ltn.with_knowledge(model, knowledge(model, chunk=chunk), weight=0.5)

        models = both(make, 4)
        for model in models:
            model.compile(
                keras.optimizers.SGD(0.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            )
            model.fit(DATA["x"], DATA["l"], epochs=2, shuffle=False, verbose=0)
        assert_same_weights(*models, atol=STEP_ATOL)

    def test_what_the_data_come_from(self) -> None:
        whole, chunked = both(points, 12, text="forall x, y where first(x) < first(y): F(x, y) -> S(y)")
        encoder = tf.Variable([[0.5, 1.0], [-1.0, 0.5]])
        slopes = []
        for theory in (whole, chunked):
            with tf.GradientTape() as tape:
                features = tf.constant(DATA["x"]) @ encoder
                satisfaction = theory({"x": features, "y": features})["axiom"]
            slopes.append(tape.gradient(satisfaction, encoder))
        assert np.all(np.abs(slopes[0]) > 0.0)
        assert_close(slopes[1], slopes[0], rtol=1e-5)

    @pytest.mark.parametrize("compiled", [False, True])
    def test_variables_that_a_plain_callable_reads(self, compiled: bool) -> None:
        own = tf.Variable([[0.3], [-0.2]])
        theories = [points("forall x: S(x)", lambda x: tf.sigmoid(x @ own), chunk) for chunk in (None, 3)]

        def slope(theory: ltn.Theory) -> Any:
            def run() -> Any:
                with tf.GradientTape() as tape:
                    satisfaction = theory({"x": tf.constant(DATA["x"])})["axiom"]
                return tape.gradient(satisfaction, own)

            return tf.function(run, autograph=False)() if compiled else run()

        expected, found = map(slope, theories)
        assert_close(found, expected, rtol=1e-5)

    def test_a_weight_that_no_axiom_mentions_has_no_gradient(self) -> None:
        def make(chunk: int | None = None) -> ltn.Theory:
            theory = points("forall x: S(x)", chunk=chunk)
            theory.proposition("w", 0.5, trainable=True)
            theory.constants("a, b", theory.domain("others", shape=2), trainable=True)
            return theory

        # Weight decay moves each weight that has one.
        assert_trained_alike(
            both(make, 3), X, optimizer=lambda: keras.optimizers.AdamW(0.1, weight_decay=0.5)
        )

    def test_a_tape_may_be_asked_twice(self) -> None:
        theory = smokers(chunk=5)
        weights = [weight.value for weight in theory.trainable_variables]
        with tf.GradientTape(persistent=True) as tape:
            satisfaction = theory({})["satisfaction"]
        once, again = (tape.gradient(satisfaction, weights) for _ in range(2))
        for one, other in zip(once, again, strict=True):
            assert_close(one, other)

    def test_axioms_that_are_python_code_stay_whole(self) -> None:
        def make(chunk: int | None = None) -> ltn.Theory:
            theory = smokers(chunk=chunk)
            forall = ltn.Wrapper_Quantifier(fo.Aggreg_Mean(), "forall")

            def everyone() -> ltn.Formula:
                people = ltn.Variable("people", theory.individuals[0].tensor)
                return forall(people, theory.symbols["S"](people))

            theory.axiom(everyone, name="code")
            return theory

        assert_equal_gradients(both(make, 5))

    def test_half_precision(self) -> None:
        keras.config.set_dtype_policy("mixed_float16")
        try:
            whole, chunked = both(smokers, 5)
            found, expected = gradients(chunked), gradients(whole)
        finally:
            keras.config.set_dtype_policy("float32")
        # float16 has 11 bits, and slices round otherwise.
        assert_close(found[0], expected[0], rtol=2e-3)
        for slope, other in zip(found[1], expected[1], strict=True):
            assert_close(slope, other, rtol=2e-2, atol=2e-3)


class Louder(keras.Layer):
    """A layer that behaves otherwise in training, without chance."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def build(self, input_shape: Any) -> None:
        self.dense.build(input_shape)
        self.built = True

    def call(self, x: Any, training: bool | None = None) -> Any:
        return tf.sigmoid(self.dense(x) * (3.0 if training else 1.0))


class Adding(keras.Layer):
    """A layer with a loss of its own."""

    def call(self, x: Any) -> Any:
        self.add_loss(tf.reduce_mean(x))
        return x


def of_layers(*layers: keras.Layer) -> keras.Model:
    return keras.Sequential([keras.Input((2,)), *layers, keras.layers.Dense(1, "sigmoid")])


class TestLayers:
    @pytest.mark.parametrize("settings", [{}, {"run_eagerly": True}], ids=str)
    def test_know_in_the_second_computation_too_that_they_are_trained(self, settings: dict[str, Any]) -> None:
        make = [points("forall x: S(x)", Louder(), chunk) for chunk in (None, 3)]
        trained_like(make[1], make[0])
        assert_trained_alike((make[0], make[1]), X, **settings)

    @pytest.mark.parametrize(
        "kind", ["Dropout", "BatchNormalization", "GaussianNoise", "SpectralNormalization"]
    )
    def test_that_depend_on_chance_or_on_other_rows_are_refused_in_training_only(self, kind: str) -> None:
        layer = {
            "Dropout": lambda: keras.layers.Dropout(0.5),
            "BatchNormalization": keras.layers.BatchNormalization,
            "GaussianNoise": lambda: keras.layers.GaussianNoise(0.5),
            "SpectralNormalization": lambda: keras.layers.SpectralNormalization(keras.layers.Dense(2)),
        }[kind]()
        theory = points("forall x: S(x)", of_layers(layer), chunk=3)
        theory.compile("sgd", run_eagerly=True)
        expected = truth(theory, "forall x: S(x)", X)
        logs = theory.evaluate(X, batch_size=10, verbose=0, return_dict=True)
        assert_close(logs["axiom"], expected)
        message = (
            rf"(?s)In `forall x: S\(x\)`.*'S' has the layer '{layer.name}', a {kind}, whose output depends"
        )
        with pytest.raises(LogicValueError, match=message):
            theory.fit(X, verbose=0)
        layer.trainable = kind != "BatchNormalization"
        if not layer.trainable:
            theory.fit(X, verbose=0)

    @pytest.mark.parametrize("compiled", [False, True])
    def test_with_a_loss_of_their_own_are_refused(self, compiled: bool) -> None:
        for layer in (keras.layers.Dense(2, activity_regularizer="l2"), Adding()):
            theory = points("forall x: S(x)", of_layers(layer), chunk=3)
            call = tf.function(theory, autograph=False) if compiled else theory
            with pytest.raises(
                LogicValueError, match=r"adds a loss of its own, by `add_loss` or an activity"
            ):
                call({"x": tf.constant(DATA["x"])})

    def test_weights_may_be_regularized(self) -> None:
        make = [
            points("forall x: S(x)", of_layers(keras.layers.Dense(2, kernel_regularizer="l2")), chunk)
            for chunk in (None, 3)
        ]
        trained_like(make[1], make[0])
        assert_trained_alike((make[0], make[1]), X, run_eagerly=True)


class TestErrors:
    @pytest.mark.parametrize("chunk", [0, -1, 2.0, "3", True])
    def test_a_chunk_is_a_positive_number(self, chunk: Any) -> None:
        with pytest.raises(LogicValueError, match=rf"`chunk` must be .* at least 1, or None; got {chunk!r}"):
            ltn.Theory(chunk=chunk)

    def test_a_number_of_numpy_is_one(self) -> None:
        chunk: Any = np.int64(5)
        assert ltn.Theory(chunk=chunk).chunk == 5

    def test_second_derivatives_are_refused(self) -> None:
        theory = relation(chunk=4)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                satisfaction = theory({})["satisfaction"]
            slopes = inner.gradient(satisfaction, theory.trainable_variables)
        with pytest.raises(LogicValueError, match="no second derivatives through chunks: leave out `chunk`"):
            outer.gradient(slopes, theory.trainable_variables)

    def test_more_than_an_int32_is_everything(self) -> None:
        theory = points("forall x, y: F(x, y)", chunk=10**20)
        whole = points("forall x, y: F(x, y)")
        trained_like(theory, whole)
        compiled = tf.function(
            theory, input_signature=[{n: tf.TensorSpec([None, 2]) for n in "xy"}], autograph=False
        )
        data = {name: tf.constant(DATA["x"]) for name in "xy"}
        assert_close(compiled(data)["axiom"], whole(data)["axiom"])

    def test_an_aggregator_of_the_user_needs_all_values(self) -> None:
        semantics = ltn.semantics.product.replace(Forall=lambda xs, axis, **_: tf.reduce_mean(xs, axis))
        theory = degrees([0.2, 0.4, 0.9], semantics, chunk=2)
        with pytest.raises(
            LogicTypeError, match=r"In `forall x: I\(x\)`: A quantifier in chunks, .*fuzzy_ops; got"
        ):
            theory.query("forall x: I(x)")
        assert_close(truth(degrees([0.2, 0.4, 0.9], semantics, chunk=3), "forall x: I(x)"), 0.5)

    def test_an_error_inside_a_slice_shows_the_formula(self) -> None:
        theory = degrees([0.2, 0.4, 1.5], chunk=1)
        with pytest.raises(LogicValueError, match=r"^In `forall x: I\(x\)`: .*1\.5"):
            theory.query("forall x: I(x)")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_individuals() -> None:
    def risen(chunk: int, *sizes: int) -> dict[str, int]:
        command = [sys.executable, "-m", "tests.theory.large_relation", str(chunk), *map(str, sizes)]
        return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)

    chunked = risen(20_000, 300, 600, 1200)
    # A slice of 20 000 pairs is two calls with 26 numbers a pair and their gradients, 8 MiB, some of them
    # held twice, and all that allocators keep. 1200 individuals have 16 times as many pairs as 300.
    assert chunked["300"] < 48 * 1024
    assert chunked["1200"] - chunked["300"] < 24 * 1024
    # All 1.44 million pairs, with 26 numbers each, are 143 MiB.
    assert risen(0, 1200)["1200"] > 143 * 1024
