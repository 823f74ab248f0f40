"""Seeds: what the samples of a theory are drawn by, anew in every training step."""

from __future__ import annotations

import random

import tensorflow as tf

from ltn.evaluation import replicas
from ltn.evaluation.plan import Sampling
from ltn.language import Node, Quantifier


class Seeds:
    """A seed for each training step, and for each question.

    The first comes from Python's random numbers, as those of Keras layers do: `keras.utils.set_random_seed`,
    called before the axioms are added, lets everything be drawn again.
    """

    def __init__(self) -> None:
        # Its own number, and how many steps were made.
        self._state: tf.Variable | None = None
        self._asked = 0

    def serve(self, formula: Node | None) -> None:
        """Make seeds, if the formula of an axiom draws samples."""
        if formula is not None and draws_samples(formula):
            self.make()

    def make(self) -> tf.Variable:
        """Let there be seeds. Steps do not call it: compiled code, and the threads of replicas, cannot."""
        if self._state is None:
            with tf.init_scope():
                self._state = tf.Variable(
                    [random.randrange(2**31), 0],
                    trainable=False,
                    dtype=tf.int64,
                    aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
                )
        return self._state

    def for_step(self) -> Sampling | None:
        """How samples are drawn in a training step, by each replica on its own; None without seeds."""
        state = self._state
        if state is None:
            return None
        seed = tf.identity(state)
        state.assign_add(tf.constant([0, 1], tf.int64))
        if replicas.count() > 1:
            seed = tf.random.experimental.stateless_fold_in(seed, replicas.number())
        return Sampling(seed)

    def for_question(self, most: int | None) -> Sampling:
        """How samples are drawn for a question, `most` tuples; training draws what it would without it."""
        self._asked += 1
        return Sampling(tf.identity(self.make()) * [1, 0] - [0, self._asked], most)


def draws_samples(formula: Node) -> bool:
    """Whether a quantifier of a formula is written with `sample`."""
    return any(isinstance(node, Quantifier) and node.sample is not None for node in formula.walk())
