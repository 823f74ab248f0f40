"""The door for data: what comes in, and the batches that come out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.knowledge import data
from ltn.language import Signature
from tests.knowledge.small import numbers


def nothing_to_check(_: Mapping[str, Any]) -> None:
    """All axioms have their individuals."""


@pytest.fixture
def signature() -> Signature:
    return numbers().signature


def test_numbers_get_their_feature_axis(signature: Signature) -> None:
    batch = data.read_batch(signature, {"x": [1, 2], "numbers": np.ones((3, 1))})
    assert {name: (values.shape, values.dtype) for name, values in batch.items()} == {
        "x": ((2, 1), tf.float32),
        "numbers": ((3, 1), tf.float32),
    }


def test_arrays_of_numbers_are_not_turned_into_lists(signature: Signature) -> None:
    class Large(np.ndarray):
        def tolist(self) -> Any:
            raise MemoryError

    assert data.read_batch(signature, {"x": np.ones(3).view(Large)})["x"].shape == (3, 1)


class TestSources:
    def test_nothing_is_an_endless_data_set_of_empty_batches(self, signature: Signature) -> None:
        nothing: list[dict[str, Any] | None] = [None, {}]
        for given in nothing:
            batches = iter(data.read_data(signature, given, nothing_to_check))
            assert data.has_no_data(batches)
            assert all(set(next(batches)) == {data.NOTHING} for _ in range(3))

    def test_a_dictionary_stays_one(self, signature: Signature) -> None:
        source = data.read_data(signature, {"x": [1, 2]}, nothing_to_check)
        np.testing.assert_array_equal(source["x"], [[1.0], [2.0]])

    def test_a_data_set_is_read_batch_by_batch(self, signature: Signature) -> None:
        for given in ({"x": [1.0, 2.0, 3.0]}, ({"x": [1.0, 2.0, 3.0]},)):
            dataset = tf.data.Dataset.from_tensor_slices(given).batch(2)
            source = data.read_data(signature, dataset, nothing_to_check)
            assert [batch["x"].shape for batch in source] == [(2, 1), (1, 1)]
            assert not data.has_no_data(iter(source))

    def test_a_generator_gives_tuples(self, signature: Signature) -> None:
        source = data.read_data(signature, iter([{"x": [1.0]}]), nothing_to_check)
        assert list(source) == [({"x": [1.0]},)]

    def test_other_things_are_refused(self, signature: Signature) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"or a data set of such dictionaries; got a list"):
            data.read_data(signature, [[1.0]], nothing_to_check)

    @pytest.mark.parametrize("given", [None, {"x": [1.0]}, "data set"])
    def test_are_complete_before_the_first_batch(self, signature: Signature, given: Any) -> None:
        dataset = tf.data.Dataset.from_tensors({"x": [1.0]})
        asked: list[list[str]] = []
        data.read_data(
            signature, dataset if given == "data set" else given, lambda names: asked.append(list(names))
        )
        assert asked == [[] if given is None else ["x"]]


class TestEndlessBatches:
    def rows(self, shuffle: bool) -> list[list[float]]:
        batches = data.endless_batches({"x": tf.range(5.0)}, 2, shuffle)
        return [batch["x"].numpy().tolist() for batch in batches.take(6)]

    def test_come_in_order(self) -> None:
        assert self.rows(shuffle=False) == [[0, 1], [2, 3], [4]] * 2

    def test_or_shuffled_within_each_epoch(self) -> None:
        rows = self.rows(shuffle=True)
        assert [len(batch) for batch in rows] == [2, 2, 1] * 2
        for epoch in (rows[:3], rows[3:]):
            assert sorted(row for batch in epoch for row in batch) == [0, 1, 2, 3, 4]
