"""What is private in Keras and TensorFlow is there, and does what the library takes it to do."""

import gc
import importlib
import inspect
import pkgutil
import re
import sys
import weakref
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.autograph.impl import conversion

from ltn import _private
from tests.tolerance import assert_close

PACKAGE = Path(_private.__file__).parent
PRIVATE_NAMES = [
    "tensorflow.python",
    "__internal__",
    "keras.src",
    "shared_object_id",
    "_flatten_layers",
    "_get_metrics_result_or_logs",
    "_get_variable_index",
    "_inbound_nodes",
    "_initial_epoch",
    "_keras_history",
    "_keras_logits",
    "_loss_tracker",
    "_maybe_symbolic_build",
    "_momentums",
    "_trainable_variables",
    "_use_cached_eval_dataset",
    "_velocities",
]
# These override methods of Keras, whose names cannot stand elsewhere.
OVERRIDING = {
    "theory/theory.py": set(_private.OVERRIDDEN),
    "theory/knowledge_model.py": {"_get_metrics_result_or_logs"},
}
X, Y = np.zeros((4, 2), np.float32), np.zeros((4, 1), np.float32)


def small(model: type[keras.Model] = keras.Model) -> keras.Model:
    inputs = keras.Input((2,))
    built = model(inputs, keras.layers.Dense(1)(inputs))
    built.compile("sgd", "mse")
    return built


def test_nothing_private_is_used_elsewhere() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        used = {name for name in PRIVATE_NAMES if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)}
        if used and path.name != "_private.py":
            found[path.relative_to(PACKAGE).as_posix()] = used
    assert found == OVERRIDING


def test_autograph_leaves_a_package_as_written_and_rewrites_what_it_hands_over() -> None:
    """What AutoGraph rewrites lies in a file of its own."""

    def is_as_written() -> bool:
        return sys._getframe().f_code.co_filename == __file__

    def of_the_library() -> tuple[bool, bool]:
        return is_as_written(), _private.user_code(is_as_written)()

    found: list[Any] = []
    tf.function(lambda: found.extend(of_the_library()))()
    assert found == [False, False]
    of_the_library.__module__ = "ltn.core"
    found.clear()
    tf.function(lambda: found.extend(of_the_library()))()
    assert found == [True, False]
    found.clear()
    tf.function(lambda: found.extend(of_the_library()), autograph=False)()
    assert found == [True, True]
    assert of_the_library() == (True, True)


def test_autograph_leaves_all_of_our_functions_as_written() -> None:
    names = [module.name for module in pkgutil.walk_packages([str(PACKAGE)], "ltn.")]
    for module in map(importlib.import_module, names):
        for member in vars(module).values():
            members = [member, *vars(member).values()] if inspect.isclass(member) else [member]
            own = [m for m in members if inspect.isroutine(m) or inspect.isclass(m)]
            own = [m for m in own if str(getattr(m, "__module__", "")).startswith("ltn.")]
            assert all(map(conversion.is_allowlisted, own)), f"{module.__name__}: {own}"


def test_a_layer_is_known_from_within() -> None:
    found = []

    class Asking(keras.Layer):
        def call(self, inputs: Any) -> Any:
            """The inputs."""
            found.append(_private.is_in_a_layer())
            return inputs

    model = keras.Sequential([keras.Input((2,)), Asking()])
    found.append(_private.is_in_a_layer())
    model(X)
    model.predict(X, verbose=0)
    found.append(_private.is_in_a_layer())
    assert found == [True, False, True, True, False]


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_a_part_of_several_layers_is_read_as_one(tmp_path: Path) -> None:
    @keras.saving.register_keras_serializable(package="tests")
    class Holding(keras.Layer):
        def __init__(self, part: keras.Layer):
            super().__init__()
            self.part = part

        def call(self, inputs: Any) -> Any:
            """What the part makes of the inputs."""
            return self.part(inputs)

        def get_config(self) -> dict[str, Any]:
            """The part."""
            return {"part": _private.serialize_shared(self.part)}

        @classmethod
        def from_config(cls, config: dict[str, Any]) -> "Holding":
            """The layer again."""
            return cls(keras.saving.deserialize_keras_object(config["part"]))

    part = keras.layers.Dense(2)
    keras.Sequential([keras.Input((2,)), Holding(part), Holding(part)]).save(tmp_path / "model.keras")
    one, two = keras.models.load_model(tmp_path / "model.keras").layers
    assert one.part is two.part


