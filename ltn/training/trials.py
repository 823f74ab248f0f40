"""Trials: several initialisations learn for a short while, and training goes on with the best one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from ltn.errors import LogicValueError
from ltn.knowledge.initialisation import draw_weights, values_of


class Trials(keras.callbacks.Callback):
    """Before the first step of `fit`, try several starts, and go on with the best one.

    The first start is the model as it is, with its optimizer; each other one has fresh weights and a fresh
    optimizer. The start with the lowest loss, averaged over the last quarter of its steps, goes on from where
    its trial ended. If anything is raised before that, the model is as it was.

    As the last callback it begins the first epoch when all others have: a learning rate or a hyper-parameter
    that they set holds for the trials, whose steps they do not see. A run that a backup resumes has its
    start, and needs no trials.

    Args:
        starts: how many.
        steps: how many steps of training each start takes.
        batches: an endless data set; each start begins it anew.
        verbose: whether to print which start goes on.

    Attributes:
        results: a row for each start, once they were tried; None where there were no trials.
    """

    def __init__(self, starts: int, steps: int, batches: tf.data.Dataset, verbose: bool):
        super().__init__()
        self.results: pd.DataFrame | None = None
        self._starts = starts
        self._steps = steps
        self._batches = batches
        self._verbose = verbose
        self._are_due = True

    def set_model(self, model: Any) -> None:
        """Note how far the model is trained, to tell whether a backup takes it further."""
        super().set_model(model)
        self._steps_before = int(model.optimizer.iterations)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Try the starts, in the first epoch."""
        if self._are_due and int(self.model.optimizer.iterations) == self._steps_before:
            self.results = self._try_all()
            if self._verbose:
                print(_sentence(self.results))
        self._are_due = False

    def _try_all(self) -> pd.DataFrame:
        model = self.model
        state = [*model.variables, *model.optimizer.variables]
        before = best = values_of(state)
        # This raises for what cannot be drawn anew, before the first trial and not after it.
        _check_draws(draw_weights(model), draw_weights(model))
        rows: list[dict[str, float]] = []
        lowest, chosen = math.inf, 0
        try:
            for start in range(self._starts):
                if start > 0:
                    _assign(state, before)
                    self._begin_anew()
                rows.append(self._train())
                # A loss that is not a number is never the lowest.
                if rows[-1]["loss"] < lowest:
                    lowest, chosen, best = rows[-1]["loss"], start, values_of(state)
            _assign(state, best)
        except BaseException:
            _assign(state, before)
            raise
        finally:
            model.reset_metrics()
        places = pd.RangeIndex(1, self._starts + 1, name="start")
        return pd.DataFrame(rows, places).assign(steps=self._steps, chosen=places == chosen + 1)

    def _begin_anew(self) -> None:
        """Give the model fresh weights, and its optimizer the state of one that has not seen a gradient."""
        model, optimizer = self.model, self.model.optimizer
        _assign(model.trainable_variables, draw_weights(model))
        fresh = type(optimizer).from_config(optimizer.get_config())
        fresh.build(model.trainable_variables)
        _assign(optimizer.variables, values_of(fresh.variables))

    def _train(self) -> dict[str, float]:
        """The mean loss and satisfaction in the last quarter of the steps."""
        model, batches, logs = self.model, iter(self._batches), {}
        calls = math.ceil(self._steps / model.steps_per_execution)
        for call in range(calls):
            if call == calls * 3 // 4:
                model.reset_metrics()
            logs = model.train_function(batches)
        return {name: float(logs[name]) for name in ("loss", "satisfaction")}


def _check_draws(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> None:
    """Raise where starts would all be alike."""
    if all(map(np.array_equal, one, other)):
        raise LogicValueError(
            "Fresh starts would all have the same weights: no weight is trainable, or all initialisers are "
            "constants or have a `seed` of their own. Give them none; keras.utils.set_random_seed makes runs "
            "repeatable."
        )


def _assign(variables: Sequence[keras.Variable], values: Sequence[np.ndarray]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _sentence(results: pd.DataFrame) -> str:
    """Which start goes on, and how the others did."""
    [best], others = results.index[results["chosen"]], results["satisfaction"][~results["chosen"]]
    found = results["satisfaction"][best]
    return (
        f"Start {best} of {len(results)} goes on: satisfaction {found:.4f} after {results['steps'][best]} "
        f"steps; the others have {others.min():.4f} to {others.max():.4f}."
    )
