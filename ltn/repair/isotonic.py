"""Isotonic regression on a graph: the numbers nearest to given ones that ascend along its edges."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Edges = Sequence[tuple[int, int]]

# What a cut gains below this is rounding.
_ROUNDING = 1e-12


def nearest_on_graph(values: Numbers, weights: Numbers, edges: Edges) -> Numbers:
    """The x with the least sum of weights * (x - values)^2 and x[a] <= x[b] for each edge (a, b).

    A value that is neither below one that leads to it nor above one that it leads to stays as it is. What
    is left falls into parts: trees, whose blocks are pooled, and other graphs, which minimum cuts divide.
    Nodes are numbered along the edges.

    >>> nearest_on_graph(np.array([0.75, 0.25, 0.5]), np.ones(3), [(0, 1), (1, 2)])
    array([0.5, 0.5, 0.5])
    """
    lowest, highest = values.copy(), values.copy()
    for a, b in sorted(edges):
        highest[b] = max(highest[b], highest[a])
    for a, b in sorted(edges, key=lambda edge: -edge[1]):
        lowest[a] = min(lowest[a], lowest[b])
    moves = (lowest < values) | (highest > values)
    found = values.copy()
    for nodes, own in _parts([(a, b) for a, b in edges if moves[a] and moves[b]]):
        place = {node: number for number, node in enumerate(nodes)}
        local = [(place[a], place[b]) for a, b in own]
        out = np.bincount([a for a, _ in local], minlength=len(nodes))
        solve = _pool if out.max(initial=0) <= 1 else _divide
        found[nodes] = solve(values[nodes], weights[nodes], local)
    return found


def _parts(edges: Edges) -> list[tuple[list[int], Edges]]:
    """The connected parts of a graph: their nodes, ascending, and their edges."""
    beside: dict[int, list[int]] = {}
    for a, b in edges:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    part: dict[int, int] = {}
    count = 0
    for root in beside:
        pending = [root] if root not in part else []
        count += len(pending)
        while pending:
            node = pending.pop()
            if node not in part:
                part[node] = count - 1
                pending += beside[node]
    nodes: list[list[int]] = [[] for _ in range(count)]
    own: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for node in sorted(part):
        nodes[part[node]].append(node)
    for edge in edges:
        own[part[edge[0]]].append(edge)
    return list(zip(nodes, own, strict=True))


def _pool(values: Numbers, weights: Numbers, edges: Edges) -> Numbers:
    """On a tree whose edges lead to the root: blocks that are above the one they lead to join it.

    P. M. Pardalos, G. Xue, Algorithms for a class of isotonic regression problems, Algorithmica 23, 1999.
    """
    leads = dict(edges)
    total, weight, members = list(values * weights), list(weights), [[node] for node in range(len(values))]
    # The blocks that lead to a block, the greatest first.
    below: list[list[tuple[float, int]]] = [[] for _ in values]
    for node in range(len(values)):
        heap = below[node]
        while heap and -heap[0][0] > total[node] / weight[node]:
            _, other = heapq.heappop(heap)
            total[node] += total[other]
            weight[node] += weight[other]
            small, large = sorted((members[node], members[other]), key=len)
            large += small
            members[node], members[other] = large, []
            small_heap, heap = sorted((heap, below[other]), key=len)
            for each in small_heap:
                heapq.heappush(heap, each)
            below[node] = heap
        if node in leads:
            heapq.heappush(below[leads[node]], (-total[node] / weight[node], node))
    found = values.copy()
    for node, block in enumerate(members):
        if block:
            found[block] = total[node] / weight[node]
    return found


def _divide(values: Numbers, weights: Numbers, edges: Edges) -> Numbers:
    """On any graph: the nodes that are better above the mean are cut off, until none are.

    R. Luss, S. Rosset, M. Shahar, Efficient regularized isotonic regression, Annals of Applied Statistics
    6(1), 2012: no cut parts what is equal in the solution, so that the parts are independent.
    """
    found = values.copy()
    pending: list[tuple[list[int], Edges]] = [(list(range(len(values))), edges)]
    while pending:
        nodes, own = pending.pop()
        mean = float(np.average(values[nodes], weights=weights[nodes]))
        above = _best_above(nodes, own, (values - mean) * weights)
        if not above or len(above) == len(nodes):
            found[nodes] = mean
            continue
        for part in (above, set(nodes) - above):
            pending.append((sorted(part), [(a, b) for a, b in own if a in part and b in part]))
    return found


def _best_above(nodes: Sequence[int], edges: Edges, gains: Numbers) -> set[int]:
    """The set of nodes, with all that they lead to, of the greatest gain; empty where none gains.

    The minimum cut between what gains and what loses, by augmenting paths of breadth-first search.
    """
    source, sink = -1, -2
    room: dict[int, dict[int, float]] = {node: {} for node in (*nodes, source, sink)}
    for a, b in edges:
        room[a][b] = np.inf
        room[b].setdefault(a, 0.0)
    for node in nodes:
        gain = float(gains[node])
        room[source if gain > 0.0 else node][node if gain > 0.0 else sink] = abs(gain)
        room[node if gain > 0.0 else sink][source if gain > 0.0 else node] = 0.0
    left = sum(room[source].values())
    while True:
        before: dict[int, int] = {source: source}
        queue = deque([source])
        while queue and sink not in before:
            node = queue.popleft()
            for other, amount in room[node].items():
                if amount > _ROUNDING and other not in before:
                    before[other] = node
                    queue.append(other)
        if sink not in before:
            reached = set(before) - {source}
            return reached if left > _ROUNDING * len(nodes) else set()
        path = [sink]
        while path[-1] != source:
            path.append(before[path[-1]])
        steps = list(zip(path[1:], path[:-1], strict=True))
        amount = min(room[a][b] for a, b in steps)
        left -= amount
        for a, b in steps:
            room[a][b] -= amount
            room[b][a] = room[b].get(a, 0.0) + amount
