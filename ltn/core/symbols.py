"""Predicates and functions: symbols grounded on Keras models or plain callables."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from ltn.autograph import no_autograph
from ltn.core import axes
from ltn.core.checks import check, check_sizes, check_truths
from ltn.core.expressions import Formula, Term, as_tensors
from ltn.core.groundings import (
    FeatureShape,
    LogitsModel,
    Shape,
    call_model,
    class_numbers,
    input_shapes,
    mlp,
)
from ltn.errors import LogicTypeError, LogicValueError


class _Batch(NamedTuple):
    """Terms as a network sees them: flat, one row per combination of their variables."""

    tensors: list[tf.Tensor]
    labels: list[str]
    sizes: list[axes.Size]
    shapes: tuple[FeatureShape, ...]


class _Symbol(keras.Layer):
    """A symbol with its grounding; as a Keras layer it is found, saved and restored by its owner."""

    def __init__(self, model: Callable[..., Any], name: str | None = None):
        super().__init__(name=name)
        if not callable(model):
            raise LogicTypeError(f"`model` must be a Keras model or a callable; got {model!r}.")
        self.model: Any = model
        self.built = True
        self._shapes_seen: tuple[FeatureShape, ...] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"

    @property
    def trainable_variables(self) -> list[Any]:
        """The weights to learn. Before the model's first call it may have none yet: a warning."""
        variables: list[Any] = super().trainable_variables
        network = self._network
        if not variables and isinstance(network, keras.Layer) and not network.built:
            warnings.warn(f"{self!r} has no weights yet: its model is built by the first call.", stacklevel=2)
        return variables

    @property
    def _network(self) -> Any:
        """What declares the shapes and owns the weights: the model, or the classifier inside it."""
        return self.model.logits_model if isinstance(self.model, LogitsModel) else self.model

    @no_autograph
    def _terms(self, inputs: Any, *args: Any) -> list[Term]:
        if any(isinstance(arg, Term) for arg in args):
            raise LogicTypeError(f"{self!r} takes several terms as one list: P([x, y]), not P(x, y).")
        terms = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if not terms:
            raise LogicValueError(f"{self!r} needs at least one term; got none.")
        for position, term in enumerate(terms, start=1):
            if not isinstance(term, Term):
                raise LogicTypeError(
                    f"{self!r} takes terms; argument {position} is a {type(term).__name__}: {term!r}. "
                    "Make individuals an ltn.Variable, or one of them an ltn.Constant."
                )
        return terms

    @no_autograph
    def _batch(self, terms: Sequence[Term]) -> _Batch:
        shapes = tuple(term.feature_shape for term in terms)
        self._check_features(input_shapes(self._network), shapes)
        labels = [term.free_vars for term in terms]
        order = axes.union(labels)
        sizes = axes.sizes(as_tensors(terms), labels)
        flat = []
        for term in terms:
            features = [
                axes.size_of(term.tensor, a) for a in range(len(term.free_vars), term.tensor.shape.rank)
            ]
            rows = axes.broadcast(term.tensor, term.free_vars, order, sizes)
            flat.append(rows if len(order) == 1 else tf.reshape(rows, [-1, *features]))
        return _Batch(flat, order, [sizes[label] for label in order], shapes)

    def _output(self, batch: _Batch, as_list: bool, *args: Any, **kwargs: Any) -> tf.Tensor:
        """What the network returns for the batch, one row each."""
        try:
            output = tf.convert_to_tensor(call_model(self._network, batch.tensors, as_list, *args, **kwargs))
        except (TypeError, ValueError, tf.errors.InvalidArgumentError) as error:
            if isinstance(self._network, keras.Layer):
                self._check_features(self._shapes_seen, batch.shapes)
            received = ", ".join(str(shape) for shape in batch.shapes)
            kind = LogicTypeError if isinstance(error, TypeError) else LogicValueError
            raise kind(
                f"The model of {self!r} failed on {'one list of' if as_list else 'a tensor:'} "
                f"{len(batch.shapes)} argument(s) with feature shapes {received}: {error}"
            ) from error
        self._shapes_seen = self._shapes_seen or batch.shapes
        self._check_rows(batch, output)
        return output

    @no_autograph
    def _check_rows(self, batch: _Batch, output: tf.Tensor) -> None:
        if output.shape.rank == 0:
            raise LogicValueError(
                f"The model of {self!r} must return one row per individual; it returned a scalar."
            )
        if output.shape.rank is not None:
            check_sizes(
                [axes.size_of(batch.tensors[0], 0), axes.size_of(output, 0)],
                f"The model of {self!r} must return one row per individual",
            )

    @no_autograph
    def _check_features(
        self, expected: Sequence[FeatureShape] | None, received: Sequence[FeatureShape]
    ) -> None:
        if expected is None:
            return
        if len(expected) != len(received):
            raise LogicValueError(f"{self!r} takes {len(expected)} argument(s); got {len(received)}.")
        for position, (wanted, came) in enumerate(zip(expected, received, strict=True), start=1):
            if not _compatible(wanted, came):
                raise LogicValueError(
                    f"{self!r}: argument {position} must have the feature shape {wanted}; got {came}."
                )


