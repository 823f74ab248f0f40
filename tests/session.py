"""Settings shared by all tests: repeatable randomness, devices, one place that says how hard to search."""

import gc
import os
from collections.abc import Iterator

import keras
import pytest
import tensorflow as tf
from hypothesis import settings

from ltn.fuzzy_ops.base import Operator
from tests import fresh, kernels

# One thread for each process, also for those that tests start: the tests run on all cores already, and their
# operations are too small to share.
os.environ |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}

# Three devices, for the tests of replicas; all others use the first one. TensorFlow takes this only before it
# does anything else.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)

kernels.keep()

# What Grappler makes of a graph is TensorFlow's own affair, and takes a tenth of the time. It works in the
# processes that tests start, and in the files that are about compiled code.
GRAPPLER = "disable_meta_optimizer"
tf.config.optimizer.set_experimental_options({GRAPPLER: True})

# LTN_TEST_EXAMPLES=1000 searches wider than the quick default.
settings.register_profile(
    "ltn", derandomize=True, deadline=None, max_examples=int(os.environ.get("LTN_TEST_EXAMPLES", "25"))
)
settings.load_profile("ltn")


@pytest.fixture(scope="session", autouse=True)
def _fresh_processes() -> Iterator[None]:
    yield
    fresh.stop()


@pytest.fixture(scope="module", autouse=True)
def _collected() -> None:
    """A search for garbage passes over what was alive before the file.

    TensorFlow and Keras keep what they compiled, after some files gigabytes. `clear_session`, which every run
    of an experiment calls, would go through all of it: half a second and more for each call.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    keras.utils.set_random_seed(0)


@pytest.fixture
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators are compiled at their first call, not after a hundred."""
    monkeypatch.setattr(Operator, "_patience", 0)


@pytest.fixture(scope="module")
def grappler() -> Iterator[None]:
    """TensorFlow optimises the graphs of this file, as it does for users."""
    tf.config.optimizer.set_experimental_options({GRAPPLER: False})
    yield
    tf.config.optimizer.set_experimental_options({GRAPPLER: True})
