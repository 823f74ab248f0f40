"""A theory of Real Logic as a Keras model: its training, its queries, its reports, its file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import keras
import pandas as pd
import tensorflow as tf

from ltn import semantics as semantics_module
from ltn.core import Formula, Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Node
from ltn.semantics import LogSemantics, Semantics
from ltn.theory import data as data_module
from ltn.theory import queries, reports, saving
from ltn.theory.axioms import Axiom
from ltn.theory.declarations import Declarations
from ltn.theory.hyperparameters import Options
from ltn.theory.metrics import AxiomMeans
from ltn.theory.satisfaction import Satisfaction, satisfaction

Data = Mapping[str, Any]


@keras.saving.register_keras_serializable(package="ltn")
class Theory(Declarations):
    """A theory <K, G(. | theta), Theta> of Real Logic: axioms, groundings with parameters, operators.

    It is a `keras.Model`: `compile`, `fit`, `evaluate`, `save` work as for any other. Training maximises

        SatAgg_{phi in K} G_theta(phi) - lambda R(theta)

    by minimising 1 minus the satisfaction; with `log_product`, minus its logarithm.

    Args:
        semantics: the operators, by the name of a preset or as an `ltn.Semantics`.
        name: of the model.
        regularizer: R with its factor lambda, a Keras regularizer of all weights that are learned.
        hyperparameters: of the operators, as `p_forall=2`, `p_exists=6`, `p_satagg=2`.

    >>> import ltn
    >>> theory = ltn.Theory("stable_product", p_forall=4)
    >>> points = theory.domain("points", shape=2)
    >>> x = theory.variable("x", points)
    >>> A = theory.predicate("A", points, ltn.Predicate.MLP([2]))
    >>> theory.axiom("forall x: A(x)", name="all")
    Axiom(all: forall x: A(x))
    >>> theory.compile(optimizer=keras.optimizers.Adam(0.1))
    >>> history = theory.fit({"x": [[0.1, 0.2], [0.3, 0.4]]}, epochs=20, verbose=0)
    >>> bool(history.history["satisfaction"][-1] > 0.9)
    True
    """

    def __init__(
        self,
        semantics: Semantics | LogSemantics | str = "stable_product",
        *,
        name: str | None = None,
        regularizer: Any = None,
        **hyperparameters: Any,
    ):
        super().__init__(semantics_module.get(semantics).with_hyperparameters(**hyperparameters), name=name)
        self.regularizer = keras.regularizers.get(regularizer)
        # Out of Keras's sight, which would keep the metrics of axioms that were replaced.
        self._state = SimpleNamespace(means=None, xla=False)

    def __repr__(self) -> str:
        return reports.described(self)

    def call(self, inputs: Data, training: bool | None = None, as_truths: bool = True) -> Any:
        """The satisfaction and the truth of every axiom for a batch of data, each of shape (1,).

        With `as_truths=False` they are as training needs them: a `Satisfaction`, whose values are
        logarithms where the semantics works with them.
        """
        space = self.space
        data = data_module.checked(self.signature, inputs)
        # XLA knows static shapes only: there guards are masks.
        dense = bool(self._state.xla) and not tf.executing_eagerly()
        evaluation = self.evaluation(space, data, dense)
        found = satisfaction(self.axiom_list, self.options, evaluation)
        if not as_truths:
            return found
        truths = [space.truth(value)[tf.newaxis] for value in (found.total, *found.axioms)]
        return dict(zip(("satisfaction", *self._axioms), truths, strict=True))

    # Training, as Keras calls it

    def compile(
        self, optimizer: Any = "adam", *args: Any, jit_compile: bool | str = "auto", **kwargs: Any
    ) -> None:
        """Choose the optimizer; all arguments are those of `keras.Model.compile`.

        A theory is its own loss: `loss` and metrics of targets are not for it. With
        `jit_compile="auto"` XLA compiles the steps where there is a GPU.
        """
        for argument in ("loss", "loss_weights", "metrics", "weighted_metrics"):
            if args or kwargs.get(argument) is not None:
                raise LogicTypeError(
                    f"A theory takes no `{argument}`: its loss is 1 minus the satisfaction of its axioms, "
                    "and the logs hold the value of each. For a task loss beside it see ltn.with_knowledge."
                )
        super().compile(optimizer, jit_compile=jit_compile, **kwargs)

    def use_xla(self, compiled: bool) -> None:
        """Tell whether XLA compiles the graphs that evaluate the axioms; `compile` does."""
        self._state.xla = compiled

    def fit(self, x: Any = None, y: Any = None, **kwargs: Any) -> keras.callbacks.History:
        """Learn: make the axioms true on the data.

        Args:
            x: a dictionary from names of variables to arrays with the same number of individuals; or a
                `tf.data.Dataset`, or any other source that Keras takes, of such dictionaries for batches.
                None where the axioms need no data: then an epoch is one step, or `steps_per_epoch`.
            y: None; labels are variables too.
            kwargs: as for `keras.Model.fit`: `batch_size`, `epochs`, `validation_data`, `callbacks`, ...

        Returns:
            The history: `loss`, `satisfaction` and each axiom by name, for each epoch.
        """
        if isinstance(kwargs.get("validation_data"), Mapping):
            kwargs["validation_data"] = self._table(kwargs["validation_data"])
        if isinstance(x, tf.data.Dataset) or x is None:
            kwargs.setdefault("shuffle", False)
        if x is None:
            kwargs.setdefault("steps_per_epoch", 1)
        x = self._checked(x, y, kwargs)
        if isinstance(x, Mapping) and self._takes_endless_data(kwargs):
            size = kwargs.pop("batch_size", None) or 32
            rows = len(next(iter(x.values())))
            kwargs["steps_per_epoch"] = math.ceil(rows / size)
            x = data_module.batches(x, size, kwargs.pop("shuffle", True))
            kwargs["shuffle"] = False
        if self.compiled and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)
        return super().fit(x, **kwargs)

    def _takes_endless_data(self, kwargs: dict[str, Any]) -> bool:
        """Whether epochs can be cut from one endless data set, with the same batches as Keras's own."""
        special = ("steps_per_epoch", "validation_split")
        return self.compiled and self.steps_per_execution == 1 and not any(kwargs.get(key) for key in special)

    def evaluate(self, x: Any = None, y: Any = None, **kwargs: Any) -> Any:
        """The loss, the satisfaction and the value of each axiom, averaged over batches of the data."""
        if x is None:
            kwargs.setdefault("steps", 1)
        x = x if kwargs.get("_use_cached_eval_dataset") else self._checked(x, y, kwargs)
        return super().evaluate(x, **kwargs)

    def predict(self, x: Any = None, **kwargs: Any) -> dict[str, Any]:
        """The satisfaction and the value of each axiom, an array with one entry per batch of the data."""
        if x is None:
            kwargs.setdefault("steps", 1)
        return super().predict(self._checked(x, None, kwargs), **kwargs)

    def make_train_function(self, force: bool = False) -> Any:
        """What `fit` calls for each batch: the compiled step on the next batch of an iterator.

        Keras's own wraps the logs into an optional and takes them out again, which for many axioms costs
        more than half of a small step; it is left to several steps per execution and to replicas.
        """
        replicas = tf.distribute.has_strategy() or self.distribute_strategy.num_replicas_in_sync > 1
        if self.run_eagerly or replicas or self.steps_per_execution != 1:
            return super().make_train_function(force)
        if self.train_function is None or force:
            step = tf.function(
                self.train_step, autograph=False, reduce_retracing=True, jit_compile=self.jit_compile
            )
            self.train_function = lambda iterator: step(next(iterator))
        return self.train_function

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One step of gradient descent on 1 - SatAgg."""
        batch = _batch(data)
        with tf.GradientTape() as tape:
            found = self(batch, training=True, as_truths=False)
            loss = self._loss(found)
            scaled = self.optimizer.scale_loss(loss)
        weights = self.trainable_variables
        gradients = zip(tape.gradient(scaled, weights), weights, strict=True)
        # A weight that no axiom mentions has no gradient.
        learned = [pair for pair in gradients if pair[0] is not None]
        if learned:
            self.optimizer.apply_gradients(learned)
        else:
            warnings.warn("No axiom depends on a weight that is trainable: nothing is learned.", stacklevel=2)
        return self._logs(batch, found, loss)

    def test_step(self, data: Any) -> dict[str, tf.Tensor]:
        """The logs of a batch, without learning from it."""
        batch = _batch(data)
        found = self(batch, training=False, as_truths=False)
        return self._logs(batch, found, self._loss(found))

    def _loss(self, found: Satisfaction) -> tf.Tensor:
        penalties = list(self.losses)
        if self.regularizer is not None:
            penalties += [self.regularizer(weight) for weight in self.trainable_variables]
        return tf.add_n([self.space.loss(found.total), *penalties])

    def _logs(self, batch: Data, found: Satisfaction, loss: tf.Tensor) -> dict[str, tf.Tensor]:
        size = tf.shape(next(iter(batch.values())))[0]
        self._loss_tracker.update_state(loss, sample_weight=size)
        self._means.update_state(self.space.truth(tf.stack([found.total, *found.axioms])), size)
        return self.get_metrics_result()

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The loss, and the means of the satisfaction and of each axiom."""
        return [self._loss_tracker, self._means] if self.compiled else []

    @property
    def _means(self) -> AxiomMeans:
        means = self._state.means
        if means is None or means.names[1:] != list(self._axioms):
            self._state.means = AxiomMeans(list(self._axioms))
        return self._state.means

    def _table(self, data: Data) -> dict[str, Any]:
        table = data_module.checked(self.signature, data)
        data_module.check_aligned(table)
        self._check_complete(table)
        return table

    def _checked(self, x: Any, y: Any, kwargs: dict[str, Any]) -> Any:
        """The data, checked as far as they can be seen before the first batch."""
        for name, value in (("y", y), *((n, kwargs.get(n)) for n in ("sample_weight", "class_weight"))):
            if value is not None:
                raise LogicTypeError(
                    f"A theory takes no `{name}`: labels are variables too, as in "
                    "theory.fit({'x': points, 'l': labels}); axioms have weights."
                )
        if x is None:
            self._check_complete({})
            return data_module.no_data()
        if isinstance(x, Mapping):
            return self._table(x)
        if isinstance(x, tf.data.Dataset):
            spec = x.element_spec[0] if isinstance(x.element_spec, tuple) else x.element_spec
            if not isinstance(spec, Mapping):
                raise LogicTypeError(
                    "A data set for a theory yields dictionaries from names of variables to batches; "
                    f"this one yields {spec}."
                )
            data_module.check_names(self.signature, spec)
            for name, part in spec.items():
                domain = data_module.domain_of(self.signature, name)
                data_module.check_shape(name, domain, tuple(part.shape))
            self._check_complete(spec)
            return x
        if isinstance(x, keras.utils.PyDataset) or hasattr(x, "__next__"):
            return x
        raise LogicTypeError(
            "Data are a dictionary from names of variables to arrays, as {'x': points}, or a data set of "
            f"such dictionaries; got a {type(x).__name__}."
        )

    def _check_complete(self, data: Data) -> None:
        """Raise where an axiom mentions a variable without individuals."""
        groundings = self._grounded(dict(data))
        for axiom in self.axiom_list:
            for variable in axiom.variables:
                if groundings.source(variable) is None:
                    raise LogicValueError(f"Axiom '{axiom.name}': {groundings.missing(variable)}")

    # Hyper-parameters

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators as they are now, by name."""
        return self._hyperparameters.current()

    @property
    def options(self) -> list[Options]:
        """What was set for the quantifiers of each axiom alone."""
        return [self._hyperparameters.options(name) for name in self._axioms]

    def set_hyperparameters(self, axiom: str | None = None, **values: Any) -> None:
        """Change hyper-parameters of the operators, as `p_exists=6`; of one axiom only with `axiom=`.

        From its first change on a number is a variable for the compiled steps: later changes compile
        nothing again.
        """
        for name, value in values.items():
            if axiom is None:
                stale = self._hyperparameters.set(name, value)
            else:
                stale = self._hyperparameters.set_for(axiom, self.find(axiom).tree, name, value)
            if stale:
                self._changed()

    # Asking

    def query(
        self,
        formula: str | Node,
        data: Data | None = None,
        *,
        semantics: Semantics | LogSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> Formula | Term:
        """The truth of a formula, or the value of a term, one for each combination of its free variables.

        Args:
            formula: the text of a formula (truth query) or of a term (value query).
            data: unseen individuals for variables, by name; they need not have the same number.
            semantics: other operators than those of training.
            p: of both quantifiers, where the text sets none.
            named: further data by the name of the variable, or hyper-parameters, as `p_forall=5`.

        Returns:
            A `Formula` or a `Term` over the free variables in order of appearance; `.to_frame()` labels
            it with the names of variables and individuals.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> towns = theory.domain("towns", values=["Rome", "Seoul"])
        >>> u = theory.variable("u", towns)
        >>> P = theory.predicate("large", towns, lambda town: town > 0.5)
        >>> theory.query("large(u)").to_frame()
               truth
        u
        Rome     0.0
        Seoul    1.0
        """
        return queries.answer(self, formula, data, semantics, p, named)

    def report(
        self,
        data: Data | None = None,
        *,
        semantics: Semantics | LogSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> pd.DataFrame:
        """A table of the axioms: `axiom`, `formula`, `weight`, `satisfaction`, on all the data at once.

        The arguments are those of `query`.
        """
        return reports.report(self, queries.evaluated_with(self, data, semantics, p, named))

    def explain(
        self,
        axiom: str | Axiom,
        data: Data | None = None,
        worst: int = 5,
        *,
        semantics: Semantics | LogSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> pd.DataFrame:
        """The groundings that satisfy an axiom least: its variables, and the truth of what it claims of them.

        The universal quantifiers at the front of the axiom are taken off; where there is none, the table
        has one row. The other arguments are those of `query`.
        """
        evaluation = queries.evaluated_with(self, data, semantics, p, named)
        return reports.explain(self.find(axiom), worst, evaluation)

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print the domains, the symbols with their numbers of parameters, and the axioms."""
        print_fn(reports.summary(self))

    # Saving

    def get_config(self) -> dict[str, Any]:
        """What the theory consists of, but for its weights; raises where a part cannot be saved."""
        return saving.config_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Theory:
        """The theory of a configuration."""
        return saving.restored(cls, config)


def _batch(data: Any) -> Data:
    x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
    if not isinstance(x, Mapping):
        raise LogicTypeError(
            "Data for a theory are dictionaries from names of variables to arrays; a batch came as a "
            f"{type(x).__name__}."
        )
    return x
