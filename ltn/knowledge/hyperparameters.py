"""Numbers that may change while steps are compiled: hyper-parameters of operators, and weights of axioms.

The weight of an axiom is how often it counts: a number, or learned as the truth of a proposition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ltn.checks import warn
from ltn.errors import LogicError, LogicValueError
from ltn.evaluation import lacking
from ltn.evaluation.plan import Options
from ltn.fuzzy_ops.arguments import LARGEST_WEIGHT, is_number
from ltn.fuzzy_ops.base import Operator
from ltn.language import Node, Quantifier
from ltn.language.diagnostics import locate, span_of_options
from ltn.language.names import QUANTIFIERS
from ltn.semantics import BaseSemantics
from ltn.semantics import from_config as semantics_from_config


class Hyperparameters:
    """Operators with their hyper-parameters; those that were changed are variables of compiled code.

    What other operators have and these lack is passed over, with one warning for each name.
    """

    def __init__(self, semantics: BaseSemantics, /, **values: Any):
        self._told: set[str] = set()
        self._semantics = semantics.with_hyperparameters(**lacking.split(semantics, values)[0])
        self.tell_lacking(semantics, values)
        self._changed: dict[str, tf.Variable] = {}
        # Of one axiom only; what is no number, as `stable`, is compiled in.
        self._of_axioms: dict[str, dict[str, tf.Variable | bool]] = {}

    @property
    def semantics(self) -> BaseSemantics:
        """The operators as they are now."""
        return self._semantics.with_hyperparameters(**self._changed)

    @property
    def plain_semantics(self) -> BaseSemantics:
        """The operators as they are now, with plain numbers."""
        return self._semantics.with_hyperparameters(**{n: float(v) for n, v in self._changed.items()})

    def options(self, axiom: str) -> Options:
        """What was set for the quantifiers of one axiom."""
        found: Options = {}
        for name, value in self._of_axioms.get(axiom, {}).items():
            option, kind = _split(name)
            found.setdefault(kind, {})[option] = value
        return found

    def current(self) -> dict[str, Any]:
        """The current values by name; those of one axiom as "axiom.p_exists"."""
        own = {
            f"{axiom}.{name}": _plain(value)
            for axiom, changed in self._of_axioms.items()
            for name, value in changed.items()
        }
        return self._semantics.hyperparameters() | {n: float(v) for n, v in self._changed.items()} | own

    def tell_lacking(self, semantics: BaseSemantics, names: Iterable[str]) -> None:
        """Warn, once for each, of hyper-parameters that are passed over under some operators."""
        for name in names:
            if lacking.is_lacking(semantics, name) and name not in self._told:
                self._told.add(name)
                warn(lacking.explain(semantics, name))

    def check_options(self, quantifiers: Iterable[Quantifier], text: str) -> None:
        """Raise where quantifiers, read from a text, have options that no operators in their place have."""
        for node in quantifiers:
            operator = getattr(self._semantics, QUANTIFIERS[node.kind].operator)
            if not node.hyperparameters or not isinstance(operator, Operator):
                continue
            options, names = lacking.split_options(self._semantics, node.kind, dict(node.hyperparameters))
            try:
                operator.check_overrides(**options)
            except LogicError as error:
                raise type(error)(locate(str(error), text, span_of_options(node, text))) from None
            self.tell_lacking(self._semantics, names)

    def set(self, values: Mapping[str, Any]) -> bool:
        """Change hyper-parameters for all axioms. Returns whether code must be compiled again."""
        checked = self._read(values)
        self.tell_lacking(self._semantics, values)
        before = self._semantics.hyperparameters()
        flags = {name: value for name, value in checked.items() if isinstance(value, bool)}
        changed = {name: value for name, value in flags.items() if value is not before[name]}
        if changed:
            self._semantics = self._semantics.with_hyperparameters(**changed)
        numbers = {name: value for name, value in checked.items() if name not in flags}
        return _assign(self._changed, numbers) or bool(changed)

    def set_for(self, axiom: str, trees: Sequence[Node], values: Mapping[str, Any]) -> bool:
        """Change hyper-parameters for one axiom. Returns whether code must be compiled again.

        `trees` are its formula, and those that definitions in it stand for; none if it is Python code.
        """
        checked = self._read(values)
        if not trees:
            raise LogicValueError(f"The axiom '{axiom}' is Python code: its quantifiers are not known.")
        quantifiers = [node for tree in trees for node in tree.walk() if isinstance(node, Quantifier)]
        for name in values:
            option, kind = _split(name)
            if not any(node.kind == kind and option not in dict(node.options) for node in quantifiers):
                raise LogicValueError(
                    f"The axiom '{axiom}' has no quantifier whose `{name}` could change: `{trees[0]}`. "
                    "A value written in the text stays."
                )
        self.tell_lacking(self._semantics, values)
        return _assign(self._of_axioms.setdefault(axiom, {}), checked)

    def _read(self, values: Mapping[str, Any]) -> dict[str, float | bool]:
        """Hyper-parameters as plain values; raise for an impossible one, before any is changed."""
        applicable, _ = lacking.split(self._semantics, values)
        found = self._semantics.with_hyperparameters(**applicable).hyperparameters()
        return {name: _plain(found[name]) for name in applicable}

    def forget(self, axiom: str) -> None:
        """Drop what was set for one axiom."""
        self._of_axioms.pop(axiom, None)

    def get_config(self) -> dict[str, Any]:
        """The operators and the current values."""
        return {
            "semantics": self._semantics.get_config(),
            "changed": {name: float(value) for name, value in self._changed.items()},
            "of_axioms": {
                axiom: {name: _plain(value) for name, value in changed.items()}
                for axiom, changed in self._of_axioms.items()
            },
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Hyperparameters:
        """The operators of a configuration; what was a variable is one again, and computes the same bits.

        What was set for one axiom is set when there is the axiom.
        """
        operators = cls(semantics_from_config(config["semantics"]))
        _assign(operators._changed, operators._read(config["changed"]))
        return operators


def _split(name: str) -> tuple[str, str]:
    option, _, kind = name.rpartition("_")
    if kind not in QUANTIFIERS:
        raise LogicValueError(
            "Of one axiom the hyper-parameters of quantifiers can be set, as `p_forall` or `p_exists`; "
            f"got `{name}`."
        )
    return option, kind


def _plain(value: Any) -> float | bool:
    return value if isinstance(value, bool) else float(value)


def _assign(held: dict[str, Any], values: Mapping[str, float | bool]) -> bool:
    """Hold values, numbers in variables. Returns whether there is another variable or flag than before."""
    is_new = False
    for name, value in values.items():
        if isinstance(value, bool):
            is_new |= held.get(name) is not value
            held[name] = value
        elif name in held:
            held[name].assign(value)
        else:
            held[name] = tf.Variable(value, trainable=False, dtype=tf.float32)
            is_new = True
    return is_new


def check_weight(weight: Any, otherwise: str = "") -> float:
    """The weight as a number; raise unless it is one from 0 up. `otherwise` names what else is allowed."""
    if not is_number(weight) or not 0.0 <= weight <= LARGEST_WEIGHT:
        raise LogicValueError(
            f"`weight` must be a number of at least 0{otherwise}; got {weight!r}. The largest is "
            f"{LARGEST_WEIGHT:g}."
        )
    return float(weight)


def is_learned(weight: Any) -> bool:
    """Whether this stands for a learned weight."""
    return isinstance(weight, str) and weight == "learned"


def proposition_of(axiom: str) -> str:
    """The name of the proposition that is the learned weight of an axiom."""
    return f"weight_of_{axiom}"
