"""Statistics of what a mask selects, where they are easy to get wrong."""

import tensorflow as tf

from ltn.fuzzy_ops.selection import Selection


def test_counts_do_not_stop_where_float32_does() -> None:
    """A float32 sum of ones along one axis stays at 2^24."""
    many = 2**24 + 2**20
    mask = tf.ones((many, 2), tf.bool)
    count = Selection(tf.zeros((many, 2)), mask, (0,)).count
    assert count.numpy().tolist() == [float(many), float(many)]
