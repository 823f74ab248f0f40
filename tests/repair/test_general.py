"""General clauses: what is promised of every repair, on random rules and truths; labels beside all labels."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ltn
from ltn.repair.decoding import Decoder
from ltn.repair.labelling import least_conflict, satisfy
from ltn.repair.logics import logic_of
from ltn.repair.solving import Aim, Solution, solve
from tests.repair.rules import Literals, clauses_from, is_satisfied, labels_of, repaired, theory_of, truth

COUNT = 5
LITERAL = st.tuples(st.integers(0, COUNT - 1), st.booleans())
CLAUSE = st.lists(LITERAL, min_size=1, max_size=3, unique_by=lambda literal: literal[0])
RULES = st.lists(CLAUSE, min_size=1, max_size=8)
TRUTHS = st.lists(st.floats(0.0, 1.0, width=32), min_size=COUNT, max_size=COUNT)
KINDS = st.sampled_from(["godel", "product", "lukasiewicz"])


def aim(kind: str, q: float, direction: str, count: int) -> Aim:
    """What is to be reached, under the operators of a preset."""
    return Aim(logic_of(ltn.semantics.get(kind)), q, direction, np.ones(count))


@given(
    RULES, TRUTHS, KINDS, st.sampled_from([0.625, 0.95, 1.0]), st.sampled_from(["raise", "lower", "nearest"])
)
def test_what_can_be_satisfied_is_and_what_breaks_no_rule_stays(
    rules: list[Literals], truths: list[float], kind: str, q: float, direction: str
) -> None:
    own = np.array(truths, np.float32)
    found = solve(clauses_from(rules), own, aim(kind, q, direction, len(rules)))
    assert ((found.truths >= 0.0) & (found.truths <= 1.0)).all()
    broken = [number for number, rule in enumerate(rules) if not is_satisfied(kind, rule, found.truths, q)]
    if len(labels_of(rules, COUNT)):
        assert broken == []
        assert found.conflicts == []
    # What is broken is what is told.
    told = {given_up for _, given_up in found.conflicts}
    assert set(broken) <= told
    assert not len(found.undecided)
    for clauses, given_up in found.conflicts:
        assert given_up in clauses
        assert not len(labels_of([rules[clause] for clause in clauses], COUNT))
    # Atoms that hang together with a broken rule may move, and no others.
    moves = {atom for rule in rules if not is_satisfied(kind, rule, own, q) for atom, _ in rule}
    for _ in rules:
        moves |= {atom for rule in rules for atom, _ in rule if moves & {other for other, _ in rule}}
    still = [atom for atom in range(COUNT) if atom not in moves]
    assert found.truths[still].tolist() == own[still].tolist()
    again = solve(clauses_from(rules), found.truths, aim(kind, q, direction, len(rules)))
    assert not told or again.conflicts
    assert told or again.truths.tolist() == found.truths.tolist()


@given(CLAUSE, TRUTHS, KINDS, st.sampled_from([0.625, 0.95]))
def test_one_clause_is_lifted_by_the_smallest_sum_of_changes(
    clause: Literals, truths: list[float], kind: str, q: float
) -> None:
    own = np.array([truths[atom] if sign else 1.0 - truths[atom] for atom, sign in clause])
    logic = logic_of(ltn.semantics.get(kind))
    if truth(kind, clause, truths) < q - 1e-9:
        [lifted] = logic.lift(own[np.newaxis], q)
        assert logic.truth(lifted) == pytest.approx(q)
        # Another way that reaches q with one literal alone takes no less.
        for place in range(len(own)):
            for value in np.linspace(own[place], 1.0, 50):
                other = own.copy()
                other[place] = value
                if logic.truth(other) >= q:
                    assert value - own[place] >= lifted.sum() - own.sum() - 1e-9
                    break


def test_truths_under_a_semantics_are_those_of_the_theory() -> None:
    theory = theory_of(["forall x: is(x, a) | is(x, b)"], "godel", count=2)
    rows = [[0.5, 0.75], [0.25, 0.25]]
    np.testing.assert_allclose(repaired(theory, rows, q=0.9), [[0.5, 0.9], [0.9, 0.25]], atol=1e-5)
    found = repaired(theory, rows, q=0.9, semantics="lukasiewicz")
    # The margin of 1e-6 is on top of q.
    np.testing.assert_allclose(found, [[0.5, 0.75], [0.45, 0.45]], atol=1e-5)
    found = repaired(theory, rows, q=0.9, semantics="log_product")
    np.testing.assert_allclose(1.0 - np.prod(1.0 - found, axis=1), [0.9, 0.9], atol=1e-5)


def test_rules_that_exclude_each_other_are_told_by_name() -> None:
    theory = theory_of(
        ["forall x: is(x, a) | is(x, b)", "forall x: ~is(x, a)", "forall x: ~is(x, b)"], count=3
    )
    theory.axiom("forall x: is(x, c)", name="other")
    theory["axiom_2"].weight = 0.5
    found = theory.repair({"x": np.full((2, 3), 0.25)})
    table = found.conflicts
    assert list(table.columns) == ["conflict", "axiom", "individuals", "satisfied"]
    assert table[table.conflict == 1].axiom.tolist() == ["axiom_1", "axiom_2", "axiom_3"]
    assert table[table.conflict == 2].individuals.tolist() == [(1,)] * 3
    assert table.satisfied.tolist() == [True, False, True] * 2
    np.testing.assert_allclose(found["is"].tensor, [[0.95, 0.05, 0.95]] * 2, atol=0.01)
    assert "2 conflicts" in repr(found)


def test_facts_may_exclude_a_rule_alone() -> None:
    theory = theory_of([])
    theory.axiom("exists k: k != k", name="none")
    theory.axiom("forall x: is(x, a)", name="a")
    assert theory.repair({"x": np.ones((1, 6))}).conflicts.axiom.tolist() == ["none"]


def test_what_a_search_does_not_decide_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltn.repair.labelling.MOST_DECISIONS", 0)
    # Of both truths of a and b each combination is excluded: no clause forces anything at first.
    signs = ["", "~"]
    theory = theory_of(
        [f"forall x: {one}is(x, a) | {two}is(x, b)" for one in signs for two in signs], count=2
    )
    found = theory.repair({"x": [[0.5, 0.5]]})
    assert found.conflicts.empty
    assert list(found.undecided.columns) == ["axiom", "individuals"]
    assert set(found.undecided.individuals) == {(0,)}
    monkeypatch.undo()
    found = theory.repair({"x": [[0.5, 0.5]]})
    # Two of the four are an order, and its reverse: a and b are equal.
    assert sorted(found.conflicts.axiom) == ["axiom_1", "axiom_2", "axiom_3", "axiom_4"]
    assert found.undecided.empty


@given(RULES, TRUTHS)
def test_labels_are_the_most_likely_of_all_that_break_no_rule(
    rules: list[Literals], truths: list[float]
) -> None:
    own = np.clip(np.array(truths, np.float32), 0.01, 0.99)
    decoder = Decoder(60.0)
    found = solve(clauses_from(rules), own, aim("product", 0.95, "nearest", len(rules)), decoder.labels)
    legal = labels_of([rule for number, rule in enumerate(rules) if number not in given_up(found)], COUNT)
    likelihood = legal @ np.log(own) + (1.0 - legal) @ np.log1p(-own)
    reached = found.truths @ np.log(own) + (1.0 - found.truths) @ np.log1p(-own)
    assert found.truths.tolist() in legal.tolist()
    assert reached == pytest.approx(likelihood.max(), abs=1e-5)
    assert decoder.gap == 0.0


def given_up(found: Solution) -> set[int]:
    """The clauses that a solution does not satisfy."""
    return {number for _, number in found.conflicts}


@given(RULES)
def test_a_search_finds_labels_or_a_conflict_of_which_nothing_can_be_left_out(rules: list[Literals]) -> None:
    clauses = clauses_from(rules)
    found = satisfy(clauses, COUNT, [0.5] * COUNT)
    if found.labels is not None:
        assert found.labels.astype(float).tolist() in labels_of(rules, COUNT).tolist()
        return
    assert found.conflict is not None
    conflict = least_conflict(clauses, COUNT, found.conflict)
    assert not len(labels_of([rules[clause] for clause in conflict], COUNT))
    for left_out in conflict:
        assert len(labels_of([rules[clause] for clause in conflict if clause != left_out], COUNT))


def test_whether_something_was_repaired_may_be_asked() -> None:
    theory = ltn.Theory()
    theory.proposition("dog", 0.75)
    theory.axiom("dog", name="dogs")
    found = theory.repair()
    for view in (found, found.before):
        assert float(view.get("dog")) == float(view["dog"])
        assert "dog" in view
        for other in ("cat", "cat(x)", "cat(", "dog & "):
            assert other not in view
            assert view.get(other, 0) == 0
