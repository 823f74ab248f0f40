"""Steps that are not finite: they change nothing, and who is to blame is named."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.test_replicas import replicas
from tests.theory.theories import knowledge, network, slim, weights_of
from tests.tolerance import assert_close

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # Keras, on NumPy 2
    # Keras warns where a generator ends, as it cannot know that there is but one epoch.
    pytest.mark.filterwarnings("ignore:Your input ran out of data"),
]

POINTS = np.random.default_rng(0).uniform(size=(8, 2)).astype(np.float32)
# In the third batch of two.
WRONG = np.where(np.arange(16).reshape(8, 2) == 11, np.nan, POINTS).astype(np.float32)
BATCH = r"not applied: that on batch 3 of the epoch\. "
MODES: dict[str, dict[str, Any]] = {
    "compiled": {},
    "eager": {"run_eagerly": True},
    "XLA": {"jit_compile": True},
    "several steps": {"steps_per_execution": 4},
}
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "Adam": {},
    "clipped": {"global_clipnorm": 0.1},
    "accumulated": {"gradient_accumulation_steps": 2},
    "averaged": {"use_ema": True},
}


def generated(points: Any) -> Any:
    """Batches that nobody can look at before they come."""
    return ({"x": points[row : row + 2]} for row in range(0, 8, 2))


def state_of(model: Any) -> list[np.ndarray]:
    return [np.array(variable) for variable in (*model.weights, *model.optimizer.variables)]


def compiled(theory: ltn.Theory | None = None, optimizer: Any = None, **settings: Any) -> ltn.Theory:
    keras.utils.set_random_seed(0)
    theory = slim() if theory is None else theory
    theory.compile(optimizer or keras.optimizers.Adam(0.1), **settings)
    return theory


def with_network(*layers: keras.Layer) -> ltn.Theory:
    """All points are A and B; A has these layers."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    theory.predicate("A", points, keras.Sequential([keras.Input((2,)), *layers]))
    theory.predicate("B", points, ltn.Predicate.MLP([2], (2,)))
    theory.axiom("forall x: A(x) & B(x)")
    return theory


def assert_stops_before_the_third_batch(model: Any, fit: Any, train: Any, message: str) -> None:
    """The error has a message, and the state is that after two steps, which `train` takes on a twin."""
    with pytest.raises(ltn.LogicValueError, match=BATCH + message):
        fit(model)
    for mine, other in zip(state_of(model), train(), strict=True):
        # Steps that were compiled in other ways are rounded in other ways, which Adam amplifies.
        assert_close(mine, other, atol=1e-5)


def after_two_steps(theory: ltn.Theory) -> list[np.ndarray]:
    for row in (0, 2):
        theory.train_on_batch({"x": POINTS[row : row + 2]})
    return state_of(theory)


class TestNaNInData:
    @pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
    def test_stops_the_training_however_it_is_compiled(self, mode: dict[str, Any]) -> None:
        assert_stops_before_the_third_batch(
            compiled(**mode),
            lambda theory: theory.fit(generated(WRONG), verbose=0),
            lambda: after_two_steps(compiled()),
            "The data of 'x' hold 1 values that are NaN or infinite, the first in row 1",
        )

    @pytest.mark.parametrize("settings", OPTIMIZERS.values(), ids=list(OPTIMIZERS))
    def test_leaves_every_optimizer_as_it_was(self, settings: dict[str, Any]) -> None:
        def theory() -> ltn.Theory:
            return compiled(None, keras.optimizers.Adam(0.1, **settings))

        assert_stops_before_the_third_batch(
            theory(),
            lambda one: one.fit(generated(WRONG), verbose=0),
            lambda: after_two_steps(theory()),
            "The data of 'x'",
        )

    @pytest.mark.parametrize("settings", [{}, {"run_eagerly": True}], ids=str)
    def test_is_skipped_on_request(self, settings: dict[str, Any]) -> None:
        theory, other = compiled(on_nan="skip", **settings), compiled()
        found = theory.fit(generated(WRONG), verbose=0).history
        kept = [{"x": POINTS[row : row + 2]} for row in (0, 2, 6)]
        expected = other.fit((batch for batch in kept), verbose=0).history
        assert int(theory.optimizer.iterations) == 3
        for mine, theirs in zip(state_of(theory), state_of(other), strict=True):
            assert_close(mine, theirs, atol=1e-5)
        assert_close(
            [found[name][0] for name in sorted(found)], [expected[name][0] for name in sorted(found)]
        )

    def test_is_ignored_on_request(self) -> None:
        theory = compiled(on_nan="ignore")
        theory.fit(generated(WRONG), verbose=0)
        assert np.isnan(theory.get_weights()[0]).any()

    def test_is_found_in_the_next_training_too(self) -> None:
        theory = compiled(steps_per_execution=4)
        for _ in range(2):
            with pytest.raises(ltn.LogicValueError, match=BATCH):
                theory.fit(generated(WRONG), verbose=0)
        theory.fit(generated(POINTS), verbose=0)
        assert int(theory.optimizer.iterations) == 2 + 2 + 4

    def test_does_not_reach_moving_averages(self) -> None:
        layers = keras.layers.BatchNormalization(), keras.layers.Dense(1, "sigmoid")
        theory = compiled(with_network(*layers), on_nan="skip")
        theory.fit(generated(WRONG), verbose=0)
        assert all(np.isfinite(weight).all() for weight in theory.get_weights())
        assert (layers[0].moving_mean != 0.0).numpy().all()

    def test_stops_all_replicas(self) -> None:
        with replicas(2).scope():
            theory = compiled(None, keras.optimizers.SGD(0.1, momentum=0.9))
            theory.optimizer.build(theory.trainable_variables)
        theory.symbols["A"].network.weights[0].assign(np.full((2, 2), np.inf))
        before = state_of(theory)
        with pytest.raises(ltn.LogicValueError, match=r"batch 1 .*Some weights are NaN.*those of 'A'"):
            theory.fit({"x": POINTS}, batch_size=4, verbose=0)
        for mine, old in zip(state_of(theory), before, strict=True):
            np.testing.assert_array_equal(mine, old)


