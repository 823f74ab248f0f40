"""`theory.repair`: the truths nearest to those of the networks that satisfy the rules."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ltn.checks import check_choice
from ltn.errors import LogicValueError
from ltn.knowledge import questions
from ltn.knowledge.axioms import Axiom
from ltn.knowledge.data import Data
from ltn.knowledge.questions import Knowledge, Question
from ltn.repair.decoding import Decoder
from ltn.repair.logics import logic_of
from ltn.repair.order import DIRECTIONS
from ltn.repair.repaired import Repaired
from ltn.repair.rules import chosen, ground
from ltn.repair.solving import Aim, solve
from ltn.semantics import BaseSemantics


def repair(
    theory: Knowledge,
    data: Data | None = None,
    *,
    q: float = 0.95,
    direction: str = "nearest",
    decode: str | None = None,
    axioms: Sequence[str | Axiom] | None = None,
    time_limit: float = 60.0,
    semantics: BaseSemantics | str | None = None,
    **named: Any,
) -> Repaired:
    """The truths nearest to those of the networks that satisfy the rules.

    The rules are axioms: universal quantifiers over known or given individuals, and behind them formulas
    without functions of learned truths. They are ground into clauses. Facts count: relations, comparisons,
    and predicates without weights that return booleans are not repaired. A rule is satisfied to q where

        a <= b                          of an implication a -> b between atoms, whatever q
        S(l_1, ..., l_k) >= q           of any other clause, with literals l_i

    with S the maximum, 1 - (1 - l_1) ... (1 - l_k), or min(1, l_1 + ... + l_k): that of the semantics'
    conjunction. (Where a <= b the residuum of each of the three is 1.) Whatever the networks say:

    - Rules that some true and false labels satisfy are all satisfied to q afterwards.
    - Outputs do not change where no rule that they hang together with is broken.
    - Where outputs hang together by implications between atoms alone, the result is exact: it has the
      `direction`. Others are refined: each broken clause in turn gets the smallest sum of changes. If after
      50 rounds one is still broken, labels that satisfy all are searched, and literals move towards them.
    - Where rules exclude each other, one of each conflict is given up, and `conflicts` tells.
    - The search takes back 100 000 decisions at most. What it has not decided then, `undecided` tells.

    Args:
        theory: the theory.
        data: as for `query`.
        q: how true the rules are to be, above 0.5 up to 1.
        direction: of coherent truths, "raise" takes the least that are not below the networks' own, the
            maximum over all that imply an atom; "lower" the greatest that are not above; "nearest" those of
            the smallest sum of squared changes, isotonic regression.
        decode: "crisp" for the most likely labels, 0 and 1, that break no rule, taking outputs as
            independent; it needs SciPy. None for truths.
        axioms: the rules, by name; all that are active by default.
        time_limit: how many seconds the search for labels takes at most, for all of the data.
        semantics: other operators than those of training.
        named: further data by the name of the variable.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> classes = theory.domain("classes", values=["animal", "dog"])
    >>> images = theory.domain("images", shape=2)
    >>> x, c = theory.variable("x", images), theory.variable("c", classes)
    >>> is_ = theory.predicate("is", (images, classes), ltn.Predicate.FromProbabilities(lambda args: args[0]))
    >>> theory.axiom("forall x: is(x, dog) -> is(x, animal)", name="dogs")
    Axiom(dogs: forall x: is(x, dog) -> is(x, animal))
    >>> repaired = theory.repair({"x": [[0.25, 0.75], [0.75, 0.5]]}, direction="raise")
    >>> repaired["is"].to_frame()
    c  animal   dog
    x
    0    0.75  0.75
    1    0.75  0.50
    >>> repaired.changes
      predicate  individuals  from    to axiom
    0        is  (0, animal)  0.25  0.75  dogs
    """
    check_q(q)
    check_choice("direction", direction, DIRECTIONS)
    if decode is not None and decode != "crisp":
        raise LogicValueError(f'`decode` must be "crisp", or None for truths; got {decode!r}.')
    decoder = None if decode is None else Decoder(time_limit)
    rules_of = chosen(theory, axioms)
    evaluation = questions.evaluation_for(theory, Question(data, semantics, None, named))
    logic = logic_of(evaluation.space.semantics)
    rules = ground(evaluation, rules_of)
    before = rules.outputs.truths(evaluation, rules.world)
    weights = np.array([part.axiom.weight for part in rules.parts], float)
    aim = Aim(logic, float(q), direction, weights)
    solution = solve(rules.clauses, before, aim, None if decoder is None else decoder.labels)
    return Repaired(rules, before, solution, aim, None if decoder is None else decoder.gap)


def check_q(q: Any) -> float:
    """The truth that rules are to have; raise unless it is one."""
    is_number = isinstance(q, numbers.Real) and not isinstance(q, bool)
    if not is_number or not 0.5 < q <= 1.0:
        raise LogicValueError(f"`q` must be a number above 0.5, and at most 1; got {q!r}.")
    return float(q)
