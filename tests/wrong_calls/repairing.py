# ruff: noqa: E501
"""Repairs: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

# A theory of given truths: rows of six numbers, classes a to f.
_RULES = "from tests.repair.rules import theory_of; t = theory_of({axioms!r}); {more}"
_ONE = "t.repair({'x': [[0.5] * 6]})"
_BIG = "m = t.domain('many', values=range({count})); t.variables('m, n, o', m); t.predicate('big', m, lambda v: v[:, 0] / 1e6); "


def rules(*axioms: str, more: str = _ONE) -> str:
    """A call on a theory with some axioms."""
    return _RULES.format(axioms=list(axioms), more=more)


def of_many(count: int, axiom: str, more: str = "") -> str:
    """A repair by an axiom about a large domain."""
    return rules(more=f"{_BIG.format(count=count)}{more}t.axiom({axiom!r}); t.repair()")


ROWS = [
    ("theory.repair(q=0.5)", LogicValueError, "`q` must be a number above 0.5, and at most 1; got 0.5"),
    ("theory.repair(q=True)", LogicValueError, "`q` must be a number above 0.5, and at most 1; got True"),
    ("theory.repair(q='high')", LogicValueError, "`q` must be a number above 0.5, and at most 1; got 'high'"),
    ("theory.repair(direction='up')", LogicValueError, "`direction` must be 'raise' or 'lower' or 'nearest'"),
    ("theory.repair(decode='labels')", LogicValueError, '`decode` must be "crisp", or None for truths'),
    (
        "theory.repair(decode='crisp', time_limit=0)",
        LogicValueError,
        "`time_limit` must be a number of seconds",
    ),
    (
        "theory.repair(axioms='all')",
        LogicTypeError,
        "`axioms` must be a list of the names of axioms; got 'all'",
    ),
    ("theory.repair(axioms=['al'])", LogicValueError, "The theory has no axiom 'al'; did you mean 'all'?"),
    ("theory.repair(axioms=[])", LogicValueError, "There is no axiom to repair by"),
    (
        "theory.repair({'x': points})",
        LogicValueError,
        "The axiom 'code' is Python code, which cannot be ground",
    ),
    (
        rules("forall x: is(x, a)", more="t.repair()"),
        LogicValueError,
        "The axiom 'axiom_1' cannot be ground into clauses: The variable 'x' has no individuals",
    ),
    (
        "theory.repair({'x': points}, axioms=['all'], semantics=ltn.semantics.product.replace(And=lambda a, b: a * b))",
        LogicValueError,
        "Truths are repaired under the minimum, the product or the conjunction of Lukasiewicz",
    ),
    (
        rules("forall x where is(x, a) > 0.5: is(x, b)"),
        LogicValueError,
        "The axiom 'axiom_1' cannot be ground into clauses: `is(x, a) > 0.5` depends on 'is', whose truths are repaired",
    ),
    (
        rules(
            more="t.variable('y', t.signature.domains['rows']); t.axiom('forall x: is(x, a) | (exists y: is(y, b))'); t.repair({'x': [[0.5] * 6], 'y': [[0.5] * 6]})"
        ),
        LogicValueError,
        "in `exists y: is(y, b)` the variable 'y' ranges over data, which only a `forall` at the front does",
    ),
    (
        rules(
            more="r = t.signature.domains['rows']; t.function('g', r, r, lambda v: v); t.axiom('forall x: is(g(x), a)'); t.repair({'x': [[0.5] * 6]})"
        ),
        LogicValueError,
        "`is(g(x), a)` is about `g(x)`, and only variables and constants have outputs that are repaired",
    ),
    (
        rules(
            more="s = t.domain('s', equality='smooth'); t.variables('u, v', s); t.axiom('forall u, v: u = v'); t.repair({'u': [1.0], 'v': [2.0]})"
        ),
        LogicValueError,
        "`u = v` is a smooth equality, whose truth is a degree",
    ),
    (
        of_many(16, "at least 8 m: big(m)"),
        LogicValueError,
        "of one combination of individuals it claims 11,440 clauses or more, above 4,096",
    ),
    (of_many(400, "exists m, n: big(m) | big(n)"), LogicValueError, "has more than 100,000 instances"),
    (
        of_many(12_000, "forall m, n: big(m) | big(n)"),
        LogicValueError,
        "it is about 144,000,000 combinations of individuals, more than 67,108,864",
    ),
    (
        of_many(
            12_000, "forall m, n: pair(m, n)", "t.predicate('pair', (m, m), ltn.Predicate.MLP([1, 1])); "
        ),
        LogicValueError,
        "The rules speak of 144,000,000 outputs, more than 134,217,728",
    ),
    (
        of_many(700, "forall m, n, o: m + n = o | big(m)"),
        LogicValueError,
        "`m + n = o` has 343,000,000 truths, more than 268,435,456",
    ),
    (rules("forall x: is(x, a)", more=f"{_ONE}['has']"), LogicValueError, "Nothing was repaired under 'has'"),
    (rules("forall x: is(x, a)", more=f"{_ONE}[3]"), LogicValueError, "Nothing was repaired under 3"),
    (
        rules(
            more="t.variable('y', t.signature.domains['rows']); t.axiom('forall x, y: is(x, a) | is(y, b)'); t.repair({'x': [[0.5] * 6], 'y': [[0.5] * 6]})['is']"
        ),
        LogicValueError,
        "'is' has outputs for several sources of individuals: ask for one of them by its atom",
    ),
    ("ltn.Repair(3)", LogicTypeError, "`theory` must be an ltn.Theory; got 3"),
    (
        "ltn.Repair(theory, 'nearest')",
        LogicValueError,
        "`direction` must be 'raise' or 'lower'; got 'nearest'",
    ),
    (
        rules("forall x: is(x, a) -> is(x, b)", more="ltn.Repair(t)(tf.zeros((2, 3)))"),
        LogicValueError,
        "so that the classifier must return the shape (n, 6); got (2, 3)",
    ),
    (
        rules(
            more="t.variable('y', t.signature.domains['rows']); t.axiom('forall x, y: is(x, a) -> is(y, a)'); ltn.Repair(t)"
        ),
        LogicValueError,
        "The axiom 'axiom_1' is not about the outputs of one row",
    ),
    (
        rules(
            more="t.predicate('old', t.signature.domains['rows'], lambda r: r[:, 0] > 1.0); t.axiom('forall x where old(x): is(x, a) -> is(x, b)'); ltn.Repair(t)"
        ),
        LogicValueError,
        "What the axiom 'axiom_1' says depends on the data of 'x', and a layer knows outputs only",
    ),
    (
        rules(
            more="t.predicate('old', t.signature.domains['rows'], ltn.Predicate.MLP([6])); t.axiom('forall x: old(x) -> is(x, b)'); ltn.Repair(t)"
        ),
        LogicValueError,
        "The columns of a classifier are the outputs of one predicate of a row and known individuals",
    ),
    (
        "ltn.Repair.from_config({'rules': {'columns': 2, 'pairs': [[0, 2]], 'clauses': [], 'logic': 'min'}})",
        LogicValueError,
        "An implication is between two of 2 columns; got [0, 2]",
    ),
    (
        "ltn.Repair.from_config({'rules': {'columns': 2, 'pairs': [], 'clauses': [[0, 2]], 'logic': 'min'}})",
        LogicValueError,
        "A clause has literals from 1 to 2, or negated; got [0, 2]",
    ),
    (
        "ltn.Repair.from_config({'rules': {'columns': 2, 'pairs': [], 'clauses': [], 'logic': 'max'}})",
        LogicValueError,
        "`logic` must be 'min' or 'product' or 'Lukasiewicz'; got 'max'",
    ),
    (
        rules("forall x: is(x, a) -> is(x, b)", more="ltn.Repair(t, rounds=-1)"),
        LogicValueError,
        "`rounds` must be a number of rounds, at least 0; got -1",
    ),
    ("plot.repair(3)", LogicTypeError, "`repaired` is what theory.repair(data) returned; got 3"),
    (
        rules("forall x: is(x, a)", more=f"plot.repair({_ONE}, most=0)"),
        LogicValueError,
        "`most` is how many rows are drawn",
    ),
    (
        rules("forall x: is(x, a)", more=f"plot.repair({_ONE}, rows=[1])"),
        LogicValueError,
        "`rows` must be the places of rows, whole numbers from 0 to 0; got [1]",
    ),
    (
        rules("forall x: is(x, a)", more=f"t.proposition('A', 0.5); t.axiom('A'); plot.repair({_ONE})"),
        LogicValueError,
        "Several predicates were repaired: name one of is, A",
    ),
]
