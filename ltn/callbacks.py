"""Callbacks for the training of a theory.

All Keras callbacks work with a theory; its logs hold the satisfaction and the value of each axiom, so that
`keras.callbacks.TensorBoard` draws a curve for each.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from ltn._private import start_at_epoch
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge.axioms import Axiom
from ltn.semantics import LogSemantics, Semantics
from ltn.theory import KnowledgeModel, Theory
from ltn.training.schedules import ByEpoch, check_epochs, value_at

__all__ = ["Backup", "Schedule"]


class Backup(keras.callbacks.Callback):
    """Keep the state of training after every epoch, so that an interrupted run goes on to the same result.

    A program that is started again with the same folder begins after the last epoch that was finished,
    with the weights and the optimizer as they were; when training ends, the backup is removed. The first of
    several workers writes it and all read it: all of them must see the folder. The result is the same if the
    order of batches is: with `shuffle=False`, or, with several replicas, for data that are a dictionary and a
    seed set by `keras.utils.set_random_seed`.

    Args:
        folder: where the backup is kept; it is created if need be.

    >>> import ltn, tempfile
    >>> backup = ltn.callbacks.Backup(tempfile.mkdtemp())

    It is given to `theory.fit(data, epochs=20, callbacks=[backup])`.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        super().__init__()
        self.folder = Path(folder)

    def on_train_begin(self, logs: Any = None) -> None:
        """Go on from the last epoch that was finished."""
        found = self._files()
        if not found:
            return
        with np.load(found[-1]) as values, self.model.distribute_strategy.scope():
            # Keras may build the optimizer only with the first step.
            if not self.model.optimizer.built:
                self.model.optimizer.build(self.model.trainable_variables)
            variables = self._variables()
            kept = {name: values[name].shape for name in values}
            if kept != {name: tuple(variable.shape) for name, variable in variables.items()}:
                raise LogicValueError(
                    f"The backup {found[-1]} is of other weights or of another optimizer than those that are "
                    "trained: give another folder, or remove it."
                )
            for name, variable in variables.items():
                variable.assign(values[name])
        start_at_epoch(self.model, self._epoch(found[-1]))

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Leave nothing behind for another training, should this one be interrupted."""
        start_at_epoch(self.model, None)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the backup; a file appears only when it is whole."""
        if not self._writes():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        before = self._files()
        unfinished = self.folder / "unfinished.npz"
        np.savez(unfinished, **{name: variable.numpy() for name, variable in self._variables().items()})
        os.replace(unfinished, self.folder / f"epoch-{epoch + 1}.npz")
        for file in before:
            file.unlink()

    def on_train_end(self, logs: Any = None) -> None:
        """Remove the backup, which is no longer needed."""
        start_at_epoch(self.model, None)
        for file in self._files() if self._writes() else []:
            file.unlink()

    def _variables(self) -> dict[str, Any]:
        # All but the metrics, which begin anew with each epoch, and which all workers would have to read.
        metrics = {id(variable) for metric in self.model.metrics for variable in metric.variables}
        variables = [*self.model.variables, *self.model.optimizer.variables]
        kept = [variable for variable in variables if id(variable) not in metrics]
        return {f"{number}": variable for number, variable in enumerate(kept)}

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("epoch-*.npz"), key=self._epoch)

    @staticmethod
    def _epoch(file: Path) -> int:
        return int(file.stem.removeprefix("epoch-"))

    def _writes(self) -> bool:
        cluster = self.model.distribute_strategy.cluster_resolver
        workers = {} if cluster is None else cluster.cluster_spec().as_dict()
        first = "chief" if "chief" in workers else "worker"
        return not workers or (cluster.task_type, cluster.task_id) == (first, 0)


class Schedule(keras.callbacks.Callback):
    """Change a hyper-parameter of the operators with the epochs, without compiling anything again.

    Args:
        name: the hyper-parameter, such as "p_forall", "p_exists", "p_satagg", or any of
            `theory.hyperparameters`.
        values: from epochs to values, each in force from its epoch on: {0: 1, 4: 2, 8: 6}; or a
            function of the epoch.
        axiom: the name of an axiom, to change it there only.

    `Schedule("weight", values, axiom="name")` changes the weight of an axiom; without an axiom, the weight of
    all knowledge in a model of `ltn.with_knowledge`.

    >>> import ltn
    >>> schedule = ltn.callbacks.Schedule("p_exists", {0: 1, 4: 2, 8: 6})
    >>> [schedule.value(epoch) for epoch in (0, 3, 4, 20)]
    [1, 1, 2, 6]

    It is given to `theory.fit(data, epochs=20, callbacks=[schedule])`.
    """

    def __init__(
        self,
        name: str,
        values: ByEpoch,
        axiom: str | None = None,
    ):
        super().__init__()
        _check_name(name)
        self.name = name
        self.values = check_epochs(values)
        self.axiom = axiom

    def value(self, epoch: int) -> float:
        """The value that is in force in an epoch."""
        return value_at(self.values, epoch)

    def set_model(self, model: Any) -> None:
        """Make the hyper-parameter a variable, before Keras compiles the steps."""
        super().set_model(model)
        theory = model.theory if isinstance(model, KnowledgeModel) else model
        if not isinstance(theory, Theory):
            raise LogicTypeError(f"Schedule is for the training of an ltn.Theory; got {model!r}.")
        self._theory = theory
        if self.name == "weight":
            self._set_weight = self._find_weight(model, theory)
            return
        for value in self.values.values() if isinstance(self.values, Mapping) else ():
            theory.semantics.with_hyperparameters(**{self.name: value})
        current = theory.hyperparameters
        own = f"{self.axiom}.{self.name}"
        theory.set_hyperparameters(self.axiom, **{self.name: current.get(own, current.get(self.name))})

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Set the value of the epoch."""
        if self.name == "weight":
            self._set_weight(self.value(epoch))
        else:
            self._theory.set_hyperparameters(self.axiom, **{self.name: self.value(epoch)})

    def _find_weight(self, model: Any, theory: Theory) -> Callable[[float], None]:
        """What sets the weight that is meant."""
        owner = model if self.axiom is None else theory.find(self.axiom)
        if not isinstance(owner, KnowledgeModel | Axiom):
            raise LogicValueError(
                "A theory has no weight of its own, but each axiom has one: "
                'Schedule("weight", values, axiom="name").'
            )
        return lambda weight: setattr(owner, "weight", weight)


def _check_name(name: Any) -> None:
    """Raise for what is no hyper-parameter of any operator; the semantics of a theory may lack others."""
    symbols = [field.name.lower() for kind in (Semantics, LogSemantics) for field in dataclasses.fields(kind)]
    if not isinstance(name, str) or (name != "weight" and name.rpartition("_")[2] not in symbols):
        raise LogicTypeError(
            f"There is no hyper-parameter `{name}`: a schedule is for one of an operator, as 'p_forall' or "
            "'stable_exists', or for 'weight'. theory.hyperparameters has the names."
        )
