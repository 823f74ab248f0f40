"""Compiled steps: by XLA where it is asked for, once, without a leak, and without Python on their way."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

import ltn
from ltn.callbacks import Schedule
from tests import fresh
from tests.jit import assert_compiled, recorded
from tests.theory.theories import (
    Table,
    about,
    assert_same_weights,
    knowledge,
    labelled_points,
    network,
    rows,
    smokers,
    trained_like,
)
from tests.theory.trained import DATA, OTHERS, POINTS, compiled
from tests.tolerance import assert_close

pytestmark = [
    pytest.mark.usefixtures("grappler"),
    # Keras, on NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


def guarded(**settings: Any) -> ltn.Theory:
    """A theory with both quantifiers, with and without a guard."""
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    theory.variable("l", theory.domain("labels"))
    theory.predicate("A", points, ltn.Predicate.MLP([2], (4,)))
    theory.axioms("""
        positive: forall diag(x, l) where l = 1: A(x)
        some: exists x: A(x)
    """)
    return compiled(theory, **settings)


def informed(**settings: Any) -> Any:
    """A model whose knowledge speaks about its inputs and its targets, with a guard."""
    model = network()
    theory = about(model)
    theory.axiom("forall x: P(x, a) -> ~P(x, b)", name="not_a_and_b")
    theory.variable("y", theory.domain("labels"))
    theory.axiom("forall diag(x, y) where y = 1: P(x, b)", name="labelled")
    joined = ltn.with_knowledge(model, theory, weight=0.5, inputs="x", targets="y")
    joined.compile("adam", task_loss(), **settings)
    return joined


def task_loss() -> keras.losses.Loss:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class TestXLA:
    def test_what_it_cannot_compile_is_refused(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        theory.proposition("w", 0.5, trainable=True)
        theory.predicate(
            "P", points, lambda x: tf.reshape(tf.numpy_function(np.abs, [x[:, 0]], tf.float32), [-1])
        )
        theory.axiom("forall x: P(x) -> w")
        compiled(theory).fit(POINTS, verbose=0)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"PyFunc.*XLA"):
            compiled(theory, jit_compile=True).fit(POINTS, verbose=0)

    def test_evaluation_and_prediction_give_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        functions = recorded(monkeypatch)
        plain = guarded(run_eagerly=True)
        assert functions == []
        xla = guarded(jit_compile=True)
        trained_like(xla, plain)
        # 7 individuals are two batches: XLA compiles for both sizes.
        logs = [theory.evaluate(OTHERS, batch_size=4, verbose=0) for theory in (xla, plain)]
        assert_close(*logs)
        one, two = (theory.predict(OTHERS, batch_size=4, verbose=0) for theory in (xla, plain))
        assert one.keys() == two.keys()
        for name in two:
            assert_close(one[name], two[name])
        assert len(functions) == 2

    def test_dropout_is_at_work_in_training_only(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        layers = [keras.Input((2,)), keras.layers.Dropout(0.5), keras.layers.Dense(1, "sigmoid")]
        theory.predicate("P", points, keras.Sequential(layers))
        theory.axiom("forall x: P(x)", name="all")
        compiled(theory, keras.optimizers.SGD(0.0), jit_compile=True)
        trained = theory.fit(POINTS, epochs=3, verbose=0).history["all"]
        assert len(set(trained)) == 3
        expected = float(theory(POINTS)["all"][0])
        assert_close(theory.evaluate(POINTS, verbose=0, return_dict=True)["all"], expected)

    def test_a_model_with_knowledge_gives_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        functions = recorded(monkeypatch)
        plain, xla = informed(run_eagerly=True), informed(jit_compile=True)
        assert functions == []
        xla.set_weights(plain.get_weights())
        histories = [
            model.fit(DATA["x"], DATA["l"], batch_size=5, epochs=2, shuffle=False, verbose=0).history
            for model in (xla, plain)
        ]
        [step] = functions
        assert_compiled(step, (tf.constant(DATA["x"]), tf.constant(DATA["l"])))
        assert set(histories[0]) == {"loss", "satisfaction", "not_a_and_b", "labelled"}
        for name, values in histories[1].items():
            assert_close(histories[0][name], values, rtol=1e-5, atol=1e-5)
        # Adam divides a gradient by its size: rounding of small ones moves weights by a part of its 0.001.
        assert_same_weights(xla, plain, atol=1e-5)


class TestDefault:
    """`jit_compile="auto"`: XLA where there is a GPU."""

    @pytest.mark.parametrize("kind", ["theory", "knowledge"])
    @pytest.mark.parametrize(
        ("gpus", "settings", "expected"),
        [
            (0, {}, False),
            (1, {}, True),
            (2, {"jit_compile": "auto"}, True),
            (1, {"jit_compile": False}, False),
            (0, {"jit_compile": True}, True),
            (1, {"run_eagerly": True}, False),
        ],
        ids=str,
    )
    def test_the_device_decides_unless_the_user_does(
        self,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        gpus: int,
        settings: dict[str, Any],
        expected: bool,
    ) -> None:
        devices = {"GPU": ["gpu"] * gpus, "CPU": ["cpu"], None: ["cpu"] + ["gpu"] * gpus}
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda device_type=None: devices[device_type])
        classifier = network()
        theory = knowledge(classifier)
        if kind == "theory":
            model: Any = compiled(theory, **settings)
        else:
            model = ltn.with_knowledge(classifier, theory)
            model.compile("sgd", task_loss(), **settings)
        assert model.jit_compile is expected
        # There guards are masks.
        assert theory.is_xla is expected

    @pytest.mark.parametrize("asked", ["auto", True])
    def test_the_device_is_that_where_a_theory_is_loaded(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Any
    ) -> None:
        with monkeypatch.context() as with_gpu:
            with_gpu.setattr(tf.config, "list_physical_devices", lambda kind=None: ["gpu"])
            theory = compiled(knowledge(network()), jit_compile=asked)
            theory.save(tmp_path / "theory.keras")
        assert ltn.load(tmp_path / "theory.keras").jit_compile is (asked is True)


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all graphs from here on: each trace makes one, of whatever code."""
    names: list[str] = []
    init = FuncGraph.__init__

    def noting(graph: FuncGraph, name: str, *args: Any, **kwargs: Any) -> None:
        names.append(name)
        init(graph, name, *args, **kwargs)

    monkeypatch.setattr(FuncGraph, "__init__", noting)
    return names


