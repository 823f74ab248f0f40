"""Logical consequence, by refutation or by querying after learning; and the bounds of a truth value."""

from __future__ import annotations

import numbers
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import keras
import numpy as np
import pandas as pd

from ltn.checks import find_in_keras
from ltn.errors import LogicValueError
from ltn.fuzzy_ops.base import as_written
from ltn.knowledge import questions
from ltn.knowledge.data import Data
from ltn.knowledge.initialisation import values_of
from ltn.knowledge.questions import Question
from ltn.language import Node
from ltn.reasoning import starts
from ltn.reasoning.grounding import Grounding, Learner
from ltn.reasoning.refutation import BestGrounding, Goal, Search, evaluate_theory, level
from ltn.reasoning.verdict import Bounds, Case, Method, Verdict
from ltn.semantics import BaseSemantics

_METHODS = ("refutation", "brave")
_AT_LEAST_0 = (lambda number: 0.0 <= number < float("inf"), "a number, at least 0")
_WHOLE = (lambda number: isinstance(number, int | np.integer) and number >= 1, "a whole number, at least 1")
# Bounds further apart than this do not pin a formula down.
_WIDE = 0.25
# What every optimizer of a search is called: TensorFlow keeps some kilobytes for each name of a variable, for
# ever, and Keras would number the names.
_SEARCH = "search"
_RULES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "q": (lambda number: 0.5 < number < 1.0, "a number between 0.5 and 1, both excluded"),
    "slack": (lambda number: number >= 1.0, "a number, at least 1, which is the paper's definition"),
    "alpha": _AT_LEAST_0,
    "beta": _AT_LEAST_0,
    "restarts": _WHOLE,
    "steps": _WHOLE,
}


class Effort(NamedTuple):
    """How a search is made, as `Theory.entails` explains it."""

    q: float
    slack: float
    alpha: float
    beta: float
    restarts: int
    steps: int
    optimizer: Any
    seed: int | None
    verbose: Any

    def check(self) -> None:
        """Raise where a setting makes no sense."""
        for name, (fits, wanted) in _RULES.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not fits(value):
                raise LogicValueError(f"`{name}` must be {wanted}; got {value!r}.")
        if self.seed is not None and not isinstance(self.seed, int | np.integer):
            raise LogicValueError(f"`seed` must be a whole number, or None; got {self.seed!r}.")


