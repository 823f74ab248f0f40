"""How methods of a theory's parts become methods of the theory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from ltn.evaluation.groundings import DeclaredVariable
from ltn.language import Domain

P = ParamSpec("P")
R = TypeVar("R")


def delegate_to(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of a part of the theory as one of the theory: the same signature and documentation."""

    @functools.wraps(method)
    def delegate(theory: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(getattr(theory, part), *args, **kwargs)

    return delegate


class Weights(list[Any]):
    """The weights of a theory, as `variables` of any Keras model; called, it declares logical variables."""

    def __init__(self, weights: Sequence[Any], declare: Callable[..., list[DeclaredVariable]]):
        super().__init__(weights)
        self._declare = declare

    def __call__(self, names: str, domain: Domain, values: Any = None) -> list[DeclaredVariable]:
        """Declare logical variables."""
        return self._declare(names, domain, values)