class PerEpoch(keras.callbacks.Callback):
    """Asks something after each epoch, and counts the graphs that came up in it."""

    def __init__(self, graphs: list[str], ask: Callable[[int], Any] = lambda epoch: None):
        super().__init__()
        self.graphs = graphs
        self.ask = ask
        self.counts: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.ask(epoch)
        self.counts.append(len(self.graphs))
        self.graphs.clear()


def schedules(*kinds: str) -> list[Schedule]:
    """Another p in each epoch."""
    return [Schedule(f"p_{kind}", lambda epoch: 1.5 + epoch) for kind in kinds or ("forall", "exists")]


def endless(data: Table) -> Iterator[Table]:
    while True:
        for start in range(0, 10, 4):
            yield rows(data, start, min(start + 4, 10))


SOURCES: dict[str, Callable[[], dict[str, Any]]] = {
    "arrays": lambda: {"x": DATA, "batch_size": 4},
    "dataset": lambda: {"x": tf.data.Dataset.from_tensor_slices(DATA).batch(4)},
    "generator": lambda: {"x": endless(DATA), "steps_per_epoch": 3},
}


class TestTraces:
    """After the first epoch there is none, be it of a step, of an operator, or of a data set."""

    @pytest.mark.parametrize(
        ("source", "settings"),
        [
            *((source, {}) for source in SOURCES),
            ("arrays", {"jit_compile": True}),
            ("arrays", {"steps_per_execution": 2}),
        ],
        ids=str,
    )
    def test_of_training_with_a_smaller_last_batch_validation_and_schedules(
        self, graphs: list[str], source: str, settings: dict[str, Any]
    ) -> None:
        counter = PerEpoch(graphs)
        callbacks = [*schedules(), counter]
        guarded(**settings).fit(
            **SOURCES[source](), validation_data=OTHERS, epochs=4, callbacks=callbacks, verbose=0
        )
        assert counter.counts[0] > 0
        assert counter.counts[1:] == [0, 0, 0]

    def test_of_training_without_data(self, graphs: list[str]) -> None:
        counter = PerEpoch(graphs)
        compiled(smokers()).fit(epochs=4, callbacks=[*schedules(), counter], verbose=0)
        assert counter.counts[0] > 0
        assert counter.counts[1:] == [0, 0, 0]

    def test_of_a_model_with_knowledge(self, graphs: list[str]) -> None:
        counter = PerEpoch(graphs)
        informed().fit(
            DATA["x"],
            DATA["l"],
            batch_size=4,
            validation_data=(OTHERS["x"], OTHERS["l"]),
            epochs=4,
            callbacks=[*schedules("forall"), counter],
            verbose=0,
        )
        assert counter.counts[0] > 0
        assert counter.counts[1:] == [0, 0, 0]

    @pytest.mark.usefixtures("compiled_at_once")
    def test_of_queries_in_each_epoch(self, graphs: list[str]) -> None:
        theory = guarded()

        def ask(epoch: int) -> None:
            # Of two sizes, and later of others: after the second size operators are compiled for any.
            for size in (23 + epoch, 29 + epoch):
                data = labelled_points(size)
                theory.query("A(x) & ~A(x)", x=data["x"])
                theory.query("(exists x: A(x)) -> (forall x: A(x))", x=data["x"])
                theory.report(data)
                theory.explain("positive", data)
                theory(data)

        counter = PerEpoch(graphs, ask)
        theory.fit(DATA, batch_size=4, epochs=4, callbacks=[*schedules(), counter], verbose=0)
        assert counter.counts[1:] == [0, 0, 0]

    def test_of_queries_with_a_p_of_their_own(self, graphs: list[str]) -> None:
        theory = guarded()
        for p in (2.25, 3.25, 4.25, 5.25):
            if p == 4.25:
                # The first number is compiled as it is; from the second on it is an argument.
                graphs.clear()
            theory.query("exists x: ~A(x)", x=DATA["x"], p=p)
            theory.report(DATA, p=p)
        assert graphs == []

    def test_of_evaluation_and_prediction_on_data_of_other_sizes(self, graphs: list[str]) -> None:
        theory = guarded()
        for size in (7, 3):
            theory.evaluate(labelled_points(size), verbose=0)
            theory.predict(labelled_points(size), verbose=0)
        graphs.clear()
        for size in (7, 5, 40):
            theory.evaluate(labelled_points(size), verbose=0)
            theory.predict(labelled_points(size), verbose=0)
        # Keras makes a data set for each call, and TensorFlow traces its functions.
        assert [name for name in graphs if not name.startswith("Dataset_")] == []

    def test_of_single_batches_of_many_sizes_there_are_two(self, graphs: list[str]) -> None:
        theory = guarded()
        for size in (4, 5, 6, 7, 8):
            theory.train_on_batch(labelled_points(size))
        assert graphs.count("train_step") == 2


