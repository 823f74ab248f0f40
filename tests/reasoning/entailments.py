"""Entailments whose classical answer is known, and their theories: the table to measure reasoning by."""

import random
from typing import Any, NamedTuple

import keras
import tensorflow as tf

import ltn
from ltn.reasoning.verdict import Case

PROPOSITIONS = "ABC"
PREDICATES = {"P": 1, "Q": 1, "R": 2}
INDIVIDUALS = ("a", "b", "c")
# As a mean with p = 2, `exists` at q = 0.95 asks for nine individuals of ten, and `~forall` likewise: neither
# means "some". With a high p the largest value decides: one individual of three gives 3 ** (-1 / 40) = 0.97.
# Propositions have no quantifiers: for them it changes nothing.
CLASSICAL = {"p_forall": 40, "p_exists": 40}


class Entailment(NamedTuple):
    """Whether a formula follows from axioms in classical logic.

    Attributes:
        rule: the name of the rule, or of the fallacy.
        axioms: their texts, separated by semicolons.
        formula: its text.
        follows: the classical answer.
        consistent: whether the axioms have a model; everything follows from those that have none.
        miss: why reasoning answers otherwise, where it does.
    """

    rule: str
    axioms: str
    formula: str
    follows: bool
    consistent: bool = True
    miss: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.axioms} {'|=' if self.follows else '|/='} {self.formula}"

    @property
    def case(self) -> Case:
        """The case that decides, if the answer is the classical one."""
        if not self.consistent:
            return "unsatisfied"
        return "assumed" if self.follows else "refuted"


TABLE = (
    # Propositional
    Entailment("modus ponens", "A; A -> B", "B", True),
    Entailment("modus ponens", "A; A -> B", "~B", False),
    Entailment("affirming the consequent", "B; A -> B", "A", False),
    Entailment("modus tollens", "~B; A -> B", "~A", True),
    Entailment("denying the antecedent", "~A; A -> B", "~B", False),
    Entailment("contraposition", "A -> B", "~B -> ~A", True),
    Entailment("inversion", "A -> B", "~A -> ~B", False),
    Entailment("conversion", "A -> B", "B -> A", False),
    Entailment("transitivity", "A -> B; B -> C", "A -> C", True),
    Entailment("transitivity", "A -> B; B -> C", "C -> A", False),
    Entailment("De Morgan", "~(A & B)", "~A | ~B", True),
    Entailment("De Morgan", "~(A & B)", "~A & ~B", False),
    Entailment("De Morgan", "~(A | B)", "~A & ~B", True),
    Entailment("De Morgan", "~A | ~B", "~(A | B)", False),
    Entailment("disjunctive syllogism", "A | B; ~A", "B", True),
    Entailment("affirming a disjunct", "A | B; A", "~B", False),
    Entailment("one of two", "A | B", "A", False),
    Entailment("equivalence", "A <-> B; B", "A", True),
    Entailment("equivalence", "A <-> B", "A", False),
    Entailment(
        "excluded middle",
        "A",
        "B | ~B",
        True,
        miss="No law of product logic: B = 0.5 gives 0.75, however well A is satisfied. No classical model "
        "is like this counterexample.",
    ),
    Entailment("inconsistency", "A; ~A", "B", True, consistent=False),
    # First-order
    Entailment("instantiation", "forall x: P(x)", "P(a)", True),
    Entailment("instantiation", "P(a)", "forall x: P(x)", False),
    Entailment("generalisation", "P(a)", "exists x: P(x)", True),
    Entailment("generalisation", "exists x: P(x)", "P(a)", False),
    Entailment("modus ponens", "forall x: P(x) -> Q(x); P(a)", "Q(a)", True),
    Entailment("affirming the consequent", "forall x: P(x) -> Q(x); Q(a)", "P(a)", False),
    Entailment("inversion", "forall x: P(x) -> Q(x)", "forall x: ~P(x) -> ~Q(x)", False),
    Entailment("De Morgan", "~(forall x: P(x))", "exists x: ~P(x)", True),
    Entailment("De Morgan", "~(forall x: P(x))", "forall x: ~P(x)", False),
    Entailment("distribution", "forall x: P(x) & Q(x)", "(forall x: P(x)) & (forall y: Q(y))", True),
    Entailment("distribution", "forall x: P(x) | Q(x)", "(forall x: P(x)) | (forall y: Q(y))", False),
    Entailment("distribution", "exists x: P(x); exists x: Q(x)", "exists x: P(x) & Q(x)", False),
    Entailment("quantifier shift", "exists y: forall x: R(x, y)", "forall x: exists y: R(x, y)", True),
    Entailment("quantifier shift", "forall x: exists y: R(x, y)", "exists y: forall x: R(x, y)", False),
    Entailment(
        "transitivity",
        "forall x, y, z: R(x, y) & R(y, z) -> R(x, z); R(a, b); R(b, c)",
        "R(a, c)",
        True,
    ),
    Entailment(
        "transitivity",
        "forall x, y, z: R(x, y) & R(y, z) -> R(x, z); R(a, b); R(b, c)",
        "R(c, a)",
        False,
    ),
    Entailment("inconsistency", "forall x: P(x); exists x: ~P(x)", "Q(a)", True, consistent=False),
)


@keras.saving.register_keras_serializable(package="tests")
class TruthTable(keras.Layer):
    """A predicate over named individuals that may be true of any of them: one logit for each tuple."""

    def __init__(self, arity: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.arity = arity

    def build(self, input_shape: Any) -> None:
        self.logits = self.add_weight(
            shape=(len(INDIVIDUALS),) * self.arity,
            initializer=keras.initializers.RandomNormal(stddev=1.0),
            name="logits",
        )

    def call(self, inputs: Any) -> tf.Tensor:
        numbers = inputs if isinstance(inputs, list | tuple) else [inputs]
        return tf.sigmoid(tf.gather_nd(self.logits, tf.cast(tf.concat(numbers, axis=-1), tf.int32)))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "arity": self.arity}


def theory_of(row: Entailment, seed: int, **hyperparameters: Any) -> ltn.Theory:
    """The axioms of a row, over propositions and predicates that start anywhere."""
    keras.utils.set_random_seed(seed)
    theory = ltn.Theory(**hyperparameters)
    things = theory.domain("things", values=list(INDIVIDUALS))
    theory.variables("x, y, z", things)
    # Those that occur: a symbol more is a search that takes longer.
    for name in PROPOSITIONS:
        if name in row.axioms + row.formula:
            theory.proposition(name, random.random(), trainable=True)
    for name, arity in PREDICATES.items():
        if name in row.axioms + row.formula:
            theory.predicate(name, [things] * arity, TruthTable(arity))
    for axiom in row.axioms.split(";"):
        theory.axiom(axiom.strip())
    return theory
