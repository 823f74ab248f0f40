"""Steps of `evaluate` that draw samples: compiled once for each number of tuples that is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ltn.knowledge.axioms import KnowledgeBase


class SampledSteps:
    """The test functions of a model that draw samples, each in place of its own while it is asked for.

    Args:
        model: a Keras model, which makes its `test_function` where it has none.
        knowledge: the axioms whose quantifiers draw.
    """

    def __init__(self, model: Any, knowledge: KnowledgeBase):
        self._model = model
        self._knowledge = knowledge
        # By the version of the axioms, and the number of tuples.
        self._functions: dict[tuple[int, int], Any] = {}

    @contextlib.contextmanager
    def drawing(self, most: int | None) -> Iterator[None]:
        """Let `evaluate` draw `most` tuples; None for what it does without."""
        if most is None:
            yield
            return
        model, version = self._model, self._knowledge.version
        with model.distribute_strategy.scope():
            self._knowledge.seeds.make()
        with self._knowledge.seeds.evaluating(most):
            self._functions = {key: step for key, step in self._functions.items() if key[0] == version}
            own, model.test_function = model.test_function, self._functions.get((version, most))
            try:
                yield
                self._functions[version, most] = model.test_function
            finally:
                model.test_function = own
