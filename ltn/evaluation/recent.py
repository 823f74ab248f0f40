"""What was found lately, kept for the next time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """The values that were used last, by key: `most` of them, however many questions a theory is asked.

    Several threads may use it at once.

    >>> recent = Recent[int](most=2)
    >>> [recent.get(key, lambda: len(key)) for key in ("a", "bb", "a", "ccc")]
    [1, 2, 1, 3]
    >>> list(recent.keys)
    ['a', 'ccc']
    """

    def __init__(self, most: int):
        self.most = most
        self._values: dict[Hashable, T] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value under a key; else what `make` gives, kept from now on."""
        with self._lock:
            if key in self._values:
                # To the end: what was not used for the longest time stands first.
                self._values[key] = self._values.pop(key)
                return self._values[key]
        # Outside the lock, since it may take long, or ask for something else that is kept here.
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self.most:
                del self._values[next(iter(self._values))]
        return value

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys, the one that was used last at the end."""
        return tuple(self._values)
