"""Models that ground symbols: Keras models and plain callables on flat batches of individuals."""

import math
import operator
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex

import keras
import numpy as np
import tensorflow as tf

from ltn._private import is_eager, logits_before
from ltn.checks import check_choice, check_flag
from ltn.errors import LogicTypeError, LogicValueError
from ltn.fuzzy_ops import log1mexp, log_truth, log_zero

Shape = SupportsIndex | Sequence[SupportsIndex]
FeatureShape = tuple[int | None, ...]


def mlp(
    input_shapes: Sequence[Shape],
    hidden_layer_sizes: Sequence[int],
    output_shape: Shape,
    activation: str,
) -> keras.Model:
    """A multilayer perceptron on its flattened and concatenated inputs, with elu hidden layers."""
    if not isinstance(input_shapes, list | tuple) or not input_shapes:
        raise LogicTypeError(f"`input_shapes` has one entry per argument, as [2]; got {input_shapes!r}.")
    if not isinstance(hidden_layer_sizes, list | tuple):
        raise LogicTypeError(
            f"`hidden_layer_sizes` has one entry per layer, as (16,); got {hidden_layer_sizes!r}."
        )
    inputs = [keras.Input(_as_shape("input_shapes", shape)) for shape in input_shapes]
    units, shape = (
        _as_shape("hidden_layer_sizes", hidden_layer_sizes),
        _as_shape("output_shape", output_shape),
    )
    flat = [keras.layers.Flatten()(x) for x in inputs]
    hidden = keras.layers.Concatenate()(flat) if len(flat) > 1 else flat[0]
    for size in units:
        hidden = keras.layers.Dense(size, activation="elu")(hidden)
    outputs = keras.layers.Dense(math.prod(shape), activation=activation)(hidden)
    if len(shape) != 1:
        outputs = keras.layers.Reshape(shape)(outputs)
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


class ClassifierModel(keras.Model, ABC):
    """A classifier read as a predicate: how true it is that an individual is of a class.

    Called with `[*individuals, class_index]` on flat batches; without class indexing, with
    `[*individuals]`, it is the truth that the classifier gives as a single value.
    """

    def __init__(self, network: Callable[..., tf.Tensor], with_class_indexing: bool, name: str | None):
        check_model(network)
        super().__init__(name=name)
        self.with_class_indexing = check_flag("with_class_indexing", with_class_indexing)
        # The classifier builds itself when it is first called.
        self.built = True

    @property
    @abstractmethod
    def network(self) -> Callable[..., Any]:
        """The classifier."""

    @abstractmethod
    def values(self, output: tf.Tensor) -> tf.Tensor:
        """The truth values that an output of the classifier stands for."""

    @abstractmethod
    def log_values(self, output: tf.Tensor, negated: bool) -> tf.Tensor:
        """The logarithms of `values`, or of one minus them."""

    def call(
        self, inputs: Sequence[tf.Tensor], *args: Any, training: bool | None = None, **kwargs: Any
    ) -> tf.Tensor:
        """One truth value per row, shape (N,). Keras itself hands `training` on to the layers within."""
        individuals = inputs[:-1] if self.with_class_indexing else inputs
        truths = self.values(self.network(pack_inputs(self.network, individuals, True), *args, **kwargs))
        if not self.with_class_indexing:
            return tf.squeeze(truths, axis=1)
        return tf.gather(truths, tf.cast(class_numbers(inputs[-1], 1), tf.int32), batch_dims=1)


class LogitsModel(ClassifierModel):
    """A classifier that returns logits: their sigmoid or softmax is the truth."""

    def __init__(
        self,
        logits_model: Callable[..., tf.Tensor],
        activation_function: str,
        with_class_indexing: bool = True,
        name: str | None = None,
    ):
        super().__init__(logits_model, with_class_indexing, name)
        activations = {"softmax": tf.nn.softmax, "sigmoid": tf.sigmoid}
        check_choice("activation_function", activation_function, activations)
        if activation_function == "softmax" and not with_class_indexing:
            raise LogicValueError("A softmax is over classes: use `with_class_indexing=True`, or a sigmoid.")
        self.logits_model = logits_model
        self.activation_function = activation_function
        self.activation = activations[activation_function]
        self._was_looked_at = False

    @property
    def network(self) -> Callable[..., Any]:
        """The classifier."""
        return self.logits_model

    def values(self, output: tf.Tensor) -> tf.Tensor:
        """The probabilities."""
        self._look_at(output)
        return self.activation(output)

    def log_values(self, output: tf.Tensor, negated: bool) -> tf.Tensor:
        """The logarithm of each probability, or of one minus it; finite for finite logits, like its slope."""
        self._look_at(output)
        return log_activation(at_least_float32(output), self.activation_function, negated)

    def _look_at(self, output: tf.Tensor) -> None:
        """Warn, once, where the output is no logits but what a sigmoid or softmax made of them."""
        if not self._was_looked_at and logits_before(output) is not None:
            warnings.warn(
                "The network of FromLogits ends in a sigmoid or a softmax, so it returns probabilities. "
                f"Another {self.activation_function} squeezes them together: no truth comes near 0 or 1. Use "
                "Predicate.FromProbabilities(network), or a last layer without activation.",
                stacklevel=2,
            )
        self._was_looked_at = True


