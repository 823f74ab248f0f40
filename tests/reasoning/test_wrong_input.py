"""Wrong questions are refused with a message that says what came and what is expected."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.reasoning.small import QUICK, assert_same, either, people, state_of
from tests.theory.theories import slim

Ask = Callable[..., Any]


@pytest.fixture(params=["entails", "bounds"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Ask a theory in either way."""

    def asked(theory: ltn.Theory, formula: Any, **settings: Any) -> Any:
        return getattr(theory, request.param)(formula, **{**QUICK, **settings})

    return asked


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"q": 0.5}, r"`q` must .*0\.5 and 1.*got 0\.5"),
        ({"q": 1.0}, r"`q` must .*0\.5 and 1.*got 1\.0"),
        ({"q": 95}, r"`q` must .*got 95"),
        ({"q": float("nan")}, r"`q` must .*got nan"),
        ({"q": "0.9"}, r"`q` must .*got '0\.9'"),
        ({"alpha": -0.1}, r"`alpha` must .*at least 0.*got -0\.1"),
        ({"alpha": float("inf")}, r"`alpha` must .*got inf"),
        ({"beta": -1}, r"`beta` must .*at least 0.*got -1"),
        ({"beta": "high"}, r"`beta` must .*got 'high'"),
        ({"restarts": 0}, r"`restarts` must be a whole number, at least 1; got 0"),
        ({"restarts": 2.5}, r"`restarts` must .*got 2\.5"),
        ({"restarts": 2.0}, r"`restarts` must .*got 2\.0"),
        ({"restarts": None}, r"`restarts` must .*got None"),
        ({"steps": -3}, r"`steps` must be a whole number, at least 1; got -3"),
        ({"steps": 5.0}, r"`steps` must .*got 5\.0"),
        ({"steps": "many"}, r"`steps` must .*got 'many'"),
        ({"steps": float("inf")}, r"`steps` must .*got inf"),
    ],
    ids=str,
)
def test_settings_out_of_range(ask: Ask, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ltn.LogicValueError, match=message):
        ask(either(), "A", **settings)


@pytest.mark.parametrize("slack", [0.99, -5, float("nan"), None, "much"])
def test_slack_out_of_range(slack: Any) -> None:
    with pytest.raises(ltn.LogicValueError, match=rf"`slack` must .*at least 1.*got {slack!r}"):
        either().entails("A", slack=slack, **QUICK)


@pytest.mark.filterwarnings("ignore:Nothing was found")
def test_whole_numbers_of_numpy_are_numbers_too(ask: Ask) -> None:
    found = ask(either(), "A", q=np.float64(0.9), restarts=np.int64(1), steps=np.int32(2), seed=np.int64(0))
    assert found.q == 0.9


@pytest.mark.parametrize("method", ["cautious", "", None])
def test_an_unknown_method(method: Any) -> None:
    with pytest.raises(
        ltn.LogicValueError, match=rf"`method` must be one of refutation, brave; got {method!r}"
    ):
        either().entails("A", method=method, **QUICK)


@pytest.mark.parametrize("optimizer", ["nonsense", 0.1, keras.optimizers.Adam, [], keras.layers.Dense(1)])
def test_what_is_no_optimizer(ask: Ask, optimizer: Any) -> None:
    with pytest.raises(ltn.LogicTypeError, match="`optimizer` must be a Keras optimizer; got "):
        ask(either(), "A", optimizer=optimizer)


class TestFormulas:
    def test_an_open_formula(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"free variable y"):
            ask(people(["S(a)"]), "forall x: S(x) & S(y)")

    def test_an_open_formula_is_not_called_an_axiom(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError) as caught:
            ask(people(["S(a)"]), "S(y)")
        assert "axiom" not in str(caught.value)

    def test_a_term(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"Expected a formula.*'a' is a term"):
            ask(people(["S(a)"]), "a")

    def test_an_unknown_symbol(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"no predicate or function 'T'"):
            ask(people(["S(a)"]), "T(a)")
        with pytest.raises(ltn.LogicValueError, match="'nobody'"):
            ask(people(["S(a)"]), "S(nobody)")

    def test_what_does_not_parse(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match="end of the formula"):
            ask(people(["S(a)"]), "S(a) &")

    @pytest.mark.parametrize("formula", [3, None, lambda: None, ["S(a)"]])
    def test_what_is_no_formula(self, ask: Ask, formula: Any) -> None:
        with pytest.raises(ltn.LogicTypeError, match="is text, or a syntax tree; got "):
            ask(people(["S(a)"]), formula)


class TestTheories:
    def test_one_without_axioms(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"has no axioms: add some with theory\.axiom"):
            ask(people([]), "S(a)")

    def test_one_without_anything_learned(self, ask: Ask) -> None:
        theory = ltn.Theory()
        theory.proposition("A", 0.5)
        theory.axiom("A")
        with pytest.raises(ltn.LogicValueError, match=r"Nothing in the theory is learned.*theory\.query"):
            ask(theory, "A")


class TestData:
    def test_missing(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"'x' has no individuals: give data for it"):
            ask(slim(), "exists x: A(x)")

    def test_of_an_unknown_name(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match="Data came for 'z', which is not a variable"):
            ask(slim(), "exists x: A(x)", data={"x": np.zeros((3, 2)), "z": np.zeros(3)})

    def test_of_the_wrong_shape(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"data of 'x' must have the shape .*got \(3, 5\)"):
            ask(slim(), "exists x: A(x)", data={"x": np.zeros((3, 5))})

    def test_that_came_twice(self, ask: Ask) -> None:
        points = np.zeros((3, 2))
        with pytest.raises(ltn.LogicValueError, match="Data came twice for x"):
            ask(slim(), "exists x: A(x)", data={"x": points}, x=points)

    def test_that_are_no_dictionary(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicTypeError, match="dict"):
            ask(slim(), "exists x: A(x)", data=[1.0, 2.0])

    def test_an_unknown_semantics(self, ask: Ask) -> None:
        with pytest.raises(ltn.LogicValueError, match="no semantics 'boolean'; the presets are"):
            ask(either(), "A", semantics="boolean")


def test_nothing_is_changed_by_a_wrong_question(ask: Ask) -> None:
    theory = people(["S(a)"])
    theory.compile("adam")
    theory.fit(epochs=1, verbose=0)
    before = state_of(theory)
    for wrong in ({"q": 2}, {"optimizer": "nonsense"}, {"z": [1.0]}, {"semantics": "boolean"}):
        with pytest.raises((ltn.LogicValueError, ltn.LogicTypeError)):
            ask(theory, "S(a)", **wrong)
    assert_same(state_of(theory), before)
