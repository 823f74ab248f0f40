"""Knowledge for a Keras model: its task loss, plus how much it violates the axioms of a theory."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from ltn import _private
from ltn.checks import check_whole
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import replicas
from ltn.knowledge.hyperparameters import check_weight
from ltn.language.forms import NUMBER, check_form
from ltn.theory import joining, writing
from ltn.theory.theory import Theory
from ltn.training import balance, collapse, compilation, culprits, distribution, mixture, steps
from ltn.training.feeding import introduce
from ltn.training.finite import FiniteSteps, check_on_nan
from ltn.training.schedules import ByEpoch, Scheduled, with_history

BALANCED = "balanced"
# What `get_config` gives, of the kinds that are not checked later.
_WEIGHTS = (*NUMBER, str, [[NUMBER]])
_FORM = {"model": dict, "theory": dict, "weight": _WEIGHTS, "inputs": (str, None), "targets": (str, None)}


def with_knowledge(
    model: keras.Model,
    theory: Theory,
    weight: float | str | ByEpoch = 1.0,
    inputs: str | None = None,
    targets: str | None = None,
    warmup: int = 0,
) -> KnowledgeModel:
    """A Keras model that is trained on its task and on a theory about it.

    `fit(x, y)` minimises task loss + weight * (1 - satisfaction), or, with `log_product`, minus the logarithm
    of the satisfaction. The result is compiled, trained, saved, loaded like the model itself, and predicts
    the same. `fit(x, y, unlabelled=more)` takes rows without targets, for the axioms alone, too.

    Args:
        model: the classifier, say, that also grounds a predicate or a function of the theory.
        theory: its axioms speak about a batch: the inputs `x`, and perhaps the targets `y`.
        weight: the weight of the axioms beside the task, at least 0: a number; a schedule, as
            `ltn.callbacks.Schedule` takes it: {0: 0.0, 5: 1.0}, or a function of the epoch; or "balanced":
            then each step finds a weight, 1 at most, so that the gradient of the axioms does not outgrow
            that of the task, and does not work against it; `ltn.training.balance` has the formula.
        inputs: the variable that ranges over the inputs; by default the only one that needs data. Where
            the inputs are a dictionary, its names are those of variables.
        targets: the variable that ranges over the targets, if one does.
        warmup: in how many epochs of a training, the first ones, the axioms do not count yet.

    >>> import ltn
    >>> classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    >>> theory = ltn.Theory()
    >>> points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["a", "b", "c"])
    >>> x = theory.variable("x", points)
    >>> P = theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(classifier, "sigmoid"))
    >>> axiom = theory.axiom("forall x: P(x, a) -> ~P(x, b)", name="not_both")
    >>> model = ltn.with_knowledge(classifier, theory, weight="balanced", warmup=1)
    >>> model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    >>> history = model.fit(tf.zeros((4, 2)), tf.zeros(4), unlabelled=tf.ones((8, 2)), epochs=2, verbose=0)
    >>> sorted(history.history)
    ['loss', 'not_both', 'satisfaction']
    """
    return KnowledgeModel(model, theory, weight, inputs, targets, warmup)


@keras.saving.register_keras_serializable(package="ltn")
class KnowledgeModel(keras.Model):
    """A Keras model with knowledge: see `with_knowledge`."""

    model: Any
    theory: Theory
    input_variable: str | None
    target_variable: str | None
    warmup: int
    _given: Scheduled | None
    _balance: balance.Balance | None
    _full_weight: float
    _weight: Any
    _spread: collapse.Spread
    _finite: FiniteSteps
    # Set by Keras.
    optimizer: Any
    train_function: Any

    def __init__(
        self,
        model: keras.Model,
        theory: Theory,
        weight: float | str | ByEpoch,
        inputs: str | None = None,
        targets: str | None = None,
        warmup: int = 0,
        name: str | None = None,
    ):
        super().__init__(name=name)
        joining.check(model, theory, inputs, targets)
        self.model = model
        self.theory = theory
        self.warmup = check_whole("warmup", warmup, "a number of epochs", least=0)
        # As it was given, where it is more than a number; a Keras model would track a dictionary.
        self._given = Scheduled(weight) if isinstance(weight, Mapping) or callable(weight) else None
        is_balanced = isinstance(weight, str) and weight == BALANCED
        self._balance = balance.Balance() if is_balanced else None
        if self._balance is not None:
            weight = balance.PROPORTION
        elif self._given is not None:
            weight = self._given.at(0)
        # The weight apart from a warm-up; of balanced axioms, the proportion of both gradients.
        self._full_weight = check_weight(weight, ', a schedule, or "balanced"')
        # A variable, which compiled steps read anew; Keras does not save it, the configuration holds it.
        self._weight = tf.Variable(self._full_weight, trainable=False, dtype=tf.float32)
        self.input_variable = inputs or joining.only_variable(theory, targets)
        self.target_variable = targets
        self._spread = collapse.Spread()
        self._finite = FiniteSteps(self, self._explain, theory.trainer.batches)
        self._versions: dict[str, int] = {}
        self.built = model.built

    @property
    def weight(self) -> float:
        """The weight of the axioms beside the task; a new one holds from the next step on.

        Of balanced axioms, the weight that was found in the last step.
        """
        return self._full_weight if self._balance is None else float(self._balance.weight)

    @weight.setter
    def weight(self, weight: float) -> None:
        if self._balance is not None:
            raise LogicValueError(
                f"The axioms are balanced: each step finds their weight; got {weight!r}. "
                "Join the model and the theory anew, with a weight."
            )
        self._full_weight = check_weight(weight)
        self._weight.assign(self._full_weight)

    def build(self, input_shape: Any) -> None:
        """Build the model within."""
        if not self.model.built:
            self.model.build(input_shape)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The prediction of the model."""
        return self.model(mixture.labelled_part(inputs), training=training)

    def compile(
        self,
        optimizer: Any = "adam",
        *args: Any,
        jit_compile: bool | str = "auto",
        on_nan: str = "raise",
        **kwargs: Any,
    ) -> None:
        """Like `keras.Model.compile`; XLA is chosen as for a theory, which is compiled with the model.

        `on_nan` is as for a theory: what becomes of a step whose loss or gradients are not finite.
        """
        # Saved as it was given: "auto" is decided by the device on which the model is loaded.
        compilation.check_compile(optimizer, jit_compile, **kwargs)
        self._asked_xla = jit_compile
        self._finite.on_nan = check_on_nan(on_nan)
        jit = compilation.choose_xla(self.distribute_strategy, jit_compile, kwargs.get("run_eagerly"))
        self.theory.use_xla(jit)
        super().compile(optimizer, *args, jit_compile=jit, **kwargs)

    def get_compile_config(self) -> Any:
        """How the model was compiled."""
        config = super().get_compile_config()
        return config and config | {"jit_compile": self._asked_xla, "on_nan": self._finite.on_nan}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as a saved model was, with the variables of its optimizer."""
        compilation.compile_from_config(self, config)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        *args: Any,
        unlabelled: Any = None,
        **kwargs: Any,
    ) -> Any:
        """As `keras.Model.fit`, also on rows without targets.

        Args:
            x, y, batch_size, epochs, verbose, callbacks, args, kwargs: as for `keras.Model.fit`.
            unlabelled: inputs without targets, like `x`; they are spread over the batches of an epoch. The
                names of a dictionary are those of variables; one that `x` grounds too ranges over both. Where
                `x` is a `tf.data.Dataset`, another one, of batches of inputs: a step takes a batch of each.
        """
        settings = dict(zip(("validation_split", "validation_data", "shuffle"), args, strict=False)) | kwargs
        given = {"batch_size": batch_size, "epochs": epochs, "verbose": verbose, "callbacks": callbacks}
        compilation.check_fit(given | settings)
        if "starts" in settings:
            raise LogicTypeError("`starts` is for theories; a model with knowledge takes none.")
        if unlabelled is not None:
            if settings.get("validation_split"):
                raise LogicValueError("With `unlabelled` give `validation_data`, not `validation_split`.")
            weights, shuffle = settings.pop("sample_weight", None), settings.pop("shuffle", True)
            x = mixture.mix(x, y, weights, unlabelled, batch_size, shuffle)
            y, batch_size, settings["shuffle"] = None, None, False
        try:
            return super().fit(
                x, y, batch_size, epochs, verbose, with_history(introduce(callbacks)), **settings
            )
        finally:
            self._weight.assign(self._full_weight)

    def begin_epoch(self, epoch: int) -> None:
        """Set the weight of an epoch, and compile again what callbacks have changed."""
        if self._given is not None:
            self._full_weight = check_weight(self._given.at(epoch))
        if self._given is not None or self.warmup:
            self._weight.assign(0.0 if epoch < self.warmup else self._full_weight)
        if self._versions.get("train") != self.theory.version:
            self.make_train_function()

    def end_epoch(self, epoch: int) -> None:
        """Warn where predictions have collapsed."""
        if epoch >= self.warmup and self.weight > 0.0 and self._spread.is_collapsed:
            collapse.warn(epoch)

    def train_step(self, data: Any) -> Any:
        """A step on the loss of both, or, where the axioms are balanced, on the losses of each."""
        step = partial(self._step, data)
        return self._finite.attempt(step, data, lambda: self._shorten(self.get_metrics_result()))

    def test_step(self, data: Any) -> Any:
        """As Keras does; the logs of an evaluation hold each axiom too."""
        return self._shorten(super().test_step(data))

    def _shorten(self, logs: dict[str, Any]) -> dict[str, Any]:
        """The logs of a step without those of each axiom: Keras spends time on each, and shows them all."""
        axioms = self.theory.trainer.means.names[1:]
        return {name: value for name, value in logs.items() if name not in axioms}

    _get_metrics_result_or_logs = _private.take_all_results

    def _step(self, data: Any) -> Any:
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        balancing, weights = self._balance, self.trainable_variables
        moving = self._finite.moving([self.model, *self.theory.trainer.networks])
        with tf.GradientTape(persistent=balancing is not None) as tape:
            y_pred = self(x, training=True)
            task, axioms, truths = self._both_losses(x, y, y_pred, sample_weight, training=True)
            losses = [task, axioms] if balancing else [self._join(task, axioms, self._weight)]
            scaled = [self.optimizer.scale_loss(loss) for loss in losses]
        found = [tape.gradient(loss, weights) for loss in scaled]
        gradients, share = found[0], self._weight
        if balancing is not None:
            shares = balancing.weigh(found[0], found[1], self._weight)
            gradients, share = balance.add(found[0], found[1], shares), shares.axioms
        # Weights that no axiom and no output depends on have no gradient; Keras warns of them.
        known = (gradient is not None or balancing is None for gradient in gradients)
        pairs = list(itertools.compress(zip(gradients, weights, strict=True), known))
        loss = self._join(task, axioms, share) * replicas.count()
        applied = self._finite.apply(loss, pairs, moving, data)
        counted, size = self._finite.counted(loss, mixture.size(x), applied)
        _private.loss_tracker(self).update_state(counted, sample_weight=size)
        self._note(y, y_pred, truths, size, applied)
        logs = self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)
        return self._finite.mark(self._shorten(logs), applied)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> tf.Tensor:
        """The task loss plus weight * (1 - satisfaction)."""
        task, axioms, truths = self._both_losses(x, y, y_pred, sample_weight, training)
        self.theory.trainer.means.update_state(truths, mixture.size(x))
        return self._join(task, axioms, self._weight if self._balance is None else self._balance.weight)

    def _join(self, task: tf.Tensor, axioms: tf.Tensor, weight: Any) -> tf.Tensor:
        return task + tf.cast(weight, task.dtype) * tf.cast(axioms, task.dtype)

    def _both_losses(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any, training: bool
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """The losses of the task and of the axioms, before the axioms are weighted; and their truths."""
        task = super().compute_loss(x, y, y_pred, sample_weight, training)
        found = self.theory(self._data(x, y), training=training, as_truths=False)
        truths = self.theory.space.truth(tf.stack([found.total, *found.axioms]))
        # Keras adds up the gradients of all replicas, which have this loss in common.
        return task, (self.theory.space.loss(found.total) + self.theory.penalty()) / replicas.count(), truths

    def _note(self, y: Any, y_pred: Any, truths: tf.Tensor, size: Any, applied: tf.Tensor | None) -> None:
        """Add a batch of training to what the logs and the warnings of an epoch tell."""
        self.theory.trainer.means.update_state(truths, size, applied)
        if collapse.can_watch(y, y_pred):
            self._spread.update_state(y, y_pred, collapse.threshold_of(self.loss))

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The loss, the means of the satisfaction and of each axiom, and the metrics of the task."""
        loss, *of_task = super().metrics if self.compiled else [None]
        return [] if loss is None else [loss, self.theory.trainer.means, *of_task]

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns: the loss, the satisfaction, each axiom, the task's."""
        first = ["loss", *self.theory.trainer.means.names]
        return [*first, *(name for name in self.get_metrics_result() if name not in first)]

    def get_metrics_result(self) -> dict[str, Any]:
        """The logs by name; raise where an axiom has the name of another metric."""
        own = {"loss", *self.theory.trainer.means.names}
        others = [metric for metric in super().metrics if metric.name != "loss"]
        names = {name for metric in others for name in steps.names_of(metric)}
        if names & own:
            name = sorted(names & own)[0]
            raise LogicValueError(f"'{name}' is the name of an axiom and of a metric: rename one of them.")
        return super().get_metrics_result()

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As `keras.Model.evaluate`: a list in the order of `metrics_names`, or with names."""
        given = dict(zip(steps.EVALUATE[2:], args, strict=False)) | kwargs
        compilation.check_fit(given)
        return steps.evaluate(super().evaluate, lambda: self.metrics_names, x=x, y=y, **given)

    save = writing.save
    save_weights = writing.save_weights

    def export(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Write the model within, which predicts, for serving: as `keras.Model.export`."""
        self.model.export(filepath, *args, **kwargs)

    def _explain(self, batch: Any) -> str:
        """Who is to blame for a batch that is not finite."""

        def loss(x: Any, y: Any, sample_weight: Any) -> tf.Tensor:
            task, axioms, _ = self._both_losses(x, y, self(x), sample_weight, training=False)
            return self._join(task, axioms, self._weight)

        return culprits.of_model(self, self.theory, batch, self._data, loss)

    def _data(self, x: Any, y: Any) -> dict[str, Any]:
        """The individuals of the theory's variables in a batch."""
        return joining.individuals(self.theory, x, y, self.input_variable, self.target_variable)

    def make_train_function(self, force: bool = False) -> None:
        """A step that is compiled as that of a theory is; again when the theory has changed."""
        self.theory.trainer.prepare_means()
        # Else Keras would trace the first step twice, since it creates variables.
        replaced = self.model.built and compilation.build_optimizer(self)
        force = self._is_stale("train") or replaced or force
        # A model that is not built makes its variables as Keras traces its first step.
        alone = self.model.built and not distribution.is_several(self.distribute_strategy)
        if not alone or self.run_eagerly or self.steps_per_execution > 1:
            self._finite.make_train_function(force)
        elif self.train_function is None or force:
            fail = self._finite.fail
            self.train_function = steps.CompiledStep(self.train_step, self.jit_compile, fail=fail)

    def make_test_function(self, force: bool = False) -> Any:
        """As Keras does, and again when the theory has changed."""
        self.theory.trainer.prepare_means()
        return super().make_test_function(self._is_stale("test") or force)

    def _is_stale(self, kind: str) -> bool:
        before, self._versions[kind] = self._versions.get(kind), self.theory.version
        return before != self.theory.version

    def get_config(self) -> dict[str, Any]:
        """The model, the theory, and how they are joined."""
        weight: Any = self.weight if self._balance is None else BALANCED
        if self._given is not None:
            weight = self._given.pairs()
        return {
            "name": self.name,
            "model": keras.saving.serialize_keras_object(self.model),
            "theory": keras.saving.serialize_keras_object(self.theory),
            "weight": weight,
            "inputs": self.input_variable,
            "targets": self.target_variable,
            "warmup": self.warmup,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> KnowledgeModel:
        """The model of a configuration."""
        check_form(config, _FORM, "model with knowledge")
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in ("model", "theory")}
        weight = config["weight"]
        return cls(**config | parts | {"weight": dict(weight) if isinstance(weight, list) else weight})
