"""Ranking: where a true answer stands among all individuals, as link prediction is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ltn import semantics as semantics_module
from ltn.errors import LogicError, LogicTypeError, LogicValueError, NotFiniteError
from ltn.evaluation import batches
from ltn.evaluation.chunks import combinations
from ltn.evaluation.evaluation import Evaluation
from ltn.evaluation.groundings import PLACES
from ltn.evaluation.spaces import space_of
from ltn.knowledge import questions
from ltn.knowledge.data import Data, check_aligned
from ltn.knowledge.facts import numbers_of, read_facts
from ltn.knowledge.questions import Question
from ltn.language import Apply, Comparison, Diagonals, Node, Quantifier
from ltn.language.names import list_names
from ltn.language.writing_out import WrittenOut
from ltn.semantics import BaseSemantics
from ltn.theory.ranks import Ranks
from ltn.theory.reports import ReportedTheory

Numbers = NDArray[np.int64]

# The bytes of a score and of what it is compared with.
_COMPARED = 8


def rank(
    theory: ReportedTheory,
    triples: Any,
    formula: str | Node,
    of: str | Sequence[str],
    filtered_by: Sequence[Any] = (),
    *,
    semantics: BaseSemantics | str | None = None,
    p: float | None = None,
    **named: Any,
) -> Ranks:
    """The rank of each true answer among all individuals of its domain.

    For a row (h, r, t) and `of="t"`, with s the truth of the formula, it is

        1 + |{e : s(h, r, e) > s(h, r, t)}| + |{e != t : s(h, r, e) = s(h, r, t)}| / 2,

    the mean place among those that are equally true. It is filtered if e leaves out all other answers that
    are known to be true of h and r.

    Atoms are compared by the logarithms of their truths, from logits where a network has them, so that
    truths that round to 1 differ; the order is the same under all semantics. Other formulas are compared by
    their values under the operators of the theory. Memory is bounded by `theory.memory_limit`: as many rows
    are ranked at once as fit; where the theory has a `chunk`, they have at most so many combinations of
    individuals, or are a single row.

    Args:
        triples: rows of individuals of which the formula is true, one column for each of its free variables,
            however many: a dictionary or a DataFrame by their names, a data set; or an array, a list of rows,
            a DataFrame without names of columns, or a relation, in the order in which the variables first
            appear.
        formula: any formula with free variables; what it says of the rows is what is ranked.
        of: the free variable whose individuals are ranked; several are ranked one by one.
        filtered_by: further tables of rows that are true, such as those of training, in the same forms. With
            any table the `triples` count as known, too; without one the ranks are raw.
        semantics, p, named: as for `query`; `named` may hold data for variables that the formula binds.

    Returns:
        The ranks in the order of the rows: `.mrr`, `.hits(10)`, `.ranks`, `.to_frame()`.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> people = theory.domain("people", values={"Ann": [1.0], "Bob": [3.0], "Eve": [4.0]})
    >>> x, y = theory.variables("x, y", people)
    >>> near = theory.predicate("near", (people, people), lambda pair: tf.exp(-abs(pair[0] - pair[1])))
    >>> rows = [("Ann", "Bob"), ("Bob", "Eve")]
    >>> theory.rank(rows, "near(x, y)", of="y").to_frame()
         x    y  rank
    0  Ann  Bob   2.0
    1  Bob  Eve   2.0
    >>> theory.rank(rows, "near(x, y)", of="y", filtered_by=[[("Ann", "Ann")]]).ranks
    array([1., 2.])
    """
    tree = questions.read_query(theory, formula)
    signature = theory.signature
    if not signature.sort_of(tree).is_formula:
        raise LogicTypeError(f"Only formulas can be ranked; `{tree}` is a term.")
    free = signature.free_variables(tree)
    ranked = _check_ranked(tree, free, of)
    if not isinstance(filtered_by, list | tuple):
        raise LogicTypeError(
            "`filtered_by` is a list of tables of true rows, as [train, valid]; got a "
            f"{type(filtered_by).__name__}."
        )
    rows = read_facts(signature, tree, triples)
    check_aligned(rows)
    tables = [rows]
    for number, known in enumerate(filtered_by, start=1):
        try:
            tables.append(read_facts(signature, tree, known))
        except LogicError as error:
            raise type(error)(f"In table {number} of `filtered_by`: {error}") from None
    numbers = {}
    for variable in free:
        columns = [table[variable] for table in tables]
        numbers[variable] = numbers_of(signature, variable, columns, variable in ranked)
    ranking = _Ranking(theory, tree, Question(rows, semantics, p, named), numbers)
    found = [ranking.ranks(variable, bool(filtered_by)) for variable in ranked]
    groundings = ranking.evaluation(rows).groundings
    return Ranks(
        str(tree),
        of if isinstance(of, str) else ranked,
        found[0] if isinstance(of, str) else np.stack(found, axis=1),
        bool(filtered_by),
        {variable: questions.shown_individuals(groundings, variable) for variable in free},
    )


@dataclass(frozen=True)
class _Ranking:
    """What is asked of which rows.

    Attributes:
        numbers: for each variable a number for each of its individuals, in the rows and then in the tables
            of what is known.
    """

    theory: ReportedTheory
    tree: Node
    question: Question
    numbers: Mapping[str, Numbers]

    @property
    def rows(self) -> Data:
        """The columns of the rows, by variable."""
        return self.question.data or {}

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.rows.values())))

    @cached_property
    def _written_out(self) -> WrittenOut:
        """The formula without definitions."""
        return self.theory.signature.write_out([self.tree])

    def evaluation(self, data: Data) -> Evaluation:
        """An evaluation for some data."""
        question = self.question._replace(data=data)
        found = questions.evaluation_for(self.theory, question, self.theory.chunk)
        if isinstance(self._written_out.nodes[0], Apply | Comparison):
            # Whatever the operators: an atom has none.
            return found.in_space(space_of(semantics_module.log_product))
        return found

    def ranks(self, of: str, is_filtered: bool) -> NDArray[np.float64]:
        """The ranks of the individuals of a variable, (k,)."""
        signature = self.theory.signature
        size = len(signature.places(signature.variables[of]))
        everyone = {of: tf.cast(tf.range(size), PLACES)}
        others = tuple(variable for variable in self.rows if variable != of)
        asked = _tell_apart([self.numbers[variable] for variable in others], len(self.numbers[of]))
        known = _Known(asked, self.numbers[of], size) if is_filtered else None
        found = []
        for start, count in self._batches(everyone, size):
            stop = start + count
            batch = {variable: self.rows[variable][start:stop] for variable in others}
            scores = self._scores(batch | everyone, of, others)
            scores = np.broadcast_to(scores, (stop - start, size))
            self._check_order(scores, start, of)
            answers = self.numbers[of][start:stop]
            hidden = None if known is None else known.besides(asked[start:stop], answers)
            found.append(_ranks(scores, answers, hidden))
        return np.concatenate(found)

    def _scores(self, data: Data, of: str, others: tuple[str, ...]) -> NDArray[Any]:
        """The values of the formula, (rows, individuals); (individuals,) where no other variable is free."""
        paired = Diagonals(self.tree, (others,)) if len(others) > 1 else self.tree
        [values] = batches.ground(self.evaluation(data), [paired], limit=self.theory.memory_limit)
        return np.moveaxis(values.tensor.numpy(), values.free_vars.index(of), -1)

    def _batches(self, everyone: Data, among: int) -> Iterator[tuple[int, int]]:
        """The first row of each batch, and how many it has."""
        one = {variable: column[:1] for variable, column in self.rows.items()}
        groundings = self.evaluation({**one, **everyone}).groundings
        written_out = self._written_out
        groundings, tree = groundings.with_copies(written_out.copies), written_out.nodes[0]
        for node in tree.walk():
            for variable in node.variables if isinstance(node, Quantifier) else ():
                if groundings.count(variable) is None:
                    raise LogicValueError(groundings.explain_missing(variable))
        others = tuple(variable for variable in self.rows if variable not in everyone)
        size = self._rows_within(everyone, others) if others else self.count
        # The ranks are counted among scores, whatever has given them.
        size = min(size, max(self.theory.memory_limit // (_COMPARED * among), 1))
        if self.theory.chunk is not None:
            # Quantifiers within count theirs for each combination of free variables.
            for_one = max(combinations(groundings, tree, groundings.count), among)
            size = min(size, max(self.theory.chunk // for_one, 1))
        return batches.slices(self.count, size)

    def _rows_within(self, everyone: Data, others: tuple[str, ...]) -> int:
        """How many rows fit into the memory limit together."""
        evaluation = self.evaluation({**self.rows, **everyone})
        paired = Diagonals(self.tree, (others,)) if len(others) > 1 else self.tree
        footprint = batches.footprint_of(evaluation, paired)
        return footprint.rows_within(self.theory.memory_limit, others, sliced=True)

    def _check_order(self, scores: NDArray[Any], start: int, of: str) -> None:
        """Raise for scores that are not numbers."""
        wrong = np.isnan(scores)
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            raise NotFiniteError(
                f"The values of `{self.tree}` are NaN for {wrong[row].sum()} of {wrong.shape[1]} individuals "
                f"of '{of}' in row {start + row}, so they have no order. NaN comes from inputs or weights "
                "that are not finite."
            )


class _Known:
    """The known answers to questions, both as numbers; answers are below `size`."""

    def __init__(self, questions: Numbers, answers: Numbers, size: int):
        self._size = size
        # In order, so that the answers to a question stand together.
        self._pairs = np.unique(questions * size + answers)

    def besides(self, questions: Numbers, answers: Numbers) -> tuple[Numbers, Numbers]:
        """The known answers to some questions without one of each: the row of the question, the answer."""
        first = np.searchsorted(self._pairs, questions * self._size)
        sizes = np.searchsorted(self._pairs, (questions + 1) * self._size) - first
        rows = np.repeat(np.arange(len(questions)), sizes)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        known = self._pairs[first[rows] + within] % self._size
        others = known != answers[rows]
        return rows[others], known[others]


def _ranks(
    scores: NDArray[Any], answers: Numbers, hidden: tuple[Numbers, Numbers] | None
) -> NDArray[np.float64]:
    """The ranks of answers by scores, (rows, individuals), without the hidden individuals of some rows."""
    own = scores[np.arange(len(answers)), answers]
    above = np.count_nonzero(scores > own[:, np.newaxis], axis=1)
    equal = np.count_nonzero(scores == own[:, np.newaxis], axis=1) - 1
    if hidden is not None:
        rows, individuals = hidden
        left_out = scores[rows, individuals]
        above -= np.bincount(rows[left_out > own[rows]], minlength=len(answers))
        equal -= np.bincount(rows[left_out == own[rows]], minlength=len(answers))
    return 1.0 + above + equal / 2.0


def _tell_apart(columns: Sequence[Numbers], count: int) -> Numbers:
    """A number for each of `count` rows, equal for rows that are equal in all columns."""
    found = np.zeros(count, np.int64)
    for column in columns:
        # Below the square of the number of rows, which an int64 holds.
        _, found = np.unique(found * (column.max() + 1) + column, return_inverse=True)
    return found


def _check_ranked(tree: Node, free: Sequence[str], of: Any) -> tuple[str, ...]:
    names = (of,) if isinstance(of, str) else of
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise LogicTypeError(f'`of` is a variable, as "t", or several, as ("h", "t"); got {of!r}.')
    for name in names:
        if name not in free or names.count(name) > 1:
            raise LogicValueError(
                f"`of` names distinct free variables of `{tree}`, which are "
                f"{list_names(free) if free else 'none'}; got {of!r}."
            )
    return tuple(names)
