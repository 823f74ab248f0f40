"""A short part of `make fuzz`: the same cases in every run, simplified where one fails."""

from collections import Counter

import pytest

from tests.fuzzing.block import PARTS, simplify

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


@pytest.mark.parametrize(("part", "size"), [("texts", 80), ("formulas", 4), ("theories", 4)])
def test_a_few_cases_of_each_kind(part: str, size: int) -> None:
    counts: Counter[str] = Counter()
    simplify(PARTS[part]._replace(size=size), 0, counts)
    assert counts[part] >= size
