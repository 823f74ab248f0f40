"""The workload "relation" as one would write it by hand, without a library of logic.

The first Dense layer of the network takes both individuals of a pair. It is linear in them, so it is applied
to each side on its own axis, to n rows instead of n^2, and broadcasting adds the two up.
"""

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
