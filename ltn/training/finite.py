"""Steps that are finite are applied; a step whose loss or gradients are not changes nothing.

One NaN in a batch, or in what a network returns, makes the gradients NaN, and one such step all weights. So
a compiled step finds out whether its numbers are finite. Who is to blame is asked only where they are not: by
one slow evaluation of that batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import keras
import tensorflow as tf

from ltn import _private
from ltn.errors import LogicValueError, NotFiniteError
from ltn.evaluation import replicas
from ltn.training import adam, distribution
from ltn.training.kept import KeptBatch
from ltn.training.steps import APPLIED, Logs

ON_NAN = ("raise", "skip", "ignore")
# Smaller gradients are added up together: few operations count more than the few bytes that are copied.
_SMALL = 4096
# Optimizers that scale the loss leave out steps that overflow, and scale the next ones less. A scale that is
# below the least normal number of 16 bits is not what makes them overflow.
_LEAST_SCALE = 2.0**-14

Pairs = Sequence[tuple[Any, Any]]
Moving = Sequence[tuple[Any, tf.Tensor]]


def check_on_nan(on_nan: Any) -> str:
    """What is done about steps that are not finite; raise where that is not known."""
    if not isinstance(on_nan, str) or on_nan not in ON_NAN:
        raise LogicValueError(f"`on_nan` is one of {', '.join(map(repr, ON_NAN))}; got {on_nan!r}.")
    return on_nan


class FiniteSteps:
    """Applies the steps of a model that are finite, and no others.

    Args:
        model: a compiled Keras model, whose weights are learned.
        explain: who is to blame for a batch that gave something else, a sentence.
        batches: how many batches of the epoch were applied.

    Attributes:
        on_nan: "raise" ends the training with an error, "skip" goes on with the next batch, "ignore" applies
            all steps.
    """

    def __init__(self, model: Any, explain: Callable[[Any], str], batches: Callable[[], int]):
        self.on_nan = "raise"
        self._model = model
        self._explain = explain
        self._batches = batches
        # Whether a step of an execution was not applied; those after it are not applied either.
        self._has_ended: tf.Variable | None = None
        self._kept = KeptBatch()

    # In the step

    def moving(self, networks: Iterable[Any]) -> Moving:
        """What layers change as they are called, as batch normalisation does, and its value before that."""
        if self.on_nan == "ignore":
            return []
        return [(variable, tf.identity(variable)) for variable in _moving_variables(networks)]

    def apply(self, loss: tf.Tensor, pairs: Pairs, moving: Moving, data: Any) -> tf.Tensor | None:
        """Apply gradients if the loss and they are finite; returns whether they are, None where nobody asks.

        Args:
            loss: of the step, before an optimizer scales it.
            pairs: gradients, None for those that are not there, and weights.
            moving: what `moving` returned before the model was called.
            data: the batch. Where a data set has ended there is none, and no step either, not even of axioms
                that need no data.
        """
        model = self._model
        # Copies: an operation does not wait for the arguments of a function, but for what reads them.
        came = [tf.identity(tensor) for tensor in tf.nest.flatten(data) if tf.is_tensor(tensor)]
        if self.on_nan == "ignore":
            with tf.control_dependencies(came):
                _update(model, pairs)
            return None
        finite = _are_finite(
            model.optimizer, loss, [gradient for gradient, _ in pairs if gradient is not None]
        )
        with tf.control_dependencies(came):
            finite = tf.identity(finite)
        if self.on_nan == "raise" and model.steps_per_execution > 1:
            finite = self._goes_on(finite, data)
        for variable, before in moving:
            variable.assign(tf.where(finite, tf.convert_to_tensor(variable), before))
        if _leaves_out(model):
            _update(model, pairs, finite)
            if self._others_follow():
                _count_back(model.optimizer, ~finite)
        else:
            _update_if(finite, model, pairs)
        return finite

    def _others_follow(self) -> bool:
        """Whether Python may hear of a step that was not applied only after further steps, or not at all."""
        return bool(self.on_nan == "skip" or self._model.steps_per_execution > 1)

    def counted(self, loss: tf.Tensor, size: Any, applied: tf.Tensor | None) -> tuple[tf.Tensor, Any]:
        """The loss and the size of a batch as the logs count them: not at all, where it was skipped."""
        if applied is None or self.on_nan != "skip":
            return loss, size
        return (
            tf.math.multiply_no_nan(loss, tf.cast(applied, loss.dtype)),
            tf.cast(size, tf.float32) * tf.cast(applied, tf.float32),
        )

    def mark(self, logs: Logs, applied: tf.Tensor | None) -> Logs:
        """The logs of a step, with the mark that `check` takes off."""
        if applied is None or self.on_nan != "raise":
            return logs
        # Keras takes the mean over replicas, which all have the same mark.
        return {**logs, APPLIED: tf.cast(applied, tf.float32) if replicas.count() > 1 else applied}

    def _goes_on(self, finite: tf.Tensor, data: Any) -> tf.Tensor:
        """Whether this step of an execution is finite, and all before it; the first other batch is kept."""
        if self._has_ended is None:
            with tf.init_scope():
                self._has_ended = tf.Variable(False, trainable=False)
        before = tf.convert_to_tensor(self._has_ended)
        # XLA knows no queues, and in eager code `attempt` sees the batch.
        if not (self._model.jit_compile or tf.executing_eagerly()):
            self._kept.keep_if(~finite & ~before, data)
        self._has_ended.assign(before | ~finite)
        return finite & ~before

    # After the step

    def make_train_function(self, force: bool = False) -> None:
        """As Keras does; the function raises where a step was not applied."""
        model = self._model
        if model.train_function is None or force:
            keras.Model.make_train_function(model, force=True)
            function = model.train_function
            model.train_function = lambda batches: self.check(function(batches), None)

    def check(self, logs: Logs, batch: Any) -> Logs:
        """The logs without their mark; raise where it says that the step was not applied.

        `batch` is None where several steps were taken, or where Keras has it.
        """
        applied = logs.pop(APPLIED, None)
        if applied is not None and not applied:
            self.fail(batch)
        return logs

    def fail(self, batch: Any) -> NoReturn:
        """Raise since a step was not applied."""
        kept = self._kept.take()
        if self._has_ended is not None:
            self._has_ended.assign(False)
        if _leaves_out(self._model) and not self._others_follow():
            _count_back(self._model.optimizer, 1)
        raise self._error(self._explain(kept if batch is None else batch))

    def attempt(self, step: Callable[[], Logs], data: Any, logs: Callable[[], Logs]) -> Logs:
        """What a step on some data returns; in eager code, `logs` where it was not applied.

        Eager code checks all values: there a step may end before it has gradients.
        """
        try:
            found = step()
        except NotFiniteError:
            if self.on_nan == "skip":
                return logs()
            raise self._error(self._explain(data)) from None
        return self.check(found, data) if tf.executing_eagerly() else found

    def _error(self, blame: str) -> NotFiniteError:
        return NotFiniteError(
            f"A step of training was not finite, and was not applied: that on batch {self._batches() + 1} of "
            f"the epoch. {blame} To leave such steps out: compile(on_nan='skip')."
        )


def _moving_variables(networks: Iterable[Any]) -> list[Any]:
    layers = {
        id(layer): layer
        for network in networks
        if isinstance(network, keras.Layer)
        for layer in _private.layers_within(network)
    }
    inner = [
        layer for layer in layers.values() if len(_private.layers_within(layer)) == 1 and layer.trainable
    ]
    return [weight for layer in inner for weight in layer.non_trainable_weights]


def _are_finite(optimizer: Any, loss: tf.Tensor, gradients: Sequence[Any]) -> tf.Tensor:
    """Whether a loss and its gradients are finite, for all replicas."""
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        # It looks at the gradients itself.
        finite = tf.math.is_finite(loss) & (tf.convert_to_tensor(optimizer.dynamic_scale) >= _LEAST_SCALE)
    else:
        finite = tf.math.is_finite(_total([loss, *gradients]))
    if replicas.count() > 1:
        finite = tf.equal(replicas.total(tf.cast(~finite, tf.float32)), 0.0)
    return finite


def _total(tensors: Sequence[Any]) -> tf.Tensor:
    """The sum of all numbers: it is finite where they are, unless they are far too large."""
    kind = tf.float64 if any(tensor.dtype == tf.float64 for tensor in tensors) else tf.float32
    small, sums = [], []
    for tensor in tensors:
        # Of a sparse gradient the rows that there are.
        tensor = tf.cast(tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor, kind)
        if (tensor.shape.num_elements() or _SMALL) < _SMALL:
            small.append(tensor if tensor.shape.rank == 1 else tf.reshape(tensor, [-1]))
        else:
            sums.append(tf.reduce_sum(tensor))
    return (
        tf.add_n([*sums, tf.reduce_sum(tf.concat(small, axis=0))])
        if sums
        else tf.reduce_sum(tf.concat(small, 0))
    )


def _update(model: Any, pairs: Pairs, applied: tf.Tensor | None = None) -> None:
    if adam.is_plain(model.optimizer):
        pairs = [(adam.dense(gradient), weight) for gradient, weight in pairs]
    with adam.fuse(model, applied), _private.keep_no_graph():
        model.optimizer.apply_gradients(pairs)


def _update_if(finite: tf.Tensor, model: Any, pairs: Pairs) -> None:
    """Update the weights if a step is finite."""
    if distribution.is_several(model.distribute_strategy):
        gradients, weights = zip(*pairs, strict=True)

        def update(*own: Any) -> None:
            _update(model, list(zip(own, weights, strict=True)))

        def update_together(strategy: tf.distribute.Strategy, finite: Any, *all_of_them: Any) -> None:
            [first, *_] = strategy.experimental_local_results(finite)
            extended = strategy.extended
            tf.cond(first, lambda: extended.call_for_each_replica(update, args=all_of_them), lambda: None)

        tf.distribute.get_replica_context().merge_call(update_together, args=(finite, *gradients))
    else:
        tf.cond(finite, lambda: _update(model, pairs), lambda: None)


def _leaves_out(model: Any) -> bool:
    """Whether the update of the weights is written so that it can leave a step out."""
    return adam.can_leave_out(model.optimizer) and not distribution.is_several(model.distribute_strategy)


def _count_back(optimizer: Any, steps: Any) -> None:
    """Take back steps that Keras has counted though they were not applied."""
    optimizer.iterations.assign_sub(tf.cast(steps, optimizer.iterations.dtype))
