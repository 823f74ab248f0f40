"""Where truth is computed: as truth values in [0, 1], or as their logarithms.

A space turns what networks return into values, and values into truths again; the operators that work on
these values come from the semantics.
"""

from __future__ import annotations

from typing import Any, Protocol

import tensorflow as tf

from ltn.core import Formula, Predicate, Term
from ltn.core.expressions import connect
from ltn.evaluation.calls import Output
from ltn.fuzzy_ops.logspace import log1mexp, log_truth
from ltn.language import Node, negation_normal_form
from ltn.semantics import BaseSemantics


class Space(Protocol):
    """How formulas are evaluated."""

    semantics: Any
    # Whether negation is an operator; else formulas come in normal form, and what is negated negates itself.
    negates: bool

    def prepare(self, formula: Node) -> Node:
        """The formula as it is evaluated."""

    def atom(self, predicate: Predicate, output: Output, classes: Term | None, negated: bool) -> Formula:
        """The value of a predicate on terms, or of its negation."""

    def crisp(self, truth: Formula, negated: bool) -> Formula:
        """The value of a formula whose truth is given: a proposition, a comparison."""

    def equal(self, exponent: Formula, negated: bool) -> Formula:
        """The value of a smooth equality exp(exponent), exponent <= 0."""

    def truth(self, value: tf.Tensor) -> tf.Tensor:
        """A value as a truth in [0, 1]."""

    def loss(self, satisfaction: tf.Tensor) -> tf.Tensor:
        """What training minimises."""


class TruthSpace:
    """Values are truths; negation is an operator like any other."""

    negates = True

    def __init__(self, semantics: BaseSemantics):
        self.semantics: Any = semantics

    def prepare(self, formula: Node) -> Node:
        return formula

    def atom(self, predicate: Predicate, output: Output, classes: Term | None, negated: bool) -> Formula:
        return self.crisp(truth_of(predicate, output, classes), negated)

    def crisp(self, truth: Formula, negated: bool) -> Formula:
        return connect(self.semantics.Not, truth) if negated else truth

    def equal(self, exponent: Formula, negated: bool) -> Formula:
        return self.crisp(Formula(tf.exp(exponent.tensor), exponent.free_vars), negated)

    def truth(self, value: tf.Tensor) -> tf.Tensor:
        return value

    def loss(self, satisfaction: tf.Tensor) -> tf.Tensor:
        return 1.0 - satisfaction


class LogSpace:
    """Values are logarithms of truths, of formulas in negation normal form."""

    negates = False

    def __init__(self, semantics: BaseSemantics):
        self.semantics: Any = semantics

    def prepare(self, formula: Node) -> Node:
        return negation_normal_form(formula)

    def atom(self, predicate: Predicate, output: Output, classes: Term | None, negated: bool) -> Formula:
        values = output.read(
            ("log", negated), lambda rows, logits: predicate.log_values(rows, negated, logits)
        )
        return predicate.log_truth(output.rows, output.batch, classes, negated, output.logits, values)

    def crisp(self, truth: Formula, negated: bool) -> Formula:
        return Formula(log_truth(1.0 - truth.tensor if negated else truth.tensor), truth.free_vars)

    def equal(self, exponent: Formula, negated: bool) -> Formula:
        return Formula(log1mexp(exponent.tensor), exponent.free_vars) if negated else exponent

    def truth(self, value: tf.Tensor) -> tf.Tensor:
        return tf.exp(value)

    def loss(self, satisfaction: tf.Tensor) -> tf.Tensor:
        return -satisfaction


# Each space by the name that a semantics gives it.
_SPACES: dict[str, type[TruthSpace] | type[LogSpace]] = {"truth": TruthSpace, "log": LogSpace}


def space_of(semantics: BaseSemantics) -> Space:
    """The space in which a semantics works."""
    return _SPACES[semantics.space](semantics)


def truth_of(predicate: Predicate, output: Output, classes: Term | None) -> Formula:
    """The truth of a predicate in [0, 1], whatever the space."""
    values = output.read("truth", lambda rows, _: predicate.values(rows))
    return predicate.truth(output.rows, output.batch, classes, values)
