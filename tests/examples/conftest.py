"""Data only from the repository: no folder, cache or download of the machine decides what a test sees."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.harness import data


@pytest.fixture(autouse=True)
def _shipped_data_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LTN_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setattr(data, "REAL_ESTATE_ORIGIN", (tmp_path / "nowhere.csv").as_uri())
    for cached in (data.sales, data.mnist):
        cached.cache_clear()
    yield
    for cached in (data.sales, data.mnist):
        cached.cache_clear()
