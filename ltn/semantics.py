"""Semantics: one named choice of operators for all connectives, quantifiers and the formula aggregator.

Presets: `stable_product`, the default, made for learning; `product`, the same without projections, exact at
0 and 1, made for querying; `godel` (minimum and maximum) and `lukasiewicz`, each with the implication and the
aggregators of its own t-norm, whose gradients reach few operands or vanish.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ltn import fuzzy_ops
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.base import check_operator

if TYPE_CHECKING:
    from ltn.core import Wrappers

__all__ = ["Semantics", "current", "get", "godel", "lukasiewicz", "product", "stable_product", "using"]

TensorOperator = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Semantics:
    """The operator behind every logical symbol; by default the paper's stable product configuration.

    `And`, `Or`, `Implies` and `Equiv` are called `op(x, y)`, `Not` `op(x)`, and the aggregators `Forall`,
    `Exists` and `SatAgg` (which joins the axioms) `op(xs, axis=...)`. Where `Equiv` is not given it is
    `fuzzy_ops.Equiv(And, Implies)`.

    >>> import ltn
    >>> semantics = ltn.semantics.product.replace(Exists=ltn.fuzzy_ops.Aggreg_Max())
    >>> semantics.Or, semantics.Exists
    (Or_ProbSum(stable=False), Aggreg_Max())
    >>> semantics == ltn.semantics.product
    False
    """

    Not: TensorOperator = fuzzy_ops.Not_Std()
    And: TensorOperator = fuzzy_ops.And_Prod()
    Or: TensorOperator = fuzzy_ops.Or_ProbSum()
    Implies: TensorOperator = fuzzy_ops.Implies_Reichenbach()
    Equiv: Any = None  # composed of And and Implies where it is not given
    Forall: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)
    Exists: TensorOperator = fuzzy_ops.Aggreg_pMean(p=2)
    SatAgg: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.name == "Equiv" and self.Equiv is None:
                object.__setattr__(self, "Equiv", self._composed_equiv())
            check_operator(field.name, getattr(self, field.name))

    def replace(self, **operators: TensorOperator) -> Semantics:
        """A copy with other operators. An `Equiv` composed of `And` and `Implies` follows them.

        >>> import ltn
        >>> godel = ltn.semantics.godel.replace(Implies=ltn.fuzzy_ops.Implies_KleeneDienes())
        >>> godel.Equiv
        Equiv(and_op=And_Min(), implies_op=Implies_KleeneDienes())
        """
        symbols = [field.name for field in dataclasses.fields(self)]
        for name in operators:
            if name not in symbols:
                raise LogicTypeError(f"A semantics has no symbol `{name}`; it has: {', '.join(symbols)}.")
        composed: dict[str, Any] = {"Equiv": None} if self.Equiv == self._composed_equiv() else {}
        return dataclasses.replace(self, **composed | operators)

    def wrap(self) -> Wrappers:
        """The eight wrappers that an LTN program applies to formulas.

        >>> import ltn
        >>> Not, And, Or, Implies, Equiv, Forall, Exists, SatAgg = ltn.semantics.godel.wrap()
        >>> x = ltn.Variable("x", [0.2, 0.9])
        >>> P = ltn.Predicate.Lambda(lambda x: x)
        >>> Forall(x, Not(P(x)))
        Formula(tensor=0.1, free_vars=[])
        """
        # `core` builds on this module, since formulas combine under the semantics in force; its
        # wrappers are reached only here, and only when called.
        from ltn.core.wrappers import wrap

        return wrap(self)

    def _composed_equiv(self) -> fuzzy_ops.Equiv:
        return fuzzy_ops.Equiv(self.And, self.Implies)


stable_product = Semantics()
product = Semantics(
    And=fuzzy_ops.And_Prod(stable=False),
    Or=fuzzy_ops.Or_ProbSum(stable=False),
    Implies=fuzzy_ops.Implies_Reichenbach(stable=False),
    Forall=fuzzy_ops.Aggreg_pMeanError(p=2, stable=False),
    Exists=fuzzy_ops.Aggreg_pMean(p=2, stable=False),
    SatAgg=fuzzy_ops.Aggreg_pMeanError(p=2, stable=False),
)
godel = Semantics(
    And=fuzzy_ops.And_Min(),
    Or=fuzzy_ops.Or_Max(),
    Implies=fuzzy_ops.Implies_Godel(),
    Forall=fuzzy_ops.Aggreg_Min(),
    Exists=fuzzy_ops.Aggreg_Max(),
    SatAgg=fuzzy_ops.Aggreg_Min(),
)
lukasiewicz = Semantics(
    And=fuzzy_ops.And_Luk(),
    Or=fuzzy_ops.Or_Luk(),
    Implies=fuzzy_ops.Implies_Luk(),
    Forall=fuzzy_ops.Aggreg_AndLuk(),
    Exists=fuzzy_ops.Aggreg_OrLuk(),
    SatAgg=fuzzy_ops.Aggreg_AndLuk(),
)

_presets = {
    "stable_product": stable_product,
    "product": product,
    "godel": godel,
    "lukasiewicz": lukasiewicz,
}
_in_force = contextvars.ContextVar("semantics", default=stable_product)


def get(semantics: Semantics | str) -> Semantics:
    """A semantics by the name of its preset; a `Semantics` is returned as it is.

    >>> get("godel").And
    And_Min()
    """
    if isinstance(semantics, Semantics):
        return semantics
    if not isinstance(semantics, str):
        raise LogicTypeError(f"Expected a Semantics or the name of one; got {semantics!r}.")
    if semantics not in _presets:
        raise LogicValueError(f"There is no semantics {semantics!r}; the presets are {', '.join(_presets)}.")
    return _presets[semantics]


def current() -> Semantics:
    """The semantics under which the operators `~ & | >>` of formulas combine them now.

    >>> with using("lukasiewicz"):
    ...     current().And
    And_Luk()
    """
    return _in_force.get()


@contextlib.contextmanager
def using(semantics: Semantics | str) -> Iterator[Semantics]:
    """Set the semantics of the operators `~ & | >>` of formulas, for the length of a `with` block.

    >>> import ltn
    >>> a, b = ltn.Proposition(0.3, trainable=False), ltn.Proposition(0.4, trainable=False)
    >>> with ltn.using("godel"):
    ...     a & b
    Formula(tensor=0.3, free_vars=[])
    """
    semantics = get(semantics)
    token = _in_force.set(semantics)
    try:
        yield semantics
    finally:
        _in_force.reset(token)
