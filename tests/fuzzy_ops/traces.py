"""How often operators were traced."""

from typing import Any

from ltn.fuzzy_ops.base import Operator


def traces_of(operator: Any) -> int:
    """The number of traces of all operators of a class, whatever their settings."""
    kind = operator if isinstance(operator, type) else type(operator)
    functions = [function for (cls, *_), function in Operator._compiled.items() if cls is kind]
    return sum(function.experimental_get_tracing_count() for function in functions)