class Calls(keras.callbacks.Callback):
    """Counts the calls of Python functions in the second epoch: all of them, and those of the library."""

    LIBRARY = str(Path(ltn.__file__).parent)

    def __init__(self) -> None:
        super().__init__()
        self.count, self.own = 0, 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == 1:
            sys.setprofile(self._note)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self.count += 1
            self.own += frame.f_code.co_filename.startswith(self.LIBRARY)


def calls_per_step(model: Any, *data: Any, **settings: Any) -> tuple[float, float]:
    """The calls of a step in Python, all and the library's own: what 30 steps have more than 10."""
    counted = []
    for steps in (10, 30):
        calls = Calls()
        few = [part[: 4 * steps] if not isinstance(part, dict) else rows(part, 0, 4 * steps) for part in data]
        length = {"batch_size": 4} if data else {"steps_per_epoch": steps}
        model.fit(*few, epochs=2, callbacks=[calls], verbose=0, **length, **settings)
        counted.append((calls.count, calls.own))
    (all_few, own_few), (all_many, own_many) = counted
    return (all_many - all_few) / 20, (own_many - own_few) / 20


class TestPythonWork:
    """A step calls the compiled function, and no other code of the library."""

    MANY = labelled_points(120)

    @pytest.fixture(scope="class")
    @classmethod
    def plain(cls) -> float:
        """The calls of a Keras model with as many values in its logs."""
        model = network()
        model.compile("adam", task_loss(), metrics=["accuracy"])
        return calls_per_step(model, cls.MANY["x"], cls.MANY["l"])[0]

    @pytest.mark.parametrize("settings", [{}, {"jit_compile": True}], ids=str)
    def test_of_a_theory_is_less_than_that_of_a_keras_model(
        self, plain: float, settings: dict[str, Any]
    ) -> None:
        all_calls, own = calls_per_step(guarded(**settings), self.MANY)
        # The function that chooses between the kinds of iterators.
        assert own == 1
        assert all_calls <= plain

    def test_of_a_theory_without_data_too(self, plain: float) -> None:
        all_calls, own = calls_per_step(compiled(smokers()))
        assert own == 1
        assert all_calls <= plain

    def test_of_a_model_with_knowledge_too(self, plain: float) -> None:
        all_calls, own = calls_per_step(informed(), self.MANY["x"], self.MANY["l"])
        assert own == 1
        assert all_calls <= plain


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_nothing_grows_in_5000_steps(tmp_path: Path) -> None:
    said = fresh.run("tests.theory.long_training", output=tmp_path / "said")
    found = json.loads(said.splitlines()[-1])
    assert found["steps"] == 5000
    assert found["tensors"] == found["graphs"] == found["operations"] == 0
    # Less than one in 100 steps: the measurement itself leaves a few.
    assert found["objects"] < 50
    # Less than 1 KiB a step, which the smallest tensor with its handle takes; allocators settle by some
    # 1 000 KiB in either direction.
    assert found["memory in KiB"] < 5000
