"""Reading the file of a theory, which may come from anyone: it is checked before Keras reads it."""

from __future__ import annotations

import inspect
import io
import json
import math
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import h5py
import keras
import numpy as np
import tensorflow as tf

from ltn import _private, files
from ltn.errors import LogicError, LogicFileError, LogicTypeError
from ltn.language import Signature
from ltn.language.forms import check_form
from ltn.language.names import list_names
from ltn.theory import restoring
from ltn.theory.theory import Theory

_CONFIG, _WEIGHTS = "config.json", "model.weights.h5"
_FORM = {"config": dict, "registered_name": (str, None), "class_name": str, "module": (str, None)}
# Of a reason that Keras gives, which may show the whole configuration.
_MOST_LETTERS = 500


def load(path: Any) -> Theory:
    """Read a theory from the `.keras` file that `theory.save(path)` wrote.

    `keras.models.load_model` reads it too. Custom layers must be registered with Keras, as usual. The file
    may come from anyone: no code in it is executed, it cannot ask for much more memory than it takes up, and
    what it says must fit together. Otherwise a `LogicFileError` names the file and the reason.

    >>> import ltn, os, tempfile
    >>> theory = ltn.Theory()
    >>> A = theory.proposition("A", 0.25)
    >>> path = os.path.join(tempfile.mkdtemp(), "theory.keras")
    >>> theory.save(path)
    >>> ltn.load(path).query("A")
    Formula(tensor=0.25, free_vars=[])
    """
    name = files.name_of(path)
    try:
        # Keras itself fetches a file from elsewhere, and reads the folder that it writes if it is asked to.
        is_left_to_keras = files.is_remote(name) or os.path.isfile(os.path.join(name, _CONFIG))
        other, model = None if is_left_to_keras else _check(name), None
        if other is None:
            with tf.variable_creator_scope(_create_unnamed):
                model = keras.models.load_model(name)
            other = type(model).__name__
        if isinstance(model, Theory):
            _check_values(model)
    except Exception as error:
        raise _refusal(name, error) from error
    if not isinstance(model, Theory):
        raise LogicTypeError(f"{name} holds a {other}, not a theory: use keras.models.load_model.")
    return model


def _create_unnamed(next_creator: Callable[..., tf.Variable], **settings: Any) -> tf.Variable:
    """Make a variable that has no name of its own for TensorFlow; Keras keeps the name of its weight.

    TensorFlow keeps a kernel for each name that it ever saw, of 35 kB, and Keras numbers most names.
    """
    with tf.name_scope(""):
        return next_creator(**settings | {"name": "loaded"})


def _check(name: str) -> str | None:
    """Raise for a file that `save` cannot have written, or that asks for more memory than it may.

    Returns the class of what the file holds, if it is not a theory.
    """
    with open(name, "rb") as file:
        if not name.endswith(".keras"):
            raise LogicFileError("the name of the file of a theory ends with .keras.")
        if not zipfile.is_zipfile(file):
            raise LogicFileError("the file is no zip archive as `save` writes it, or not a whole one.")
        files.check_archive(file)
        allowed = files.most_bytes(file.seek(0, os.SEEK_END))
        with zipfile.ZipFile(file) as archive:
            config = _read_config(archive)
            kind = keras.saving.get_registered_object(config.get("registered_name"))
            if kind is None and not str(config["module"]).startswith("keras"):
                raise LogicFileError(
                    f"it holds a {config['class_name']}, which is not known: decorate the class with "
                    "@keras.saving.register_keras_serializable()."
                )
            if not inspect.isclass(kind) or not issubclass(kind, Theory):
                return str(config["class_name"])
            _check_weights(archive.read(_WEIGHTS), allowed)
    asked = _bytes_asked(config["config"])
    if asked > allowed:
        raise LogicFileError(
            f"the weights that it asks for take up {asked:,} bytes; for a file of its size {allowed:,} are "
            "allowed."
        )
    return None


def _read_config(archive: zipfile.ZipFile) -> dict[str, Any]:
    members = archive.namelist()
    if {_CONFIG, _WEIGHTS} - set(members):
        raise LogicFileError(f"the file must hold {_CONFIG} and {_WEIGHTS}; it holds {list_names(members)}.")
    for member in members:
        if PurePosixPath(member).is_absolute() or ".." in PurePosixPath(member).parts:
            raise LogicFileError(f"the file holds {member!r}, which lies outside of it.")
    config = json.loads(archive.read(_CONFIG))
    check_form(config, _FORM, _CONFIG)
    return config


def _check_weights(content: bytes, allowed: int) -> None:
    """Raise where the weights unpack to more than is allowed, or stand elsewhere."""
    asked = 0
    with h5py.File(io.BytesIO(content), "r") as file:
        parts: list[Any] = [file]
        # It comes to each part once.
        file.visititems(lambda _, part: parts.append(part))
        for part in parts:
            if isinstance(part, h5py.Dataset):
                if part.external or part.is_virtual:
                    raise LogicFileError("its weights are read from another file.")
                asked += (part.size or 0) * part.dtype.itemsize
            elif isinstance(part, h5py.Group):
                kinds = (part.get(name, getclass=True, getlink=True) for name in part)
                if any(kind is not h5py.HardLink for kind in kinds):
                    raise LogicFileError("its weights are links to others.")
    if asked > allowed:
        raise LogicFileError(f"its weights unpack to {asked:,} bytes; {allowed:,} are allowed.")


def _bytes_asked(config: dict[str, Any]) -> int:
    """How many bytes the weights of a theory take up."""
    restoring.check(config)
    constants = Signature.from_config(config["signature"], config.get("relations", ())).constants
    groundings = [part["grounding"] for part in config["declarations"]]
    features = 0
    for table in (grounding for grounding in groundings if "names" in grounding):
        shapes = [constants[name].shape for name in table["names"] if name in constants]
        features += sum(math.prod(size or 1 for size in shape) for shape in shapes)
    networks = [each["network"] for each in groundings if isinstance(each.get("network"), dict)]
    # Keras draws seeds, as it will when it makes the networks.
    state = random.getstate()
    try:
        return 4 * features + _private.bytes_of_weights(
            lambda: [keras.saving.deserialize_keras_object(network) for network in networks]
        )
    finally:
        random.setstate(state)


def _check_values(theory: Theory) -> None:
    """Raise where a truth value or an individual cannot be what it is."""
    for name, proposition in theory.propositions.items():
        truth = float(proposition.tensor)
        if not 0.0 <= truth <= 1.0:
            raise LogicFileError(f"the truth of '{name}' must lie in [0, 1]; it is {truth}.")
    for relation in theory.known.values():
        if not relation.is_loaded:
            raise LogicFileError(f"the rows of the relation '{relation.name}' are not in it.")
    for table in theory.individuals:
        features = table.tensor.numpy()
        if not np.isfinite(features).all() or not table.domain.contains(features).all():
            raise LogicFileError(
                f"the individuals {list_names(table.names)} must be finite, and inside the bounds of their "
                f"domain '{table.domain.name}'."
            )


def _refusal(name: str, error: Exception) -> LogicFileError:
    """The error that names the file and the reason: that of ours, where one is behind it."""
    inner: BaseException | None = error
    while inner is not None and not isinstance(inner, LogicError | OSError):
        inner = inner.__cause__ or inner.__context__
    if inner is not None:
        return files.unreadable(name, inner)
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    reason = reason if len(reason) <= _MOST_LETTERS else f"{reason[:_MOST_LETTERS]}..."
    return LogicFileError(f"{name}: the file cannot be read: {reason}")
