"""Seeds: what the samples of a theory are drawn by, anew in every training step."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence

import tensorflow as tf

from ltn.checks import check_whole
from ltn.evaluation import replicas
from ltn.evaluation.plan import Sampling
from ltn.language import Node
from ltn.language.quantifier import draws_samples


class Seeds:
    """A seed for each training step, and for each question.

    The first comes from Python's random numbers, as those of Keras layers do: `keras.utils.set_random_seed`,
    called before the axioms are added, lets everything be drawn again.
    """

    def __init__(self) -> None:
        # Its own number, and how many steps were made.
        self._state: tf.Variable | None = None
        self._asked = 0
        # For `evaluate`: by what it draws, how many steps it has made, and how many tuples are drawn.
        self._evaluated: tf.Variable | None = None
        self._most: int | None = None

    def serve(self, formula: Node | None) -> None:
        """Make seeds, if the formula of an axiom draws samples."""
        if formula is not None and draws_samples(formula):
            self.make()

    def make(self) -> tf.Variable:
        """Let there be seeds. Steps do not call it: compiled code, and the threads of replicas, cannot."""
        if self._state is None:
            self._state = _variable([random.randrange(2**31), 0])
            self._evaluated = _variable([0, 0, 0])
        return self._state

    def for_step(self) -> Sampling | None:
        """How samples are drawn in a training step, by each replica on its own; None without seeds."""
        state = self._state
        if state is None:
            return None
        seed = tf.identity(state)
        state.assign_add(tf.constant([0, 1], tf.int64))
        return Sampling(_of_replica(seed))

    def for_question(self, most: int | None) -> Sampling:
        """How samples are drawn for a question, `most` tuples; training draws what it would without it."""
        if most is not None:
            most = check_whole("sample", most, "a number of tuples", otherwise=", or None for all")
        self._asked += 1
        return Sampling(tf.identity(self.make()) * [1, 0] - [0, self._asked], most)

    @contextlib.contextmanager
    def evaluating(self, most: int) -> Iterator[None]:
        """Let `for_evaluation` draw `most` tuples."""
        sampling = self.for_question(most)
        if self._evaluated is not None:
            self._evaluated.assign(tf.concat([sampling.seed, [0]], 0))
        self._most = sampling.most
        try:
            yield
        finally:
            self._most = None

    def for_evaluation(self) -> Sampling | None:
        """How samples are drawn in a step that learns nothing, in each step others; None for all tuples."""
        state, most = self._evaluated, self._most
        if state is None or most is None:
            return None
        seed = tf.random.experimental.stateless_fold_in(state[:2], state[2])
        state.assign_add(tf.constant([0, 0, 1], tf.int64))
        return Sampling(_of_replica(seed), most)


def _of_replica(seed: tf.Tensor) -> tf.Tensor:
    """What a replica draws by: each by its own."""
    return (
        seed if replicas.count() == 1 else tf.random.experimental.stateless_fold_in(seed, replicas.number())
    )


def _variable(start: Sequence[int]) -> tf.Variable:
    with tf.init_scope():
        return tf.Variable(
            start, trainable=False, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )
