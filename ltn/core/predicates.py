"""Predicates: symbols grounded on truth values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn.checks import check, check_truths, layer_name
from ltn.core import axes, scorers
from ltn.core.expressions import Formula, Term
from ltn.core.models import (
    ClassifierModel,
    Head,
    LogitsModel,
    ProbabilitiesModel,
    Shape,
    are_all_classes,
    at_least_float32,
    check_names,
    class_numbers,
    classifier_of,
    log_sigmoid,
    mlp,
)
from ltn.core.symbols import Batch, Symbol
from ltn.errors import LogicValueError
from ltn.fuzzy_ops import log_truth
from ltn.language import Domain


@keras.saving.register_keras_serializable(package="ltn")
class Predicate(Symbol):
    """A predicate symbol: G(P)(d_1, ..., d_m) in [0, 1] for every combination of individuals.

    Args:
        model: a Keras model, or any callable, on flat batches: a tensor (N, *features) for `P(t)`, a list
            of them for `P([t1, t2])`. It returns (N,), or (N, 1).
        name: shown in messages.

    `P(t)` and `P([t1, ..., tm])` give a `Formula` over the union of the terms' free variables, in order of
    first appearance; further arguments, such as `training=True`, reach the model. In `keras.Sequential` and
    functional models it is a layer from (N, *features), or a list of them, to truths (N, 1).

    >>> import ltn
    >>> x, y = ltn.Variable("x", [0.1, 0.7]), ltn.Variable("y", [0.2, 0.3, 0.9])
    >>> less = ltn.Predicate(lambda args: args[0] < args[1])
    >>> less([x, y])
    Formula(tensor=[[1. 1. 1.]
     [0. 0. 1.]], free_vars=['x', 'y'])
    """

    # Which of the outputs of its network it is, for a predicate made by `heads`.
    head: Head | None = None

    def __call__(self, inputs: Term | Sequence[Term], *args: Any, **kwargs: Any) -> Formula:
        """The truth of the predicate on a term, or on a list of terms."""
        if self._is_layer_of(inputs):
            return keras.Layer.__call__(self, inputs, *args, **kwargs)
        terms, classes = self.network_terms(self._terms(inputs, *args))
        batch = self.batch(terms)
        output = self.run(batch, isinstance(inputs, list | tuple), *args, **kwargs)
        return self.truth(output, batch, classes)

    def call(self, inputs: Any, training: bool | None = None) -> tf.Tensor:
        """The truth of each row, shape (N, 1), as a layer of a Keras model gives it."""
        return self._on_rows(inputs).tensor[:, tf.newaxis]

    def network_terms(self, terms: Sequence[Term]) -> tuple[list[Term], Term | None]:
        """The terms that the network sees, and the term that indexes its classes, if there is one.

        The network of `FromLogits` runs on the individuals alone; the classes of each row then pick from its
        output.
        """
        if not self.picks_class:
            return list(terms), None
        *individuals, classes = terms
        if not individuals:
            raise LogicValueError(
                f"{self!r} takes individuals and a class, as P([x, c]); got the class only."
            )
        return individuals, classes

    def truth(
        self, output: tf.Tensor, batch: Batch, classes: Term | None, values: tf.Tensor | None = None
    ) -> Formula:
        """The truth values, from the output of the network (for `FromLogits` its logits).

        A caller that has `self.values(output)` already gives it as `values`.

        A caller that runs networks itself computes `P([t1, ..., tm])` like this:

        >>> import ltn
        >>> P = ltn.Predicate.FromLogits(lambda args: tf.concat([args[0], -args[0]], axis=1), "softmax")
        >>> x, c = ltn.Variable("x", [0.0, 0.5]), ltn.Constant(0, trainable=False)
        >>> terms, classes = P.network_terms([x, c])
        >>> batch = P.batch(terms)
        >>> P.truth(P.run(batch, as_list=True), batch, classes)
        Formula(tensor=[0.5    0.7311], free_vars=['x'])
        """
        formula = self._formula(self.values(output) if values is None else values, batch, classes)
        check_truths(formula.tensor, f"The values of {self!r}")
        return formula

    def values(self, output: tf.Tensor) -> tf.Tensor:
        """The truth values that the output of the network stands for: one, or one per class, for each row."""
        return self.model.values(output) if isinstance(self.model, ClassifierModel) else output

    def log_truth(
        self,
        output: tf.Tensor,
        batch: Batch,
        classes: Term | None,
        negated: bool = False,
        logits: tf.Tensor | None = None,
        values: tf.Tensor | None = None,
    ) -> Formula:
        """The logarithm of the truth values, or of one minus them; from logits where there are any.

        Args:
            output: what the network returned, as for `truth`.
            batch: what the network ran on.
            classes: the term that indexes the classes, from `network_terms`.
            negated: log(1 - truth) instead of log(truth).
            logits: what comes before the sigmoid that ends a network (`models.logits_of`): its logarithm
                neither saturates nor stops learning. `FromLogits` needs none.
            values: `self.log_values(output, negated, logits)`, from a caller that has it already.

        >>> import ltn
        >>> P = ltn.Predicate.FromLogits(lambda args: args[0], "sigmoid", with_class_indexing=False)
        >>> batch = P.batch([ltn.Variable("z", [0.0, 200.0])])
        >>> P.log_truth(P.run(batch, as_list=True), batch, None, negated=True)
        Formula(tensor=[  -0.6931 -200.    ], free_vars=['z'])
        """
        if not isinstance(self.model, LogitsModel) and logits is None:
            check_truths(at_least_float32(output), f"The values of {self!r}")
        values = self.log_values(output, negated, logits) if values is None else values
        formula = self._formula(values, batch, classes)
        check(formula.tensor, lambda logs: logs <= 0.0, f"The log-truths of {self!r} must be at most 0")
        return formula

    def log_values(
        self, output: tf.Tensor, negated: bool = False, logits: tf.Tensor | None = None
    ) -> tf.Tensor:
        """The logarithms of `values`, or of one minus them; the arguments are those of `log_truth`."""
        if isinstance(self.model, ClassifierModel):
            return self.model.log_values(output, negated)
        if logits is not None:
            return log_sigmoid(at_least_float32(logits), negated)
        truths = at_least_float32(output)
        return log_truth(1.0 - truths if negated else truths)

    def _formula(self, values: tf.Tensor, batch: Batch, classes: Term | None) -> Formula:
        """One value per row, or per class of each row, as a formula over the variables."""
        if classes is not None:
            return self._pick(values, batch, classes)
        if self.head is not None:
            values = self.head.column(values)
        if values.shape.rank is not None and any(size not in (1, None) for size in values.shape[1:]):
            raise LogicValueError(
                f"The model of {self!r} must return one truth value per row; it returned the shape "
                f"{tuple(values.shape)}. For the logits of a classifier use Predicate.FromLogits."
            )
        return Formula(tf.reshape(values, batch.sizes), batch.labels)

    def _pick(self, values: tf.Tensor, batch: Batch, classes: Term) -> Formula:
        if values.shape.rank != 2:
            kind, value = ("logits ", "logit") if isinstance(self.model, LogitsModel) else ("", "probability")
            raise LogicValueError(
                f"The {kind}model of {self!r} must return one {value} per class, shape (N, classes); "
                f"it returned the shape {tuple(values.shape)}."
            )
        numbers = class_numbers(classes.tensor, len(classes.free_vars))
        count = axes.size_of(values, 1)
        check(
            numbers,
            lambda c: (c >= 0.0) & (c < tf.cast(count, c.dtype)) & (c == tf.round(c)),
            f"The class index of {self!r} must be a whole number "
            + (f"from 0 to {count - 1}" if isinstance(count, int) else "below the number of its logits"),
        )
        table = tf.reshape(values, [*batch.sizes, count])
        order = axes.union([batch.labels, classes.free_vars])
        on_own_axis = len(classes.free_vars) == 1 and classes.free_vars[0] not in batch.labels
        if on_own_axis and are_all_classes(classes.tensor, count):
            return Formula(table, order)
        known = None if classes.free_vars else tf.get_static_value(numbers)
        if known is not None and isinstance(count, int) and 0 <= int(known) < count:
            return Formula(table[..., int(known)], order)
        found = axes.sizes([table, numbers], [batch.labels, classes.free_vars])
        shape = [found[label] for label in order]
        indices = axes.broadcast(tf.cast(numbers, tf.int32), classes.free_vars, order, found)
        rows, picks = math.prod(batch.sizes), math.prod(shape[len(batch.sizes) :])
        picked = tf.gather(values, tf.reshape(indices, [rows, picks]), batch_dims=1)
        return Formula(tf.reshape(picked, shape), order)

    @property
    def picks_class(self) -> bool:
        """Whether the last argument is a class, picked from what the network returns for the others."""
        is_indexed = isinstance(self.model, ClassifierModel) and self.model.with_class_indexing
        return is_indexed and self.head is None

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
            input_shapes: the shape of the features of each argument, or an int; the arguments are
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
    def DistMult(cls, name: str | None = None) -> Predicate:
        """sigmoid(sum_k h_k r_k t_k), of the vectors of a head, a relation and a tail, which are learned.

        >>> import ltn
        >>> h, r, t = (ltn.Constant(vector, False) for vector in ([1, 2], [1, 1], [2, -1]))
        >>> ltn.Predicate.DistMult()([h, r, t])
        Formula(tensor=0.5, free_vars=[])
        """
        return cls(LogitsModel(scorers.DistMult(), "sigmoid", with_class_indexing=False), name)

    @classmethod
    def ComplEx(cls, name: str | None = None) -> Predicate:
        """sigmoid(Re sum_k h_k r_k conj(t_k)), of vectors of 2 n features: n real parts, n imaginary ones.

        >>> import ltn
        >>> h, r, t = (ltn.Constant(vector, False) for vector in ([1, 2], [0, 1], [2, 1]))
        >>> ltn.Predicate.ComplEx()([h, r, t])
        Formula(tensor=0.0474, free_vars=[])
        """
        return cls(LogitsModel(scorers.ComplEx(), "sigmoid", with_class_indexing=False), name)

    @classmethod
    def table(cls, domains: Domain | Sequence[Domain], initializer: Any = None) -> Predicate:
        """sigmoid(W_ij) for the i-th and the j-th individual of domains with `values`; W is learned.

        >>> import ltn
        >>> people = ltn.Theory().domain("people", values=["Ann", "Bob"])
        >>> likes, x = ltn.Predicate.table([people, people], "zeros"), ltn.Variable("x", [0, 1])
        >>> likes([x, x])
        Formula(tensor=[0.5 0.5], free_vars=['x'])
        """
        return cls(LogitsModel(scorers.table_over(domains, initializer), "sigmoid", False))

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

    @classmethod
    def FromProbabilities(
        cls, model: Callable[..., Any], with_class_indexing: bool = True, name: str | None = None
    ) -> Predicate:
        """A predicate on a classifier that ends in a sigmoid or a softmax: P(x, c) is its output for class c.

        The network runs once per individual, as that of `FromLogits`. Where its last layer is one of Keras,
        `log_product` computes with the logits before the activation.

        Args:
            model: gives (N, classes) probabilities. It receives what the network of `FromLogits` receives.
            with_class_indexing: whether the last argument indexes the class; without, `P([x])` is the
                single probability that the model gives.
            name: shown in messages.

        >>> import ltn
        >>> shares = lambda args: tf.concat([args[0], 1.0 - args[0]], axis=1)
        >>> P = ltn.Predicate.FromProbabilities(shares)
        >>> x, c = ltn.Variable("x", [0.25, 0.5]), ltn.Variable("c", [0, 1])
        >>> P([x, c])
        Formula(tensor=[[0.25 0.75]
         [0.5  0.5 ]], free_vars=['x', 'c'])
        """
        return cls(ProbabilitiesModel(model, with_class_indexing), name)

    @classmethod
    def heads(
        cls,
        network: Callable[..., Any],
        names: Sequence[str],
        activation_function: str | None = "sigmoid",
    ) -> dict[str, Predicate]:
        """Predicates that share one network of several labels, by name: the k-th is its k-th output.

        In a theory the network runs once for each individual, whatever heads the axioms speak of. A head that
        is called by itself, as `even(x)`, runs it each time: `FromLogits(network, "sigmoid")([x, c])`
        gives all of them in one run.

        Args:
            network: gives (N, names) logits. It receives what the network of `FromLogits` receives.
            names: of the predicates, in the order of the outputs.
            activation_function: "sigmoid"; "softmax" where the labels exclude each other; None for a network
                that returns probabilities.

        >>> import ltn
        >>> network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
        >>> theory = ltn.Theory()
        >>> images = theory.domain("images", shape=2)
        >>> x = theory.variable("x", images)
        >>> for name, head in ltn.Predicate.heads(network, ["even", "odd", "large"]).items():
        ...     predicate = theory.predicate(name, images, head)
        >>> theory.plan("forall x: even(x) <-> ~odd(x)", x=[[0.1, 0.2], [0.3, 0.4]]).rows
        {'even': 2}
        """
        labels = check_names(names)
        classifier = classifier_of(network, activation_function, with_class_indexing=True)
        return {name: cls._of_classifier(classifier, name, Head(n, labels)) for n, name in enumerate(labels)}

    def reading(self) -> dict[str, Any]:
        """How the output of the network is read, as plain data; nothing where it is the truth itself."""
        if not isinstance(self.model, ClassifierModel):
            return {}
        head = {} if self.head is None else {"head": self.head.place, "heads": list(self.head.names)}
        return {
            # None where the network returns probabilities.
            "activation": getattr(self.model, "activation_function", None),
            "with_class_indexing": self.model.with_class_indexing,
        } | head

    @classmethod
    def read_from(
        cls, network: Any, name: str, reading: Mapping[str, Any], others: Sequence[Predicate] = ()
    ) -> Predicate:
        """The predicate on a network that is read as `reading` tells; `others` may be heads of it too."""
        if "activation" not in reading:
            return cls(network, name)
        head = Head(reading["head"], tuple(reading["heads"])) if "head" in reading else None
        classifier = classifier_of(network, reading["activation"], reading["with_class_indexing"])
        made = cls._of_classifier(classifier, name, head)
        for other in others if head is not None else ():
            # Heads of one network are read from one run of it.
            if other.network is network and other.reading() | {"head": reading["head"]} == made.reading():
                made.model = other.model
        return made

    @classmethod
    def _of_classifier(cls, classifier: ClassifierModel, name: str, head: Head | None) -> Predicate:
        predicate = cls(classifier, layer_name(name))
        predicate.head = head
        return predicate
