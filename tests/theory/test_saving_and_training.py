"""Training goes on after loading: networks stay shared, and Adam's averages stay with their weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest

import ltn
from tests.theory.everything import PEOPLE

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


class TestSharedNetworks:
    """Networks that two symbols share are shared again, or they would drift apart in training."""

    def together(
        self, tmp_path: Path, declare: Callable[[ltn.Theory, Any], None]
    ) -> tuple[ltn.Theory, ltn.Theory]:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        declare(theory, points)
        theory.axiom("forall x: P(x)")
        theory.axiom("forall x: ~Q(x)")
        theory.compile(keras.optimizers.Adam(0.05))
        data = {"x": PEOPLE}
        theory.fit(data, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.count_params() == theory.count_params()
        for mine in (theory, loaded):
            mine.fit(data, epochs=2, shuffle=False, verbose=0)
        assert theory.report(data).equals(loaded.report(data))
        return theory, loaded

    def test_one_predicate_under_two_names(self, tmp_path: Path) -> None:
        P = ltn.Predicate.MLP([2], (3,))

        def declare(theory: ltn.Theory, points: Any) -> None:
            theory.predicate("P", points, P)
            theory.predicate("Q", points, P)

        _, loaded = self.together(tmp_path, declare)
        assert loaded.symbols["P"].network is loaded.symbols["Q"].network

    def test_two_predicates_on_one_network(self, tmp_path: Path) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])

        def declare(theory: ltn.Theory, points: Any) -> None:
            theory.predicate("P", points, network)
            theory.predicate("Q", points, network)

        _, loaded = self.together(tmp_path, declare)
        assert loaded.symbols["P"].network is loaded.symbols["Q"].network


class TestOrderOfDeclarations:
    """Parts may be declared in any order; Adam's averages belong to the weight that they were of."""

    @pytest.mark.parametrize(
        "order",
        [("predicate", "constants", "proposition"), ("proposition", "predicate", "constants")],
        ids=" ".join,
    )
    def test_training_goes_on(self, order: tuple[str, ...], tmp_path: Path) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        declare: dict[str, Callable[[], Any]] = {
            "constants": lambda: theory.constants("a, b", people),
            "predicate": lambda: theory.predicate("P", people, ltn.Predicate.MLP([2], (2,))),
            "proposition": lambda: theory.proposition("A", 0.5, trainable=True),
        }
        for part in order:
            declare[part]()
        theory.axiom("P(a) & ~P(b) & A")
        self.check(theory, tmp_path)

    def test_also_where_all_weights_have_one_shape(self, tmp_path: Path) -> None:
        """Nothing but the values would tell that two averages were swapped."""
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        # One weight of shape (1, 1) each: a network without a bias, then a constant.
        network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, "sigmoid", use_bias=False)])
        theory.predicate("P", numbers, network)
        theory.constant("a", numbers, 0.75, trainable=True)
        theory.axiom("P(a)")
        self.check(theory, tmp_path)

    def check(self, theory: ltn.Theory, tmp_path: Path) -> None:
        theory.compile(keras.optimizers.Adam(0.05))
        theory.fit(epochs=2, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.report().equals(theory.report())
        for one in (theory, loaded):
            one.fit(epochs=2, verbose=0)
        assert loaded.report().equals(theory.report())