def entails(
    theory: Learner,
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
    sample: int | None = None,
    **named: Any,
) -> Verdict:
    """Whether a closed formula is a logical consequence of the theory: K |=_q phi.

    It is if every grounding that satisfies the axioms to q makes the formula true. Refutation searches
    for one that does not, minimising

        G(phi) + elu(alpha, beta (q - G(K)))

    over all that is learned, first from the theory as it is, then from fresh starting points, until a
    counterexample is found. `method="brave"`, querying after learning, maximises G(K) instead, and then
    asks for phi; it may overlook what refutation finds. The theory is not changed.

    Args:
        formula: a closed formula, as text or as a tree.
        q: the satisfaction of the axioms, between 0.5 and 1.
        data: individuals for variables, by name, as for `query`.
        method: "refutation" or "brave".
        slack: phi counts as false below q if its error is also more than `slack` times that of the
            axioms, 1 - phi > slack (1 - G(K)), or if it is below 0.5. What follows from several axioms
            can be less true than they are: b may be 0.93 when a and a -> b are satisfied to 0.95.
            `slack=1` is the paper's definition, phi < q.
        alpha, beta: the slopes of the penalty, see `ltn.reasoning.elu`. Beta is raised while a search ends
            below q.
        restarts: the number of starting points.
        steps: the steps of gradient descent from each.
        optimizer: a Keras optimizer; by default RMSprop, with a step of 0.05 that falls to 0. Large
            networks may need smaller steps.
        seed: a seed for the starting points.
        verbose: 0 for no progress bar.
        semantics, p, named: as for `query`. A mean as quantifier blurs "some": with p = 2 and q = 0.95
            `exists` asks for nine individuals of ten; p=200 makes it ask for one. Likewise one of fifty
            axioms may fall to 0.65 while all of them together are at 0.95; p_satagg=200 keeps each of
            them up.
        sample: as for `query`; by default axioms and formula are about all individuals. The tuples are drawn
            once, for the whole search: a counterexample satisfies the axioms on them.

    Returns:
        A `ltn.reasoning.Verdict`, truthy if the formula follows, with the counterexample if not.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> A, B = (theory.proposition(name, trainable=True) for name in "AB")
    >>> axioms = theory.axioms("A\\nA -> B")
    >>> bool(theory.entails("B", verbose=0)), bool(theory.entails("~B", verbose=0))
    (True, False)
    """
    question = Question(data, semantics, p, named, sample)
    effort = Effort(q, slack, alpha, beta, restarts, steps, optimizer, seed, verbose)
    if method not in _METHODS:
        raise LogicValueError(f"`method` must be one of {', '.join(_METHODS)}; got {method!r}.")
    goal = Goal(float(method == "refutation"), effort.q, effort.alpha, effort.beta, effort.slack)
    runs: list[BestGrounding] = []
    refuted = None
    with _Finder(theory, formula, question, effort) as finder:
        for found in finder.runs(goal):
            runs.append(found)
            if refuted is None and _refutes(found, effort):
                refuted = found
                if method == "refutation":
                    break
    satisfying = [found for found in runs if found.satisfaction >= effort.q]
    case: Case = "refuted" if refuted else "assumed" if satisfying else "unsatisfied"
    deciding = refuted or (
        min(satisfying, key=lambda found: found.value)
        if satisfying
        else max(runs, key=lambda found: found.satisfaction)
    )
    finder.check(deciding)
    return Verdict(
        str(finder.tree),
        cast(Method, method),
        effort.q,
        effort.slack,
        case,
        deciding.satisfaction,
        deciding.value,
        Grounding.of(theory, deciding.weights),
        next(number for number, found in enumerate(runs, 1) if found is deciding),
        pd.DataFrame([(f.satisfaction, f.value) for f in runs], columns=["satisfaction", "value"]),
        _curve(runs),
    )


def bounds(
    theory: Learner,
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
    sample: int | None = None,
    **named: Any,
) -> Bounds:
    """The lowest and the highest truth value of a closed formula while the axioms are satisfied to q.

    A warning says so if they are further apart than 0.25: then the theory does not pin the formula
    down, and what a query returns depends on chance. If q is not reached at all, both are
    None, and the satisfaction that was reached is the answer. The arguments are those of `entails`.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> A, B = (theory.proposition(name, trainable=True) for name in "AB")
    >>> axioms = theory.axioms("A\\nA -> ~B")
    >>> found = theory.bounds("B", verbose=0)
    >>> print(f"{found.low:.2f} {found.high:.2f}")
    0.00 0.07
    """
    question = Question(data, semantics, p, named, sample)
    effort = Effort(q, 1.0, alpha, beta, restarts, steps, optimizer, seed, verbose)
    goals = [Goal(direction, effort.q, effort.alpha, effort.beta) for direction in (1.0, -1.0)]
    with _Finder(theory, formula, question, effort, len(goals)) as finder:
        runs = [found for goal in goals for found in finder.runs(goal)]
    best = max(found.satisfaction for found in runs)
    satisfying = [found for found in runs if found.satisfaction >= effort.q]
    if not satisfying:
        warnings.warn(
            f"Nothing was found that satisfies the theory to q = {effort.q:g}: the best was {best:.3f}. "
            "Ask with a lower q.",
            stacklevel=2,
        )
        return Bounds(None, None, best, effort.q, None, None)
    low, high = (choose(satisfying, key=lambda found: found.value) for choose in (min, max))
    if high.value - low.value > _WIDE:
        warnings.warn(
            f"The theory does not pin `{finder.tree}` down: satisfied to q = {effort.q:g} it allows all "
            f"from {low.value:.3f} to {high.value:.3f}. What a query returns is a guess.",
            stacklevel=2,
        )
    finder.check(low, high)
    lowest, highest = (Grounding.of(theory, found.weights) for found in (low, high))
    return Bounds(low.value, high.value, best, effort.q, lowest, highest)


