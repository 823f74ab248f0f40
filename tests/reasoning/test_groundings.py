"""Groundings that a search found: by name, applied to a copy of the theory, saved and loaded."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.reasoning import Grounding
from tests.reasoning.small import (
    GRAPH_ATOL,
    QUICK,
    assert_same,
    either,
    people,
    propositions,
    satisfaction,
    state_of,
)
from tests.theory.theories import classifier, labelled_points, truth
from tests.tolerance import assert_close


def mixed() -> ltn.Theory:
    """One of each kind: constants learned and known, propositions learned and known, a network, code."""
    theory = ltn.Theory()
    people = theory.domain("people", shape=2)
    theory.constants("a, b", people, trainable=True)
    theory.constant("c", people, [0.5, 0.5])
    theory.variable("x", people)
    theory.predicate("S", people, ltn.Predicate.MLP([2], (4,)))
    theory.predicate("near", people, lambda x: tf.clip_by_value(x[:, 0], 0.0, 1.0))
    theory.proposition("P", 0.25, trainable=True)
    theory.proposition("known", 0.75)
    theory.axioms("""
        all: forall x: S(x) | near(x)
        either: P | known
    """)
    return theory


@pytest.fixture(scope="module")
def asked() -> tuple[ltn.Theory, Grounding]:
    keras.utils.set_random_seed(0)
    theory = mixed()
    return theory, theory.entails("S(a)", **QUICK).grounding


class TestNames:
    def test_all_that_is_learned_and_only_that(self, asked: tuple[ltn.Theory, Grounding]) -> None:
        grounding = asked[1]
        assert list(grounding.constants) == ["a", "b"]
        assert list(grounding.propositions) == ["P"]
        assert len(grounding.weights) == 4
        assert all(name.startswith("S/") for name in grounding.weights)
        kinds = [(name.split("/")[1], name.split("/")[2]) for name in grounding.weights]
        assert kinds == [("0", "kernel"), ("1", "bias"), ("2", "kernel"), ("3", "bias")]

    def test_values_have_the_shapes_of_what_they_ground(self, asked: tuple[ltn.Theory, Grounding]) -> None:
        grounding = asked[1]
        assert [value.shape for value in grounding.constants.values()] == [(2,), (2,)]
        assert [value.shape for value in grounding.weights.values()] == [(2, 4), (4,), (4, 1), (1,)]
        assert type(grounding.propositions["P"]) is float

    def test_they_are_shown(self, asked: tuple[ltn.Theory, Grounding]) -> None:
        shown = repr(asked[1])
        assert f"P = {asked[1].propositions['P']:.3f}" in shown
        assert "constants a, b" in shown
        assert "weights of S" in shown
        counterexample = either().entails("A", restarts=1, verbose=0).counterexample
        assert repr(counterexample) == "Grounding(A = 0.000, B = 1.000)"


class TestCopies:
    def test_a_copy_has_the_grounding_and_the_theory_keeps_its_own(
        self, asked: tuple[ltn.Theory, Grounding]
    ) -> None:
        theory, grounding = asked
        before = state_of(theory)
        copy = grounding.apply_to(theory)
        assert_same(state_of(theory), before)
        assert copy is not theory
        assert not {id(weight) for weight in copy.weights} & {id(weight) for weight in theory.weights}
        for name, features in grounding.constants.items():
            assert_same(copy.query(name).tensor.numpy(), features)
        assert truth(copy, "P") == pytest.approx(grounding.propositions["P"])
        network: Any = copy.symbols["S"].network
        assert_same(network.get_weights(), list(grounding.weights.values()))
        # What is not learned is as in the theory.
        assert truth(copy, "known") == 0.75
        assert_close(copy.query("c").tensor, [0.5, 0.5])
        assert truth(copy, "near(c)") == 0.5

    def test_a_change_of_the_copy_is_none_of_the_theory(self, asked: tuple[ltn.Theory, Grounding]) -> None:
        theory, grounding = asked
        before = state_of(theory)
        copy = grounding.apply_to(theory)
        copy.compile(keras.optimizers.SGD(0.1))
        copy.fit(epochs=2, verbose=0)
        assert_same(state_of(theory), before)
        assert satisfaction(copy) != satisfaction(grounding.apply_to(theory))

    def test_a_copy_reasons_on(self, asked: tuple[ltn.Theory, Grounding]) -> None:
        theory, grounding = asked
        copy = grounding.apply_to(theory)
        verdict = copy.entails("S(a)", **QUICK)
        assert_close(verdict.curve.value[0], truth(copy, "S(a)"), atol=GRAPH_ATOL)

    def test_hyperparameters_go_along(self) -> None:
        theory = people(["forall x: S(x)", "exists x: ~S(x)"], p_forall=3)
        theory.set_hyperparameters(p_exists=6)
        theory.set_hyperparameters("axiom_1", p_forall=5)
        verdict = theory.entails("S(a)", **QUICK)
        assert_close(verdict.curve.satisfaction[0], satisfaction(theory), atol=GRAPH_ATOL)
        copy = verdict.grounding.apply_to(theory)
        assert copy.hyperparameters == theory.hyperparameters
        assert_close(satisfaction(copy), verdict.satisfaction, atol=GRAPH_ATOL)

    def test_an_own_class_of_theory_stays_it(self) -> None:
        class Own(ltn.Theory):
            """A theory with a name of its own."""

        theory = classifier(kind=Own)
        copy = theory.entails("forall x: A(x)", data=labelled_points(6), **QUICK).grounding.apply_to(theory)
        assert type(copy) is Own

    @pytest.mark.parametrize(
        "other",
        [
            lambda: propositions("AC", ["A | C"]),
            lambda: propositions("ABC", ["A | B"]),
            lambda: propositions("A", ["A"]),
            lambda: people(["S(a)"]),
        ],
    )
    def test_another_theory_is_refused(self, other: Any) -> None:
        grounding = either().entails("A", **QUICK).grounding
        with pytest.raises(ltn.LogicValueError, match=r"grounding is of another theory: .*[BCS]"):
            grounding.apply_to(other())

    def test_a_theory_with_other_shapes_is_refused(self) -> None:
        def with_units(units: int) -> ltn.Theory:
            theory = ltn.Theory()
            points = theory.domain("points", shape=2)
            theory.constant("a", points, trainable=True)
            theory.predicate("S", points, ltn.Predicate.MLP([2], (units,)))
            theory.axiom("S(a)")
            return theory

        grounding = with_units(3).entails("S(a)", **QUICK).grounding
        with pytest.raises(ltn.LogicValueError, match="S/0/kernel"):
            grounding.apply_to(with_units(4))


class TestFiles:
    @pytest.mark.parametrize("as_text", [False, True])
    def test_what_is_saved_is_loaded(
        self, asked: tuple[ltn.Theory, Grounding], tmp_path: Path, as_text: bool
    ) -> None:
        theory, grounding = asked
        path = tmp_path / "found.npz"
        grounding.save(str(path) if as_text else path)
        loaded = Grounding.load(str(path) if as_text else path)
        assert loaded.propositions == grounding.propositions
        for kind in ("constants", "weights"):
            mine, theirs = getattr(grounding, kind), getattr(loaded, kind)
            assert list(mine) == list(theirs)
            assert_same(list(mine.values()), list(theirs.values()))
        assert repr(loaded) == repr(grounding)
        assert_same(state_of(loaded.apply_to(theory)), state_of(grounding.apply_to(theory)))

    def test_it_is_a_plain_file_of_numpy(self, asked: tuple[ltn.Theory, Grounding], tmp_path: Path) -> None:
        asked[1].save(tmp_path / "found.npz")
        with np.load(tmp_path / "found.npz", allow_pickle=False) as arrays:
            assert "constants:a" in arrays
            assert "weights:S/0/kernel" in arrays

    def test_another_ending_is_refused(self, asked: tuple[ltn.Theory, Grounding], tmp_path: Path) -> None:
        for name in ("found", "found.npy", "found.npz.txt"):
            with pytest.raises(ltn.LogicValueError, match=rf"ends with \.npz; got .*{name}"):
                asked[1].save(tmp_path / name)
        assert list(tmp_path.iterdir()) == []
