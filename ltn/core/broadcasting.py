"""Broadcasting of whole expressions, for callers that want full tensors.

The library itself aligns operands with axes of size 1 and copies nothing.
"""

from collections.abc import Sequence

import keras

from ltn.core import axes
from ltn.core.expressions import Expression, Formula, as_tensors, check_expressions
from ltn.errors import LogicTypeError, LogicValueError


def broadcast_exprs(exprs: Sequence[Expression], in_place: bool = False) -> list[Expression]:
    """All expressions over the same free variables, in order of first appearance.

    Each tensor gets the shape (|x_1|, ..., |x_n|, *features) over the union of the free variables.

    >>> import ltn
    >>> x, y = ltn.Variable("x", [1.0, 2.0]), ltn.Variable("y", [3.0, 4.0, 5.0])
    >>> [(e.free_vars, e.tensor.shape.as_list()) for e in broadcast_exprs([x, y])]
    [(['x', 'y'], [2, 3, 1]), (['x', 'y'], [2, 3, 1])]
    """
    check_expressions("broadcast_exprs", exprs)
    labels = [expr.free_vars for expr in exprs]
    order = axes.union(labels)
    found = axes.sizes(as_tensors(exprs), labels)
    return [
        _replace(expr, axes.broadcast(expr.tensor, expr.free_vars, order, found), order, in_place)
        for expr in exprs
    ]


def transpose_free_vars(expr: Expression, new_var_order: Sequence[str], in_place: bool = False) -> Expression:
    """The expression with its free variables, and their axes, in another order.

    >>> import ltn
    >>> x, y = ltn.Variable("x", [1.0, 2.0]), ltn.Variable("y", [3.0, 4.0, 5.0])
    >>> add = ltn.Function.Lambda(lambda args: args[0] + args[1])
    >>> transpose_free_vars(add([x, y]), ["y", "x"]).tensor.shape
    TensorShape([3, 2, 1])
    """
    check_expressions("transpose_free_vars", [expr])
    if not isinstance(new_var_order, list | tuple) or set(map(type, new_var_order)) - {str}:
        raise LogicTypeError(f"`new_var_order` must be a list of labels; got {new_var_order!r}.")
    if sorted(new_var_order) != sorted(expr.free_vars):
        raise LogicValueError(
            f"`new_var_order` must be a permutation of {list(expr.free_vars)}; got {list(new_var_order)}."
        )
    tensor = axes.reorder(expr.tensor, expr.free_vars, new_var_order)
    return _replace(expr, tensor, new_var_order, in_place)


def broadcast_wff_and_mask(wff: Formula, mask: Formula) -> Formula:
    """A formula over its own and its mask's variables, the mask's first and in their order.

    >>> import ltn
    >>> x, y = ltn.Variable("x", [0.1, 0.2]), ltn.Variable("y", [3.0, 4.0, 5.0])
    >>> P = ltn.Predicate.Lambda(lambda x: x / 10)
    >>> wff = broadcast_wff_and_mask(P(x), P(y))
    >>> wff.free_vars, wff.tensor.shape
    (['y', 'x'], TensorShape([3, 2]))
    """
    check_expressions("broadcast_wff_and_mask", [wff, mask], Formula)
    labels = [mask.free_vars, wff.free_vars]
    order = axes.union(labels)
    found = axes.sizes([mask.tensor, wff.tensor], labels)
    return Formula(axes.broadcast(wff.tensor, wff.free_vars, order, found), order)


def _replace(expr: Expression, tensor: object, free_vars: Sequence[str], in_place: bool) -> Expression:
    if not in_place:
        return expr.of_this_kind(tensor, free_vars)
    if isinstance(expr, keras.Layer):
        raise LogicValueError(
            f"{expr!r} is a constant or proposition and cannot be changed in place; use in_place=False."
        )
    expr.tensor, expr.free_vars = tensor, list(free_vars)
    return expr
