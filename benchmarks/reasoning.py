"""The cost of more starting points: `theory.entails(..., restarts=10)` beside `restarts=1`.

    python -m benchmarks.reasoning

The search is compiled once for all starting points, so that ten of them cost much less than ten searches.
Nothing is refuted here, or the search would end early.
"""

import tensorflow as tf

import ltn
from benchmarks import smokers
from benchmarks.measure import Step, compare

RESTARTS = 10
ROUNDS = 9
# What the axioms of the smokers reach; of more than they can, the search would not look at the formula.
Q_OF_SMOKERS = 0.8


def modus_ponens() -> ltn.Theory:
    """Two propositions, A and A -> B."""
    theory = ltn.Theory()
    for name in "AB":
        theory.proposition(name, 0.0, trainable=True)
    theory.axioms("A\nA -> B")
    return theory


def search(theory: ltn.Theory, formula: str, q: float, restarts: int) -> Step:
    """A call of `entails` that tries all its starting points."""

    def step() -> tf.Tensor:
        verdict = theory.entails(formula, q, restarts=restarts, seed=0, verbose=0)
        if verdict.case != "assumed":
            raise RuntimeError(f"This search is none to measure: {verdict}")
        return tf.constant(verdict.value)

    return step


def compare_restarts(title: str, theory: ltn.Theory, formula: str, q: float) -> None:
    """Measure and print one theory."""
    print(f"{title} |= {formula}, q = {q:g}")
    few, many = ((f"restarts={restarts}", search(theory, formula, q, restarts)) for restarts in (1, RESTARTS))
    compare(few, many, steps=1, rounds=ROUNDS, unit="call")


def main() -> None:
    """Measure and print."""
    print(f"The goal is a ratio much less than {RESTARTS}.")
    compare_restarts("A, A -> B", modus_ponens(), "B", 0.95)
    compare_restarts("smokers", smokers.theory(), "forall x: S(x) -> C(x)", Q_OF_SMOKERS)


if __name__ == "__main__":
    main()
