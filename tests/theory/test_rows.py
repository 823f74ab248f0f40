"""Rows of a table read at many places: values and gradients against plain NumPy."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ltn.evaluation.tuples import rows_of
from tests.tolerance import assert_close

# The first and the last row are never read, others more than once.
INDEX = [3, 1, 3, 2, 1, 3]


def added_up(rows: Any, index: list[int], count: int) -> np.ndarray:
    """The gradient of reading, one row after the other."""
    sums = np.zeros((count, *np.shape(rows)[1:]))
    for place, row in zip(index, np.asarray(rows), strict=True):
        sums[place] += row
    return sums


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("rest", [(), (4,), (2, 3), (9,)], ids=str)
class TestRows:
    def test_values_and_gradients(self, rest: tuple[int, ...], ascending: bool, compiled: bool) -> None:
        index = sorted(INDEX) if ascending else INDEX
        rng = np.random.default_rng(0)
        table = tf.constant(rng.normal(size=(5, *rest)), tf.float32)
        upstream = tf.constant(rng.normal(size=(len(index), *rest)), tf.float32)

        def read(table: tf.Tensor, index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(table)
                rows = rows_of(table, index, ascending)
            return rows, tape.gradient(rows, table, upstream)

        if compiled:
            specs = [tf.TensorSpec([None, *rest]), tf.TensorSpec([None], tf.int32)]
            read = tf.function(read, input_signature=specs)
        rows, gradient = read(table, tf.constant(index))
        assert_close(rows, table.numpy()[index])
        assert_close(gradient, added_up(upstream, index, 5))

    def test_second_gradients(self, rest: tuple[int, ...], ascending: bool, compiled: bool) -> None:
        index = sorted(INDEX) if ascending else INDEX
        table = tf.constant(np.random.default_rng(0).normal(size=(5, *rest)), tf.float32)

        def curvature(table: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as outer:
                outer.watch(table)
                with tf.GradientTape() as inner:
                    inner.watch(table)
                    cubes = tf.reduce_sum(rows_of(table, tf.constant(index), ascending) ** 3)
                slope = tf.reduce_sum(inner.gradient(cubes, table))
            return outer.gradient(slope, table)

        found = (tf.function(curvature) if compiled else curvature)(table)
        assert_close(found, added_up(6.0 * table.numpy()[index], index, 5), rtol=1e-5)  # sums times six


def test_nothing_read_has_no_gradient() -> None:
    for ascending in (False, True):
        table = tf.ones([3, 2])
        with tf.GradientTape() as tape:
            tape.watch(table)
            rows = rows_of(table, tf.zeros([0], tf.int32), ascending)
        assert rows.shape == (0, 2)
        assert_close(tape.gradient(rows, table), np.zeros((3, 2)))


def test_wide_numbers_stay_wide() -> None:
    table = tf.constant([[1.0 + 1e-12], [2.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(table)
        rows = rows_of(table, tf.constant([0, 0]))
    assert rows.dtype == tf.float64
    assert float(rows[0, 0]) == 1.0 + 1e-12
    assert tape.gradient(rows, table).numpy().tolist() == [[2.0], [0.0]]
