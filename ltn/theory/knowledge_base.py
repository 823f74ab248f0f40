"""The knowledge of a theory: its axioms, and the operators that give them a meaning."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltn.core import Formula
from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Evaluation, Plans
from ltn.evaluation.plan import Options
from ltn.evaluation.spaces import Space, space_of
from ltn.fuzzy_ops.base import Operator
from ltn.language import Node, Quantifier, parse, parse_many
from ltn.language.names import check_name, listed, nearest
from ltn.language.quantifiers import QUANTIFIERS
from ltn.semantics import BaseSemantics
from ltn.theory.axioms import Axiom
from ltn.theory.declarations import Declarations
from ltn.theory.hyperparameters import Hyperparameters


class KnowledgeBase(Declarations):
    """A language with axioms, and with the operators under which they are evaluated."""

    def __init__(self, semantics: BaseSemantics, name: str | None = None):
        super().__init__(name=name)
        self._hyperparameters = Hyperparameters(semantics)
        self._axioms: dict[str, Axiom] = {}
        self._plans = Plans()
        # How often what is compiled has changed, for models that compile it into their own steps.
        self.version = 0

    def axiom(
        self,
        formula: str | Node | Callable[[], Formula],
        name: str | None = None,
        weight: float | str = 1.0,
    ) -> Axiom:
        """Add a closed formula that is to be true.

        Args:
            formula: text, or a Python callable that returns a closed `ltn.Formula`, written with the
                symbols of this theory; a theory with such an axiom saves its weights only.
            name: of the axiom in logs and reports; by default "axiom_1", "axiom_2", ...
            weight: how often it counts among the axioms; or "learned", for the paper's p_w & formula with
                a trainable proposition p_w.
        """
        source = formula if isinstance(formula, str) else ""
        tree = parse(formula) if isinstance(formula, str) else formula
        name = name or self._next_name()
        self._check_axiom(tree, source, name)
        axiom = Axiom(name, tree, self._weight(name, weight))
        self._axioms[name] = axiom
        self._changed()
        return axiom

    def axioms(self, text: str | Path) -> list[Axiom]:
        """Add the formulas of a text, or of a file: one per line, indented lines continue it.

        `name: formula` names an axiom; `#` begins a comment. After an error none is added.
        """
        path = Path(text) if isinstance(text, Path) or "\n" not in text else None
        if path is not None and (isinstance(text, Path) or _is_file(path)):
            text = path.read_text(encoding="utf-8")
        elif re.fullmatch(r"[^():]+\.[A-Za-z]+", str(text)):
            raise LogicValueError(f"{text}: there is no such file.")
        read = parse_many(str(text))
        labels = [label for label, _, _ in read if label is not None]
        names: list[str] = []
        for label, node, source in read:
            name = label or self._next_name(names, labels)
            try:
                self._check_axiom(node, source, name)
            except LogicError as error:
                raise type(error)(f"Axiom {len(names) + 1} of the text, '{name}': {error}") from error
            if name in names:
                raise LogicValueError(f"Two axioms of the text are named '{name}'.")
            names.append(name)
        return [self.axiom(node, name) for name, (_, node, _) in zip(names, read, strict=True)]

    def _check_axiom(self, formula: Any, source: str, name: str) -> None:
        if isinstance(formula, Node):
            self.signature.check_formula(formula, source)
            self.signature.check_closed(formula, source)
            self._check_options(self.space.prepared(formula))
        elif not callable(formula):
            raise LogicTypeError(f"An axiom is text or a callable; got {formula!r}.")
        check_name(name, "an axiom")
        if name in self._axioms:
            raise LogicValueError(f"There is already an axiom '{name}': {self._axioms[name]}.")
        if name in ("loss", "satisfaction") or name.startswith("val_"):
            raise LogicValueError(f"'{name}' names another value in the training logs; choose another name.")

    @property
    def semantics(self) -> BaseSemantics:
        """The operators, with their hyper-parameters as they are now."""
        return self._hyperparameters.semantics

    @property
    def shown_semantics(self) -> BaseSemantics:
        """The operators with plain numbers, also for hyper-parameters that were changed."""
        return self._hyperparameters.shown

    @property
    def space(self) -> Space:
        """Where truth is computed under the theory's semantics."""
        return space_of(self.semantics)  # type: ignore[arg-type]

    def evaluation(
        self,
        space: Space,
        data: Mapping[str, Any],
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
    ) -> Evaluation:
        """An evaluation of formulas in the theory's language, under its groundings and the data."""
        groundings = self._grounded(dict(data))
        return Evaluation(
            groundings, self.symbols, self.propositions, space, dense, other_operators, chunk, self._plans
        )

    @property
    def axiom_list(self) -> list[Axiom]:
        """The axioms in order of declaration."""
        return list(self._axioms.values())

    def weight_of(self, axiom: Axiom) -> float:
        """The weight of an axiom; a learned one as it is now."""
        return (
            float(self.propositions[axiom.weight].tensor) if isinstance(axiom.weight, str) else axiom.weight
        )

    def options_of(self, axiom: Axiom) -> Options:
        """What was set for the quantifiers of one axiom alone."""
        return self._hyperparameters.options(axiom.name)

    def find(self, axiom: str | Axiom) -> Axiom:
        """An axiom by its name."""
        name = axiom.name if isinstance(axiom, Axiom) else axiom
        if name not in self._axioms:
            close = nearest(str(name), self._axioms)
            hint = f"did you mean '{close}'?" if close else f"it has: {listed(list(self._axioms))}."
            raise LogicValueError(f"The theory has no axiom {name!r}; {hint}")
        return self._axioms[name]

    def _check_options(self, tree: Node) -> None:
        for node in tree.walk():
            if isinstance(node, Quantifier) and node.options:
                operator = getattr(self.semantics, QUANTIFIERS[node.kind].operator)
                if isinstance(operator, Operator):
                    operator.check_overrides(**dict(node.options))

    def _changed(self) -> None:
        """Compile anew what was compiled: the axioms or operators are others now."""
        self.version += 1
        for kind in ("train", "test", "predict"):
            if getattr(self, f"{kind}_function") is not None:
                getattr(self, f"make_{kind}_function")(force=True)

    def _next_name(self, before: Sequence[str] = (), labels: Sequence[str] = ()) -> str:
        """A name for the axiom after those of the theory and those `before`, unlike the labels to come."""
        number = len(self._axioms) + len(before) + 1
        while f"axiom_{number}" in {*self._axioms, *before, *labels}:
            number += 1
        return f"axiom_{number}"

    def _weight(self, name: str, weight: float | str) -> float | str:
        if weight == "learned":
            proposition = f"weight_of_{name}"
            self.proposition(proposition, 0.5, trainable=True)
            return proposition
        if not isinstance(weight, numbers.Real) or not 0.0 <= weight < float("inf"):
            raise LogicValueError(f"`weight` must be a number of at least 0, or 'learned'; got {weight!r}.")
        return float(weight)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
