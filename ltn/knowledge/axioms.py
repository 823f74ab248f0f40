"""Axioms, closed formulas with a name and a weight; and the knowledge base: axioms with operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import tensorflow as tf

from ltn.core import Formula, Proposition
from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.plan import Options, Sampling
from ltn.evaluation.spaces import Space, space_of
from ltn.knowledge import rule_files
from ltn.knowledge.axiom_tables import axiom_table
from ltn.knowledge.hyperparameters import Hyperparameters, check_weight, is_learned, proposition_of
from ltn.knowledge.language import Language
from ltn.knowledge.seeds import Seeds
from ltn.language import Node, Quantifier, Signature, parse
from ltn.language.names import check_name, list_names, nearest
from ltn.language.parser import with_text
from ltn.semantics import BaseSemantics


class Axiom:
    """A closed formula of a theory, and the handle by which its weight and activity change.

    Attributes:
        name: unique in its theory; the key of its value in training logs.
        formula: the syntax tree, or a Python callable that returns a closed `ltn.Formula`.
        proposition: the name of the proposition p_w of a learned weight, with which the axiom is
            p_w & formula; else None.
        measured: its satisfaction as `fit`, `evaluate` or `report` found it last, and which of them; or None.

    `str(axiom)` is text that parses to the same formula.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> A = theory.proposition("A", 0.25)
    >>> axiom = theory.axiom("A", name="wet")
    >>> theory["wet"].weight = 2.0
    >>> theory["wet"].active = False
    >>> axiom.weight, axiom.active
    (2.0, False)
    """

    def __init__(
        self,
        name: str,
        formula: Node | Callable[[], Formula],
        weight: float | Proposition = 1.0,
        active: bool = True,
    ):
        self.name = name
        self.formula = formula
        self.proposition = proposition_of(name) if isinstance(weight, Proposition) else None
        self._weight = weight
        self._active = active
        self.measured: tuple[float, str] | None = None
        # Tells the knowledge base that the weight or the activity has changed.
        self.notify: Callable[[], None] = lambda: None

    def __str__(self) -> str:
        if isinstance(self.formula, Node):
            return str(self.formula)
        return getattr(self.formula, "__name__", repr(self.formula))

    def __repr__(self) -> str:
        return f"Axiom({self.name}: {self})"

    def _repr_html_(self) -> str:
        return axiom_table([self])

    @property
    def weight(self) -> float:
        """How often the axiom counts among all axioms; a learned weight as it is now."""
        return float(self._weight.tensor if isinstance(self._weight, Proposition) else self._weight)

    @weight.setter
    def weight(self, weight: float) -> None:
        if self.proposition is not None:
            raise LogicValueError(
                f"The weight of the axiom '{self.name}' is learned: it is the truth of the proposition "
                f"'{self.proposition}', and cannot be set."
            )
        self._weight = check_weight(weight)
        self.notify()

    @property
    def active(self) -> bool:
        """Whether the axiom counts at all."""
        return self._active

    @active.setter
    def active(self, active: bool) -> None:
        if not isinstance(active, bool):
            raise LogicTypeError(f"`active` must be True or False; got {active!r}.")
        self._active = active
        self.notify()

    @property
    def share(self) -> float:
        """What the axiom counts in the satisfaction: 0 where it is not active."""
        return 0.0 if not self.active else 1.0 if self.proposition is not None else self.weight

    @property
    def tree(self) -> Node | None:
        """The syntax tree; None where the axiom is Python code."""
        return self.formula if isinstance(self.formula, Node) else None


class AxiomList(list[Axiom]):
    """The axioms of a theory in order of declaration; to change it is refused, since nothing would follow."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise LogicTypeError(
            "This list only shows the axioms: add one with theory.axiom(formula, name), and remove one with "
            "theory.remove(name)."
        )

    append: Any = _refuse
    clear: Any = _refuse
    extend: Any = _refuse
    insert: Any = _refuse
    pop: Any = _refuse
    remove: Any = _refuse
    __delitem__: Any = _refuse
    __iadd__: Any = _refuse
    __setitem__: Any = _refuse