class Predicate(_Symbol):
    """A predicate symbol: G(P)(d_1, ..., d_m) in [0, 1] for every combination of individuals.

    Args:
        model: a Keras model, or any callable, on flat batches: a tensor (N, *features) for `P(t)`, a list
            of them for `P([t1, t2])`. It returns (N,), or (N, 1).
        name: shown in messages.

    `P(t)` and `P([t1, ..., tm])` give a `Formula` over the union of the terms' free variables, in order of
    first appearance; further arguments, as `training=True`, reach the model.

    >>> import ltn
    >>> x, y = ltn.Variable("x", [0.1, 0.7]), ltn.Variable("y", [0.2, 0.3, 0.9])
    >>> less = ltn.Predicate(lambda args: args[0] < args[1])
    >>> less([x, y])
    Formula(tensor=[[1. 1. 1.]
     [0. 0. 1.]], free_vars=['x', 'y'])
    """

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Formula:
        """The truth of the predicate on a term, or on a list of terms."""
        terms = self._terms(inputs, *args)
        if not isinstance(self.model, LogitsModel):
            batch = self._batch(terms)
            output = self._output(batch, isinstance(inputs, list | tuple), *args, **kwargs)
            return self._formula(output, batch)
        # The network runs on the individuals alone; the classes of each row then pick from its output.
        classes = terms.pop() if self.model.with_class_indexing else None
        if not terms:
            raise LogicValueError(
                f"{self!r} takes individuals and a class, as P([x, c]); got the class only."
            )
        batch = self._batch(terms)
        truths = self.model.activation(self._output(batch, True, *args, **kwargs))
        return self._formula(truths, batch) if classes is None else self._pick(truths, batch, classes)

    @no_autograph
    def _formula(self, truths: tf.Tensor, batch: _Batch) -> Formula:
        if truths.shape.rank is not None and any(size not in (1, None) for size in truths.shape[1:]):
            raise LogicValueError(
                f"The model of {self!r} must return one truth value per row; it returned the shape "
                f"{tuple(truths.shape)}. For the logits of a classifier use Predicate.FromLogits."
            )
        formula = Formula(tf.reshape(truths, batch.sizes), batch.labels)
        check_truths(formula.tensor, f"The values of {self!r}")
        return formula

    @no_autograph
    def _pick(self, truths: tf.Tensor, batch: _Batch, classes: Term) -> Formula:
        if truths.shape.rank != 2:
            raise LogicValueError(
                f"The logits model of {self!r} must return one logit per class, shape (N, classes); "
                f"it returned the shape {tuple(truths.shape)}."
            )
        numbers = class_numbers(classes.tensor, len(classes.free_vars))
        count = axes.size_of(truths, 1)
        check(
            numbers,
            lambda c: (c >= 0.0) & (c < tf.cast(count, c.dtype)) & (c == tf.round(c)),
            f"{self!r} has {count if isinstance(count, int) else 'some'} classes, indexed from 0",
        )
        table = tf.reshape(truths, [*batch.sizes, count])
        found = axes.sizes([table, numbers], [batch.labels, classes.free_vars])
        order = axes.union([batch.labels, classes.free_vars])
        shape = [found[label] for label in order]
        indices = axes.broadcast(tf.cast(numbers, tf.int32), classes.free_vars, order, found)
        rows, picks = math.prod(batch.sizes), math.prod(shape[len(batch.sizes) :])
        picked = tf.gather(truths, tf.reshape(indices, [rows, picks]), batch_dims=1)
        check_truths(picked, f"The values of {self!r}")
        return Formula(tf.reshape(picked, shape), order)

    @property
    def logits_model(self) -> Callable[..., Any]:
        """The network behind a predicate made by `FromLogits`."""
        if not isinstance(self.model, LogitsModel):
            raise AttributeError(f"{self!r} has no logits model: it was not made by FromLogits.")
        return self.model.logits_model

    @classmethod
    def MLP(
        cls,
        input_shapes: Sequence[Shape],
        hidden_layer_sizes: Sequence[int] = (16, 16),
        name: str | None = None,
    ) -> Predicate:
        """A predicate on a multilayer perceptron: elu hidden layers and one sigmoid output.

        Args:
            input_shapes: for each argument the shape of its features, or an int; the arguments are
                flattened and concatenated.
            hidden_layer_sizes: units of each hidden layer.
            name: shown in messages.

        >>> import ltn
        >>> P = ltn.Predicate.MLP([2, 3], hidden_layer_sizes=(8,))
        >>> x, y = ltn.Variable("x", [[1.0, 2.0]]), ltn.Variable("y", [[1.0, 2.0, 3.0]])
        >>> P([x, y]).tensor.shape
        TensorShape([1, 1])
        """
        return cls(mlp(input_shapes, hidden_layer_sizes, 1, "sigmoid"), name)

    @classmethod
    def Lambda(cls, fn: Callable[..., Any], name: str | None = None) -> Predicate:
        """A predicate on a plain callable, which sees what a model would; booleans become 0 and 1.

        >>> import ltn
        >>> ltn.Predicate.Lambda(lambda x: x > 0.5)(ltn.Variable("x", [0.2, 0.8]))
        Formula(tensor=[0. 1.], free_vars=['x'])
        """
        return cls(fn, name)

    @classmethod
    def FromLogits(
        cls,
        logits_model: Callable[..., Any],
        activation_function: str,
        with_class_indexing: bool = True,
        name: str | None = None,
    ) -> Predicate:
        """A predicate on a classifier: P(x, c) is the probability of class c given x.

        The network runs once per individual, not once per (individual, class) pair.

        Args:
            logits_model: gives (N, classes) logits. It receives the list of all arguments but the last; a
                functional or Sequential model with one input receives the tensor.
            activation_function: "softmax" for classes that exclude each other, else "sigmoid".
            with_class_indexing: whether the last argument indexes the class; without, `P([x])` is the
                sigmoid of a single logit.
            name: shown in messages.

        >>> import ltn
        >>> logits = lambda args: tf.concat([args[0], -args[0]], axis=1)
        >>> P = ltn.Predicate.FromLogits(logits, "softmax")
        >>> x, c = ltn.Variable("x", [0.0, 5.0]), ltn.Variable("c", [0, 1])
        >>> P([x, c])
        Formula(tensor=[[5.0000e-01 5.0000e-01]
         [9.9995e-01 4.5398e-05]], free_vars=['x', 'c'])
        """
        return cls(LogitsModel(logits_model, activation_function, with_class_indexing), name)


