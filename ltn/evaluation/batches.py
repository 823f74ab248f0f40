"""Formulas in batches: what is asked is evaluated a few individuals at a time, within a limit of bytes.

The individuals of one free variable (or diagonal) are taken in slices, and the values of all slices are put
together. Quantifiers go through theirs in slices too (`chunks`). What fits at once is evaluated at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn.core import Formula, Term
from ltn.errors import LogicError, LogicValueError
from ltn.evaluation.evaluation import Evaluation, groups_of, sizes_of
from ltn.evaluation.footprint import Footprint, Group, slice_sizes, whole
from ltn.evaluation.frames import Places
from ltn.evaluation.plan import Options, samples_in, with_formula
from ltn.language import Node, Quantifier
from ltn.language.names import FORALL, axis_text
from ltn.language.statements import Diagonals


class Claims(NamedTuple):
    """The truths of what a formula claims, the least true first, and the individuals that it claims it of.

    Attributes:
        truths: (k,).
        places: for each variable at the front of the formula, where its individuals are among all, (k,).
    """

    truths: NDArray[Any]
    places: dict[str, Places]


def ground(
    evaluation: Evaluation, nodes: Sequence[Node], options: Sequence[Options] = (), limit: int | None = None
) -> list[Any]:
    """What `Evaluation.ground` gives, computed within about `limit` bytes; None for any number.

    The answers themselves must fit. So must what the networks and axioms that are Python code keep inside, of
    which nothing is known.
    """
    if limit is None or not nodes or are_small(evaluation, nodes, options, limit):
        return evaluation.ground(nodes, options)
    if len(nodes) > 1 or not evaluation.groundings.signature.free_variables(nodes[0]):
        return evaluation.within(max(limit // len(nodes), 1)).ground(nodes, options)
    [node] = nodes
    footprint = footprint_of(evaluation, node, options)
    _check_answer(evaluation, node, footprint, limit)
    group, rows = _slice(footprint, limit)
    label, count = (group[0] if len(group) == 1 else axis_text(group)), footprint.size(group)
    if rows >= count:
        return evaluation.within(limit).ground(nodes, options)
    parts = [
        ground(evaluation.on(evaluation.groundings.slice(group, start, size, {})), nodes, options, limit)[0]
        for start, size in slices(count, rows)
    ]
    labels = parts[0].free_vars
    joined = tf.concat([part.tensor for part in parts], axis=labels.index(label))
    return [(Formula if isinstance(parts[0], Formula) else Term)(joined, labels)]


def are_small(evaluation: Evaluation, nodes: Sequence[Node], options: Sequence[Options], limit: int) -> bool:
    """Whether formulas and terms, evaluated together, take at most about so many bytes."""
    groundings = evaluation.groundings
    kinds = tuple(groundings.source(name) for name in groundings.signature.variables)
    drawn = tuple(tuple(samples_in(own).items()) for own in options)
    key = (tuple(nodes), drawn, kinds, sizes_of(groundings), evaluation.settings, limit)

    def measure() -> bool:
        try:
            footprints = [
                footprint_of(evaluation, node, options[number : number + 1])
                for number, node in enumerate(nodes)
            ]
        except LogicError:
            # Its evaluation raises it, with what is known there.
            return True
        if sum(footprint.bytes() for footprint in footprints) <= limit:
            return True
        for footprint in footprints:
            footprint.count_tuples()
        return sum(footprint.bytes() for footprint in footprints) <= limit

    return evaluation.plans.small.get(key, measure)


def least_true(
    evaluation: Evaluation, node: Node, options: Options, written: Node, most: int, limit: int
) -> Claims:
    """The claims of a prepared formula about individuals that are least true, at most so many.

    Those that are equally true come in the order of the individuals. Errors show the formula as `written`.
    """
    front, body, [drawn] = [], node, evaluation.write_out([node], [options])[1]
    # What a definition quantifies is not at the front of the formula.
    while isinstance(body, Quantifier) and isinstance(drawn, Quantifier) and drawn.kind == FORALL.name:
        front.append(drawn)
        body, drawn = body.body, drawn.body
    # Of a sample each slice would draw as many as the whole.
    is_sampled = evaluation.settings.sampled and any(each.sample is not None for each in front)
    groups = [group for each in front for group in each.groups]
    found = []
    if not groups or is_sampled:
        return _least(evaluation, {}, node, options, written, most)
    try:
        footprint = footprint_of(evaluation, node, [options], groups, len(front))
        group, rows = _slice(footprint, limit)
        count = footprint.size(group)
    except LogicError as error:
        raise with_formula(error, written) from error
    if rows >= count:
        return _least(evaluation, {}, node, options, written, most)
    for start, size in slices(count, rows):
        part = evaluation.on(evaluation.groundings.slice(group, start, size, {})).within(limit)
        found.append(_least(part, dict.fromkeys(group, start), node, options, written, most))
    truths = np.concatenate([each.truths for each in found])
    places = {name: np.concatenate([each.places[name] for each in found]) for name in found[0].places}
    return _in_order(truths, places, most)


def footprint_of(
    evaluation: Evaluation,
    node: Node,
    options: Sequence[Options] = (),
    groups: Sequence[Group] | None = None,
    front: int = 0,
) -> Footprint:
    """The footprint of a formula or term; its variables that are free, or at its front, are in groups."""
    world, [written_out] = evaluation.write_out([node], options)
    groundings = world.groundings
    planner = evaluation.planner(world._replace(groundings=whole(groundings)))
    body = evaluation.on(groundings).prepare(written_out)
    if groups is None:
        groups = groups_of(groundings.signature.free_variables(written_out), written_out)
    for group in groups:
        planner.bind(group)
    return Footprint(planner, body, groups, front, slice_sizes(groundings))


def slices(count: int, rows: int) -> Iterator[tuple[int, int]]:
    """The beginning and the size of each slice."""
    return ((start, min(rows, count - start)) for start in range(0, count, rows))


def _slice(footprint: Footprint, limit: int) -> tuple[Group, int]:
    """The group of variables to slice, that with which memory becomes least, and how many at a time.

    Quantifiers within go through theirs one by one, if they must.
    """
    groups = sorted(footprint.groups, key=footprint.size, reverse=True)
    group = min(groups, key=lambda group: footprint.bytes({group: 1}, sliced=True))
    return group, footprint.rows_within(limit, group, sliced=True)


def _check_answer(evaluation: Evaluation, node: Node, footprint: Footprint, limit: int) -> None:
    sizes = {axis_text(group): footprint.size(group) for group in footprint.groups}
    body = node.body if isinstance(node, Diagonals) else node
    shape = evaluation.groundings.signature.sort_of(body).shape or ()
    count = math.prod([*sizes.values(), *(size or 1 for size in shape)])
    if 4 * count > limit:
        many = " times ".join(f"{size:,} {name}" for name, size in sizes.items())
        raise LogicValueError(
            f"The answer to `{node}` has {count:,} values, {many}: more than the {limit:,} bytes of "
            "`memory_limit`. Ask about fewer individuals, as query(formula, x=some), quantify a variable, or "
            f"set theory.memory_limit to {4 * count:,} or more."
        )


def _least(
    evaluation: Evaluation,
    starts: dict[str, int],
    node: Node,
    options: Options,
    written: Node,
    most: int,
) -> Claims:
    """The claims that are least true under some groundings, whose slices begin at some places."""
    found = evaluation.instances(written, options)
    truths = evaluation.space.truth(found.values).numpy()
    if not found.are_claimed:
        most = 0
    flat = truths.reshape(-1)
    kept = np.arange(len(flat))
    if 0 < most < len(flat):
        # Whatever is as true as the last one: the order of the individuals decides.
        kept = np.flatnonzero(~(flat > np.partition(flat, most - 1)[most - 1]))
    on_axes = np.unravel_index(kept, truths.shape) if found.labels else ()
    lying = dict(zip(found.labels, on_axes, strict=True))
    places = {}
    for variable, label in found.frame.items():
        rows = found.rows[variable]
        places[variable] = (lying[label] if rows is None else rows[lying[label]]) + starts.get(variable, 0)
    return _in_order(flat[kept], places, most)


def _in_order(truths: NDArray[Any], places: dict[str, Places], most: int) -> Claims:
    order = np.lexsort([*reversed(places.values()), truths])[:most]
    return Claims(truths[order], {name: column[order] for name, column in places.items()})
