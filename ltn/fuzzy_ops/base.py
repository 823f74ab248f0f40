"""The contract of every fuzzy operator, and the paper's projections away from 0 and 1.

An operator is an immutable record of its hyper-parameters. The public call converts and checks its
arguments; a subclass supplies one private function of pure tensor mathematics. From eager code that
function runs as it is written for its first calls, and compiled by `tf.function` in a loop of many; inside
another graph it is traced straight into that graph.
"""

import abc
import collections
import contextlib
import contextvars
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import tensorflow as tf

from ltn.errors import LogicTypeError
from ltn.fuzzy_ops.arguments import as_flag, check_broadcast, truth_values

eps: float = 1e-4

_as_written: contextvars.ContextVar[bool] = contextvars.ContextVar("as written", default=False)


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Within, operators that eager code calls are never compiled: for values that are needed once."""
    token = _as_written.set(True)
    try:
        yield
    finally:
        _as_written.reset(token)


def not_zeros(x: tf.Tensor) -> tf.Tensor:
    """The paper's projection pi_0(x) = (1 - eps) x + eps, from [0, 1] onto [eps, 1].

    The shape is kept.

    >>> [round(float(not_zeros(x)), 4) for x in (0.0, 1.0)]
    [0.0001, 1.0]
    """
    return (1.0 - eps) * x + eps


def not_ones(x: tf.Tensor) -> tf.Tensor:
    """The paper's projection pi_1(x) = (1 - eps) x, from [0, 1] onto [0, 1 - eps].

    The shape is kept.

    >>> [round(float(not_ones(x)), 4) for x in (0.0, 1.0)]
    [0.0, 0.9999]
    """
    return (1.0 - eps) * x


@dataclasses.dataclass(frozen=True)
class Operator(abc.ABC):
    """An operator with its hyper-parameters: compared and printed by value.

    It is hashed by value too, unless a hyper-parameter is a tensor.
    """

    def __post_init__(self) -> None:
        for name, value in self._checked(self._own()).items():
            object.__setattr__(self, name, value)

    @staticmethod
    @abc.abstractmethod
    def _evaluate(*args: Any, **kwargs: Any) -> tf.Tensor:
        """The mathematics, on tensors of one floating dtype and the hyper-parameters."""

    @staticmethod
    def _check(**hyperparameters: Any) -> None:
        """Raise for an impossible hyper-parameter; at construction and for each override."""

    # One compiled function per class and setting: equal operators share their traces. A setting names the
    # tensors too: a call with other ones, such as weights, needs a function of its own.
    _compiled: ClassVar[dict[Any, Any]] = {}

    # Compiling takes as long as some hundred calls, so the first hundred of a setting run as written: nobody
    # who calls an operator a few times waits for it, and no loop takes more than twice its best time.
    _patience: ClassVar[int] = 100
    _calls: ClassVar[collections.Counter[Any]] = collections.Counter()

    @classmethod
    def _run(cls, *tensors: tf.Tensor | None, **others: Any) -> tf.Tensor:
        if not tf.executing_eagerly() or _as_written.get():
            return cls._evaluate(*tensors, **others)
        given = {name: value for name, value in others.items() if tf.is_tensor(value)}
        static = {name: value for name, value in others.items() if name not in given}
        setting = (cls, *static.items(), *given, *(tensor is None for tensor in tensors))
        if setting not in cls._compiled:
            cls._calls[setting] += 1
            if cls._calls[setting] <= cls._patience:
                return cls._evaluate(*tensors, **others)
            # A partial, since TensorFlow warns of frequent retracing by the code, which operators share.
            evaluate = functools.partial(cls._evaluate, **static)
            cls._compiled[setting] = tf.function(evaluate, autograph=False, reduce_retracing=True)
        return cls._compiled[setting](*tensors, **given)

    def _own(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _checked(self, hyperparameters: dict[str, Any]) -> dict[str, Any]:
        """The hyper-parameters; raise for an impossible one."""
        if "stable" in hyperparameters:
            hyperparameters["stable"] = as_flag("`stable`", hyperparameters["stable"])
        self._check(**hyperparameters)
        return hyperparameters

    def check_overrides(self, **overrides: Any) -> None:
        """Raise unless a call could take these hyper-parameters."""
        self._hyperparameters(overrides)

    def _hyperparameters(self, overrides: dict[str, Any]) -> dict[str, Any]:
        own = self._own()
        for name in overrides:
            if name not in own:
                known = ", ".join(f"`{known}`" for known in own) or "none"
                raise LogicTypeError(
                    f"{type(self).__name__} has no hyper-parameter `{name}`; it has: {known}."
                )
        return self._checked(own | overrides)


@dataclasses.dataclass(frozen=True)
class Connective(Operator):
    """An operator applied element-wise, with NumPy broadcasting, to a fixed number of operands."""

    arity: ClassVar[int] = 2

    def __call__(self, *operands: Any, **overrides: Any) -> tf.Tensor:
        """Truth values of the compound formula; the shape is that of the broadcast operands."""
        if len(operands) != self.arity:
            raise LogicTypeError(f"{self} takes {self.arity} operand(s); got {len(operands)}.")
        hyperparameters = self._hyperparameters(overrides)
        tensors = truth_values(*operands)
        check_broadcast(self, *tensors)
        return self._run(*tensors, **hyperparameters)


Projection = Callable[[tf.Tensor], tf.Tensor]


@dataclasses.dataclass(frozen=True)
class ProjectedConnective(Connective):
    """A connective that projects its operands first, unless `stable` is False."""

    projections: ClassVar[tuple[Projection, ...]]
    stable: bool = True

    @staticmethod
    @abc.abstractmethod
    def _plain(*operands: tf.Tensor) -> tf.Tensor:
        """The connective without projections."""

    @classmethod
    def _evaluate(cls, *operands: tf.Tensor, stable: bool) -> tf.Tensor:
        if stable:
            pairs = zip(cls.projections, operands, strict=True)
            operands = tuple(project(operand) for project, operand in pairs)
        return cls._plain(*operands)

    @property
    def projection(self) -> Projection | None:
        """The projection that a caller may apply to each operand, to then call with `stable=False`; or None.

        There is one if all operands are projected alike, by the class itself: a derived class may do
        something else.
        """
        alike = len(set(self.projections)) == 1 and "projections" in vars(type(self))
        return self.projections[0] if self.stable and alike else None


@dataclasses.dataclass(frozen=True)
class ComposedConnective(Connective):
    """A connective made of other operators, which are compiled already."""

    @classmethod
    def _run(cls, *tensors: tf.Tensor | None, **static: Any) -> tf.Tensor:
        # Compiling it again would trace anew for each operator that it is made of.
        return cls._evaluate(*tensors, **static)


def check_operator(argument: str, value: object) -> None:
    """Raise unless the argument is an operator, ready to be called on truth values."""
    if isinstance(value, type):
        name = value.__name__
        raise LogicTypeError(f"`{argument}` must be an operator; got the class {name}. Write {name}().")
    if not callable(value):
        raise LogicTypeError(f"`{argument}` must be an operator; got {value!r}.")
