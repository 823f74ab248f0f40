"""Reasoning leaves the theory as it was: after success, after an error, after Ctrl-C, also for training."""

from collections.abc import Callable
from typing import Any

import keras
import pytest
import tensorflow as tf

import ltn
from tests.reasoning.small import assert_same, either, generators, people, propositions, state_of
from tests.theory.theories import trained_like

# What the bounds are does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore:The theory does not pin")

SETTINGS: dict[str, Any] = {"restarts": 2, "steps": 30, "seed": 0, "verbose": 0}


def trained() -> ltn.Theory:
    theory = people(["S(a)", "forall x: S(x) -> ~S(b)"])
    theory.compile(keras.optimizers.Adam(0.05))
    theory.fit(epochs=3, verbose=0)
    return theory


@pytest.mark.parametrize("make", [either, trained])
@pytest.mark.parametrize(
    "ask",
    [
        lambda theory, text: theory.entails(text, **SETTINGS),
        lambda theory, text: theory.entails(text, method="brave", **SETTINGS),
        lambda theory, text: theory.bounds(text, q=0.6, **SETTINGS),
    ],
    ids=["entails", "brave", "bounds"],
)
def test_weights_and_optimizer_are_as_before(make: Callable[[], ltn.Theory], ask: Any) -> None:
    theory = make()
    before = state_of(theory)
    ask(theory, "A" if "A" in theory.propositions else "S(a)")
    assert_same(state_of(theory), before)


def test_what_a_query_says_is_as_before() -> None:
    theory = trained()
    before = theory.query("S(x)").tensor.numpy()
    verdict = theory.entails("S(b)", **SETTINGS)
    assert_same(theory.query("S(x)").tensor.numpy(), before)
    verdict.grounding.apply_to(theory)
    assert_same(theory.query("S(x)").tensor.numpy(), before)


class Stop(keras.utils.Progbar):
    """A progress bar in which somebody presses Ctrl-C, at the second report."""

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.reports = getattr(self, "reports", 0) + 1
        if self.reports == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("make", [either, trained])
def test_they_are_after_an_interruption(
    make: Callable[[], ltn.Theory], monkeypatch: pytest.MonkeyPatch
) -> None:
    theory = make()
    before, at_first = state_of(theory), generators()
    text = "A & B" if "A" in theory.propositions else "S(a)"
    with monkeypatch.context() as patch:
        patch.setattr(keras.utils, "Progbar", Stop)
        with pytest.raises(KeyboardInterrupt):
            theory.entails(text, **SETTINGS)
    assert_same(state_of(theory), before)
    assert generators() == at_first
    # Nothing is left half-way: asking again, and training, work.
    theory.entails(text, **SETTINGS)
    theory.compile(keras.optimizers.SGD(0.1))
    theory.fit(epochs=1, verbose=0)


@pytest.mark.parametrize("method", ["__init__", "update"])
def test_they_are_after_an_error(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise RuntimeError("full disk")

    theory = trained()
    before = state_of(theory)
    with monkeypatch.context() as patch:
        patch.setattr(keras.utils.Progbar, method, failing)
        with pytest.raises(RuntimeError, match="full disk"):
            theory.entails("S(a)", **SETTINGS)
    assert_same(state_of(theory), before)


def test_they_are_after_an_error_in_a_predicate() -> None:
    theory = ltn.Theory()
    numbers = theory.domain("numbers")
    # Afresh it starts where the predicate is not defined.
    theory.constant("c", numbers, 0.25, trainable=True, initializer=keras.initializers.Constant(-1.0))
    theory.predicate("root", numbers, lambda x: tf.sqrt(tf.minimum(x, 1.0)))
    theory.axiom("root(c)")
    before, at_first = state_of(theory), generators()
    with pytest.raises(ltn.LogicValueError, match="not a number"):
        theory.entails("root(c)", q=0.99, restarts=2, steps=3, seed=0, verbose=0)
    assert_same(state_of(theory), before)
    assert generators() == at_first


def test_generators_of_python_and_numpy_are_where_they_were() -> None:
    theory = people(["S(a)", "~S(b)"])
    at_first = generators()
    theory.entails("S(a)", **{**SETTINGS, "steps": 5})
    theory.bounds("S(a)", q=0.6, **{**SETTINGS, "steps": 5})
    assert generators() == at_first


def test_training_goes_on_as_if_nothing_had_happened() -> None:
    keras.utils.set_random_seed(1)
    asked, left_alone = (people(["S(a)", "forall x: S(x) -> ~S(b)"]) for _ in range(2))
    trained_like(asked, left_alone)
    histories = []
    for theory in (asked, left_alone):
        theory.compile(keras.optimizers.Adam(0.05))
        theory.fit(epochs=3, verbose=0)
        if theory is asked:
            theory.entails("S(b)", **SETTINGS)
        histories.append(theory.fit(epochs=3, verbose=0).history)
    assert histories[0] == histories[1]
    assert_same(state_of(asked), state_of(left_alone))


def test_an_own_optimizer_is_not_modified() -> None:
    optimizer = keras.optimizers.SGD(0.25, momentum=0.5)
    config = optimizer.get_config()
    theory = propositions("AB", ["A | B"], 0.25)
    one, other = (theory.entails("A", optimizer=optimizer, **SETTINGS) for _ in range(2))
    assert optimizer.get_config() == config
    assert not optimizer.built
    assert int(optimizer.iterations) == 0
    # It was used, from a state of its own each time.
    assert list(one.curve.loss) == list(other.curve.loss)
    assert list(one.curve.loss) != list(theory.entails("A", **SETTINGS).curve.loss)


def test_the_optimizer_of_the_theory_may_be_lent() -> None:
    theory = trained()
    before = state_of(theory)
    theory.entails("S(a)", optimizer=theory.optimizer, **SETTINGS)
    assert_same(state_of(theory), before)
    assert int(theory.optimizer.iterations) == 3
