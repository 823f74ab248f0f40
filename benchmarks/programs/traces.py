"""The first trace: the time from the axioms in text to the end of the first training step.

Each step makes the theory anew, so that nothing is left from the trace before. Its networks stay: what it
costs to build them is not measured.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

import ltn
from benchmarks import inputs
from benchmarks.programs.keras_steps import BATCHES, fed, no_data
from benchmarks.programs.theories import (
    predicate_of_digits,
    predicates_of_smokers,
    table_of_addition,
    theory_of_addition,
    theory_of_smokers,
)
from benchmarks.worker import Step

# Sums in a batch: few, since the work of a step is not what is measured.
SUMS = 4


def smokers() -> Step:
    """The first trace of the paper's smokers."""
    predicates = predicates_of_smokers()
    return first_step(lambda: theory_of_smokers(predicates), no_data())


def addition(task: str) -> Step:
    """The first trace of an addition whose digits are found by one guard."""
    digit = predicate_of_digits()
    return first_step(lambda: theory_of_addition(task, digit), fed(table_of_addition(task), inputs.BATCH))


def long_addition(digits: int) -> Step:
    """The first trace of an addition with carries, which are nested as deep as the numbers are long."""
    digit = predicate_of_digits()
    data = fed(inputs.long_additions(digits, BATCHES * SUMS), SUMS)
    return first_step(lambda: theory_of_long_addition(digits, digit), data)


def first_step(theory_of: Callable[[], ltn.Theory], data: tf.data.Dataset) -> Step:
    """Make a theory, and take its first step as `fit` does."""
    batches = iter(data)

    def step() -> tf.Tensor:
        theory = theory_of()
        theory.compile(keras.optimizers.Adam(1e-3))
        theory.optimizer.build(theory.trainable_variables)
        theory.make_train_function()
        return theory.train_function(batches)["loss"]

    return step


def theory_of_long_addition(digits: int, digit: ltn.Predicate) -> ltn.Theory:
    """One axiom about the images of two numbers and the digits of their sum."""
    theory = ltn.Theory("log_product")
    images = theory.domain("images", shape=(28, 28, 1), bounds=(0, 1))
    numerals = theory.domain("digits", values=range(10))
    results, carries = theory.domain("results"), theory.domain("carries", values=range(2))
    theory.variables("d, e", numerals)
    for place in range(digits):
        theory.variables(f"x{place}, y{place}", images)
        theory.variable(f"n{place}", results)
        theory.variable(f"c{place + 1}", carries)
    theory.variable(f"n{digits}", results)
    theory.predicate("digit", (images, numerals), digit)
    theory.axiom(formula_of_long_addition(digits))
    return theory


def formula_of_long_addition(digits: int) -> str:
    """Two numbers add up, place by place from the last digit on, with carries between the places.

        forall diag(x0, y0, ..., n0, ..., nN):
            exists c1: (exists d, e where d + e = n0 + 10 * c1: digit(x0, d) & digit(y0, e))
                & (exists c2: (exists d, e where d + e + c1 = n1 + 10 * c2: digit(x1, d) & digit(y1, e))
                    & (... (exists d, e where d + e + cM = nM + 10 * nN: digit(xM, d) & digit(yM, e))))

    where N is the number of digits and M = N - 1. The last carry is the first digit of the sum, which is
    known. No guard holds more than two digits and two carries, so the cost grows with N, not with 10^(2N).
    """

    def place(number: int, carry: str) -> str:
        given = f" + c{number}" if number else ""
        return (
            f"exists d, e where d + e{given} = n{number} + 10 * {carry}: "
            f"digit(x{number}, d) & digit(y{number}, e)"
        )

    formula = place(digits - 1, f"n{digits}")
    for number in reversed(range(digits - 1)):
        carry = f"c{number + 1}"
        formula = f"exists {carry}: ({place(number, carry)}) & ({formula})"
    images = [f"x{number}, y{number}" for number in range(digits)]
    sums = [f"n{number}" for number in range(digits + 1)]
    return f"forall diag({', '.join([*images, *sums])}): {formula}"
