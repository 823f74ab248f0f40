"""Satisfaction: the values of a theory's axioms, and their aggregation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import tensorflow as tf

from ltn._private import user_code
from ltn.checks import check_truths
from ltn.core import Formula
from ltn.core.expressions import connect
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import batches
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.plan import Options
from ltn.evaluation.spaces import Space
from ltn.fuzzy_ops import Aggregator
from ltn.knowledge.axioms import Axiom


class Satisfaction(NamedTuple):
    """The value of each axiom and their aggregate, in the space of the semantics."""

    axioms: list[tf.Tensor]
    total: tf.Tensor


def truths_by_name(found: Satisfaction, axioms: Sequence[Axiom], space: Space) -> dict[str, tf.Tensor]:
    """The satisfaction and the truth of each axiom by name, each of shape (1,)."""
    truths = [space.truth(value)[tf.newaxis] for value in (found.total, *found.axioms)]
    return dict(zip(("satisfaction", *(axiom.name for axiom in axioms)), truths, strict=True))


def satisfaction(
    axioms: Sequence[Axiom],
    options_of: Callable[[Axiom], Options],
    evaluation: Evaluation,
    shares: Any = None,
    limit: int | None = None,
    known: Sequence[tf.Tensor] | None = None,
) -> Satisfaction:
    """Ground all axioms together, so that what they have in common is computed once.

    Args:
        axioms: all of them.
        options_of: tells what was set for the quantifiers of one axiom alone.
        evaluation: the groundings and the space.
        shares: what each axiom counts, a tensor; by default as the axioms say now.
        limit: about how many bytes may be used where nothing is learned; None for any number.
        known: the value of each axiom, where they were computed already.
    """
    if not axioms:
        raise LogicValueError("The theory has no axioms: add some with theory.axiom(...).")
    space = evaluation.space
    if known is None:
        values = _ground(axioms, options_of, evaluation, limit)
    else:
        values = [Formula(value, []) for value in known]
    weighted = [_with_weight(axiom, value, evaluation) for axiom, value in zip(axioms, values, strict=True)]
    total = _aggregate(space.semantics.SatAgg, tf.stack(weighted), axioms, shares)
    return Satisfaction([value.tensor for value in values], total)


def _ground(
    axioms: Sequence[Axiom],
    options_of: Callable[[Axiom], Options],
    evaluation: Evaluation,
    limit: int | None,
) -> list[Formula]:
    """The value of each axiom."""
    written = [(a.name, a.tree, options_of(a)) for a in axioms if a.tree is not None]
    names, trees, own_options = zip(*written, strict=True) if written else ((), (), ())
    ground = evaluation.ground if limit is None else partial(batches.ground, evaluation, limit=limit)
    grounded = dict(zip(names, ground(trees, own_options), strict=True))
    return [grounded[axiom.name] if axiom.name in grounded else call(axiom, evaluation) for axiom in axioms]


def note(axioms: Sequence[Axiom], truths: Mapping[str, float], by: str) -> None:
    """Keep truths of axioms, by name, as measured last: notebooks show them without evaluating anything."""
    for axiom in axioms:
        if axiom.name in truths:
            axiom.measured = float(truths[axiom.name]), by


def call(axiom: Axiom, evaluation: Evaluation) -> Formula:
    """The value of an axiom that is Python code."""
    code: Any = axiom.formula
    if evaluation.groundings.has_weights:
        raise LogicTypeError(
            f"The axiom '{axiom.name}' is Python code, whose quantifiers know no sample weights: write it as "
            "text, or leave the weights out."
        )
    with evaluation.groundings.share_all().in_force():
        formula = user_code(code)()
    if not isinstance(formula, Formula) or formula.free_vars:
        raise LogicTypeError(
            f"The axiom '{axiom.name}' must return a closed ltn.Formula; got {formula!r}. "
            "Quantify its free variables."
        )
    check_truths(
        formula.tensor,
        f"The truth of the axiom '{axiom.name}'",
        "It is Python code: combine truth values by `~ & | >>` and quantifiers, which keep them there.",
    )
    return evaluation.space.crisp(formula, negated=False)


def _with_weight(axiom: Axiom, value: Formula, evaluation: Evaluation) -> tf.Tensor:
    """The value of an axiom; with a learned weight, that of p_w & formula."""
    if axiom.proposition is None:
        return value.tensor
    space = evaluation.space
    weight = Formula(evaluation.propositions[axiom.proposition].tensor, [])
    return connect(space.semantics.And, space.crisp(weight, negated=False), value).tensor


def _aggregate(operator: Any, values: tf.Tensor, axioms: Sequence[Axiom], shares: Any) -> tf.Tensor:
    if isinstance(operator, Aggregator):
        given = [axiom.share for axiom in axioms] if shares is None else shares
        return operator(values, axis=0, weights=tf.cast(given, values.dtype))
    if any(axiom.share != 1.0 for axiom in axioms):
        raise LogicTypeError(
            f"Weights of axioms need an aggregator of ltn.fuzzy_ops; SatAgg is {operator!r}."
        )
    return user_code(operator)(values, axis=0)
