"""What all tests share is a plugin, `tests.session`: the process that hands tests out does without it."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    # It imports TensorFlow, for five seconds; where other processes run the tests, this one does not need it.
    if not config.getoption("numprocesses", None):
        config.pluginmanager.import_plugin("tests.session")
