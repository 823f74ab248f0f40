"""Predicates: symbols grounded on truth values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ltn._autograph import no_autograph
from ltn.core import axes
from ltn.core.checks import check, check_truths
from ltn.core.expressions import Formula, Term
from ltn.core.groundings import LogitsModel, Shape, class_numbers, mlp
from ltn.core.symbols import Batch, Symbol
from ltn.errors import LogicValueError


class Predicate(Symbol):
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

    def __call__(self, inputs: Term | Sequence[Term], *args: Any, **kwargs: Any) -> Formula:
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
    def _formula(self, truths: tf.Tensor, batch: Batch) -> Formula:
        if truths.shape.rank is not None and any(size not in (1, None) for size in truths.shape[1:]):
            raise LogicValueError(
                f"The model of {self!r} must return one truth value per row; it returned the shape "
                f"{tuple(truths.shape)}. For the logits of a classifier use Predicate.FromLogits."
            )
        formula = Formula(tf.reshape(truths, batch.sizes), batch.labels)
        check_truths(formula.tensor, f"The values of {self!r}")
        return formula

    @no_autograph
    def _pick(self, truths: tf.Tensor, batch: Batch, classes: Term) -> Formula:
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
            f"The class index of {self!r} must be a whole number "
            + (f"from 0 to {count - 1}" if isinstance(count, int) else "below the number of its logits"),
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
