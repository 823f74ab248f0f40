"""Logical consequence: by refutation, by querying after learning, and the bounds of a truth value."""

from __future__ import annotations

import numbers
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import keras
import numpy as np
import pandas as pd

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Node
from ltn.reasoning import starts
from ltn.reasoning.grounding import Grounding
from ltn.reasoning.search import Found, Goal, Search, evaluated, level
from ltn.reasoning.verdict import Bounds, Case, Method, Verdict
from ltn.theory import Theory, queries
from ltn.theory.queries import Question

_METHODS = ("refutation", "brave")
_AT_LEAST_0 = (lambda number: 0.0 <= number < float("inf"), "a number, at least 0")
_WHOLE = (lambda number: isinstance(number, int | np.integer) and number >= 1, "a whole number, at least 1")
# Bounds further apart than this do not pin a formula down.
_WIDE = 0.25
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


def entails(theory: Theory, formula: str | Node, asked: Question, method: str, effort: Effort) -> Verdict:
    """The verdict on a formula."""
    if method not in _METHODS:
        raise LogicValueError(f"`method` must be one of {', '.join(_METHODS)}; got {method!r}.")
    goal = Goal(float(method == "refutation"), effort.q, effort.alpha, effort.beta, effort.slack)
    runs: list[Found] = []
    refuted = None
    with _Finder(theory, formula, asked, effort) as finder:
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


def _refutes(found: Found, effort: Effort) -> bool:
    false = found.value < level(np.float64(found.satisfaction), effort.q, effort.slack)
    return found.satisfaction >= effort.q and bool(false)


def bounds(theory: Theory, formula: str | Node, asked: Question, effort: Effort) -> Bounds:
    """The lowest and the highest value of a formula."""
    goals = [Goal(direction, effort.q, effort.alpha, effort.beta) for direction in (1.0, -1.0)]
    with _Finder(theory, formula, asked, effort, len(goals)) as finder:
        runs = [found for goal in goals for found in finder.runs(goal)]
    best = max(found.satisfaction for found in runs)
    satisfying = [found for found in runs if found.satisfaction >= effort.q]
    if not satisfying:
        warnings.warn(
            f"Nothing was found that satisfies the theory to q = {effort.q:g}: the best was {best:.3f}. "
            "Ask with a lower q.",
            stacklevel=3,
        )
        return Bounds(None, None, best, effort.q, None, None)
    low, high = (choose(satisfying, key=lambda found: found.value) for choose in (min, max))
    if high.value - low.value > _WIDE:
        warnings.warn(
            f"The theory does not pin `{finder.tree}` down: satisfied to q = {effort.q:g} it allows all "
            f"from {low.value:.3f} to {high.value:.3f}. What a query returns is a guess.",
            stacklevel=3,
        )
    finder.check(low, high)
    lowest, highest = (Grounding.of(theory, found.weights) for found in (low, high))
    return Bounds(low.value, high.value, best, effort.q, lowest, highest)


class _Finder:
    """Runs of one search from the starting points, with a progress bar."""

    def __init__(self, theory: Theory, formula: str | Node, asked: Question, effort: Effort, goals: int = 1):
        effort.check()
        self.tree = queries.parsed(theory, formula)
        text = formula if isinstance(formula, str) else ""
        theory.signature.check_formula(self.tree, text)
        theory.signature.check_closed(self.tree, text)
        asked = queries.with_tensors(theory, asked)
        # Once where errors are explained, not in a graph, and where networks are built that were not yet.
        evaluated(theory, self.tree, asked)
        if not theory.trainable_variables:
            raise LogicValueError(
                "Nothing in the theory is learned: it has one grounding, which theory.query(...) evaluates."
            )
        self._theory = theory
        self._effort = effort
        self._seed = random.getrandbits(32) if effort.seed is None else effort.seed
        if effort.restarts > 1:
            # What cannot be initialised afresh is said before the first search, not after it.
            self._fresh(1)
        self._search = Search(theory, self.tree, asked, _optimizer(effort))
        shown = ["satisfaction", "value"]
        foreseen = goals * effort.restarts * effort.steps
        self._bar = keras.utils.Progbar(foreseen, verbose=1 if effort.verbose else 0, stateful_metrics=shown)
        self._steps = 0

    def runs(self, goal: Goal) -> Iterator[Found]:
        """The best grounding from each starting point: the theory as it is, then afresh."""
        for restart in range(self._effort.restarts):
            own = starts.values_of(self._theory.trainable_variables)
            start = self._fresh(restart) if restart else own
            # Every other search begins with the formula: the two ways end in different places.
            formula_first = restart % 2 == 1 and goal.direction != 0.0
            yield self._search.run(start, goal, self._effort.steps, self._progress, formula_first)

    def _fresh(self, restart: int) -> list[np.ndarray]:
        return starts.fresh(self._theory, f"{self._seed}/{restart}")

    def check(self, *found: Found) -> None:
        """Raise where a grounding gives what is no truth value."""
        for each in found:
            self._search.evaluate(each.weights)

    def __enter__(self) -> _Finder:
        return self

    def __exit__(self, *_: object) -> None:
        # The line of the progress bar ends, also where the runs were fewer than foreseen.
        self._bar.update(self._steps, finalize=True)

    def _progress(self, steps: int, curve: np.ndarray) -> None:
        # A search that must go on takes more steps than were foreseen.
        self._steps += steps
        self._bar.target = max(self._bar.target, self._steps)
        last = [("satisfaction", curve[-1, 1]), ("value", curve[-1, 2])]
        self._bar.update(self._steps, last, finalize=False)


def _optimizer(effort: Effort) -> Any:
    if effort.optimizer is None:
        # Large steps first, to get anywhere; small ones at last, to settle where the satisfaction is q.
        return keras.optimizers.RMSprop(keras.optimizers.schedules.CosineDecay(0.05, effort.steps))
    try:
        optimizer = keras.optimizers.get(effort.optimizer)
    except ValueError as error:
        raise LogicTypeError(f"`optimizer` must be a Keras optimizer; got {effort.optimizer!r}.") from error
    return type(optimizer).from_config(optimizer.get_config())


def _curve(runs: list[Found]) -> pd.DataFrame:
    tables = [
        pd.DataFrame(found.curve, columns=["loss", "satisfaction", "value"])
        .rename_axis("step")
        .reset_index()
        .assign(restart=number)
        for number, found in enumerate(runs, 1)
    ]
    return pd.concat(tables, ignore_index=True)[["restart", "step", "loss", "satisfaction", "value"]]
