"""Axioms as clauses: they say what the axioms say, of all kinds of axioms; and results go by names."""

import numpy as np
import pandas as pd
import pytest

import ltn
from ltn.knowledge import questions
from ltn.knowledge.questions import Question
from ltn.repair.rules import Rules, ground
from tests.repair.rules import NAMES, theory_of

AXIOMS = """\
define parent(x, l): exists k where below(l, k): is(x, k)
define two_below(k, l): exists k3: below(k, k3) & below(k3, l)
forall x, k, l where below(k, l): is(x, k) -> is(x, l)
forall x, k: below(k, f) -> (is(x, k) <-> is(x, f))
forall x: exists k where below(k, f): is(x, k)
forall x, l: is(x, l) -> (exists k where below(k, l): is(x, k)) | l = a
forall x: ~exists k, l where k != l & ~below(k, l): is(x, k) & is(x, l)
forall x: exactly 2 k where k != f: is(x, k)
forall x, l: ~(at least 2 k where below(k, l): ~is(x, k))
forall x: at most 1 k: is(x, k) & big(x)
forall x: (forall k: is(x, k) xor below(k, f)) | is(x, c)
forall x: parent(x, a) | big(x)
forall x, k, l where two_below(k, l): is(x, k) -> is(x, l)
forall x, k: two_below(k, f) -> is(x, k)
(forall x: is(x, a)) & (forall x where ~big(x): is(x, b) & ~is(x, c))
forall diag(x, m): is(x, m)
forall x, y: is(x, a) & is(y, b) -> is(x, c) | ~is(y, c)
forall x, y where x = y: is(x, a) -> is(y, b)
exists k: is(x1, k) | A
~A | below(a, b)
forall x, k, k2: is(x, k) & is(x, k2) -> (below(k, k2) | below(k2, k) | k = k2)
"""


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    """Rows of six truths, with relations between classes, facts about rows, and two data variables."""
    theory = theory_of([], "godel")
    classes, rows = theory.signature.domains["classes"], theory.signature.domains["rows"]
    theory.variable("y", rows)
    theory.variables("k2, k3, m", classes)
    theory.constant("x1", rows, [1.0, 0.0, 0.0, 1.0, 0.0, 1.0], trainable=False)
    theory.relation("below", (classes, classes), [("a", "c"), ("b", "c"), ("c", "f"), ("d", "f")])
    theory.predicate("big", rows, lambda row: row[:, 3] > 0.5)
    theory.proposition("A", 1.0)
    theory.axioms(AXIOMS)
    return theory


def rules_of(theory: ltn.Theory, data: dict[str, object]) -> Rules:
    """The clauses of all axioms, on data."""
    evaluation = questions.evaluation_for(theory, Question(data, None, None, {}))
    return ground(evaluation, list(theory.axiom_list))


def test_clauses_hold_of_labels_where_the_axioms_are_true(theory: ltn.Theory) -> None:
    chance, seen = np.random.default_rng(0), set()
    for number in range(12):
        share = number / 11
        data: dict[str, object] = {
            "x": (chance.random((2, 6)) < share).astype(np.float32),
            "y": (chance.random((3, 6)) < share).astype(np.float32),
            "m": [NAMES[label] for label in chance.integers(0, 6, 2)],
        }
        if number % 3 == 0:
            data["y"] = data["x"]
        evaluation = questions.evaluation_for(theory, Question(data, None, None, {}))
        rules = rules_of(theory, data)
        truths = rules.outputs.truths(evaluation, rules.world).astype(float)
        held = np.ones(len(rules.clauses), bool)
        for which, atoms, signs in rules.clauses.by_width():
            held[which] = ((truths[atoms] > 0.5) == signs).any(axis=1)
        report = theory.report(data)
        for axiom, truth in zip(report.axiom, report.satisfaction, strict=True):
            parts = [place for place, part in enumerate(rules.parts) if part.axiom.name == axiom]
            own = held[np.isin(rules.clauses.sources, parts)]
            assert own.all() == (truth == 1.0), (axiom, theory.find(axiom))
            seen.add((axiom, bool(truth)))
    # Most are true of some data and false of others, or the test would say little.
    assert len(seen) >= 1.6 * len(report)


def test_truths_are_those_of_queries(theory: ltn.Theory) -> None:
    data = {"x": np.random.default_rng(0).random((3, 6)).astype(np.float32)}
    repaired = theory.repair(data, axioms=["axiom_1"])
    for atom in ("is(x, k)", "is(x, c)"):
        own, asked = repaired.before[atom], theory.query(atom, data)
        assert own.free_vars == asked.free_vars
        np.testing.assert_array_equal(own.tensor, asked.tensor)
    assert repaired["is"].tensor.shape == theory.query("is(x, k)", data).tensor.shape
    assert list(repaired) == ["is"]
    assert len(repaired) == 1


def test_individuals_are_named_as_in_explanations() -> None:
    theory = theory_of(["forall x: is(x, a) -> is(x, b)"])
    frame = pd.DataFrame({"x": [[1.0, 0.0, 0, 0, 0, 0], [0.0, 1.0, 0, 0, 0, 0]]}, index=["Ann", "Bob"])
    repaired = theory.repair(frame, direction="raise")
    assert repaired.changes.individuals.tolist() == [("Ann", "b")]
    assert repaired["is"].to_frame().index.tolist() == ["Ann", "Bob"]


def test_outputs_for_several_sources_are_asked_for_by_their_atoms() -> None:
    theory = theory_of([])
    theory.variable("y", theory.signature.domains["rows"])
    theory.axiom("forall diag(x, y): is(x, a) -> is(y, b)")
    repaired = theory.repair({"x": [[1.0] * 6] * 2, "y": [[0.0] * 6] * 2}, direction="raise")
    assert np.asarray(repaired["is(y, b)"].tensor).tolist() == [1.0, 1.0]
    assert repaired.before["is(y, k)"].tensor.shape == (2, 6)
    assert repaired["is(x, k)"].tensor.shape == (2, 6)


def test_a_relation_between_the_same_individuals_has_two_axes() -> None:
    theory = ltn.Theory("godel")
    people = theory.domain("people", values=["Ann", "Bob", "Eve"])
    theory.variables("u, v", people)
    theory.predicate("knows", (people, people), ltn.Predicate.table([people, people], "glorot_uniform"))
    theory.axiom("forall u, v: knows(u, v) <-> knows(v, u)", name="symmetric")
    repaired = theory.repair()
    found = repaired["knows"]
    assert found.free_vars == ["u", "v"]
    own = np.asarray(repaired.before["knows"].tensor)
    np.testing.assert_allclose(found.tensor, (own + own.T) / 2, atol=1e-7)
    np.testing.assert_array_equal(own, theory.query("knows(u, v)").tensor)
