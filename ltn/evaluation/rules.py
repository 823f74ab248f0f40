"""The rules of planning, one for each kind of request."""

from __future__ import annotations

from ltn.evaluation import chunks, crisp, networks, quantifiers, terms, tuples
from ltn.evaluation.atoms import is_atom, plan_atom
from ltn.evaluation.connectives import plan_connective, sign_of
from ltn.evaluation.planner import (
    FormulaIn,
    GuardIn,
    IndexOn,
    PartIn,
    Planner,
    Rule,
    Rules,
    RunOf,
    SizeOf,
    TermIn,
    TuplesOf,
)
from ltn.language import Apply, Quantifier


def plan_formula(planner: Planner, request: FormulaIn) -> Rule:
    """The value of a formula over the axes of a frame."""
    node, frame = request.node, dict(request.frame)
    if isinstance(node, Quantifier):
        in_chunks = chunks.are_needed(planner, node, frame)
        plan = chunks.plan_chunks if in_chunks else quantifiers.plan_quantifier
        return (yield from plan(planner, request))
    atom, negated = sign_of(node)
    if not is_atom(planner, atom):
        return (yield from plan_connective(planner, request))
    if negated and planner.settings.traced:
        yield planner.formula(atom, frame, request.owner)
    return (yield from plan_atom(planner, atom, frame, negated))


def plan_term(planner: Planner, request: TermIn) -> Rule:
    """The value of a term over the axes of a frame."""
    node = request.node
    if isinstance(node, Apply) and node.symbol in planner.symbols:
        return (yield from networks.plan_function(planner, node, dict(request.frame)))
    return (yield from terms.plan_term(planner, request))


RULES: Rules = {
    FormulaIn: plan_formula,
    PartIn: chunks.plan_part,
    TermIn: plan_term,
    GuardIn: crisp.plan_guard,
    TuplesOf: tuples.plan_tuples,
    SizeOf: tuples.plan_size,
    IndexOn: tuples.plan_index,
    RunOf: networks.plan_run,
}