class Root(keras.Layer):
    """A root, whose slope at 0 is infinite."""

    def call(self, x: Any) -> Any:
        return tf.sqrt(tf.nn.relu(x - 1.0))


class Logarithm(keras.Layer):
    """A logarithm, which is NaN below -0.5."""

    def call(self, x: Any) -> Any:
        return tf.math.log(x + 0.5)


class TestNetworks:
    def test_that_give_nan_are_named(self) -> None:
        theory = compiled(with_network(Logarithm(), keras.layers.Dense(1, "sigmoid")))
        negative = np.where(np.isnan(WRONG), -1.0, WRONG)
        with pytest.raises(ltn.LogicValueError, match=BATCH + r"In `forall x.*Predicate\('A'\).*got nan"):
            theory.fit(generated(negative), verbose=0)
        assert int(theory.optimizer.iterations) == 2

    def test_whose_gradients_are_not_finite_are_named(self) -> None:
        layers = keras.layers.Dense(2), Root(), keras.layers.Dense(1, "sigmoid")
        theory = compiled(with_network(*layers))
        before = weights_of(theory)
        with pytest.raises(
            ltn.LogicValueError, match=r"The loss is finite, but not its gradients.*those of 'A'"
        ):
            theory.fit({"x": np.zeros((2, 2))}, verbose=0)
        for mine, old in zip(theory.get_weights(), before, strict=True):
            np.testing.assert_array_equal(mine, old)

    def test_whose_weights_are_not_finite_are_named(self) -> None:
        theory = compiled(None, keras.optimizers.SGD(float("nan")))
        with pytest.raises(
            ltn.LogicValueError, match=r"Some weights are NaN.*those of 'A'\. A learning rate"
        ):
            theory.fit({"x": POINTS}, batch_size=2, verbose=0)


class TestScaledLosses:
    """Of 16 bits: the optimizer leaves out steps that overflow, and these are no errors."""

    @pytest.fixture(autouse=True)
    def _of_16_bits(self) -> Any:
        keras.config.set_dtype_policy("mixed_float16")
        yield
        keras.config.set_dtype_policy("float32")

    def test_may_overflow(self) -> None:
        theory = compiled(None, keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(), 2.0**100))
        theory.fit({"x": POINTS}, batch_size=2, verbose=0)
        assert int(theory.optimizer.iterations) == 0
        assert float(theory.optimizer.dynamic_scale) == 2.0**96

    def test_stop_where_the_loss_is_nan(self) -> None:
        theory = compiled()
        with pytest.raises(ltn.LogicValueError, match=BATCH + "The data of 'x'"):
            theory.fit(generated(WRONG), verbose=0)


class TestModelsWithKnowledge:
    TARGETS = (POINTS[:, 0] > 0.5).astype(np.int32)

    def model(self, weight: Any = 0.5, **settings: Any) -> Any:
        keras.utils.set_random_seed(0)
        classifier = network()
        model = ltn.with_knowledge(classifier, knowledge(classifier), weight=weight)
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), **settings)
        return model

    def fit(self, model: Any) -> Any:
        return model.fit(WRONG, self.TARGETS, batch_size=2, shuffle=False, verbose=0)

    @pytest.mark.parametrize(
        ("weight", "mode"), [(0.5, "compiled"), ("balanced", "eager"), (0.5, "XLA"), (0.5, "several steps")]
    )
    def test_stop_too(self, weight: Any, mode: str) -> None:
        model = self.model(weight, **MODES[mode])
        with pytest.raises(
            ltn.LogicValueError, match=BATCH + "The inputs, individuals of 'x', hold 1 values"
        ):
            self.fit(model)
        assert int(model.optimizer.iterations) == 2
        assert all(np.isfinite(weight).all() for weight in model.get_weights())

    def test_skip_too(self) -> None:
        model = self.model(on_nan="skip")
        history = self.fit(model).history
        assert int(model.optimizer.iterations) == 3
        assert all(np.isfinite(values).all() for values in history.values())

    def test_name_a_model_that_gives_nan(self) -> None:
        model = self.model()
        model.model.weights[0].assign(np.full((2, 6), 1e38))
        with pytest.raises(ltn.LogicValueError, match="The predictions of the model hold"):
            model.fit(POINTS * 1e3, self.TARGETS, verbose=0)


class TestTheSetting:
    @pytest.mark.parametrize("wrong", ["rise", None, 3])
    def test_is_one_of_three(self, wrong: Any) -> None:
        with pytest.raises(ltn.LogicValueError, match="`on_nan` is one of 'raise', 'skip', 'ignore'; got"):
            slim().compile(on_nan=wrong)

    def test_is_saved(self, tmp_path: Any) -> None:
        theory = compiled(on_nan="skip")
        theory.save(tmp_path / "theory.keras")
        assert ltn.load(tmp_path / "theory.keras").get_compile_config()["on_nan"] == "skip"
