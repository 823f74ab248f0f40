"""A theory as one `.keras` file: its configuration, which `restoring` reads; Keras adds the weights."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from ltn.core import Predicate
from ltn.core.symbols import Symbol
from ltn.errors import LogicFileError, LogicValueError
from ltn.files import read_arrays
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.language import Language
from ltn.knowledge.networks import rebuild
from ltn.language.names import list_names

Config = dict[str, Any]

# The file of the rows of relations, within that of a theory.
_ROWS = "relations.npz"


def config_of(knowledge: KnowledgeBase, layers: Sequence[keras.Layer], settings: Config) -> Config:
    """What a theory consists of, without its weights, in a form that JSON can hold.

    Args:
        knowledge: its axioms, operators and language.
        layers: the layers of its language, in order of declaration.
        settings: its name, its regularizer and its chunk.
    """
    code = _axioms_in_python(knowledge)
    if code:
        raise LogicValueError(
            f"The theory cannot be saved: the axioms {code} are Python code. Write them as "
            "text, or save the weights only: theory.save_weights('theory.weights.h5')."
        )
    language = knowledge.language
    parts: dict[str, Any] = {name: symbol.network for name, symbol in language.symbols.items()}
    parts["the regularizer"] = settings["regularizer"]
    for table in language.individuals:
        parts[f"the regularizer of {list_names(table.names)}"] = table.regularizer
    unsaved = [name for name, part in parts.items() if part is not None and not _can_be_saved(part)]
    if unsaved:
        raise LogicValueError(
            f"The theory cannot be saved: {', '.join(unsaved)} are Python code. Make each "
            "a Keras layer, or register the function with keras.saving.register_keras_serializable; or save "
            "the weights only: theory.save_weights('theory.weights.h5')."
        )

    def pack(part: Any) -> Any:
        # An initializer that is code is left out: the values are among the weights.
        return keras.saving.serialize_keras_object(part) if _can_be_saved(part) else None

    # Their rows are not in the configuration: `save_rows` writes them.
    return _config(knowledge, layers, settings, pack) | {"relations": list(language.known)}


def config_of_copy(knowledge: KnowledgeBase, layers: Sequence[keras.Layer], settings: Config) -> Config:
    """Like `config_of`, but with rebuilt networks, and with the same Python code."""
    code = _axioms_in_python(knowledge)
    if code:
        raise LogicValueError(
            f"The theory cannot be copied: the axioms {code} are Python code, which knows the symbols of "
            "this theory only. Write them as text."
        )
    twins: dict[int, keras.Layer] = {}

    def pack(part: Any) -> Any:
        return rebuild(part, twins) if isinstance(part, keras.Layer) else part

    rows = {name: relation.rows for name, relation in knowledge.language.known.items()}
    return _config(knowledge, layers, settings, pack) | {"relations": rows}


def save_rows(language: Language, folder: str) -> None:
    """Write the rows of the relations to a folder, which becomes part of the file of the theory."""
    if language.known:
        rows = [relation.rows for relation in language.known.values()]
        np.savez(os.path.join(folder, _ROWS), *rows)


def load_rows(language: Language, folder: str | None) -> None:
    """Give the relations the rows that `save_rows` wrote."""
    path = os.path.join(folder or "", _ROWS)
    if folder is None or not os.path.exists(path):
        return
    arrays, count = read_arrays(path), language.groundings().roster
    for relation, (key, rows) in zip(language.known.values(), arrays.items(), strict=False):
        sizes = [len(count(domain)) for domain in relation.domains]
        is_table = rows.ndim == 2 and rows.shape[1] == len(sizes) and rows.dtype == np.int32
        if not is_table or not ((rows >= 0) & (rows < sizes)).all():
            raise LogicFileError(
                f"the rows of the relation '{relation.name}' must be places of individuals, int32, "
                f"(m, {len(sizes)}), below {sizes}; '{key}' has the shape {rows.shape}, {rows.dtype}."
            )
        relation.set_rows(rows)


def copy_weights(theory: keras.Model, copy: keras.Model) -> None:
    """Give a copy the weights of the theory that it was made from."""
    if len(copy.weights) != len(theory.weights):
        raise LogicValueError(
            "The theory cannot be copied: networks of different symbols share layers. Give each a network "
            "of its own, or all of them the same."
        )
    for own, weight in zip(copy.weights, theory.weights, strict=True):
        own.assign(weight.value)


def _axioms_in_python(knowledge: KnowledgeBase) -> str:
    return ", ".join(axiom.name for axiom in knowledge.axiom_list if axiom.tree is None)


def _config(
    knowledge: KnowledgeBase,
    layers: Sequence[keras.Layer],
    settings: Config,
    pack: Callable[[Any], Any],
) -> Config:
    """The configuration of a theory; `pack` turns networks and regularizers into what stands in it."""
    language = knowledge.language
    # Each network stands once in the file, under the first symbol that has it.
    owners: dict[int, str] = {}
    return {
        "name": settings["name"],
        "hyperparameters": knowledge.operators.get_config(),
        "regularizer": pack(settings["regularizer"]),
        "chunk": settings["chunk"],
        "signature": language.signature.get_config(),
        "choices": {name: choice.get_config() for name, choice in language.choices.items()},
        # In the order of declaration, which is also that of the weights and of the optimizer's variables.
        "declarations": [part for layer in layers for part in _declarations(language, layer, pack, owners)],
        "axioms": [
            {
                "name": axiom.name,
                "formula": str(axiom),
                "weight": axiom.proposition or axiom.weight,
                "active": axiom.active,
            }
            for axiom in knowledge.axiom_list
        ],
    }


def _declarations(
    language: Language, layer: keras.Layer, pack: Callable[[Any], Any], owners: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """What a layer grounds: individuals, a proposition, or symbols (several may share it)."""
    if any(layer is table for table in language.individuals):
        parts = {name: pack(getattr(layer, name)) for name in ("initializer", "regularizer")}
        yield {"kind": "individuals", "name": None, "grounding": layer.get_config() | parts}
    for name, proposition in language.propositions.items():
        if proposition is layer:
            grounding = {"truth_value": float(proposition.tensor), "trainable": proposition.trainable}
            yield {"kind": "proposition", "name": name, "grounding": grounding}
    for name, symbol in language.symbols.items():
        if symbol is layer:
            owner = owners.setdefault(id(symbol.network), name)
            network = {"network": pack(symbol.network)} if owner == name else {"network_of": owner}
            yield {"kind": "symbol", "name": name, "grounding": _symbol(symbol) | network}


def _can_be_saved(part: Any) -> bool:
    """Whether Keras can read back a network, a regularizer or an initializer without executing code."""
    kind = part if hasattr(part, "__name__") else type(part)
    known = keras.saving.get_registered_object(keras.saving.get_registered_name(kind)) is not None
    if not known and not isinstance(part, keras.Layer) and not kind.__module__.startswith("keras."):
        return False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            written = json.dumps(keras.saving.serialize_keras_object(part))
        except (TypeError, ValueError):
            return False
    # Keras writes the code of a lambda, and marks it, or warns if it stands inside a layer.
    return "__lambda__" not in written and not any("lambda" in str(warning.message) for warning in caught)


def _symbol(symbol: Symbol) -> Config:
    kind = "predicate" if isinstance(symbol, Predicate) else "function"
    return {"kind": kind, "name": symbol.name} | symbol.reading()
