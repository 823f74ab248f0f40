"""What a quantifier binds: the frame of its body, on axes, or on tuples that a guard or a sample selects."""

from __future__ import annotations

import math

from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation import guards, samples
from ltn.evaluation.frames import Frame
from ltn.evaluation.planner import Planner
from ltn.fuzzy_ops import Aggregator
from ltn.language import Node, Quantifier
from ltn.language.names import QUANTIFIERS

# The most combinations that are evaluated at once where some were to be drawn: memory must hold their values.
_MOST = 2**27


def bind_all(planner: Planner, node: Quantifier, frame: Frame) -> dict[str, str]:
    """The frame with the axes that a quantifier binds."""
    inner = dict(frame)
    for group in node.groups:
        inner |= dict.fromkeys(group, planner.bind(group))
    return inner


def narrow(planner: Planner, node: Quantifier, frame: Frame) -> dict[str, str]:
    """The frame of a quantifier's body, on the tuples that its guard selects."""
    found = select_tuples(planner, node, frame)
    if found is not None:
        return planner.frames.replace(frame, found[0])
    if node.guard is None or not has_variables(planner, node):
        return dict(frame)
    return planner.frames.replace(frame, guards.select(planner, node.guard, frame))


def has_variables(planner: Planner, node: Quantifier) -> bool:
    """Whether a quantifier has a guard with variables, which selects some of their individuals."""
    return node.guard is not None and bool(planner.free(node.guard))


def select_tuples(planner: Planner, node: Quantifier, frame: Frame) -> tuple[str, Node | None] | None:
    """The axis of the tuples that a quantifier works on, and what masks them; None where it works on axes."""
    operator = getattr(planner.space.semantics, QUANTIFIERS[node.kind].operator)
    most, guard = samples_of(planner, node), node.guard if has_variables(planner, node) else None
    if most is not None and not isinstance(operator, Aggregator):
        raise LogicTypeError(
            f"A sample needs an aggregator of ltn.fuzzy_ops; `{node.kind}` is {operator!r}. Leave out "
            "`sample`, or choose other operators."
        )
    if most is not None:
        bound = [frame[group[0]] for group in node.groups]
        label = samples.draw(planner, most, guard, frame, bound)
        if label is not None:
            return label, node.guard if guard is None else None
    if node.guard is None or not has_variables(planner, node) or not isinstance(operator, Aggregator):
        return None
    if planner.settings.dense:
        # Their number must be known.
        return guards.select_known(planner, node.guard, frame)
    return guards.select(planner, node.guard, frame), None


def samples_of(planner: Planner, node: Quantifier) -> int | None:
    """How many tuples a quantifier draws now; None where it takes all."""
    settings = planner.settings
    if node.sample is None or not settings.sampled:
        return None
    return node.sample if settings.sample is None else settings.sample


def check_number(planner: Planner, node: Quantifier) -> None:
    """Raise where a quantifier that draws a sample in training would take more than memory holds."""
    if node.sample is None or samples_of(planner, node) is not None:
        return
    counts = [planner.groundings.count(group[0]) or 0 for group in node.groups]
    if math.prod(counts) > _MOST:
        raise LogicValueError(
            f"All {math.prod(counts):,} combinations of {', '.join(node.variables)} would be evaluated, more "
            f"than {_MOST:,}: a sample is drawn in training only. Let the question draw one too: "
            f"`sample={node.sample}` among its arguments."
        )