class ProbabilitiesModel(ClassifierModel):
    """A classifier that returns probabilities: they are the truth."""

    def __init__(
        self,
        probabilities_model: Callable[..., tf.Tensor],
        with_class_indexing: bool = True,
        name: str | None = None,
    ):
        super().__init__(probabilities_model, with_class_indexing, name)
        self.probabilities_model = probabilities_model

    @property
    def network(self) -> Callable[..., Any]:
        """The classifier."""
        return self.probabilities_model

    def values(self, output: tf.Tensor) -> tf.Tensor:
        """The probabilities."""
        return output

    def log_values(self, output: tf.Tensor, negated: bool) -> tf.Tensor:
        """The logarithm of each probability, or of one minus it; from the logits where Keras knows them."""
        known = known_logits(output)
        if known is not None:
            return log_activation(at_least_float32(known.tensor), known.activation, negated)
        truths = at_least_float32(output)
        return log_truth(1.0 - truths if negated else truths)


def classifier_of(
    network: Callable[..., tf.Tensor], activation_function: str | None, with_class_indexing: bool
) -> ClassifierModel:
    """The classifier on a network that returns logits; or probabilities, where there is no activation."""
    if activation_function is None:
        return ProbabilitiesModel(network, with_class_indexing)
    return LogitsModel(network, activation_function, with_class_indexing)


@dataclass(frozen=True)
class Head:
    """One output of a network that has several, each a predicate of its own.

    Attributes:
        place: which one.
        names: the predicates, in the order of the outputs.
    """

    place: int
    names: tuple[str, ...]

    def column(self, values: tf.Tensor) -> tf.Tensor:
        """What the network gives for this head, shape (N,), from all of its values, (N, heads)."""
        if values.shape.rank != 2 or values.shape[1] not in (len(self.names), None):
            raise LogicValueError(
                f"The network behind the heads {', '.join(self.names)} must return one value for each of "
                f"them, shape (N, {len(self.names)}); it returned the shape {tuple(values.shape)}."
            )
        return values[:, self.place]


def check_names(names: Any) -> tuple[str, ...]:
    """The names of heads; raise unless they are distinct texts."""
    labels = tuple(names) if isinstance(names, list | tuple) else ()
    if not labels or not all(isinstance(name, str) and name for name in labels):
        raise LogicTypeError(f"`names` has one name for each output, as ['even', 'odd']; got {names!r}.")
    if len(set(labels)) < len(labels):
        raise LogicValueError(f"The `names` of heads must be distinct; got {list(labels)}.")
    return labels


def log_activation(logits: tf.Tensor, activation: str, negated: bool) -> tf.Tensor:
    """The logarithm of the sigmoid or softmax of logits, or of one minus it."""
    if activation == "sigmoid":
        return log_sigmoid(logits, negated)
    return _log_one_minus_softmax(logits) if negated else tf.nn.log_softmax(logits)


def class_numbers(classes: tf.Tensor, leading: int) -> tf.Tensor:
    """Class indices without their feature axes of size 1, behind `leading` other axes."""
    features = list(range(leading, classes.shape.rank))
    if any(classes.shape[axis] not in (1, None) for axis in features):
        raise LogicValueError(
            "A class is given by its index, one number per individual; the classes have the feature "
            f"shape {tuple(classes.shape[leading:])}. For one-hot vectors take tf.argmax first."
        )
    return tf.reshape(classes, tf.shape(classes)[:leading]) if features else classes


def are_all_classes(classes: tf.Tensor, count: Any) -> bool:
    """Whether the classes are known when tracing, and are all in their order: 0, 1, 2, ..."""
    known = tf.get_static_value(classes)
    return known is not None and isinstance(count, int) and np.array_equal(known.ravel(), range(count))


def log_sigmoid(logits: tf.Tensor, negated: bool) -> tf.Tensor:
    """log sigma(z), or log(1 - sigma(z)) = log sigma(-z)."""
    return tf.math.log_sigmoid(-logits if negated else logits)


