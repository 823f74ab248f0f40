"""Training under `tf.distribute`: batches divided among replicas, and the steps that they take together.

All workers have the same batches in the same order, and every replica takes its share of each. The order
depends on a seed and on the number of the epoch alone: a run that is resumed from a backup sees the batches
that it would have seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn.evaluation import replicas
from ltn.knowledge.data import Data


class Beginning(keras.callbacks.Callback):
    """Tell the batches how many came before them: more than 0 where training is resumed.

    Args:
        steps: the number of steps of an epoch.
    """

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.done = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._is_known = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Note the first epoch."""
        if not self._is_known:
            self.done.assign(epoch * self.steps)
        self._is_known = True


def is_several(strategy: tf.distribute.Strategy) -> bool:
    """Whether several replicas work together."""
    return bool(strategy.num_replicas_in_sync > 1)


def number_of_batches(data: Data, batch_size: int) -> int:
    """How many batches the data make in an epoch."""
    return math.ceil(len(next(iter(data.values()))) / batch_size)


def batches(
    strategy: tf.distribute.Strategy,
    data: Data,
    batch_size: int,
    shuffle: bool = False,
    beginning: Beginning | None = None,
) -> Any:
    """The batches of all epochs, each divided among all replicas."""
    seed = _common_seed(strategy) if shuffle else 0
    count, together = len(next(iter(data.values()))), strategy.num_replicas_in_sync
    in_epoch = number_of_batches(data, batch_size)

    def order(epoch: tf.Tensor) -> tf.Tensor:
        rows = tf.range(count)
        if not shuffle:
            return rows
        return tf.random.experimental.stateless_shuffle(rows, tf.stack([tf.cast(seed, tf.int64), epoch]))

    def dataset(context: tf.distribute.InputContext) -> tf.data.Dataset:
        own = together // context.num_input_pipelines
        replica_ids = range(context.input_pipeline_id * own, (context.input_pipeline_id + 1) * own)

        def share(rows: tf.Tensor, replica: tf.Tensor) -> dict[str, tf.Tensor]:
            size = tf.size(rows, tf.int64)
            mine = rows[size * replica // together : size * (replica + 1) // together]
            return {name: tf.gather(values, mine) for name, values in data.items()}

        def shares(rows: tf.Tensor) -> tf.data.Dataset:
            ids = tf.data.Dataset.from_tensor_slices(np.array(replica_ids, np.int64))
            return ids.map(lambda replica: share(rows, replica))

        def epoch(number: tf.Tensor) -> tf.data.Dataset:
            return tf.data.Dataset.from_tensor_slices(order(number)).batch(batch_size)

        def all_epochs(_: tf.Tensor) -> tf.data.Dataset:
            done = tf.constant(0, tf.int64) if beginning is None else beginning.done
            epochs = tf.data.Dataset.range(done // in_epoch, tf.int64.max)
            return epochs.flat_map(epoch).skip(done % in_epoch)

        # The place to begin is read when the iteration begins.
        rows = tf.data.Dataset.from_tensors(0).flat_map(all_epochs)
        # Replicas need not ask each other whether endless data have ended.
        endless = tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY)
        return rows.flat_map(shares).apply(endless).prefetch(tf.data.AUTOTUNE)

    return strategy.distribute_datasets_from_function(dataset)


def reset(strategy: tf.distribute.Strategy, metrics: Iterable[keras.metrics.Metric]) -> None:
    """Set metrics to zero; Keras would let all workers add up their values first."""
    for variable in (variable for metric in metrics for variable in metric.variables):
        for own in strategy.experimental_local_results(variable.value):
            own.assign(tf.zeros_like(own))


def function_of(
    strategy: tf.distribute.Strategy,
    step: Callable[[Any], Any],
    compiled: bool,
    check: Callable[[Any, Any], Any] | None = None,
) -> Callable[[Any], Any]:
    """The function that Keras calls on an iterator: a step on all replicas.

    It returns the logs of the first local replica; those of the others are the same. `check` is called on
    them and on the parts of the batch, and returns the logs.
    """
    # Each replica is traced in its own thread, which does not know that AutoGraph is turned off.
    step = tf.autograph.experimental.do_not_convert(step)

    def step_together(batches: Any) -> tuple[Any, Any]:
        batch = next(batches)
        shares = strategy.experimental_local_results(batch)
        logs = strategy.run(step, args=(batch,))
        logs = keras.tree.map_structure(lambda log: strategy.experimental_local_results(log)[0], logs)
        return logs, shares if check is not None else None

    function = (
        tf.function(step_together, autograph=False, reduce_retracing=True) if compiled else step_together
    )

    def checked(batches: Any) -> Any:
        logs, shares = function(batches)
        return logs if check is None else check(logs, shares)

    return checked


def _common_seed(strategy: tf.distribute.Strategy) -> int:
    """A seed for this training: all replicas take the seed of the first one."""
    seed = tf.constant(np.random.randint(2**31 - 1), tf.int32)
    common = strategy.run(_take_first, args=(seed,))
    return int(strategy.experimental_local_results(common)[0])


# One function for all trainings, so that it is traced once for each strategy.
@tf.function(autograph=False)
def _take_first(number: tf.Tensor) -> tf.Tensor:
    return replicas.stack(number)[0]
