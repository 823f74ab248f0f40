"""The training steps of all experiments under XLA: they compile, and give the numbers of eager steps."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from examples import __main__, reasoning
from examples.harness import Recorder, Run, Setting
from ltn.knowledge.data import NOTHING
from ltn.knowledge.questions import Question
from ltn.language import parse
from ltn.reasoning.refutation import Goal, Loss, Search
from tests.jit import assert_compiled, recorded
from tests.theory.theories import assert_same_weights, weights_of
from tests.tolerance import assert_close

# XLA adds up in another order. Adam divides a gradient by its size, so that rounding of those near 0 moves
# weights by some part of its step of 0.001: one hundredth of a step is allowed.
ATOL = 1e-5
# The logs are computed from such weights.
LOGS = {"rtol": 1e-5, "atol": 1e-5}


class Case(NamedTuple):
    """A setting of an experiment, shortened, with the number of its steps."""

    experiment: str
    setting: str
    changes: dict[str, Any]
    steps: int


# XLA compiles once for each size of batch, which takes most of the time: only one has a smaller last one.
CASES = [
    Case("binary", "paper", {"epochs": 4}, 4),
    Case("iris", "paper", {"epochs": 2, "train_size": 80}, 4),
    Case("crabs", "paper", {"epochs": 3, "train_size": 60}, 3),
    Case("addition", "single", {"epochs": 3, "train_size": 8}, 3),
    Case("addition", "single, stable_product", {"epochs": 3, "train_size": 8}, 3),
    Case("addition", "two", {"epochs": 3, "train_size": 8, "options": {"rate": "decay"}}, 3),
    Case("addition", "two, stable_product", {"epochs": 3, "train_size": 8}, 3),
    Case("regression", "Windsor sales", {"epochs": 3, "train_size": 60}, 3),
    Case("clustering", "paper", {"epochs": 3, "train_size": 40}, 3),
    Case("smokers", "paper", {"epochs": 3}, 3),
    Case("reasoning", "paper", {"epochs": 3}, 3),
]


class Trained(Exception):  # noqa: N818
    """Ends a run after its training: what it measures and draws later is of no interest here."""


class Training:
    """What a run trains: the theory, its weights at the start, its history and its first batch."""

    def __init__(self, case: Case, jit_compile: bool, monkeypatch: pytest.MonkeyPatch):
        # Without XLA a few steps take less time than compiling them.
        self._compile = functools.partialmethod(
            ltn.Theory.compile, jit_compile=jit_compile, run_eagerly=not jit_compile
        )
        self._fit = ltn.Theory.fit
        with monkeypatch.context() as patch:
            patch.setattr(ltn.Theory, "compile", self._compile)
            patch.setattr(
                ltn.Theory, "fit", lambda theory, *args, **kwargs: self.fit(theory, *args, **kwargs)
            )
            self.steps = recorded(patch)
            keras.utils.set_random_seed(1)
            with pytest.raises(Trained):
                run_of(case.experiment)(setting_of(case), 1)

    def fit(
        self, theory: ltn.Theory, x: Mapping[str, Any] | None = None, callbacks: Any = (), **kwargs: Any
    ) -> NoReturn:
        schedules = [callback for callback in callbacks if not isinstance(callback, Recorder)]
        self.theory, self.start = theory, weights_of(theory)
        self.batch = {NOTHING: tf.zeros(1)} if x is None else {n: tf.constant(v[:8]) for n, v in x.items()}
        self.history = self._fit(theory, x, callbacks=schedules, shuffle=False, **kwargs).history
        raise Trained


def setting_of(case: Case) -> Setting:
    settings = {setting.name: setting for setting in __main__.EXPERIMENTS[case.experiment].settings()}
    return settings[case.setting].changed(**case.changes)


def run_of(experiment: str) -> Callable[[Setting, int], Run]:
    return learn_two if experiment == "reasoning" else __main__.EXPERIMENTS[experiment].run


def learn_two(setting: Setting, seed: int) -> NoReturn:
    """The theory of the experiment on reasoning, which learns in a search of its own, by `fit`."""
    theory = reasoning.theory_of_two()
    theory.compile(keras.optimizers.RMSprop(0.05))
    theory.fit(epochs=setting.epochs, verbose=0)
    raise AssertionError("`fit` ends the run")


@pytest.fixture(autouse=True)
def _no_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA draws other random numbers than TensorFlow: test_compiled_steps.py has the test with dropout."""
    monkeypatch.setattr(keras.layers.Dropout, "call", lambda layer, inputs, training=False: inputs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.experiment}: {case.setting}")
def test_xla_compiles_the_step_and_gives_the_same_numbers(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, xla = (Training(case, jit_compile, monkeypatch) for jit_compile in (False, True))
    assert plain.steps == []
    [step] = xla.steps
    assert step.experimental_get_tracing_count() == 1
    assert_compiled(step, xla.batch)

    for mine, theirs in zip(xla.start, plain.start, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert int(xla.theory.optimizer.iterations) == int(plain.theory.optimizer.iterations) == case.steps
    assert set(xla.history) == {"loss", "satisfaction", *(axiom.name for axiom in xla.theory.axiom_list)}
    for name, values in plain.history.items():
        assert_close(xla.history[name], values, **LOGS)
    assert_same_weights(xla.theory, plain.theory, atol=ATOL)
    # The tolerance says something: training moved the weights by more.
    moved = [np.abs(a - b).max() for a, b in zip(xla.theory.get_weights(), xla.start, strict=True)]
    assert max(moved) > 100 * ATOL


def test_every_experiment_is_among_them() -> None:
    assert {case.experiment for case in CASES} == set(__main__.EXPERIMENTS)


def test_xla_compiles_the_step_of_the_search_of_reasoning_too() -> None:
    theory = reasoning.theory_of_two()
    goal, loss = Goal(1.0, reasoning.Q, 0.05, 10.0), tf.constant(Loss(formula=1.0, penalty=1.0))

    def values(jit_compile: bool) -> list[Any]:
        asked = Question(None, None, None, {})
        search = Search(theory, parse("A"), asked, keras.optimizers.RMSprop(0.05))
        step = tf.function(lambda: search._step(goal, loss, {}), autograph=False, jit_compile=jit_compile)
        return [*(step().numpy() for _ in range(3)), *(float(point) for point in search._point)]

    plain, xla = values(False), values(True)
    for mine, theirs in zip(xla, plain, strict=True):
        assert_close(mine, theirs, **LOGS)