def test_tensors_of_a_functional_model_know_where_they_came_from() -> None:
    inputs, dense = [keras.Input((2,)), keras.Input((2,))], keras.layers.Dense(2)
    outputs = [dense(each) for each in inputs]
    for each, output in zip(inputs, outputs, strict=True):
        layer, came_from, has_more = _private.origin_of(output)
        assert layer is dense
        assert came_from[0] is each
        assert not has_more
    assert isinstance(_private.origin_of(inputs[0])[0], keras.layers.InputLayer)
    dropout = keras.layers.Dropout(0.5)
    assert not _private.origin_of(dropout(inputs[0]))[2]
    assert _private.origin_of(dropout(inputs[0], training=True))[2]


@pytest.mark.parametrize("activation", ["sigmoid", "softmax"])
@pytest.mark.parametrize("compiled", [False, True])
def test_logits_are_attached_to_what_activations_return(activation: str, compiled: bool) -> None:
    dense = keras.layers.Dense(2, activation=activation, kernel_initializer="ones")
    dense.build((None, 2))

    def logits(x: tf.Tensor) -> Any:
        return _private.logits_before(dense(x))

    found = (tf.function(logits) if compiled else logits)(tf.constant([[100.0, 50.0]]))
    assert_close(found, [[150.0, 150.0]])
    assert _private.logits_before(keras.layers.Dense(2)(X)) is None


@_private.custom_gradient
def _tripled(x: tf.Tensor) -> tuple[tf.Tensor, Any]:
    return 2.0 * x, lambda upstream: 3.0 * upstream


def _slope(function: Any) -> Any:
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        return tape.gradient(function(x), x)


def test_custom_gradients_are_found_while_their_graph_is_there() -> None:
    def repeated(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda n, _: n < 3, lambda n, x: (n + 1, _tripled(x)), (0, x))[1]

    def branch(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 0.0, lambda: _tripled(x), lambda: x)

    for function, slope in ((_tripled, 3.0), (repeated, 27.0), (branch, 3.0)):
        compiled = tf.function(function)
        found = [_slope(function), _slope(compiled), tf.function(lambda f=compiled: _slope(f))()]
        assert_close(found, [slope] * 3)


def test_graphs_with_custom_gradients_are_freed() -> None:
    optimizer, weight = keras.optimizers.Adam(), keras.Variable(1.0)
    optimizer.build([weight])

    def step(x: tf.Tensor) -> tf.Tensor:
        with _private.keep_no_graph():
            optimizer.apply_gradients([(x, weight)])
        return _tripled(x)

    graph = weakref.ref(tf.function(step).get_concrete_function(tf.TensorSpec([])).graph)
    gc.collect()
    assert graph() is None


def test_no_custom_gradient_keeps_its_graph() -> None:
    users = [path.name for path in PACKAGE.rglob("*.py") if "tf.custom_gradient" in path.read_text()]
    assert users == ["_private.py"]


def test_eager_tensors() -> None:
    seen = []

    @tf.function
    def traced(x: tf.Tensor) -> tf.Tensor:
        seen.append(_private.is_eager(x))
        return x

    assert _private.is_eager(traced(tf.constant(1.0)))
    assert seen == [False]


def test_recording_tapes() -> None:
    assert not _private.a_tape_may_record()
    with tf.GradientTape() as tape:
        assert _private.a_tape_may_record()
        with tape.stop_recording():
            assert not _private.a_tape_may_record()
    assert not _private.a_tape_may_record()


