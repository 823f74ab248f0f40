"""The trainer: how a Keras model learns to satisfy a knowledge base."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from ltn import _private
from ltn.checks import check_whole, find_in_keras
from ltn.evaluation import replicas
from ltn.evaluation.groundings import ROW_WEIGHTS
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.data import Data, as_logic_errors, read_batch, with_weights
from ltn.knowledge.satisfaction import Satisfaction, note
from ltn.training import compilation, culprits, distribution
from ltn.training.feeding import Feeding, has_end, introduce
from ltn.training.finite import FiniteSteps, check_on_nan
from ltn.training.progress import with_line
from ltn.training.steps import EVALUATE, AxiomMeans, CompiledStep, Logs, evaluate
from ltn.training.trials import Trials


class Trainer:
    """The loss of a knowledge base, the steps that lower it, and what they log.

    Args:
        model: a Keras model that gives the `Satisfaction` of a batch, called with `as_truths=False`; its
            weights are those that are learned.
        knowledge: what is to be satisfied.
        regularizer: R with its factor lambda, a Keras regularizer of all weights that are learned.
    """

    def __init__(self, model: Any, knowledge: KnowledgeBase, regularizer: Any = None):
        self._model = model
        self._knowledge = knowledge
        self.regularizer = regularizer
        self._means: AxiomMeans | None = None
        # Saved as it was given: "auto" is decided by the device on which the model is loaded.
        self._jit_compile: bool | str = "auto"
        self._preparing = threading.Lock()
        # The version of the knowledge base for which a first batch was tried.
        self._tried: int | None = None
        self.finite = FiniteSteps(model, self._explain, self.batches)
        knowledge.subscribe(self._renew_functions)

    @property
    def regularizer(self) -> Any:
        """R with its factor lambda; None where there is none."""
        return self._regularizer

    @regularizer.setter
    def regularizer(self, regularizer: Any) -> None:
        self._regularizer = find_in_keras("regularizer", keras.regularizers.get, regularizer)

    # The methods of a Keras model

    def compile(
        self,
        /,
        optimizer: Any = "adam",
        *args: Any,
        jit_compile: bool | str = "auto",
        on_nan: str = "raise",
        **kwargs: Any,
    ) -> None:
        """Choose the optimizer; all arguments but `on_nan` are those of `keras.Model.compile`.

        A theory is its own loss: it takes no `loss`, and no metrics of targets. With `jit_compile="auto"`
        XLA compiles the steps where there is a GPU, and on a CPU only in long trainings that are known to
        profit; `True` or `False` overrides that. The numbers are the same to float precision,
        except for dropout, for which XLA draws other random numbers.

        `on_nan` says what becomes of a step whose loss or gradients are not finite, since data or networks
        give NaN. It is not applied: with "raise" training ends there, and the error names the batch, and the
        variable or the symbol that is to blame; with "skip" training goes on with the next batch, and the
        logs leave it out. With "ignore" it is applied, and makes the weights NaN.
        """
        model = self._model
        compilation.check_compile(optimizer, jit_compile, **kwargs)
        compilation.check_arguments(model.distribute_strategy, args, kwargs)
        self.finite.on_nan = check_on_nan(on_nan)
        self._jit_compile = jit_compile
        jit = compilation.choose_xla(model.distribute_strategy, jit_compile, kwargs.get("run_eagerly"))
        model.use_xla(jit)
        keras.Model.compile(model, optimizer, jit_compile=jit, **kwargs)

    def get_compile_config(self) -> Any:
        """How the model was compiled; its optimizer has its variables, so that they can be saved."""
        self._prepare_optimizer()
        config = keras.Model.get_compile_config(self._model)
        return config and config | {"jit_compile": self._jit_compile, "on_nan": self.finite.on_nan}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as a saved model was, with the variables of its optimizer."""
        compilation.compile_from_config(self._model, config)

    def fit(
        self,
        /,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        *,
        starts: int | None = None,
        trial_steps: int | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Learn: make the axioms true on the data.

        With `sample_weight=w`, numbers from 0 up, a row of weight w counts w times: a quantifier over
        variables x_1, ..., x_h of the batch aggregates each combination of rows i_1, ..., i_h with the weight
        w[i_1] * ... * w[i_h], and the rows of a `diag` count once. For a mean that is

            forall x: P(x)  =  sum_i w[i] P(x[i]) / sum_i w[i]

        A row of weight 0 is absent, one of weight 2 is there twice; other individuals than rows of the data
        weigh 1. Logs are means over batches that count by the sums of their weights.

        Args:
            x: a dictionary from names of variables to arrays with the same number of individuals; or a
                `tf.data.Dataset`, a `keras.utils.PyDataset` or a generator of such dictionaries, or of tuples
                (dictionary, None, sample_weight).
                None where the axioms need no data: then an epoch is one step, or `steps_per_epoch`.
            y: None; labels are variables too.
            batch_size, epochs, verbose, callbacks, kwargs: as for `keras.Model.fit`, also `sample_weight`,
                and `validation_data`, which are like `x` or (x, None, sample_weight).
            starts: how many initialisations are tried before the first epoch; training goes on with the one
                of the lowest loss. The first is the theory as it is, by default the only one; for each other
                one all weights that are trainable are drawn anew by their initialisers, propositions from
                [0, 1]: freeze what must stay. Data are read anew for each; of a generator the batches of a
                trial are kept. If a trial is interrupted, the theory is as it was. `history.starts` tells how
                each start did.
            trial_steps: for how many steps each of them is trained; by default for a fifth of all steps
                that are planned, so that 5 starts double the time.

        Returns:
            The history: `loss`, `satisfaction` and each axiom by name, for each epoch. The line that is
            printed shows the worst axiom only.

        >>> import ltn
        >>> keras.utils.set_random_seed(1)
        >>> theory = ltn.Theory()
        >>> A = theory.proposition("A", 0.2, trainable=True)
        >>> axiom = theory.axiom("A")
        >>> theory.compile("sgd")
        >>> history = theory.fit(epochs=20, starts=3, verbose=0)
        >>> history.starts.round(2)
               loss  satisfaction  steps  chosen
        start
        1      0.77          0.23      4   False
        2      0.21          0.79      4    True
        3      0.71          0.29      4   False
        """
        model = self._model
        settings = {"batch_size": batch_size, "epochs": epochs, "verbose": verbose, "callbacks": callbacks}
        compilation.check_fit(settings | kwargs)
        for name, count in (("starts", starts), ("trial_steps", trial_steps)):
            if count is not None:
                check_whole(name, count)
        callbacks = introduce(callbacks)
        if verbose:
            callbacks = with_line(callbacks, self._knowledge)
        settings["callbacks"] = callbacks
        can_be_endless = model.compiled and model.steps_per_execution == 1
        fed, first = self._feeding().for_fit(x, y, settings | kwargs, can_be_endless)
        tried = None
        if starts is not None and starts > 1:
            batches, steps = self._feeding().for_trials(fed, trial_steps)
            # Networks that are built with the first batch are, before any of them is initialised anew.
            first = first or self._batch(next(iter(batches)))
            tried = Trials(starts, steps, batches, verbose != 0)
            fed["callbacks"] = [*keras.tree.flatten(fed["callbacks"] or []), tried]
        self._try(first)
        self._prepare_optimizer()
        with as_logic_errors(has_end(fed)):
            history = keras.Model.fit(model, **fed)
        last = {name: values[-1] for name, values in history.history.items() if values}
        note(self._knowledge.axiom_list, last, "the last epoch of fit")
        if tried is not None:
            history.starts = tried.results
        return history

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """The loss, the satisfaction and the value of each axiom, averaged over batches of the data.

        A list in the order of `theory.metrics_names`; with `return_dict=True` a dictionary by name. The data,
        and `sample_weight`, are as for `fit`.
        """
        given = {"batch_size": batch_size, **dict(zip(EVALUATE[3:], args, strict=False)), **kwargs}
        if _private.is_validation(kwargs):
            return keras.Model.evaluate(self._model, x, **given)
        compilation.check_fit(given)
        if given.get("verbose", "auto"):
            given["callbacks"] = with_line(given.get("callbacks"), self._knowledge)
        fed = self._feeding().for_evaluate(x, y, given)
        with as_logic_errors(has_end(fed)):
            found = evaluate(partial(keras.Model.evaluate, self._model), lambda: self.metrics_names, **fed)
        named = found if isinstance(found, dict) else dict(zip(self.metrics_names, found, strict=False))
        note(self._knowledge.axiom_list, named, "evaluate")
        return found

    def predict(
        self, x: Any = None, batch_size: int | None = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """The satisfaction and the value of each axiom, an array with one entry per batch of the data."""
        names = ("verbose", "steps", "callbacks")
        kwargs |= {"batch_size": batch_size, **dict(zip(names, args, strict=False))}
        compilation.check_fit(kwargs)
        fed = self._feeding().for_evaluate(x, None, kwargs)
        with as_logic_errors(has_end(fed)):
            found = keras.Model.predict(self._model, **fed)
        # All replicas return the same.
        count = self._model.distribute_strategy.num_replicas_in_sync
        return {name: values[::count] for name, values in found.items()}

    def train_step(self, data: Any) -> Logs:
        """One step of gradient descent on 1 - SatAgg."""
        return self.finite.attempt(partial(self._step, data), data, self._model.get_metrics_result)

    def _step(self, data: Any) -> Logs:
        model, batch = self._model, self._batch(data)
        moving = self.finite.moving(self.networks)
        with tf.GradientTape() as tape:
            found = model(batch, training=True, as_truths=False)
            loss = self._loss(found)
            # All replicas have the same loss, and the optimizer adds up their gradients.
            scaled = model.optimizer.scale_loss(loss / replicas.count())
        weights = model.trainable_variables
        gradients = zip(tape.gradient(scaled, weights), weights, strict=True)
        # A weight that no axiom mentions has no gradient.
        learned = [pair for pair in gradients if pair[0] is not None]
        applied = None
        if learned:
            applied = self.finite.apply(loss, learned, moving, data)
        else:
            warnings.warn("No axiom depends on a weight that is trainable: nothing is learned.", stacklevel=3)
        return self.finite.mark(self._log(batch, found, loss, applied), applied)

    def test_step(self, data: Any) -> Logs:
        """The logs of a batch, without learning from it."""
        batch = self._batch(data)
        found = self._model(batch, training=False, as_truths=False)
        return self._log(batch, found, self._loss(found))

    def make_train_function(self, force: bool = False) -> Any:
        """The function that `fit` calls for each batch; Keras makes it for several steps per execution."""
        model = self._model
        self.prepare_means()
        if self._is_left_to_keras():
            self.finite.make_train_function(force)
        elif model.train_function is None or force:
            before_xla = compilation.steps_left(model, self._jit_compile, self._knowledge, self.regularizer)
            model.train_function = self._function(model.train_step, before_xla, self.finite)
        return model.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """The function that `evaluate` calls for each batch."""
        model = self._model
        self.prepare_means()
        if self._is_left_to_keras():
            return keras.Model.make_test_function(model, force)
        if model.test_function is None or force:
            model.test_function = self._function(model.test_step)
        return model.test_function

    def reset_metrics(self) -> None:
        """Set all metrics to zero."""
        strategy = self._model.distribute_strategy
        if distribution.is_several(strategy):
            distribution.reset(strategy, self.metrics)
        else:
            keras.Model.reset_metrics(self._model)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The loss, and the means of the satisfaction and of each axiom; none before `compile`."""
        return [_private.loss_tracker(self._model), self.means] if self._model.compiled else []

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns: the loss, the satisfaction, and each axiom."""
        return ["loss", *self.means.names] if self._model.compiled else []

    @property
    def means(self) -> AxiomMeans:
        """The means of the satisfaction and of each axiom."""
        names = [axiom.name for axiom in self._knowledge.axiom_list]
        if self._means is None or self._means.names[1:] != names:
            with self._model.distribute_strategy.scope():
                self._means = AxiomMeans(names)
        return self._means

    def batches(self) -> int:
        """How many batches of the epoch were counted in the means."""
        # All replicas count the same.
        [sums, *_] = self._model.distribute_strategy.experimental_local_results(self.means.sums.value)
        return int(sums[0])

    def prepare_means(self) -> None:
        """Make the means, which a step needs: one that makes them is traced twice, and a replica cannot."""
        _ = self.means

    def penalty(self) -> tf.Tensor:
        """lambda R(theta), by the theory's own regularizer."""
        weights = [] if self.regularizer is None else self._model.trainable_variables
        return tf.add_n([tf.zeros(()), *(self.regularizer(weight) for weight in weights)])

    # The parts of a step

    def _loss(self, found: Satisfaction) -> tf.Tensor:
        return tf.add_n([self._knowledge.space.loss(found.total), self.penalty(), *self._model.losses])

    def _log(
        self, batch: Data, found: Satisfaction, loss: tf.Tensor, applied: tf.Tensor | None = None
    ) -> Logs:
        rows = tf.shape(next(iter(batch.values())))[0]
        size = replicas.total(tf.reduce_sum(batch[ROW_WEIGHTS]) if ROW_WEIGHTS in batch else rows)
        loss, size = self.finite.counted(loss, size, applied)
        _private.loss_tracker(self._model).update_state(loss, sample_weight=size)
        truths = self._knowledge.space.truth(tf.stack([found.total, *found.axioms]))
        self.means.update_state(truths, size, applied)
        return self._model.get_metrics_result()

    def _batch(self, data: Any) -> dict[str, Any]:
        """The dictionary of a batch, checked here: Keras would wrap an error that `call` raises."""
        x, _, weights = keras.utils.unpack_x_y_sample_weight(data)
        batch = read_batch(self._knowledge.signature, x)
        self._knowledge.check_complete(batch)
        return with_weights(batch, weights)

    # The functions that Keras calls

    def _is_left_to_keras(self) -> bool:
        one_device = not distribution.is_several(self._model.distribute_strategy)
        return one_device and (self._model.run_eagerly or self._model.steps_per_execution != 1)

    def _function(
        self,
        step: Callable[[Any], Logs],
        steps_before_xla: int | None = None,
        finite: FiniteSteps | None = None,
    ) -> Any:
        model = self._model
        if distribution.is_several(model.distribute_strategy):
            check = None if finite is None else finite.check
            return distribution.function_of(model.distribute_strategy, step, not model.run_eagerly, check)
        return CompiledStep(step, model.jit_compile, steps_before_xla, finite.fail if finite else None)

    def _renew_functions(self) -> None:
        """Make anew the functions that Keras calls, if there are any: what they compute has changed."""
        for kind in ("train", "test", "predict"):
            if getattr(self._model, f"{kind}_function") is not None:
                getattr(self._model, f"make_{kind}_function")(force=True)

    def _prepare_optimizer(self) -> None:
        """Give the optimizer its variables before the first step, also for symbols declared since."""
        if any(isinstance(network, keras.Layer) and not network.built for network in self.networks):
            return
        # A thread that saves meanwhile must not find some of its variables.
        with self._preparing, self._model.distribute_strategy.scope():
            if compilation.build_optimizer(self._model):
                self._renew_functions()

    @property
    def networks(self) -> list[Any]:
        """The groundings of all symbols."""
        return [symbol.network for symbol in self._knowledge.language.symbols.values()]

    def _explain(self, data: Any) -> str:
        strategy = self._model.distribute_strategy
        batches = data if distribution.is_several(strategy) and data is not None else [data]
        with strategy.scope():
            return culprits.of_theory(self._model, self._knowledge.language, batches, self._loss_of)

    def _loss_of(self, batch: Data) -> tf.Tensor:
        # Not the behaviour of networks in training, but its samples: all may be too many.
        return self._loss(self._model.call(batch, training=True, as_truths=False))

    def _feeding(self) -> Feeding:
        return Feeding(self._knowledge, self._model.distribute_strategy, self.finite.on_nan != "raise")

    def _try(self, batch: Data | None) -> None:
        """Evaluate the first batch, if it is known, eagerly, where truths and sizes are checked, once."""
        if batch is not None and self._tried != self._knowledge.version:
            with self._model.distribute_strategy.scope(), as_written():
                self._model.call(batch, training=True)
            self._tried = self._knowledge.version
