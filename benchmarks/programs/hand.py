"""The workloads "relation" and "edges" as one would write them by hand, without a library of logic.

The first Dense layer of the network of a relation takes both individuals of a pair. It is linear in them, so
it is applied to each side on its own axis, to n rows instead of n^2, and broadcasting adds the two up.
"""

import numpy as np
import tensorflow as tf

from benchmarks import inputs
from benchmarks.programs.published import compiled
from benchmarks.worker import Step

UNITS = 8


def relation(count: int) -> Step:
    """A step on `forall x, y: F(x, y) -> F(y, x)`, with the MLP and the operators of the theory."""
    individuals = tf.Variable(inputs.embeddings(count))
    left, right, second, last = (
        tf.Variable(tf.keras.initializers.GlorotUniform()(shape))
        for shape in ((inputs.FEATURES, UNITS), (inputs.FEATURES, UNITS), (UNITS, UNITS), (UNITS, 1))
    )
    biases = [tf.Variable(tf.zeros(units)) for units in (UNITS, UNITS, 1)]

    def satisfaction() -> tf.Tensor:
        sides = (individuals @ left)[:, tf.newaxis] + (individuals @ right)[tf.newaxis]
        pairs = tf.reshape(tf.nn.elu(sides + biases[0]), (-1, UNITS))
        logits = tf.nn.elu(pairs @ second + biases[1]) @ last + biases[2]
        related = tf.reshape(tf.sigmoid(logits), (count, count))
        # Reichenbach's implication is 1 - a + a b: this is how far it is from true.
        missing = related - related * tf.transpose(related)
        return 1.0 - tf.sqrt(tf.reduce_mean(tf.square(missing)))

    return compiled(satisfaction, [individuals, left, right, second, last, *biases])


def edges(count: int, individuals: int) -> Step:
    """A step on `forall x, y where linked(x, y): P(x) <-> P(y)`: P is gathered for both sides."""
    embeddings = tf.Variable(inputs.embeddings(individuals))
    shapes = ((inputs.FEATURES, UNITS), (UNITS, UNITS), (UNITS, 1))
    kernels = [tf.Variable(tf.keras.initializers.GlorotUniform()(shape)) for shape in shapes]
    biases = [tf.Variable(tf.zeros(units)) for _, units in shapes]
    occurring, places = np.unique(inputs.edges(count, individuals), return_inverse=True)
    places = places.reshape(-1, 2)

    def satisfaction() -> tf.Tensor:
        hidden = tf.gather(embeddings, occurring)
        for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
            hidden = tf.nn.elu(hidden @ kernel + bias)
        truths = tf.sigmoid(hidden @ kernels[-1] + biases[-1])[:, 0]
        a, b = tf.gather(truths, places[:, 0]), tf.gather(truths, places[:, 1])
        missing = 1.0 - (1.0 - a + a * b) * (1.0 - b + a * b)
        return 1.0 - tf.sqrt(tf.reduce_mean(tf.square(missing)))

    return compiled(satisfaction, [embeddings, *kernels, *biases])
