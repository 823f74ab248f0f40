"""Expressions of Real Logic: a tensor with one named axis per free variable; also shown as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd
import tensorflow as tf

from ltn._private import user_code
from ltn.checks import check
from ltn.core import axes, in_force
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language.parser import in_signs
from ltn.markup import bar, element, frame_table, markup, table

# How many individuals of a variable a notebook shows.
_MOST_SHOWN = 10


class Expression:
    """The grounding of an expression: a tensor with one leading axis per free variable.

    `tensor` has shape (|x_1|, ..., |x_n|, *features) for `free_vars` = [x_1, ..., x_n]: its element at
    i_1, ..., i_n is the value for the i_k-th individual of each variable.

    >>> import ltn
    >>> x = ltn.Variable("x", [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    >>> x.free_vars, x.tensor.shape
    (['x'], TensorShape([3, 2]))
    """

    tensor: tf.Tensor
    free_vars: list[str]
    # The names of the individuals of free variables, where they are known; `to_frame` shows them.
    # On a diagonal they have a name for each of its variables.
    individuals: Mapping[str, Sequence[str] | pd.MultiIndex] = MappingProxyType({})
    # The formula or term that a query asked for, as text; None for an expression of other origin.
    text: str | None = None

    def __init__(self, tensor: Any, free_vars: Sequence[str]):
        self.tensor = as_float_tensor(tensor)
        self.free_vars = _as_labels(free_vars)
        rank = self.tensor.shape.rank
        if rank is None or rank < len(self.free_vars):
            raise LogicValueError(
                f"{type(self).__name__} over {self.free_vars} needs one axis per free variable; "
                f"the tensor's shape is {self.tensor.shape}."
            )
        if len(set(self.free_vars)) < len(self.free_vars):
            raise LogicValueError(f"Free variables must be distinct; got {self.free_vars}.")

    def __repr__(self) -> str:
        if self._has_value():
            value = np.array2string(self.tensor.numpy(), precision=4)
        else:
            value = f"<shape {self.tensor.shape}>"
        return f"{type(self).__name__}(tensor={value}, free_vars={list(self.free_vars)})"

    def _has_value(self) -> bool:
        return tf.executing_eagerly() and hasattr(self.tensor, "numpy")

    def take(self, free_var: str, indices: int | Sequence[int]) -> Expression:
        """Select individuals of one free variable.

        Args:
            free_var: the label of the variable.
            indices: an int drops the axis and its label; a sequence of ints keeps both.

        >>> import ltn
        >>> x = ltn.Variable("x", [0.1, 0.2, 0.3])
        >>> ltn.Predicate.Lambda(lambda x: x)(x).take("x", 2)
        Formula(tensor=0.3, free_vars=[])
        """
        axis = self._get_axis_of_free_var(free_var)
        index = _as_indices(indices)
        size = axes.size_of(self.tensor, axis)
        known = tf.get_static_value(index)
        if known is not None and isinstance(size, int) and not np.all((-size <= known) & (known < size)):
            raise LogicValueError(
                f"`indices` {indices} are out of range: '{free_var}' has {size} individuals."
            )
        kept = self.free_vars if index.shape.rank else [v for v in self.free_vars if v != free_var]
        taken = self.of_this_kind(
            tf.gather(self.tensor, tf.where(index < 0, index + size, index), axis=axis), kept
        )
        taken.individuals = dict(self.individuals)
        if free_var in self.individuals and known is not None and known.ndim:
            names = self.individuals[free_var]
            is_diagonal = isinstance(names, pd.MultiIndex)
            taken.individuals[free_var] = names[known] if is_diagonal else [names[i] for i in known]
        return taken

    def __float__(self) -> float:
        if self.free_vars:
            raise LogicTypeError(
                f"An expression over {list(self.free_vars)} has a value for each combination of individuals; "
                "only one without free variables is a number."
            )
        if self.tensor.shape.num_elements() != 1:
            raise LogicTypeError(
                f"Individuals with the features {tuple(self.tensor.shape)} are no numbers; see `tensor`."
            )
        return float(tf.reshape(self.tensor, []))

    def numpy(self) -> np.ndarray:
        """The tensor as a NumPy array: an axis for each free variable, then the features.

        >>> import ltn
        >>> ltn.Variable("x", [[1.0, 2.0]]).numpy()
        array([[1., 2.]], dtype=float32)
        """
        return self.tensor.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=True)

    def to_frame(self) -> pd.DataFrame:
        """A table of the values, labelled with the variables and the names of their individuals.

        A formula over one variable has a column `truth`; over several, the last variable gives the columns. A
        term has a row for each combination of individuals, and a column for each feature.

        >>> import ltn
        >>> x, y = ltn.Variable("x", [0.1, 0.7]), ltn.Variable("y", [0.2, 0.3, 0.9])
        >>> ltn.Predicate.Lambda(lambda args: args[0] < args[1])([x, y]).to_frame()
        y    0    1    2
        x
        0  1.0  1.0  1.0
        1  0.0  0.0  1.0
        """
        values = np.asarray(self.tensor)
        indexes = [
            _names_on_axis(self.individuals.get(variable, range(size)), variable)
            for variable, size in zip(self.free_vars, values.shape, strict=False)
        ]
        if isinstance(self, Term):
            features = values.reshape(math.prod(len(index) for index in indexes), -1)
            return pd.DataFrame(features, index=_index(indexes))
        if len(indexes) < 2:
            return pd.DataFrame({"truth": values.reshape(-1)}, index=_index(indexes))
        table_of_truths = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
        return pd.DataFrame(table_of_truths, index=_index(indexes[:-1]), columns=indexes[-1])

    def _get_axis_of_free_var(self, free_var: str) -> int:
        if free_var not in self.free_vars:
            raise LogicValueError(
                f"'{free_var}' is not a free variable of this expression; they are {list(self.free_vars)}."
            )
        return list(self.free_vars).index(free_var)

    def _get_dim_of_free_var(self, free_var: str) -> tf.Tensor:
        # Programs written for the published implementation call `.numpy()` on it.
        size = axes.size_of(self.tensor, self._get_axis_of_free_var(free_var))
        return tf.convert_to_tensor(size, tf.int32)

    def _copy(self) -> Expression:
        return self.of_this_kind(self.tensor, self.free_vars)

    def of_this_kind(self, tensor: tf.Tensor, free_vars: Sequence[str]) -> Expression:
        """A plain `Formula`, `Term` or `Expression`, of the same kind as this one."""
        kind = next(k for k in (Formula, Term, Expression) if isinstance(self, k))
        return kind(tensor, free_vars)


class Term(Expression):
    """An expression that denotes individuals: its trailing axes are their features.

    >>> import ltn
    >>> ltn.Constant([1.0, 2.0], trainable=False)
    Constant(tensor=[1. 2.], free_vars=[])
    """

    if TYPE_CHECKING:  # the kind is kept

        def take(self, free_var: str, indices: int | Sequence[int]) -> Term: ...

    @property
    def feature_shape(self) -> tuple[int | None, ...]:
        """The shape of one individual; None where a size is unknown.

        >>> import ltn
        >>> ltn.Variable("x", [[0.1, 0.2]]).feature_shape
        (2,)
        """
        return tuple(self.tensor.shape[len(self.free_vars) :])


class Formula(Expression):
    """An expression that denotes truth: a value in [0, 1] per combination of individuals.

    Numbers must lie in [0, 1]; a tensor is taken as it is. Formulas combine with `~`, `&`, `|`, `>>`
    (implies) and `.iff()`, under the default semantics or the one set by `with ltn.using(semantics):`. Python
    binds `>>` tighter than `&` and `|`: write `(p & q) >> r`.

    >>> import ltn
    >>> p, q = ltn.Proposition(0.5, trainable=False), ltn.Proposition(0.4, trainable=False)
    >>> with ltn.using("product"):
    ...     p >> q
    Formula(tensor=0.7, free_vars=[])
    """

    def __init__(self, tensor: Any, free_vars: Sequence[str]):
        super().__init__(tensor, free_vars)
        if not tf.is_tensor(tensor):
            # Tensors come from operators, which make no others: to look at each takes time.
            is_truth = lambda truths: (truths >= 0.0) & (truths <= 1.0)  # noqa: E731
            check(self.tensor, is_truth, "The truth values of a formula must lie in [0, 1]")
        if self.tensor.shape.rank != len(self.free_vars):
            raise LogicValueError(
                f"A formula over {self.free_vars} has {len(self.free_vars)} axes and no features; "
                f"the tensor's shape is {tuple(self.tensor.shape)}."
            )

    if TYPE_CHECKING:  # the kind is kept

        def take(self, free_var: str, indices: int | Sequence[int]) -> Formula: ...

    def _repr_html_(self) -> str:
        if not self._has_value():
            return markup(repr(self))
        title = type(self).__name__ if self.text is None else in_signs(self.text)
        if not self.free_vars:
            return table([], [[title, bar(float(self))]])
        # Of each variable the first individuals, so that a large table is not a long page.
        few: Expression = self
        cut = []
        for variable, size in zip(self.free_vars, self.tensor.shape, strict=True):
            if size > _MOST_SHOWN:
                few = few.take(variable, range(_MOST_SHOWN))
                cut.append(f"{variable}: the first {_MOST_SHOWN} of {size:,} individuals")
        truths = frame_table(few.to_frame(), lambda _, truth: bar(truth))
        return element("div", element("p", title), truths, *(element("p", note) for note in cut))

    def __invert__(self) -> Formula:
        return connect(in_force.connectives().Not, self)

    def __and__(self, other: Formula) -> Formula:
        return connect(in_force.connectives().And, self, other)

    def __or__(self, other: Formula) -> Formula:
        return connect(in_force.connectives().Or, self, other)

    def __rshift__(self, other: Formula) -> Formula:
        return connect(in_force.connectives().Implies, self, other)

    # A number or a term on the left: the same message as on the right.
    def __rand__(self, other: Any) -> Formula:
        return connect(in_force.connectives().And, other, self)

    def __ror__(self, other: Any) -> Formula:
        return connect(in_force.connectives().Or, other, self)

    def __rrshift__(self, other: Any) -> Formula:
        return connect(in_force.connectives().Implies, other, self)

    def iff(self, other: Formula) -> Formula:
        """Equivalence, under the semantics in force.

        >>> import ltn
        >>> p, q = ltn.Proposition(0.9, trainable=False), ltn.Proposition(0.7, trainable=False)
        >>> with ltn.using("lukasiewicz"):
        ...     p.iff(q)
        Formula(tensor=0.8, free_vars=[])
        """
        return connect(in_force.connectives().Equiv, self, other)

    def __bool__(self) -> NoReturn:
        raise LogicTypeError(
            "A formula is a tensor of truth values, neither true nor false: combine formulas with "
            "`~ & | >>`, not with `not`, `and`, `or`, and compare `formula.tensor` with a threshold."
        )


def connect(operator: Callable[..., Any], *formulas: Formula, **kwargs: Any) -> Formula:
    """Apply a connective to formulas over any variables.

    The result ranges over the union of their free variables, in order of first appearance. Operands
    are aligned with axes of size 1 and broadcast by the operator; none is copied.
    """
    _check_operands(operator, formulas)
    order = axes.union(formula.free_vars for formula in formulas)
    tensors = align_formulas(formulas, order)
    return Formula(user_code(operator)(*tensors, **kwargs), order)


def align_formulas(formulas: Sequence[Formula], order: Sequence[str]) -> list[tf.Tensor]:
    """The formulas' tensors over all of their free variables in an order, with axes of size 1."""
    found = axes.sizes(as_tensors(formulas), [formula.free_vars for formula in formulas])
    if any(isinstance(size, int) and size == 0 for size in found.values()):
        # There is nothing to copy, and TensorFlow 2.21 dies (SIGFPE) when it optimises the gradient of
        # an operator that itself broadcasts over a size known to be 0.
        return [axes.broadcast(f.tensor, f.free_vars, order, found) for f in formulas]
    return [axes.align(f.tensor, f.free_vars, order) for f in formulas]


def _check_operands(operator: Callable[..., Any], formulas: Sequence[Any]) -> None:
    for position, formula in enumerate(formulas, start=1):
        if not isinstance(formula, Formula):
            raise LogicTypeError(
                f"{operator} connects formulas; operand {position} is a "
                f"{type(formula).__name__}: {formula!r}."
            )


def _as_labels(free_vars: Sequence[str]) -> list[str]:
    are_labels = isinstance(free_vars, Iterable) and not isinstance(free_vars, str)
    labels = list(free_vars) if are_labels else []
    for label in labels:
        are_labels = are_labels and isinstance(label, str)
    if not are_labels:
        raise LogicTypeError(f"`free_vars` must be a list of labels, as ['x']; got {free_vars!r}.")
    return labels


def _as_indices(indices: Any) -> tf.Tensor:
    try:
        index = tf.convert_to_tensor(indices)
    except (TypeError, ValueError) as error:
        raise LogicTypeError(f"`indices` must be an int or a list of ints; got {indices!r}.") from error
    if index.shape == (0,):
        return tf.zeros(0, tf.int32)
    if not index.dtype.is_integer:
        raise LogicTypeError(f"`indices` must be an int or a list of ints; got {indices!r}.")
    return tf.cast(index, tf.int32)


def _index(indexes: list[pd.Index]) -> pd.Index:
    if not indexes:
        return pd.RangeIndex(1)
    if len(indexes) == 1:
        return indexes[0]
    if not any(isinstance(index, pd.MultiIndex) for index in indexes):
        return pd.MultiIndex.from_product(indexes)
    places = np.indices([len(index) for index in indexes]).reshape(len(indexes), -1)
    parts = [index[place].to_frame(index=False) for index, place in zip(indexes, places, strict=True)]
    return pd.MultiIndex.from_frame(pd.concat(parts, axis=1))


def _names_on_axis(names: Any, label: str) -> pd.Index:
    return names if isinstance(names, pd.MultiIndex) else pd.Index(names, name=label)


def as_tensors(expressions: Iterable[Expression]) -> list[tf.Tensor]:
    """The tensors of the expressions, in order.

    >>> import ltn
    >>> [t.shape for t in as_tensors([ltn.Variable("x", [1.0, 2.0]), ltn.Constant(3.0, False)])]
    [TensorShape([2, 1]), TensorShape([1])]
    """
    try:
        return [expression.tensor for expression in expressions]
    except (AttributeError, TypeError):
        # Only now: it is called for each operator.
        check_expressions("as_tensors", expressions)
        raise


def check_expressions(caller: str, given: Any, kind: type[Expression] = Expression) -> None:
    """Raise unless a list of expressions was given, or of formulas, where that is the `kind`."""
    if not isinstance(given, Iterable):
        raise LogicTypeError(
            f"{caller} takes a list of expressions; got a {type(given).__name__}: {given!r}."
        )
    for position, each in enumerate(given, start=1):
        if not isinstance(each, kind):
            raise LogicTypeError(
                f"{caller} takes {kind.__name__} objects; number {position} is a "
                f"{type(each).__name__}: {each!r}."
            )


def as_float_tensor(values: Any) -> tf.Tensor:
    """A float32 tensor of the values, keeping the gradient link of tensors."""
    try:
        tensor = tf.convert_to_tensor(values)
        # TensorFlow would drop the imaginary parts.
        if not tensor.dtype.is_complex:
            return tf.cast(tensor, tf.float32)
    except (TypeError, ValueError, tf.errors.UnimplementedError) as error:
        raise LogicTypeError(f"Expected numbers of one shape; got {values!r}.") from error
    raise LogicTypeError(f"Expected real numbers; got complex ones: {values!r}.")


def _to_tensor(
    expression: Expression, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """What operations of TensorFlow see of an expression: its tensor, and not a copy without gradient."""
    tensor = tf.convert_to_tensor(expression.tensor)
    return tensor if dtype is None or dtype == tensor.dtype else NotImplemented


tf.register_tensor_conversion_function(Expression, _to_tensor)
