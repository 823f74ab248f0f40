"""The cost of more starting points: `theory.entails(..., restarts=10)` beside `restarts=1`.

The search is compiled once for all starting points, so that ten of them cost much less than ten searches.
Nothing is refuted here, or the search would end early.
"""

import ltn
from benchmarks.programs.theories import theory_of_smokers
from benchmarks.worker import Step

# What the axioms of the smokers reach; of more than they can, the search would not look at the formula.
Q_OF_SMOKERS = 0.8


def propositions(restarts: int) -> Step:
    """From A and A -> B follows B."""
    theory = ltn.Theory()
    for name in "AB":
        theory.proposition(name, 0.0, trainable=True)
    theory.axioms("A\nA -> B")
    return search(theory, "B", 0.95, restarts)


def smokers(restarts: int) -> Step:
    """From the paper's smokers follows one of their own rules."""
    return search(theory_of_smokers(), "forall x: S(x) -> C(x)", Q_OF_SMOKERS, restarts)


def search(theory: ltn.Theory, formula: str, q: float, restarts: int) -> Step:
    """A call of `entails` that tries all its starting points."""

    def step() -> float:
        verdict = theory.entails(formula, q, restarts=restarts, seed=0, verbose=0)
        if verdict.case != "assumed":
            raise RuntimeError(f"This search is none to measure: {verdict}")
        return verdict.value

    return step
