"""A theory of Real Logic as a Keras model: its training, its queries, its reports, its file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

import keras
import tensorflow as tf

from ltn import _private
from ltn import semantics as semantics_module
from ltn.checks import check_layer_name, check_whole
from ltn.core import Proposition
from ltn.core.symbols import Symbol
from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.evaluation.groundings import DeclaredVariable
from ltn.evaluation.individuals import Choice, Individuals
from ltn.evaluation.relations import Relation
from ltn.evaluation.spaces import Space
from ltn.files import describe
from ltn.knowledge import row_files
from ltn.knowledge.axioms import Axiom, AxiomList, KnowledgeBase
from ltn.knowledge.data import Data, read_batch
from ltn.knowledge.definitions import define
from ltn.knowledge.language import Language
from ltn.knowledge.satisfaction import satisfaction, truths_by_name
from ltn.knowledge.seeds import Seeds
from ltn.language import Domain, Signature
from ltn.reasoning import consequence
from ltn.repair.repair import repair
from ltn.semantics import BaseSemantics
from ltn.theory import descriptions, ranking, reports, restoring, saving, serving, violating, writing
from ltn.training.trainer import Trainer

# A GiB.
MEMORY_LIMIT = 2**30

P = ParamSpec("P")
R = TypeVar("R")


def delegate_to(component: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of a component as a method of the theory, with the same signature and documentation."""

    @functools.wraps(method)
    def delegate(theory: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(getattr(theory, component), *args, **kwargs)

    return delegate


class Weights(list[Any]):
    """The weights of a theory, as `variables` of any Keras model; calling it declares logical variables."""

    def __init__(self, weights: Sequence[Any], declare: Callable[..., list[DeclaredVariable]]):
        super().__init__(weights)
        self._declare = declare

    def __call__(
        self, names: str | Sequence[str], domain: Domain, values: Any = None
    ) -> list[DeclaredVariable]:
        """Declare logical variables."""
        return self._declare(names, domain, values)


@keras.saving.register_keras_serializable(package="ltn")
class Theory(keras.Model):
    """A theory <K, G(. | theta), Theta> of Real Logic: axioms, groundings with parameters, operators.

    It is a `keras.Model`: `compile`, `fit`, `evaluate`, `save` work as for any other. Training maximises

        SatAgg_{phi in K} G_theta(phi) - lambda R(theta)

    by minimising 1 minus the satisfaction; with `log_product`, minus its logarithm. `ltn.load` reads files.

    Args:
        semantics: the operators, by the name of a preset or as an `ltn.Semantics`.
        name: the name of the model.
        regularizer: R with its factor lambda, a Keras regularizer of all weights that are learned.
        chunk: how many combinations of individuals a quantifier evaluates at once, so that memory stays
            bounded; values and gradients are the same, and a step takes longer, since gradients compute
            every chunk again. By default all at once.
        hyperparameters: those of the operators, such as `p_forall=2`, `p_exists=6`, `p_satagg=2`; and
            `sample_forall`, `sample_exists`, as `set_hyperparameters` explains them.

    Attributes:
        language: what is declared; `domain`, `constants`, `variable`, `predicate`, ... are its methods.
        knowledge: axioms and operators; `axiom`, `axioms`, `set_hyperparameters`, ... are its methods.
        trainer: what learning needs; `compile`, `fit`, `evaluate`, ... are its methods.

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

    # Set by Keras.
    optimizer: Any
    train_function: Any
    test_function: Any

    def __init__(
        self,
        semantics: BaseSemantics | str = "stable_product",
        *,
        name: str | None = None,
        regularizer: Any = None,
        chunk: int | None = None,
        **hyperparameters: Any,
    ):
        check_layer_name(name)
        super().__init__(name=name)
        # Keras finds the layers in these attributes, and the weights in a file are named after them.
        self.symbols: dict[str, Symbol] = {}
        self.propositions: dict[str, Proposition] = {}
        self.individuals: list[Individuals] = []
        self.language = Language(self.symbols, self.propositions, self.individuals)
        self.knowledge = KnowledgeBase(self.language, semantics_module.get(semantics), **hyperparameters)
        self.trainer = Trainer(self, self.knowledge, regularizer)
        self.chunk: int | None = (
            None
            if chunk is None
            else check_whole("chunk", chunk, "a number of combinations of individuals", otherwise=", or None")
        )
        self.memory_limit = MEMORY_LIMIT
        self.is_xla = False
        # There is nothing to build: each symbol is built when it is declared.
        self.built = True

    @property
    def memory_limit(self) -> int:
        """About how many bytes a question, a report or `evaluate` may take at once; at first 2^30, a GiB.

        What takes more is evaluated in batches, with the same values; their networks must treat each row
        alone, as they do outside of training. It holds for this program: a file of the theory has none.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> theory.memory_limit = 8 * 2**30
        """
        return self._memory_limit

    @memory_limit.setter
    def memory_limit(self, limit: int) -> None:
        self._memory_limit = check_whole("memory_limit", limit, "a number of bytes")

    def __repr__(self) -> str:
        return descriptions.description(self.name, self.knowledge)

    def _repr_html_(self) -> str:
        return descriptions.page(self.name, self.count_params(), self.knowledge)

    # Declaring

    domain = delegate_to("language", Language.domain)
    constants = delegate_to("language", Language.constants)
    constant = delegate_to("language", Language.constant)
    variable = delegate_to("language", Language.variable)
    predicate = delegate_to("language", Language.predicate)
    function = delegate_to("language", Language.function)
    proposition = delegate_to("language", Language.proposition)
    relation = delegate_to("language", Language.relation)
    relations = delegate_to("language", Language.relations)
    rows = row_files.rows

    @property
    def variables(self) -> Weights:
        """The weights, as of any Keras model; `theory.variables("x, y", domain)` declares variables."""
        return Weights(super().variables, self.language.variables)

    @property
    def signature(self) -> Signature:
        """The declared domains, constants, variables, functions, predicates and propositions."""
        return self.language.signature

    @property
    def known(self) -> dict[str, Relation]:
        """The relations by name."""
        return self.language.known

    @property
    def choices(self) -> dict[str, Choice]:
        """The individuals of variables that were declared with some."""
        return self.language.choices

    # Axioms and operators

    axiom = delegate_to("knowledge", KnowledgeBase.axiom)
    axioms = delegate_to("knowledge", KnowledgeBase.axioms)
    define = define
    find = delegate_to("knowledge", KnowledgeBase.find)
    __getitem__ = delegate_to("knowledge", KnowledgeBase.find)
    remove = delegate_to("knowledge", KnowledgeBase.remove)
    write = delegate_to("knowledge", KnowledgeBase.write)
    weight_of = delegate_to("knowledge", KnowledgeBase.weight_of)
    options_of = delegate_to("knowledge", KnowledgeBase.options_of)
    set_hyperparameters = delegate_to("knowledge", KnowledgeBase.set_hyperparameters)
    tell_lacking = delegate_to("knowledge", KnowledgeBase.tell_lacking)
    evaluation = delegate_to("knowledge", KnowledgeBase.evaluation)

    @property
    def seeds(self) -> Seeds:
        """What samples are drawn by."""
        return self.knowledge.seeds

    @property
    def axiom_list(self) -> AxiomList:
        """The axioms in order of declaration."""
        return self.knowledge.axiom_list

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators as they are now, by name."""
        return self.knowledge.hyperparameters

    @property
    def semantics(self) -> BaseSemantics:
        """The operators, with their hyper-parameters as they are now."""
        return self.knowledge.semantics

    @property
    def space(self) -> Space:
        """Where truth is computed under the theory's semantics."""
        return self.knowledge.space

    @property
    def version(self) -> int:
        """How often axioms or operators have changed, for models that compile them into their own steps."""
        return self.knowledge.version

    def __contains__(self, axiom: str | Axiom) -> bool:
        name = axiom.name if isinstance(axiom, Axiom) else axiom
        return name in [each.name for each in self.axiom_list]

    # Learning

    def __call__(self, inputs: Data, *args: Any, **kwargs: Any) -> Any:
        """What `call` gives; data are taken in all forms in which `query` takes them, but for data sets."""
        is_batch = isinstance(inputs, dict) and all(map(_is_tensor, inputs.values()))
        # Keras would refuse all but tensors in its own words.
        batch = inputs if is_batch else read_batch(self.signature, inputs)
        return super().__call__(batch, *args, **kwargs)

    def call(self, inputs: Data, training: bool | None = None, as_truths: bool = True) -> Any:
        """The satisfaction and the truth of every axiom for a batch of data, each of shape (1,).

        With `as_truths=False` they are as training needs them: a `Satisfaction`, whose values are
        logarithms where the semantics works with them.
        """
        space, axioms = self.space, self.axiom_list
        data = read_batch(self.signature, inputs)
        dense = self.is_xla and not tf.executing_eagerly()  # XLA knows static shapes only: guards are masks
        sampling = self.seeds.for_step() if training else self.seeds.for_evaluation()
        evaluation = self.evaluation(space, data, dense, chunk=self.chunk, sampling=sampling)
        limit = None if training else self.memory_limit
        found = satisfaction(axioms, self.options_of, evaluation, self.knowledge.shares, limit)
        return truths_by_name(found, axioms, space) if as_truths else found

    def use_xla(self, compiled: bool) -> None:
        """Set whether XLA compiles the steps: then guards must keep all shapes static."""
        self.is_xla = compiled

    compile = delegate_to("trainer", Trainer.compile)
    compile_from_config = delegate_to("trainer", Trainer.compile_from_config)
    get_compile_config = delegate_to("trainer", Trainer.get_compile_config)
    fit = delegate_to("trainer", Trainer.fit)
    evaluate = delegate_to("trainer", Trainer.evaluate)
    predict = delegate_to("trainer", Trainer.predict)
    train_step = delegate_to("trainer", Trainer.train_step)
    test_step = delegate_to("trainer", Trainer.test_step)
    make_train_function = delegate_to("trainer", Trainer.make_train_function)
    make_test_function = delegate_to("trainer", Trainer.make_test_function)
    reset_metrics = delegate_to("trainer", Trainer.reset_metrics)
    penalty = delegate_to("trainer", Trainer.penalty)
    _maybe_symbolic_build = _private.build_nothing
    _get_metrics_result_or_logs = _private.keep_common_logs

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The loss, and the means of the satisfaction and of each axiom."""
        return self.trainer.metrics

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns: the loss, the satisfaction, and each axiom."""
        return self.trainer.metrics_names

    @property
    def regularizer(self) -> Any:
        """R with its factor lambda, a Keras regularizer; None where there is none."""
        return self.trainer.regularizer

    @regularizer.setter
    def regularizer(self, regularizer: Any) -> None:
        self.trainer.regularizer = regularizer

    # Asking

    query = reports.query
    report = reports.report
    explain = reports.explain
    rank = ranking.rank
    violations = violating.violations
    plan = reports.plan

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print the domains, the symbols with their numbers of parameters, and the axioms."""
        if not callable(print_fn):
            raise LogicTypeError(f"`print_fn` is a function of a text, as print; got {print_fn!r}.")
        print_fn(descriptions.summary(self.name, self.count_params(), self.knowledge))

    # Reasoning, and repairing
    entails = consequence.entails
    bounds = consequence.bounds
    repair = repair

    # Saving
    save = writing.save
    save_weights = writing.save_weights
    export = serving.export

    def save_assets(self, dir: str) -> None:  # noqa: A002, Keras's name of it
        """Write the rows of the relations; Keras calls it while it saves."""
        saving.save_rows(self.language, dir)

    def load_assets(self, dir: str | None) -> None:  # noqa: A002
        """Read what `save_assets` wrote; Keras calls it while it loads."""
        saving.load_rows(self.language, dir)

    def get_config(self) -> dict[str, Any]:
        """What the theory consists of, without its weights; raises for what cannot be saved."""
        return saving.config_of(self.knowledge, self.layers, self._settings())

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Theory:
        """The theory of a configuration, which may come from anyone; its weights are loaded afterwards."""
        try:
            restoring.check(config)
            return cls._made_from(config)
        except Exception as error:
            # Of one kind, since Keras replaces a TypeError by one that shows the whole configuration.
            reason = error if isinstance(error, LogicError) else describe(error)
            raise LogicValueError(f"The theory cannot be made again: {reason}") from error

    @classmethod
    def _made_from(cls, config: dict[str, Any], is_copy: bool = False) -> Theory:
        operators = restoring.operators_of(config)
        settings = {key: config[key] for key in ("name", "regularizer", "chunk")}
        theory = cls(operators.semantics, **settings)
        restoring.fill(theory.knowledge, config, operators, is_copy)
        return theory

    def copy(self) -> Theory:
        """A theory of the same language with weights of its own; both share what is plain Python code.

        The copy is not compiled.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> A = theory.proposition("A", 0.25)
        >>> theory.copy().query("A")
        Formula(tensor=0.25, free_vars=[])
        """
        config = saving.config_of_copy(self.knowledge, self.layers, self._settings())
        copy = self._made_from(config, is_copy=True)
        saving.copy_weights(self, copy)
        copy.memory_limit = self.memory_limit
        return copy

    def _settings(self) -> dict[str, Any]:
        return {"name": self.name, "regularizer": self.regularizer, "chunk": self.chunk}


def _is_tensor(values: Any) -> bool:
    return tf.is_tensor(values) or isinstance(values, keras.KerasTensor)
