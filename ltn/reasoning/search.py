"""The search for groundings that satisfy a theory and give a formula a low, or a high, truth value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ltn.errors import LogicValueError
from ltn.language import Node
from ltn.reasoning.penalty import elu
from ltn.reasoning.starts import values_of
from ltn.theory import queries
from ltn.theory.queries import Question
from ltn.theory.satisfaction import satisfaction

if TYPE_CHECKING:
    from ltn.theory import Theory

# What a compiled call runs before it reports progress and can be interrupted.
_STEPS_PER_CALL = 50
# The search must reach this much more than q, so that the same grounding evaluated eagerly reaches q too.
_ROUNDING = 1e-6
# While a search ends below q its penalty was too weak, and becomes this many times stronger, this often.
_STRONGER, _MORE_ROUNDS = 10.0, 2
# The penalty of the steps that look at the formula first is this many times weaker.
_WEAKER = 100.0


class Goal(NamedTuple):
    """What is looked for: groundings with G(K) >= q, and among them the lowest direction * G(phi).

    `direction` is 1 for the lowest value of the formula, -1 for the highest; with 0 the formula is not
    looked at, and the highest G(K) is best. The loss is direction * G(phi) + elu(alpha, beta (q - G(K))), or
    with `learning` that of learning.
    """

    direction: float
    q: float
    alpha: float
    beta: float
    learning: bool = False


class Found(NamedTuple):
    """The best grounding of one run.

    Attributes:
        weights: in the order of the theory's trainable variables.
        satisfaction: of the axioms, G(K).
        value: of the formula, G(phi).
        curve: (steps, 3), the loss, the satisfaction and the value at each step.
    """

    weights: list[np.ndarray]
    satisfaction: float
    value: float
    curve: np.ndarray


class Search:
    """Gradient descent on weights of its own, compiled once for all starting points.

    The theory is evaluated as a function of these weights: its own are not touched.
    """

    def __init__(self, theory: Theory, formula: Node, asked: Question, optimizer: Any):
        self._theory = theory
        self._formula = formula
        self._asked = asked
        self._weights = list(theory.trainable_variables)
        self._point = [_twin(weight) for weight in self._weights]
        self._best = [_twin(weight) for weight in self._weights]
        self._score = tf.Variable(np.inf, trainable=False)
        self._reached = tf.Variable([0.0, 0.0], trainable=False)
        self._optimizer = optimizer
        optimizer.build(self._point)
        self._at_start = values_of(optimizer.variables)
        self._descend = tf.function(self._descent, autograph=False)

    def run(
        self,
        start: Sequence[np.ndarray],
        goal: Goal,
        steps: int,
        progress: Callable[[int, np.ndarray], None] = lambda steps, curve: None,
        formula_first: bool = False,
    ) -> Found:
        """Search from one starting point.

        With `formula_first` some steps under a weak penalty lead to where the formula has the value that is
        looked for; from there the axioms are satisfied. Else the axioms come first, and the formula after
        them. Where the satisfaction does not stay at q, learning leads there if anything does, and the
        search goes on with a stronger penalty.
        """
        self._score.assign(np.inf)
        curves: list[np.ndarray] = []

        def descend(start: Sequence[np.ndarray], goal: Goal, steps: int) -> None:
            curves.extend(self._round(start, goal, steps, progress))

        if formula_first:
            descend(start, goal._replace(beta=goal.beta / _WEAKER), max(1, steps // 3))
            start = values_of(self._point)
        descend(start, goal, steps)
        for _ in range(0 if goal.learning else _MORE_ROUNDS):
            ended_at = curves[-1][-1, 1]
            if self._is_satisfied(goal) and ended_at > goal.q - (1.0 - goal.q) / 2.0:
                break
            if not self._is_satisfied(goal):
                descend(values_of(self._best), goal._replace(learning=True), steps)
                if not self._is_satisfied(goal):
                    break
            goal = goal._replace(beta=goal.beta * _STRONGER)
            descend(values_of(self._best), goal, steps)
        if not np.isfinite(self._score.numpy()):
            raise LogicValueError(
                f"The satisfaction of the theory or the truth of `{self._formula}` is not a number under "
                "newly initialised groundings."
            )
        reached, value = self._reached.numpy().tolist()
        return Found(values_of(self._best), reached, value, np.concatenate(curves))

    def _is_satisfied(self, goal: Goal) -> bool:
        return bool(self._reached[0] >= goal.q)

    def _round(
        self,
        start: Sequence[np.ndarray],
        goal: Goal,
        steps: int,
        progress: Callable[[int, np.ndarray], None],
    ) -> list[np.ndarray]:
        for variable, value in zip(self._point, start, strict=True):
            variable.assign(value)
        for variable, value in zip(self._optimizer.variables, self._at_start, strict=True):
            variable.assign(value)
        objective = tf.constant(goal, tf.float32)
        curves = []
        for done in range(0, steps, _STEPS_PER_CALL):
            count = min(_STEPS_PER_CALL, steps - done)
            curves.append(self._descend(tf.constant(count), objective).numpy())
            progress(count, curves[-1])
        return curves

    def _descent(self, steps: tf.Tensor, objective: tf.Tensor) -> tf.Tensor:
        curve = tf.TensorArray(tf.float32, steps, element_shape=(3,))

        def step(number: tf.Tensor, curve: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            return number + 1, curve.write(number, self._step(Goal(*tf.unstack(objective))))

        _, curve = tf.while_loop(lambda number, _: number < steps, step, (tf.constant(0), curve))
        return curve.stack()

    def _step(self, goal: Goal) -> tf.Tensor:
        with tf.GradientTape() as tape:
            mapping = [
                (w, tf.convert_to_tensor(v.value)) for w, v in zip(self._weights, self._point, strict=True)
            ]
            with keras.StatelessScope(state_mapping=mapping):
                reached, value, learning = evaluated(self._theory, self._formula, self._asked)
            reasoning = goal.direction * value + elu(goal.q - reached, goal.alpha, goal.beta)
            loss = tf.where(goal.learning > 0.0, learning, reasoning)
        self._keep_best(goal, reached, value)
        gradients = zip(tape.gradient(loss, [v.value for v in self._point]), self._point, strict=True)
        # A weight on which neither the axioms nor the formula depend has no gradient.
        moved = [pair for pair in gradients if pair[0] is not None]
        if moved:
            self._optimizer.apply_gradients(moved)
        return tf.stack([loss, reached, value])

    def _keep_best(self, goal: Goal, reached: tf.Tensor, value: tf.Tensor) -> None:
        """Keep the grounding that is best by the crisp constraint that the penalty approximates."""
        satisfied = reached >= goal.q + _ROUNDING
        constrained = tf.where(satisfied, goal.direction * value, 2.0 + goal.q - reached)
        score = tf.where(goal.direction == 0.0, -reached, constrained)
        # What is no number is never kept.
        score = tf.where(tf.math.is_finite(reached + value), score, np.inf)

        def keep() -> tf.Tensor:
            self._score.assign(score)
            self._reached.assign([reached, value])
            for best, point in zip(self._best, self._point, strict=True):
                best.assign(point.value)
            return tf.constant(True)

        better = (score < self._score) | ((score == self._score) & (reached > self._reached[0]))
        tf.cond(better, keep, lambda: tf.constant(False))


def evaluated(theory: Theory, formula: Node, asked: Question) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The satisfaction of the axioms, the truth of the formula, and the loss of learning."""
    evaluation = queries.evaluation_for(theory, asked)
    space = evaluation.space
    axioms = theory.axiom_list
    found = satisfaction(axioms, lambda axiom: queries.options_of(theory, axiom, asked), evaluation)
    [value] = evaluation.ground([space.prepared(formula)])
    return space.truth(found.total), space.truth(value.tensor), space.loss(found.total)


def _twin(weight: Any) -> keras.Variable:
    twin = keras.Variable(weight.value, trainable=True, dtype=weight.dtype, name=weight.name)
    twin.constraint = weight.constraint
    return twin
