"""Tensors with named axes: one leading axis per free variable, then the feature axes."""

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from ltn import checks
from ltn.checks import check_sizes

# An int, or a scalar tensor where the size is unknown when tracing.
Size = Any

size_of = checks.size_of


def union(labels: Iterable[Sequence[str]]) -> list[str]:
    """All labels, each once, in order of first appearance."""
    return list(dict.fromkeys(label for group in labels for label in group))


def reorder(tensor: tf.Tensor, labels: Sequence[str], order: Sequence[str]) -> tf.Tensor:
    """The tensor with its named axes in another order, a permutation of `labels`."""
    if list(labels) == list(order):
        return tensor
    features = range(len(labels), tensor.shape.rank)
    return tf.transpose(tensor, [labels.index(label) for label in order] + list(features))


def align(tensor: tf.Tensor, labels: Sequence[str], order: Sequence[str]) -> tf.Tensor:
    """The tensor with exactly the axes `order`: those it lacks get size 1, so nothing is copied."""
    tensor = reorder(tensor, labels, [label for label in order if label in labels])
    for axis, label in enumerate(order):
        if label not in labels:
            tensor = tf.expand_dims(tensor, axis)
    return tensor


def sizes(tensors: Sequence[tf.Tensor], labels: Sequence[Sequence[str]]) -> dict[str, Size]:
    """The size of each named axis, an int where it is known; unequal sizes of one label raise."""
    found: dict[str, list[Size]] = {}
    for tensor, names in zip(tensors, labels, strict=True):
        for axis, name in enumerate(names):
            found.setdefault(name, []).append(size_of(tensor, axis))
    result = {}
    for name, candidates in found.items():
        checked = check_sizes(
            candidates,
            f"The variable '{name}' must have the same number of individuals everywhere "
            "(different variables need different labels)",
        )
        result[name] = next((size for size in checked if isinstance(size, int)), checked[0])
    return result


def broadcast(
    tensor: tf.Tensor, labels: Sequence[str], order: Sequence[str], found: dict[str, Size]
) -> tf.Tensor:
    """The tensor repeated along the axes it lacks, over exactly the axes `order`."""
    if list(labels) == list(order):
        return tensor
    aligned = align(tensor, labels, order)
    features = [size_of(aligned, axis) for axis in range(len(order), aligned.shape.rank)]
    return tf.broadcast_to(aligned, [found[label] for label in order] + features)
