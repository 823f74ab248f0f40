"""Refutation: the search for groundings that satisfy a theory and give a formula a low, or a high, truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ltn._private import keep_no_graph
from ltn.errors import LogicValueError
from ltn.knowledge import questions
from ltn.knowledge.initialisation import values_of
from ltn.knowledge.questions import Question
from ltn.knowledge.satisfaction import satisfaction
from ltn.language import Node
from ltn.reasoning.grounding import Learner

# A compiled call runs this many steps before it reports progress and can be interrupted.
_STEPS_PER_CALL = 50
# The search must reach this much more than q, so that the same grounding evaluated eagerly reaches q too.
_ROUNDING = 1e-6
# A search that ends below q had too weak a penalty: it becomes this many times stronger, at most this often.
_STRONGER, _MORE_ROUNDS = 10.0, 2
# Steps that put the formula first have a penalty this many times weaker.
_WEAKER = 100.0

Progress = Callable[[int, np.ndarray], None]


class Goal(NamedTuple):
    """What is looked for: groundings with G(K) >= q, and among them the lowest direction * G(phi).

    `direction` is 1 for the lowest value of the formula, -1 for the highest; with 0 the formula is
    ignored, and the highest G(K) is best.
    """

    direction: float
    q: float
    alpha: float
    beta: float
    slack: float = 1.0


class Loss(NamedTuple):
    """What is minimised: a sum of terms with these factors.

    The terms are G(phi); elu(alpha, beta (q - G(K))); the loss of learning; and the mean of the losses that
    learning each axiom alone would have.
    """

    formula: float = 0.0
    penalty: float = 0.0
    learning: float = 0.0
    axioms: float = 0.0


class Values(NamedTuple):
    """What a grounding gives: G(K), G(phi), and the losses of learning."""

    satisfaction: tf.Tensor
    formula: tf.Tensor
    learning: tf.Tensor
    axioms: tf.Tensor


class BestGrounding(NamedTuple):
    """The best grounding of one run.

    Attributes:
        weights: the learned weights, in the order of the theory's trainable variables.
        satisfaction: G(K), the satisfaction of the axioms.
        value: G(phi), the truth of the formula.
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

    def __init__(self, theory: Learner, formula: Node, question: Question, optimizer: Any):
        self._theory = theory
        self._formula = formula
        self._question = question
        self._weights = list(theory.trainable_variables)
        self._point = [_twin(weight) for weight in self._weights]
        self._best = [_twin(weight) for weight in self._weights]
        self._score = tf.Variable(np.inf, trainable=False)
        self._reached = tf.Variable([0.0, 0.0], trainable=False)
        self._optimizer = optimizer
        optimizer.build(self._point)
        self._at_start = values_of(optimizer.variables)
        # TensorFlow would warn of many traces of one function, if it did not get a concrete one.
        self._descend = tf.function(self._descent, autograph=False).get_concrete_function(
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([len(Goal._fields)]),
            tf.TensorSpec([len(Loss._fields)]),
            dict(question.data or {}),
        )

    def run(
        self,
        start: Sequence[np.ndarray],
        goal: Goal,
        steps: int,
        progress: Progress = lambda steps, curve: None,
        formula_first: bool = False,
    ) -> BestGrounding:
        """Search from one starting point.

        With `formula_first` some steps under a weak penalty lead to where the formula has the value that is
        looked for; from there the axioms are satisfied. Else the axioms come first, and the formula after
        them. If the satisfaction does not stay at q, learning leads there if anything does, and the search
        goes on with a stronger penalty.
        """
        self._score.assign(np.inf)
        self._reached.assign([-np.inf, np.nan])
        curves: list[np.ndarray] = []

        def descend(start: Sequence[np.ndarray], goal: Goal, loss: Loss, steps: int) -> None:
            curves.extend(self._round(start, goal, loss, steps, progress))

        origin = start
        learn = goal.direction == 0.0
        loss = Loss(learning=1.0) if learn else Loss(formula=goal.direction, penalty=1.0)
        if formula_first:
            descend(start, goal._replace(beta=goal.beta / _WEAKER), loss, max(1, steps // 3))
            start = values_of(self._point)
        descend(start, goal, loss, steps)
        if not np.isfinite(self._score.numpy()):
            raise LogicValueError(
                f"The satisfaction of the theory or the truth of `{self._formula}` is not a number at a "
                "starting point, nor at the steps from there."
            )
        for _ in range(0 if learn else _MORE_ROUNDS):
            ended_at = curves[-1][-1, 1]
            if self._is_satisfied(goal) and ended_at > goal.q - (1.0 - goal.q) / 2.0:
                break
            if not self._is_satisfied(goal):
                # Begin again: weights that the formula has saturated may have no gradient. Learn each axiom
                # alone, too: some aggregators are flat while several axioms are false.
                descend(origin, goal, Loss(learning=1.0, axioms=1.0), steps)
                if not self._is_satisfied(goal):
                    break
            goal = goal._replace(beta=goal.beta * _STRONGER)
            descend(values_of(self._best), goal, loss, steps)
        reached, value = self._reached.numpy().tolist()
        return BestGrounding(values_of(self._best), reached, value, np.concatenate(curves))

    def evaluate(self, weights: Sequence[np.ndarray]) -> Values:
        """What a grounding gives, computed eagerly, where values are checked."""
        with keras.StatelessScope(state_mapping=list(zip(self._weights, weights, strict=True))):
            return evaluate_theory(self._theory, self._formula, self._question)

    def _is_satisfied(self, goal: Goal) -> bool:
        return bool(self._reached[0] >= goal.q)

    def _round(
        self, start: Sequence[np.ndarray], goal: Goal, loss: Loss, steps: int, progress: Progress
    ) -> list[np.ndarray]:
        for variable, value in zip(self._point, start, strict=True):
            variable.assign(value)
        for variable, value in zip(self._optimizer.variables, self._at_start, strict=True):
            variable.assign(value)
        settings = (
            tf.constant(goal, tf.float32),
            tf.constant(loss, tf.float32),
            dict(self._question.data or {}),
        )
        curves = []
        for done in range(0, steps, _STEPS_PER_CALL):
            count = min(_STEPS_PER_CALL, steps - done)
            curves.append(self._descend(tf.constant(count, tf.int32), *settings).numpy())
            progress(count, curves[-1])
        return curves

    def _descent(
        self, steps: tf.Tensor, goal: tf.Tensor, loss: tf.Tensor, data: Mapping[str, tf.Tensor]
    ) -> tf.Tensor:
        curve = tf.TensorArray(tf.float32, steps, element_shape=(3,))

        def step(number: tf.Tensor, curve: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            row = self._step(Goal(*tf.unstack(goal)), loss, data)
            return number + 1, curve.write(number, row)

        _, curve = tf.while_loop(lambda number, _: number < steps, step, (tf.constant(0), curve))
        return curve.stack()

    def _step(self, goal: Goal, factors: tf.Tensor, data: Mapping[str, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            pairs = zip(self._weights, self._point, strict=True)
            mapping = [(own, tf.convert_to_tensor(point.value)) for own, point in pairs]
            with keras.StatelessScope(state_mapping=mapping):
                found = evaluate_theory(self._theory, self._formula, self._question._replace(data=data))
            penalty = elu(goal.q - found.satisfaction, goal.alpha, goal.beta)
            terms = Loss(found.formula, penalty, found.learning, found.axioms)
            loss = tf.reduce_sum(factors * tf.stack(terms))
        self._keep_best(goal, found.satisfaction, found.formula)
        gradients = zip(tape.gradient(loss, [v.value for v in self._point]), self._point, strict=True)
        # A weight on which neither the axioms nor the formula depend has no gradient.
        moved = [pair for pair in gradients if pair[0] is not None]
        if moved:
            with keep_no_graph():
                self._optimizer.apply_gradients(moved)
        return tf.stack([loss, found.satisfaction, found.formula])

    def _keep_best(self, goal: Goal, reached: tf.Tensor, value: tf.Tensor) -> None:
        """Keep the grounding that is best by the crisp constraint that the penalty approximates."""
        refutes = tf.cast((goal.direction > 0.0) & (value < level(reached, goal.q, goal.slack)), tf.float32)
        # A truth value is at most 1: counterexamples come first, then what satisfies the axioms.
        satisfying = goal.direction * value - refutes
        constrained = tf.where(reached >= goal.q + _ROUNDING, satisfying, 2.0 + goal.q - reached)
        score = tf.where(goal.direction == 0.0, -reached, constrained)
        # What is not finite is never kept.
        score = tf.where(tf.math.is_finite(reached + value), score, np.inf)

        def keep() -> tf.Tensor:
            self._score.assign(score)
            self._reached.assign([reached, value])
            for best, point in zip(self._best, self._point, strict=True):
                best.assign(point.value)
            return tf.constant(True)

        better = (score < self._score) | ((score == self._score) & (reached > self._reached[0]))
        tf.cond(better, keep, lambda: tf.constant(False))


def level(satisfaction: Any, q: float, slack: float) -> tf.Tensor:
    """The truth value below which a formula counts as false, at some satisfaction of the axioms.

    Its error must be more than `slack` times that of the axioms, unless it is below 0.5; and, by the paper's
    definition, it must be below q.
    """
    return tf.minimum(tf.maximum(1.0 - slack * (1.0 - satisfaction), 0.5), q)


def evaluate_theory(theory: Learner, formula: Node, question: Question) -> Values:
    """What the present grounding of a theory gives."""
    evaluation = questions.evaluation_for(theory, question)
    space = evaluation.space
    axioms = [axiom for axiom in theory.axiom_list if axiom.active]
    found = satisfaction(axioms, lambda axiom: questions.options_of(theory, axiom, question), evaluation)
    [value] = evaluation.ground([formula])
    alone = tf.reduce_mean([space.loss(axiom) for axiom in found.axioms])
    return Values(space.truth(found.total), space.truth(value.tensor), space.loss(found.total), alone)


def _twin(weight: Any) -> keras.Variable:
    # From an array: from the tf.Variable inside, Keras would not make a new variable.
    twin = keras.Variable(weight.value.numpy(), trainable=True, dtype=weight.dtype, name=weight.name)
    twin.constraint = weight.constraint
    return twin


def elu(x: Any, alpha: float = 0.05, beta: float = 10.0) -> tf.Tensor:
    """The soft constraint of reasoning by refutation, elu(alpha, beta x).

        beta x              where x >= 0
        alpha (exp(x) - 1)  else

    For x = q - G(K) it drives the satisfaction of the axioms up to q with the slope `beta`, and leaves a
    slope of at most `alpha` beyond, so that gradients do not vanish there.

    Args:
        x: numbers of any shape.
        alpha: at least 0, low.
        beta: at least 0, high.

    Returns:
        A tensor of the shape of `x`.

    >>> import ltn
    >>> ltn.reasoning.elu([-0.1, 0.0, 0.1]).numpy().round(4)
    array([-0.0048, 0. , 1. ], dtype=float32)
    """
    x = tf.convert_to_tensor(x, tf.float32)
    # The branch that is not taken must not overflow: its gradient would be 0 times infinity.
    return tf.where(x >= 0.0, beta * x, alpha * tf.math.expm1(tf.minimum(x, 0.0)))
