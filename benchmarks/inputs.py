"""What all programs are given: the same data for each library. It needs nothing but NumPy."""

import numpy as np

BATCH = 32
# What the digit on each image of an example counts.
PLACES = {"single": (1, 1), "two": (10, 1, 10, 1), "three": (100, 10, 1, 100, 10, 1)}
CLUSTERS = 4
FEATURES = 5

# The paper's smokers.
PEOPLE = "abcdefghijklmn"
GROUPS = ("abcdefgh", "ijklmn")
SMOKERS, ILL = "aefgjn", "ae"
FRIENDS = ["ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn"]
STRANGERS = [u + v for group in GROUPS for u in group for v in group if u < v and u + v not in FRIENDS]
# The individuals that its facts speak about.
GIVEN = {
    "f1": [pair[0] for pair in FRIENDS],
    "f2": [pair[1] for pair in FRIENDS],
    "g1": [pair[0] for pair in STRANGERS],
    "g2": [pair[1] for pair in STRANGERS],
    "s1": list(SMOKERS),
    "s0": [u for u in PEOPLE if u not in SMOKERS],
    "c1": list(ILL),
    "c0": [u for u in GROUPS[0] if u not in ILL],
}


def additions(task: str, batches: int = 1) -> tuple[list[np.ndarray], np.ndarray]:
    """Noise in the shape of images, an array for each place, and the sums of digits drawn for them."""
    rng = np.random.default_rng(0)
    places, count = PLACES[task], batches * BATCH
    images = [rng.uniform(size=(count, 28, 28, 1)).astype(np.float32) for _ in places]
    return images, rng.integers(10, size=(count, len(places))) @ np.array(places)


def long_additions(digits: int, count: int) -> dict[str, np.ndarray]:
    """Noise in the shape of images of two numbers, and the digits of their sums; the last digit comes first.

    Args:
        digits: of each number.
        count: of sums.

    Returns:
        Images x0, y0, x1, y1, ..., (count, 28, 28, 1) each, and the digits n0, n1, ... of the sums, one more
        than each number has.
    """
    rng = np.random.default_rng(0)
    table, carries = {}, np.zeros(count, int)
    for place in range(digits):
        for name in (f"x{place}", f"y{place}"):
            table[name] = rng.uniform(size=(count, 28, 28, 1)).astype(np.float32)
        carries, table[f"n{place}"] = np.divmod(rng.integers(10, size=(2, count)).sum(axis=0) + carries, 10)
    return {**table, f"n{digits}": carries}


def clouds(count: int) -> np.ndarray:
    """Points around one centre in each quadrant, as in examples/clustering.py."""
    rng = np.random.default_rng(0)
    quadrants = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    centres = quadrants * rng.uniform(0.2, 0.8, size=(CLUSTERS, 2))
    points = centres[:, np.newaxis] + rng.normal(scale=0.1, size=(CLUSTERS, count // CLUSTERS, 2))
    return np.clip(points, -1.0, 1.0).reshape(-1, 2).astype(np.float32)


def edges(count: int, individuals: int) -> np.ndarray:
    """Pairs of individuals, drawn at random, each once, shape (m, 2) with m close to `count`."""
    drawn = np.random.default_rng(0).integers(individuals, size=(count, 2))
    return np.unique(drawn, axis=0)


def embeddings(count: int) -> np.ndarray:
    """The vectors that learning starts from, a row for each individual."""
    return np.random.default_rng(0).uniform(size=(count, FEATURES)).astype(np.float32)
