"""The training of a theory, as Keras calls it."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import keras
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import replicas
from ltn.semantics import BaseSemantics
from ltn.theory import data as data_module
from ltn.theory import distribution, sources
from ltn.theory.axioms import Axiom
from ltn.theory.knowledge_base import KnowledgeBase
from ltn.theory.metrics import AxiomMeans
from ltn.theory.satisfaction import Satisfaction, satisfaction
from ltn.theory.steps import CompiledStep

Data = Mapping[str, Any]


class Training(KnowledgeBase):
    """A theory that learns: its steps, what they are fed, and what they log."""

    # Set by Keras.
    optimizer: Any
    train_function: Any
    test_function: Any

    def __init__(self, semantics: BaseSemantics, name: str | None, regularizer: Any, chunk: int | None):
        super().__init__(semantics, name=name)
        self.regularizer = keras.regularizers.get(regularizer)
        if chunk is not None and (
            isinstance(chunk, bool) or not isinstance(chunk, numbers.Integral) or chunk < 1
        ):
            raise LogicValueError(
                "`chunk` must be a number of combinations of individuals, at least 1, or None; "
                f"got {chunk!r}."
            )
        self.chunk: int | None = None if chunk is None else int(chunk)
        # Out of Keras's sight, which would keep the metrics of axioms that were replaced.
        self._state = SimpleNamespace(means=None, seen=None)

    def call(self, inputs: Data, training: bool | None = None, as_truths: bool = True) -> Any:
        """The satisfaction and the truth of every axiom for a batch of data, each of shape (1,).

        With `as_truths=False` they are as training needs them: a `Satisfaction`, whose values are
        logarithms where the semantics works with them.
        """
        space = self.space
        data = data_module.checked(self.signature, inputs)
        # XLA knows static shapes only: there guards are masks.
        dense = self.is_xla and not tf.executing_eagerly()
        found = satisfaction(
            self.axiom_list, self.options_of, self.evaluation(space, data, dense, chunk=self.chunk)
        )
        if not as_truths:
            return found
        truths = [space.truth(value)[tf.newaxis] for value in (found.total, *found.axioms)]
        return dict(zip(("satisfaction", *self._axioms), truths, strict=True))

    def compile(
        self, optimizer: Any = "adam", *args: Any, jit_compile: bool | str = "auto", **kwargs: Any
    ) -> None:
        """Choose the optimizer; all arguments are those of `keras.Model.compile`.

        A theory is its own loss: `loss` and metrics of targets are not for it. With
        `jit_compile="auto"` XLA compiles the steps where there is a GPU, and not on a CPU, where it slows
        convolutions down; `True` or `False` decide it yourself. The numbers are the same to float precision,
        but for dropout, of which XLA draws other random numbers.
        """
        given = kwargs | dict(zip(("loss", "loss_weights", "metrics"), args, strict=False))
        for argument in ("loss", "loss_weights", "metrics", "weighted_metrics"):
            if given.get(argument) is not None:
                raise LogicTypeError(
                    f"A theory takes no `{argument}`: its loss is 1 minus the satisfaction of its axioms, "
                    "and the logs hold the value of each. For a task loss beside it see ltn.with_knowledge."
                )
        if distribution.is_several(self.distribute_strategy):
            distribution.check_keras()
            if kwargs.get("steps_per_execution", 1) != 1:
                raise LogicValueError(
                    "Several replicas take one step at a time; got "
                    f"steps_per_execution={kwargs['steps_per_execution']!r}."
                )
        super().compile(optimizer, jit_compile=jit_compile, **kwargs)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Learn: make the axioms true on the data.

        Args:
            x: a dictionary from names of variables to arrays with the same number of individuals; or a
                `tf.data.Dataset`, a `keras.utils.PyDataset` or a generator of such dictionaries.
                None where the axioms need no data: then an epoch is one step, or `steps_per_epoch`.
            y: None; labels are variables too.
            batch_size, epochs, verbose, callbacks, kwargs: as for `keras.Model.fit`, also
                `validation_data`, which are as `x`.

        Returns:
            The history: `loss`, `satisfaction` and each axiom by name, for each epoch.
        """
        x = self._source(x, y, kwargs)
        first = (
            {name: values[: batch_size or 32] for name, values in x.items()} if isinstance(x, Mapping) else {}
        )
        if kwargs.get("validation_data") is not None:
            kwargs["validation_data"] = self._validation(kwargs)
        if distribution.is_several(self.distribute_strategy):
            x, batch_size, callbacks = self._divided(x, batch_size, callbacks, kwargs)
        elif isinstance(x, Mapping) and self._takes_endless_data(kwargs):
            size = batch_size or 32
            kwargs["steps_per_epoch"] = math.ceil(len(next(iter(x.values()))) / size)
            kwargs["validation_batch_size"] = kwargs.get("validation_batch_size") or size
            x, batch_size = sources.batches(x, size, kwargs.pop("shuffle", True)), None
        if not isinstance(x, Mapping):
            kwargs.setdefault("shuffle", False)
        self._look_at(first)
        self._prepare_optimizer()
        return super().fit(
            x, batch_size=batch_size, epochs=epochs, verbose=verbose, callbacks=callbacks, **kwargs
        )

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """The loss, the satisfaction and the value of each axiom, averaged over batches of the data."""
        names = ("verbose", "sample_weight", "steps", "callbacks", "return_dict")
        kwargs |= {"batch_size": batch_size, **dict(zip(names, args, strict=False))}
        if not kwargs.get("_use_cached_eval_dataset"):
            x = self._divided_once(self._source(x, y, kwargs, "steps"), kwargs, "batch_size", "steps")
        return super().evaluate(x, None, **kwargs)

    def predict(
        self, x: Any = None, batch_size: int | None = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """The satisfaction and the value of each axiom, an array with one entry per batch of the data."""
        names = ("verbose", "steps", "callbacks")
        kwargs |= {"batch_size": batch_size, **dict(zip(names, args, strict=False))}
        x = self._divided_once(self._source(x, None, kwargs, "steps"), kwargs, "batch_size", "steps")
        found = super().predict(x, **kwargs)
        # All replicas return the same.
        count = self.distribute_strategy.num_replicas_in_sync
        return {name: values[::count] for name, values in found.items()}

    def make_train_function(self, force: bool = False) -> Any:
        """What `fit` calls for each batch; Keras's own is left to several steps per execution."""
        if self._is_left_to_keras():
            return super().make_train_function(force)
        if self.train_function is None or force:
            self.train_function = self._function_of(self.train_step)
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """What `evaluate` calls for each batch."""
        if self._is_left_to_keras():
            return super().make_test_function(force)
        if self.test_function is None or force:
            self.test_function = self._function_of(self.test_step)
        return self.test_function

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One step of gradient descent on 1 - SatAgg."""
        batch = self._batch(data)
        with tf.GradientTape() as tape:
            found = self(batch, training=True, as_truths=False)
            loss = self._loss(found)
            # All replicas have the same loss, and the optimizer adds up their gradients.
            scaled = self.optimizer.scale_loss(loss / replicas.count())
        weights = self.trainable_variables
        gradients = zip(tape.gradient(scaled, weights), weights, strict=True)
        # A weight that no axiom mentions has no gradient.
        learned = [pair for pair in gradients if pair[0] is not None]
        if learned:
            self.optimizer.apply_gradients(learned)
        else:
            warnings.warn("No axiom depends on a weight that is trainable: nothing is learned.", stacklevel=2)
        return self._logs(batch, found, loss)

    def penalty(self) -> tf.Tensor:
        """lambda R(theta), by the theory's own regularizer."""
        weights = [] if self.regularizer is None else self.trainable_variables
        return tf.add_n([tf.zeros(()), *(self.regularizer(weight) for weight in weights)])

    def get_compile_config(self) -> dict[str, Any]:
        """How the theory was compiled; its optimizer has its variables, so that they can be saved."""
        self._prepare_optimizer()
        return super().get_compile_config()

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The logs of a batch, without learning from it."""
        batch = self._batch(data)
        found = self(batch, training=False, as_truths=False)
        return self._logs(batch, found, self._loss(found))

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The loss, and the means of the satisfaction and of each axiom."""
        return [self._loss_tracker, self._means] if self.compiled else []

    def reset_metrics(self) -> None:
        """Begin to count anew."""
        if distribution.is_several(self.distribute_strategy):
            distribution.reset(self.distribute_strategy, self.metrics)
        else:
            super().reset_metrics()

    def _get_metrics_result_or_logs(self, logs: Any) -> Any:
        # The logs of the last step hold the results, which are the same for all replicas.
        several = distribution.is_several(self.distribute_strategy)
        return logs if several else super()._get_metrics_result_or_logs(logs)

    @property
    def _means(self) -> AxiomMeans:
        means = self._state.means
        if means is None or means.names[1:] != list(self._axioms):
            with self.distribute_strategy.scope():
                self._state.means = AxiomMeans(list(self._axioms))
        return self._state.means

    def _loss(self, found: Satisfaction) -> tf.Tensor:
        return tf.add_n([self.space.loss(found.total), self.penalty(), *self.losses])

    def _logs(self, batch: Data, found: Satisfaction, loss: tf.Tensor) -> dict[str, tf.Tensor]:
        size = replicas.total(tf.shape(next(iter(batch.values())))[0])
        self._loss_tracker.update_state(loss, sample_weight=size)
        self._means.update_state(self.space.truth(tf.stack([found.total, *found.axioms])), size)
        return self.get_metrics_result()

    def _source(self, x: Any, y: Any, kwargs: dict[str, Any], steps: str = "steps_per_epoch") -> Any:
        given = {name: kwargs.get(name) for name in ("sample_weight", "class_weight")}
        sources.check_no_targets(y=y, **given)
        if sources.is_nothing(x):
            kwargs[steps] = kwargs.get(steps) or 1
        return sources.checked(self.signature, x, self._check_complete)

    def _is_left_to_keras(self) -> bool:
        one_device = not distribution.is_several(self.distribute_strategy)
        return one_device and (self.run_eagerly or self.steps_per_execution != 1)

    def _function_of(self, step: Any) -> Any:
        if distribution.is_several(self.distribute_strategy):
            return distribution.function_of(self.distribute_strategy, step, compiled=not self.run_eagerly)
        return CompiledStep(step, self.jit_compile)

    def _divided(
        self, x: Any, batch_size: int | None, callbacks: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, None, list[Any]]:
        """Data for training, divided among replicas, and the callbacks that it needs."""
        size = batch_size or 32
        callbacks = keras.tree.flatten(callbacks or [])
        if not isinstance(x, Mapping | tf.data.Dataset):
            raise LogicTypeError(
                "Several replicas take data as a dictionary of arrays, or as a tf.data.Dataset of batches; "
                f"got a {type(x).__name__}."
            )
        if kwargs.pop("validation_split", None):
            raise LogicValueError("Several replicas take `validation_data`, not `validation_split`.")
        if isinstance(x, Mapping):
            steps = kwargs.get("steps_per_epoch") or distribution.number_of_batches(x, size)
            kwargs["steps_per_epoch"] = steps
            beginning = distribution.Beginning(steps)
            callbacks = [beginning, *callbacks]
            shuffle = kwargs.pop("shuffle", True)
            x = distribution.batches(self.distribute_strategy, x, size, shuffle, beginning)
        kwargs.setdefault("validation_batch_size", size)
        if kwargs.get("validation_data") is not None:
            names = ("validation_batch_size", "validation_steps")
            kwargs["validation_data"] = self._divided_once(kwargs["validation_data"], kwargs, *names)
        return x, None, callbacks

    def _divided_once(self, x: Any, kwargs: dict[str, Any], batch_size: str, steps: str) -> Any:
        """Data that are not learned from; for several replicas divided among them."""
        if not distribution.is_several(self.distribute_strategy) or not isinstance(x, Mapping):
            return x
        size = kwargs.pop(batch_size, None) or 32
        kwargs[steps] = kwargs.get(steps) or distribution.number_of_batches(x, size)
        return distribution.batches(self.distribute_strategy, x, size)

    def _maybe_symbolic_build(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: a theory builds itself. Keras would average the individuals of all replicas to do it."""

    def _validation(self, kwargs: dict[str, Any]) -> Any:
        data = kwargs["validation_data"]
        x, y, *_ = (*data, None) if isinstance(data, tuple) else (data, None)
        return self._source(x, y, kwargs, "validation_steps")

    def _batch(self, data: Any) -> Data:
        """The dictionary of a batch, checked here, where Keras does not yet wrap what is wrong with it."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        batch = data_module.checked(self.signature, x)
        self._check_complete(batch)
        return batch

    def _check_complete(self, data: Data) -> None:
        """Raise where an axiom mentions a variable without individuals."""
        groundings = self.evaluation(self.space, data).groundings
        for axiom in self.axiom_list:
            for variable in axiom.variables:
                if groundings.source(variable) is None:
                    raise LogicValueError(f"Axiom '{axiom.name}': {groundings.missing(variable)}")

    def _open_variables(self, axiom: Axiom) -> list[str]:
        """The variables of an axiom that range over data only."""
        groundings = self.evaluation(self.space, {}).groundings
        return [variable for variable in axiom.variables if groundings.source(variable) is None]

    def _look_at(self, batch: Data) -> None:
        """Evaluate a first batch eagerly, where truth values and sizes are checked, once for these axioms."""
        seen = self._state.seen == self.version
        if not seen and (batch or not any(self._open_variables(axiom) for axiom in self.axiom_list)):
            with self.distribute_strategy.scope():
                self.call(batch)
            self._state.seen = self.version

    def _takes_endless_data(self, kwargs: dict[str, Any]) -> bool:
        """Whether epochs can be cut from one endless data set, with the same batches as Keras's own."""
        special = ("steps_per_epoch", "validation_split")
        return self.compiled and self.steps_per_execution == 1 and not any(kwargs.get(key) for key in special)

    def _prepare_optimizer(self) -> None:
        """Give the optimizer its variables before the first step, and those of symbols declared since."""
        with self.distribute_strategy.scope():
            self._build_optimizer()

    def _build_optimizer(self) -> None:
        networks = [symbol.network for symbol in self.symbols.values()]
        unbuilt = any(isinstance(network, keras.Layer) and not network.built for network in networks)
        if not self.compiled or self.optimizer is None or unbuilt:
            return
        weights = self.trainable_variables
        old = self.optimizer
        known = {id(weight) for weight in getattr(old, "_trainable_variables", [])}
        if old.built and known != {id(weight) for weight in weights}:
            # Keras fixes the weights of an optimizer when it is built: a new one takes over what it knows.
            values = {variable.path: variable.numpy() for variable in old.variables}
            self.optimizer = type(old).from_config(old.get_config())
            self.optimizer.build(weights)
            for variable in self.optimizer.variables:
                if variable.path in values:
                    variable.assign(values[variable.path])
            self._changed()
        else:
            old.build(weights)
