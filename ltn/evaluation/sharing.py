"""Data that replicas share: which variables range over the data of all of them, not over their own part."""

from __future__ import annotations

from collections.abc import Sequence

from ltn.evaluation import replicas
from ltn.evaluation.groundings import Groundings
from ltn.language import Node, Quantifier


def share(groundings: Groundings, nodes: Sequence[Node], sampled: bool = False) -> Groundings:
    """The groundings in which a variable that meets divided data ranges over the data of all replicas.

    Where quantifiers draw samples, each replica has its own: data below them are not divided.
    """

    def kinds(group: Sequence[str]) -> set[str]:
        return {(groundings.source(variable) or ("none", ""))[0] for variable in group}

    # The groups of data on each path of nested quantifiers.
    paths: list[tuple[replicas.Group, ...]] = []
    below_samples: list[replicas.Group] = []
    pending: list[tuple[Node, tuple[replicas.Group, ...]]] = [(node, ()) for node in reversed(nodes)]
    seen: set[tuple[int, tuple[replicas.Group, ...]]] = set()
    while pending:
        node, path = pending.pop()
        if (id(node), path) in seen:
            continue
        seen.add((id(node), path))
        below: Sequence[Node] = node.children
        if isinstance(node, Quantifier):
            path = (*path, *(group for group in node.groups if "data" in kinds(group)))
            if sampled and node.sample is not None:
                inside = (inner for inner in node.body.walk() if isinstance(inner, Quantifier))
                below_samples += [each for inner in inside for each in inner.groups if "data" in kinds(each)]
            below = (node.body,)
        pending += [(child, path) for child in reversed(below)]
        if not below:
            paths.append(path)
    # Data that a `diag` pairs with other individuals are not divided either.
    paired = [group for path in paths for group in path if kinds(group) != {"data"}]
    return groundings.share(replicas.variables_to_gather(paths, [*paired, *below_samples]))
