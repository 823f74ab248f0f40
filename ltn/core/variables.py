"""Variables, grounded on sequences of individuals, and diagonal quantification over several of them."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from ltn._private import a_tape_may_record
from ltn.checks import check_sizes
from ltn.core import axes
from ltn.core.expressions import Term, as_float_tensor
from ltn.errors import LogicTypeError, LogicValueError

RESERVED_PREFIXES = ("diag", "_flat")


class Variable(Term):
    """A variable, grounded on a finite sequence of individuals: G(x) = <d_1, ..., d_k>.

    Args:
        label: names the axis; it may not begin with `diag` or `_flat`.
        values: the individuals, shape (k, *features); with one axis only, a feature axis of size 1 is
            added. They become float32; tensors keep their gradient link.

    Attributes:
        label: as given.
        tensor: the individuals, shape (k, *features).
        free_vars: `[label]`; inside a diagonal, the one label that its variables share.

    >>> Variable("x", [0.1, 0.2, 0.3])
    Variable(tensor=[[0.1]
     [0.2]
     [0.3]], free_vars=['x'])
    """

    def __init__(self, label: str, values: Any):
        if not isinstance(label, str) or not label:
            raise LogicTypeError(f"`label` must be a non-empty string; got {label!r}.")
        if label.startswith(RESERVED_PREFIXES):
            raise LogicValueError(
                f"`label` {label!r} is reserved: labels may not begin with 'diag' or '_flat'."
            )
        if isinstance(values, list | tuple) and any(isinstance(value, Term) for value in values):
            raise LogicTypeError(
                f"The variable '{label}' is given terms; for a variable over constants use "
                "ltn.Variable.from_constants."
            )
        tensor = as_float_tensor(values)
        if tensor.shape.rank == 0:
            raise LogicValueError(
                f"The variable '{label}' needs a sequence of individuals; got the scalar {values!r}. "
                "For one individual use ltn.Constant."
            )
        super().__init__(tensor[:, tf.newaxis] if tensor.shape.rank == 1 else tensor, [label])
        self.label = label

    # Whether it was built from learned constants where no tape recorded it.
    _is_unrecorded = False
    # The diagonals that it is in: a locked one for all threads, any other for the thread that made it.
    _locked: _Diagonal | None = None
    _of_threads: MutableMapping[_Thread, _Diagonal] | None = None

    @property
    def _diagonal(self) -> _Diagonal | None:
        """The diagonal that it is in, for this thread."""
        if self._locked is not None or self._of_threads is None:
            return self._locked
        return self._of_threads.get(_here.thread)

    def _enter(self, diagonal: _Diagonal) -> None:
        if diagonal.locked:
            self._locked = diagonal
        else:
            if self._of_threads is None:
                self._of_threads = weakref.WeakKeyDictionary()
            self._of_threads[_here.thread] = diagonal

    def _leave(self) -> None:
        self._locked = None
        if self._of_threads is not None:
            self._of_threads.pop(_here.thread, None)

    if not TYPE_CHECKING:  # an attribute for readers, but another one in a diagonal

        @property
        def free_vars(self) -> list[str]:
            diagonal = self._diagonal
            return self._free_vars if diagonal is None else [diagonal.label]

        @free_vars.setter
        def free_vars(self, free_vars: list[str]) -> None:
            self._leave()
            self._free_vars = free_vars

    @classmethod
    def from_constants(
        cls, label: str, constants: Sequence[Term], tape: tf.GradientTape | None = None
    ) -> Variable:
        """A variable over constants, linked to them so that gradients reach trainable ones.

        Args:
            label: names the axis.
            constants: k terms of the same feature shape, without free variables.
            tape: the recording tape; an error tells at once if it does not record. Without it the call
                must stand where a tape records, or the link is lost: a warning tells when the variable is
                used where a tape records.

        >>> import ltn
        >>> a, b = ltn.Constant([1.0, 2.0], trainable=True), ltn.Constant([3.0, 4.0], trainable=True)
        >>> with tf.GradientTape() as tape:
        ...     x = Variable.from_constants("x", [a, b])
        ...     total = tf.reduce_sum(x.tensor)
        >>> tape.gradient(total, a.tensor).numpy().tolist()
        [1.0, 1.0]
        """
        is_list = isinstance(constants, Iterable) and not isinstance(constants, Term)
        given = list(constants) if is_list else []
        if not given:
            raise LogicValueError(f"`constants` must be a non-empty list of ltn.Constant; got {constants!r}.")
        constants = given
        for constant in constants:
            if not isinstance(constant, Term) or constant.free_vars:
                raise LogicTypeError(f"`constants` must be ltn.Constant objects; got {constant!r}.")
        shapes = {constant.feature_shape for constant in constants}
        if len(shapes) != 1:
            raise LogicValueError(
                f"The constants of variable '{label}' must have one feature shape; got {sorted(shapes)}."
            )
        if tape is not None:
            _check_recording(tape)
        variable = cls(label, tf.stack([constant.tensor for constant in constants]))
        # Compiled code may be recorded from outside.
        variable._is_unrecorded = (
            any(isinstance(constant.tensor, tf.Variable) for constant in constants)
            and tf.executing_eagerly()
            and not a_tape_may_record()
        )
        return variable

    def warn_if_cut_off(self) -> None:
        """Warn, once, where a tape records the use of the variable but did not record its constants.

        A variable that is only measured needs no tape: where it is made, nobody knows yet.
        """
        if self._is_unrecorded and a_tape_may_record():
            self._is_unrecorded = False
            warnings.warn(
                f"The variable '{self.label}' is built from trainable constants outside any "
                "tf.GradientTape: gradients will not reach them. Build it inside the tape.",
                stacklevel=4,
            )

    def _copy(self) -> Variable:
        copy = Variable(self.label, self.tensor)
        if self._diagonal is None:
            copy.free_vars = list(self.free_vars)
        else:
            copy._enter(self._diagonal)
        copy._is_unrecorded = self._is_unrecorded
        return copy


class _Thread:
    """Stands for a thread, as long as that lives: its number may be that of another one later."""


class _Here(threading.local):
    def __init__(self) -> None:
        self.thread = _Thread()


_here = _Here()


@dataclass(frozen=True)
class _Diagonal:
    variables: tuple[Variable, ...]
    locked: bool

    @property
    def label(self) -> str:
        """The label of the axis that its variables share."""
        return f"diag({', '.join(variable.label for variable in self.variables)})"

    def end(self) -> None:
        for variable in self.variables:
            variable.free_vars = [variable.label]


def diag(*variables: Variable) -> list[Variable]:
    """Let the variables share one axis: the i-th tuple holds the i-th individual of each.

        G(Q diag(x_1, ..., x_h) phi) = A_Q over i of G(phi)_{i, ..., i}

    The diagonal holds until a quantifier binds them or `undiag` ends it, even after an error in between, and
    for the thread that made it. Returns the variables, which must have the same number of individuals.

    >>> import ltn
    >>> x, l = ltn.Variable("x", [0.1, 0.2]), ltn.Variable("l", [0.3, 0.6])
    >>> less = ltn.Predicate.Lambda(lambda args: args[0] < args[1])
    >>> less(ltn.diag(x, l))
    Formula(tensor=[1. 1.], free_vars=['diag(x, l)'])
    """
    return _diag(variables, locked=False)


def diag_lock(*variables: Variable) -> list[Variable]:
    """Like `diag`, but for all threads, and quantifiers do not end it: only `undiag` does.

    >>> x, y = diag_lock(Variable("x", [1.0]), Variable("y", [2.0]))
    >>> x.free_vars == y.free_vars
    True
    """
    return _diag(variables, locked=True)


def undiag(*variables: Variable) -> list[Variable]:
    """End the diagonals that the variables are in; the variables are returned.

    >>> x, y = undiag(*diag(Variable("x", [1.0]), Variable("y", [2.0])))
    >>> x.free_vars
    ['x']
    """
    check_variables("undiag", variables)
    for variable in variables:
        if variable._diagonal is not None:
            variable._diagonal.end()
        # A copy is not among the variables of the diagonal.
        variable.free_vars = [variable.label]
    return list(variables)


def release(variables: Sequence[Variable]) -> None:
    """End the diagonals of variables that a quantifier has bound, but for locked ones."""
    for variable in variables:
        if variable._diagonal is not None and not variable._diagonal.locked:
            variable._diagonal.end()


def check_variables(caller: str, variables: Sequence[Any]) -> None:
    """Raise unless all are variables."""
    for variable in variables:
        if not isinstance(variable, Variable):
            raise LogicTypeError(
                f"{caller} takes ltn.Variable objects; got a {type(variable).__name__}: {variable!r}."
            )


def _diag(variables: tuple[Variable, ...], locked: bool) -> list[Variable]:
    check_variables("diag", variables)
    if not variables:
        raise LogicValueError("diag needs variables; got none.")
    if len({id(variable) for variable in variables}) < len(variables):
        raise LogicValueError(f"diag takes distinct variables; got {[v.label for v in variables]}.")
    repeated = [label for label, count in Counter(v.label for v in variables).items() if count > 1]
    if repeated:
        raise LogicValueError(
            f"diag takes variables with labels of their own; {len(variables)} variables came, and several of "
            f"them have the label '{repeated[0]}'."
        )
    for variable in variables:
        if variable._diagonal is not None:
            raise LogicValueError(
                f"The variable '{variable.label}' is already in the diagonal {variable.free_vars[0]!r}. "
                "Quantify it, or end the diagonal with ltn.undiag; perhaps an earlier error left it."
            )
    labels = ", ".join(variable.label for variable in variables)
    check_sizes(
        [axes.size_of(variable.tensor, 0) for variable in variables],
        f"diag({labels}) needs variables with the same number of individuals",
    )
    diagonal = _Diagonal(variables, locked)
    for variable in variables:
        variable._enter(diagonal)
    return list(variables)


def _check_recording(tape: Any) -> None:
    if not isinstance(tape, tf.GradientTape):
        raise LogicTypeError(f"`tape` must be a tf.GradientTape; got {tape!r}.")
    # `stop_recording` raises one error or the other exactly when there is nothing to stop.
    try:
        with tape.stop_recording():
            pass
    except (RuntimeError, ValueError) as error:
        raise LogicValueError("`tape` is not recording: call from_constants inside `with tape:`.") from error
