"""Semantics: one named choice of operators for all connectives, quantifiers and the formula aggregator.

Presets: `stable_product`, the default, made for learning; `product`, the same without projections, exact at
0 and 1, made for querying; `godel` (minimum and maximum) and `lukasiewicz`, each with the implication and the
aggregators of its own t-norm, whose gradients reach few operands or vanish; `log_product`, of another class,
computes with the logarithms of truth values.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast, overload

from ltn import fuzzy_ops
from ltn.core import (
    Wrapper_Connective,
    Wrapper_Formula_Aggregator,
    Wrapper_Quantifier,
    Wrappers,
    in_force,
)
from ltn.core.in_force import TensorOperator
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops.base import check_operator
from ltn.fuzzy_ops.record import Record
from ltn.language.quantifiers import EXISTS, FORALL

__all__ = [
    "LogSemantics",
    "Semantics",
    "current",
    "from_config",
    "get",
    "godel",
    "log_product",
    "lukasiewicz",
    "product",
    "stable_product",
    "using",
]

# What formulas on truth values have and formulas on log-truths do not.
_TRUTH_VALUED = ("Not", "Implies", "Equiv", "wrap")
_WHOLE_FORMULAS = (
    "It evaluates whole formulas, in negation normal form, not one operator at a time: "
    'use it in ltn.Theory("log_product").'
)


@dataclasses.dataclass(frozen=True)
class Semantics(Record):
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

    Not: TensorOperator = in_force.DEFAULT.Not
    And: TensorOperator = in_force.DEFAULT.And
    Or: TensorOperator = in_force.DEFAULT.Or
    Implies: TensorOperator = in_force.DEFAULT.Implies
    Equiv: Any = None  # composed of And and Implies where it is not given
    Forall: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)
    Exists: TensorOperator = fuzzy_ops.Aggreg_pMean(p=2)
    SatAgg: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)

    def __post_init__(self) -> None:
        if self.Equiv is None:
            for name in ("And", "Implies"):  # by the names they have here, before Equiv complains of its own
                check_operator(name, getattr(self, name))
            object.__setattr__(self, "Equiv", self._composed_equiv())
        super().__post_init__()

    def wrap(self) -> Wrappers:
        """The eight wrappers that an LTN program applies to formulas.

        >>> import ltn
        >>> Not, And, Or, Implies, Equiv, Forall, Exists, SatAgg = ltn.semantics.godel.wrap()
        >>> x = ltn.Variable("x", [0.2, 0.9])
        >>> P = ltn.Predicate.Lambda(lambda x: x)
        >>> Forall(x, Not(P(x)))
        Formula(tensor=0.1, free_vars=[])
        """
        return Wrappers(
            Not=Wrapper_Connective(self.Not),
            And=Wrapper_Connective(self.And),
            Or=Wrapper_Connective(self.Or),
            Implies=Wrapper_Connective(self.Implies),
            Equiv=Wrapper_Connective(self.Equiv),
            Forall=Wrapper_Quantifier(self.Forall, FORALL.name),
            Exists=Wrapper_Quantifier(self.Exists, EXISTS.name),
            SatAgg=Wrapper_Formula_Aggregator(self.SatAgg),
        )

    def _following(self) -> dict[str, Any]:
        return {"Equiv": None} if self.Equiv == self._composed_equiv() else {}

    def _composed_equiv(self) -> fuzzy_ops.Equiv:
        return fuzzy_ops.Equiv(self.And, self.Implies)


@dataclasses.dataclass(frozen=True)
class LogSemantics(Record):
    """Operators on log-truths, for formulas in negation normal form; by default those of the product.

    There is no negation and no implication: a negated atom has a log-truth of its own. So it does not combine
    formulas one operator at a time; `ltn.Theory("log_product")` evaluates whole formulas by it.

    >>> import ltn
    >>> ltn.semantics.log_product.replace(Exists=ltn.fuzzy_ops.Aggreg_LogMeanExp(p=4)).Exists
    Aggreg_LogMeanExp(p=4)
    """

    And: TensorOperator = fuzzy_ops.And_Log()
    Or: TensorOperator = fuzzy_ops.Or_Log()
    Forall: TensorOperator = fuzzy_ops.Aggreg_LogMean()
    Exists: TensorOperator = fuzzy_ops.Aggreg_LogMeanExp()
    SatAgg: TensorOperator = fuzzy_ops.Aggreg_LogMean()

    if not TYPE_CHECKING:  # type checkers know that there is no such attribute

        def __getattr__(self, name: str) -> NoReturn:
            advice = f" {_WHOLE_FORMULAS}" if name in _TRUTH_VALUED else ""
            raise AttributeError(f"A LogSemantics has no `{name}`.{advice}")


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

log_product = LogSemantics()

_presets: dict[str, Semantics | LogSemantics] = {
    "stable_product": stable_product,
    "product": product,
    "godel": godel,
    "lukasiewicz": lukasiewicz,
    "log_product": log_product,
}


@overload
def get(semantics: Semantics) -> Semantics: ...
@overload
def get(semantics: LogSemantics) -> LogSemantics: ...
@overload
def get(semantics: str) -> Any: ...
def get(semantics: Semantics | LogSemantics | str) -> Semantics | LogSemantics:
    """A semantics by the name of its preset; a `Semantics` or `LogSemantics` is returned as it is.

    >>> get("godel").And
    And_Min()
    """
    if isinstance(semantics, Semantics | LogSemantics):
        return semantics
    if not isinstance(semantics, str):
        raise LogicTypeError(f"Expected a Semantics or the name of one; got {semantics!r}.")
    if semantics not in _presets:
        raise LogicValueError(f"There is no semantics {semantics!r}; the presets are {', '.join(_presets)}.")
    return _presets[semantics]


def from_config(description: Mapping[str, Any]) -> Semantics | LogSemantics:
    """The semantics, of either class, that its `get_config` described.

    >>> from_config(log_product.get_config()) == log_product
    True
    """
    if description.get("class_name") == LogSemantics.__name__:
        return LogSemantics.from_config(description)
    return Semantics.from_config(description)


def current() -> Semantics:
    """The semantics under which the operators `~ & | >>` of formulas combine them now.

    >>> with using("lukasiewicz"):
    ...     current().And
    And_Luk()
    """
    semantics = in_force.chosen.get(stable_product)
    return cast(Semantics, semantics)  # only `using` sets it


@contextlib.contextmanager
def using(semantics: Semantics | str) -> Iterator[Semantics]:
    """Set the semantics of the operators `~ & | >>` of formulas, for the length of a `with` block.

    >>> import ltn
    >>> a, b = ltn.Proposition(0.3, trainable=False), ltn.Proposition(0.4, trainable=False)
    >>> with ltn.using("godel"):
    ...     a & b
    Formula(tensor=0.3, free_vars=[])
    """
    chosen: Semantics | LogSemantics = get(semantics)
    if isinstance(chosen, LogSemantics):
        raise LogicValueError(f"A LogSemantics cannot be in force. {_WHOLE_FORMULAS}")
    token = in_force.chosen.set(chosen)
    try:
        yield chosen
    finally:
        in_force.chosen.reset(token)
