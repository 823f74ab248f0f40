"""The line that Keras prints while it trains or evaluates: loss, satisfaction and the worst axiom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras

from ltn.knowledge.axioms import KnowledgeBase

_FIRST = ("loss", "satisfaction", "worst")


class Worst(float):
    """The truth of the worst axiom; with its name where Keras writes it into the line.

    >>> f"{Worst(0.25, 'all') / 1:.4f}"
    '0.2500 (all)'
    """

    name: str

    def __new__(cls, truth: float, name: str) -> Worst:
        """A number that knows the axiom that it belongs to."""
        worst = super().__new__(cls, truth)
        worst.name = name
        return worst

    # Keras divides each number by how many steps it stands for, and formats the quotient.
    def __truediv__(self, count: float) -> Worst:
        return Worst(float(self) / count, self.name)

    def __format__(self, spec: str) -> str:
        return f"{float(self):{spec}} ({self.name})"


class ProgressLine(keras.callbacks.ProgbarLogger):
    """Keras's own line without the axioms, and with the worst of them: logs and history keep them all.

    Args:
        knowledge: whose axioms are in the logs by name; those that do not count cannot be the worst.
    """

    # It reads the logs alone: Keras need not wait for it.
    async_safe = True

    def __init__(self, knowledge: KnowledgeBase):
        super().__init__()
        self._knowledge = knowledge
        # Whether each axiom counts, by name.
        self._counts: dict[str, bool] = {}

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin a line."""
        self._note_axioms()
        super().on_epoch_begin(epoch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Begin a line, unless `fit` validates."""
        self._note_axioms()
        super().on_test_begin(logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Write the line anew."""
        super().on_train_batch_end(batch, self._shown(logs))

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Write the line anew, unless `fit` validates."""
        super().on_test_batch_end(batch, self._shown(logs))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """End the line."""
        super().on_epoch_end(epoch, self._shown(logs))

    def on_test_end(self, logs: Any = None) -> None:
        """End the line, unless `fit` validates."""
        super().on_test_end(self._shown(logs))

    def _note_axioms(self) -> None:
        self._counts = {axiom.name: axiom.share > 0.0 for axiom in self._knowledge.axiom_list}

    def _shown(self, logs: Mapping[str, Any] | None) -> dict[str, Any]:
        shown = self._shorten(logs)
        # The logs are running means: Keras before 3.13 would take the mean of these once more.
        self.progbar.stateful_metrics = set(shown)
        return shown

    def _shorten(self, logs: Mapping[str, Any] | None) -> dict[str, Any]:
        """What is shown of the logs, in its order."""
        shown = dict(logs or {})
        for prefix in ("", "val_"):
            truths = {name: shown.pop(prefix + name, None) for name in self._counts}
            known = [name for name, truth in truths.items() if truth is not None and self._counts[name]]
            if known:
                # What is not a number is worse than any number.
                worst = min(known, key=lambda name: (truths[name] == truths[name], truths[name]))
                shown[f"{prefix}worst"] = Worst(truths[worst], worst)
        order = [prefix + name for prefix in ("", "val_") for name in _FIRST]
        of_training = [name for name in shown if name not in order and not name.startswith("val_")]
        names = [*order[:3], *of_training, *order[3:], *shown]
        return {name: shown[name] for name in dict.fromkeys(names) if name in shown}


def with_line(callbacks: Any, knowledge: KnowledgeBase) -> Any:
    """Callbacks for Keras with a `ProgressLine` in place of its own, unless they have a line of their own."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    given = keras.tree.flatten(callbacks or [])
    if any(isinstance(callback, keras.callbacks.ProgbarLogger) for callback in given):
        return given
    return [*given, ProgressLine(knowledge)]
