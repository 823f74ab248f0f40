"""Callbacks for the training of a theory.

All Keras callbacks work with a theory; its logs hold the satisfaction and the value of each axiom, so that
`keras.callbacks.TensorBoard` draws a curve for each.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from ltn import files
from ltn._private import start_at_epoch
from ltn.errors import LogicError, LogicFileError, LogicTypeError, LogicValueError
from ltn.evaluation.lacking import is_lacking
from ltn.knowledge.axioms import Axiom
from ltn.semantics import LogSemantics, Semantics
from ltn.theory import KnowledgeModel, Theory
from ltn.training.remembered import changed, decode, encode, remembered
from ltn.training.schedules import ByEpoch, check_epochs, value_at

__all__ = ["Backup", "Schedule"]

_EPOCH = re.compile(r"epoch-[0-9]+\.npz")


class Backup(keras.callbacks.Callback):
    """Keep the state of training after every epoch, so that an interrupted run goes on to the same result.

    A program that is started again with the same folder begins after the last epoch that was finished,
    with the weights and the optimizer as they were. Other callbacks go on with what they remember in numbers,
    text and arrays, as `keras.callbacks.ReduceLROnPlateau` does. When training ends, the backup is removed.
    The process may be killed at any moment. The first of several workers writes the backup and all read it:
    all of them must see the folder.

    The result is the same to the bit if the order of batches is: with `shuffle=False`; or, after
    `keras.utils.set_random_seed`, for data that are a dictionary, or the arrays of a model with knowledge. A
    data set must give each epoch the same batches; rows that are `unlabelled` are shuffled anew.

    Args:
        folder: where the backup is kept; it is created if need be.

    Attributes:
        companions: the other callbacks, which `fit` names.

    >>> import ltn, tempfile
    >>> backup = ltn.callbacks.Backup(tempfile.mkdtemp())

    It is given to `theory.fit(data, epochs=20, callbacks=[backup])`.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        super().__init__()
        self.folder = Path(folder)
        self.companions: list[keras.callbacks.Callback] = []
        # What they remembered when the training began, before they were told more.
        self._at_first: dict[str, dict[str, Any]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        """Go on from the last epoch that was finished."""
        self._at_first = {
            name: copy.deepcopy(remembered(callback)) for name, callback in self._named().items()
        }
        found = self._files()
        if not found:
            return
        kept, notes = self._read(found[-1])
        with self.model.distribute_strategy.scope():
            # Keras may build the optimizer only with the first step.
            if not self.model.optimizer.built:
                self.model.optimizer.build(self.model.trainable_variables)
            variables = self._variables()
            shapes = {name: tuple(variable.shape) for name, variable in variables.items()}
            if {name: values.shape for name, values in kept.items() if name.isdigit()} != shapes:
                raise LogicValueError(
                    f"The backup {found[-1]} is of other weights or of another optimizer than those that are "
                    "trained: give another folder, or remove it."
                )
            for name, variable in variables.items():
                variable.assign(kept[name])
        for name, callback in self._named().items():
            vars(callback).update(notes["callbacks"].get(name, {}))
        start_at_epoch(self.model, self.params["epochs"] if notes["stopped"] else self._epoch(found[-1]))

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Leave nothing behind for another training, should this one be interrupted."""
        start_at_epoch(self.model, None)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the backup; a file appears only when it is whole."""
        if not self._writes():
            return
        kept = {name: variable.numpy() for name, variable in self._variables().items()}
        kept["notes"] = np.frombuffer(self._notes(kept).encode(), np.uint8)
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self.folder / f"epoch-{epoch + 1}.npz"
        with files.replacing(written) as unfinished:
            np.savez(unfinished, **kept)
        self._remove(but=written)

    def on_train_end(self, logs: Any = None) -> None:
        """Remove the backup, which is no longer needed."""
        start_at_epoch(self.model, None)
        if self._writes():
            self._remove()

    def _variables(self) -> dict[str, Any]:
        # All but the metrics, which begin anew with each epoch, and which all workers would have to read.
        metrics = {id(variable) for metric in self.model.metrics for variable in metric.variables}
        variables = [*self.model.variables, *self.model.optimizer.variables]
        kept = [variable for variable in variables if id(variable) not in metrics]
        return {f"{number}": variable for number, variable in enumerate(kept)}

    def _named(self) -> dict[str, keras.callbacks.Callback]:
        """The other callbacks by the names of their classes, numbered."""
        kinds = [type(callback).__name__ for callback in self.companions]
        names = [f"{kind} {kinds[:place].count(kind)}" for place, kind in enumerate(kinds)]
        return dict(zip(names, self.companions, strict=True))

    def _notes(self, arrays: dict[str, np.ndarray]) -> str:
        """What the others remember, and whether one of them has ended the training; arrays go to `arrays`."""
        told = {
            name: changed(self._at_first.get(name, {}), remembered(callback))
            for name, callback in self._named().items()
        }
        return json.dumps({"callbacks": encode(told, arrays), "stopped": bool(self.model.stop_training)})

    @staticmethod
    def _read(file: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The arrays in a backup, and its notes."""
        try:
            arrays = files.read_arrays(file)
            if "notes" not in arrays:
                # An earlier version wrote the variables alone.
                return arrays, {"callbacks": {}, "stopped": False}
            notes = json.loads(arrays["notes"].tobytes())
            told = decode(notes["callbacks"], arrays)
            callbacks = {name: dict(memory) for name, memory in told.items()}
            return arrays, {"callbacks": callbacks, "stopped": bool(notes["stopped"])}
        except Exception as error:
            reason = error if isinstance(error, LogicError) else files.unreadable(str(file), error)
            raise LogicFileError(f"{reason} Remove this backup, and the training begins anew.") from error

    def _files(self) -> list[Path]:
        found = [file for file in self.folder.glob("epoch-*.npz") if _EPOCH.fullmatch(file.name)]
        return sorted(found, key=self._epoch)

    def _remove(self, but: Path | None = None) -> None:
        """Remove what is in the folder of this backup, also what was left unfinished, but one file."""
        for file in (*self._files(), *self.folder.glob(".unfinished-*-epoch-*.npz")):
            if file != but:
                file.unlink()

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

    What the operators of the theory lack is passed over with a warning, as in `theory.set_hyperparameters`.

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
        is_applicable = not is_lacking(theory.semantics, self.name)
        for value in self.values.values() if is_applicable and isinstance(self.values, Mapping) else ():
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
