"""Several replicas of a theory: each sees a share of the batch, and together they compute what one would.

A quantifier over data joins what every replica keeps of its share. Where two axes of data meet, one stays
divided among the replicas, and the individuals of the other are gathered first, so that each meets all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from ltn.errors import LogicTypeError
from ltn.fuzzy_ops import Aggregator
from ltn.fuzzy_ops.aggregation import Part

# The variables that a quantifier binds together: one, or those of a `diag`.
Group = Sequence[str]


def count() -> int:
    """How many replicas evaluate together; 1 where `tf.distribute` runs no replica."""
    context = tf.distribute.get_replica_context()
    return 1 if context is None else int(context.num_replicas_in_sync)


def number() -> tf.Tensor:
    """Which of the replicas this one is, from 0 up."""
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def stack(tensor: tf.Tensor) -> tf.Tensor:
    """The tensors of all replicas, of one shape, along a new axis 0.

    Gradients flow back to the replica that a tensor came from, summed over the replicas that use it.
    """
    context = tf.distribute.get_replica_context()
    place = tf.reshape(tf.range(count()) == context.replica_id_in_sync_group, [-1] + [1] * tensor.shape.rank)
    mine = tf.where(place, tensor[tf.newaxis], tf.zeros([], tensor.dtype))
    return context.all_reduce(tf.distribute.ReduceOp.SUM, mine)


def gather(tensor: tf.Tensor) -> tf.Tensor:
    """The rows of all replicas, one after the other; data, which have no gradient."""
    rows = tf.distribute.get_replica_context().all_gather(tf.stop_gradient(tensor), axis=0)
    # TensorFlow forgets the features.
    return tf.ensure_shape(rows, [None, *tensor.shape[1:]])


def total(number: tf.Tensor) -> tf.Tensor:
    """The sum of a number over all replicas."""
    return number if count() == 1 else tf.reduce_sum(stack(number))


def variables_to_gather(paths: Collection[Sequence[Group]], paired: Iterable[Group] = ()) -> set[str]:
    """The variables to gather, so that at most one group stays divided on each path of nested quantifiers.

    The variables of `paired` groups are always gathered. A variable is gathered everywhere or nowhere, and
    so are the variables of one group.

    >>> sorted(variables_to_gather([[("x",)], [("x",), ("y",)], [("y", "l")]]))
    ['l', 'y']
    """
    found = {variable for group in paired for variable in group}
    while True:
        before = len(found)
        for path in paths:
            divided = [group for group in path if found.isdisjoint(group)]
            for group in path:
                if group not in divided[:1]:
                    found.update(group)
        if len(found) == before:
            return found


def require_aggregator(operator: Any) -> Aggregator:
    """The operator; raise unless it can join parts."""
    if not isinstance(operator, Aggregator):
        raise LogicTypeError(
            "A quantifier in chunks, or over data that replicas share, needs an aggregator of "
            f"ltn.fuzzy_ops; got {operator!r}."
        )
    return operator


def join_replicas(operator: Aggregator, part: Part, options: dict[str, Any]) -> Part:
    """The parts of all replicas as one."""
    # Stacked, so that replicas meet once for both tensors.
    statistics, weights = tf.unstack(stack(tf.stack(part)), axis=1)
    return operator.merge(Part(statistics, weights), **options)