def _log_one_minus_softmax(logits: tf.Tensor) -> tf.Tensor:
    # Up to p = 1/2, 1 - p keeps its digits. At most one class is above; for it 1 - p is the sum of the
    # others, taken from their logits.
    logs = tf.nn.log_softmax(logits)
    if logits.shape[-1] == 0:
        return logs
    above = logs > math.log(0.5)
    others = tf.reduce_logsumexp(tf.where(above, logits.dtype.min, logits), -1, keepdims=True)
    of_others = others - tf.reduce_logsumexp(logits, -1, keepdims=True)
    # A single class has no others.
    of_others = tf.where(others > 0.5 * logits.dtype.min, of_others, tf.cast(log_zero, logits.dtype))
    return tf.where(above, of_others, log1mexp(tf.where(above, tf.cast(-1.0, logs.dtype), logs)))


class Logits(NamedTuple):
    """Logits, and the activation that makes probabilities of them: "sigmoid" or "softmax"."""

    tensor: tf.Tensor
    activation: str


def logits_of(output: tf.Tensor) -> tf.Tensor | None:
    """What came before the sigmoid that ends a Keras network; None where the output comes from elsewhere.

    `output` is what the network returned, one value per row, unchanged since.

    >>> dense = keras.layers.Dense(1, activation="sigmoid", kernel_initializer="ones")
    >>> output = dense(tf.constant([[-200.0]]))
    >>> output.numpy().tolist(), logits_of(output).numpy().tolist()
    ([[0.0]], [[-200.0]])
    """
    if output.shape.rank is None or any(size != 1 for size in output.shape[1:]):
        return None
    known = known_logits(output)
    return known.tensor if known is not None and known.activation == "sigmoid" else None


def known_logits(output: tf.Tensor) -> Logits | None:
    """What came before the sigmoid or softmax that ends a Keras network; None where neither does."""
    logits = logits_before(output)
    if not tf.is_tensor(logits) or logits.shape.as_list() != output.shape.as_list():
        return None
    if not is_eager(output):
        kinds = {"Sigmoid": "sigmoid", "Softmax": "softmax"}
        return Logits(logits, kinds[output.op.type]) if output.op.type in kinds else None
    # An eager tensor does not tell what computed it; a softmax may also be over the rows.
    for activation, function in (("sigmoid", tf.sigmoid), ("softmax", tf.nn.softmax)):
        if logits.shape.rank and tf.reduce_all(tf.abs(output - function(logits)) <= 1e-6):
            return Logits(logits, activation)
    return None


def at_least_float32(values: tf.Tensor) -> tf.Tensor:
    """The values in float32, or wider where they are: a logarithm in half precision is too coarse."""
    wide = values.dtype.is_floating and values.dtype.size >= 4
    return values if wide else tf.cast(values, tf.float32)


def pack_inputs(
    model: Callable[..., Any], tensors: Sequence[tf.Tensor], as_list: bool
) -> tf.Tensor | list[tf.Tensor]:
    """What to call the model on: a list, or a lone tensor where the model wants one."""
    # A model that declares its inputs, and the layers that come with Keras, want a lone tensor; a
    # model that a user subclassed unpacks a list.
    wants_tensor = (
        isinstance(model, keras.Sequential)
        or input_shapes(model) is not None
        or (isinstance(model, keras.Layer) and type(model).__module__.startswith("keras."))
    )
    return tensors[0] if len(tensors) == 1 and (wants_tensor or not as_list) else list(tensors)


def input_shapes(model: Callable[..., Any]) -> list[FeatureShape] | None:
    """The feature shapes that a functional or Sequential model declares; None where there are none."""
    inputs = getattr(model, "inputs", None) if isinstance(model, keras.Model) else None
    return None if inputs is None else [tuple(tensor.shape[1:]) for tensor in inputs]


def check_model(model: Any) -> None:
    """Raise unless it can be called."""
    if not callable(model):
        raise LogicTypeError(f"`model` must be a Keras model or a callable; got {model!r}.")


def _as_shape(argument: str, shape: Shape) -> tuple[int, ...]:
    try:
        sizes = tuple(operator.index(size) for size in (shape if isinstance(shape, Sequence) else [shape]))
    except TypeError as error:
        raise LogicTypeError(f"The sizes in `{argument}` must be whole numbers; got {shape!r}.") from error
    if any(size < 1 for size in sizes):
        raise LogicValueError(f"The sizes in `{argument}` must be at least 1; got {shape!r}.")
    return sizes
