"""Several starts: `fit(..., starts=5)` goes on with the best of them, and loses nothing on the way."""

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from benchmarks import lost_runs
from ltn.knowledge.initialisation import values_of
from ltn.training.feeding import Feeding
from ltn.training.trials import Trials
from tests.knowledge.small import knowledge_of
from tests.tolerance import assert_close

NUMBERS = np.linspace(0.0, 1.0, 40, dtype=np.float32)[:, np.newaxis]
QUIET: dict[str, Any] = {"verbose": 0, "batch_size": 8}


def claim(rate: float = 0.1, **settings: Any) -> ltn.Theory:
    """One proposition that is to be true; its truth is 0.25."""
    theory = ltn.Theory("product")
    theory.proposition("A", 0.25, trainable=True)
    theory.axiom("A", name="claim")
    theory.compile(keras.optimizers.SGD(rate, momentum=0.5), **settings)
    return theory


def bright(network: Any = None, **settings: Any) -> ltn.Theory:
    """A network that is to be true of all numbers."""
    theory = ltn.Theory("product")
    theory.variable("x", theory.domain("numbers"))
    network = network or keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, "sigmoid")])
    theory.predicate("bright", theory.signature.domains["numbers"], network)
    theory.axiom("forall x: bright(x)", name="all")
    theory.compile("sgd", **settings)
    return theory


def state_of(theory: ltn.Theory) -> list[np.ndarray]:
    return values_of([*theory.variables, *theory.optimizer.variables])


def assert_same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)


class TestTheBestStart:
    def test_is_the_one_with_the_lowest_loss(self) -> None:
        history = claim(rate=1e-3).fit(epochs=1, verbose=0, starts=4, trial_steps=3)
        table = history.starts
        assert list(table.index) == [1, 2, 3, 4]
        assert list(table.columns) == ["loss", "satisfaction", "steps", "chosen"]
        assert list(table["chosen"]) == list(table["loss"] == table["loss"].min())
        assert_close(table["satisfaction"], 1.0 - table["loss"])
        assert set(table["steps"]) == {3}

    def test_goes_on_from_where_its_trial_ended(self) -> None:
        theory = claim(rate=1e-3)
        history = theory.fit(epochs=2, verbose=0, starts=3, trial_steps=4)
        best = history.starts["satisfaction"].max()
        assert history.history["satisfaction"][0] > best
        assert int(theory.optimizer.iterations) == 4 + 2

    def test_is_the_theory_as_it_is_where_that_is_best(self) -> None:
        theory = claim(rate=1e-6)
        theory.propositions["A"].weights[0].assign(1.0)
        history = theory.fit(epochs=1, verbose=0, starts=3)
        assert list(history.starts["chosen"]) == [True, False, False]
        assert_close(theory.query("A").tensor, 1.0)

    def test_is_never_one_whose_loss_is_not_a_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        losses = iter([float("nan"), 0.5, float("nan")])
        monkeypatch.setattr(Trials, "_train", lambda self: {"loss": next(losses), "satisfaction": 0.5})
        history = claim().fit(epochs=1, verbose=0, starts=3)
        assert list(history.starts["chosen"]) == [False, True, False]

    def test_is_told_in_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        claim().fit(epochs=1, verbose=2, starts=3, trial_steps=4)
        lines = capsys.readouterr().out.splitlines()
        [line] = [line for line in lines if "Start" in line]
        assert line.startswith(("Start 1 of 3", "Start 2 of 3", "Start 3 of 3"))
        assert " after 4 steps; the others have " in line
        claim().fit(epochs=1, verbose=0, starts=3, trial_steps=4)
        assert not capsys.readouterr().out


def test_one_start_is_plain_training() -> None:
    history = claim().fit(epochs=3, verbose=0, starts=1)
    assert not hasattr(history, "starts")
    assert history.history == claim().fit(epochs=3, verbose=0).history


