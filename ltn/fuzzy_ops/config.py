"""Operators described by plain data, and built again from it."""

import dataclasses
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ltn import fuzzy_ops
from ltn.errors import LogicValueError
from ltn.fuzzy_ops.base import Operator


def describe(what: str, operator: Callable[..., Any]) -> dict[str, Any]:
    """The class and the hyper-parameters of a library operator, fit for JSON.

    A tensor is described by its present value, an operator inside another by a description of its own.

    >>> from ltn.fuzzy_ops import Aggreg_pMean
    >>> describe("Exists", Aggreg_pMean(p=6))
    {'class_name': 'Aggreg_pMean', 'config': {'p': 6, 'stable': True}}
    """
    name = type(operator).__name__
    if not isinstance(operator, Operator) or _operators().get(name) is not type(operator):
        raise LogicValueError(
            f"`{what}` cannot be saved: {operator!r} is no operator of ltn.fuzzy_ops. "
            "Build the semantics in code instead."
        )
    fields = {field.name: getattr(operator, field.name) for field in dataclasses.fields(operator)}
    return {"class_name": name, "config": {key: _plain(key, value) for key, value in fields.items()}}


def build(description: Mapping[str, Any]) -> Operator:
    """The operator that `describe` described; it is one of `ltn.fuzzy_ops`.

    >>> build({"class_name": "Aggreg_pMean", "config": {"p": 6}})
    Aggreg_pMean(p=6, stable=True)
    """
    name = description.get("class_name") if isinstance(description, Mapping) else None
    if not isinstance(name, str) or name not in _operators():
        raise LogicValueError(
            f"There is no operator {name!r} in ltn.fuzzy_ops to restore {description!r} by."
        )
    given = description.get("config", {})
    if not isinstance(given, Mapping):
        raise LogicValueError(f"The `config` of {name} must be a dictionary; got {given!r}.")
    config = {key: build(value) if isinstance(value, Mapping) else value for key, value in given.items()}
    kind = _operators()[name]
    known = [field.name for field in dataclasses.fields(kind)]
    for key, value in config.items():
        if key not in known:
            raise LogicValueError(f"{name} has no hyper-parameter {key!r} to restore {description!r} by.")
        if not isinstance(value, Operator | numbers.Real):
            raise LogicValueError(f"`{key}` of {name} must be a number, true or false; got {value!r}.")
    return kind(**config)


def _operators() -> dict[str, type[Operator]]:
    public = (getattr(fuzzy_ops, name) for name in fuzzy_ops.__all__)
    return {
        kind.__name__: kind
        for kind in public
        if inspect.isclass(kind) and issubclass(kind, Operator) and not inspect.isabstract(kind)
    }


def _plain(what: str, value: Any) -> Any:
    if callable(value):
        return describe(what, value)
    if tf.is_tensor(value):
        value = value.numpy()
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)
