"""What a model and a theory have in common: the networks that both learn, and the rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras

from ltn import _private
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.names import list_names
from ltn.theory.theory import Theory
from ltn.training import mixture


def check(model: Any, theory: Any, inputs: Any, targets: Any) -> None:
    """Raise for arguments of `with_knowledge` by which the model could not learn from the theory."""
    if isinstance(model, Theory):
        raise LogicTypeError("`model` is a theory: give the model first, and then the theory.")
    if not isinstance(theory, Theory):
        raise LogicTypeError(f"`theory` must be an ltn.Theory; got {theory!r}.")
    if not isinstance(model, keras.Model):
        raise LogicTypeError(f"`model` must be a keras.Model; got {model!r}.")
    for variable in (inputs, targets):
        if variable is not None and theory.signature.kind(variable) != "variable":
            raise LogicValueError(f"The theory has no variable {variable!r}.")
    if inputs is not None and inputs == targets:
        raise LogicValueError(
            f"The variable '{inputs}' cannot range over both the inputs and the targets: declare another "
            "one, and name each: inputs='x', targets='l'."
        )
    _check_layers(model, theory)


def only_variable(theory: Theory, targets: str | None) -> str | None:
    """The one variable that needs data, apart from that of the targets; raise where there are several."""
    open_variables = [name for name in theory.knowledge.open_variables() if name != targets]
    if len(open_variables) > 1:
        raise LogicValueError(
            f"The axioms mention several variables without individuals: {', '.join(open_variables)}. Say "
            "which one ranges over the inputs of the model: `inputs=...`."
        )
    return open_variables[0] if open_variables else None


def individuals(theory: Theory, x: Any, y: Any, inputs: str | None, targets: str | None) -> dict[str, Any]:
    """The individuals of the theory's variables in a batch of inputs and targets.

    Args:
        theory: its variables and domains have the names of the data that are taken.
        x, y: the batch; the inputs may be a `Mixture`, and may be named.
        inputs, targets: the variables that range over the inputs without a name, and over the targets.
    """
    known = (*theory.signature.variables, *theory.signature.domains)

    def by_name(rows: Any) -> dict[str, Any]:
        named = rows if isinstance(rows, Mapping) else {str(inputs): rows}
        return {name: values for name, values in named.items() if name in known}

    data = by_name(mixture.labelled_part(x))
    if isinstance(x, mixture.Mixture):
        more = by_name(x.unlabelled)
        if targets is not None and more.keys() & data.keys():
            raise LogicValueError(
                f"Axioms pair '{targets}' with the inputs, and unlabelled rows have no targets. Give these "
                "rows to another variable: unlabelled={'u': ...}."
            )
        data = mixture.join(data, more)
    return data if targets is None else data | {targets: y}


def _check_layers(model: keras.Model, theory: Theory) -> None:
    """Raise where the theory is about networks that have no layer in common with the model.

    What is Python code may call the model; then nothing is known.
    """
    networks = {name: symbol.network for name, symbol in theory.language.symbols.items()}
    are_known = all(isinstance(network, keras.Layer) for network in networks.values())
    if not networks or not are_known or any(axiom.tree is None for axiom in theory.axiom_list):
        return
    layers = [layer for network in networks.values() for layer in _private.layers_within(network)]
    if any(isinstance(layer, keras.layers.Lambda) for layer in layers):
        return
    own = {id(layer) for layer in _private.layers_within(model)}
    if own.isdisjoint(map(id, layers)):
        raise LogicValueError(
            f"The theory is not about the model: the networks of {list_names(list(networks))} have no layer "
            f"in common with the model '{model.name}', which would learn nothing from the axioms. Ground a "
            "predicate in it: theory.predicate('P', (points, classes), ltn.Predicate.FromLogits(model, "
            "'softmax'))."
        )
