"""The language of a theory and how it is declared: domains, symbols with their groundings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import keras
import tensorflow as tf

from ltn.core import Function, Predicate, Proposition, Term
from ltn.core.symbols import Symbol
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.groundings import Choice, DeclaredVariable, Groundings
from ltn.evaluation.individuals import Individual, Individuals
from ltn.language import Domain, Signature
from ltn.theory.compilation import CompiledModel
from ltn.theory.data import individuals

S = TypeVar("S", bound=Symbol)
Domains = Domain | Sequence[Domain]


class _Weights(list[Any]):
    """The weights of a theory, as `variables` of any Keras model; called, it declares logical variables."""

    def __init__(self, weights: Sequence[Any], declare: Callable[..., list[DeclaredVariable]]):
        super().__init__(weights)
        self._declare = declare

    def __call__(self, names: str, domain: Domain, values: Any = None) -> list[DeclaredVariable]:
        return self._declare(names, domain, values)


class Declarations(CompiledModel):
    """The language of a theory, with the groundings of its symbols."""

    def __init__(self, name: str | None = None):
        super().__init__(name=name)
        self.signature = Signature()
        self.symbols: dict[str, Symbol] = {}
        self.propositions: dict[str, Proposition] = {}
        self.individuals: list[Individuals] = []
        self.choices: dict[str, Choice] = {}
        # There is nothing to build: each part is built when it is declared.
        self.built = True

    def domain(
        self,
        name: str,
        shape: int | Sequence[int | None] = (),
        values: Any = None,
        bounds: tuple[float, float] | str | None = None,
        equality: str = "strict",
        alpha: float = 1.0,
    ) -> Domain:
        """Declare a domain: a set of individuals with features of one shape.

        Args:
            name: of the domain.
            shape: of the features of one individual; by default one number.
            values: the individuals of a finite domain: numbers, names (grounded on their index, as
                classes), or a dictionary from names to features. Names become constants.
            bounds: (low, high) for a hypercube, or "simplex"; learned constants are kept inside, data
                outside are refused.
            equality: what `=` means between its individuals: "strict", or "smooth" for
                exp(-alpha distance).
            alpha: of the smooth equality.

        `people * towns` is the product of two domains.
        """
        domain = Domain(name, shape, values, bounds, equality, alpha)
        self.signature.add_domain(domain)
        return domain

    def constants(
        self,
        names: str | Sequence[str],
        domain: Domain,
        values: Any = None,
        trainable: bool | None = None,
        initializer: Any = None,
        regularizer: Any = None,
    ) -> list[Individual]:
        """Declare constants of a domain; a variable of that domain then ranges over them.

        Args:
            names: as "a, b, c", or a list.
            domain: of all of them.
            values: their features, (k, *features).
            trainable: whether they are learned, as embeddings; by default where no values are given.
            initializer: of learned ones, a Keras initializer; by default uniform, within the bounds of the
                domain, else in the range of `values`, else in [0, 1]. It makes those without values, and
                the other starting points of reasoning.
            regularizer: a Keras regularizer of learned ones.
        """
        _check_domain(domain)
        chosen = self.signature.names_of(names) if isinstance(names, str) else list(names)
        trainable = values is None if trainable is None else trainable
        if values is None and not trainable:
            raise LogicValueError(
                f"The constants {', '.join(chosen)} are neither given `values` nor learned: "
                "give their features, or `trainable=True`."
            )
        if domain.features is not None:
            raise LogicValueError(
                f"The domain '{domain.name}' was declared with its individuals; it has no further constants."
            )
        if values is None and None in domain.shape:
            raise LogicValueError(
                f"Constants of the domain '{domain.name}' cannot be learned: its shape {domain.shape} is not "
                "known. Give their features, `values=...`."
            )
        features = None if values is None else individuals(", ".join(chosen), domain, values)
        if features is not None and len(features) != len(chosen):
            raise LogicValueError(f"`values` has {len(features)} rows for {len(chosen)} constants.")
        repeated = [name for name in chosen if chosen.count(name) > 1]
        if repeated:
            raise LogicValueError(f"The constant '{repeated[0]}' is declared twice.")
        for name in chosen:
            self.signature.add_constant(name, domain)
        table = Individuals(chosen, domain, features, trainable, initializer, regularizer)
        self.individuals.append(table)
        return [Individual(table, name) for name in chosen]

    def constant(
        self,
        name: str,
        domain: Domain,
        value: Any = None,
        trainable: bool | None = None,
        initializer: Any = None,
        regularizer: Any = None,
    ) -> Individual:
        """Declare one constant; the arguments are those of `constants`."""
        values = None if value is None else [value]
        return self.constants([name], domain, values, trainable, initializer, regularizer)[0]

    def variable(self, name: str, domain: Domain, values: Any = None) -> DeclaredVariable:
        """Declare a variable of a domain.

        It ranges over the data that `fit`, `evaluate` or `query` are given under its name; else over
        `values`; else over the data under the name of its domain; else over the individuals of its domain,
        learned ones as they are at that moment.

        Args:
            name: of the variable.
            domain: of its individuals.
            values: the individuals that it ranges over: names of constants, or features (k, *features).
        """
        _check_domain(domain)
        choice = None if values is None else self._choice(name, domain, values)
        self.signature.add_variable(name, domain)
        if choice is not None:
            self.choices[name] = choice
        return DeclaredVariable(name, domain, self._grounded)

    @property
    def variables(self) -> _Weights:
        """The weights, as of any Keras model; `theory.variables("x, y", domain)` declares variables."""
        return _Weights(super().variables, self._declare_variables)

    def _declare_variables(self, names: str, domain: Domain, values: Any = None) -> list[DeclaredVariable]:
        return [self.variable(name, domain, values) for name in self.signature.names_of(names)]

    def predicate(self, name: str, domains: Domains, grounding: Any) -> Predicate:
        """Declare a predicate with its input domains and its grounding.

        Args:
            name: of the predicate.
            domains: of its arguments.
            grounding: an `ltn.Predicate`, a Keras model, or a callable, as for `ltn.Predicate`. A callable
                that returns booleans may stand in guards.
        """
        predicate = grounding if isinstance(grounding, Predicate) else Predicate(grounding, name)
        self.signature.add_predicate(name, domains)
        with _withdrawn_on_error(self.signature.predicates, name):
            self.symbols[name] = _tried(predicate, self.signature.predicates[name])
        return predicate

    def function(self, name: str, domains: Domains, output: Domain, grounding: Any) -> Function:
        """Declare a function with its input domains, its output domain and its grounding.

        Args:
            name: of the function.
            domains: of its arguments.
            output: the domain of its value.
            grounding: an `ltn.Function`, a Keras model, or a callable, as for `ltn.Function`.
        """
        function = grounding if isinstance(grounding, Function) else Function(grounding, name)
        self.signature.add_function(name, domains, output)
        with _withdrawn_on_error(self.signature.functions, name):
            self.symbols[name] = _tried(function, self.signature.functions[name][0], output)
        return function

    def proposition(self, name: str, truth: float = 0.5, trainable: bool = False) -> Proposition:
        """Declare a proposition: a truth value in [0, 1], known or learned."""
        proposition = Proposition(truth, trainable)
        self.signature.add_proposition(name)
        self.propositions[name] = proposition
        return proposition

    def _grounded(self, data: dict[str, tf.Tensor] | None = None) -> Groundings:
        tables = {name: table for table in self.individuals for name in table.names}
        return Groundings(self.signature, tables, self.choices, data or {})

    def _choice(self, name: str, domain: Domain, values: Any) -> Choice:
        if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
            for value in values:
                if not domain.is_same(self.signature.constants.get(value)):
                    raise LogicValueError(
                        f"The variable '{name}' is given '{value}', which is not a constant of the domain "
                        f"'{domain.name}'."
                    )
            return Choice(tuple(values))
        if isinstance(values, str | set | Mapping):
            raise LogicTypeError(
                f"The variable '{name}' takes `values` in an order: a list of names of constants, or an "
                f"array of features; got a {type(values).__name__}: {values!r}."
            )
        return Choice((), individuals(name, domain, values))


def _check_domain(domain: Any) -> None:
    if not isinstance(domain, Domain):
        raise LogicTypeError(f"Expected a Domain, as theory.domain(...) returns it; got {domain!r}.")


@contextlib.contextmanager
def _withdrawn_on_error(declared: dict[str, Any], name: str) -> Iterator[None]:
    """Take a declaration back where what follows fails, so that it can be made again."""
    try:
        yield
    except BaseException:
        del declared[name]
        raise


def _tried(symbol: S, domains: Sequence[Domain], output: Domain | None = None) -> S:
    """The symbol, whose network was called once on zeros: it has its weights, and its shapes fit."""
    shapes = [part.shape for domain in domains for part in domain.parts or (domain,)]
    if not isinstance(symbol.network, keras.Layer) or any(None in shape for shape in shapes):
        return symbol
    terms = [Term(tf.zeros(shape), []) for shape in shapes]
    classes = domains[-1].features
    if symbol.picks_class and classes is not None:
        # The network must know all of them.
        terms[-1] = Term(classes.max(axis=0), [])
    value = symbol(terms if len(terms) > 1 or symbol.picks_class else terms[0])
    if output is not None and value.feature_shape != output.shape:
        raise LogicValueError(
            f"{symbol!r} must return features of the domain '{output.name}', of shape {output.shape}; "
            f"its network returns the shape {value.feature_shape}."
        )
    return symbol
