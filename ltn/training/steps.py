"""Compiled steps, which Keras calls for each batch, and the means that they log."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn.knowledge.data import empty_batch, has_no_data

Logs = dict[str, Any]
# Logs as a compiled step returns them: the numbers of one type are one vector, by all their names.
_Packed = dict[tuple[str, ...], tf.Tensor]
# The mark in the logs of a step that tells whether it was applied, from the compiled step to its caller.
APPLIED = "the step was applied"
# The arguments of `keras.Model.evaluate`, in their order.
EVALUATE = ("x", "y", "batch_size", "verbose", "sample_weight", "steps", "callbacks", "return_dict")


class CompiledStep:
    """A step on the next batch of an iterator, compiled once for iterators of one kind.

    Keras's own step wraps the logs into an optional and takes them out again, and TensorFlow compares the
    type of an iterator with that of the step at every call: both take long, beside steps of a millisecond.

    Args:
        step: a function from a batch to the logs.
        jit_compile: whether XLA compiles it.
        steps_before_xla: after how many steps XLA compiles it, if not from the first one on; None for never.
        fail: what is done with the batch of a step that was not applied, as the logs are marked.
    """

    def __init__(
        self,
        step: Callable[[Any], Logs],
        jit_compile: bool,
        steps_before_xla: int | None = None,
        fail: Callable[[Any], None] | None = None,
    ):
        @functools.wraps(step)
        def packed(batch: Any) -> _Packed:
            return _pack(step(batch))

        self._python_step = packed
        self._fail = fail
        self._steps_before_xla = None if jit_compile else steps_before_xla
        self._use(jit_compile)

    def _use(self, jit_compile: bool) -> None:
        self._step = tf.function(
            self._python_step, autograph=False, reduce_retracing=True, jit_compile=jit_compile
        )
        self._by_kind: dict[tf.TypeSpec, Callable[..., tuple[_Packed, Any]]] = {}
        # The last iterator, which is not kept alive, since it may hold all data; and the step for it.
        self._iterator: weakref.ref[Any] | None = None
        self._current: Callable[..., tuple[_Packed, Any]] | None = None
        # Whether its steps count as those before XLA.
        self._awaits_xla = False

    def __call__(self, batches: Any) -> Logs:
        """The logs of the step; `batches` is an iterator of TensorFlow or any other one."""
        if not isinstance(batches, tf.data.Iterator) or tf.config.functions_run_eagerly():
            batch = next(batches)
            packed = self._step(batch)
        else:
            if self._iterator is None or self._iterator() is not batches:
                self._iterator, self._current = weakref.ref(batches), None
                # Batches of data have several sizes, each of which XLA would compile again.
                self._awaits_xla = has_no_data(batches)
            if self._awaits_xla and self._steps_before_xla is not None:
                self._steps_before_xla -= 1
                if self._steps_before_xla < 0:
                    self._steps_before_xla = None
                    self._use(jit_compile=True)
            if self._current is None:
                self._current = self._compile(tf.type_spec_from_value(batches))
            packed, batch = self._current(*tf.nest.flatten(batches, expand_composites=True))
        logs: Logs = {}
        for names, values in packed.items():
            logs.update(zip(names, values.numpy(), strict=True))
        applied = logs.pop(APPLIED, None)
        if self._fail is not None and applied is not None and not applied:
            self._fail(batch)
        return logs

    def _compile(self, kind: tf.TypeSpec) -> Callable[..., tuple[_Packed, Any]]:
        """The step as a function of the tensor that stands for an iterator; it returns the batch too."""
        if kind not in self._by_kind:

            def next_step(iterator: tf.Tensor) -> tuple[_Packed, Any]:
                batches = tf.nest.pack_sequence_as(kind, [iterator], expand_composites=True)
                if has_no_data(batches):
                    return self._step(empty_batch()), {}
                # Taken in the graph, where its size may be unknown: the last batch shares the trace.
                batch = batches.get_next()
                return self._step(batch), None if self._fail is None else batch

            function = tf.function(
                next_step, autograph=False, input_signature=[tf.TensorSpec([], tf.resource)]
            )
            self._by_kind[kind] = function.get_concrete_function()
        return self._by_kind[kind]


def _pack(logs: Logs) -> _Packed:
    """Logs in few tensors: each that a compiled step returns takes time beside the step itself."""
    numbers: dict[tf.DType, dict[str, tf.Tensor]] = {}
    packed: _Packed = {}
    for name, value in logs.items():
        value = tf.convert_to_tensor(value)
        if value.dtype == tf.bool:
            value = tf.cast(value, tf.float32)
        if value.shape.rank == 0:
            numbers.setdefault(value.dtype, {})[name] = value
        else:
            packed[name,] = value[tf.newaxis]
    return packed | {tuple(named): tf.stack(list(named.values())) for named in numbers.values()}


class AxiomMeans(keras.metrics.Metric):
    """The mean satisfaction of the theory and of each axiom, weighted by the sizes of the batches.

    One vector holds all of them, the sizes and the number of batches, so that another axiom adds nothing to
    the cost of a step.

    Attributes:
        sums: the number of the batches, their sizes added up, and the truths, each weighted by the size.
    """

    def __init__(self, names: Sequence[str]):
        super().__init__(name="axioms")
        self.names = ["satisfaction", *names]
        self.sums = self.add_variable((2 + len(self.names),), "zeros", dtype="float32", name="sums")

    def update_state(self, truths: Any, sample_weight: Any = 1.0, counts: tf.Tensor | None = None) -> None:
        """Add the truths of one batch, shape (1 + number of axioms,), and its size; if it counts."""
        weight = tf.reshape(tf.cast(sample_weight, tf.float32), [1])
        added = tf.concat([[1.0], weight, weight * tf.cast(truths, tf.float32)], axis=0)
        if counts is not None:
            added = tf.math.multiply_no_nan(added, tf.cast(counts, tf.float32))
        self.sums.assign_add(added)

    def result(self) -> dict[str, tf.Tensor]:
        """The means by name."""
        sums = tf.convert_to_tensor(self.sums)
        means = tf.unstack(tf.math.divide_no_nan(sums[2:], sums[1]), len(self.names))
        return dict(zip(self.names, means, strict=True))


def evaluate(keras_evaluate: Callable[..., Any], order: Callable[[], Sequence[str]], **arguments: Any) -> Any:
    """What `keras.Model.evaluate` returns for some arguments, in an order; Keras would sort the names.

    `order` tells the names after the evaluation: Keras knows some metrics only then.
    """
    wants_names = arguments.pop("return_dict", False)
    logs = keras_evaluate(**arguments, return_dict=True)
    logs = {name: logs[name] for name in (*order(), *logs) if name in logs}
    return logs if wants_names else list(logs.values())


def names_of(metric: keras.metrics.Metric) -> list[str]:
    """What the logs call the results of a metric."""
    result = metric.result()
    return list(result) if isinstance(result, dict) else [metric.name]
