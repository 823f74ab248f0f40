"""Where the nodes of a graph stand: related ones near each other, always in the same way."""

from __future__ import annotations

import numpy as np


def on_circle(count: int) -> np.ndarray:
    """Places on a circle, clockwise from the top, shape (count, 2).

    >>> on_circle(4).round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, -0.0]]
    """
    if count == 1:
        return np.zeros((1, 2))
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.sin(angles), np.cos(angles)], axis=1)


def by_springs(linked: np.ndarray, rounds: int = 300) -> np.ndarray:
    """Places at which springs between all nodes rest, shape (n, 2); each is longer, the longer the path.

    Stress majorization (SMACOF), with springs that are the weaker the longer they are. It begins on a
    circle, so that equal graphs give equal pictures.

    Args:
        linked: which nodes are linked, shape (n, n).
        rounds: how often all nodes move.
    """
    places = on_circle(len(linked))
    if len(linked) < 3:
        return places
    # Less than in proportion, so that a long path is bent, and does not make all else small.
    lengths = _path_lengths(linked | linked.T) ** 0.7
    strengths = 1.0 / np.maximum(lengths, 1.0) ** 2
    np.fill_diagonal(strengths, 0.0)
    pull = np.linalg.pinv(np.diag(strengths.sum(axis=1)) - strengths)
    places = places * lengths.max() / 2.0
    for _ in range(rounds):
        apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
        push = -strengths * lengths / np.where(apart > 1e-9, apart, np.inf)
        np.fill_diagonal(push, 0.0)
        np.fill_diagonal(push, -push.sum(axis=1))
        places = pull @ push @ places
    return _spread(places)


def _spread(places: np.ndarray) -> np.ndarray:
    """The places in the square from -1 to 1: its whole width, and its whole height unless that is far."""
    low, high = places.min(axis=0), places.max(axis=0)
    spans = high - low
    return np.asarray((places - 0.5 * (low + high)) / np.maximum(0.5 * spans, 0.3 * spans.max() + 1e-9))


def _path_lengths(linked: np.ndarray) -> np.ndarray:
    """How many links the shortest path between each two nodes has.

    Where there is none, about half of the most: enough to keep parts of the graph apart, without a wide gap.
    """
    lengths = np.where(linked, 1.0, np.inf)
    np.fill_diagonal(lengths, 0.0)
    for through in range(len(lengths)):
        lengths = np.minimum(lengths, lengths[:, through, None] + lengths[None, through])
    known = np.isfinite(lengths)
    return np.where(known, lengths, 0.5 * lengths[known].max() + 2.0)