class TestEachStart:
    def test_takes_a_fifth_of_the_planned_steps(self) -> None:
        history = bright().fit({"x": NUMBERS}, epochs=2, starts=2, **QUIET)
        assert set(history.starts["steps"]) == {2}  # of 2 epochs of 5 steps each

    def test_has_fresh_weights_and_a_fresh_optimizer(self) -> None:
        theory = claim()
        theory.fit(epochs=7, verbose=0)
        theory.propositions["A"].weights[0].assign(0.0)
        theory.fit(epochs=1, verbose=0, starts=5, trial_steps=2)
        # Another one than the first, which has the lowest truth there is.
        assert int(theory.optimizer.iterations) == 2 + 1

    def test_keeps_what_is_not_trainable(self) -> None:
        network = keras.Sequential(
            [keras.Input((1,)), keras.layers.Dense(2), keras.layers.Dense(1, "sigmoid")]
        )
        network.layers[0].trainable = False
        frozen, learned = network.layers[0].get_weights(), network.layers[1].get_weights()
        theory = bright(network)
        theory.optimizer.learning_rate = 0.0
        history = theory.fit({"x": NUMBERS}, starts=8, trial_steps=1, **QUIET)
        assert not history.starts["chosen"][1]
        assert_same(network.layers[0].get_weights(), frozen)
        assert np.any(network.layers[1].get_weights()[0] != learned[0])

    def test_is_compiled_once(self) -> None:
        def traces(**arguments: Any) -> int:
            count: list[None] = []
            network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, "sigmoid")])

            def counted(x: tf.Tensor) -> tf.Tensor:
                count.append(None)
                return network(x)

            theory = bright(counted)
            theory.proposition("A", 0.5, trainable=True)
            theory.axiom("A")
            theory.fit({"x": NUMBERS}, epochs=2, **QUIET, **arguments)
            return len(count)

        assert traces(starts=3) == traces()

    @pytest.mark.parametrize("settings", [{"run_eagerly": True}, {"steps_per_execution": 2}])
    def test_is_trained_as_the_theory_is_compiled(self, settings: dict[str, Any]) -> None:
        theory = bright(**settings)
        history = theory.fit({"x": NUMBERS}, epochs=2, starts=2, trial_steps=4, **QUIET)
        assert len(history.starts) == 2
        assert int(theory.optimizer.iterations) == 4 + 2 * 5


class TestData:
    def test_may_be_a_data_set(self) -> None:
        data = tf.data.Dataset.from_tensor_slices({"x": NUMBERS}).batch(8)
        theory = bright()
        history = theory.fit(data, epochs=2, starts=2, trial_steps=7, verbose=0)
        assert len(history.starts) == 2
        assert int(theory.optimizer.iterations) == 7 + 2 * 5

    def test_of_a_generator_are_learned_from_after_the_trials_too(self) -> None:
        read = []

        def batches() -> Iterator[dict[str, np.ndarray]]:
            for number in range(6):
                read.append(number)
                yield {"x": NUMBERS[number : number + 3]}

        theory = bright()
        theory.fit(batches(), steps_per_epoch=6, starts=2, trial_steps=2, verbose=0)
        assert read == list(range(6))
        assert int(theory.optimizer.iterations) == 2 + 6

    def test_may_be_indexed(self) -> None:
        class Rows(keras.utils.PyDataset):
            def __len__(self) -> int:
                return 4

            def __getitem__(self, index: int) -> tuple[dict[str, np.ndarray]]:
                return ({"x": NUMBERS[index : index + 3]},)

        theory = bright()
        history = theory.fit(Rows(), epochs=2, starts=2, verbose=0)
        assert set(history.starts["steps"]) == {2}
        assert int(theory.optimizer.iterations) == 2 + 8

    def test_for_validation_are_not_tried(self) -> None:
        data = {"x": np.where(NUMBERS < 0.5, NUMBERS, np.nan)}
        settings = {"batch_size": 4, "callbacks": None, "validation_split": 0.5, "epochs": 1}
        feeding = Feeding(knowledge_of("forall x: bright(x)"), tf.distribute.get_strategy())
        fed, _ = feeding.for_fit({"x": NUMBERS}, None, settings, True)
        fed["x"] = data
        batches, steps = feeding.for_trials(fed, None)
        assert steps == 1
        assert not any(np.isnan(batch["x"]).any() for batch in batches.take(20))

    def test_of_unknown_length_need_a_number_of_steps(self) -> None:
        data = tf.data.Dataset.from_tensor_slices({"x": NUMBERS}).batch(8).filter(lambda batch: True)
        with pytest.raises(ltn.LogicValueError, match=r"not known: say how many.*trial_steps=100"):
            bright().fit(data, starts=2, verbose=0)


