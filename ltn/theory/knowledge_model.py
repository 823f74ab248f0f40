"""Knowledge for a Keras model: its task loss, plus how much it violates the axioms of a theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import replicas
from ltn.knowledge.axioms import check_weight
from ltn.theory.theory import Theory
from ltn.training import adam, compilation, steps


def with_knowledge(
    model: keras.Model,
    theory: Theory,
    weight: float = 1.0,
    inputs: str | None = None,
    targets: str | None = None,
) -> KnowledgeModel:
    """A Keras model that is trained on its task and on a theory about it.

    `fit(x, y)` minimises task loss + weight * (1 - satisfaction), or, with `log_product`, minus the logarithm
    of the satisfaction. The result is compiled, trained, saved and loaded like the model itself, and predicts
    what the model predicts.

    Args:
        model: the classifier, say, that also grounds a predicate or a function of the theory.
        theory: its axioms speak about a batch: the inputs `x`, and perhaps the targets `y`.
        weight: the weight of the axioms beside the task, at least 0.
        inputs: the variable that ranges over the inputs; by default the only one that needs data. Where
            the inputs are a dictionary, its names are those of variables.
        targets: the variable that ranges over the targets, if one does.

    >>> import ltn
    >>> classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    >>> theory = ltn.Theory()
    >>> points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["a", "b", "c"])
    >>> x = theory.variable("x", points)
    >>> P = theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(classifier, "sigmoid"))
    >>> axiom = theory.axiom("forall x: P(x, a) -> ~P(x, b)")
    >>> model = ltn.with_knowledge(classifier, theory, weight=0.5)
    >>> model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    >>> history = model.fit(tf.zeros((4, 2)), tf.zeros(4), verbose=0)
    >>> sorted(history.history)
    ['loss', 'satisfaction']
    """
    return KnowledgeModel(model, theory, weight, inputs, targets)


@keras.saving.register_keras_serializable(package="ltn")
class KnowledgeModel(keras.Model):
    """A Keras model with knowledge: see `with_knowledge`."""

    model: Any
    theory: Theory
    input_variable: str | None
    target_variable: str | None
    _satisfaction: keras.metrics.Metric

    def __init__(
        self,
        model: keras.Model,
        theory: Theory,
        weight: float,
        inputs: str | None = None,
        targets: str | None = None,
        name: str | None = None,
    ):
        super().__init__(name=name)
        if isinstance(model, Theory):
            raise LogicTypeError("`model` is a theory: give the model first, and then the theory.")
        if not isinstance(theory, Theory):
            raise LogicTypeError(f"`theory` must be an ltn.Theory; got {theory!r}.")
        if not isinstance(model, keras.Model):
            raise LogicTypeError(f"`model` must be a keras.Model; got {model!r}.")
        self.model = model
        self.theory = theory
        # A variable, which compiled steps read anew; Keras does not save it, the configuration holds it.
        self._weight = tf.Variable(check_weight(weight), trainable=False, dtype=tf.float32)
        self.input_variable = inputs or _only_variable(theory, targets)
        self.target_variable = targets
        for variable in (self.input_variable, targets):
            if variable is not None and variable not in theory.signature.variables:
                raise LogicValueError(f"The theory has no variable '{variable}'.")
        self._satisfaction = keras.metrics.Mean(name="satisfaction")
        self._versions: dict[str, int] = {}
        self.built = model.built

    @property
    def weight(self) -> float:
        """The weight of the axioms beside the task; a new one holds from the next step on."""
        return float(self._weight)

    @weight.setter
    def weight(self, weight: float) -> None:
        self._weight.assign(check_weight(weight))

    def build(self, input_shape: Any) -> None:
        """Build the model within."""
        if not self.model.built:
            self.model.build(input_shape)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The prediction of the model."""
        return self.model(inputs, training=training)

    def compile(
        self, optimizer: Any = "adam", *args: Any, jit_compile: bool | str = "auto", **kwargs: Any
    ) -> None:
        """Like `keras.Model.compile`; XLA is chosen as for a theory, which is compiled with the model."""
        # Saved as it was given: "auto" is decided by the device on which the model is loaded.
        self._asked_xla = jit_compile
        jit = compilation.choose_xla(self.distribute_strategy, jit_compile, kwargs.get("run_eagerly"))
        self.theory.use_xla(jit)
        super().compile(optimizer, *args, jit_compile=jit, **kwargs)

    def get_compile_config(self) -> Any:
        """How the model was compiled."""
        config = super().get_compile_config()
        return config and config | {"jit_compile": self._asked_xla}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as a saved model was, with the variables of its optimizer."""
        compilation.compile_from_config(self, config)

    def train_step(self, data: Any) -> Any:
        """As Keras does, but Adam updates each weight by one operation."""
        with adam.fuse(self):
            return super().train_step(data)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> tf.Tensor:
        """The task loss plus weight * (1 - satisfaction)."""
        task = super().compute_loss(x, y, y_pred, sample_weight, training)
        found = self.theory(self._data(x, y), training=training, as_truths=False)
        size = tf.shape(keras.tree.flatten(x)[0])[0]
        self._satisfaction.update_state(self.theory.space.truth(found.total), sample_weight=size)
        knowledge = self.theory.space.loss(found.total) + self.theory.penalty()
        # Keras adds up the gradients of all replicas, which have this term of the loss in common.
        return task + self._weight * knowledge / replicas.count()

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns: the loss, the satisfaction, and the metrics of the task."""
        of_task = (name for name in self.get_metrics_result() if name not in ("loss", "satisfaction"))
        return ["loss", "satisfaction", *of_task]

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As `keras.Model.evaluate`: a list in the order of `metrics_names`, or with names."""
        arguments = {"x": x, "y": y, **dict(zip(steps.EVALUATE[2:], args, strict=False)), **kwargs}
        return steps.evaluate(super().evaluate, lambda: self.metrics_names, **arguments)

    def export(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Write the model within, which predicts, for serving: as `keras.Model.export`."""
        self.model.export(filepath, *args, **kwargs)

    def _data(self, x: Any, y: Any) -> dict[str, Any]:
        signature = self.theory.signature
        named = x if isinstance(x, Mapping) else {str(self.input_variable): x}
        known = (*signature.variables, *signature.domains)
        data = {name: values for name, values in named.items() if name in known}
        return data if self.target_variable is None else data | {self.target_variable: y}

    def make_train_function(self, force: bool = False) -> Any:
        """As Keras does, and again when the theory has changed."""
        return super().make_train_function(self._is_stale("train") or force)

    def make_test_function(self, force: bool = False) -> Any:
        """As Keras does, and again when the theory has changed."""
        return super().make_test_function(self._is_stale("test") or force)

    def _is_stale(self, kind: str) -> bool:
        before, self._versions[kind] = self._versions.get(kind), self.theory.version
        return before != self.theory.version

    def get_config(self) -> dict[str, Any]:
        """The model, the theory, and how they are joined."""
        return {
            "name": self.name,
            "model": keras.saving.serialize_keras_object(self.model),
            "theory": keras.saving.serialize_keras_object(self.theory),
            "weight": self.weight,
            "inputs": self.input_variable,
            "targets": self.target_variable,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> KnowledgeModel:
        """The model of a configuration."""
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in ("model", "theory")}
        return cls(**config | parts)


def _only_variable(theory: Theory, targets: str | None) -> str | None:
    open_variables = [name for name in theory.knowledge.open_variables() if name != targets]
    if len(open_variables) > 1:
        raise LogicValueError(
            f"The axioms mention several variables without individuals: {', '.join(open_variables)}. Say "
            "which one ranges over the inputs of the model: `inputs=...`."
        )
    return open_variables[0] if open_variables else None
