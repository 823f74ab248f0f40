"""Symbols: predicates, functions and propositions with their groundings, and the names of all kinds."""

from collections.abc import Callable
from typing import Any, ClassVar

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import towns, truth
from tests.tolerance import assert_close


class TestPredicatesAndFunctions:
    def test_any_grounding_will_do(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points, values=[[0.0, 1.0], [1.0, 1.0]])
        layer = keras.layers.Dense(1, activation="sigmoid")
        groundings: dict[str, Any] = {
            "P1": ltn.Predicate.MLP([2]),
            "P2": keras.Sequential([layer]),
            "P3": layer,
            "P4": lambda x: x[:, 0],
            "P5": ltn.Predicate.FromLogits(
                keras.Sequential([keras.layers.Dense(1)]), "sigmoid", with_class_indexing=False
            ),
            "P6": ltn.Predicate.Lambda(lambda x: x[:, 0] > 0.5),
        }
        for name, grounding in groundings.items():
            predicate = theory.predicate(name, points, grounding)
            assert isinstance(predicate, ltn.Predicate)
            assert theory.query(f"{name}(x)").tensor.shape == (2,)
        assert theory.query("P4(x)").tensor.numpy().tolist() == [0.0, 1.0]
        assert_close(theory.query("P2(x)").tensor, theory.query("P3(x)").tensor)

    def test_a_network_has_its_weights_from_the_declaration_on(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.predicate("P", points, keras.Sequential([keras.layers.Dense(1, activation="sigmoid")]))
        assert len(theory.trainable_variables) == 2

    def test_functions_and_regression(self) -> None:
        theory = ltn.Theory("product")
        samples = theory.domain("samples")
        prices = theory.domain("prices", equality="smooth", alpha=2.0)
        theory.variable("x", samples)
        theory.variable("y", prices)
        f = theory.function(
            "f", samples, prices, keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        )
        assert isinstance(f, ltn.Function)
        theory.axiom("forall diag(x, y): f(x) = y", name="fits")
        theory.compile(keras.optimizers.Adam(0.05))
        x = np.linspace(-1.0, 1.0, 16)
        data = {"x": x, "y": 0.5 * x + 0.25}
        history = theory.fit(data, epochs=120, verbose=0).history
        assert history["fits"][-1] > 0.9 > history["fits"][0]
        # The value query of the paper, on unseen data: 0.5 * 2 + 0.25.
        assert_close(theory.query("f(x)", x=[2.0]).tensor, [[1.25]], atol=0.1)

    def test_functions_nest(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", values=[1.0, 2.0])
        theory.variables("x, y", numbers)
        theory.function("double", numbers, numbers, lambda x: 2.0 * x)
        theory.function("add", (numbers, numbers), numbers, lambda args: args[0] + args[1])
        found = theory.query("add(double(x), double(double(y)))")
        np.testing.assert_array_equal(found.tensor[..., 0], [[6, 10], [8, 12]])

    @pytest.mark.parametrize("shape", [3, (2, 2), 1])
    def test_a_network_for_other_features_is_refused_at_once(self, shape: Any) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicValueError, match=r"'P'.*feature shape.*got \(2,\)"):
            theory.predicate("P", points, ltn.Predicate.MLP([shape]).model)
        with pytest.raises(ltn.LogicValueError, match=r"feature shape.*got \(2,\)"):
            theory.function("f", points, points, ltn.Function.MLP([shape], 2))

    def test_a_network_of_other_arity_is_refused_at_once(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicValueError, match=r"takes 1 argument\(s\); got 2"):
            theory.predicate("P", (points, points), ltn.Predicate.MLP([2]))

    def test_a_network_that_returns_several_values_is_refused_at_once(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicValueError, match=r"one truth value per row.*FromLogits"):
            theory.predicate("P", points, keras.Sequential([keras.layers.Dense(3, activation="sigmoid")]))

    def test_a_network_whose_values_leave_the_unit_interval_is_refused_at_once(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicValueError, match=r"must lie in \[0, 1\].*sigmoid"):
            theory.predicate(
                "P",
                points,
                keras.Sequential([keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(2.0))]),
            )

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_values_that_leave_it_later_are_those_of_their_axiom(self, semantics: str) -> None:
        theory = ltn.Theory(semantics)
        points = theory.domain("points", shape=1)
        theory.variables("x, y", points)
        theory.predicate("P", points, keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")]))
        theory.axiom("forall x: P(x)")
        theory.axiom("forall y: P(y)")
        # Both in one batch of the network.
        data = {"x": np.full((3, 1), 0.5), "y": np.full((4, 1), 6.0)}
        message = r"In `forall y: P\(y\)`.*got 6 \(4 of 4 values"
        with pytest.raises(ltn.LogicValueError, match=message):
            theory(data)

    def test_of_classes_only_those_that_are_asked_for_are_checked(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=1)
        classes = theory.domain("classes", values=range(2))
        theory.variable("x", points)

        def network(args: list[tf.Tensor]) -> tf.Tensor:
            (x,) = args
            return tf.concat([x, tf.where(x > 5.0, np.nan, x)], axis=1)

        theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network, "sigmoid"))
        found = theory.query("P(x, 0)", x=[[0.0], [6.0]])
        assert isinstance(found, ltn.Formula)
        assert_close(found.tensor, [0.5, 1 / (1 + np.exp(-6.0))])
        with pytest.raises(ltn.LogicValueError, match=r"got nan \(1 of 2"):
            theory.query("P(x, 1)", x=[[0.0], [6.0]])

    def test_a_function_that_leaves_its_output_domain_is_refused_at_once(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicValueError, match=r"'points', of shape \(2,\).*returns the shape \(3,\)"):
            theory.function("f", points, points, ltn.Function.MLP([2], 3))

    def test_fewer_logits_than_the_domain_has_classes_are_refused_at_once(self) -> None:
        theory, people, places = towns()
        with pytest.raises(ltn.LogicValueError, match=r"towns|class"):
            theory.predicate(
                "P", (people, places), ltn.Predicate.FromLogits(keras.layers.Dense(1), "softmax")
            )

    @pytest.mark.parametrize("kind", ["predicate", "function"])
    def test_after_a_mistake_the_declaration_can_be_made_again(self, kind: str) -> None:
        """In a notebook the cell with the network is mended and run again."""
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points, values=[[0.0, 1.0]])

        def declare(features: int) -> Any:
            if kind == "predicate":
                return theory.predicate("s", points, ltn.Predicate.MLP([features]))
            return theory.function("s", points, points, ltn.Function.MLP([features], 2))

        with pytest.raises(ltn.LogicValueError):
            declare(3)
        declare(2)
        assert theory.query("s(x)").tensor.shape[0] == 1

    def test_what_cannot_be_called(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        with pytest.raises(ltn.LogicTypeError, match="callable"):
            theory.predicate("P", numbers, 0.5)
        with pytest.raises(ltn.LogicTypeError, match="callable"):
            theory.function("f", numbers, numbers, "sin")

    def test_a_function_is_no_predicate_and_the_other_way_round(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicTypeError, match="Function"):
            theory.predicate("P", points, ltn.Function.MLP([2], 2))
        with pytest.raises(ltn.LogicTypeError, match="Predicate"):
            theory.function("f", points, points, ltn.Predicate.MLP([2]))

    def test_what_is_no_domain(self) -> None:
        theory = ltn.Theory()
        theory.domain("points", shape=2)
        with pytest.raises(ltn.LogicTypeError, match="Domain"):
            theory.predicate("P", "points", ltn.Predicate.MLP([2]))  # type: ignore[arg-type]
        with pytest.raises(ltn.LogicTypeError, match="Domain"):
            theory.variable("x", "points")  # type: ignore[arg-type]
        with pytest.raises(ltn.LogicTypeError, match="Domain"):
            theory.constants("a, b", "points")  # type: ignore[arg-type]

    def test_two_symbols_may_share_a_network(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points, values=[[0.25, 0.5]])
        P = ltn.Predicate.MLP([2])
        theory.predicate("P", points, P)
        theory.predicate("Q", points, P)
        assert len(theory.trainable_variables) == 6
        assert truth(theory, "exists x: P(x)") == truth(theory, "exists x: Q(x)")


class TestPropositions:
    def test_known_and_learned(self) -> None:
        theory = ltn.Theory("product")
        known = theory.proposition("A", 0.25)
        theory.proposition("B", 0.5, trainable=True)
        assert isinstance(known, ltn.Proposition)
        assert truth(theory, "A & B") == 0.125
        assert len(theory.trainable_variables) == 1
        theory.axiom("A -> B")
        theory.compile(keras.optimizers.SGD(100.0))
        theory.fit(epochs=2, verbose=0)
        # Learned, and never more than true.
        assert truth(theory, "B") == 1.0
        assert truth(theory, "A") == 0.25

    def test_one_half_by_default(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        assert truth(theory, "A") == 0.5

    @pytest.mark.parametrize("truth", [-0.1, 1.5, float("nan")])
    def test_outside_the_unit_interval(self, truth: float) -> None:
        theory = ltn.Theory()
        with pytest.raises(ltn.LogicValueError, match=r"\[0, 1\]"):
            theory.proposition("A", truth)
        theory.proposition("A", 0.5)


class TestNames:
    DECLARATIONS: ClassVar[dict[str, Any]] = {
        "constant": lambda theory, domain: theory.constant("s", domain, 0.5),
        "variable": lambda theory, domain: theory.variable("s", domain),
        "predicate": lambda theory, domain: theory.predicate("s", domain, lambda x: x),
        "function": lambda theory, domain: theory.function("s", domain, domain, lambda x: x),
        "proposition": lambda theory, domain: theory.proposition("s", 0.5),
    }

    @pytest.mark.parametrize("first", DECLARATIONS)
    @pytest.mark.parametrize("second", DECLARATIONS)
    def test_a_symbol_has_one_meaning(self, first: str, second: str) -> None:
        theory = ltn.Theory()
        domain = theory.domain("numbers")
        self.DECLARATIONS[first](theory, domain)
        with pytest.raises(ltn.LogicValueError, match=f"'s' cannot name a {second}: it is already a {first}"):
            self.DECLARATIONS[second](theory, domain)

    @pytest.mark.parametrize("kind", DECLARATIONS)
    @pytest.mark.parametrize("name", ["", "a\nb", "\x7f", "norm"])
    def test_names_are_those_of_the_language(self, kind: str, name: str) -> None:
        theory = ltn.Theory()
        domain = theory.domain("numbers")
        declare: dict[str, Callable[[], Any]] = {
            "constant": lambda: theory.constants([name], domain),
            "variable": lambda: theory.variable(name, domain),
            "predicate": lambda: theory.predicate(name, domain, lambda x: x),
            "function": lambda: theory.function(name, domain, domain, lambda x: x),
            "proposition": lambda: theory.proposition(name),
        }
        with pytest.raises(ltn.LogicValueError, match="cannot name"):
            declare[kind]()
