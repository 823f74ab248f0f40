"""Quantifiers: what they aggregate, and how: at once, by chunks of individuals, across replicas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import tensorflow as tf

from ltn.core import Formula, axes
from ltn.core.guards import aggregate
from ltn.core.wrappers import operands
from ltn.errors import LogicTypeError
from ltn.evaluation import chunks, crisp, replicas
from ltn.evaluation.frames import Tuples
from ltn.fuzzy_ops import Aggregator
from ltn.fuzzy_ops.aggregation import Part
from ltn.language import Quantifier

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation
    from ltn.evaluation.frames import Frame


class Scope(NamedTuple):
    """What a quantifier aggregates: values along axes, perhaps under a mask; or tuples by segment.

    Attributes:
        values: of the body.
        axis: the axes to aggregate; beside that of the tuples, where there are segments.
        free: the labels of the result.
        mask: of the shape of the values, or None.
        ids, groups: the segment of each tuple, and the sizes of the axes that the segments stand for.
    """

    values: tf.Tensor
    axis: tuple[int, ...]
    free: list[str]
    mask: tf.Tensor | None = None
    ids: tf.Tensor | None = None
    groups: Sequence[axes.Size] = ()

    def whole(self, operator: Any, empty: float, options: dict[str, Any]) -> tf.Tensor:
        """The aggregate, over the axes that stay free."""
        if self.ids is None:
            return aggregate(operator, self.values, self.axis, self.mask, empty, **options)
        count = math.prod(self.groups)
        return self._unfolded(
            operator.segments(self.values, self.ids, count, axis=self.axis, empty=empty, **options)
        )

    def part(self, operator: Aggregator, options: dict[str, Any]) -> Part:
        """What to keep of these values where they are a part of all, over the axes that stay free."""
        if self.ids is None:
            return operator.part(self.values, self.axis, self.mask, **options)
        found = operator.part(self.values, self.axis, ids=self.ids, count=math.prod(self.groups), **options)
        return Part(*map(self._unfolded, found))

    def _unfolded(self, segments: tf.Tensor) -> tf.Tensor:
        rest = [axes.size_of(segments, axis) for axis in range(1, segments.shape.rank)]
        return tf.reshape(segments, [*self.groups, *rest])


def quantified(evaluation: Evaluation, node: Quantifier, frame: Frame) -> Formula:
    """The value of a quantified formula over the axes of a frame."""
    operator, options = evaluation.operator(node), evaluation.options(node)
    empty = 1.0 if node.kind == "forall" else 0.0
    in_chunks, divided = chunks.needed(evaluation, node, frame), evaluation.is_divided(node)
    if not in_chunks and not divided:
        found = scope(evaluation, node, frame)
        return Formula(found.whole(operator, empty, options), found.free)
    if not isinstance(operator, Aggregator):
        raise LogicTypeError(
            "A quantifier in chunks, or over data that replicas share, needs an aggregator of "
            f"ltn.fuzzy_ops; got {operator!r}."
        )
    # Not annotated: AutoGraph cannot convert a function that uses an annotated name of an outer one.
    free = list[str]()

    def part_of(evaluation: Evaluation) -> Part:
        found = scope(evaluation, node, frame)
        free[:] = found.free
        return found.part(operator, options)

    if in_chunks:
        part = operator.merge(chunks.parts(evaluation, node, part_of), **options)
    else:
        part = part_of(evaluation)
    if divided:
        # Replicas meet once for both tensors.
        statistics, weights = tf.unstack(replicas.stacked(tf.stack(part)), axis=1)
        part = operator.merge(Part(statistics, weights), **options)
    return Formula(operator.finish(part, empty), free)


def scope(evaluation: Evaluation, node: Quantifier, frame: Frame) -> Scope:
    """What a quantifier aggregates in a frame."""
    inner = evaluation.inside(node, frame)
    body: Formula = evaluation.value(node.body, inner)
    bound = [evaluation.bind(group) for group in node.groups]
    if node.guard is not None and evaluation.selects(node):
        tuples = evaluation.frames.tuples(inner[evaluation.free(node.guard)[0]])
        return _of_tuples(evaluation, body, cast(Tuples, tuples), bound)
    mask = None if node.guard is None else Formula(*crisp.truth(evaluation, node.guard, inner))
    values, selected, axis, free = operands(bound, body, mask)
    return Scope(values, axis, free, selected)


def _of_tuples(evaluation: Evaluation, body: Formula, tuples: Tuples, bound: Sequence[str]) -> Scope:
    """Selected tuples: one segment of them for each combination that stays free."""
    frames = evaluation.frames
    kept = [label for label in tuples.parents if label not in bound]
    whole = [label for label in bound if label not in tuples.parents]
    rest = [label for label in body.free_vars if label != tuples.label and label not in whole]
    order = [tuples.label, *whole, *rest]
    values = axes.broadcast(
        body.tensor, body.free_vars, order, {label: frames.size(label) for label in order}
    )
    axis = tuple(range(1, 1 + len(whole)))
    if not kept:
        return Scope(values, (0, *axis), rest)
    groups = [frames.size(label) for label in kept]
    return Scope(values, axis, kept + rest, ids=frames.flat_index(tuples, kept), groups=groups)
