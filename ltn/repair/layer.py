"""A Keras layer at the end of a classifier whose outputs then break no implication."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn.checks import check_choice, check_layer_name
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.questions import Knowledge
from ltn.repair.grounding import chosen
from ltn.repair.hierarchy import Hierarchy
from ltn.repair.order import Order

# Of outputs for each row the nearest ones take a search, which no graph has.
DIRECTIONS = ("raise", "lower")


@keras.saving.register_keras_serializable(package="ltn")
class Repair(keras.Layer):
    """Outputs of a classifier, (..., columns), that break no implication between them, whatever comes in.

    With "raise" an output is the maximum over all columns that imply it, the coherent maximum of C-HMCNN:

        y_b = max {x_a : a ->* b}

    with "lower" the minimum over all that it implies. An output is one of the inputs: coherence is exact in
    every precision; and since a sigmoid is monotone, the layer may stand before it, or behind.
    Gradients go to the input that an output is, or to equal ones in parts.

    The columns are those of a predicate of a row and a known individual, as `is(x, c)`, in the order of the
    individuals; or of predicates of a row, as `dog(x)`, in the order of the outputs of the network that they
    are heads of, or else in that of their declaration.

    Args:
        theory: its axioms are the rules, as those of `theory.repair`; here they are implications between
            outputs of a row. The layer keeps what they say now, and not the theory.
        direction: "raise" or "lower".
        axioms: the rules, by name; all that are active by default.
        kwargs: of every Keras layer, as `name`.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> classes = theory.domain("classes", values=["animal", "dog", "cat"])
    >>> images = theory.domain("images", shape=2)
    >>> x, c, d = theory.variable("x", images), *theory.variables("c, d", classes)
    >>> classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "sigmoid")])
    >>> is_ = theory.predicate("is", (images, classes), ltn.Predicate.FromProbabilities(classifier))
    >>> subclass = theory.relation("subclass", (classes, classes), [("dog", "animal"), ("cat", "animal")])
    >>> axiom = theory.axiom("forall x, c, d where subclass(c, d): is(x, c) -> is(x, d)")
    >>> layer = ltn.Repair(theory)
    >>> layer(tf.constant([[0.25, 0.75, 0.5], [0.75, 0.0, 0.5]])).numpy().tolist()
    [[0.75, 0.75, 0.5], [0.75, 0.0, 0.5]]
    >>> model = keras.Sequential([classifier, layer])
    """

    def __init__(
        self,
        theory: Knowledge | Hierarchy,
        direction: str = "raise",
        axioms: Sequence[str | Axiom] | None = None,
        **kwargs: Any,
    ):
        check_layer_name(kwargs.get("name"))
        super().__init__(**kwargs)
        self.direction = check_choice("direction", direction, DIRECTIONS)
        if not isinstance(theory, Hierarchy):
            if not hasattr(theory, "axiom_list"):
                raise LogicTypeError(f"`theory` must be an ltn.Theory; got {theory!r}.")
            theory = Hierarchy.of(theory, chosen(theory, axioms))
        self.hierarchy: Hierarchy = theory
        pairs = [(a, b) if direction == "raise" else (b, a) for a, b in self.hierarchy.pairs]
        self._steps = Steps(Order(self.hierarchy.columns, pairs))

    def build(self, input_shape: Any) -> None:
        """Check the number of columns."""
        if len(input_shape) < 2 or input_shape[-1] != self.hierarchy.columns:
            raise LogicValueError(
                f"The rules are about {self.hierarchy.columns} outputs, so that the classifier must return "
                f"the shape (n, {self.hierarchy.columns}); got {tuple(input_shape)}."
            )
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        """The outputs that break no implication, of the shape of the inputs."""
        if self._steps.are_none:
            return tf.identity(inputs)
        sign = 1.0 if self.direction == "raise" else -1.0
        values = tf.cast(sign, inputs.dtype) * inputs
        columns = self.hierarchy.columns
        found = self._steps.maxima(tf.transpose(tf.reshape(values, [-1, columns])))
        found = tf.reshape(tf.transpose(found), tf.shape(inputs))
        return tf.ensure_shape(tf.cast(sign, inputs.dtype) * found, inputs.shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The rules as pairs of columns, and the direction."""
        rules = {"rules": self.hierarchy.get_config(), "direction": self.direction}
        return super().get_config() | rules

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Repair:
        """The layer of a configuration."""
        rest = {name: value for name, value in config.items() if name not in ("rules", "direction")}
        return cls(Hierarchy.from_config(config["rules"]), config["direction"], **rest)


class Steps:
    """The maxima over all that imply a column, level by level: a fixed number of gathers.

    A level holds the groups of columns whose antecedents lie on levels before it. Those with about as many
    antecedents are computed together, in few operations that waste little.
    """

    def __init__(self, order: Order):
        group, count = order.group, len(order.sizes)
        antecedents: list[list[int]] = [[] for _ in range(count)]
        for a, b in order.pairs:
            antecedents[b].append(a)
        level = [0] * count
        for number, before in enumerate(antecedents):
            level[number] = max((level[each] + 1 for each in before), default=0)
        kind = [(level[each], _magnitude(len(antecedents[each]))) for each in range(count)]
        by_kind: dict[tuple[int, int], list[int]] = {}
        for number in sorted(range(count), key=lambda number: kind[number]):
            by_kind.setdefault(kind[number], []).append(number)
        places = {
            number: place for place, number in enumerate(each for own in by_kind.values() for each in own)
        }
        members = [np.flatnonzero(group == number).tolist() for number in places]
        self.are_none = order.is_trivial
        # The columns of each group, in order of computation; the first repeated where there are fewer.
        self._members = _table(members)
        self._levels = [
            _table([[places[each] for each in antecedents[number]] for number in own])
            for (depth, _), own in by_kind.items()
            if depth
        ]
        self._first = sum(len(own) for (depth, _), own in by_kind.items() if not depth)
        self._order = np.array([places[int(number)] for number in group], np.int32)

    def maxima(self, values: tf.Tensor) -> tf.Tensor:
        """The maxima of values, (columns, rows)."""
        own = tf.gather(values, self._members[:, 0])
        for column in range(1, self._members.shape[1]):
            own = tf.maximum(own, tf.gather(values, self._members[:, column]))
        done, start = own[: self._first], self._first
        for table in self._levels:
            raised = own[start : start + len(table)]
            raised = tf.maximum(raised, tf.reduce_max(tf.gather(done, table), axis=1))
            done, start = tf.concat([done, raised], axis=0), start + len(table)
        return tf.gather(done, self._order)


def _magnitude(count: int) -> int:
    """0 for one antecedent or none, 1 up to 4, 2 up to 16, and so on."""
    return ((max(count, 1) - 1).bit_length() + 1) // 2


def _table(rows: Sequence[Sequence[int]]) -> Any:
    """The rows as one array; the first entry of each fills it up."""
    width = max(map(len, rows))
    return np.array([[*row, *[row[0]] * (width - len(row))] for row in rows], np.int32)
