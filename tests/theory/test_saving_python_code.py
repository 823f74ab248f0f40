"""Saving theories with Python code: what is registered is restored, other code is refused by name."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.everything import PEOPLE
from tests.theory.theories import assert_same_weights, classifier, labelled_points, one_weight

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


@keras.saving.register_keras_serializable(package="tests")
class Similarity(keras.layers.Layer):
    """A custom layer: exp(-scale |x - y|), with a learned scale."""

    def __init__(self, start: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(self.start), name="scale"
        )

    def call(self, inputs: Any) -> Any:
        distance = tf.reduce_sum(tf.abs(inputs[0] - inputs[1]), axis=-1)
        return tf.exp(-tf.nn.softplus(self.scale) * distance)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "start": self.start}


@keras.saving.register_keras_serializable(package="tests")
def first_feature(x: Any) -> Any:
    """A registered function."""
    return x[:, 0]


@keras.saving.register_keras_serializable(package="tests")
class Threshold:
    """A registered callable object with a configuration."""

    def __init__(self, at: float):
        self.at = at

    def __call__(self, x: Any) -> Any:
        return x[:, 1] > self.at

    def get_config(self) -> dict[str, Any]:
        return {"at": self.at}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Threshold":
        return cls(**config)


def plain_function(x: Any) -> Any:
    return x[:, 0]


class TestGroundings:
    def theory(self, **groundings: Any) -> ltn.Theory:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variables("x, y", points, PEOPLE)
        for name, grounding in groundings.items():
            theory.predicate(name, (points, points) if name == "Pair" else points, grounding)
        return theory

    def saved(self, theory: ltn.Theory, tmp_path: Path) -> ltn.Theory:
        theory.save(tmp_path / "theory.keras")
        return ltn.load(tmp_path / "theory.keras")

    def test_custom_layers_that_are_registered(self, tmp_path: Path) -> None:
        theory = self.theory(Pair=Similarity(0.25))
        theory.axiom("forall x: exists y: Pair(x, y)")
        theory.compile(keras.optimizers.SGD(0.5))
        theory.fit(verbose=0)
        loaded = self.saved(theory, tmp_path)
        assert loaded.report().equals(theory.report())
        assert isinstance(loaded.symbols["Pair"].network, Similarity)

    def test_registered_functions_and_objects(self, tmp_path: Path) -> None:
        theory = self.theory(F=first_feature, T=Threshold(0.25))
        theory.axiom("forall x where T(x): F(x)")
        loaded = self.saved(theory, tmp_path)
        assert loaded.report().equals(theory.report())
        assert loaded.symbols["F"].network is first_feature
        assert loaded.symbols["T"].network.at == 0.25

    @pytest.mark.parametrize("grounding", [lambda x: x[:, 0], plain_function], ids=["lambda", "function"])
    def test_plain_callables_are_named(self, grounding: Any, tmp_path: Path) -> None:
        theory = self.theory(P=grounding, Q=ltn.Predicate.MLP([2]), R=ltn.Predicate.Lambda(grounding))
        with pytest.raises(ltn.LogicValueError, match=r"P, R are Python code.*register.*save_weights"):
            theory.save(tmp_path / "theory.keras")

    def test_a_refusal_does_no_harm_to_an_earlier_file(self, tmp_path: Path) -> None:
        path = tmp_path / "theory.keras"
        theory = self.theory(Q=ltn.Predicate.MLP([2]))
        theory.axiom("exists x: Q(x)")
        theory.save(path)
        before = theory.report()
        theory.predicate("P", theory.signature.domains["points"], plain_function)
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            theory.save(path)
        assert ltn.load(path).report().equals(before)

    def test_classifiers_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        theory = self.theory()
        points, classes = theory.signature.domains["points"], theory.domain("classes", values=["u", "v"])
        theory.predicate("C", (points, classes), ltn.Predicate.FromLogits(lambda args: args[0], "softmax"))
        with pytest.raises(ltn.LogicValueError, match="C are Python code"):
            theory.save(tmp_path / "theory.keras")

    def test_functions_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        theory = self.theory()
        points = theory.signature.domains["points"]
        theory.function("double", points, points, lambda x: 2.0 * x)
        with pytest.raises(ltn.LogicValueError, match="double are Python code"):
            theory.save(tmp_path / "theory.keras")

    def test_lambda_layers_are_named(self, tmp_path: Path) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x[:, 0])])
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            self.theory(P=network).save(tmp_path / "theory.keras")
        nested = keras.Sequential([keras.Input((2,)), network])
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            self.theory(P=nested).save(tmp_path / "theory.keras")

    def test_networks_with_plain_callables_inside_are_named(self, tmp_path: Path) -> None:
        """Else the file would be written, and could never be read."""
        dense = keras.layers.Dense(1, activation=lambda x: tf.sigmoid(2.0 * x))
        theory = self.theory(P=keras.Sequential([keras.Input((2,)), dense]))
        with pytest.raises(ltn.LogicValueError, match="P"):
            theory.save(tmp_path / "theory.keras")

    def test_regularizers_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        def penalty(weight: Any) -> Any:
            return 0.1 * tf.reduce_sum(tf.square(weight))

        with pytest.raises(ltn.LogicValueError, match="regularizer"):
            one_weight(regularizer=penalty).save(tmp_path / "theory.keras")

        class Unregistered(keras.regularizers.Regularizer):
            def __call__(self, x: Any) -> Any:
                return penalty(x)

        theory = ltn.Theory()
        # Older versions of Keras take no plain callable for a weight.
        theory.constants("a, b", theory.domain("people", shape=2), regularizer=Unregistered())
        with pytest.raises(ltn.LogicValueError, match=r"regularizer.*a, b"):
            theory.save(tmp_path / "theory.keras")

    def test_an_initializer_has_done_its_work(self, tmp_path: Path) -> None:
        """Whatever it was, the file holds the values."""
        theory = ltn.Theory()
        theory.constants(
            "a, b",
            theory.domain("people", shape=2),
            initializer=lambda shape, dtype=None: tf.fill(shape, 0.3),
        )
        loaded = self.saved(theory, tmp_path)
        np.testing.assert_array_equal(loaded.query("b").tensor, theory.query("b").tensor)

    def test_the_ready_made_predicates_are_saved(self, tmp_path: Path) -> None:
        """`ltn.utils` is part of the library: a fresh process that has imported it knows them."""
        theory = self.theory(Pair=ltn.utils.Pred_equal_smooth_exp(0.5))
        theory.axiom("forall x: exists y: Pair(x, y)")
        assert self.saved(theory, tmp_path).report().equals(theory.report())

    def test_operators_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        semantics = ltn.semantics.product.replace(And=lambda x, y: tf.minimum(x, y))
        theory = one_weight(semantics=semantics)
        with pytest.raises(ltn.LogicValueError, match="`And` cannot be saved"):
            theory.save(tmp_path / "theory.keras")


class TestAxiomsInPython:
    def theory(self) -> ltn.Theory:
        theory = classifier()
        w = theory.proposition("w", 0.5, trainable=True)
        theory.axiom(lambda: w, name="code")
        return theory

    def test_refuse_with_a_hint(self, tmp_path: Path) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"axioms code are Python code.*text.*save_weights"):
            self.theory().save(tmp_path / "theory.keras")

    def test_but_weights_are_saved(self, tmp_path: Path) -> None:
        theory, other = self.theory(), self.theory()
        theory.compile(keras.optimizers.SGD(0.5))
        theory.fit(labelled_points(6), verbose=0)
        theory.save_weights(tmp_path / "theory.weights.h5")
        other.load_weights(tmp_path / "theory.weights.h5")
        assert_same_weights(other, theory)
        data = labelled_points(6)
        assert other.report(data).satisfaction.equals(theory.report(data).satisfaction)

    def test_a_checkpoint_of_weights_works_while_training(self, tmp_path: Path) -> None:
        theory = self.theory()
        theory.compile(keras.optimizers.SGD(0.5))
        checkpoint = keras.callbacks.ModelCheckpoint(str(tmp_path / "w.weights.h5"), save_weights_only=True)
        theory.fit(labelled_points(6), callbacks=[checkpoint], verbose=0)
        other = self.theory()
        other.load_weights(tmp_path / "w.weights.h5")
        assert_same_weights(other, theory)
