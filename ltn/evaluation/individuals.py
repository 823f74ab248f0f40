"""Individuals that are declared: constants, the rows of one weight; and the choice of a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ltn.checks import find_in_keras
from ltn.core import Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.bounds import constraint_of
from ltn.language import Domain
from ltn.language.names import list_names


class Choice(NamedTuple):
    """The individuals that a variable was declared to range over: named constants, or features."""

    names: tuple[str, ...]
    features: tf.Tensor | None = None

    def get_config(self) -> dict[str, Any]:
        """The choice for JSON; float32 is restored exactly."""
        if self.features is None:
            return {"names": list(self.names), "features": None}
        # Of no individuals, the list does not tell the shape.
        return {"names": [], "features": self.features.numpy().tolist(), "shape": list(self.features.shape)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Choice:
        """The choice that `get_config` wrote."""
        if config["features"] is None:
            return cls(tuple(config["names"]))
        features = np.asarray(config["features"], np.float32)
        # Older files have no shape.
        return cls((), tf.constant(features.reshape(config.get("shape", features.shape))))


class Individuals(keras.Layer):
    """The constants of one declaration, grounded on the rows of one weight, (k, *features).

    One weight for all of them keeps a training step as cheap for a thousand embeddings as for one.
    """

    def __init__(
        self,
        names: Sequence[str],
        domain: Domain,
        values: np.ndarray | None = None,
        trainable: bool = True,
        initializer: Any = None,
        regularizer: Any = None,
    ):
        super().__init__(trainable=trainable, dtype="float32")
        self.names = tuple(names)
        # Where each of them stands, by name.
        self.places = {name: place for place, name in enumerate(self.names)}
        self.domain = domain
        self.regularizer = find_in_keras("regularizer", keras.regularizers.get, regularizer)
        constraint = constraint_of(domain)
        if isinstance(domain.bounds, tuple):
            low, high = domain.bounds
        else:
            low, high = (0.0, 1.0) if values is None else (float(np.min(values)), float(np.max(values)))
            if low == high:
                low, high = low - 0.5, high + 0.5
        default = keras.initializers.RandomUniform(low, high) if trainable else keras.initializers.Zeros()
        # A file keeps the given values among its weights, not in its configuration.
        self.initializer = find_in_keras("initializer", keras.initializers.get, initializer) or default
        self.table = self.add_weight(
            shape=(len(self.names), *domain.shape),
            initializer=self._draw,
            regularizer=self.regularizer,
            constraint=constraint if trainable else None,
            trainable=trainable,
            name="individuals",
        )
        if values is not None:
            self.table.assign(values)
        elif constraint is not None:
            self.table.assign(constraint(self.table.value))
        self.built = True

    def _draw(self, shape: tuple[int, ...], dtype: Any) -> tf.Tensor:
        """What the initializer draws, checked: Keras would take any shape."""
        names = list_names(self.names)
        try:
            drawn = tf.convert_to_tensor(self.initializer(shape, dtype=dtype), dtype)
        except (TypeError, ValueError, tf.errors.InvalidArgumentError) as error:
            raise LogicTypeError(
                f"The `initializer` of {names} failed, called as initializer(shape, dtype=...): {error}"
            ) from error
        if tuple(drawn.shape) != tuple(shape) or not tf.reduce_all(tf.math.is_finite(drawn)):
            raise LogicValueError(
                f"The `initializer` of {names} must give finite numbers of the shape {tuple(shape)}; it gave "
                f"the shape {tuple(drawn.shape)}: {drawn.numpy()!r:.200}."
            )
        return drawn

    def draw_again(self, chance: Any) -> np.ndarray:
        """New features for all individuals, drawn by the initializer, inside the bounds.

        `chance` is a generator of Python, from which an initializer of Keras takes its seed.
        """
        draw = self.initializer
        if isinstance(draw, keras.initializers.Initializer):
            # It draws the same numbers each time; a twin with another seed draws others.
            config = draw.get_config()
            if config.get("seed", 0) is None:
                config["seed"] = chance.randrange(1, 10**9)
            draw = type(draw).from_config(config)
        constraint = self.table.constraint
        drawn = draw(self.table.shape, dtype=self.table.dtype)
        return np.array(drawn if constraint is None else constraint(drawn))

    @property
    def tensor(self) -> tf.Tensor:
        """The features of all individuals, (k, *features), read now: gradients reach the weight."""
        return tf.convert_to_tensor(self.table.value)

    def rows(self, places: tf.Tensor) -> tf.Tensor:
        """The features of some of them, (k, *features): gradients reach their rows of the weight alone."""
        return tf.gather(self.table.value, places)

    def get_config(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "domain": self.domain.name,
            "trainable": self.trainable,
        }


class Individual(Term):
    """A constant of a theory: one row of its `Individuals`, read whenever it is used."""

    def __init__(self, individuals: Individuals, name: str):
        self.name = name
        self.free_vars = []
        self._individuals = individuals
        self._row = individuals.places[name]

    if not TYPE_CHECKING:  # an attribute for readers, but never stale

        @property
        def tensor(self) -> tf.Tensor:
            return self._individuals.tensor[self._row]
