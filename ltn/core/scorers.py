"""Scorers: layers without a network, whose scores of several individuals are read or computed axis by axis.

A score of pairs for n individuals x and m individuals y is a product of matrices, or a table. Neither needs
the n m rows that a network would run on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn.checks import check, find_in_keras
from ltn.core import axes
from ltn.core.expressions import Term
from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Domain

# A gigabyte of float32.
_MOST_ENTRIES = 2**28


class Scorer(keras.Layer, ABC):
    """A layer that scores a list of terms on the axes where they lie, and tensors row by row."""

    @abstractmethod
    def on_axes(self, terms: Sequence[Term]) -> tf.Tensor:
        """The scores over the union of the axes of the terms, in order of first appearance."""

    def call(self, inputs: Any) -> tf.Tensor:
        """The scores, shape (N, 1)."""
        tensors = inputs if isinstance(inputs, list | tuple) else [inputs]
        return self.on_axes([Term(tensor, ["row"]) for tensor in tensors])[:, tf.newaxis]

    # How an evaluation runs it: see `first_layer.ByArgument`.

    def products(self, terms: Sequence[Term]) -> tf.Tensor:
        """The scores of terms on several axes, one row for each combination."""
        return tf.reshape(self.on_axes(terms), [-1, 1])

    def joint_products(self, batches: Sequence[Sequence[tf.Tensor]]) -> tf.Tensor:
        """The scores of inputs that come row by row, (N, *features) each."""
        return self.call([tf.concat(each, axis=0) for each in zip(*batches, strict=True)])

    def finish(self, products: tf.Tensor) -> tf.Tensor:
        """The scores themselves."""
        return products


class Trilinear(Scorer):
    """A score of triples (h, r, t) of vectors of the same size that is linear in each of them.

    So it is the product of one of them, on its own axis, with what is made of the other two. For a head and a
    relation in each row of a batch, and all individuals as tails, that is one product of matrices.
    """

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.built = True

    @abstractmethod
    def weigh(self, others: list[tf.Tensor], place: int) -> tf.Tensor:
        """What the vector at a place, 0, 1 or 2, is multiplied with for the score; from the other two."""

    def check(self, sizes: Sequence[int | None]) -> None:
        """Raise unless it can score vectors of these sizes."""
        if len(set(sizes) - {None}) > 1:
            raise LogicValueError(
                f"{type(self).__name__} scores vectors of the same size; got the sizes {list(sizes)}."
            )

    def on_axes(self, terms: Sequence[Term]) -> tf.Tensor:
        if len(terms) != 3:
            raise LogicTypeError(
                f"{type(self).__name__} scores a head, a relation and a tail; got {len(terms)} arguments."
            )
        if any(len(term.feature_shape) != 1 for term in terms):
            shapes = [term.feature_shape for term in terms]
            raise LogicValueError(f"{type(self).__name__} scores vectors; got the feature shapes {shapes}.")
        self.check([term.feature_shape[0] for term in terms])
        order = axes.union([term.free_vars for term in terms])
        place = _longest_alone(terms)
        own, others = terms[place], [term for number, term in enumerate(terms) if number != place]
        rest = axes.union([term.free_vars for term in others])
        weight = self.weigh([axes.align(term.tensor, term.free_vars, rest) for term in others], place)
        if set(own.free_vars) <= set(rest):
            found = tf.reduce_sum(weight * axes.align(own.tensor, own.free_vars, rest), axis=-1)
            return axes.reorder(found, rest, order)
        letters = {label: chr(ord("a") + number) for number, label in enumerate(order)}
        left, right, result = (
            "".join(letters[label] for label in labels) for labels in (rest, own.free_vars, order)
        )
        return tf.einsum(f"{left}z,{right}z->{result}", weight, own.tensor)


@keras.saving.register_keras_serializable(package="ltn")
class DistMult(Trilinear):
    """sum_k h_k r_k t_k: see `Predicate.DistMult`."""

    def weigh(self, others: list[tf.Tensor], place: int) -> tf.Tensor:
        return others[0] * others[1]


@keras.saving.register_keras_serializable(package="ltn")
class ComplEx(Trilinear):
    """Re sum_k h_k r_k conj(t_k): see `Predicate.ComplEx`."""

    def check(self, sizes: Sequence[int | None]) -> None:
        super().check(sizes)
        if any(size is not None and size % 2 for size in sizes):
            raise LogicValueError(
                "ComplEx scores vectors of complex numbers, the real parts before the imaginary ones: their "
                f"size is even; got {list(sizes)}."
            )

    def weigh(self, others: list[tf.Tensor], place: int) -> tf.Tensor:
        (a, b), (c, d) = (tf.split(vector, 2, axis=-1) for vector in others)
        # Re(x conj(y)) is the product of x and y as real vectors: with y = t for x = h r, with y = conj(r) t
        # for x = h, and with y = conj(h) t for x = r.
        real, imaginary = (a * c - b * d, a * d + b * c) if place == 2 else (a * c + b * d, a * d - b * c)
        return tf.concat([real, imaginary], axis=-1)


@keras.saving.register_keras_serializable(package="ltn")
class Table(Scorer):
    """A learned number for each combination of individuals: see `Predicate.table`.

    Args:
        individuals: for each argument the features of the individuals, (k, *features).
        initializer: a Keras initializer of the numbers.
    """

    def __init__(self, individuals: Sequence[Any], initializer: Any = None, **settings: Any):
        super().__init__(**settings)
        self.individuals = tuple(np.asarray(features, np.float32) for features in individuals)
        self.initializer = find_in_keras(
            "initializer", keras.initializers.get, initializer
        ) or keras.initializers.RandomNormal(stddev=0.1)
        self.sizes = tuple(len(features) for features in self.individuals)
        if math.prod(self.sizes) > _MOST_ENTRIES:
            raise LogicValueError(
                f"A table of the sizes {self.sizes} has more than {_MOST_ENTRIES} entries, a gigabyte; "
                "ground the predicate on a network, or on embeddings."
            )
        self.numbers = self.add_weight(shape=self.sizes, initializer=self.initializer, name="numbers")
        self.built = True

    def on_axes(self, terms: Sequence[Term]) -> tf.Tensor:
        if len(terms) != len(self.sizes):
            raise LogicTypeError(f"A table of {len(self.sizes)} arguments got {len(terms)}.")
        order, place = axes.union([term.free_vars for term in terms]), None
        for number, (term, size) in enumerate(zip(terms, self.sizes, strict=True)):
            found = axes.align(self._places(number, term), term.free_vars, order)
            place = found if place is None else place * size + found
        return tf.gather(tf.reshape(tf.convert_to_tensor(self.numbers), [-1]), place)

    def _places(self, number: int, term: Term) -> tf.Tensor:
        """Where the individuals of a term stand in the table, over its axes."""
        known = self.individuals[number]
        if known.shape[1:] == (1,):
            order = np.argsort(known[:, 0])
            numbers = tf.squeeze(term.tensor, axis=-1)
            places = tf.searchsorted(tf.constant(known[order, 0]), tf.reshape(numbers, [-1]))
            places = tf.gather(order.astype(np.int32), tf.minimum(places, len(known) - 1))
            places = tf.reshape(places, tf.shape(numbers))
        else:
            apart = term.tensor[(..., tf.newaxis, *[slice(None)] * (known.ndim - 1))]
            same = tf.reduce_all(tf.equal(apart, known), axis=list(range(1 - known.ndim, 0)))
            places = tf.argmax(same, axis=-1, output_type=tf.int32)
        found = tf.gather(known, places)
        # The difference is 0 where it is one of them.
        check(
            tf.abs(term.tensor - found),
            lambda apart: apart == 0.0,
            f"Argument {number + 1} of a table must be one of its {len(known)} individuals",
            "This is how far from the nearest one it is.",
        )
        return places

    def get_config(self) -> dict[str, Any]:
        settings: dict[str, Any] = super().get_config()
        return settings | {
            "individuals": [features.tolist() for features in self.individuals],
            "initializer": keras.initializers.serialize(self.initializer),
        }


def table_over(domains: Domain | Sequence[Domain], initializer: Any) -> Table:
    """The table for some domains; raise unless they are finite, and their individuals differ."""
    flat = [domains] if isinstance(domains, Domain) else domains
    if not isinstance(flat, list | tuple) or not flat or not all(isinstance(each, Domain) for each in flat):
        raise LogicTypeError(f"A table is over a domain, or a list of domains; got {domains!r}.")
    for domain in flat:
        if domain.features is None:
            raise LogicValueError(
                "A table is over domains that were declared with their individuals, as "
                f"theory.domain('people', values=['Ann', 'Bob']); those of '{domain.name}' have no fixed "
                "features by which it could find them."
            )
        if len(np.unique(domain.features, axis=0)) < len(domain.features):
            raise LogicValueError(
                f"A table finds individuals by their features; some of '{domain.name}' have the same."
            )
    return Table([domain.features for domain in flat], initializer)


def _longest_alone(terms: Sequence[Term]) -> int:
    """The place of a term that shares no axis with the others, the longest one; the last, where all do."""

    def length(place: int) -> tuple[bool, int]:
        own = terms[place]
        others = axes.union([term.free_vars for number, term in enumerate(terms) if number != place])
        sizes = own.tensor.shape[: len(own.free_vars)]
        return bool(own.free_vars) and not set(own.free_vars) & set(others), math.prod(n or 1 for n in sizes)

    return max(reversed(range(len(terms))), key=length)
