"""The signature: the symbols that are declared, and the domains that make them typed."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import checking, names, sorts, statement_checks
from ltn.language.domains import Domain
from ltn.language.forms import check_form
from ltn.language.names import BUILT_INS, check_name
from ltn.language.parser import parse
from ltn.language.sorts import Sort
from ltn.language.statements import Definition, Diagonals, definitions_in
from ltn.language.tree import Node
from ltn.language.writing_out import WrittenOut, write_out

# What `get_config` gives; several names of domains stand for their product.
_FORM = {
    "domains": [dict],
    "constants": {str: (str, [str])},
    "variables": {str: (str, [str])},
    "functions": {str: {"inputs": [str], "output": (str, [str])}},
    "predicates": {str: [str]},
    "propositions": [str],
}


class Signature:
    """The declared symbols, each kind in order of declaration.

    Symbols share one namespace. Domains have their own, but share no name with variables: data may be given
    by the name of either. The functions `norm(t)`, the Euclidean norm, and `abs(t)`, feature by feature, are
    always there.

    Attributes:
        domains: by name.
        constants: the domain of each; the individuals of a domain given by names are constants.
        variables: the domain of each.
        functions: the domains of the inputs, and that of the output.
        predicates: the domains of the inputs.
        relations: those of them whose truth is known, as the keys.
        propositions: their names, as the keys.
        definitions: by name, each after those that it uses.
        copies: in a signature for formulas with definitions written out, the declared variable of each copy.

    >>> signature = Signature()
    >>> people, towns = Domain("people", shape=4), Domain("towns", values=["Rome", "Seoul"])
    >>> signature.add_domain(people)
    >>> signature.add_domain(towns)
    >>> signature.add_constant("Bob", people)
    >>> signature.add_constant("Charlie", people)
    >>> signature.add_predicate("lives_in", (people, towns))
    >>> from ltn.language import parse
    >>> signature.check_formula(parse("lives_in(Bob, Rome)"))
    >>> signature.check_formula(parse("lives_in(Bob, Charlie)"))
    Traceback (most recent call last):
    ...
    ltn.errors.LogicTypeError: Argument 2 of 'lives_in' must be of the domain 'towns'; 'Charlie' is of the
    domain 'people'.
        lives_in(Bob, Charlie)
                      ^^^^^^^
    """

    def __init__(self) -> None:
        self.domains: dict[str, Domain] = {}
        self.constants: dict[str, Domain] = {}
        self.variables: dict[str, Domain] = {}
        self.functions: dict[str, tuple[tuple[Domain, ...], Domain]] = {}
        self.predicates: dict[str, tuple[Domain, ...]] = {}
        self.relations: dict[str, None] = {}
        self.propositions: dict[str, None] = {}
        self.definitions: dict[str, Definition] = {}
        self.copies: dict[str, str] = {}
        # What `places` found, and among how many constants.
        self._places: dict[Domain, tuple[int, dict[str, int]]] = {}

    def __repr__(self) -> str:
        said = {
            "domains": list(self.domains),
            "constants": list(self.constants),
            "variables": list(self.variables),
            "functions": [
                f"{self.written(name)} -> {output.name}" for name, (_, output) in self.functions.items()
            ],
            "predicates": [self.written(name) for name in self.predicates],
            "propositions": list(self.propositions),
            "definitions": [self.written(name) for name in self.definitions],
        }
        lines = [f"{kind}: {names.list_names(those, most=20)}" for kind, those in said.items() if those]
        return f"Signature({'; '.join(lines)})"

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Withdraw what is declared within if an error follows, so that it can be declared again."""
        sizes = {kind: len(getattr(self, kind)) for kind in (*_FORM, "relations", "definitions")}
        try:
            yield
        except BaseException:
            for kind, size in sizes.items():
                declared = getattr(self, kind)
                # Nothing else is ever withdrawn: what came last goes first.
                while len(declared) > size:
                    declared.popitem()
            self._places.clear()
            raise

    def add_domain(self, domain: Domain) -> None:
        """Declare a domain; its individuals, if they were given by names, become constants."""
        if not isinstance(domain, Domain):
            raise LogicTypeError(f"Expected a Domain; got a {type(domain).__name__}: {domain!r}.")
        if domain.parts:
            raise LogicValueError(
                f"The product '{domain.name}' needs no declaration: its parts are declared."
            )
        self._check_new_domain(domain)
        individuals = (domain.names or ()) if domain.named else ()
        for name in individuals:
            self.check_new(name, f"an individual of the domain '{domain.name}'")
        self.domains[domain.name] = domain
        self.constants.update(dict.fromkeys(individuals, domain))

    def add_constant(self, name: str, domain: Domain) -> None:
        """Declare a constant of the domain."""
        self.check_new(name, "a constant")
        self._check_domain(domain, f"the constant '{name}'")
        self.constants[name] = domain

    def add_variable(self, name: str, domain: Domain) -> None:
        """Declare a variable of the domain."""
        self.check_new(name, "a variable")
        if name in self.domains:
            raise LogicValueError(
                f"{name!r} cannot name a variable: it is already a domain, and data is given by the name of "
                "either."
            )
        self._check_domain(domain, f"the variable '{name}'")
        self.variables[name] = domain

    def add_function(self, name: str, inputs: Domain | Sequence[Domain], output: Domain) -> None:
        """Declare a function from individuals of the domains `inputs` to one of the domain `output`."""
        self.check_new(name, "a function")
        flat = self._flat(inputs, f"the function '{name}'", "a constant")
        self._check_domain(output, f"the output of the function '{name}'")
        self.functions[name] = (flat, output)

    def add_predicate(self, name: str, inputs: Domain | Sequence[Domain]) -> None:
        """Declare a predicate on individuals of the domains `inputs`."""
        self.check_new(name, "a predicate")
        self.predicates[name] = self._flat(inputs, f"the predicate '{name}'", "a proposition")

    def add_relation(self, name: str, inputs: Domain | Sequence[Domain]) -> None:
        """Declare a predicate whose truth is known."""
        self.add_predicate(name, inputs)
        self.relations[name] = None

    def add_proposition(self, name: str) -> None:
        """Declare a proposition."""
        self.check_new(name, "a proposition")
        self.propositions[name] = None

    def add_definition(self, definition: Definition, text: str = "") -> None:
        """Declare a name for a formula, with variables whose domains are declared or given in its head."""
        statement_checks.check_head(self, definition, text)
        inner = self.with_variables(self.parameters(definition))
        statement_checks.check_definition(inner, definition, text)
        self.definitions[definition.name] = definition

    def parameters(self, definition: Definition) -> dict[str, Domain]:
        """The variables of the head of a definition, with their domains."""
        return {
            name: self.variables[name] if domain is None else self.domains[domain]
            for name, domain, *_ in definition.parameters
        }

    def with_variables(
        self,
        variables: Mapping[str, Domain],
        copies: Mapping[str, str] = {},
        predicates: Mapping[str, tuple[Domain, ...]] = {},
    ) -> Signature:
        """The signature with further predicates, and variables, which may be copies of declared ones."""
        twin = Signature()
        vars(twin).update(vars(self))
        twin.variables = self.variables | dict(variables)
        twin.copies = self.copies | dict(copies)
        twin.predicates = self.predicates | dict(predicates)
        return twin

    def trees_of(self, formula: Node) -> list[Node]:
        """A formula, and those that definitions in it stand for."""
        used = definitions_in(self.definitions, [formula]) if self.definitions else ()
        return [formula, *(each.body for each in used)]

    def write_out(self, nodes: Sequence[Node]) -> WrittenOut:
        """The trees with the bodies of definitions in their place."""
        if not self.definitions:
            return WrittenOut(list(nodes), {}, {})
        return write_out(
            nodes, self.definitions, lambda name: self.kind(name) is not None or name in self.domains
        )

    def kind(self, name: str) -> str | None:
        """What the symbol is: "variable", "constant", ..., "definition", "built-in function", or None."""
        kinds: dict[str, Mapping[str, Any] | tuple[str, ...]] = {
            "variable": self.variables,
            "constant": self.constants,
            "function": self.functions,
            "predicate": self.predicates,
            "proposition": self.propositions,
            "definition": self.definitions,
            "built-in function": BUILT_INS,
        }
        if not isinstance(name, str):
            return None
        return next((kind for kind, those in kinds.items() if name in those), None)

    def places(self, domain: Domain) -> Mapping[str, int]:
        """Where the individuals of a domain stand, by name: its own, or its constants as they were declared.

        >>> signature, people = Signature(), Domain("people", shape=4)
        >>> signature.add_domain(people)
        >>> signature.add_constant("Bob", people)
        >>> signature.add_constant("Charlie", people)
        >>> signature.places(people)
        {'Bob': 0, 'Charlie': 1}
        """
        count, found = self._places.get(domain, (-1, {}))
        if count != len(self.constants):
            own = domain.names or (name for name, other in self.constants.items() if domain.is_same(other))
            found = {name: place for place, name in enumerate(own)}
            self._places[domain] = len(self.constants), found
        return found

    def written(self, symbol: str) -> str:
        """How the function, predicate or definition is applied, as in `lives_in(people, towns)`."""
        if symbol in BUILT_INS:
            return f"{symbol}(t)"
        inputs: Iterable[Domain]
        if symbol in self.definitions:
            inputs = self.parameters(self.definitions[symbol]).values()
        elif symbol in self.predicates or symbol in self.functions:
            inputs = self.predicates[symbol] if symbol in self.predicates else self.functions[symbol][0]
        else:
            raise LogicValueError(f"There is no predicate or function {symbol!r}.")
        return f"{names.written(symbol)}({', '.join(domain.name for domain in inputs)})"

    names_of = staticmethod(names.names_of)

    def check(self, node: Node, text: str = "") -> Sort:
        """What the formula or term is, after checking it; `text` is what it was read from."""
        sort = checking.check(self, node, text)
        if isinstance(node, Diagonals):
            statement_checks.check_diagonals(self, node, text)
        return sort

    def sort_of(self, node: Node) -> Sort:
        """What `check` returns for a formula or term that it accepted, or for a node in it, without checking.

        >>> signature, people = Signature(), Domain("people", shape=4)
        >>> signature.add_domain(people)
        >>> signature.add_variable("x", people)
        >>> from ltn.language import parse
        >>> signature.sort_of(parse("x = -x")).is_formula, signature.sort_of(parse("-x")).shape
        (True, (4,))
        """
        return sorts.sort_of(self, node)

    def check_formula(self, node: Node, text: str = "") -> None:
        """Raise unless the tree is a formula of this signature."""
        checking.check(self, node, text, expected="formula")

    def check_term(self, node: Node, text: str = "") -> Sort:
        """The shape and the domain of the term; raise unless the tree is a term of this signature."""
        return checking.check(self, node, text, expected="term")

    def check_closed(self, node: Node, text: str = "") -> None:
        """Raise if the formula has free variables."""
        checking.check_closed(self, node, text)

    def free_variables(self, node: Node) -> list[str]:
        """The free variables of the formula or term, in order of first appearance."""
        return list(checking.free_occurrences(self, node))

    def get_config(self) -> dict[str, Any]:
        """What `from_config` needs, for JSON."""
        return {
            "domains": [domain.get_config() for domain in self.domains.values()],
            "constants": {name: _reference(domain) for name, domain in self.constants.items()},
            "variables": {name: _reference(domain) for name, domain in self.variables.items()},
            "functions": {
                name: {"inputs": [domain.name for domain in inputs], "output": _reference(output)}
                for name, (inputs, output) in self.functions.items()
            },
            "predicates": {
                name: [domain.name for domain in inputs] for name, inputs in self.predicates.items()
            },
            "propositions": list(self.propositions),
            "definitions": [str(definition) for definition in self.definitions.values()],
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], relations: Collection[str] = ()) -> Signature:
        """The signature that `get_config` describes, with domains of its own.

        `relations` tells which of its predicates are known.
        """
        # Older files have no definitions.
        check_form(config, {**_FORM, "definitions?": [str]}, "signature")
        signature = cls()
        for domain in map(Domain.from_config, config["domains"]):
            # Without its individuals: they follow among the constants, in their order.
            signature._check_new_domain(domain)
            signature.domains[domain.name] = domain
        for name, reference in config["constants"].items():
            signature.add_constant(name, signature._resolve(reference))
        for domain in signature.domains.values():
            signature._check_individuals(domain)
        for name, reference in config["variables"].items():
            signature.add_variable(name, signature._resolve(reference))
        for name, function in config["functions"].items():
            inputs = [signature._resolve(each) for each in function["inputs"]]
            signature.add_function(name, inputs, signature._resolve(function["output"]))
        for name, inputs in config["predicates"].items():
            add = signature.add_relation if name in relations else signature.add_predicate
            add(name, [signature._resolve(each) for each in inputs])
        for name in config["propositions"]:
            signature.add_proposition(name)
        for text in config.get("definitions", ()):
            definition = parse(text)
            if not isinstance(definition, Definition):
                raise LogicValueError(f"Among the definitions stands the formula `{text}`.")
            signature.add_definition(definition, text)
        return signature

    def _resolve(self, reference: str | list[str]) -> Domain:
        """The domain of a name, or the product of several."""
        parts = [reference] if isinstance(reference, str) else reference
        for name in parts:
            if name not in self.domains:
                known = names.list_names(list(self.domains))
                told = f"there are: {known}" if known else "none is declared"
                raise LogicValueError(f"There is no domain '{name}'; {told}.")
        if not parts:
            raise LogicValueError("A product of domains needs the names of its parts; there are none.")
        first, *others = (self.domains[name] for name in parts)
        for other in others:
            first = first * other
        return first

    def _check_individuals(self, domain: Domain) -> None:
        """Raise unless the constants of a finite domain are its individuals, where these have names."""
        own = [name for name, other in self.constants.items() if other is domain]
        named = (domain.names or ()) if domain.named else ()
        if domain.features is not None and set(own) != set(named):
            others = sorted(set(own) ^ set(named))
            raise LogicValueError(
                f"The constants of the domain '{domain.name}' must be its individuals; these are not both: "
                f"{names.list_names(others)}."
            )

    def _check_new_domain(self, domain: Domain) -> None:
        check_name(domain.name, "a domain")
        if domain.name in self.domains:
            raise LogicValueError(f"There is already a domain '{domain.name}'; choose another name.")
        if domain.name in self.variables:
            raise LogicValueError(
                f"'{domain.name}' cannot name a domain: it is already {self._describe(domain.name)}, and "
                "data is given by the name of either."
            )

    def check_new(self, name: str, what: str) -> None:
        """Raise unless the name is free; `what` says what it shall name."""
        check_name(name, what)
        if self.kind(name) is not None:
            raise LogicValueError(f"{name!r} cannot name {what}: it is already {self._describe(name)}.")

    def _describe(self, name: str) -> str:
        kind = self.kind(name)
        domain = self.variables.get(name) or self.constants.get(name)
        return f"a {kind}" if domain is None else f"a {kind} of the domain '{domain.name}'"

    def _check_domain(self, domain: Domain, what: str) -> None:
        if not isinstance(domain, Domain):
            raise LogicTypeError(
                f"The domain of {what} must be a Domain object; got a {type(domain).__name__}: {domain!r}."
            )
        for part in domain.flat:
            if part.name not in self.domains:
                raise LogicValueError(
                    f"The domain '{part.name}' of {what} is not declared: declare it first."
                )
            if self.domains[part.name] is not part:
                raise LogicValueError(
                    f"The domain '{part.name}' of {what} is another object than the declared domain of that "
                    "name: use the declared one."
                )

    def _flat(self, inputs: Domain | Sequence[Domain], what: str, without: str) -> tuple[Domain, ...]:
        domains = [inputs] if isinstance(inputs, Domain) else inputs
        if isinstance(domains, str) or not isinstance(domains, Sequence):
            raise LogicTypeError(
                f"The inputs of {what} must be a Domain or a sequence of them; "
                f"got a {type(inputs).__name__}: {inputs!r}."
            )
        if not domains:
            raise LogicValueError(f"There is no input of {what}; without inputs, declare {without}.")
        for domain in domains:
            self._check_domain(domain, f"an input of {what}")
        return tuple(part for domain in domains for part in domain.flat)


def _reference(domain: Domain) -> str | list[str]:
    return [part.name for part in domain.parts] if domain.parts else domain.name