def _refutes(found: BestGrounding, effort: Effort) -> bool:
    false = found.value < level(np.float64(found.satisfaction), effort.q, effort.slack)
    return found.satisfaction >= effort.q and bool(false)


class _Finder:
    """Runs of one search from the starting points, with a progress bar."""

    def __init__(
        self, theory: Learner, formula: str | Node, question: Question, effort: Effort, goals: int = 1
    ):
        effort.check()
        self.tree = questions.read_query(theory, formula)
        text = formula if isinstance(formula, str) else ""
        theory.signature.check_formula(self.tree, text)
        theory.signature.check_closed(self.tree, text)
        question = questions.with_tensors(theory, question)
        # Once eagerly, where errors are explained and networks are built.
        with as_written():
            evaluate_theory(theory, self.tree, question)
        if not theory.trainable_variables:
            raise LogicValueError(
                "Nothing in the theory is learned: it has one grounding, which theory.query(...) evaluates."
            )
        self._theory = theory
        self._effort = effort
        self._seed = random.getrandbits(32) if effort.seed is None else effort.seed
        if effort.restarts > 1:
            # This raises for what cannot be initialised, before the first search and not after it.
            self._draw_start(1)
        self._search = Search(theory, self.tree, question, _optimizer(effort))
        shown = ["satisfaction", "value"]
        foreseen = goals * effort.restarts * effort.steps
        self._bar = keras.utils.Progbar(foreseen, verbose=1 if effort.verbose else 0, stateful_metrics=shown)
        self._steps = 0

    def runs(self, goal: Goal) -> Iterator[BestGrounding]:
        """The best grounding from each starting point: the theory as it is, then fresh ones."""
        for restart in range(self._effort.restarts):
            own = values_of(self._theory.trainable_variables)
            start = self._draw_start(restart) if restart else own
            # Every other search begins with the formula: the two ways end in different places.
            formula_first = restart % 2 == 1 and goal.direction != 0.0
            yield self._search.run(start, goal, self._effort.steps, self._progress, formula_first)

    def _draw_start(self, restart: int) -> list[np.ndarray]:
        return starts.draw_start(self._theory, f"{self._seed}/{restart}")

    def check(self, *found: BestGrounding) -> None:
        """Raise if a grounding gives what is not a truth value."""
        with as_written():
            for each in found:
                self._search.evaluate(each.weights)

    def __enter__(self) -> _Finder:
        return self

    def __exit__(self, *_: object) -> None:
        # End the line of the progress bar, even after fewer runs than foreseen.
        self._bar.update(self._steps, finalize=True)

    def _progress(self, steps: int, curve: np.ndarray) -> None:
        # A search that must go on takes more steps than were foreseen.
        self._steps += steps
        self._bar.target = max(self._bar.target, self._steps)
        last = [("satisfaction", curve[-1, 1]), ("value", curve[-1, 2])]
        self._bar.update(self._steps, last, finalize=False)


def _optimizer(effort: Effort) -> Any:
    if effort.optimizer is None:
        # Large steps first, to get anywhere; small ones last, to settle where the satisfaction is q.
        decay = keras.optimizers.schedules.CosineDecay(0.05, effort.steps)
        return keras.optimizers.RMSprop(decay, name=_SEARCH)
    given = find_in_keras("optimizer", keras.optimizers.get, effort.optimizer)
    rate = float(given.learning_rate)
    if not 0.0 <= rate < float("inf"):
        raise LogicValueError(f"`optimizer` must have a finite learning rate, at least 0; it has {rate:g}.")
    return type(given).from_config(given.get_config() | {"name": _SEARCH})


def _curve(runs: list[BestGrounding]) -> pd.DataFrame:
    tables = [
        pd.DataFrame(found.curve, columns=["loss", "satisfaction", "value"])
        .rename_axis("step")
        .reset_index()
        .assign(restart=number)
        for number, found in enumerate(runs, 1)
    ]
    return pd.concat(tables, ignore_index=True)[["restart", "step", "loss", "satisfaction", "value"]]