class KnowledgeBase:
    """Axioms in a language, and the operators under which they are evaluated.

    Args:
        language: what is declared.
        semantics, hyperparameters: the operators.

    >>> from ltn import semantics
    >>> language = Language()
    >>> A = language.proposition("A", 0.25)
    >>> knowledge = KnowledgeBase(language, semantics.get("product"))
    >>> knowledge.axiom("~A", name="doubt")
    Axiom(doubt: ~A)
    """

    def __init__(self, language: Language, semantics: BaseSemantics, /, **hyperparameters: Any):
        self.language = language
        self.operators = Hyperparameters(semantics, **hyperparameters)
        self.seeds = Seeds()
        self._axioms: dict[str, Axiom] = {}
        self._share_list: list[float] = []
        self._shares = self._new_shares()
        # How often axioms or operators have changed, for models that compile them into their own steps.
        self.version = 0
        self._subscribers: list[Callable[[], None]] = []
        language.notify = self._notify

    # Axioms

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
            name: its name in logs and reports; by default "axiom_1", "axiom_2", ...
            weight: how often it counts among the axioms; or "learned", for the paper's p_w & formula with
                a trainable proposition p_w.
        """
        text = formula if isinstance(formula, str) else ""
        tree = parse(formula) if isinstance(formula, str) else formula
        name = self.next_name() if name is None else name
        self.check_axiom(tree, text, name, weight)
        axiom = Axiom(name, tree, self._weight(name, weight))
        self._adopt(axiom)
        self._notify()
        return axiom

    def axioms(self, text: str | Path | Sequence[str | Node]) -> list[Axiom]:
        """Add the formulas of a text, of a file, or of a list.

        A text has a formula on each line; indented lines continue it. `name: formula` names an axiom; `#`
        begins a comment; `define name(x): formula` is a definition, which all of the text may use. The
        formulas of a list are written likewise, or are syntax trees. After an error none is added.
        """
        return rule_files.add(self, text)

    def remove(self, axiom: str | Axiom) -> None:
        """Take an axiom out of the theory; what was set for it alone goes with it."""
        name = self.find(axiom).name
        del self._axioms[name]
        self._share_list = [each.share for each in self.axiom_list]
        self.operators.forget(name)
        self._notify()

    def write(self, path: str | Path) -> None:
        """Write definitions and axioms to a file that `axioms` reads, with names, weights and domains."""
        rule_files.write(self, path)

    @property
    def axiom_list(self) -> AxiomList:
        """The axioms in order of declaration."""
        return AxiomList(self._axioms.values())

    def weight_of(self, axiom: str | Axiom) -> float:
        """The current weight of an axiom; 0 where it is not active."""
        found = self.find(axiom)
        return found.weight if found.active else 0.0

    @property
    def shares(self) -> tf.Variable:
        """What each axiom counts in the satisfaction, as a variable, which compiled steps read anew."""
        return self._shares

    def find(self, axiom: str | Axiom) -> Axiom:
        """An axiom by its name."""
        name = axiom.name if isinstance(axiom, Axiom) else axiom
        if not isinstance(name, str) or name not in self._axioms:
            close = nearest(str(name), self._axioms)
            hint = f"did you mean '{close}'?" if close else f"it has: {list_names(list(self._axioms))}."
            raise LogicValueError(f"The theory has no axiom {name!r}; {hint}")
        return self._axioms[name]

    def open_variables(self) -> list[str]:
        """The variables of the axioms that need data, in order of appearance."""
        groundings = self.language.groundings()
        used = dict.fromkeys(variable for axiom in self.axiom_list for variable in self._bound_in(axiom))
        return [variable for variable in used if groundings.source(variable) is None]

    def check_complete(self, data: Mapping[str, Any]) -> None:
        """Raise where an axiom mentions a variable that has no individuals, even with these data."""
        groundings = self.language.groundings(data)
        for axiom in self.axiom_list:
            for variable in self._bound_in(axiom):
                if groundings.source(variable) is None:
                    raise LogicValueError(f"Axiom '{axiom.name}': {groundings.explain_missing(variable)}")

    def _trees_of(self, axiom: Axiom) -> list[Node]:
        """The formula of an axiom, and those that definitions in it stand for; none of Python code."""
        return [] if axiom.tree is None else self.signature.trees_of(axiom.tree)

    def _bound_in(self, axiom: Axiom) -> list[str]:
        """The variables that an axiom quantifies, also within definitions."""
        nodes = (node for tree in self._trees_of(axiom) for node in tree.walk())
        bound = (variable for node in nodes if isinstance(node, Quantifier) for variable in node.variables)
        return list(dict.fromkeys(bound))

    # Operators

    @property
    def semantics(self) -> BaseSemantics:
        """The operators, with their hyper-parameters as they are now."""
        return self.operators.semantics

    @property
    def plain_semantics(self) -> BaseSemantics:
        """The operators with plain numbers, even for hyper-parameters that were changed."""
        return self.operators.plain_semantics

    @property
    def space(self) -> Space:
        """Where truth is computed under the semantics."""
        return space_of(self.semantics)

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators as they are now, by name."""
        return self.operators.current()

    def set_hyperparameters(self, /, axiom: str | None = None, **values: Any) -> None:
        """Change hyper-parameters of the operators, such as `p_exists=6`; with `axiom=`, of one axiom only.

        With its first change a number becomes a variable of the compiled steps: later changes compile nothing
        again. After an error nothing has changed. What these operators lack and those of another preset have,
        as `p_forall` under `godel`, is passed over with a warning, one for each name.
        """
        if axiom is None:
            stale = self.operators.set(values)
        else:
            found = self.find(axiom)
            stale = self.operators.set_for(found.name, self._trees_of(found), values)
        if stale:
            self._notify()

    def tell_lacking(self, semantics: BaseSemantics, names: Iterable[str]) -> None:
        """Warn of hyper-parameters that some operators lack and others have, once for each."""
        self.operators.tell_lacking(semantics, names)

    def options_of(self, axiom: Axiom) -> Options:
        """What was set for the quantifiers of one axiom alone."""
        return self.operators.options(axiom.name)

    def restore(self, axioms: Sequence[Axiom], operators: Hyperparameters, own: Any, is_copy: bool) -> None:
        """Take over axioms, operators, and what was set for single axioms; of a copy all of it is known."""
        self.operators = operators
        for axiom in axioms:
            try:
                if not is_copy:
                    self.check_axiom(axiom.formula, "", axiom.name)
            except LogicError as error:
                raise LogicValueError(f"Axiom '{axiom.name}': {error}") from error
            self._adopt(axiom)
        for name, values in own.items():
            operators.set_for(name, self._trees_of(self.find(name)), values)
        self._shares = self._new_shares()

    # Evaluation

    @property
    def signature(self) -> Signature:
        """The signature of the language."""
        return self.language.signature

    def evaluation(
        self,
        space: Space,
        data: Mapping[str, Any],
        dense: bool = False,
        other_operators: bool = False,
        chunk: int | None = None,
        sampling: Sampling | None = None,
    ) -> Evaluation:
        """An evaluation of formulas in the theory's language, under its groundings and the data."""
        return self.language.evaluation(space, data, dense, other_operators, chunk, sampling)

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call a function whenever axioms or operators change, so that nothing compiled before is used."""
        self._subscribers.append(notify)

    def _adopt(self, axiom: Axiom) -> None:
        self._axioms[axiom.name] = axiom
        self._share_list.append(axiom.share)
        self.seeds.serve(axiom.tree)
        axiom.notify = self._reweigh

    def _reweigh(self) -> None:
        self._share_list = [axiom.share for axiom in self.axiom_list]
        self._shares.assign(self._share_list)

    def _new_shares(self) -> tf.Variable:
        # Not when they are evaluated: a tf.function, and the threads of replicas, must not make variables.
        with tf.init_scope():
            return tf.Variable(self._share_list, trainable=False, dtype=tf.float32)

    def _notify(self) -> None:
        self.version += 1
        self._shares = self._new_shares()
        for notify in self._subscribers:
            notify()

    def check_axiom(self, formula: Any, text: str, name: str, weight: Any = 1.0) -> None:
        """Raise where a formula, read from a text, cannot be an axiom of this name and weight."""
        if isinstance(formula, Node):
            self.signature.check_formula(formula, text)
            self.signature.check_closed(formula, text)
            self.check_options(*with_text(formula, text))
        elif not callable(formula):
            raise LogicTypeError(f"An axiom is text or a callable; got {formula!r}.")
        check_name(name, "an axiom")
        if name in self._axioms:
            raise LogicValueError(f"There is already an axiom '{name}': {self._axioms[name]}.")
        if name in ("loss", "satisfaction") or name.startswith("val_"):
            raise LogicValueError(f"'{name}' names another value in the training logs; choose another name.")
        if not is_learned(weight):
            check_weight(weight, ", or 'learned'")
        elif proposition_of(name) not in self.language.propositions:
            self.signature.check_new(proposition_of(name), "a proposition")

    def check_options(self, formula: Node, text: str) -> None:
        """Raise where a formula, read from a text, sets options of quantifiers that operators lack."""
        nodes = self.space.prepare(formula).walk()
        self.operators.check_options([node for node in nodes if isinstance(node, Quantifier)], text)

    def next_name(self, before: Sequence[str] = (), labels: Sequence[str] = ()) -> str:
        """The next "axiom_n" that is not taken: by an axiom, a name `before` it in a text, or a label."""
        number = len(self._axioms) + len(before) + 1
        while f"axiom_{number}" in {*self._axioms, *before, *labels}:
            number += 1
        return f"axiom_{number}"

    def _weight(self, name: str, weight: float | str) -> float | Proposition:
        if not is_learned(weight):
            return check_weight(weight)
        proposition = proposition_of(name)
        # It stays where an axiom is removed; an axiom of the same name goes on with it.
        known = self.language.propositions.get(proposition)
        return known if known is not None else self.language.proposition(proposition, 0.5, trainable=True)
