"""Guards: which tuples of individuals they select.

A guard over finite domains need not be searched in every step. In `d1 + d2 = n` the values of `d1 + d2` are
fixed: their combinations are sorted once, by that value, and a step looks up those of its `n`. What cannot be
looked up is evaluated for every combination, and searched for where it holds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.evaluation import crisp
from ltn.evaluation.frames import Frame, unravelled
from ltn.language import And, Apply, Comparison, Name, Node, Signature

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation

# What a comparison is called when its sides are exchanged.
_EXCHANGED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER = (1,)
# More combinations than this are not sorted: memory holds them, and an int32 counts them.
_MOST = 2**27
# The combinations that each theory sorted last, for its next evaluations.
_USED: WeakKeyDictionary[Signature, dict[Any, Combinations]] = WeakKeyDictionary()
_REMEMBERED = 16


class Lookup(NamedTuple):
    """A comparison `fixed operator other` whose sides share no axis; only `other` depends on the step."""

    conjunct: Node
    fixed: Node
    operator: str
    other: Node


class Combinations(NamedTuple):
    """Combinations of fixed individuals, in the order of a value that each has.

    Attributes:
        sizes: of their axes.
        index: the row-major index of each combination over these axes, int32, (m,).
        values: ascending, (m,); None if they have none.
    """

    sizes: dict[str, int]
    index: tf.Tensor
    values: tf.Tensor | None


def selected(evaluation: Evaluation, guard: Node, frame: Frame) -> dict[str, str]:
    """The frame in which the axes of a guard are replaced by the tuples that it selects."""
    conjuncts = _conjuncts(guard)
    filters = [c for c in conjuncts if _is_fixed(evaluation, c, frame)]
    lookup = _lookup(evaluation, [c for c in conjuncts if c not in filters], frame)
    if lookup is not None:
        # The combinations that are looked up leave the axes of the other side alone.
        taken = _labels(evaluation, lookup.other, frame)
        filters = [c for c in filters if not taken & _labels(evaluation, c, frame)]
    rest = [c for c in conjuncts if c not in filters and (lookup is None or c != lookup.conjunct)]
    if (lookup is None and not filters) or any(_calls_network(evaluation, c) for c in rest):
        # What a network returns for a guard, the body reads again: it must be on the same axes.
        truth, labels = crisp.truth(evaluation, guard, frame)
        return evaluation.frames.select(truth, labels, frame)
    if lookup is None:
        combinations = _combinations(evaluation, filters, None, frame)
        with tf.init_scope():
            parents = unravelled(combinations.index, combinations.sizes)
    else:
        combinations = _combinations(evaluation, filters, lookup.fixed, frame)
        parents = _looked_up(evaluation, lookup, combinations, frame)
    if rest:
        parents = _filtered(evaluation, rest, parents, frame)
    # Looked up for one value after the other, the tuples ascend along the first axis of the values.
    ascends = lookup is None or bool(evaluation.free(lookup.other))
    return evaluation.frames.add(parents, frame, leading=next(iter(parents)) if ascends else None)


def _conjuncts(guard: Node) -> list[Node]:
    found, pending = [], [guard]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending += [node.right, node.left]
        else:
            found.append(node)
    return found


def _is_fixed(evaluation: Evaluation, node: Node, frame: Frame) -> bool:
    """Whether the node has variables, and its values for their individuals are the same in every step."""
    labels = _labels(evaluation, node, frame)
    return (
        bool(labels)
        and not any(evaluation.frames.tuples(label) for label in labels)
        and not _calls_network(evaluation, node)
        and all(evaluation.groundings.is_fixed(part.name) for part in node.walk() if isinstance(part, Name))
    )


def _labels(evaluation: Evaluation, node: Node, frame: Frame) -> set[str]:
    return set(evaluation.restricted(frame, node).values())


def _calls_network(evaluation: Evaluation, node: Node) -> bool:
    return any(isinstance(part, Apply) and part.symbol in evaluation.symbols for part in node.walk())


def _lookup(evaluation: Evaluation, conjuncts: Sequence[Node], frame: Frame) -> Lookup | None:
    """The comparison by which to look up: an equation if there is one, and of most axes."""
    found = [lookup for conjunct in conjuncts for lookup in _lookups(evaluation, conjunct, frame)]

    def merit(lookup: Lookup) -> tuple[bool, int]:
        return lookup.operator == "=", len(_labels(evaluation, lookup.fixed, frame))

    return max(found, key=merit, default=None)


def _lookups(evaluation: Evaluation, conjunct: Node, frame: Frame) -> Iterator[Lookup]:
    if not isinstance(conjunct, Comparison) or conjunct.operator not in _EXCHANGED:
        return
    left, right, operator = conjunct.left, conjunct.right, conjunct.operator
    if _labels(evaluation, left, frame) & _labels(evaluation, right, frame):
        return
    if any(evaluation.signature.check(side).shape != _NUMBER for side in (left, right)):
        return
    if _is_fixed(evaluation, left, frame):
        yield Lookup(conjunct, left, operator, right)
    if _is_fixed(evaluation, right, frame):
        yield Lookup(conjunct, right, _EXCHANGED[operator], left)


def _combinations(
    evaluation: Evaluation, filters: Sequence[Node], value: Node | None, frame: Frame
) -> Combinations:
    """The combinations of individuals that pass the filters, in the order of the value."""
    nodes = [*filters] if value is None else [*filters, value]
    own = {variable: frame[variable] for node in nodes for variable in evaluation.free(node)}
    key = (tuple(filters), value, tuple(own.items()))
    used = _USED.setdefault(evaluation.signature, {})
    if key not in used:
        if len(used) == _REMEMBERED:
            del used[next(iter(used))]
        sizes = {label: int(evaluation.frames.size(label)) for label in own.values()}
        # Outside the step that is being compiled.
        with tf.init_scope():
            used[key] = _sorted(evaluation.without_data(), filters, value, own, sizes)
    return used[key]


def _sorted(
    evaluation: Evaluation, filters: Sequence[Node], value: Node | None, frame: Frame, sizes: dict[str, int]
) -> Combinations:
    count = math.prod(sizes.values())
    if count > _MOST:
        raise LogicValueError(
            f"The guard is to be searched among {count:,} combinations of the variables "
            f"{', '.join(frame)}, more than {_MOST:,}: evaluate it in chunks, ltn.Theory(chunk=...), or bind "
            "fewer of them under one guard."
        )
    labels, shape = list(sizes), tuple(sizes.values())
    passes = np.ones(shape, bool)
    for node in filters:
        passes &= axes.align(*crisp.truth(evaluation, node, frame), labels).numpy()
    index = np.flatnonzero(passes).astype(np.int32)
    if value is None:
        return Combinations(sizes, tf.constant(index), None)
    term = evaluation.value(value, frame)
    numbers = axes.align(tf.squeeze(term.tensor, -1), term.free_vars, labels).numpy()
    values = np.broadcast_to(numbers, shape).reshape(-1)[index]
    # What is not a number, as 0 / 0, compares with nothing; it is sorted to the end.
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    return Combinations(sizes, tf.constant(index[order]), tf.constant(values[order]))


def _looked_up(
    evaluation: Evaluation, lookup: Lookup, combinations: Combinations, frame: Frame
) -> dict[str, tf.Tensor]:
    """The tuples of which a comparison holds: for each value of the other side a range of combinations."""
    other = evaluation.value(lookup.other, frame)
    values = tf.reshape(other.tensor, [-1])
    low = tf.searchsorted(combinations.values, values, side="left")
    high = tf.searchsorted(combinations.values, values, side="right")
    all_of_them = axes.size_of(combinations.index, 0)
    start, stop = {
        "=": (low, high),
        "<": (tf.zeros_like(low), low),
        "<=": (tf.zeros_like(low), high),
        ">": (high, all_of_them),
        ">=": (low, all_of_them),
    }[lookup.operator]
    # Only what is not a number is unequal to itself, and compares with nothing.
    counts = tf.where(tf.equal(values, values), stop - start, 0)
    ends = tf.cumsum(counts)
    tuples = tf.range(tf.reduce_sum(counts))
    # The value that each tuple belongs to.
    of_value = tf.searchsorted(ends, tuples, side="right")
    places = tuples + tf.gather(start - (ends - counts), of_value)
    sizes = {label: evaluation.frames.size(label) for label in other.free_vars}
    fixed = unravelled(tf.gather(combinations.index, places), combinations.sizes)
    return unravelled(of_value, sizes) | fixed


def _filtered(
    evaluation: Evaluation, conjuncts: Sequence[Node], parents: dict[str, tf.Tensor], frame: Frame
) -> dict[str, tf.Tensor]:
    """Those of the tuples, combined with the other axes of the conjuncts, of which the conjuncts hold."""
    frames = evaluation.frames
    found = frames.add(parents, frame)
    label = next(label for variable, label in found.items() if label != frame[variable])
    truth, labels = crisp.truth(evaluation, functools.reduce(And, conjuncts), found)
    order = [label, *(other for other in labels if other != label)]
    whole = axes.broadcast(truth, labels, order, {name: frames.size(name) for name in order})
    index, *others = tf.unstack(tf.cast(tf.where(whole), tf.int32), num=len(order), axis=1)
    return {axis: tf.gather(at, index) for axis, at in parents.items()} | dict(
        zip(order[1:], others, strict=True)
    )
