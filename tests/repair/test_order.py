"""Implications between atoms: least, greatest and nearest coherent truths, against slow references."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from ltn.repair.isotonic import nearest_on_graph
from ltn.repair.order import Order
from tests.repair.rules import NAMES, implications, repaired, theory_of

COUNT = 6
EDGES = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=9)
TRUTHS = st.lists(st.integers(0, 8).map(lambda number: number / 8), min_size=COUNT, max_size=COUNT)


def reached(edges: list[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which atom implies which, over any number of implications; each implies itself."""
    found = np.eye(COUNT, dtype=bool)
    for a, b in edges:
        found[a, b] = True
    for middle in range(COUNT):
        found |= found[:, [middle]] & found[[middle], :]
    return found


def nearest_by_partitions(truths: NDArray[np.float64], edges: list[tuple[int, int]]) -> NDArray[np.float64]:
    """The nearest coherent truths: of all ways to make atoms equal, the best that is coherent."""
    best, least = truths, np.inf
    for levels in itertools.product(range(4), repeat=COUNT):
        found = truths.copy()
        for level in set(levels):
            own = np.array(levels) == level
            found[own] = truths[own].mean()
        cost = float(((found - truths) ** 2).sum())
        if cost < least and all(found[a] <= found[b] + 1e-12 for a, b in edges):
            best, least = found, cost
    return best


@given(EDGES, TRUTHS)
def test_raise_is_the_maximum_over_what_implies_and_lower_the_minimum_over_what_is_implied(
    edges: list[tuple[int, int]], truths: list[float]
) -> None:
    order, values, implies = Order(COUNT, edges), np.array(truths), reached(edges)
    raised = [max(values[implies[:, atom]]) for atom in range(COUNT)]
    lowered = [min(values[implies[atom]]) for atom in range(COUNT)]
    assert order.restore(values[np.newaxis], "raise")[0].tolist() == raised
    assert order.restore(values[np.newaxis], "lower")[0].tolist() == lowered


@given(EDGES, TRUTHS)
def test_nearest_is_the_projection(edges: list[tuple[int, int]], truths: list[float]) -> None:
    # x is the nearest coherent point to v if and only if x is coherent, (v - x) x = 0, and (v - x) y <= 0 for
    # all coherent y: all sums of upper sets, with any sign of the whole.
    values = np.array(truths)
    [found] = Order(COUNT, edges).restore(values[np.newaxis], "nearest")
    assert all(found[a] <= found[b] for a, b in edges)
    off = values - found
    assert abs(off @ found) < 1e-9
    assert abs(off.sum()) < 1e-9
    implies = reached(edges)
    for chosen in itertools.product([False, True], repeat=COUNT):
        upper = implies[np.array(chosen)].any(axis=0)
        assert off[upper].sum() < 1e-9


@pytest.mark.parametrize(
    "edges", [[(0, 2), (1, 2), (2, 3), (1, 4)], [(0, 1), (0, 2), (1, 3), (2, 3), (4, 3)]]
)
def test_nearest_of_trees_and_diamonds_is_the_best_of_all_ways_to_make_atoms_equal(
    edges: list[tuple[int, int]],
) -> None:
    values = np.array([0.9, 0.4, 0.7, 0.1, 0.3, 0.5])
    [found] = Order(COUNT, edges).restore(values[np.newaxis], "nearest")
    np.testing.assert_allclose(found, nearest_by_partitions(values, edges), atol=1e-12)


def test_nearest_of_large_trees_and_graphs_has_certificates() -> None:
    chance = np.random.default_rng(3)
    for several in (False, True):
        edges = [(a, int(chance.integers(a + 1, min(a + 9, 60)))) for a in range(59)]
        edges += [(a, b) for a, b in chance.integers(0, 60, (60 * several, 2)).tolist() if a < b]
        values, weights = chance.random(60), chance.integers(1, 4, 60).astype(float)
        found = nearest_on_graph(values, weights, sorted(set(edges)))
        assert all(found[a] <= found[b] for a, b in edges)
        # Of every block of equal truths the weighted mean stays.
        for value in np.unique(found):
            own = found == value
            assert np.average(values[own], weights=weights[own]) == pytest.approx(value, abs=1e-12)
        # No coherent truths are nearer: not those of a long projected descent either.
        assert cost(values, weights, found) <= cost(values, weights, descended(values, weights, edges)) + 1e-9


def cost(values: NDArray[np.float64], weights: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """The weighted sum of squared changes."""
    return float((weights * (values - found) ** 2).sum())


def descended(
    values: NDArray[np.float64], weights: NDArray[np.float64], edges: list[tuple[int, int]]
) -> NDArray[np.float64]:
    """Coherent truths near given ones: Hildreth's method on the multipliers of all edges, then raised."""
    found, multipliers = values.copy(), np.zeros(len(edges))
    for _ in range(300):
        for number, (a, b) in enumerate(edges):
            step = (found[a] - found[b]) / (1 / weights[a] + 1 / weights[b])
            step = max(step, -multipliers[number])
            multipliers[number] += step
            found[a] -= step / weights[a]
            found[b] += step / weights[b]
    for a, b in sorted(edges):
        found[b] = max(found[b], found[a])
    return found


def test_the_directions_of_a_theory() -> None:
    theory = theory_of(implications([(0, 1), (1, 2)]), count=3)
    rows = [[0.75, 0.25, 0.5], [0.25, 0.5, 0.75]]
    assert repaired(theory, rows, direction="raise").tolist() == [[0.75, 0.75, 0.75], rows[1]]
    assert repaired(theory, rows, direction="lower").tolist() == [[0.25, 0.25, 0.5], rows[1]]
    assert repaired(theory, rows).tolist() == [[0.5, 0.5, 0.5], rows[1]]
    equal = theory_of(["forall x: is(x, a) <-> is(x, b)"], count=2)
    assert repaired(equal, [[0.25, 0.75]]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("semantics", ["godel", "lukasiewicz", "stable_product", "log_product"])
def test_coherence_is_the_same_under_all_semantics(semantics: str) -> None:
    theory = theory_of(implications([(0, 1), (2, 1)]), semantics, count=3)
    assert repaired(theory, [[0.5, 0.25, 0.75]], direction="raise").tolist() == [[0.5, 0.75, 0.75]]


def test_a_relation_gives_the_hierarchy() -> None:
    theory = theory_of([])
    theory.relation("subclass", (theory.language.signature.domains["classes"],) * 2, [("a", "b"), ("b", "f")])
    theory.axiom("forall x, k, l where subclass(k, l): is(x, k) -> is(x, l)", name="up")
    found = theory.repair({"x": [[1.0, 0.5, 0.5, 0.0, 0.5, 0.25]]}, direction="raise")
    assert found["is"].to_frame().loc[0].tolist() == [1.0, 1.0, 0.5, 0.0, 0.5, 1.0]
    assert found["is"].free_vars == ["x", "k"]
    changes = found.changes
    assert list(changes.columns) == ["predicate", "individuals", "from", "to", "axiom"]
    assert changes.to_numpy().tolist() == [
        ["is", (0, "b"), 0.5, 1.0, "up"],
        ["is", (0, "f"), 0.25, 1.0, "up"],
    ]
    assert NAMES[1] == "b"
