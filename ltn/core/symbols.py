"""Symbols: what predicates and functions share, a grounding called on flat batches of individuals."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from ltn._private import is_in_a_layer, serialize_shared, user_code
from ltn.checks import check_layer_name, check_sizes
from ltn.core import axes
from ltn.core.expressions import Term, as_tensors
from ltn.core.models import ClassifierModel, FeatureShape, check_model, input_shapes, pack_inputs
from ltn.core.variables import Variable
from ltn.errors import LogicTypeError, LogicValueError


class Batch(NamedTuple):
    """Terms as a network sees them: flat, one row per combination of their variables."""

    tensors: list[tf.Tensor]
    labels: list[str]
    sizes: list[axes.Size]
    shapes: tuple[FeatureShape, ...]


class Symbol(keras.Layer, ABC):
    """A symbol with its grounding; a Keras layer, found, saved and restored by the model that holds it."""

    def __init__(self, model: Callable[..., Any], name: str | None = None):
        check_layer_name(name)
        check_model(model)
        super().__init__(name=name)
        self.model: Any = model
        self.built = True
        self._shapes_seen: tuple[FeatureShape, ...] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"

    @abstractmethod
    def __call__(self, inputs: Term | Sequence[Term], *args: Any, **kwargs: Any) -> Any:
        """The symbol applied to a term, or to a list of terms."""

    @property
    def trainable_variables(self) -> list[Any]:
        """The weights to learn; warns if the model has none yet, before its first call."""
        variables: list[Any] = super().trainable_variables
        network = self.network
        if not variables and isinstance(network, keras.Layer) and not network.built:
            warnings.warn(f"{self!r} has no weights yet: its model is built by the first call.", stacklevel=2)
        return variables

    @abstractmethod
    def call(self, inputs: Any, training: bool | None = None) -> tf.Tensor:
        """The value of the symbol, row by row, on tensors (N, *features): what a Keras model sees of it."""

    def _is_layer_of(self, inputs: Any) -> bool:
        """Whether a Keras model calls the symbol as one of its layers, on tensors."""
        tensors = inputs if isinstance(inputs, list | tuple) else [inputs]
        symbolic = all(isinstance(tensor, keras.KerasTensor) for tensor in tensors)
        return bool(tensors) and (symbolic or (all(map(tf.is_tensor, tensors)) and is_in_a_layer()))

    def _on_rows(self, inputs: Any) -> Any:
        """The symbol applied to a tensor, or a list of tensors, with one row for each individual."""
        tensors = inputs if isinstance(inputs, list | tuple) else [inputs]
        rows = [Variable("row", tensor) for tensor in tensors]
        return self(rows if isinstance(inputs, list | tuple) else rows[0])

    def get_config(self) -> dict[str, Any]:
        """What `from_config` needs; the weights are saved by the model that holds the symbol."""
        settings = {"name": self.name, "trainable": self.trainable, "network": serialize_shared(self.network)}
        return settings | self.reading()

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Symbol:
        """The symbol of a configuration, with a network of its own."""
        network = keras.saving.deserialize_keras_object(config["network"])
        symbol = cls.read_from(network, config["name"], config)
        symbol.trainable = config["trainable"]
        return symbol

    @classmethod
    def read_from(cls, network: Any, name: str, reading: Mapping[str, Any]) -> Symbol:
        """The symbol on a network whose output is read as `reading` tells."""
        return cls(network, name)

    def reading(self) -> dict[str, Any]:
        """How the output of the network is read, as plain data; nothing where it is the value itself."""
        return {}

    @property
    def picks_class(self) -> bool:
        """Whether the last argument is a class, picked from what the network returns for the others."""
        return False

    @property
    def network(self) -> Any:
        """What declares the shapes and owns the weights: the model, or the classifier inside it."""
        return self.model.network if isinstance(self.model, ClassifierModel) else self.model

    def _terms(self, inputs: Term | Sequence[Term], *args: Any) -> list[Term]:
        if any(isinstance(arg, Term) for arg in args):
            raise LogicTypeError(f"{self!r} takes several terms as one list: P([x, y]), not P(x, y).")
        terms: list[Any] = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if not terms:
            raise LogicValueError(f"{self!r} needs at least one term; got none.")
        for position, term in enumerate(terms, start=1):
            if not isinstance(term, Term):
                raise LogicTypeError(
                    f"{self!r} takes terms; argument {position} is a {type(term).__name__}: {term!r}. "
                    "Make individuals an ltn.Variable, or one of them an ltn.Constant."
                )
            if isinstance(term, Variable):
                term.warn_if_cut_off()
        return terms

    def batch(self, terms: Sequence[Term]) -> Batch:
        """The terms as the network sees them, checked against the shapes that it declares."""
        outline = self.outline(terms)
        order, sizes = outline.labels, dict(zip(outline.labels, outline.sizes, strict=True))
        flat = []
        for term in terms:
            features = [
                axes.size_of(term.tensor, a) for a in range(len(term.free_vars), term.tensor.shape.rank)
            ]
            rows = axes.broadcast(term.tensor, term.free_vars, order, sizes)
            flat.append(rows if len(order) == 1 else tf.reshape(rows, [-1, *features]))
        return outline._replace(tensors=flat)

    def outline(self, terms: Sequence[Term]) -> Batch:
        """The batch of the terms without its tensors, for a caller that needs no copies of individuals."""
        shapes = tuple(term.feature_shape for term in terms)
        self._check_features(input_shapes(self.network), shapes)
        labels = [term.free_vars for term in terms]
        order = axes.union(labels)
        sizes = axes.sizes(as_tensors(terms), labels)
        return Batch([], order, [sizes[label] for label in order], shapes)

    def run(self, batch: Batch, as_list: bool, *args: Any, **kwargs: Any) -> tf.Tensor:
        """What the network returns for the batch, one row each: for `FromLogits` the logits.

        `as_list` says whether a lone term was written in a list, as in P([x]); further arguments reach the
        network.
        """
        inputs = pack_inputs(self.network, batch.tensors, as_list or isinstance(self.model, ClassifierModel))
        given = "one list of tensors" if isinstance(inputs, list) else "a tensor"
        size = axes.size_of(batch.tensors[0], 0)
        network = user_code(self.network)
        return self.check_run(lambda: network(inputs, *args, **kwargs), batch.shapes, size, given)

    def check_run(
        self, call: Callable[[], Any], shapes: tuple[FeatureShape, ...], size: axes.Size, given: str
    ) -> tf.Tensor:
        """What a call of the network, or of its layers, returns: `size` rows; its errors name the symbol.

        The network was `given` individuals with the feature shapes `shapes`.
        """
        try:
            output = tf.convert_to_tensor(call())
        except (TypeError, ValueError, tf.errors.InvalidArgumentError) as error:
            if isinstance(self.network, keras.Layer):
                self._check_features(self._shapes_seen, shapes)
            received = ", ".join(str(shape) for shape in shapes)
            kind = LogicTypeError if isinstance(error, TypeError) else LogicValueError
            raise kind(
                f"The model of {self!r} failed on {given} with feature shapes {received}: {error}"
            ) from error
        self._shapes_seen = self._shapes_seen or shapes
        self._check_rows(size, output)
        return output

    def _check_rows(self, size: axes.Size, output: tf.Tensor) -> None:
        if output.shape.rank == 0:
            raise LogicValueError(
                f"The model of {self!r} must return one row per individual; it returned a scalar."
            )
        if output.shape.rank is not None:
            check_sizes(
                [size, axes.size_of(output, 0)],
                f"The model of {self!r} must return one row per individual",
            )

    def _check_features(
        self, expected: Sequence[FeatureShape] | None, received: Sequence[FeatureShape]
    ) -> None:
        if expected is None:
            return
        if len(expected) != len(received):
            raise LogicValueError(f"{self!r} takes {len(expected)} argument(s); got {len(received)}.")
        for position, (wanted, came) in enumerate(zip(expected, received, strict=True), start=1):
            if not _are_compatible(wanted, came):
                raise LogicValueError(
                    f"{self!r}: argument {position} must have the feature shape {wanted}; got {came}."
                )


def _are_compatible(expected: FeatureShape, received: FeatureShape) -> bool:
    # Keras adds or drops a last axis of size 1 by itself.
    while expected and expected[-1] == 1:
        expected = expected[:-1]
    while received and received[-1] == 1:
        received = received[:-1]
    return len(expected) == len(received) and all(
        wanted is None or came is None or wanted == came
        for wanted, came in zip(expected, received, strict=True)
    )
