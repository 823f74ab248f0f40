"""A plugin of pytest for `make coverage`: it stores which tests run each line, and how long each takes.

What a fixture runs for several tests counts for all tests of the file.
"""

import json
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

TIMES = Path(__file__).parents[2] / ".coverage-times"
_seconds = defaultdict[str, float](float)
_last = time.process_time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    _switch_to(item.nodeid)
    outcome = yield
    _switch_to("")
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    # The time of the processor, which says more than that of a machine with much else to do.
    global _last
    report = yield
    report.duration, _last = time.process_time() - _last, time.process_time()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    if fixturedef.scope == "function":
        return (yield)
    test = request._pyfuncitem.nodeid
    _switch_to(test.partition("::")[0])
    value = yield
    _switch_to(test)
    return value


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    # The process that hands out the tests has the reports of all.
    if not hasattr(session.config, "workerinput"):
        known = json.loads(TIMES.read_text()) if TIMES.exists() else {}
        TIMES.write_text(json.dumps(known | _seconds))


def _switch_to(context: str) -> None:
    running = Coverage.current()
    if running is not None:
        running.switch_context(context)
