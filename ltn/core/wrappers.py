"""Wrappers: fuzzy operators lifted from tensors to formulas; aggregation under a guard."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ltn._private import user_code
from ltn.checks import check_choice
from ltn.core import axes
from ltn.core.expressions import Formula, align_formulas, connect
from ltn.core.variables import Variable, check_variables, release
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops import Aggregator
from ltn.fuzzy_ops.arguments import truth_values
from ltn.fuzzy_ops.base import check_operator
from ltn.language.names import COUNTING, LARGEST_COUNT, PLAIN_QUANTIFIERS, QUANTIFIERS


class Wrapper_Connective:
    """A connective on formulas: G(phi o psi) = op(G(phi), G(psi)), over the union of their variables.

    Called as `And(phi, psi)`; the variables are in order of first appearance. Keyword arguments, such as
    `stable=False`, reach the operator.

    >>> import ltn
    >>> And = ltn.Wrapper_Connective(ltn.fuzzy_ops.And_Min())
    >>> P = ltn.Predicate.Lambda(lambda x: x)
    >>> And(P(ltn.Variable("x", [0.1, 0.7])), P(ltn.Variable("y", [0.5])))
    Formula(tensor=[[0.1]
     [0.5]], free_vars=['x', 'y'])
    """

    def __init__(self, connective_op: Callable[..., Any]):
        check_operator("connective_op", connective_op)
        self.connective_op = connective_op

    def __repr__(self) -> str:
        return f"Wrapper_Connective({self.connective_op!r})"

    def __call__(self, *formulas: Formula, **kwargs: Any) -> Formula:
        """The compound formula."""
        return connect(self.connective_op, *formulas, **kwargs)


class Wrapper_Quantifier:
    """A quantifier on formulas: G(Q x_1 ... x_h phi) = op over the axes x_1, ..., x_h of G(phi).

    Called as `Q(x, phi)`, `Q((x, y), phi)`, `Q(ltn.diag(x, y), phi)`. With `mask=m`, a formula over any
    variables, only the combinations where m is nonzero count: the paper's guarded quantifier. Over an empty
    selection a universal quantifier is 1 and an existential one 0. Keyword arguments, such as `p=5`, reach
    the aggregator.

    Args:
        aggreg_op: an aggregator, or any callable `op(xs, axis=...)`. One that takes `mask=` receives it; any
            other is called on the selected values alone, one row at a time, which XLA does not compile.
        semantics: "forall" or "exists".

    >>> import ltn
    >>> Forall = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_Mean(), semantics="forall")
    >>> x = ltn.Variable("x", [0.2, 0.7, 0.8])
    >>> P, Large = ltn.Predicate.Lambda(lambda x: x), ltn.Predicate.Lambda(lambda x: x > 0.5)
    >>> Forall(x, P(x), mask=Large(x))
    Formula(tensor=0.75, free_vars=[])
    """

    def __init__(self, aggreg_op: Callable[..., Any], semantics: str):
        check_operator("aggreg_op", aggreg_op)
        check_choice("semantics", semantics, PLAIN_QUANTIFIERS)
        self.aggreg_op = aggreg_op
        self.semantics = semantics

    def __repr__(self) -> str:
        return f"Wrapper_Quantifier({self.aggreg_op!r}, semantics={self.semantics!r})"

    def __call__(
        self,
        variables: Variable | Sequence[Variable],
        wff: Formula,
        mask: Formula | None = None,
        **kwargs: Any,
    ) -> Formula:
        """The quantified formula, over the variables of `mask` and `wff` that are not bound."""
        empty = QUANTIFIERS[self.semantics].of_nothing(None)
        return _bind(self.aggreg_op, variables, wff, mask, empty, **kwargs)


class Wrapper_Count:
    """A quantifier that counts: whether exactly, at least or at most k individuals satisfy a formula.

    Called as `Q(k, x, phi)`, and otherwise as a `Wrapper_Quantifier` is: with several variables, with a
    diagonal, with `mask=m`. Over an empty selection the number is 0.

    Args:
        count_op: an operator that counts, or any callable `op(xs, axis=..., least=..., most=...)`, which gets
            one of the bounds, or both; as for a `Wrapper_Quantifier`, with `mask=` or without.
        semantics: "exactly", "at least" or "at most".

    >>> import ltn
    >>> Exactly = ltn.Wrapper_Count(ltn.fuzzy_ops.Count_Prod(), semantics="exactly")
    >>> x = ltn.Variable("x", [0.5, 0.5])
    >>> P = ltn.Predicate.Lambda(lambda x: x)
    >>> Exactly(1, x, P(x))
    Formula(tensor=0.5, free_vars=[])
    """

    def __init__(self, count_op: Callable[..., Any], semantics: str):
        check_operator("count_op", count_op)
        check_choice("semantics", semantics, COUNTING)
        self.count_op = count_op
        self.semantics = semantics

    def __repr__(self) -> str:
        return f"Wrapper_Count({self.count_op!r}, semantics={self.semantics!r})"

    def __call__(
        self,
        count: int,
        variables: Variable | Sequence[Variable],
        wff: Formula,
        mask: Formula | None = None,
        **kwargs: Any,
    ) -> Formula:
        """The quantified formula, over the variables of `mask` and `wff` that are not bound."""
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= LARGEST_COUNT:
            raise LogicValueError(f"`count` is a whole number from 0 to {LARGEST_COUNT}; got {count!r}.")
        kind = QUANTIFIERS[self.semantics]
        bounds = kind.of_count(count)
        return _bind(self.count_op, variables, wff, mask, kind.of_nothing(count), **bounds, **kwargs)


def _bind(
    operator: Callable[..., Any],
    variables: Variable | Sequence[Variable],
    wff: Formula,
    mask: Formula | None,
    empty: float,
    **kwargs: Any,
) -> Formula:
    """The formula in which an operator binds variables; diagonals end."""
    bound: list[Any] = list(variables) if isinstance(variables, list | tuple) else [variables]
    check_variables("A quantifier", bound)
    if not bound:
        raise LogicValueError("A quantifier needs a variable; got none.")
    labels = axes.union(variable.free_vars for variable in bound)
    try:
        return quantify(operator, labels, wff, mask, empty, **kwargs)
    finally:
        release(bound)


def quantify(
    operator: Callable[..., Any],
    labels: Sequence[str],
    wff: Formula,
    mask: Formula | None,
    empty: float,
    **kwargs: Any,
) -> Formula:
    """Aggregate the axes `labels` of a formula, where the mask is nonzero; `empty` where nothing is left."""
    values, selected, axis, order = operands(labels, wff, mask)
    free = [label for label in order if label not in labels]
    return Formula(aggregate(operator, values, axis, selected, empty, **kwargs), free)


def operands(
    labels: Sequence[str], wff: Formula, mask: Formula | None
) -> tuple[tf.Tensor, tf.Tensor | None, tuple[int, ...], list[str]]:
    """The aligned values and mask, the axes to aggregate, and the variable of each axis."""
    guarded = {"wff": wff} if mask is None else {"mask": mask, "wff": wff}
    for role, formula in guarded.items():
        if not isinstance(formula, Formula):
            raise LogicTypeError(
                f"`{role}` must be a formula; got a {type(formula).__name__}: {formula!r}. "
                "A quantifier is called Q(x, formula), or Q((x, y), formula)."
            )
    order = axes.union(formula.free_vars for formula in guarded.values())
    for label in labels:
        if label not in order:
            raise LogicValueError(
                f"The variable '{label}' is quantified but does not occur in the formula, whose "
                f"free variables are {order}. (A diagonal counts from the call of ltn.diag on: "
                "call it before the formula is built.)"
            )
    tensors = align_formulas(list(guarded.values()), order)
    selected = None if mask is None else tf.cast(tensors[0], tf.bool)
    return tensors[-1], selected, tuple(order.index(label) for label in labels), order


def aggregate(
    operator: Callable[..., Any],
    xs: tf.Tensor,
    axis: tuple[int, ...],
    mask: tf.Tensor | None,
    empty: float,
    **kwargs: Any,
) -> tf.Tensor:
    """Aggregate `xs` along `axis` where `mask` selects, `empty` where nothing is selected; by any callable.

    `xs` and `mask` have the same axes, of size 1 where the one does not depend on a variable of the other.
    """
    if isinstance(operator, Aggregator):
        return operator(xs, axis=axis, mask=mask, empty=empty, **kwargs)
    if mask is None and all(xs.shape[a] for a in axis):
        return user_code(operator)(xs, axis=axis, **kwargs)
    mask = tf.ones_like(xs, tf.bool) if mask is None else mask & tf.ones_like(xs, tf.bool)
    if "mask" not in inspect.signature(operator).parameters:
        return _row_by_row(operator, xs, axis, mask, empty, **kwargs)
    some = tf.reduce_any(mask, axis, keepdims=True)
    # Where nothing is selected, all is taken: a mean of nothing would put NaN into the gradient.
    value = user_code(operator)(xs, axis=axis, mask=mask | ~some, **kwargs)
    return tf.where(tf.squeeze(some, axis), value, tf.constant(empty, xs.dtype))


def _row_by_row(
    operator: Callable[..., Any],
    xs: tf.Tensor,
    axis: tuple[int, ...],
    mask: tf.Tensor,
    empty: float,
    **kwargs: Any,
) -> tf.Tensor:
    """Call an operator that knows no mask on the selected values alone, once per remaining individual."""
    kept = [a for a in range(mask.shape.rank) if a not in axis]
    turned = tf.transpose(mask, [*kept, *axis])
    sizes, bound = tf.split(tf.shape(turned), [len(kept), len(axis)])

    def as_rows(tensor: tf.Tensor) -> tf.Tensor:
        return tf.reshape(tensor, [tf.reduce_prod(sizes), tf.reduce_prod(bound)])

    def one_row(row: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        values, selected = row
        return tf.cond(
            tf.reduce_any(selected),
            lambda: user_code(operator)(tf.boolean_mask(values, selected), axis=(0,), **kwargs),
            lambda: tf.constant(empty, xs.dtype),
        )

    values = tf.broadcast_to(tf.transpose(xs, [*kept, *axis]), tf.shape(turned))
    rows = tf.map_fn(one_row, (as_rows(values), as_rows(turned)), fn_output_signature=xs.dtype)
    return tf.ensure_shape(tf.reshape(rows, sizes), [mask.shape[a] for a in kept])


class Wrapper_Formula_Aggregator:
    """The aggregator of a knowledge base: SatAgg(phi_1, ..., phi_k) of closed formulas.

    Called with a list of formulas without free variables; keyword arguments reach the operator.

    >>> import ltn
    >>> SatAgg = ltn.Wrapper_Formula_Aggregator(ltn.fuzzy_ops.Aggreg_Mean())
    >>> SatAgg([ltn.Proposition(0.5, trainable=False), ltn.Proposition(1.0, trainable=False)])
    Formula(tensor=0.75, free_vars=[])
    """

    def __init__(self, aggreg_op: Callable[..., Any]):
        check_operator("aggreg_op", aggreg_op)
        self.aggreg_op = aggreg_op

    def __repr__(self) -> str:
        return f"Wrapper_Formula_Aggregator({self.aggreg_op!r})"

    def __call__(self, formulas: Sequence[Formula], *args: Any, **kwargs: Any) -> Formula:
        """The satisfaction of all the formulas together."""
        truths = self._stack(formulas, *args)
        if "axis" in kwargs:
            raise LogicTypeError("The formula aggregator takes no `axis`: it aggregates the formulas.")
        if isinstance(self.aggreg_op, Aggregator):
            _check_numbers(truths.shape[0], **kwargs)
        return Formula(user_code(self.aggreg_op)(truths, axis=0, **kwargs), [])

    @staticmethod
    def _stack(formulas: Sequence[Formula], *args: Any) -> tf.Tensor:
        if args or isinstance(formulas, Formula):
            raise LogicTypeError("The formula aggregator takes one list of formulas: SatAgg([phi, psi]).")
        if not isinstance(formulas, Iterable):
            raise LogicTypeError(
                "The formula aggregator takes a list of formulas; got a "
                f"{type(formulas).__name__}: {formulas!r}."
            )
        formulas = list(formulas)
        if not formulas:
            raise LogicValueError("There is no formula to aggregate: the list is empty.")
        for position, formula in enumerate(formulas, start=1):
            if not isinstance(formula, Formula):
                raise LogicTypeError(
                    f"Formula {position} is a {type(formula).__name__}: {formula!r}; "
                    "expected a closed formula."
                )
            if formula.free_vars:
                raise LogicValueError(
                    f"Formula {position} has the free variables {list(formula.free_vars)}; an axiom must "
                    "be closed. Quantify them, as Forall(x, phi)."
                )
        return tf.stack([formula.tensor for formula in formulas])


def _check_numbers(count: int, mask: Any = None, weights: Any = None, **_: Any) -> None:
    """Raise unless there is one number for each of so many formulas."""
    for name, given in (("mask", mask), ("weights", weights)):
        if given is not None and not truth_values(given)[0].shape.is_compatible_with([count]):
            raise LogicValueError(f"`{name}` has one number for each of the {count} formulas; got {given!r}.")


class Wrappers(NamedTuple):
    """The operators of a semantics, ready to be applied to formulas; unpack it to get the usual names.

    >>> import ltn
    >>> ltn.semantics.godel.wrap().And
    Wrapper_Connective(And_Min())
    """

    Not: Wrapper_Connective
    And: Wrapper_Connective
    Or: Wrapper_Connective
    Implies: Wrapper_Connective
    Equiv: Wrapper_Connective
    Forall: Wrapper_Quantifier
    Exists: Wrapper_Quantifier
    SatAgg: Wrapper_Formula_Aggregator
