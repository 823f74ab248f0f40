"""A theory as one `.keras` file: its configuration; Keras adds the weights and the optimizer."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import keras

from ltn.core import Function, Predicate, Proposition
from ltn.core.groundings import LogitsModel
from ltn.core.symbols import Symbol
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.groundings import Choice
from ltn.evaluation.individuals import Individuals
from ltn.language import Signature, parse
from ltn.language.names import listed
from ltn.theory.axioms import Axiom
from ltn.theory.hyperparameters import Hyperparameters

if TYPE_CHECKING:
    from ltn.theory.theory import Theory


def load(path: Any) -> Theory:
    """Read a theory from the `.keras` file that `theory.save(path)` wrote.

    `keras.models.load_model` does the same. Custom layers must be registered with Keras, as usual; no code
    in the file is executed.

    >>> import ltn, os, tempfile
    >>> theory = ltn.Theory()
    >>> A = theory.proposition("A", 0.25)
    >>> path = os.path.join(tempfile.mkdtemp(), "theory.keras")
    >>> theory.save(path)
    >>> ltn.load(path).query("A")
    Formula(tensor=0.25, free_vars=[])
    """
    from ltn.theory.theory import Theory

    model = keras.models.load_model(path)
    if not isinstance(model, Theory):
        raise LogicTypeError(
            f"{path} holds a {type(model).__name__}, not a theory: use keras.models.load_model."
        )
    return model


def config_of(theory: Theory) -> dict[str, Any]:
    """What a theory consists of, but for its weights."""
    code = _axioms_in_python(theory)
    if code:
        raise LogicValueError(
            f"The theory cannot be saved: the axioms {code} are Python code. Write them as "
            "text, or save the weights only: theory.save_weights('theory.weights.h5')."
        )
    parts: dict[str, Any] = {name: symbol.network for name, symbol in theory.symbols.items()}
    parts["the regularizer"] = theory.regularizer
    for table in theory.individuals:
        parts[f"the regularizer of {listed(table.names)}"] = table.regularizer
    unsaved = [name for name, part in parts.items() if part is not None and not _can_be_saved(part)]
    if unsaved:
        raise LogicValueError(
            f"The theory cannot be saved: {', '.join(unsaved)} are Python code. Make each "
            "a Keras layer, or register the function with keras.saving.register_keras_serializable; or save "
            "the weights only: theory.save_weights('theory.weights.h5')."
        )
    # An initializer that is code is left out: the values are among the weights.
    return _description(
        theory, lambda part: keras.saving.serialize_keras_object(part) if _can_be_saved(part) else None
    )


def copied(theory: Theory) -> Theory:
    """A theory of the same language, with weights of its own; plain Python code is shared by both."""
    code = _axioms_in_python(theory)
    if code:
        raise LogicValueError(
            f"The theory cannot be copied: the axioms {code} are Python code, which knows the symbols of "
            "this theory only. Write them as text."
        )
    twins: dict[int, keras.Layer] = {}

    def packed(part: Any) -> Any:
        return rebuilt(part, twins) if isinstance(part, keras.Layer) else part

    copy = restored(type(theory), _description(theory, packed))
    if len(copy.weights) != len(theory.weights):
        raise LogicValueError(
            "The theory cannot be copied: networks of different symbols share layers. Give each a network "
            "of its own, or all of them the same."
        )
    for own, weight in zip(copy.weights, theory.weights, strict=True):
        own.assign(weight.value)
    return copy


def rebuilt(network: keras.Layer, twins: dict[int, keras.Layer] | None = None) -> keras.Layer:
    """A network of the same configuration, with weights of its own, initialised afresh.

    `twins` holds the layers that were rebuilt before, by the identity of the original: what networks share
    stays shared. Layers without weights are shared by both.
    """
    twins = {} if twins is None else twins

    def twin_of(layer: keras.Layer) -> keras.Layer:
        if id(layer) not in twins:
            if not layer.weights and not isinstance(layer, keras.layers.InputLayer):
                twins[id(layer)] = layer
            elif isinstance(layer, keras.Sequential) or getattr(layer, "inputs", None):
                twins[id(layer)] = keras.models.clone_model(layer, clone_function=twin_of)
            else:
                twins[id(layer)] = type(layer).from_config(layer.get_config())
        return twins[id(layer)]

    problem = "its weights are others then."
    shapes = [tuple(weight.shape) for weight in network.weights]
    try:
        twin = twin_of(network)
        if not twin.built:
            twin.build_from_config(network.get_build_config())
    except (NotImplementedError, TypeError, ValueError) as error:
        twin, problem = None, str(error).strip().split("\n")[0]
    if twin is None or [tuple(weight.shape) for weight in twin.weights] != shapes:
        raise LogicValueError(
            f"Keras cannot rebuild the network '{network.name}', a {type(network).__name__}, from its "
            f"configuration: {problem} Its classes need a get_config() that returns the arguments of "
            "__init__, which passes the others, **kwargs, on."
        )
    for own, weight in zip(twin.weights, network.weights, strict=True):
        own.trainable = weight.trainable
    return twin


def _axioms_in_python(theory: Theory) -> str:
    return ", ".join(axiom.name for axiom in theory.axiom_list if axiom.tree is None)


def _description(theory: Theory, packed: Callable[[Any], Any]) -> dict[str, Any]:
    """The parts of a theory; `packed` tells how networks and regularizers stand in it."""
    return {
        "name": theory.name,
        "hyperparameters": theory._hyperparameters.get_config(),
        "regularizer": packed(theory.regularizer),
        "chunk": theory.chunk,
        "signature": theory.signature.get_config(),
        "choices": {name: choice.get_config() for name, choice in theory.choices.items()},
        # In the order of declaration, which is that of the weights, and of what the optimizer knows of them.
        "declarations": [part for layer in theory.layers for part in _declarations(theory, layer, packed)],
        "axioms": [
            {"name": axiom.name, "formula": str(axiom), "weight": axiom.weight} for axiom in theory.axiom_list
        ],
    }


def restored(cls: type[Theory], config: dict[str, Any]) -> Theory:
    """The theory that a configuration describes; its weights are loaded afterwards."""
    hyperparameters = Hyperparameters.from_config(config["hyperparameters"])
    settings = {key: config.get(key) for key in ("name", "regularizer", "chunk")}
    theory = cls(hyperparameters.semantics, **settings)
    theory._hyperparameters = hyperparameters
    theory.signature = signature = Signature.from_config(config["signature"])
    for name, choice in config["choices"].items():
        theory.choices[name] = Choice.from_config(choice)
    for part in config["declarations"]:
        kind, name = part["kind"], part["name"]
        if kind == "individuals":
            theory.individuals.append(_restored_individuals(signature, part["grounding"]))
        elif kind == "proposition":
            theory.propositions[name] = Proposition(**part["grounding"])
        else:
            theory.symbols[name] = _restored_symbol(part["grounding"])
    for axiom in config["axioms"]:
        theory._axioms[axiom["name"]] = Axiom(axiom["name"], parse(axiom["formula"]), axiom["weight"])
    return theory


def _declarations(
    theory: Theory, layer: keras.Layer, packed: Callable[[Any], Any]
) -> Iterator[dict[str, Any]]:
    """What a layer of the theory grounds: individuals, a proposition, or symbols (several may share it)."""
    if any(layer is table for table in theory.individuals):
        parts = {name: packed(getattr(layer, name)) for name in ("initializer", "regularizer")}
        yield {"kind": "individuals", "name": None, "grounding": layer.get_config() | parts}
    for name, proposition in theory.propositions.items():
        if proposition is layer:
            grounding = {"truth_value": float(proposition.tensor), "trainable": proposition.trainable}
            yield {"kind": "proposition", "name": name, "grounding": grounding}
    for name, symbol in theory.symbols.items():
        if symbol is layer:
            yield {"kind": "symbol", "name": name, "grounding": _symbol(symbol, packed)}


def _restored_individuals(signature: Signature, config: dict[str, Any]) -> Individuals:
    domain = signature.constants[config["names"][0]]
    settings = {key: config[key] for key in ("trainable", "initializer", "regularizer")}
    return Individuals(config["names"], domain, **settings)


def _can_be_saved(part: Any) -> bool:
    """Whether Keras restores a network, a regularizer or an initializer without executing code."""
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
    # Keras writes the code of a lambda, and says so, or warns of it where it stands inside a layer.
    return "__lambda__" not in written and not any("lambda" in str(warning.message) for warning in caught)


def _symbol(symbol: Symbol, packed: Callable[[Any], Any]) -> dict[str, Any]:
    config: dict[str, Any] = {
        "kind": "predicate" if isinstance(symbol, Predicate) else "function",
        "name": symbol.name,
        "network": packed(symbol.network),
    }
    if isinstance(symbol.model, LogitsModel):
        config["activation"] = symbol.model.activation_function
        config["with_class_indexing"] = symbol.model.with_class_indexing
    return config


def _restored_symbol(config: dict[str, Any]) -> Symbol:
    network = config["network"]
    if isinstance(network, dict):
        network = keras.saving.deserialize_keras_object(network)
    if config["kind"] == "function":
        return Function(network, config["name"])
    if "activation" not in config:
        return Predicate(network, config["name"])
    return Predicate.FromLogits(
        network, config["activation"], config["with_class_indexing"], name=config["name"]
    )
