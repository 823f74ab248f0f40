"""A short part of `make fuzz`: the same cases in every run, simplified where one fails."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import strategies as st

from tests.fuzzing.block import PARTS, Part, search, simplify
from tests.fuzzing.theories import theories

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


# Most of the time goes into compiling, which theories of one axiom take least of.
SHORT = {
    "texts": PARTS["texts"]._replace(size=60),
    "formulas": PARTS["formulas"]._replace(size=3),
    "theories": PARTS["theories"]._replace(cases=partial(theories, most=1), size=3),
}


@pytest.mark.parametrize("kind", SHORT)
def test_a_few_cases_of_each_kind(kind: str) -> None:
    counts: Counter[str] = Counter()
    simplify(SHORT[kind], 0, counts)
    assert counts[kind] >= SHORT[kind].size


def test_a_kind_that_fails_is_told_with_its_first_case() -> None:
    def check(number: int, counts: Counter[str]) -> None:
        counts["numbers"] += 1
        assert number < 100, "too large"

    part = Part(lambda: st.integers(0, 1000), check, size=50, seconds=10.0)
    counts: Counter[str] = Counter()
    [told] = search(part, 1, counts)
    assert "too large" in told
    assert counts["numbers"] >= 50
    assert counts["failed"] > 1
    # The same cases again.
    assert search(part, 1, Counter()) == [told]
    with pytest.raises(AssertionError, match="too large") as error:
        simplify(part, 1, Counter())
    assert "case=100" in "".join(error.value.__notes__)


def test_a_case_without_end_is_a_failure() -> None:
    def check(_: int, counts: Counter[str]) -> None:
        while True:
            pass

    [told] = search(Part(lambda: st.just(0), check, size=1, seconds=0.1), 1, Counter())
    assert "TimeoutError: It took longer than 0.1 seconds" in told