def test_layers_from_the_outside_in() -> None:
    inner = keras.Sequential([keras.layers.Dense(1), keras.layers.BatchNormalization()])
    outer = keras.Sequential([inner])
    found = _private.layers_within(outer)
    assert found[:2] == [outer, inner]
    assert set(map(id, inner.layers)) <= set(map(id, found))


def test_the_loss_tracker_is_the_loss_of_the_logs() -> None:
    model = small()
    history = model.fit(X, Y + 1.0, verbose=0, shuffle=False)
    assert isinstance(_private.loss_tracker(model), keras.metrics.Metric)
    assert_close(_private.loss_tracker(model).result(), history.history["loss"][-1])


def test_the_weights_of_an_optimizer() -> None:
    model = small()
    fresh = keras.optimizers.Adam()
    assert _private.weights_of_optimizer(fresh) == []
    fresh.build(model.trainable_variables)
    assert [id(weight) for weight in _private.weights_of_optimizer(fresh)] == [
        id(weight) for weight in model.trainable_variables
    ]


def test_the_moments_of_a_weight() -> None:
    model = small()
    optimizer = keras.optimizers.Adam(beta_1=0.75, beta_2=0.5)
    optimizer.build(model.trainable_variables)
    weight = model.trainable_variables[-1]
    optimizer.apply_gradients([(tf.fill(weight.shape, 2.0), weight)])
    first, second = _private.moments_of(optimizer, weight)
    assert_close(first.numpy(), np.full(weight.shape, 0.5))
    assert_close(second.numpy(), np.full(weight.shape, 2.0))


def test_training_starts_at_an_epoch() -> None:
    model = small()
    _private.start_at_epoch(model, 2)
    assert model.fit(X, Y, epochs=3, verbose=0).epoch == [2]
    _private.start_at_epoch(model, None)
    assert model.fit(X, Y, epochs=3, verbose=0).epoch == [0, 1, 2]


@pytest.mark.parametrize("name", _private.OVERRIDDEN)
def test_keras_calls_what_is_overridden(name: str) -> None:
    called = []

    def overriding(self: keras.Model, *args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return getattr(keras.Model, name)(self, *args, **kwargs)

    model = small(type("Model", (keras.Model,), {name: overriding}))
    model.fit(X, Y, verbose=0)
    during_fit = len(called)
    model.evaluate(X, Y, verbose=0)
    assert 0 < during_fit < len(called)


def test_validation_is_told_from_evaluation() -> None:
    told = []

    class Model(keras.Model):
        def evaluate(self, *args: Any, **kwargs: Any) -> Any:
            told.append(_private.is_validation(kwargs))
            return super().evaluate(*args, **kwargs)

    model = small(Model)
    model.fit(X, Y, validation_data=(X, Y), verbose=0)
    model.evaluate(X, Y, verbose=0)
    assert told == [True, False]


@pytest.mark.parametrize(("answer", "expected"), [("y", True), ("n", False)])
def test_keras_asks_before_it_overwrites(
    answer: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def say(prompt: str) -> str:
        asked.append(prompt)
        return answer

    monkeypatch.setattr("builtins.input", say)
    assert _private.may_overwrite("theory.keras") is expected
    assert ["theory.keras" in prompt for prompt in asked] == [True]


def test_the_bytes_of_weights_that_are_not_made() -> None:
    kept = small()
    # They would take 8 GB.
    huge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(10)]).get_config()
    huge["layers"][1]["config"]["units"] = 10**9
    assert _private.bytes_of_weights(lambda: keras.Sequential.from_config(huge)) == 4 * 3 * 10**9
    # Nor are they made later, when Keras makes what it has noted.
    with keras.StatelessScope():
        keras.layers.Dense(1).build((None, 2))
    assert kept.predict(X, verbose=0).shape == (4, 1)
