"""Semantics: one named choice of operators for all connectives, quantifiers and the formula aggregator.

Presets: `stable_product`, the default, made for learning; `product`, the same without projections, exact at
0 and 1, made for querying; `godel` (minimum and maximum) and `lukasiewicz`, each with the implication and the
aggregators of its own t-norm, whose gradients reach few operands or vanish; `log_product`, of another class,
computes with the logarithms of truth values; `log_product_mean` is the same with a mean for `exists`, which
is 1/n where one of n alternatives is true.
"""

from __future__ import annotations

import contextlib
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, cast, overload

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
from ltn.fuzzy_ops import config
from ltn.fuzzy_ops.base import Operator, check_operator
from ltn.language.forms import check_form
from ltn.language.names import EXISTS, FORALL

__all__ = [
    "BaseSemantics",
    "LogSemantics",
    "Semantics",
    "current",
    "from_config",
    "get",
    "godel",
    "log_product",
    "log_product_mean",
    "lukasiewicz",
    "product",
    "stable_product",
    "using",
]

Kind = TypeVar("Kind", bound="BaseSemantics")

# What `get_config` gives; what describes an operator is checked where it is built.
_FORM = {"class_name": str, "operators": {str: object}}
# What a Semantics has and a LogSemantics does not.
_TRUTH_VALUED = ("Not", "Implies", "Equiv", "wrap")
_WHOLE_FORMULAS = (
    "It evaluates whole formulas, in negation normal form, not one operator at a time: "
    'use it in ltn.Theory("log_product").'
)