class Function(_Symbol):
    """A function symbol: G(f)(d_1, ..., d_m) in R^features for every combination of individuals.

    Args:
        model: a Keras model, or any callable, on flat batches: a tensor (N, *features) for `f(t)`, a list
            of them for `f([t1, t2])`. It returns (N, *features).
        name: shown in messages.

    `f(t)` and `f([t1, ..., tm])` give a `Term` over the union of the terms' free variables, in order of first
    appearance; further arguments, as `training=True`, reach the model.

    >>> import ltn
    >>> x, y = ltn.Variable("x", [1.0, 2.0]), ltn.Variable("y", [10.0, 20.0, 30.0])
    >>> add = ltn.Function(lambda args: args[0] + args[1])
    >>> add([x, y]).take("x", 1)
    Term(tensor=[[12.]
     [22.]
     [32.]], free_vars=['y'])
    """

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Term:
        """The value of the function on a term, or on a list of terms."""
        batch = self._batch(self._terms(inputs, *args))
        output = self._output(batch, isinstance(inputs, list | tuple), *args, **kwargs)
        return self._term(output, batch)

    @no_autograph
    def _term(self, output: tf.Tensor, batch: _Batch) -> Term:
        if output.shape.rank is None:
            raise LogicValueError(
                f"The model of {self!r} returned a tensor of unknown rank: give it one with tf.ensure_shape."
            )
        features = [axes.size_of(output, axis) for axis in range(1, output.shape.rank)]
        return Term(tf.reshape(output, batch.sizes + features), batch.labels)

    @classmethod
    def MLP(
        cls,
        input_shapes: Sequence[Shape],
        output_shape: Shape,
        hidden_layer_sizes: Sequence[int] = (16, 16),
        name: str | None = None,
    ) -> Function:
        """A function on a multilayer perceptron: elu hidden layers and a linear output of a shape.

        Args:
            input_shapes: for each argument the shape of its features, or an int; the arguments are
                flattened and concatenated.
            output_shape: the shape of the value's features, or an int.
            hidden_layer_sizes: units of each hidden layer.
            name: shown in messages.

        >>> import ltn
        >>> f = ltn.Function.MLP([2], output_shape=(3, 4))
        >>> f(ltn.Variable("x", [[1.0, 2.0]])).tensor.shape
        TensorShape([1, 3, 4])
        """
        return cls(mlp(input_shapes, hidden_layer_sizes, output_shape, "linear"), name)

    @classmethod
    def Lambda(cls, fn: Callable[..., Any], name: str | None = None) -> Function:
        """A function on a plain callable, which sees what a model would.

        >>> import ltn
        >>> ltn.Function.Lambda(lambda x: 2 * x)(ltn.Constant([1.0, 2.0], trainable=False))
        Term(tensor=[2. 4.], free_vars=[])
        """
        return cls(fn, name)


def _compatible(expected: FeatureShape, received: FeatureShape) -> bool:
    # Keras adds or drops a last axis of size 1 by itself.
    while expected and expected[-1] == 1:
        expected = expected[:-1]
    while received and received[-1] == 1:
        received = received[:-1]
    return len(expected) == len(received) and all(
        wanted is None or came is None or wanted == came
        for wanted, came in zip(expected, received, strict=True)
    )
