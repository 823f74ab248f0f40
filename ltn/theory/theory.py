"""A theory of Real Logic as a Keras model: its training, its queries, its reports, its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
import pandas as pd

from ltn import semantics as semantics_module
from ltn.core import Formula, Term
from ltn.errors import LogicValueError
from ltn.language import Node
from ltn.semantics import BaseSemantics
from ltn.theory import queries, reports, saving
from ltn.theory.axioms import Axiom
from ltn.theory.queries import Question
from ltn.theory.training import Data, Training

if TYPE_CHECKING:
    from ltn.reasoning import Bounds, Verdict


@keras.saving.register_keras_serializable(package="ltn")
class Theory(Training):
    """A theory <K, G(. | theta), Theta> of Real Logic: axioms, groundings with parameters, operators.

    It is a `keras.Model`: `compile`, `fit`, `evaluate`, `save` work as for any other. Training maximises

        SatAgg_{phi in K} G_theta(phi) - lambda R(theta)

    by minimising 1 minus the satisfaction; with `log_product`, minus its logarithm.

    Args:
        semantics: the operators, by the name of a preset or as an `ltn.Semantics`.
        name: of the model.
        regularizer: R with its factor lambda, a Keras regularizer of all weights that are learned.
        chunk: how many combinations of individuals a quantifier evaluates at once, so that memory stays
            bounded; values and gradients are the same, and a step takes longer, since gradients compute
            every chunk again. By default all at once.
        hyperparameters: of the operators, as `p_forall=2`, `p_exists=6`, `p_satagg=2`.

    >>> import ltn
    >>> theory = ltn.Theory("stable_product", p_forall=4)
    >>> points = theory.domain("points", shape=2)
    >>> x = theory.variable("x", points)
    >>> A = theory.predicate("A", points, ltn.Predicate.MLP([2]))
    >>> theory.axiom("forall x: A(x)", name="all")
    Axiom(all: forall x: A(x))
    >>> theory.compile(optimizer=keras.optimizers.Adam(0.1))
    >>> history = theory.fit({"x": [[0.1, 0.2], [0.3, 0.4]]}, epochs=20, verbose=0)
    >>> bool(history.history["satisfaction"][-1] > 0.9)
    True
    """

    def __init__(
        self,
        semantics: BaseSemantics | str = "stable_product",
        *,
        name: str | None = None,
        regularizer: Any = None,
        chunk: int | None = None,
        **hyperparameters: Any,
    ):
        operators = semantics_module.get(semantics).with_hyperparameters(**hyperparameters)
        super().__init__(operators, name, regularizer, chunk)

    def __repr__(self) -> str:
        return reports.described(self)

    # Hyper-parameters

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyper-parameters of the operators as they are now, by name."""
        return self._hyperparameters.current()

    def set_hyperparameters(self, axiom: str | None = None, **values: Any) -> None:
        """Change hyper-parameters of the operators, as `p_exists=6`; of one axiom only with `axiom=`.

        From its first change on a number is a variable for the compiled steps: later changes compile
        nothing again.
        """
        for name, value in values.items():
            if axiom is None:
                stale = self._hyperparameters.set(name, value)
            else:
                stale = self._hyperparameters.set_for(axiom, self.find(axiom).tree, name, value)
            if stale:
                self._changed()

    # Asking

    def query(
        self,
        formula: str | Node,
        data: Data | None = None,
        *,
        semantics: BaseSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> Formula | Term:
        """The truth of a formula, or the value of a term, one for each combination of its free variables.

        Args:
            formula: the text of a formula (truth query) or of a term (value query).
            data: unseen individuals for variables, by name; they need not have the same number.
            semantics: other operators than those of training.
            p: of both quantifiers, where the text sets none.
            named: further data by the name of the variable, or hyper-parameters, as `p_forall=5`.

        Returns:
            A `Formula` or a `Term` over the free variables in order of appearance; `.to_frame()` labels
            it with the names of variables and individuals.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> towns = theory.domain("towns", values=["Rome", "Seoul"])
        >>> u = theory.variable("u", towns)
        >>> P = theory.predicate("large", towns, lambda town: town > 0.5)
        >>> theory.query("large(u)").to_frame()
               truth
        u
        Rome     0.0
        Seoul    1.0
        """
        return queries.answer(self, formula, Question(data, semantics, p, named))

    def report(
        self,
        data: Data | None = None,
        *,
        semantics: BaseSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> pd.DataFrame:
        """A table of the axioms: `axiom`, `formula`, `weight`, `satisfaction`, on all the data at once.

        The arguments are those of `query`.
        """
        return reports.report(self, Question(data, semantics, p, named))

    def explain(
        self,
        axiom: str | Axiom,
        data: Data | None = None,
        worst: int = 5,
        *,
        semantics: BaseSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> pd.DataFrame:
        """The groundings that satisfy an axiom least: its variables, and the truth of what it claims of them.

        The universal quantifiers at the front of the axiom are taken off; where there is none, the table
        has one row. The other arguments are those of `query`.
        """
        return reports.explain(self, self.find(axiom), worst, Question(data, semantics, p, named))

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print the domains, the symbols with their numbers of parameters, and the axioms."""
        print_fn(reports.summary(self))

    # Reasoning

    def entails(
        self,
        formula: str | Node,
        q: float = 0.95,
        data: Data | None = None,
        *,
        method: str = "refutation",
        slack: float = 5.0,
        alpha: float = 0.05,
        beta: float = 10.0,
        restarts: int = 10,
        steps: int = 300,
        optimizer: Any = None,
        seed: int | None = None,
        verbose: Any = "auto",
        semantics: BaseSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> Verdict:
        """Whether a closed formula is a logical consequence of the theory: K |=_q phi.

        It is if every grounding that satisfies the axioms to q makes the formula true. Refutation searches
        for one that does not, minimising

            G(phi) + elu(alpha, beta (q - G(K)))

        over all that is learned, first from the theory as it is, then from fresh starting points, until a
        counterexample is found. `method="brave"`, querying after learning, maximises G(K) instead, and asks
        for phi then; it may overlook what refutation finds. The theory is not changed.

        Args:
            formula: closed; its text or its tree.
            q: the satisfaction of the axioms, between 0.5 and 1.
            data: individuals for variables, by name, as for `query`.
            method: "refutation" or "brave".
            slack: phi counts as false below q where also its error is more than `slack` times that of the
                axioms, 1 - phi > slack (1 - G(K)), or it is below 0.5. For what follows from several axioms
                can be less true than they are: b may be 0.93 when a and a -> b are satisfied to 0.95.
                `slack=1` is the paper's definition, phi < q.
            alpha, beta: of the penalty, see `ltn.reasoning.elu`. While a search ends below q, beta is raised.
            restarts: the number of starting points.
            steps: of gradient descent, from each.
            optimizer: a Keras optimizer; by default RMSprop, with a step of 0.05 that falls to 0. Large
                networks may need smaller steps.
            seed: of the starting points.
            verbose: 0 for no progress bar.
            semantics, p, named: as for `query`. A mean as quantifier blurs "some": with p = 2 and q = 0.95
                `exists` asks for nine individuals of ten; p=200 makes it ask for one. Likewise one of fifty
                axioms may fall to 0.65 while all of them together are at 0.95; p_satagg=200 holds each of
                them up.

        Returns:
            A `ltn.reasoning.Verdict`, truthy if the formula follows, with the counterexample if not.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> A, B = (theory.proposition(name, trainable=True) for name in "AB")
        >>> axioms = theory.axioms("A\\nA -> B")
        >>> bool(theory.entails("B", verbose=0)), bool(theory.entails("~B", verbose=0))
        (True, False)
        """
        from ltn.reasoning import consequence

        effort = consequence.Effort(q, slack, alpha, beta, restarts, steps, optimizer, seed, verbose)
        return consequence.entails(self, formula, Question(data, semantics, p, named), method, effort)

    def bounds(
        self,
        formula: str | Node,
        q: float = 0.95,
        data: Data | None = None,
        *,
        alpha: float = 0.05,
        beta: float = 10.0,
        restarts: int = 10,
        steps: int = 300,
        optimizer: Any = None,
        seed: int | None = None,
        verbose: Any = "auto",
        semantics: BaseSemantics | str | None = None,
        p: float | None = None,
        **named: Any,
    ) -> Bounds:
        """The lowest and the highest truth value of a closed formula while the axioms are satisfied to q.

        A warning says so where they are further apart than 0.25: then the theory does not pin the formula
        down, and what a query returns depends on chance. Where q is not reached at all, both are
        None, and the satisfaction that was reached is the answer. The arguments are those of `entails`.

        >>> import ltn
        >>> theory = ltn.Theory()
        >>> A, B = (theory.proposition(name, trainable=True) for name in "AB")
        >>> axioms = theory.axioms("A\\nA -> ~B")
        >>> found = theory.bounds("B", verbose=0)
        >>> print(f"{found.low:.2f} {found.high:.2f}")
        0.00 0.07
        """
        from ltn.reasoning import consequence

        effort = consequence.Effort(q, 1.0, alpha, beta, restarts, steps, optimizer, seed, verbose)
        return consequence.bounds(self, formula, Question(data, semantics, p, named), effort)

    # Saving

    def save(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Write the theory to one `.keras` file; all arguments are those of `keras.Model.save`.

        `ltn.load` and `keras.models.load_model` read it.
        """
        if not str(filepath).endswith(".keras"):
            raise LogicValueError(f"A theory is saved to a file whose name ends with .keras; got {filepath}.")
        # What cannot be saved is said before a file that is there already is opened.
        self.get_config()
        super().save(filepath, *args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """What the theory consists of, but for its weights; raises where a part cannot be saved."""
        return saving.config_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Theory:
        """The theory of a configuration."""
        return saving.restored(cls, config)
