"""A theory for serving: a SavedModel that TensorFlow runs without this library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn.checks import layer_name
from ltn.core import Term
from ltn.core.symbols import Symbol
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.plan import Options
from ltn.evaluation.spaces import space_of
from ltn.knowledge.data import read_batch
from ltn.knowledge.places import are_indices
from ltn.knowledge.satisfaction import satisfaction, truths_by_name
from ltn.language import Domain, Quantifier, Signature

# Under this name it gives the satisfaction and the truth of each axiom.
SATISFACTION = "serve"


def export(
    theory: Any,
    filepath: Any,
    format: str = "tf_saved_model",  # noqa: A002, Keras's name of it
    verbose: bool | None = None,
) -> None:
    """Write the predicates and functions of the theory, and its axioms, as a SavedModel.

    `tf.saved_model.load(filepath)` has a method for each symbol, which takes a tensor for each argument, with
    as many rows each: (N, *features). A predicate returns the truth of each row, (N,); a function the
    features, (N, *features). The method `serve` takes the data of the axioms as a dictionary, and returns the
    satisfaction and the truth of each axiom. Where a `diag` pairs variables over domains of different sizes,
    these are among the data: a column of indices, int32 of shape (N,), if an individual is more than one
    number.

    >>> import ltn, tempfile
    >>> theory = ltn.Theory()
    >>> points = theory.domain("points", shape=2)
    >>> P = theory.predicate("P", points, ltn.Predicate.MLP([2]))
    >>> folder = tempfile.mkdtemp()
    >>> theory.export(folder, verbose=False)
    >>> served = tf.saved_model.load(folder)
    >>> served.P(tf.zeros((3, 2))).shape
    TensorShape([3])
    """
    if format != "tf_saved_model":
        raise LogicValueError(f"A theory is exported as 'tf_saved_model'; got format={format!r}.")
    if not isinstance(filepath, str | os.PathLike):
        raise LogicTypeError(f"A theory is exported to a folder, given by its path; got {filepath!r}.")
    signature, archive = theory.signature, keras.export.ExportArchive()
    archive.track(theory)
    for name, symbol in theory.language.symbols.items():
        domains = signature.predicates[name] if name in signature.predicates else signature.functions[name][0]
        archive.add_endpoint(name, _on_rows(symbol, len(domains)), _inputs(name, symbol, domains))
    if theory.axiom_list and SATISFACTION not in theory.language.symbols:
        data = {
            variable: _rows_of(signature.variables[variable], layer_name(variable))
            for variable in _open(theory)
        }
        data |= {variable: _column_of(signature, variable) for variable in _paired(theory)}
        archive.add_endpoint(SATISFACTION, _truths(theory), [data] if data else [])
    archive.write_out(filepath, verbose=verbose)


def _truths(theory: Any) -> Callable[..., dict[str, tf.Tensor]]:
    """The satisfaction and the axioms on data; weights and hyper-parameters stay as they are now."""
    space, axioms = space_of(theory.knowledge.plain_semantics), theory.axiom_list
    options = {axiom.name: _plain(theory.options_of(axiom)) for axiom in axioms}

    def serve(data: Mapping[str, tf.Tensor] | None = None) -> dict[str, tf.Tensor]:
        evaluation = theory.evaluation(space, read_batch(theory.signature, data or {}), chunk=theory.chunk)
        return truths_by_name(
            satisfaction(axioms, lambda axiom: options[axiom.name], evaluation), axioms, space
        )

    return serve


def _open(theory: Any) -> list[str]:
    """The variables of the axioms that have no individuals."""
    needed: list[str] = theory.knowledge.open_variables()
    return needed


def _paired(theory: Any) -> list[str]:
    """The variables with individuals that a `diag` pairs, but only within data."""
    groundings, found = theory.language.groundings(), dict[str, None]()
    for axiom in theory.axiom_list:
        for node in axiom.tree.walk() if axiom.tree is not None else ():
            for group in node.groups if isinstance(node, Quantifier) else ():
                if len({groundings.count(variable) for variable in group}) > 1:
                    found.update(dict.fromkeys(group))
    needed = _open(theory)
    return [variable for variable in found if variable not in needed]


def _column_of(signature: Signature, variable: str) -> tf.TensorSpec:
    domain = signature.variables[variable]
    column = tf.TensorSpec((None,), tf.int32, layer_name(variable))
    return column if are_indices(signature, domain, column) else _rows_of(domain, layer_name(variable))


def _plain(options: Options) -> Options:
    return {kind: {name: float(value) for name, value in own.items()} for kind, own in options.items()}


def _on_rows(symbol: Symbol, count: int) -> Callable[..., tf.Tensor]:
    """The symbol on tensors, row by row."""

    def call(*arguments: tf.Tensor) -> tf.Tensor:
        terms = [Term(argument, ["row"]) for argument in arguments]
        return symbol(terms if count > 1 or symbol.picks_class else terms[0]).tensor

    return call


def _inputs(name: str, symbol: Symbol, domains: Sequence[Domain]) -> list[tf.TensorSpec]:
    parts = [part for domain in domains for part in domain.parts or (domain,)]
    return [_rows_of(part, f"argument_{number}") for number, part in enumerate(parts, start=1)]


def _rows_of(domain: Domain, name: str) -> tf.TensorSpec:
    return tf.TensorSpec((None, *domain.shape), tf.float32, name)
