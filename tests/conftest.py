"""Settings shared by all tests: repeatable randomness, and one place that says how hard to search."""

import os

import keras
import pytest
from hypothesis import settings

# LTN_TEST_EXAMPLES=1000 searches wider than the quick default.
settings.register_profile(
    "ltn", derandomize=True, deadline=None, max_examples=int(os.environ.get("LTN_TEST_EXAMPLES", "25"))
)
settings.load_profile("ltn")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    keras.utils.set_random_seed(0)
