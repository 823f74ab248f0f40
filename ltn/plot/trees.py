"""Trees of formulas, with the truth of every subformula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ltn.checks import check_flag
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.evaluation import Trace
from ltn.evaluation.spaces import Space
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.language import And, Apply, Binary, Comparison, Name, Node, Not, Or, Quantifier, text
from ltn.language.tree import fold
from ltn.plot.boxes import Box, draw
from ltn.plot.points import check_theory
from ltn.plot.texts import fit_text
from ltn.semantics import BaseSemantics
from ltn.theory import Theory

# A larger tree would not fit on any screen.
_MOST_NODES = 150


def tree(
    theory: Theory,
    formula: str | Node | Axiom,
    data: Mapping[str, Any] | None = None,
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    unfold: bool = False,
    **named: Any,
) -> Figure:
    """The tree of a formula, with the truth of every subformula as text and as colour.

    A subformula without free variables shows its truth; one with variables shows the mean of its truths over
    the individuals that the guards above it select, and the lowest and the highest. Terms are the
    leaves. Under `log_product` the tree is that of the negation normal form, which is what is evaluated.

    Args:
        theory: the theory of the formula.
        formula: text, a syntax tree, or an axiom, also by its name.
        data: individuals for variables, by name.
        semantics, p, named: as for `theory.query`.
        unfold: whether to write out definitions; by default each is one leaf, by its name.

    >>> import ltn.plot
    >>> theory = ltn.Theory("product")
    >>> A, B = theory.proposition("A", 0.5), theory.proposition("B", 0.4)
    >>> figure = ltn.plot.tree(theory, "A -> ~B")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['→', '0.800', 'A', '0.500', '¬', '0.600', 'B', '0.400']
    """
    check_theory(theory)
    node, axiom = questions.read_formula(theory, formula, "a tree")
    if not theory.signature.sort_of(node).is_formula:
        raise LogicTypeError(f"A tree shows the truth of a formula; `{text(node)}` is a term.")
    question = questions.Question(data, semantics, p, named)
    evaluation = questions.evaluation_for(theory, question)
    traced = prepared = evaluation.space.prepare(node)
    check_flag("unfold", unfold)
    if unfold:
        [written_out] = theory.signature.write_out([prepared]).nodes
        prepared = evaluation.space.prepare(written_out)
    # What a node shares with another one is drawn twice.
    count = fold(prepared, lambda _, below: 1 + sum(below))
    if count > _MOST_NODES:
        shown = f"{count} parts" if count < 10**6 else "more than a million parts"
        raise LogicValueError(
            f"The formula has {shown}, and a tree of more than {_MOST_NODES} cannot be read: draw one "
            "of its subformulas."
        )
    own = {} if axiom is None else questions.options_of(theory, axiom, question)
    root = _box(evaluation.trace(traced, own, unfold), evaluation.space)
    title = ("" if axiom is None else f"{axiom.name}:  ") + text(node, unicode=True)
    note = "" if prepared == node else f"evaluated as  {text(prepared, unicode=True)}"
    return draw(root, title, note)


def _box(trace: Trace, space: Space) -> Box:
    """A formula with the boxes below it."""
    node = trace.formula
    truths = space.truth(trace.value.tensor).numpy()
    terms: tuple[Node, ...] = ()
    match node:
        case Quantifier():
            label = _quantifier(node)
        case Not(operand=Apply(symbol=symbol, arguments=arguments)) if not trace.below:
            # A definition whose negation is evaluated.
            label, terms = f"¬ {symbol}", arguments
        case Not():
            label = "¬"
        case Binary():
            label = node.sign.unicode
        case Comparison():
            label, terms = node.sign.unicode, (node.left, node.right)
        case Apply():
            label, terms = node.symbol, node.arguments
        case Name():
            label = node.name
        case _:
            raise LogicTypeError(f"Expected a part of a formula; got a {type(node).__name__}.")
    below = [_box(part, space) for part in _operands(trace)]
    below += [Box(fit_text(_term(term), 24, lines=3)) for term in terms]
    return Box(label, _describe_truths(truths), float(np.mean(truths)) if truths.size else np.nan, below)


def _term(node: Node) -> str:
    return node.name if isinstance(node, Name) else text(node, unicode=True)


def _describe_truths(truths: np.ndarray) -> str:
    """The truths of a subformula as text."""
    if not truths.ndim:
        return f"{truths:.3f}"
    if not truths.size:
        return "no individuals"
    return f"mean {truths.mean():.3f}\n{truths.min():.3f} – {truths.max():.3f}"


def _quantifier(node: Quantifier) -> str:
    groups = [group[0] if len(group) == 1 else f"diag({', '.join(group)})" for group in node.groups]
    options = ", ".join(f"{name} = {value:g}" for name, value in node.options)
    head = f"{node.sign.unicode} {', '.join(groups)}" + (f"  ({options})" if options else "")
    guard = "" if node.guard is None else f"where {text(node.guard, unicode=True)}"
    return fit_text(head, 40, lines=3) + (guard and "\n" + fit_text(guard, 40, lines=4))


def _operands(trace: Trace) -> list[Trace]:
    """The formulas below; those of a chain such as a & b & c stand side by side."""
    operands, kind = list(trace.below), type(trace.formula)
    while kind in (And, Or) and type(operands[0].formula) is kind:
        operands[:1] = operands[0].below
    return operands
