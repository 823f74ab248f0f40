"""A Keras layer at the end of a classifier: its outputs break no implication, and other clauses less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ltn.checks import check_choice, check_layer_name, check_whole
from ltn.errors import LogicTypeError, LogicValueError
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.questions import Knowledge
from ltn.repair.order import Order
from ltn.repair.parallel import Refinement
from ltn.repair.repair import check_q
from ltn.repair.row_rules import RowRules
from ltn.repair.rules import chosen

# Of outputs for each row the nearest ones take a search, which no graph has.
DIRECTIONS = ("raise", "lower")


@keras.saving.register_keras_serializable(package="ltn")
class Repair(keras.Layer):
    """Outputs of a classifier, (..., columns), that break no implication between them, whatever comes in.

    With "raise" an output is the maximum over all columns that imply it, the coherent maximum of C-HMCNN:

        y_b = max {x_a : a ->* b}

    with "lower" the minimum over all that it implies. An output is one of the inputs: coherence is exact in
    every precision; and since a sigmoid is monotone, the layer may stand before it, or behind. Gradients go
    to the input that an output is, or to equal ones in parts.

    Other clauses are refined, for truths in [0, 1]: in each of some `rounds` each broken clause asks for its
    smallest change to be true to `q`, and for each column the largest that is asked for is made. Most are
    satisfied then, and none for certain: that takes the search of `theory.repair`.

    The columns are those of a predicate of a row and a known individual, as `is(x, c)`, in the order of the
    individuals; or of predicates of a row, as `dog(x)`, in the order of the outputs of the network that they
    are heads of, or else in that of their declaration.

    Args:
        theory: its axioms are the rules, as those of `theory.repair`; here they say the same of each row.
            The layer keeps what they say now, and not the theory.
        direction: "raise" or "lower".
        axioms: the rules, by name; all that are active by default.
        q: how true clauses are to be that are no implications between atoms.
        rounds: how often these are refined.
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
        theory: Knowledge | RowRules,
        direction: str = "raise",
        axioms: Sequence[str | Axiom] | None = None,
        q: float = 0.95,
        rounds: int = 10,
        **kwargs: Any,
    ):
        check_layer_name(kwargs.get("name"))
        super().__init__(**kwargs)
        self.direction = check_choice("direction", direction, DIRECTIONS)
        if not isinstance(theory, RowRules):
            if not hasattr(theory, "axiom_list"):
                raise LogicTypeError(f"`theory` must be an ltn.Theory; got {theory!r}.")
            theory = RowRules.of(theory, chosen(theory, axioms))
        self.rules: RowRules = theory
        self.q = check_q(q)
        self.rounds = check_whole("rounds", rounds, "a number of rounds", least=0)
        pairs = [(a, b) if direction == "raise" else (b, a) for a, b in self.rules.pairs]
        self._steps = Steps(Order(self.rules.columns, pairs))
        self._refinement = Refinement(self.rules, self.q) if self.rules.clauses else None

    def build(self, input_shape: Any) -> None:
        """Check the number of columns."""
        if len(input_shape) < 2 or input_shape[-1] != self.rules.columns:
            raise LogicValueError(
                f"The rules are about {self.rules.columns} outputs, so that the classifier must return "
                f"the shape (n, {self.rules.columns}); got {tuple(input_shape)}."
            )
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        """The repaired outputs, of the shape of the inputs."""
        values = tf.transpose(tf.reshape(inputs, [-1, self.rules.columns]))
        if self._refinement is not None:
            for _ in range(self.rounds):
                values = self._refinement.apply(self._coherent(values))
        found = tf.reshape(tf.transpose(self._coherent(values)), tf.shape(inputs))
        return tf.ensure_shape(found, inputs.shape)

    def _coherent(self, values: tf.Tensor) -> tf.Tensor:
        """Coherent values, (columns, rows)."""
        if self._steps.are_none:
            return values
        return self._steps.maxima(values) if self.direction == "raise" else -self._steps.maxima(-values)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The rules as columns, and how they are kept."""
        own = {
            "rules": self.rules.get_config(),
            "direction": self.direction,
            "q": self.q,
            "rounds": self.rounds,
        }
        return super().get_config() | own

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Repair:
        """The layer of a configuration."""
        rest = {name: value for name, value in config.items() if name != "rules"}
        return cls(RowRules.from_config(config["rules"]), **rest)


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
