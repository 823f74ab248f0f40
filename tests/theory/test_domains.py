"""Domains: their individuals, their products, and when two of their elements are equal."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import towns, truth
from tests.tolerance import assert_close


class TestDomains:
    def test_numbers_by_default(self) -> None:
        assert ltn.Theory().domain("numbers").shape == (1,)

    def test_finite_ones_give_their_individuals(self) -> None:
        theory = ltn.Theory()
        digits = theory.domain("digits", values=range(3))
        theory.variable("d", digits)
        np.testing.assert_array_equal(theory.query("d").tensor, [[0], [1], [2]])

    def test_names_become_constants_grounded_on_their_index(self) -> None:
        theory, _, _ = towns()
        assert theory.query("Rome").tensor.numpy().tolist() == [0.0]
        assert theory.query("Seoul").tensor.numpy().tolist() == [1.0]
        assert truth(theory, "lives_in(Bob, Seoul)") == 0.5

    def test_names_may_have_features(self) -> None:
        theory = ltn.Theory()
        colours = theory.domain("colours", values={"red": [1, 0], "blue": [0, 1]})
        theory.variable("c", colours)
        np.testing.assert_array_equal(theory.query("c").tensor, [[1, 0], [0, 1]])
        np.testing.assert_array_equal(theory.query("blue").tensor, [0, 1])

    def test_a_second_one_of_a_name_is_refused(self) -> None:
        theory = ltn.Theory()
        theory.domain("people")
        with pytest.raises(ltn.LogicValueError, match="already a domain 'people'"):
            theory.domain("people", shape=3)

    def test_one_of_another_theory_is_refused(self) -> None:
        stranger = ltn.Theory().domain("people", shape=2)
        theory = ltn.Theory()
        with pytest.raises(ltn.LogicValueError, match=r"'people'.*not declared"):
            theory.variable("x", stranger)
        theory.domain("people", shape=2)
        with pytest.raises(ltn.LogicValueError, match="another object"):
            theory.variable("x", stranger)


class TestProducts:
    """A variable over `people * towns` is the argument of a binary predicate."""

    HOMES = np.array([[0.25, 0.0, 1.0], [0.5, 1.0, 1.0], [1.0, 1.0, 0.0]], np.float32)

    def test_a_variable_over_a_product_fills_both_places(self) -> None:
        theory, people, places = towns()
        theory.variable("home", people * places)
        theory.axiom("forall home: lives_in(home)", name="all")
        assert_close(theory.query("lives_in(home)", home=self.HOMES).tensor, [0.25, 0.5, 0.0])
        theory.proposition("w", 0.5, trainable=True)
        theory.axiom("w")
        theory.compile(keras.optimizers.SGD(0.1))
        logs = theory.fit({"home": self.HOMES}, verbose=0).history
        errors = 1.0 - np.array([0.25, 0.5, 0.0])
        assert_close(logs["all"], [1.0 - np.sqrt(np.mean(errors**2))])

    def test_a_network_of_two_inputs_is_trained_on_it(self) -> None:
        theory = ltn.Theory()
        people, places = theory.domain("people", shape=2), theory.domain("towns", shape=1)
        theory.variable("home", people * places)
        theory.variables("x", people)
        theory.variables("u", places)
        theory.predicate("lives_in", (people, places), ltn.Predicate.MLP([2, 1], (4,)))
        theory.axiom("forall home: lives_in(home)", name="all")
        theory.axiom("forall diag(x, u): lives_in(x, u)", name="apart")
        theory.compile(keras.optimizers.Adam(0.05))
        data = {"home": self.HOMES, "x": self.HOMES[:, :2], "u": self.HOMES[:, 2:]}
        history = theory.fit(data, epochs=4, verbose=0).history
        assert_close(history["all"], history["apart"])
        assert history["all"][-1] > history["all"][0]

    def test_a_classifier_over_a_product_with_a_finite_domain(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        places = theory.domain("towns", values=["Rome", "Seoul"])
        theory.variable("home", people * places)
        theory.variables("x", people)
        theory.variables("u", places)
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
        theory.predicate("lives_in", (people, places), ltn.Predicate.FromLogits(network, "softmax"))
        together = theory.query("lives_in(home)", home=self.HOMES).tensor
        apart = theory.query("lives_in(x, u)", x=self.HOMES[:, :2]).tensor.numpy()
        assert_close(together, apart[[0, 1, 2], self.HOMES[:, 2].astype(int)])

    def test_a_function_into_a_product(self) -> None:
        theory, people, places = towns()
        theory.function(
            "home", people, people * places, lambda x: tf.concat([x, tf.ones_like(x[:, :1])], axis=1)
        )
        theory.variable("x", people)
        assert_close(theory.query("lives_in(home(x))").tensor, [0.0, 0.5, 1.0])

    def test_features_of_several_axes(self) -> None:
        theory = ltn.Theory("product")
        images, labels = theory.domain("images", shape=(2, 2)), theory.domain("labels")
        theory.variable("example", images * labels)
        theory.predicate(
            "P", (images, labels), lambda args: tf.reduce_mean(args[0], axis=(1, 2)) * args[1][:, 0]
        )
        data = np.array([[0.0, 0.5, 0.5, 1.0, 0.5]], np.float32)
        assert_close(theory.query("P(example)", example=data).tensor, [0.25])

    def test_constants_of_a_product(self) -> None:
        theory, people, places = towns()
        theory.constants("h, k", people * places, values=self.HOMES[:2])
        theory.variable("home", people * places)
        assert truth(theory, "lives_in(k)") == 0.5
        assert theory.query("lives_in(home)").to_frame().index.tolist() == ["h", "k"]

    def test_in_the_wrong_place(self) -> None:
        theory, people, places = towns()
        theory.variable("swapped", places * people)
        with pytest.raises(
            ltn.LogicTypeError, match="Argument 1 of 'lives_in' must be of the domain 'people'"
        ):
            theory.axiom("forall swapped: lives_in(swapped)")

    def test_constants_of_a_product_can_be_chosen(self) -> None:
        theory = ltn.Theory()
        ages, incomes = theory.domain("ages"), theory.domain("incomes")
        theory.constants("a, b", ages * incomes, values=[[1, 2], [3, 4]])
        theory.variable("z", ages * incomes, values=["b"])
        np.testing.assert_array_equal(theory.query("z").tensor, [[3, 4]])


class TestEquality:
    def test_strict_by_default(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.constants("a, b, c", points, values=[[0, 1], [0, 1], [0, 1.0001]])
        assert truth(theory, "a = b") == 1.0
        assert truth(theory, "a = c") == 0.0
        assert truth(theory, "a != c") == 1.0

    def test_smooth_with_alpha(self) -> None:
        theory = ltn.Theory("product")
        points = theory.domain("points", shape=2, equality="smooth", alpha=0.5)
        theory.constants("a, b", points, values=[[0, 0], [3, 4]])
        theory.variable("x", points)
        assert_close(truth(theory, "a = b"), np.exp(-0.5 * 5.0))
        assert truth(theory, "a = a") == 1.0
        assert_close(truth(theory, "~(a = b)"), 1.0 - np.exp(-2.5))
        assert_close(theory.query("x = a").tensor, [1.0, np.exp(-2.5)])

    def test_a_smooth_one_is_learned(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2, equality="smooth")
        theory.constants("a, b", points)
        theory.axiom("a = b", name="same")
        theory.compile(keras.optimizers.SGD(0.1))
        history = theory.fit(epochs=3, verbose=0).history
        assert history["same"][0] < history["same"][1] < history["same"][2]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"equality": "fuzzy"}, "`equality`"),
            ({"alpha": 0.0}, "`alpha`"),
            ({"bounds": (1, 0)}, "`bounds`"),
        ],
    )
    def test_impossible_settings(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(ltn.LogicValueError, match=message):
            ltn.Theory().domain("points", shape=2, **settings)

    def test_degrees_and_norms_are_compared_as_numbers(self) -> None:
        """Not by the smooth equality of the domain of what they are taken of."""
        theory = ltn.Theory("product")
        points = theory.domain("points", shape=2, equality="smooth", alpha=1.0)
        theory.variable("x", points, values=[[3.0, 4.0], [0.0, 1.0]])
        theory.predicate("A", points, lambda x: x[:, 0] > 1.0)
        assert_close(theory.query("norm(x) = 5").tensor, [1.0, 0.0])
        assert_close(theory.query("A(x) = 1").tensor, [1.0, 0.0])
        # The sum of terms of the domain is compared as they are.
        assert_close(theory.query("x + x = x").tensor, [np.exp(-5.0), np.exp(-1.0)])
