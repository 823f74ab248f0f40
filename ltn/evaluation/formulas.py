"""Formulas: which rule plans each kind, and how connectives combine the values of their operands."""

from __future__ import annotations

from dataclasses import dataclass

import tensorflow as tf

from ltn.core.expressions import connect
from ltn.evaluation import chunks, quantifiers
from ltn.evaluation.atoms import Project, is_atom, plan_atom
from ltn.evaluation.frames import Frame
from ltn.evaluation.plan import Execution, Step, Value, World
from ltn.evaluation.planner import FormulaIn, Planner, Rule
from ltn.fuzzy_ops.base import Operator, ProjectedConnective, Projection
from ltn.language import And, Binary, Iff, Implies, Node, Not, Or, Quantifier, Xor

_OPERATORS: dict[type[Node], str] = {And: "And", Or: "Or", Implies: "Implies", Iff: "Equiv"}


@dataclass(frozen=True)
class Connect(Step):
    """The operator of a connective on its operands.

    Attributes:
        operator: its name in the semantics.
        operands: the values that it connects.
        projected: whether they are projected already, as a stable operator would do itself.
    """

    operator: str
    operands: tuple[Value, ...]
    projected: bool = False

    def compute(self, execution: Execution) -> tf.Tensor:
        operator = getattr(execution.world.space.semantics, self.operator)
        formulas = [execution.formula(operand) for operand in self.operands]
        return connect(operator, *formulas, **({"stable": False} if self.projected else {})).tensor

    def may_stack(self, world: World) -> bool:
        operator = getattr(world.space.semantics, self.operator)
        # Those of a user, also within a composed one, may expect the axes of a formula.
        parts = [operator, *filter(callable, getattr(operator, "__dict__", {}).values())]
        return all(isinstance(part, Operator) for part in parts)

    def describe(self) -> str:
        return self.operator.lower()


def plan_formula(planner: Planner, request: FormulaIn) -> Rule:
    """The value of a formula over the axes of a frame."""
    node, frame = request.node, dict(request.frame)
    atom, negated = _sign_of(node)
    is_quantified = isinstance(atom, Quantifier) and not (negated and planner.space.negates)
    if not is_quantified and not is_atom(planner, atom):
        return (yield from _plan_connective(planner, request))
    if negated and planner.settings.traced:
        yield planner.formula(atom, frame, request.owner)
    if isinstance(atom, Quantifier):
        in_chunks = planner.settings.may_slice and chunks.are_needed(planner, atom, frame)
        plan = chunks.plan_chunks if in_chunks else quantifiers.plan_quantifier
        return (yield from plan(planner, atom, frame, request.owner, negated))
    return (yield from plan_atom(planner, atom, frame, negated))


def _plan_connective(planner: Planner, request: FormulaIn) -> Rule:
    """The value of a compound formula over the axes of a frame."""
    node, frame = request.node, dict(request.frame)
    if isinstance(node, Not):
        return planner.add(Connect("Not", ((yield planner.formula(node.operand, frame, request.owner)),)))
    if isinstance(node, Xor):
        return (yield from _plan_xor(planner, node, frame, request.owner))
    if not isinstance(node, Binary):
        raise RuntimeError(f"There is no rule for the formula `{node}`.")
    name = _OPERATORS[type(node)]
    operator = getattr(planner.space.semantics, name)
    projection = operator.projection if isinstance(operator, ProjectedConnective) else None
    operands = []
    for operand in (node.left, node.right):
        if projection is None:
            operands.append((yield planner.formula(operand, frame, request.owner)))
        else:
            operands.append((yield from _plan_projected(planner, operand, frame, request.owner, projection)))
    return planner.add(Connect(name, tuple(operands), projected=projection is not None))


def _plan_xor(planner: Planner, node: Xor, frame: Frame, owner: int | None) -> Rule:
    """(a | b) & ~(a & b): one of the two, and not both."""
    operands = (
        (yield planner.formula(node.left, frame, owner)),
        (yield planner.formula(node.right, frame, owner)),
    )
    some, both = planner.add(Connect("Or", operands)), planner.add(Connect("And", operands))
    return planner.add(Connect("And", (some, planner.add(Connect("Not", (both,))))))


def _sign_of(node: Node) -> tuple[Node, bool]:
    """The node without a negation, and whether there is one."""
    return (node.operand, True) if isinstance(node, Not) else (node, False)


def _plan_projected(
    planner: Planner, node: Node, frame: Frame, owner: int | None, projection: Projection
) -> Rule:
    """The value of an operand, projected; an atom before it is read at the tuples of a guard."""
    atom, negated = _sign_of(node)
    if planner.settings.traced:
        yield planner.formula(node, frame, owner)
    if is_atom(planner, atom):
        return (yield from plan_atom(planner, atom, planner.restrict(frame, atom), negated, projection))
    return planner.add(Project((yield planner.formula(node, frame, owner)), projection))