@dataclasses.dataclass(frozen=True)
class BaseSemantics(ABC):
    """A choice of operators, whatever the space in which they compute truth.

    Attributes:
        space: "truth" if the operators work on truth values in [0, 1], "log" if on their logarithms.

    Its symbols are the fields of a dataclass. Every semantics has `And`, `Or`, the aggregators `Forall` and
    `Exists`, `Count`, for `exactly`, `at least` and `at most`, and `SatAgg`, which joins the axioms.

    >>> [get(name).space for name in ("product", "log_product")]
    ['truth', 'log']
    """

    space: ClassVar[Literal["truth", "log"]]

    @property
    @abstractmethod
    def And(self) -> TensorOperator:
        """Conjunction, `op(x, y)`."""

    @property
    @abstractmethod
    def Or(self) -> TensorOperator:
        """Disjunction, `op(x, y)`."""

    @property
    @abstractmethod
    def Forall(self) -> TensorOperator:
        """The aggregator of universal quantifiers, `op(xs, axis=...)`."""

    @property
    @abstractmethod
    def Exists(self) -> TensorOperator:
        """The aggregator of existential quantifiers, `op(xs, axis=...)`."""

    @property
    @abstractmethod
    def Count(self) -> TensorOperator:
        """The operator of quantifiers that count, `op(xs, axis=..., least=..., most=...)`."""

    @property
    @abstractmethod
    def SatAgg(self) -> TensorOperator:
        """The aggregator of the axioms, `op(xs, axis=...)`."""

    def __post_init__(self) -> None:
        for name in self._symbols():
            check_operator(name, getattr(self, name))

    def replace(self: Kind, **operators: Callable[..., Any]) -> Kind:
        """A copy with other operators. An `Equiv` composed of `And` and `Implies` follows them.

        >>> import ltn
        >>> godel = ltn.semantics.godel.replace(Implies=ltn.fuzzy_ops.Implies_KleeneDienes())
        >>> godel.Equiv
        Equiv(and_op=And_Min(), implies_op=Implies_KleeneDienes())
        """
        symbols = self._symbols()
        for name in operators:
            if name not in symbols:
                raise LogicTypeError(f"A semantics has no symbol `{name}`; it has: {', '.join(symbols)}.")
        return dataclasses.replace(self, **self._dependent_fields() | operators)

    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators, each with its symbol in small letters: `p_forall`.

        Operators inside others, and callables that are not the library's, have none here.

        >>> import ltn
        >>> ltn.semantics.log_product.hyperparameters()
        {'p_exists': 1}
        """
        return {
            name: getattr(getattr(self, symbol), key)
            for name, (symbol, key) in self._fields_by_name().items()
        }

    def with_hyperparameters(self: Kind, **values: Any) -> Kind:
        """A copy with other hyper-parameters, numbers or tensors, named as in `hyperparameters`.

        >>> import ltn
        >>> ltn.semantics.stable_product.with_hyperparameters(p_exists=6).Exists
        Aggreg_pMean(p=6, stable=True)
        """
        known = self._fields_by_name()
        changes: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if name not in known:
                raise LogicTypeError(
                    f"The semantics has no hyper-parameter `{name}`; it has: {', '.join(known) or 'none'}."
                )
            symbol, key = known[name]
            changes.setdefault(symbol, {})[key] = value
        return self.replace(**{s: dataclasses.replace(getattr(self, s), **new) for s, new in changes.items()})

    def get_config(self) -> dict[str, Any]:
        """The operators by class and hyper-parameters, fit for JSON; `from_config` builds them again."""
        operators = {symbol: config.describe(symbol, getattr(self, symbol)) for symbol in self._symbols()}
        return {"class_name": type(self).__name__, "operators": operators}

    @classmethod
    def from_config(cls: type[Kind], description: Mapping[str, Any]) -> Kind:
        """The semantics that `get_config` described.

        >>> import ltn
        >>> ltn.Semantics.from_config(ltn.semantics.godel.get_config()) == ltn.semantics.godel
        True
        """
        check_form(description, _FORM, "semantics")
        if description["class_name"] != cls.__name__:
            raise LogicValueError(f"Expected what {cls.__name__}.get_config() gives; got {description!r}.")
        operators: dict[str, Any] = {s: config.build(d) for s, d in description["operators"].items()}
        if "Count" not in operators:
            # Described before there was one: that of the preset with this conjunction.
            families = {type(preset.And): preset.Count for preset in _presets.values()}
            operators |= (
                {"Count": families[type(operators["And"])]} if type(operators.get("And")) in families else {}
            )
        return cls().replace(**operators)

    def _dependent_fields(self) -> dict[str, Any]:
        """The fields to compute again when others change."""
        return {}

    def _symbols(self) -> list[str]:
        return [field.name for field in dataclasses.fields(self)]

    def _fields_by_name(self) -> dict[str, tuple[str, str]]:
        """The symbol, and the field of its operator, for each name of a hyper-parameter."""
        operators = {symbol: getattr(self, symbol) for symbol in self._symbols()}
        return {
            f"{field.name}_{symbol.lower()}": (symbol, field.name)
            for symbol, operator in operators.items()
            if isinstance(operator, Operator)
            for field in dataclasses.fields(operator)
            if not callable(getattr(operator, field.name))
        }


@dataclasses.dataclass(frozen=True)
class Semantics(BaseSemantics):
    """The operator behind every logical symbol; by default the paper's stable product configuration.

    `And`, `Or`, `Implies` and `Equiv` are called `op(x, y)`, `Not` `op(x)`, and the aggregators `Forall`,
    `Exists` and `SatAgg` (which joins the axioms) `op(xs, axis=...)`. `Count` is called so too, with
    `least=`, `most=` or both, the smallest and the largest number of individuals that a quantifier claims.
    Where `Equiv` is not given it is `fuzzy_ops.Equiv(And, Implies)`.

    >>> import ltn
    >>> semantics = ltn.semantics.product.replace(Exists=ltn.fuzzy_ops.Aggreg_Max())
    >>> semantics.Or, semantics.Exists
    (Or_ProbSum(stable=False), Aggreg_Max())
    >>> semantics == ltn.semantics.product
    False
    """

    space = "truth"

    Not: TensorOperator = in_force.DEFAULT.Not
    And: TensorOperator = in_force.DEFAULT.And
    Or: TensorOperator = in_force.DEFAULT.Or
    Implies: TensorOperator = in_force.DEFAULT.Implies
    Equiv: Any = None  # composed of And and Implies where it is not given
    Forall: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)
    Exists: TensorOperator = fuzzy_ops.Aggreg_pMean(p=2)
    SatAgg: TensorOperator = fuzzy_ops.Aggreg_pMeanError(p=2)
    Count: TensorOperator = fuzzy_ops.Count_Prod()

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

    def _dependent_fields(self) -> dict[str, Any]:
        return {"Equiv": None} if self.Equiv == self._composed_equiv() else {}

    def _composed_equiv(self) -> fuzzy_ops.Equiv:
        return fuzzy_ops.Equiv(self.And, self.Implies)


@dataclasses.dataclass(frozen=True)
class LogSemantics(BaseSemantics):
    """Operators on log-truths, for formulas in negation normal form; by default those of the product.

    There is no negation and no implication: a negated atom has a log-truth of its own. So it does not combine
    formulas one operator at a time; `ltn.Theory("log_product")` evaluates whole formulas with it. `Count` is
    told also whether its negation is wanted, by `negated=`, and whether its values are log-odds, by
    `log_odds=`.

    >>> import ltn
    >>> ltn.semantics.log_product.replace(Exists=ltn.fuzzy_ops.Aggreg_LogMeanExp(p=4)).Exists
    Aggreg_LogMeanExp(p=4)
    """

    space = "log"

    And: TensorOperator = fuzzy_ops.And_Log()
    Or: TensorOperator = fuzzy_ops.Or_Log()
    Forall: TensorOperator = fuzzy_ops.Aggreg_LogMean()
    Exists: TensorOperator = fuzzy_ops.Aggreg_LogSumOdds()
    SatAgg: TensorOperator = fuzzy_ops.Aggreg_LogMean()
    Count: TensorOperator = fuzzy_ops.Count_Log()

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
    Count=fuzzy_ops.Count_Godel(),
    SatAgg=fuzzy_ops.Aggreg_Min(),
)
lukasiewicz = Semantics(
    And=fuzzy_ops.And_Luk(),
    Or=fuzzy_ops.Or_Luk(),
    Implies=fuzzy_ops.Implies_Luk(),
    Forall=fuzzy_ops.Aggreg_AndLuk(),
    Exists=fuzzy_ops.Aggreg_OrLuk(),
    Count=fuzzy_ops.Count_Luk(),
    SatAgg=fuzzy_ops.Aggreg_AndLuk(),
)

log_product = LogSemantics()
log_product_mean = LogSemantics(Exists=fuzzy_ops.Aggreg_LogMeanExp())

_presets: dict[str, BaseSemantics] = {
    "stable_product": stable_product,
    "product": product,
    "godel": godel,
    "lukasiewicz": lukasiewicz,
    "log_product": log_product,
    "log_product_mean": log_product_mean,
}


@overload
def get(semantics: Kind) -> Kind: ...
@overload
def get(semantics: str) -> Any: ...
def get(semantics: BaseSemantics | str) -> BaseSemantics:
    """A semantics by the name of its preset; a `Semantics` or `LogSemantics` is returned as it is.

    >>> get("godel").And
    And_Min()
    """
    if isinstance(semantics, BaseSemantics):
        return semantics
    if not isinstance(semantics, str):
        raise LogicTypeError(f"Expected a Semantics or the name of one; got {semantics!r}.")
    if semantics not in _presets:
        raise LogicValueError(f"There is no semantics {semantics!r}; the presets are {', '.join(_presets)}.")
    return _presets[semantics]


def is_hyperparameter(name: str) -> bool:
    """Whether the operators of some preset have a hyper-parameter of this name, as `p_forall`."""
    return any(name in preset.hyperparameters() for preset in _presets.values())


def from_config(description: Mapping[str, Any]) -> BaseSemantics:
    """The semantics, of either class, that its `get_config` described.

    >>> from_config(log_product.get_config()) == log_product
    True
    """
    is_log = isinstance(description, Mapping) and description.get("class_name") == LogSemantics.__name__
    return LogSemantics.from_config(description) if is_log else Semantics.from_config(description)


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
    chosen: BaseSemantics = get(semantics)
    if not isinstance(chosen, Semantics):
        raise LogicValueError(f"A {type(chosen).__name__} cannot be in force. {_WHOLE_FORMULAS}")
    token = in_force.chosen.set(chosen)
    try:
        yield chosen
    finally:
        # An asynchronous generator may be closed by another task, where nothing was set.
        with contextlib.suppress(ValueError):
            in_force.chosen.reset(token)
