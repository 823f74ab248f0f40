import pytest

from ltn.fuzzy_ops.base import Operator


@pytest.fixture
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators are compiled at their first call, not after a hundred."""
    monkeypatch.setattr(Operator, "_patience", 0)
