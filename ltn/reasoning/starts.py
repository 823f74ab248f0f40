"""Starting points of a search: groundings drawn by their own initialisers."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

import numpy as np

from ltn.knowledge.initialisation import draw_weights, is_drawn_by_keras
from ltn.reasoning.grounding import Learner

# Only one search at a time may seed the generators that the whole program shares.
_seeding = threading.Lock()


def draw_start(theory: Learner, seed: str) -> list[np.ndarray]:
    """The weights that are learned, initialised anew by a seed; the theory keeps its own."""
    chance = random.Random(seed)
    if is_drawn_by_keras(theory):
        return draw_weights(theory, chance)
    with _seeding, seed_generators(seed):
        return draw_weights(theory, chance)


@contextlib.contextmanager
def seed_generators(seed: str) -> Iterator[None]:
    """Seed the generators that initialisers draw from, and leave them as they were."""
    states = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(random.getrandbits(32))
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
