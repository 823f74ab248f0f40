"""The switch of checks in compiled code."""

import threading

import pytest
import tensorflow as tf

import ltn


def is_checked() -> bool:
    """Whether code that is compiled now contains checks."""
    P = ltn.Predicate.Lambda(lambda x: x + 2.0)
    try:
        tf.function(lambda x: P(ltn.Variable("x", x)).tensor)(tf.constant([0.0]))
    except tf.errors.InvalidArgumentError:
        return True
    return False


def test_each_thread_ends_its_own_debug() -> None:
    barrier = threading.Barrier(2)

    def first() -> None:
        with ltn.debug():
            barrier.wait()
            barrier.wait()

    def second() -> None:
        barrier.wait()
        with ltn.debug():
            barrier.wait()
            threads[0].join()

    threads = [threading.Thread(target=target) for target in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not is_checked()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_last_switch_counts(enabled: bool) -> None:
    with ltn.debug(not enabled):
        with ltn.debug(enabled):
            assert is_checked() is enabled
        assert is_checked() is not enabled
    assert not is_checked()
