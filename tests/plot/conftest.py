"""A theory to draw; and no picture stays open."""

from collections.abc import Iterator

import keras
import matplotlib
import matplotlib.pyplot as plt
import pytest

import ltn


@pytest.fixture(scope="module")
def people() -> ltn.Theory:
    """A small theory of friends, untrained."""
    keras.utils.set_random_seed(0)
    theory = ltn.Theory("stable_product", p_exists=1)
    domain = theory.domain("people", shape=3)
    theory.constants("a b c d", domain, trainable=True)
    theory.variables("x, y, z", domain)
    theory.predicate("S", domain, ltn.Predicate.MLP([3], (4,)))
    theory.predicate("F", (domain, domain), ltn.Predicate.MLP([3, 3], (4,)))
    theory.proposition("rain", 0.25)
    theory.axioms(
        """
        spreads: forall[p=6] x, y where x != y: F(x, y) -> S(y)
        everyone: forall x: exists y: F(x, y)
        wet: rain
        """
    )
    return theory


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    before = plt.get_fignums(), matplotlib.get_backend()
    yield
    assert (plt.get_fignums(), matplotlib.get_backend()) == before
