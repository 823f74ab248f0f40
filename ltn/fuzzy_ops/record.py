"""Records of operators, one per logical symbol: checked, changed, described and restored as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops import config
from ltn.fuzzy_ops.base import Operator, check_operator

Kind = TypeVar("Kind", bound="Record")


@dataclasses.dataclass(frozen=True)
class Record:
    """Operators by symbol, in the fields of a dataclass: what every semantics can do with its own."""

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
        return dataclasses.replace(self, **self._following() | operators)

    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators, each with its symbol in small letters: `p_forall`.

        Operators that others are composed of, and callables that are none of the library's, have none here.

        >>> import ltn
        >>> ltn.semantics.log_product.hyperparameters()
        {'p_exists': 1}
        """
        return {name: getattr(getattr(self, symbol), key) for name, (symbol, key) in self._named().items()}

    def with_hyperparameters(self: Kind, **values: Any) -> Kind:
        """A copy with other hyper-parameters, numbers or tensors, named as in `hyperparameters`.

        >>> import ltn
        >>> ltn.semantics.stable_product.with_hyperparameters(p_exists=6).Exists
        Aggreg_pMean(p=6, stable=True)
        """
        known = self._named()
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
        if description.get("class_name") != cls.__name__ or "operators" not in description:
            raise LogicValueError(f"Expected what {cls.__name__}.get_config() gives; got {description!r}.")
        operators: dict[str, Any] = {s: config.build(d) for s, d in description["operators"].items()}
        return cls().replace(**operators)

    def _following(self) -> dict[str, Any]:
        """The fields to compute anew when others change."""
        return {}

    def _symbols(self) -> list[str]:
        return [field.name for field in dataclasses.fields(self)]

    def _named(self) -> dict[str, tuple[str, str]]:
        """For each name of a hyper-parameter the symbol and the field of its operator."""
        operators = {symbol: getattr(self, symbol) for symbol in self._symbols()}
        return {
            f"{field.name}_{symbol.lower()}": (symbol, field.name)
            for symbol, operator in operators.items()
            if isinstance(operator, Operator)
            for field in dataclasses.fields(operator)
            if not callable(getattr(operator, field.name))
        }
