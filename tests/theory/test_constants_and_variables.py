"""Constants and variables: individuals that are given or learned, and what ranges over them."""

from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.theory.theories import smokers, towns


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
