"""The batch of a step that was not applied, where Keras takes several steps and hands out none of them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class KeptBatch:
    """Keeps a batch that a compiled function has seen, for Python to look at later."""

    def __init__(self) -> None:
        # One for each kind of batch: its structure, and a queue that is empty or holds its tensors.
        self._kinds: list[tuple[Any, tf.queue.FIFOQueue]] = []

    def keep_if(self, condition: tf.Tensor, batch: Any) -> None:
        """Let the graph that is being traced keep the batch where a condition holds."""
        tensors = tf.nest.flatten(batch)
        with tf.init_scope():
            queue = tf.queue.FIFOQueue(1, [tensor.dtype for tensor in tensors])
        # Without the tensors, which would keep the graph.
        self._kinds.append((tf.nest.map_structure(lambda _: None, batch), queue))

        def keep() -> None:
            queue.enqueue(tensors)

        tf.cond(condition, keep, lambda: None)

    def take(self) -> Any:
        """The batch that was kept, once; None where there is none."""
        for structure, queue in self._kinds:
            if queue.size():
                tensors = queue.dequeue()
                return tf.nest.pack_sequence_as(
                    structure, tensors if isinstance(tensors, list) else [tensors]
                )
        return None
