"""Knowledge for a Keras model: its task loss, plus how much it violates the axioms of a theory."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import assert_same_weights, knowledge, network, truth, weights_of
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = np.random.default_rng(0).normal(size=(24, 2)).astype(np.float32)
CLASSES = (POINTS[:, 0] > 0).astype(np.int32) + (POINTS[:, 1] > 0)


def task() -> keras.losses.Loss:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def compiled(model: Any, optimizer: Any = None, **settings: Any) -> Any:
    model.compile(optimizer or keras.optimizers.Adam(0.05), task(), **settings)
    # Else Keras traces the first step twice, which costs these tests half of their time.
    model.optimizer.build(model.trainable_variables)
    return model


def satisfaction(theory: ltn.Theory, data: Any) -> float:
    """Of all axioms together, on all the data at once."""
    return float(theory(data)["satisfaction"][0])


class TestLoss:
    def test_is_that_of_the_task_plus_the_weighted_lack_of_satisfaction(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        model = compiled(ltn.with_knowledge(classifier, theory, weight=0.5), keras.optimizers.SGD(0.0))
        expected_task = float(task()(CLASSES, classifier(POINTS)))
        satisfied = satisfaction(theory, {"x": POINTS})
        expected = expected_task + 0.5 * (1.0 - satisfied)
        logs = model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)
        assert_close(logs["loss"], expected)
        assert_close(logs["satisfaction"], satisfied)
        history = model.fit(POINTS, CLASSES, batch_size=24, epochs=2, verbose=0).history
        assert_close(history["loss"], [expected] * 2)
        assert_close(history["satisfaction"], [satisfied] * 2)

    def test_the_log_product_adds_the_negative_logarithm(self) -> None:
        classifier = network()
        theory = knowledge(classifier, "log_product")
        model = compiled(ltn.with_knowledge(classifier, theory, weight=2.0))
        satisfied = satisfaction(theory, {"x": POINTS})
        logs = model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)
        assert_close(
            logs["loss"], float(task()(CLASSES, classifier(POINTS))) - 2.0 * np.log(satisfied), rtol=1e-5
        )

    def test_regularizers_of_layers_and_of_the_theory_count_once(self) -> None:
        dense = keras.layers.Dense(3, kernel_regularizer=keras.regularizers.L2(0.1))
        classifier = keras.Sequential([keras.Input((2,)), dense])
        theory = knowledge(classifier, regularizer=keras.regularizers.L1(0.01))
        model = compiled(ltn.with_knowledge(classifier, theory, weight=1.0))
        logs = model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)
        kernel, bias = (np.array(weight, np.float64) for weight in dense.weights)
        penalty = 0.1 * np.sum(kernel**2) + 0.01 * (np.sum(np.abs(kernel)) + np.sum(np.abs(bias)))
        expected = float(task()(CLASSES, classifier(POINTS))) + (1.0 - logs["satisfaction"]) + penalty
        assert_close(logs["loss"], expected)

    def test_sample_weights_are_those_of_the_task(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        model = compiled(ltn.with_knowledge(classifier, theory, weight=1.0))
        weights = np.linspace(0.0, 1.0, 24).astype(np.float32)
        logs = model.evaluate(POINTS, CLASSES, sample_weight=weights, verbose=0, return_dict=True)
        of_task = float(task()(CLASSES, classifier(POINTS), sample_weight=weights))
        assert_close(logs["loss"], of_task + 1.0 - satisfaction(theory, {"x": POINTS}))

    def test_the_mean_over_batches_counts_them_by_their_size(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        model = compiled(ltn.with_knowledge(classifier, theory, weight=1.0))
        logs = model.evaluate(POINTS, CLASSES, batch_size=20, verbose=0, return_dict=True)
        parts = [satisfaction(theory, {"x": part}) for part in (POINTS[:20], POINTS[20:])]
        assert_close(logs["satisfaction"], np.average(parts, weights=[20, 4]))


class TestTraining:
    @pytest.fixture(scope="class")
    @classmethod
    def history(cls) -> Any:
        keras.utils.set_random_seed(0)
        classifier = network()
        model = compiled(
            ltn.with_knowledge(classifier, knowledge(classifier), weight=0.5), metrics=["accuracy"]
        )
        history = model.fit(POINTS, CLASSES, epochs=12, validation_split=0.25, verbose=0).history
        return model, history

    def test_lowers_the_task_loss_and_raises_the_satisfaction(self, history: Any) -> None:
        model, logs = history
        assert logs["loss"][-1] < logs["loss"][0] - 0.2
        assert logs["satisfaction"][-1] > logs["satisfaction"][0]
        of_task = float(task()(CLASSES, model.predict(POINTS, verbose=0)))
        assert of_task < logs["loss"][0] - 0.5 * (1.0 - logs["satisfaction"][0]) - 0.2

    def test_logs_hold_the_metrics_of_the_task_too(self, history: Any) -> None:
        names = {"loss", "satisfaction", "not_a_and_b", "not_b_and_c", "accuracy"}
        assert set(history[1]) == names | {f"val_{name}" for name in names}
        assert history[1]["accuracy"][-1] > 0.6

    def test_knowledge_teaches_what_the_labels_do_not_and_with_weight_zero_nothing(self) -> None:
        first = network()
        start = weights_of(first)
        reached = []
        for weight in (0.0, 20.0):
            classifier = network()
            classifier.set_weights(start)
            theory = knowledge(classifier)
            model = compiled(ltn.with_knowledge(classifier, theory, weight=weight))
            model.fit(POINTS, CLASSES, epochs=8, shuffle=False, verbose=0)
            reached.append(satisfaction(theory, {"x": POINTS}))
            if weight == 0.0:
                compiled(first).fit(POINTS, CLASSES, epochs=8, shuffle=False, verbose=0)
                # Eight steps of Adam from rounded gradients.
                assert_same_weights(classifier, first, atol=1e-5)
        assert reached[1] > reached[0] + 0.05

    def test_predicts_what_the_model_predicts(self, history: Any) -> None:
        model = history[0]
        np.testing.assert_array_equal(
            model.predict(POINTS, verbose=0), model.model.predict(POINTS, verbose=0)
        )
        assert model(POINTS).shape == (24, 3)

    def test_xla_gives_the_same(self) -> None:
        plain, other = network(), network()
        other.set_weights(plain.get_weights())
        for classifier, jit_compile in ((plain, False), (other, True)):
            model = ltn.with_knowledge(classifier, knowledge(classifier), weight=1.0)
            eagerly = not jit_compile
            compiled(model, keras.optimizers.SGD(0.1), jit_compile=jit_compile, run_eagerly=eagerly)
            model.fit(POINTS, CLASSES, verbose=0)
        assert_same_weights(plain, other, atol=1e-6)  # a step of rounded gradients

    def test_a_model_that_was_not_built_is_built_by_its_declaration_and_may_be_used_afterwards(self) -> None:
        classifier = keras.Sequential([keras.layers.Dense(3)])
        model = compiled(ltn.with_knowledge(classifier, knowledge(classifier)))
        before = weights_of(classifier)
        model.fit(POINTS, CLASSES, verbose=0)
        assert any((a != b).any() for a, b in zip(before, classifier.get_weights(), strict=True))
        assert classifier.predict(POINTS, verbose=0).shape == (24, 3)

    def test_weights_are_counted_once(self) -> None:
        classifier = network()
        model = ltn.with_knowledge(classifier, knowledge(classifier))
        assert model.count_params() == classifier.count_params()
        assert len(model.trainable_variables) == 4

    def test_weights_of_the_theory_are_learned_too_here_from_a_dataset_of_pairs(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.axiom("exists x: P(x, a)", name="doubtful", weight="learned")
        model = compiled(ltn.with_knowledge(classifier, theory))
        dataset = tf.data.Dataset.from_tensor_slices((POINTS, CLASSES)).batch(8)
        model.fit(dataset, shuffle=False, verbose=0)
        assert theory.report({"x": POINTS}).weight[2] > 0.5


class TestInputs:
    def two_inputs(self) -> keras.Model:
        inputs = {"x": keras.Input((2,), name="x"), "extra": keras.Input((1,), name="extra")}
        seen = keras.layers.Dense(4, "tanh", name="seen")(inputs["x"])
        hidden = keras.layers.Concatenate()([seen, inputs["extra"]])
        return keras.Model(inputs, keras.layers.Dense(3)(hidden))

    def test_a_dictionary_grounds_the_variables_of_its_names(self) -> None:
        classifier = self.two_inputs()
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        layers = [classifier.get_layer("seen"), keras.layers.Dense(1, "sigmoid")]
        theory.predicate("P", points, keras.Sequential([keras.Input((2,)), *layers]))
        theory.axiom("forall x: P(x)", name="all")
        model = compiled(ltn.with_knowledge(classifier, theory))
        data = {"x": POINTS, "extra": np.ones((24, 1), np.float32)}
        before = satisfaction(theory, {"x": POINTS})
        logs = model.fit(data, CLASSES, epochs=2, verbose=0).history
        assert_close(logs["satisfaction"][0], before)
        assert logs["satisfaction"][1] > before

    def test_the_variable_of_the_inputs_is_named_where_there_are_several(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        points = theory.signature.domains["points"]
        theory.variable("z", points)
        theory.axiom("exists z: P(z, a)")
        with pytest.raises(ltn.LogicValueError, match=r"several variables.*x, z.*`inputs="):
            ltn.with_knowledge(classifier, theory)
        theory.choices.clear()
        model = ltn.with_knowledge(classifier, theory, inputs="x")
        compiled(model)
        with pytest.raises(ltn.LogicValueError, match="'z' has no individuals"):
            model.fit(POINTS, CLASSES, verbose=0)

    def test_variables_with_individuals_of_their_own_need_no_data(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.variable("corner", theory.signature.domains["points"], values=[[3.0, 3.0]])
        theory.axiom("forall corner: P(corner, c)", name="far_out")
        model = compiled(ltn.with_knowledge(classifier, theory, weight=5.0))
        before = theory.report({"x": POINTS}).satisfaction[2]
        model.fit(POINTS, CLASSES, epochs=2, verbose=0)
        assert theory.report({"x": POINTS}).satisfaction[2] > before

    def test_the_targets_may_be_a_variable(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.variable("l", theory.signature.domains["classes"], values=["a"])
        theory.axiom("forall diag(x, l): P(x, l)", name="supervision")
        model = ltn.with_knowledge(classifier, theory, weight=1.0, targets="l")
        compiled(model, keras.optimizers.SGD(0.0))
        logs = model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)
        of_labels = truth(theory, "forall diag(x, l): P(x, l)", x=POINTS, l=CLASSES)
        expected = satisfaction(theory, {"x": POINTS, "l": CLASSES})
        assert_close(logs["satisfaction"], expected)
        assert 0.0 < of_labels < 1.0

    def test_columns_of_targets(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.variable("l", theory.signature.domains["classes"])
        theory.axiom("forall diag(x, l): P(x, l)", name="supervision")
        model = compiled(ltn.with_knowledge(classifier, theory, targets="l"))
        column = model.evaluate(POINTS, CLASSES[:, np.newaxis], verbose=0, return_dict=True)
        assert_close(column["satisfaction"], satisfaction(theory, {"x": POINTS, "l": CLASSES}))

    def test_prediction_needs_no_targets(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.variable("l", theory.signature.domains["classes"])
        theory.axiom("forall diag(x, l): P(x, l)", name="supervision")
        model = compiled(ltn.with_knowledge(classifier, theory, targets="l"))
        assert model.predict(POINTS, verbose=0).shape == (24, 3)


class TestMistakes:
    def test_a_negative_weight(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        for weight in (-0.5, float("nan"), float("inf")):
            with pytest.raises(ltn.LogicValueError, match="`weight`"):
                ltn.with_knowledge(classifier, theory, weight=weight)
        with pytest.raises(ltn.LogicError, match="`weight`"):
            ltn.with_knowledge(classifier, theory, weight="high")

    def test_what_is_no_theory_or_no_model(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        with pytest.raises(ltn.LogicTypeError, match="`theory`"):
            ltn.with_knowledge(classifier, "smokers")  # type: ignore[arg-type]
        with pytest.raises(ltn.LogicTypeError, match="`model`"):
            ltn.with_knowledge(lambda x: x, theory)
        with pytest.raises(ltn.LogicTypeError, match="`model`"):
            ltn.with_knowledge(theory, classifier)  # the two swapped

    def test_a_theory_about_another_network(self) -> None:
        classifier, theory = network(), knowledge(network())
        with pytest.raises(ltn.LogicValueError, match="networks of P have no layer in common with the model"):
            ltn.with_knowledge(classifier, theory)
        # One predicate about the model is enough, and what is Python code may call it.
        about_both = knowledge(classifier)
        about_both.predicate("Q", about_both.signature.domains["points"], ltn.Predicate.MLP([2], (2,)))
        in_code = ltn.Theory()
        in_code.variable("x", in_code.domain("points", shape=2))
        in_code.predicate("P", in_code.signature.domains["points"], lambda x: tf.sigmoid(classifier(x)[:, 0]))
        for other in (about_both, in_code):
            assert ltn.with_knowledge(classifier, other).theory is other

    def test_one_variable_for_inputs_and_targets(self) -> None:
        classifier = network()
        with pytest.raises(
            ltn.LogicValueError, match="'x' cannot range over both the inputs and the targets"
        ):
            ltn.with_knowledge(classifier, knowledge(classifier), inputs="x", targets="x")

    @pytest.mark.parametrize("argument", ["inputs", "targets"])
    def test_an_unknown_variable(self, argument: str) -> None:
        settings: dict[str, Any] = {argument: "xx"}
        classifier = network()
        with pytest.raises(ltn.LogicValueError, match="no variable 'xx'"):
            ltn.with_knowledge(classifier, knowledge(classifier), **settings)

    def test_a_theory_without_axioms(self) -> None:
        classifier = network()
        model = compiled(ltn.with_knowledge(classifier, ltn.Theory()))
        with pytest.raises(ltn.LogicValueError, match="no axioms"):
            model.fit(POINTS, CLASSES, verbose=0)

    def test_inputs_of_another_shape_than_the_domain(self) -> None:
        about_points = network()
        classifier = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2), about_points])
        model = compiled(ltn.with_knowledge(classifier, knowledge(about_points)))
        with pytest.raises(ltn.LogicValueError, match=r"'x'.*\(n, 2\)"):
            model.fit(np.zeros((8, 4), np.float32), np.zeros(8), verbose=0)

    def test_a_dictionary_without_the_variable(self) -> None:
        inputs = {"points": keras.Input((2,), name="points")}
        about_points = network()
        classifier = keras.Model(inputs, about_points(inputs["points"]))
        theory = knowledge(about_points)
        theory.axiom("exists x: P(x, a)")
        model = compiled(ltn.with_knowledge(classifier, theory))
        # Data under the name of a domain ground its variables, here as everywhere.
        logs = model.evaluate({"points": POINTS}, CLASSES, verbose=0, return_dict=True)
        assert_close(logs["satisfaction"], satisfaction(theory, {"x": POINTS}))

    def test_training_without_a_task_loss_is_as_in_keras(self) -> None:
        classifier = network()
        model = ltn.with_knowledge(classifier, knowledge(classifier))
        with pytest.raises(ValueError, match="compile"):
            model.fit(POINTS, CLASSES, verbose=0)


class TestSaving:
    @pytest.fixture(scope="class")
    @classmethod
    def saved(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
        keras.utils.set_random_seed(0)
        classifier = network()
        theory = knowledge(classifier)
        theory.axiom("exists x: P(x, c)", weight="learned")
        model = compiled(ltn.with_knowledge(classifier, theory, weight=0.25))
        model.fit(POINTS, CLASSES, epochs=2, verbose=0)
        path = tmp_path_factory.mktemp("knowledge") / "model.keras"
        model.save(path)
        return model, path

    def test_predictions_and_logs_are_the_same_to_the_bit(self, saved: tuple[Any, Path]) -> None:
        model, path = saved
        loaded = keras.models.load_model(path)
        np.testing.assert_array_equal(loaded.predict(POINTS, verbose=0), model.predict(POINTS, verbose=0))
        assert loaded.evaluate(POINTS, CLASSES, verbose=0) == model.evaluate(POINTS, CLASSES, verbose=0)
        assert loaded.theory.report({"x": POINTS}).equals(model.theory.report({"x": POINTS}))
        assert loaded.weight == 0.25

    def test_the_classifier_is_still_that_of_the_theory(self, saved: tuple[Any, Path]) -> None:
        loaded = keras.models.load_model(saved[1])
        assert loaded.theory.symbols["P"].network is loaded.model
        assert loaded.count_params() == saved[0].count_params()

    def test_training_goes_on_as_if_nothing_had_been_saved(self, saved: tuple[Any, Path]) -> None:
        model, loaded = saved[0], keras.models.load_model(saved[1])
        for one in (model, loaded):
            one.fit(POINTS, CLASSES, epochs=2, shuffle=False, verbose=0)
        np.testing.assert_array_equal(loaded.predict(POINTS, verbose=0), model.predict(POINTS, verbose=0))
        assert int(loaded.optimizer.iterations) == int(model.optimizer.iterations)

    def test_load_says_what_to_use(self, saved: tuple[Any, Path]) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"KnowledgeModel, not a theory.*load_model"):
            ltn.load(saved[1])

    def test_what_cannot_be_saved_is_named(self, tmp_path: Path) -> None:
        classifier = network()
        theory = knowledge(classifier)
        theory.predicate("Q", theory.signature.domains["points"], lambda x: x[:, 0] > 0)
        model = ltn.with_knowledge(classifier, theory)
        with pytest.raises(ltn.LogicValueError, match="Q"):
            model.save(tmp_path / "model.keras")


class TestChanges:
    """The compiled steps of the model follow the theory."""

    def test_of_axioms_and_hyperparameters_are_seen(self) -> None:
        classifier = network()
        theory = knowledge(classifier)
        model = compiled(ltn.with_knowledge(classifier, theory, weight=1.0), keras.optimizers.SGD(0.0))

        def seen() -> float:
            return model.evaluate(POINTS, CLASSES, verbose=0, return_dict=True)["satisfaction"]

        assert_close(seen(), satisfaction(theory, {"x": POINTS}))
        theory.set_hyperparameters(p_forall=20.0)
        strict = seen()
        assert_close(strict, satisfaction(theory, {"x": POINTS}))
        theory.axiom("forall x: P(x, a) & ~P(x, a)")
        assert seen() < strict

    def test_may_be_scheduled(self) -> None:
        classifier = network()
        model = compiled(ltn.with_knowledge(classifier, knowledge(classifier)), keras.optimizers.SGD(0.0))
        schedule = ltn.callbacks.Schedule("p_forall", {0: 1, 1: 20})
        found = model.fit(POINTS, CLASSES, batch_size=24, epochs=2, callbacks=[schedule], verbose=0).history
        assert found["satisfaction"][1] < found["satisfaction"][0]
