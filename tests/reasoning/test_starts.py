"""Starting points: constants, propositions and networks as their own initialisers make them."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

import ltn
from ltn.reasoning.starts import draw_start
from tests.reasoning.small import QUICK, assert_same, either, generators, people, propositions, state_of
from tests.tolerance import assert_close

MANY = 200
Array = NDArray[np.float32]


def constants(values: Any = None, initializer: Any = None, **domain: Any) -> ltn.Theory:
    """Many learned constants with two features."""
    theory = ltn.Theory()
    points = theory.domain("points", shape=2, **domain)
    names = [f"c{number}" for number in range(MANY)]
    theory.constants(names, points, values, trainable=True, initializer=initializer)
    return theory


def drawn(theory: ltn.Theory, seed: str = "0/1") -> Array:
    [table] = draw_start(theory, seed)
    return table


def uniform_in(table: Array, low: float, high: float) -> bool:
    """Whether numbers fill an interval evenly, as far as their quartiles tell."""
    quartiles = (np.quantile(table, [0.25, 0.5, 0.75]) - low) / (high - low)
    inside = table.min() >= low and table.max() <= high
    # The standard error of a quartile of 400 numbers is about 0.025.
    return bool(inside and np.abs(quartiles - [0.25, 0.5, 0.75]).max() < 0.1)


class TestConstants:
    def test_by_default_they_are_uniform_in_the_unit_interval(self) -> None:
        assert uniform_in(drawn(constants()), 0.0, 1.0)

    def test_in_a_bounded_domain_they_are_uniform_in_its_bounds(self) -> None:
        assert uniform_in(drawn(constants(bounds=(-3.0, 5.0))), -3.0, 5.0)

    def test_declared_with_values_they_are_uniform_in_their_range(self) -> None:
        values = np.linspace(10.0, 30.0, 2 * MANY).reshape(MANY, 2)
        theory = constants(values)
        assert_close(theory.get_weights()[0], values)
        assert uniform_in(drawn(theory), 10.0, 30.0)

    def test_bounds_go_before_the_range_of_values(self) -> None:
        assert uniform_in(drawn(constants(np.full((MANY, 2), 0.5), bounds=(0.0, 2.0))), 0.0, 2.0)

    def test_a_constant_initializer_gives_that_constant(self) -> None:
        assert_same(drawn(constants(initializer=keras.initializers.Constant(0.75))), np.full((MANY, 2), 0.75))

    def test_an_initializer_by_name_and_one_that_is_code(self) -> None:
        assert_same(drawn(constants(initializer="ones")), np.ones((MANY, 2)))

        def rising(shape: Any, dtype: Any = None) -> tf.Tensor:
            return tf.reshape(tf.range(float(np.prod(shape)), dtype=dtype or tf.float32), shape)

        assert_same(drawn(constants(initializer=rising)), np.arange(2.0 * MANY).reshape(MANY, 2))

    def test_a_normal_initializer_draws_normally(self) -> None:
        table = drawn(constants(initializer=keras.initializers.RandomNormal(mean=4.0, stddev=0.5)))
        assert_close([table.mean(), table.std()], [4.0, 0.5], atol=0.1)

    def test_they_stay_in_the_simplex(self) -> None:
        table = drawn(constants(bounds="simplex"))
        assert_close(table.sum(axis=1), np.ones(MANY))
        assert table.min() >= 0.0
        assert len(np.unique(table[:, 0])) > MANY / 2

    def test_an_initializer_that_leaves_the_bounds_is_brought_back(self) -> None:
        table = drawn(constants(initializer=keras.initializers.Constant(7.0), bounds=(0.0, 1.0)))
        assert_same(table, np.ones((MANY, 2)))

    def test_those_that_are_not_learned_are_none_of_it(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.constant("known", points, [1.0, 2.0])
        theory.constant("learned", points, trainable=True)
        [table] = draw_start(theory, "0/1")
        assert table.shape == (1, 2)
        assert_close(theory.query("known").tensor, [1.0, 2.0])

    def test_two_tables_are_not_alike(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        for name in "ab":
            theory.constant(name, points, trainable=True)
        one, other = draw_start(theory, "0/1")
        assert not np.array_equal(one, other)


class TestPropositions:
    def test_they_are_anywhere_in_the_unit_interval(self) -> None:
        theory = propositions("A", ["A"])
        values = np.array([draw_start(theory, f"0/{number}")[0] for number in range(MANY)])
        assert uniform_in(values, 0.0, 1.0)

    def test_several_are_not_alike_and_known_ones_stay(self) -> None:
        theory = either()
        theory.proposition("known", 0.25)
        values = draw_start(theory, "0/1")
        assert [value.shape for value in values] == [(), ()]
        assert values[0] != values[1]

    def test_they_stay_in_the_unit_interval_during_the_search(self) -> None:
        theory = propositions("AB", ["A | B", "A -> B"], 0.5, semantics="product")
        large = keras.optimizers.SGD(50.0)
        for verdict in (
            theory.entails("A", restarts=3, steps=20, seed=0, verbose=0),
            theory.entails("A", restarts=3, steps=20, seed=0, verbose=0, optimizer=large),
        ):
            assert verdict.curve.value.between(0.0, 1.0).all()
            assert verdict.curve.satisfaction.between(0.0, 1.0).all()
            assert all(0.0 <= value <= 1.0 for value in verdict.grounding.propositions.values())


class Plain(keras.layers.Layer):
    """A layer of which Keras does not know how to build another."""

    def __init__(self, units: int, start: str):
        super().__init__()
        self.dense = keras.layers.Dense(units, "sigmoid", kernel_initializer=start)

    def build(self, input_shape: Any) -> None:
        self.dense.build(input_shape)

    def call(self, x: Any) -> Any:
        return self.dense(x)[:, 0]


def with_network(network: Any, shape: int = 2) -> ltn.Theory:
    theory = ltn.Theory()
    points = theory.domain("points", shape=shape)
    theory.constant("a", points, np.zeros(shape))
    theory.predicate("P", points, network)
    theory.axiom("P(a)")
    return theory


class TestNetworks:
    def test_they_are_drawn_by_their_own_initialisers(self) -> None:
        dense = keras.layers.Dense(
            500, kernel_initializer=keras.initializers.RandomNormal(2.0, 0.5), bias_initializer="ones"
        )
        out = keras.layers.Dense(1, "sigmoid", kernel_initializer="zeros")
        theory = with_network(keras.Sequential([keras.Input((2,)), dense, out]))
        for weight in theory.trainable_variables:
            weight.assign(weight + 7.0)
        kernel, bias, last_kernel, last_bias = draw_start(theory, "0/1")
        assert_close([kernel.mean(), kernel.std()], [2.0, 0.5], atol=0.1)
        assert_same(bias, np.ones(500))
        assert_same(last_kernel, np.zeros((500, 1)))
        assert_same(last_bias, np.zeros(1))

    def test_the_networks_of_the_package_are_drawn_anew(self) -> None:
        theory = people(["S(a)"])
        for new, own in zip(draw_start(theory, "0/1"), theory.trainable_variables, strict=True):
            assert new.shape == tuple(own.shape)
            assert "bias" in own.name or not np.array_equal(new, own.numpy())

    def test_frozen_layers_keep_their_weights(self) -> None:
        frozen = keras.layers.Dense(3, name="frozen")
        theory = with_network(keras.Sequential([keras.Input((2,)), frozen, keras.layers.Dense(1, "sigmoid")]))
        frozen.trainable = False
        assert [value.shape for value in draw_start(theory, "0/1")] == [(3, 1), (1,)]

    def test_what_keras_cannot_rebuild_is_refused_by_name(self) -> None:
        theory = with_network(Plain(1, "zeros"))
        before, at_first = state_of(theory), generators()
        with pytest.raises(
            ltn.LogicValueError, match=r"cannot rebuild the network 'plain\w*', a Plain.*get_config"
        ):
            draw_start(theory, "0/1")
        with pytest.raises(ltn.LogicValueError, match="cannot rebuild the network"):
            theory.entails("P(a)", **{**QUICK, "restarts": 2})
        assert_same(state_of(theory), before)
        assert generators() == at_first
        # The theory as it is needs no other network.
        assert theory.entails("P(a)", **QUICK).restarts == 1


class TestSeeds:
    def test_a_seed_is_a_starting_point(self) -> None:
        theory = people(["S(a)"])
        theory.proposition("A", 0.5, trainable=True)
        assert_same(draw_start(theory, "0/1"), draw_start(theory, "0/1"))
        for one, other in zip(draw_start(theory, "0/1"), draw_start(theory, "0/2"), strict=True):
            assert not one.any() or not np.array_equal(one, other)

    def test_the_weights_and_the_generators_are_left_alone(self) -> None:
        theory = people(["S(a)"])
        theory.proposition("A", 0.5, trainable=True)
        before = state_of(theory)
        at_first = generators()
        values = draw_start(theory, "0/1")
        assert generators() == at_first
        for value in values:
            value += 1.0
        assert_same(state_of(theory), before)
