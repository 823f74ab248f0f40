"""The language of a theory: domains, symbols and individuals, declared with their groundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import tensorflow as tf

from ltn.checks import check_flag, layer_name
from ltn.core import Function, Predicate, Proposition
from ltn.core.symbols import Symbol
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Evaluation, Plans
from ltn.evaluation.groundings import DeclaredVariable, Groundings, LabelledData
from ltn.evaluation.individuals import Choice, Individual, Individuals
from ltn.evaluation.plan import Sampling
from ltn.evaluation.relations import Relation, Rows
from ltn.evaluation.spaces import Space
from ltn.knowledge.data import read_individuals
from ltn.knowledge.networks import try_network
from ltn.knowledge.relation_rows import read_rows, read_triples
from ltn.language import Domain, Signature

Domains = Domain | Sequence[Domain]


class Language:
    """What is declared: a signature, and what its symbols, propositions and constants denote.

    Args:
        symbols: where the predicates and functions are kept, by name; a Keras model hands in containers
            whose layers it tracks.
        propositions: where the propositions are kept, by name.
        individuals: where the tables of constants are kept, one for each declaration.

    >>> language = Language()
    >>> towns = language.domain("towns", values=["Rome", "Seoul"])
    >>> u = language.variable("u", towns)
    >>> language.groundings().names("u")
    ['Rome', 'Seoul']
    """

    def __init__(
        self,
        symbols: dict[str, Symbol] | None = None,
        propositions: dict[str, Proposition] | None = None,
        individuals: list[Individuals] | None = None,
    ):
        self.plans = Plans()
        self.signature = Signature()
        self.symbols = {} if symbols is None else symbols
        self.propositions = {} if propositions is None else propositions
        self.individuals = [] if individuals is None else individuals
        # The individuals of variables that were declared with some.
        self.choices: dict[str, Choice] = {}
        # The relations by name.
        self.known: dict[str, Relation] = {}
        # Tells the knowledge base that a relation has other rows.
        self.notify: Callable[[], None] = lambda: None

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
            name: its name.
            shape: the shape of the features of one individual; by default one number.
            values: the individuals of a finite domain: numbers, names (grounded on their index, like
                classes), or a dictionary from names to features. Names become constants.
            bounds: (low, high) for a hypercube, or "simplex"; learned constants are kept inside, data and
                values of functions outside are refused (in compiled code only under `ltn.debug`).
            equality: what `=` means between its individuals: "strict", or "smooth" for
                exp(-alpha distance).
            alpha: how quickly a smooth equality falls.

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
            names: their names, as "a, b, 'New York'", or a list, as ["a", "b", "New York"].
            domain: their domain.
            values: their features, (k, *features).
            trainable: whether they are learned, as embeddings; by default if no values are given.
            initializer: a Keras initializer for learned ones; by default uniform, within the bounds of the
                domain, else in the range of `values`, else in [0, 1]. It draws those without values, and
                the other starting points of reasoning.
            regularizer: a Keras regularizer for learned ones.

        >>> language = Language()
        >>> people = language.domain("people", shape=2)
        >>> ann, bob = language.constants("ann, bob", people, values=[[0.0, 1.0], [2.0, 3.0]])
        >>> bob
        Individual(tensor=[2. 3.], free_vars=[])
        """
        _check_domain(domain)
        chosen = self.signature.names_of(names)
        trainable = values is None if trainable is None else check_flag("trainable", trainable)
        if values is None and not trainable:
            raise LogicValueError(
                f"The constants {', '.join(map(str, chosen))} are neither given `values` nor learned: "
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
        features = None if values is None else read_individuals(", ".join(map(str, chosen)), domain, values)
        if features is not None and len(features) != len(chosen):
            raise LogicValueError(f"`values` has {len(features)} rows for {len(chosen)} constants.")
        with self.signature.all_or_nothing():
            for name in chosen:
                self.signature.add_constant(name, domain)
            table = Individuals(chosen, domain, features, trainable, initializer, regularizer)
            self.individuals.append(table)
        self._forget_plans()
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

        Where the individuals of its domain are known, data may tell which of them are meant: by name; or by
        index, whole numbers (k,), in order of declaration. Where individuals are single numbers, a whole
        number is the individual itself.

        Args:
            name: its name.
            domain: the domain of its individuals.
            values: the individuals that it ranges over: names of constants, or features (k, *features).
        """
        [variable] = self._declare_variables([name], domain, values)
        return variable

    def variables(
        self, names: str | Sequence[str], domain: Domain, values: Any = None
    ) -> list[DeclaredVariable]:
        """Declare several variables of a domain, as "x, y" or ["x", "y"]; else as `variable`."""
        return self._declare_variables(self.signature.names_of(names), domain, values)

    def predicate(self, name: str, domains: Domains, grounding: Any) -> Predicate:
        """Declare a predicate with its input domains and its grounding.

        Args:
            name: its name.
            domains: the domains of its arguments.
            grounding: an `ltn.Predicate`, a Keras model, or a callable, as for `ltn.Predicate`. A callable
                that returns booleans may stand in guards.
        """
        with self.signature.all_or_nothing():
            self.signature.add_predicate(name, domains)
            predicate = (
                grounding if isinstance(grounding, Predicate) else Predicate(grounding, layer_name(name))
            )
            try_network(predicate, self.signature.predicates[name])
            self.symbols[name] = predicate
        return predicate

    def function(self, name: str, domains: Domains, output: Domain, grounding: Any) -> Function:
        """Declare a function with its input domains, its output domain and its grounding.

        Args:
            name: its name.
            domains: the domains of its arguments.
            output: the domain of its value.
            grounding: an `ltn.Function`, a Keras model, or a callable, as for `ltn.Function`.
        """
        with self.signature.all_or_nothing():
            self.signature.add_function(name, domains, output)
            function = grounding if isinstance(grounding, Function) else Function(grounding, layer_name(name))
            try_network(function, self.signature.functions[name][0], output)
            self.symbols[name] = function
        return function

    def proposition(self, name: str, truth: float = 0.5, trainable: bool = False) -> Proposition:
        """Declare a proposition: a truth value in [0, 1], known or learned."""
        with self.signature.all_or_nothing():
            self.signature.add_proposition(name)
            proposition = Proposition(truth, trainable)
            self.propositions[name] = proposition
        return proposition

    def relation(self, name: str, domains: Domains, rows: Any = ()) -> Relation:
        """Declare a predicate whose truth is known: true of these rows, and false of all others.

        In a guard it is joined, at the cost of its rows: `forall x, y where knows(x, y): P(x) -> P(y)`;
        facts that are to be learned are `forall x, y where knows(x, y): F(x, y)`, and negative ones
        `forall x, y where ~knows(x, y): ~F(x, y)`.

        Args:
            name: its name.
            domains: the domains of its arguments; their individuals must be known, as values or constants.
            rows: an array (m, arity) of indices of individuals; a list of rows of names or indices; a
                DataFrame with a column for each argument; or the path of a file without a header whose name
                ends with .csv or .tsv, also with .gz behind it. A row that is repeated is one row.

        Returns:
            The relation, with `add(rows)`, `len`, `in` and `to_frame()`.

        >>> import ltn
        >>> theory = ltn.Theory("product", p_forall=1)
        >>> people = theory.domain("people", values=["Ann", "Bob", "Eve"])
        >>> x, y = theory.variables("x, y", people)
        >>> knows = theory.relation("knows", (people, people), [("Ann", "Bob"), ("Bob", "Eve")])
        >>> print(theory.query("exists y where knows(x, y): knows(y, Eve)").to_frame())
             truth
        x
        Ann    1.0
        Bob    0.0
        Eve    0.0
        """
        with self.signature.all_or_nothing():
            self.signature.add_predicate(name, domains, is_known=True)
            relation = self.new_relation(name)
            relation.set_rows(self._read_rows(name, rows))
        self.known[name] = relation
        return relation

    def relations(
        self, triples: Any, entities: Domain, kinds: Domain | None = None, name: str = "holds"
    ) -> dict[str, Relation]:
        """Declare the relations of a table of triples (head, relation, tail), such as a knowledge graph.

        Args:
            triples: three columns, in any form in which `relation` takes rows.
            entities: the domain of heads and tails.
            kinds: without it, each value of the middle column is a binary relation of that name; with the
                domain of the values of the middle column there is one relation of three arguments.
            name: the name of that one.

        Returns:
            The relations by name.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> people = theory.domain("people", values=["Ann", "Bob", "Eve"])
        >>> theory.relations([("Ann", "knows", "Bob"), ("Eve", "likes", "Ann")], people)
        {'knows': Relation(knows(people, people), 1 row), 'likes': Relation(likes(people, people), 1 row)}
        """
        _check_domain(entities)
        frame = read_triples(triples)
        if kinds is not None:
            return {name: self.relation(name, (entities, kinds, entities), frame)}
        found: dict[str, Relation] = {}
        with self.signature.all_or_nothing():
            for kind, rows in frame.groupby(1, sort=False, observed=True):
                self.signature.add_predicate(kind, (entities, entities), is_known=True)
                found[kind] = self.new_relation(kind)
                found[kind].set_rows(self._read_rows(kind, rows[[0, 2]]))
        self.known.update(found)
        return found

    def new_relation(self, name: str) -> Relation:
        """A relation of a declared name, which has no rows yet."""
        return Relation(
            name,
            self.signature.predicates[name],
            partial(self._read_rows, name),
            lambda domain: self.groundings().roster(domain),
            self._forget_plans,
        )

    def _read_rows(self, name: str, rows: Any) -> Rows:
        return read_rows(name, self.signature.predicates[name], rows, self.groundings().roster)

    def _forget_plans(self) -> None:
        """Plan anew, and compile anew: tuples were found among other rows, or among other individuals."""
        if self.known:
            self.plans = Plans()
            self.notify()

    def groundings(self, data: Mapping[str, tf.Tensor] | None = None) -> Groundings:
        """What variables and constants denote, on a batch of data."""
        batch = data if isinstance(data, LabelledData) else LabelledData(data or {})
        return Groundings(self.signature, self.individuals, self.choices, batch)

    def evaluation(
        self,
        space: Space,
        data: Mapping[str, Any],
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
        sampling: Sampling | None = None,
    ) -> Evaluation:
        """An evaluation of formulas on a batch of data; `Evaluation` explains the settings."""
        groundings = self.groundings(data)
        return Evaluation(
            groundings,
            self.symbols,
            self.propositions,
            space,
            dense,
            other_operators,
            chunk,
            self.plans,
            self.known,
            sampling,
        )

    def _declare_variables(self, names: Sequence[str], domain: Domain, values: Any) -> list[DeclaredVariable]:
        _check_domain(domain)
        choice = None if values is None else self._choice(", ".join(map(str, names)), domain, values)
        with self.signature.all_or_nothing():
            for name in names:
                self.signature.add_variable(name, domain)
        if choice is not None:
            self.choices.update(dict.fromkeys(names, choice))
        return [DeclaredVariable(name, domain, self.groundings) for name in names]

    def restore_choice(self, name: str, config: dict[str, Any]) -> None:
        """Let a variable range over the individuals that it was saved with."""
        if name not in self.signature.variables:
            raise LogicValueError(f"There are individuals for '{name}', which is no variable.")
        choice = Choice.from_config(config)
        values = choice.names if choice.features is None else choice.features
        self.choices[name] = self._choice(name, self.signature.variables[name], values)

    def _choice(self, name: str, domain: Domain, values: Any) -> Choice:
        if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
            for value in values:
                known = self.signature.constants.get(value) if isinstance(value, str) else None
                if not domain.is_same(known):
                    raise LogicValueError(
                        f"The variable '{name}' is given {value!r}, which is not a constant of the domain "
                        f"'{domain.name}'."
                    )
            return Choice(tuple(values))
        if isinstance(values, str | set | Mapping):
            raise LogicTypeError(
                f"The variable '{name}' takes `values` in an order: a list of names of constants, or an "
                f"array of features; got a {type(values).__name__}: {values!r}."
            )
        return Choice((), read_individuals(name, domain, values))


def _check_domain(domain: Any) -> None:
    if not isinstance(domain, Domain):
        raise LogicTypeError(f"Expected a Domain, as theory.domain(...) returns it; got {domain!r}.")
