"""Callbacks for the training of a theory.

All Keras callbacks work with a theory; its logs hold the satisfaction and the value of each axiom, so that
`keras.callbacks.TensorBoard` draws a curve for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras

from ltn.errors import LogicTypeError, LogicValueError
from ltn.theory import KnowledgeModel, Theory

__all__ = ["Schedule"]


class Schedule(keras.callbacks.Callback):
    """Change a hyper-parameter of the operators with the epochs, without compiling anything again.

    Args:
        name: the hyper-parameter, as "p_forall", "p_exists", "p_satagg", or any of
            `theory.hyperparameters`.
        values: from epochs to values, each in force from its epoch on: {0: 1, 4: 2, 8: 6}; or a
            function of the epoch.
        axiom: the name of an axiom, to change it there only.

    >>> import ltn
    >>> schedule = ltn.callbacks.Schedule("p_exists", {0: 1, 4: 2, 8: 6})
    >>> [schedule.value(epoch) for epoch in (0, 3, 4, 20)]
    [1, 1, 2, 6]

    It is given to `theory.fit(data, epochs=20, callbacks=[schedule])`.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[int, float] | Callable[[int], float],
        axiom: str | None = None,
    ):
        super().__init__()
        if isinstance(values, Mapping):
            if not values or min(values) != 0:
                raise LogicValueError(f"`values` must begin with epoch 0; got {dict(values)!r}.")
        elif not callable(values):
            raise LogicTypeError(f"`values` must be a dictionary or a function of the epoch; got {values!r}.")
        self.name = name
        self.values = values
        self.axiom = axiom

    def value(self, epoch: int) -> float:
        """What is in force in an epoch."""
        if not isinstance(self.values, Mapping):
            return self.values(epoch)
        return self.values[max(start for start in self.values if start <= epoch)]

    def set_model(self, model: Any) -> None:
        """Make the hyper-parameter a variable, before Keras compiles the steps."""
        super().set_model(model)
        theory = model.theory if isinstance(model, KnowledgeModel) else model
        if not isinstance(theory, Theory):
            raise LogicTypeError(f"Schedule is for the training of an ltn.Theory; got {model!r}.")
        self._theory = theory
        for value in self.values.values() if isinstance(self.values, Mapping) else ():
            theory.semantics.with_hyperparameters(**{self.name: value})
        current = theory.hyperparameters
        own = f"{self.axiom}.{self.name}"
        theory.set_hyperparameters(self.axiom, **{self.name: current.get(own, current.get(self.name))})

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the value of the epoch."""
        self._theory.set_hyperparameters(self.axiom, **{self.name: self.value(epoch)})