class TestCallbacks:
    def test_see_no_trial(self) -> None:
        seen = []
        count = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
        bright().fit({"x": NUMBERS}, starts=3, callbacks=count, **QUIET)
        assert seen == [0, 1, 2, 3, 4]

    def test_set_what_holds_in_the_first_epoch(self) -> None:
        theory = bright()
        theory.optimizer.learning_rate = 0.0
        schedule = ltn.callbacks.Schedule("p_forall", {0: 6.0, 1: 2.0})
        data = {"x": NUMBERS}
        before = float(theory.query("forall x: bright(x)", data, p=6.0))
        history = theory.fit(data, epochs=1, starts=2, batch_size=40, callbacks=[schedule], verbose=0)
        assert_close(history.starts["satisfaction"][1], before)

    def test_that_resume_a_run_leave_nothing_to_try(self, tmp_path: Path) -> None:
        stop = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: 1 / (2 - epoch))
        arguments: dict[str, Any] = {"epochs": 4, "starts": 3, "trial_steps": 2, "verbose": 0}
        first = claim()
        with pytest.raises(ZeroDivisionError):
            first.fit(callbacks=[ltn.callbacks.Backup(tmp_path), stop], **arguments)
        second = claim()
        history = second.fit(callbacks=[ltn.callbacks.Backup(tmp_path)], **arguments)
        assert history.starts is None
        assert history.epoch == [2, 3]
        assert int(second.optimizer.iterations) == 2 + 4


class TestRuns:
    def test_are_repeatable(self) -> None:
        def run() -> Any:
            keras.utils.set_random_seed(3)
            return bright().fit({"x": NUMBERS}, epochs=2, starts=3, trial_steps=4, **QUIET)

        one, other = run(), run()
        assert one.starts.equals(other.starts)
        assert one.history == other.history
        assert one.starts["loss"].nunique() == 3

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
    def test_that_are_interrupted_leave_everything_as_it_was(self, error: type[BaseException]) -> None:
        calls: list[None] = []

        def interrupted(x: tf.Tensor) -> tf.Tensor:
            calls.append(None)
            if len(calls) > 10:
                raise error
            return x

        theory = bright(interrupted, run_eagerly=True)
        theory.proposition("A", 0.25, trainable=True)
        theory.axiom("A")
        theory.fit({"x": NUMBERS}, batch_size=20, verbose=0)
        before = state_of(theory)
        with pytest.raises(error):
            theory.fit({"x": NUMBERS}, starts=3, trial_steps=5, batch_size=40, verbose=0)
        assert len(calls) > 10
        assert_same(state_of(theory), before)
        assert theory.get_metrics_result()["satisfaction"] == 0.0


class TestWrongInput:
    @pytest.mark.parametrize("count", [0, -1, 2.5, "x", True])
    def test_starts_are_counted(self, count: Any) -> None:
        with pytest.raises(ltn.LogicValueError, match="`starts` must be a whole number, at least 1; got"):
            claim().fit(starts=count)

    @pytest.mark.parametrize("count", [0, 2.5, "x", False])
    def test_their_steps_are_counted(self, count: Any) -> None:
        with pytest.raises(ltn.LogicValueError, match="`trial_steps` must be a whole number, at least 1"):
            claim().fit(starts=2, trial_steps=count)

    def test_starts_that_are_all_alike(self) -> None:
        fixed = keras.layers.Dense(1, "sigmoid", kernel_initializer=keras.initializers.GlorotUniform(seed=1))
        theory = bright(keras.Sequential([keras.Input((1,)), fixed]))
        before = state_of(theory)
        with pytest.raises(ltn.LogicValueError, match=r"all have the same weights.*set_random_seed"):
            theory.fit({"x": NUMBERS}, starts=2, **QUIET)
        assert_same(state_of(theory)[: len(before)], before)

    def test_several_replicas(self) -> None:
        strategy = cast(Any, types.SimpleNamespace(num_replicas_in_sync=2))
        with pytest.raises(ltn.LogicValueError, match="Several replicas take no `starts`"):
            Feeding(knowledge_of("A"), strategy).for_trials({}, None)


def test_a_run_that_would_be_lost_is_not() -> None:
    """The first start of this seed takes every digit for another one, and stays there."""

    def digits_read(**starts: int) -> float:
        task = lost_runs.toy("log_product", seed=0)
        task.theory.fit(task.train, batch_size=32, epochs=4, verbose=0, **starts)
        return task.digits_read()

    assert digits_read() < 0.1
    assert digits_read(starts=5, trial_steps=26) == 1.0


def test_the_command_counts_lost_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = iter([(0.4, 30), (1.0, 2), (0.95, 3), (1.0, 1)])
    monkeypatch.setattr(lost_runs, "learn", lambda task, starts: next(results))
    monkeypatch.setattr(lost_runs, "TASKS", {"toy": (lambda semantics, seed: None, ("stable_product",))})
    lost_runs.main(["toy", "--seeds", "0", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "toy, stable_product, starts=1: 1 of 2 runs lost"
    assert lines[5] == "toy, stable_product, starts=5: 0 of 2 runs lost"
