"""Declarations: domains, symbols with their groundings and axioms; each mistake is found where it is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import classifier, degrees, smokers, truth
from tests.tolerance import assert_close


def towns() -> tuple[ltn.Theory, Any, Any]:
    """People, given as features, who live in named towns."""
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    places = theory.domain("towns", values=["Rome", "Seoul"])
    theory.constants("Alice, Bob, Charlie", people, values=[[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    theory.predicate("lives_in", (people, places), lambda args: args[0][:, 0] * args[1][:, 0])
    return theory, people, places


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


class TestConstants:
    def test_one_and_several(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        a = theory.constant("a", people, [1.0, 2.0])
        b, c = theory.constants("b c", people, values=[[3.0, 4.0], [5.0, 6.0]])
        d, e = theory.constants(["d", "e"], people, trainable=True)
        assert [term.name for term in (a, b, c, d, e)] == ["a", "b", "c", "d", "e"]
        np.testing.assert_array_equal(a.tensor, [1, 2])
        np.testing.assert_array_equal(c.tensor, [5, 6])
        assert isinstance(a, ltn.Term)
        assert a.free_vars == []
        # Two tables: one of two learned embeddings.
        assert [tuple(weight.shape) for weight in theory.trainable_variables] == [(2, 2)]

    def test_a_number(self) -> None:
        theory = ltn.Theory()
        ages = theory.domain("ages")
        theory.constant("young", ages, 20)
        theory.constants("old, ancient", ages, values=[80, 1000])
        assert theory.query("ancient - young").tensor.numpy().tolist() == [980.0]

    def test_a_variable_of_their_domain_ranges_over_all_of_them(self) -> None:
        theory = ltn.Theory()
        ages = theory.domain("ages")
        theory.constants("young, old", ages, values=[20, 80])
        x = theory.variable("x", ages)
        theory.constant("ancient", ages, 1000)
        np.testing.assert_array_equal(x.tensor, [[20], [80], [1000]])
        assert theory.query("x").to_frame().index.tolist() == ["young", "old", "ancient"]

    def test_given_values_may_be_learned_from_there(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        a = theory.constant("a", numbers, 0.25, trainable=True)
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("I(a)")
        theory.compile(keras.optimizers.SGD(0.1))
        assert a.tensor.numpy().tolist() == [0.25]
        theory.fit(verbose=0)
        assert a.tensor.numpy()[0] > 0.3

    def test_an_initializer(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=3)
        a, b = theory.constants("a, b", people, initializer=keras.initializers.Constant(0.125))
        assert a.tensor.numpy().tolist() == b.tensor.numpy().tolist() == [0.125] * 3

    def test_by_default_they_start_within_the_unit_cube_and_differ(self) -> None:
        theory = ltn.Theory()
        theory.constants("a, b, c", theory.domain("people", shape=3))
        table = theory.individuals[0].tensor.numpy()
        assert (table >= 0).all()
        assert (table <= 1).all()
        assert len(np.unique(table)) == 9

    def test_neither_given_nor_learned(self) -> None:
        theory = ltn.Theory()
        with pytest.raises(ltn.LogicValueError, match="a, b are neither given `values` nor learned"):
            theory.constants("a, b", theory.domain("people", shape=2), trainable=False)

    def test_too_few_or_misshapen_values(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        with pytest.raises(ltn.LogicValueError, match="1 rows for 2 constants"):
            theory.constants("a, b", people, values=[[1.0, 2.0]])
        with pytest.raises(ltn.LogicValueError, match=r"\(n, 2\).*got \(1, 3\)"):
            theory.constant("a", people, [1.0, 2.0, 3.0])

    def test_a_finite_domain_has_its_constants_already(self) -> None:
        theory, _, places = towns()
        with pytest.raises(ltn.LogicValueError, match=r"'towns'.*individuals"):
            theory.constants("Paris", places, values=[2])

    def test_values_outside_the_bounds_are_refused(self) -> None:
        theory = ltn.Theory()
        boxed = theory.domain("boxed", bounds=(0, 1))
        with pytest.raises(ltn.LogicValueError, match=r"bounds \(0\.0, 1\.0\)"):
            theory.constant("a", boxed, 5.0)
        with pytest.raises(ltn.LogicValueError, match=r"bounds \(0\.0, 1\.0\)"):
            theory.variable("x", boxed, values=[0.5, 5.0])

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_values_that_are_not_finite_are_refused(self, value: float) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers")
        with pytest.raises(ltn.LogicValueError, match=r"NaN|finite"):
            theory.constant("a", numbers, value)
        with pytest.raises(ltn.LogicValueError, match=r"NaN|finite"):
            theory.variable("x", numbers, values=[0.5, value])

    def test_values_that_are_no_numbers_are_refused(self) -> None:
        theory = ltn.Theory()
        with pytest.raises(ltn.LogicError, match=r"'?a'?.*number"):
            theory.constant("a", theory.domain("numbers"), "seven")

    def test_after_a_mistake_the_declaration_can_be_made_again(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        with pytest.raises(ltn.LogicValueError, match="'a'"):
            theory.constants("a, a", people)
        theory.constants("a, b", people)
        theory.variable("x", people)
        assert theory.query("x").tensor.shape == (2, 2)

    def test_a_domain_of_unknown_shape_has_no_learned_constants(self) -> None:
        theory = ltn.Theory()
        with pytest.raises(ltn.LogicValueError, match="shape"):
            theory.constants("a, b", theory.domain("texts", shape=(None, 2)))


class TestVariables:
    def test_one_and_several(self) -> None:
        theory = ltn.Theory()
        digits = theory.domain("digits", values=range(3))
        x = theory.variable("x", digits)
        y, z = theory.variables("y, z", digits)
        assert [variable.label for variable in (x, y, z)] == ["x", "y", "z"]
        assert all(isinstance(variable, ltn.Variable) for variable in (x, y, z))
        np.testing.assert_array_equal(z.tensor, [[0], [1], [2]])

    def test_over_chosen_constants_in_their_order(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people, values=["Charlie", "Alice", "Charlie"])
        np.testing.assert_array_equal(theory.query("x").tensor, [[1, 0], [0, 1], [1, 0]])

    def test_over_chosen_names_of_a_finite_domain(self) -> None:
        theory, _, places = towns()
        theory.variable("u", places, values=("Seoul",))
        assert theory.query("u").to_frame().index.tolist() == ["Seoul"]

    def test_over_features(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people, values=[[0.25, 0.0]])
        assert theory.query("lives_in(x, Seoul)").tensor.numpy().tolist() == [0.25]

    def test_without_individuals_they_say_so(self) -> None:
        theory = ltn.Theory()
        x = theory.variable("x", theory.domain("points", shape=2))
        with pytest.raises(ltn.LogicValueError, match=r"'x' has no individuals.*'points'"):
            _ = x.tensor

    @pytest.mark.parametrize("values", [["Alice", "Bobby"], ["Rome"]])
    def test_over_what_is_no_constant_of_the_domain(self, values: list[str]) -> None:
        theory, people, _ = towns()
        with pytest.raises(ltn.LogicValueError, match=f"'x' is given '{values[-1]}'.*'people'"):
            theory.variable("x", people, values=values)

    @pytest.mark.parametrize(
        "values",
        [{"Alice", "Bob"}, "Alice", ["Alice", 3.0], {"Alice": 1}],
        ids=["set", "text", "mixed", "dict"],
    )
    def test_over_other_kinds_of_names(self, values: Any) -> None:
        """A set has no order, one text is not several names: a LogicError says what is expected."""
        theory, people, _ = towns()
        with pytest.raises(ltn.LogicError, match="'x'"):
            theory.variable("x", people, values=values)

    def test_no_names_at_all(self) -> None:
        theory, people, _ = towns()
        with pytest.raises(ltn.LogicValueError, match="'x'"):
            theory.variable("x", people, values=[])

    def test_the_attribute_is_still_the_list_of_weights(self) -> None:
        theory = smokers()
        weights = theory.variables
        assert isinstance(weights, list)
        # Four embeddings in one table, and two networks of four arrays each.
        assert len(weights) == 9
        assert all(isinstance(weight, keras.Variable) for weight in weights)
        assert theory.count_params() == 4 * 3 + (3 * 4 + 4 + 4 + 1) + (6 * 4 + 4 + 4 + 1)
        assert len(theory.get_weights()) == len(theory.trainable_variables) == 9

    def test_several_with_a_mistake_among_them(self) -> None:
        theory, people, _ = towns()
        with pytest.raises(ltn.LogicValueError, match=r"'Bob' cannot name a variable.*constant"):
            theory.variables("x, Bob", people)


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
    @pytest.mark.parametrize("name", ["forall", "2x", "a b", "", "norm"])
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


class TestAxioms:
    def test_a_term_of_another_domain_is_pointed_at(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicTypeError) as error:
            theory.axiom("lives_in(Bob, Charlie)")
        assert str(error.value) == (
            "Argument 2 of 'lives_in' must be of the domain 'towns'; 'Charlie' is of the domain 'people'.\n"
            "    lives_in(Bob, Charlie)\n"
            "                  ^^^^^^^"
        )
        assert theory.axiom_list == []

    def test_a_misspelt_name_is_pointed_at_with_the_nearest(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicValueError, match=r"did you mean 'Charlie'\?\n.*\n +\^{7}"):
            theory.axiom("lives_in(Charly1, Rome)")

    def test_free_variables_are_pointed_at(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people)
        with pytest.raises(ltn.LogicValueError, match=r"free variable x.*forall x"):
            theory.axiom("lives_in(x, Rome)")

    def test_a_term_is_no_axiom(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicTypeError, match="'Bob' is a term"):
            theory.axiom("Bob")

    @pytest.mark.parametrize("formula", [5, None, ["A"], 0.5])
    def test_what_is_neither_text_nor_code(self, formula: Any) -> None:
        with pytest.raises(ltn.LogicTypeError, match="text or a callable"):
            ltn.Theory().axiom(formula)

    def test_a_tree(self) -> None:
        theory, _, _ = towns()
        axiom = theory.axiom(ltn.language.parse("lives_in(Bob, Rome)"), name="fact")
        assert str(axiom) == "lives_in(Bob, Rome)"

    def test_printing_gives_text_that_parses_to_the_same(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people)
        axiom = theory.axiom("∀x: ¬ lives_in(x, Rome) ∧ ¬ lives_in(x, Seoul)")
        assert ltn.language.parse(str(axiom)) == axiom.formula
        assert repr(axiom) == "Axiom(axiom_1: forall x: ~lives_in(x, Rome) & ~lives_in(x, Seoul))"

    def test_names_are_given_or_counted(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        names = [theory.axiom("A", name=name).name for name in (None, "fact", None, "axiom_5", None)]
        assert names == ["axiom_1", "fact", "axiom_3", "axiom_5", "axiom_6"]
        assert [axiom.name for axiom in theory.axiom_list] == names

    def test_a_name_is_used_once(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        theory.axiom("A", name="fact")
        with pytest.raises(ltn.LogicValueError, match="already an axiom 'fact': A"):
            theory.axiom("~A", name="fact")

    @pytest.mark.parametrize("name", ["loss", "satisfaction", "val_loss", "val_satisfaction"])
    def test_names_of_other_logs_are_refused(self, name: str) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicValueError, match=f"'{name}'.*logs"):
            theory.axiom("A", name=name)

    @pytest.mark.parametrize("name", [5, ["a"]])
    def test_a_name_is_text(self, name: Any) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicTypeError, match="name"):
            theory.axiom("A", name=name)

    @pytest.mark.parametrize("name", ["smoking causes cancer", "2nd", "forall", "a.b"])
    def test_a_name_is_one_of_the_language(self, name: str) -> None:
        """So that it can be a label in a text, a key of the logs, and part of the name of p_w."""
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicValueError, match=f"'{name}' cannot name an axiom"):
            theory.axiom("A", name=name, weight="learned")
        assert list(theory.signature.propositions) == ["A"]

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "heavy", None, [1.0]])
    def test_impossible_weights(self, weight: Any) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicError, match="`weight`"):
            theory.axiom("A", weight=weight)
        assert theory.axiom_list == []

    def test_options_that_the_semantics_lacks(self) -> None:
        for semantics, known in (("godel", "none"), ("stable_product", "`p`")):
            theory = degrees([0.5], semantics)
            with pytest.raises(ltn.LogicTypeError, match=f"no hyper-parameter `q`.*{known}"):
                theory.axiom("forall[q=2] x: I(x)")
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `p`"):
            degrees([0.5], "godel").axiom("exists[p=2] x: I(x)")

    def test_options_outside_their_range(self) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"`p` must be.*at least 1"):
            degrees([0.5]).axiom("forall[p=0] x: I(x)")

    def test_options_of_inner_quantifiers_are_checked_too(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `q`"):
            degrees([0.5]).axiom("forall x: exists[q=2] y: I(x) & I(y)")

    def test_an_axiom_is_found_by_its_name(self) -> None:
        theory = classifier()
        assert str(theory.find("positive")) == "forall diag(x, l) where l = 1: A(x)"
        with pytest.raises(ltn.LogicValueError, match="no axiom 'positiv'; did you mean 'positive'"):
            theory.find("positiv")


class TestManyAxioms:
    TEXT = """
        # facts
        bob: lives_in(Bob, Rome)
        lives_in(Alice, Seoul)   # without a name
        everyone: forall x: lives_in(x, Rome)
            | lives_in(x, Seoul)
    """

    def theory(self) -> ltn.Theory:
        theory, people, _ = towns()
        theory.variable("x", people)
        return theory

    def test_of_a_text(self) -> None:
        axioms = self.theory().axioms(self.TEXT)
        assert [axiom.name for axiom in axioms] == ["bob", "axiom_2", "everyone"]
        assert str(axioms[2]) == "forall x: lives_in(x, Rome) | lives_in(x, Seoul)"

    def test_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "axioms.txt"
        path.write_text(self.TEXT + "    also: ∃x: lives_in(x, Rome)\n", encoding="utf-8")
        for given in (path, str(path)):
            assert [axiom.name for axiom in self.theory().axioms(given)] == [
                "bob",
                "axiom_2",
                "everyone",
                "also",
            ]

    def test_of_one_line(self) -> None:
        assert [axiom.name for axiom in self.theory().axioms("lives_in(Bob, Rome)")] == ["axiom_1"]

    def test_of_a_file_that_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises((FileNotFoundError, ltn.LogicError), match=r"missing.txt"):
            self.theory().axioms(tmp_path / "missing.txt")
        with pytest.raises(
            (FileNotFoundError, ltn.LogicError), match=r"(?i)missing\.txt.*(file|exist)|no such file"
        ):
            self.theory().axioms("missing.txt")

    def test_a_mistake_adds_none_of_them(self) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicValueError, match="free variable x"):
            theory.axioms("lives_in(Bob, Rome)\nlives_in(x, Rome)")
        assert theory.axiom_list == []

    @pytest.mark.parametrize("second", ["one: lives_in(Bob, Seoul)", "loss: lives_in(Bob, Rome)"])
    def test_a_mistaken_label_adds_none_of_them(self, second: str) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicValueError, match=r"'one'|'loss'"):
            theory.axioms(f"one: lives_in(Bob, Rome)\n{second}")
        assert theory.axiom_list == []

    def test_a_mistaken_option_adds_none_of_them(self) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicTypeError, match="hyper-parameter `q`"):
            theory.axioms("lives_in(Bob, Rome)\nforall[q=1] x: lives_in(x, Rome)")
        assert theory.axiom_list == []

    def test_weights_and_names_can_be_given_one_by_one(self) -> None:
        theory = self.theory()
        theory.axiom("lives_in(Bob, Rome)", "bob", 2)
        assert theory.report().weight.tolist() == [2.0]


class TestSemantics:
    def test_by_name_as_an_object_and_with_hyperparameters(self) -> None:
        assert ltn.Theory("godel").semantics == ltn.semantics.godel
        own = ltn.semantics.product.replace(Exists=ltn.fuzzy_ops.Aggreg_Max())
        assert ltn.Theory(own).semantics == own
        theory = ltn.Theory("stable_product", p_forall=4, p_exists=6, p_satagg=3)
        assert theory.hyperparameters["p_forall"] == 4
        assert theory.semantics.Exists == ltn.fuzzy_ops.Aggreg_pMean(p=6)
        assert theory.semantics.SatAgg == ltn.fuzzy_ops.Aggreg_pMeanError(p=3)

    def test_unknown_ones(self) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"no semantics 'goedel'.*godel"):
            ltn.Theory("goedel")
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `p_forall`"):
            ltn.Theory("godel", p_forall=2)
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `p_foral`"):
            ltn.Theory(p_foral=2)
        with pytest.raises(ltn.LogicValueError, match="`p` must be"):
            ltn.Theory(p_forall=0)

    @pytest.mark.parametrize(
        "semantics", ["product", "godel", "lukasiewicz", "stable_product", "log_product"]
    )
    def test_each_preset_grounds_the_axioms_by_its_operators(self, semantics: str) -> None:
        """On 0.25, 0.75 and 1.0, by hand."""
        theory = degrees([0.25, 0.75, 1.0], semantics)
        theory.axiom("exists x: I(x)", name="some")
        theory.axiom("forall x: I(x) | ~I(x)", name="either")
        either = {
            "product": [1 - 0.75 * 0.25, 1 - 0.75 * 0.25, 1.0],
            "godel": [0.75, 0.75, 1.0],
            "lukasiewicz": [1.0, 1.0, 1.0],
        }
        errors = 1.0 - np.array(either["product"])
        expected = {
            "product": (np.sqrt((0.0625 + 0.5625 + 1.0) / 3), 1.0 - np.sqrt(np.mean(errors**2))),
            "godel": (1.0, 0.75),
            "lukasiewicz": (1.0, 1.0),
            "log_product": ((0.25 + 0.75 + 1.0) / 3, (0.8125 * 0.8125) ** (1 / 3)),
        }
        expected["stable_product"] = expected["product"]
        # The stable operators move truths by 1e-4 each.
        atol = 5e-4 if semantics == "stable_product" else 2e-6
        assert_close(theory.report().satisfaction, expected[semantics], atol=atol)


class TestDetails:
    def test_a_label_may_look_like_a_given_name(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        assert [axiom.name for axiom in theory.axioms("A\naxiom_1: ~A\nA | ~A")] == [
            "axiom_2",
            "axiom_1",
            "axiom_3",
        ]

    def test_constants_of_a_product_can_be_chosen(self) -> None:
        theory = ltn.Theory()
        ages, incomes = theory.domain("ages"), theory.domain("incomes")
        theory.constants("a, b", ages * incomes, values=[[1, 2], [3, 4]])
        theory.variable("z", ages * incomes, values=["b"])
        np.testing.assert_array_equal(theory.query("z").tensor, [[3, 4]])

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

    @pytest.mark.parametrize("name", ["my knowledge.txt", "data/Knowledge.TXT"])
    def test_files_that_are_missing_are_said_to_be(self, name: str) -> None:
        with pytest.raises(ltn.LogicValueError, match="no such file"):
            ltn.Theory().axioms(name)
