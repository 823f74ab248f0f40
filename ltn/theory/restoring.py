"""A theory made again from its configuration, which `saving` writes: checked as if it were declared anew."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from ltn._private import layers_within
from ltn.core import Function, Predicate, Proposition
from ltn.core.symbols import Symbol
from ltn.errors import LogicError, LogicValueError
from ltn.evaluation.individuals import Individuals
from ltn.knowledge.axioms import Axiom, KnowledgeBase
from ltn.knowledge.hyperparameters import Hyperparameters, check_weight
from ltn.knowledge.language import Language
from ltn.knowledge.networks import try_network
from ltn.language import Signature, parse
from ltn.language.forms import NUMBER, check_form
from ltn.language.names import list_names
from ltn.training.compilation import is_of_keras

Config = dict[str, Any]

_FORM = {
    "name": (str, None),
    "hyperparameters": {
        "semantics": dict,
        "changed": {str: NUMBER},
        "of_axioms": {str: {str: (bool, *NUMBER)}},
    },
    "regularizer": object,
    "chunk": (int, None),
    "signature": dict,
    "choices": {str: {"names": [str], "features": (list, None), "shape?": [int]}},
    "declarations": [{"kind": str, "name": (str, None), "grounding": dict}],
    # Older files do not tell which axioms are active.
    # Nor do they have relations, whose rows stand elsewhere in the file.
    "relations?": [str],
    "axioms": [{"name": str, "formula": str, "weight": (int, float, str), "active?": bool}],
}
_GROUNDINGS = {
    "individuals": {"names": [str], "trainable": bool, "initializer": object, "regularizer": object},
    "proposition": {"truth_value": NUMBER, "trainable": bool},
    "symbol": {
        "kind": str,
        "name": str,
        "network?": object,
        "network_of?": str,
        "activation?": (str, None),
        "with_class_indexing?": bool,
        "head?": int,
        "heads?": [str],
    },
}


def check(config: Any) -> None:
    """Raise where a configuration has not the form of what `saving` writes."""
    check_form(config, _FORM, "theory")
    for number, part in enumerate(config["declarations"]):
        if part["kind"] not in _GROUNDINGS:
            raise LogicValueError(
                f"`theory.declarations.{number}.kind` must be one of: {', '.join(_GROUNDINGS)}; "
                f"got {part['kind']!r}."
            )
        check_form(part["grounding"], _GROUNDINGS[part["kind"]], f"theory.declarations.{number}.grounding")


def operators_of(config: Config) -> Hyperparameters:
    """The operators of a configuration, without what was set for single axioms."""
    return Hyperparameters.from_config(config["hyperparameters"])


def fill(knowledge: KnowledgeBase, config: Config, operators: Hyperparameters, is_copy: bool) -> None:
    """Declare in an empty theory what a configuration holds; that of a copy fits together."""
    language = knowledge.language
    language.signature = Signature.from_config(config["signature"], config.get("relations", ()))
    for part in config["declarations"]:
        kind, name, grounding = part["kind"], part["name"], part["grounding"]
        if kind == "individuals":
            language.individuals.append(_read_individuals(language, grounding))
        elif kind == "proposition":
            language.propositions[name] = Proposition(**grounding)
        else:
            language.symbols[name] = _read_symbol(language, name, grounding)
    _read_relations(language, config.get("relations", ()))
    if not is_copy:
        _check_groundings(language)
        _try_networks(language)
    for name, choice in config["choices"].items():
        language.restore_choice(name, choice)
    axioms = [_read_axiom(language, axiom) for axiom in config["axioms"]]
    knowledge.restore(axioms, operators, config["hyperparameters"]["of_axioms"], is_copy)


def _read_axiom(language: Language, config: Config) -> Axiom:
    name, weight = config["name"], config["weight"]
    known: float | Proposition
    if isinstance(weight, str):
        # A learned weight is the name of its proposition.
        known = language.propositions.get(weight, 0.0)
        if not isinstance(known, Proposition) or weight != f"weight_of_{name}":
            raise LogicValueError(f"The weight of '{name}' must be its own proposition; got {weight!r}.")
    else:
        known = check_weight(weight, f" in the axiom '{name}'")
    try:
        tree = parse(config["formula"])
    except LogicError as error:
        raise LogicValueError(f"Axiom '{name}': {error}") from error
    return Axiom(name, tree, known, config.get("active", True))


def _read_individuals(language: Language, config: Config) -> Individuals:
    names, constants = config["names"], language.signature.constants
    domain = constants.get(names[0]) if names else None
    if domain is None or any(constants.get(name) is not domain for name in names):
        raise LogicValueError(f"The individuals {list_names(names)} must be constants of one domain.")
    if domain.features is not None or None in domain.shape:
        raise LogicValueError(f"The domain '{domain.name}' takes no constants; got {list_names(names)}.")
    settings = {key: config[key] for key in ("trainable", "initializer", "regularizer")}
    return Individuals(names, domain, **settings)


def _read_symbol(language: Language, name: str, config: Config) -> Symbol:
    symbols, signature = language.symbols, language.signature
    is_function = config["kind"] == "function"
    if name not in (signature.functions if is_function else signature.predicates):
        raise LogicValueError(f"There is a network for {name!r}, which is no declared {config['kind']}.")
    owner = config.get("network_of")
    if owner is not None and owner not in symbols:
        raise LogicValueError(f"'{name}' shares the network of {owner!r}, which is not there.")
    network = config.get("network") if owner is None else symbols[owner].network
    if isinstance(network, dict):
        network = keras.saving.deserialize_keras_object(network)
    if not callable(network):
        raise LogicValueError(f"The network of '{name}' is none: {network!r}.")
    if is_function:
        return Function(network, config["name"])
    if not 0 <= config.get("head", 0) < len(config.get("heads", [name])):
        raise LogicValueError(f"'{name}' is head {config['head']} of {len(config['heads'])}.")
    others = [other for other in symbols.values() if isinstance(other, Predicate)]
    return Predicate.read_from(network, config["name"], config, others)


def _read_relations(language: Language, names: Iterable[str]) -> None:
    """Declare relations by their names; of a copy, the rows are there too."""
    for name in names:
        if name not in language.signature.predicates or name in language.symbols or name in language.known:
            raise LogicValueError(f"The relation {name!r} must be a predicate, and have no network.")
        language.known[name] = language.new_relation(name)
        if isinstance(names, dict):
            language.known[name].set_rows(names[name])


def _try_networks(language: Language) -> None:
    """Raise where a network does not fit the domains of its symbol."""
    signature = language.signature
    for name, symbol in language.symbols.items():
        inputs, output = signature.functions.get(name) or (signature.predicates[name], None)
        network = symbol.network
        if isinstance(network, keras.Layer) and network.built:
            attempt = partial(try_network, symbol, inputs, output)
            if all(map(is_of_keras, layers_within(network))):
                # Shapes alone: what stands in a file may ask for more memory than there is.
                tf.function(attempt, autograph=False).get_concrete_function()
            else:
                attempt()


def _check_groundings(language: Language) -> None:
    """Raise unless every symbol of the signature has its grounding, and no other one is there."""
    signature = language.signature
    tables = [name for table in language.individuals for name in table.names]
    free = {name for name, domain in signature.constants.items() if domain.features is None}
    for what, declared, grounded in (
        ("constants", free, tables),
        ("propositions", signature.propositions, list(language.propositions)),
        (
            "predicates and functions",
            {**signature.predicates, **signature.functions},
            [*language.symbols, *language.known],
        ),
    ):
        if sorted(declared) != sorted(grounded):
            others = sorted(set(declared) ^ set(grounded)) or grounded
            raise LogicValueError(f"Each of the {what} needs one grounding; see: {list_names(others)}.")
