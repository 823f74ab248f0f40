"""What a theory consists of, and how it is declared: domains, symbols with their groundings, axioms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf

from ltn.core import Formula, Function, Predicate, Proposition, Term
from ltn.core.symbols import Symbol
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.base import Operator
from ltn.language import Domain, Node, Quantifier, Signature, parse, parse_many
from ltn.language.names import check_name, listed, nearest
from ltn.semantics import LogSemantics, Semantics
from ltn.theory.axioms import Axiom
from ltn.theory.compilation import CompiledModel
from ltn.theory.data import check_shape
from ltn.theory.evaluation import Evaluation
from ltn.theory.groundings import Choice, DeclaredVariable, Groundings
from ltn.theory.hyperparameters import Hyperparameters
from ltn.theory.individuals import Individual, Individuals
from ltn.theory.spaces import Space, space_of

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
    """The language of a theory with the groundings of its symbols, and its axioms."""

    def __init__(self, semantics: Semantics | LogSemantics, name: str | None = None):
        super().__init__(name=name)
        self.signature = Signature()
        self._hyperparameters = Hyperparameters(semantics)
        self.symbols: dict[str, Symbol] = {}
        self.propositions: dict[str, Proposition] = {}
        self.individuals: list[Individuals] = []
        self.choices: dict[str, Choice] = {}
        self._axioms: dict[str, Axiom] = {}
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
            initializer: of learned ones without values, a Keras initializer; by default uniform, within
                the bounds of the domain or else in [0, 1].
            regularizer: a Keras regularizer of learned ones.
        """
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
        features = None if values is None else self._features(f"{', '.join(chosen)}", domain, values)
        if features is not None and len(features) != len(chosen):
            raise LogicValueError(f"`values` has {len(features)} rows for {len(chosen)} constants.")
        for name in chosen:
            self.signature.add_constant(name, domain)
        individuals = Individuals(chosen, domain, features, trainable, initializer, regularizer)
        self.individuals.append(individuals)
        return [Individual(individuals, name) for name in chosen]

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
        values = None if value is None else np.reshape(value, (1, *np.shape(value)))
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
        self.symbols[name] = _tried(function, self.signature.functions[name][0], output)
        return function

    def proposition(self, name: str, truth: float = 0.5, trainable: bool = False) -> Proposition:
        """Declare a proposition: a truth value in [0, 1], known or learned."""
        proposition = Proposition(truth, trainable)
        self.signature.add_proposition(name)
        self.propositions[name] = proposition
        return proposition

    def axiom(
        self,
        formula: str | Node | Callable[[], Formula],
        name: str | None = None,
        weight: float | str = 1.0,
    ) -> Axiom:
        """Add a closed formula that is to be true.

        Args:
            formula: text, or a Python callable that returns a closed `ltn.Formula`, written with the
                symbols of this theory; a theory with such an axiom saves its weights only.
            name: of the axiom in logs and reports; by default "axiom_1", "axiom_2", ...
            weight: how often it counts among the axioms; or "learned", for the paper's p_w & formula with
                a trainable proposition p_w.
        """
        source = formula if isinstance(formula, str) else ""
        tree = parse(formula) if isinstance(formula, str) else formula
        name = name or self._next_name()
        self._check_axiom(tree, source, name)
        axiom = Axiom(name, tree, self._weight(name, weight))
        self._axioms[name] = axiom
        self._changed()
        return axiom

    def axioms(self, text: str | Path) -> list[Axiom]:
        """Add the formulas of a text, or of a file: one per line, indented lines continue it.

        `name: formula` names an axiom; `#` begins a comment. After an error none is added.
        """
        path = Path(text) if isinstance(text, Path) or "\n" not in text else None
        if path is not None and (isinstance(text, Path) or _is_file(path)):
            text = path.read_text(encoding="utf-8")
        read = parse_many(str(text))
        labels = [label for label, _, _ in read if label is not None]
        for label, node, source in read:
            self._check_axiom(node, source, label or self._next_name())
            if label is not None and labels.count(label) > 1:
                raise LogicValueError(f"Two axioms of the text are named '{label}'.")
        return [self.axiom(node, label) for label, node, _ in read]

    def _check_axiom(self, formula: Any, source: str, name: str) -> None:
        if isinstance(formula, Node):
            self.signature.check_formula(formula, source)
            self.signature.check_closed(formula, source)
            self._check_options(formula)
        elif not callable(formula):
            raise LogicTypeError(f"An axiom is text or a callable; got {formula!r}.")
        check_name(name, "an axiom")
        if name in self._axioms:
            raise LogicValueError(f"There is already an axiom '{name}': {self._axioms[name]}.")
        if name in ("loss", "satisfaction") or name.startswith("val_"):
            raise LogicValueError(f"'{name}' names another value in the training logs; choose another name.")

    @property
    def semantics(self) -> Semantics | LogSemantics:
        """The operators, with their hyper-parameters as they are now."""
        return self._hyperparameters.semantics

    @property
    def space(self) -> Space:
        """Where truth is computed under the theory's semantics."""
        return space_of(self.semantics)

    def evaluation(self, space: Space, data: Mapping[str, Any], dense: bool = False) -> Evaluation:
        """An evaluation of formulas in the theory's language, under its groundings and the data."""
        return Evaluation(self._grounded(dict(data)), self.symbols, self.propositions, space, dense)

    @property
    def axiom_list(self) -> list[Axiom]:
        """The axioms in order of declaration."""
        return list(self._axioms.values())

    def weight_of(self, axiom: Axiom) -> float:
        """The weight of an axiom; a learned one as it is now."""
        return (
            float(self.propositions[axiom.weight].tensor) if isinstance(axiom.weight, str) else axiom.weight
        )

    def find(self, axiom: str | Axiom) -> Axiom:
        """An axiom by its name."""
        name = axiom.name if isinstance(axiom, Axiom) else axiom
        if name not in self._axioms:
            close = nearest(str(name), self._axioms)
            hint = f"did you mean '{close}'?" if close else f"it has: {listed(list(self._axioms))}."
            raise LogicValueError(f"The theory has no axiom {name!r}; {hint}")
        return self._axioms[name]

    def _grounded(self, data: dict[str, tf.Tensor] | None = None) -> Groundings:
        tables = {name: table for table in self.individuals for name in table.names}
        return Groundings(self.signature, tables, self.choices, data or {})

    def _check_options(self, tree: Node) -> None:
        for node in tree.walk():
            if isinstance(node, Quantifier) and node.options:
                operator = getattr(self.semantics, "Forall" if node.kind == "forall" else "Exists")
                if isinstance(operator, Operator):
                    operator._hyperparameters(dict(node.options))

    def _changed(self) -> None:
        """Forget what was compiled: the axioms are others now."""
        self.train_function = self.test_function = self.predict_function = None

    def _next_name(self) -> str:
        number = len(self._axioms) + 1
        while f"axiom_{number}" in self._axioms:
            number += 1
        return f"axiom_{number}"

    def _weight(self, name: str, weight: float | str) -> float | str:
        if weight == "learned":
            proposition = f"weight_of_{name}"
            self.proposition(proposition, 0.5, trainable=True)
            return proposition
        if isinstance(weight, str) or not 0.0 <= float(weight) < float("inf"):
            raise LogicValueError(f"`weight` must be a number of at least 0, or 'learned'; got {weight!r}.")
        return float(weight)

    def _choice(self, name: str, domain: Domain, values: Any) -> Choice:
        given = list(values) if isinstance(values, list | tuple) else []
        if given and all(isinstance(value, str) for value in given):
            for value in given:
                if self.signature.constants.get(value) is not domain:
                    raise LogicValueError(
                        f"The variable '{name}' is given '{value}', which is not a constant of the domain "
                        f"'{domain.name}'."
                    )
            return Choice(tuple(given))
        return Choice((), tf.constant(self._features(name, domain, values)))

    @staticmethod
    def _features(name: str, domain: Domain, values: Any) -> np.ndarray:
        features = np.asarray(values, np.float32)
        features = features[:, np.newaxis] if features.ndim == 1 and domain.shape == (1,) else features
        check_shape(name, domain, features.shape)
        return features


def _tried(symbol: S, domains: Sequence[Domain], output: Domain | None = None) -> S:
    """The symbol, whose network was called once on zeros: it has its weights, and its shapes fit."""
    shapes = [part.shape for domain in domains for part in domain.parts or (domain,)]
    if not isinstance(symbol.network, keras.Layer) or any(None in shape for shape in shapes):
        return symbol
    terms = [Term(tf.zeros(shape), []) for shape in shapes]
    value = symbol(
        terms if len(terms) > 1 or (isinstance(symbol, Predicate) and symbol.picks_class) else terms[0]
    )
    if output is not None and value.feature_shape != output.shape:
        raise LogicValueError(
            f"{symbol!r} must return features of the domain '{output.name}', of shape {output.shape}; "
            f"its network returns the shape {value.feature_shape}."
        )
    return symbol


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
