"""Definitions in guards: crisp ones are relations, whose rows are those for which they are true."""

import itertools
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ltn
from ltn.errors import LogicValueError
from ltn.language import parse
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

NAMES = ["ann", "bob", "cat", "dan", "eve", "fay"]
PARENT = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (3, 5)]
OLD = [(0,), (3,), (4,)]
CHOSEN = [4, 1]
PEOPLE = range(len(NAMES))
DEFINED = """
    define grandparent(x, z): exists y: parent(x, y) & parent(y, z)
    define great(x, z): exists y where grandparent(x, y): parent(y, z)
    define leaf(x): forall y: ~parent(x, y)
    define elder(x): exists u: grandparent(x, u) & ~old(u)
    define sibling(x, y): x != y & exists z: parent(z, x) & parent(z, y)
    define of_chosen(x): exists w: parent(w, x)
    define ruled(x): old(x) & (exists y: old(y) & parent(y, ann) | parent(y, bob)) & ~exists y: parent(y, x)
    define all_old(x): forall y where parent(x, y): old(y)
"""


def parent(x: int, y: int) -> bool:
    return (x, y) in PARENT


def old(x: int) -> bool:
    return (x,) in OLD


def grandparent(x: int, z: int) -> bool:
    return any(parent(x, y) and parent(y, z) for y in PEOPLE)


def great(x: int, z: int) -> bool:
    return any(grandparent(x, y) and parent(y, z) for y in PEOPLE)


def leaf(x: int) -> bool:
    return not any(parent(x, y) for y in PEOPLE)


def elder(x: int) -> bool:
    return any(grandparent(x, u) and not old(u) for u in PEOPLE)


def sibling(x: int, y: int) -> bool:
    return x != y and any(parent(z, x) and parent(z, y) for z in PEOPLE)


def of_chosen(x: int) -> bool:
    return any(parent(w, x) for w in CHOSEN)


def ruled(x: int) -> bool:
    some = any((old(y) and parent(y, 0)) or parent(y, 1) for y in PEOPLE)
    return old(x) and some and not any(parent(y, x) for y in PEOPLE)


def all_old(x: int) -> bool:
    return all(old(y) for y in PEOPLE if parent(x, y))


def family(text: str = DEFINED) -> ltn.Theory:
    theory = ltn.Theory("product", name="family")
    people = theory.domain("people", values=NAMES)
    theory.variables("x, y, z, u, v, h", people)
    theory.variable("w", people, values=[NAMES[place] for place in CHOSEN])
    theory.relation("parent", (people, people), PARENT)
    theory.relation("old", people, OLD)
    keras.utils.set_random_seed(0)
    theory.predicate("P", people, ltn.Predicate.MLP([1], (3,)))
    theory.predicate("Q", people, ltn.Predicate.MLP([1], (3,)))
    theory.axioms(text)
    return theory


THEORY = family()
TRUTHS = THEORY.query("P(x)").tensor.numpy()
# A guard about x and z, or about x, and when it holds.
GUARDS: dict[str, Any] = {
    "grandparent(x, z)": grandparent,
    "grandparent(z, x)": lambda x, z: grandparent(z, x),
    "great(x, z)": great,
    "~grandparent(x, z) & x != z": lambda x, z: not grandparent(x, z) and x != z,
    "grandparent(x, z) | parent(x, z)": lambda x, z: grandparent(x, z) or parent(x, z),
    "leaf(z) & parent(x, z)": lambda x, z: leaf(z) and parent(x, z),
    "sibling(x, z)": sibling,
    "grandparent(ann, x) & sibling(x, z)": lambda x, z: grandparent(0, x) and sibling(x, z),
    "leaf(x)": leaf,
    "elder(x)": elder,
    "ruled(x)": ruled,
    "all_old(x)": all_old,
    "of_chosen(x)": of_chosen,
    "grandparent(ann, x)": lambda x: grandparent(0, x),
    "grandparent(x, x)": lambda x: grandparent(x, x),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_they_select_what_loops_select(guard: str) -> None:
    names = THEORY.signature.free_variables(parse(guard))
    table = THEORY.explain(f"forall {', '.join(names)} where {guard}: P({names[0]})", worst=100)
    found = sorted(
        tuple(NAMES.index(row[name]) for name in "xz" if name in names) for _, row in table.iterrows()
    )
    expected = [row for row in itertools.product(PEOPLE, repeat=len(names)) if GUARDS[guard](*row)]
    assert found == expected
    plan = THEORY.plan(f"forall {', '.join(names)} where {guard}: P({names[0]})").to_frame()
    assert "searched" not in set(plan.strategy)


ATOMS = ["parent(x, y)", "parent(y, x)", "parent(y, z)", "parent(z, x)", "old(y)", "old(z)", "parent(ann, z)"]
OTHERS = ["parent(y, y)", "~parent(x, z)", "~old(y)", "y != z", "x != y", "(parent(y, z) | parent(z, y))"]
LITERALS = st.sampled_from([*ATOMS, *OTHERS])


@given(st.lists(LITERALS, min_size=2, max_size=4), st.sampled_from(["exists", "forall"]), st.booleans())
def test_random_ones_select_what_loops_select(literals: list[str], kind: str, negated: bool) -> None:
    body = " & ".join([*literals, "(x = x & y = y & z = z)"])
    theory = family(f"define f(x): {kind} y, z: {body}")
    guard = "~f(x)" if negated else "f(x)"
    found = theory.explain(f"forall x where {guard}: P(x)", worst=100)["x"].tolist()
    code = body.replace("~", " not ").replace("&", "and").replace("|", "or").replace(" = ", " == ")
    over = {"exists": any, "forall": all}[kind]
    known = {"parent": parent, "old": old, "ann": 0}
    expected = [
        NAMES[x]
        for x in PEOPLE
        if negated != over(eval(code, known | {"x": x, "y": y, "z": z}) for y in PEOPLE for z in PEOPLE)
    ]
    assert sorted(found) == expected


def test_the_truth_is_that_of_the_join() -> None:
    pairs = [(x, z) for x in PEOPLE for z in PEOPLE if grandparent(x, z)]
    expected = 1 - np.sqrt(np.mean([(1 - TRUTHS[x]) ** 2 for x, _ in pairs]))
    assert_close(THEORY.query("forall[p=2] x, z where grandparent(x, z): P(x)").tensor, expected, rtol=1e-5)
    # Of data by name each looks up its own.
    found = THEORY.query("exists z where grandparent(h, z): P(z)", h=["bob", "fay", "ann"])
    assert_close(
        found.tensor, THEORY.query("exists z where grandparent(x, z): P(z)").tensor.numpy()[[1, 5, 0]]
    )
    assert float(found.tensor[1]) == 0.0
    # In a body it is the formula: a mean, not a maximum.
    assert float(THEORY.query("grandparent(ann, cat)", p=1).tensor) < 1.0


def test_in_bodies_and_guards_at_once_under_every_way_of_training() -> None:
    found = []
    for text in (
        "a: forall x, z where grandparent(x, z): P(x) -> exists u where leaf(u) & great(x, u): Q(u)",
        "a: forall x, z where known(x, z): P(x) -> exists u where none(u) & greats(x, u): Q(u)",
    ):
        for how in ({"run_eagerly": True}, {"jit_compile": False}, {"jit_compile": True}):
            theory = family()
            people = theory.signature.domains["people"]
            pairs = list(itertools.product(PEOPLE, PEOPLE))
            theory.relation("known", (people, people), [pair for pair in pairs if grandparent(*pair)])
            theory.relation("greats", (people, people), [pair for pair in pairs if great(*pair)])
            theory.relation("none", people, [(x,) for x in PEOPLE if leaf(x)])
            theory.axioms(text)
            theory.compile(keras.optimizers.SGD(0.5), **how)
            found.append(theory.fit(epochs=3, verbose=0).history["a"])
    for other in found[1:]:
        # The order of sums differs.
        assert_close(other, found[0], rtol=1e-5)
    assert len(set(found[0])) == 3


def test_rows_that_are_added_count_and_files_keep_them(tmp_path: Path) -> None:
    theory = family()
    theory.axioms("""
        define kin(x): forall z where grandparent(x, z): P(z)
        rule: forall x where elder(x): kin(x)
    """)
    assert theory.plan("forall x, z where grandparent(x, z): P(x)").to_frame().tuples.max() == 4
    theory.known["parent"].add([("fay", "ann")])
    assert theory.plan("forall x, z where grandparent(x, z): P(x)").to_frame().tuples.max() == 7
    theory.save(tmp_path / "family.keras")
    for twin in (ltn.load(tmp_path / "family.keras"), theory.copy()):
        assert twin.report().equals(theory.report())
        assert str(twin["rule"]) == "forall x where elder(x): kin(x)"
    theory.write(tmp_path / "family.txt")
    assert "rule: forall x where elder(x): kin(x)" in (tmp_path / "family.txt").read_text()
    # Of those with a grandchild that is not old.
    assert sorted(theory.explain("rule").x) == ["ann", "cat", "fay"]


def test_samples_of_them_are_drawn() -> None:
    table = THEORY.explain("forall[sample=3] x, z where grandparent(x, z): P(x)", worst=100, sample=3)
    assert len(table) == 3
    assert all(grandparent(NAMES.index(x), NAMES.index(z)) for x, z in zip(table.x, table.z, strict=True))
    table = THEORY.explain("forall[sample=4] x, z where ~grandparent(x, z): P(x)", worst=100, sample=4)
    assert len(table) == 4
    assert not any(grandparent(NAMES.index(x), NAMES.index(z)) for x, z in zip(table.x, table.z, strict=True))


def test_others_are_refused() -> None:
    theory = family()
    theory.define("good(x): exists y: parent(x, y) & P(y)")
    theory.define("counted(x): exactly 2 y: parent(x, y)")
    theory.define("drawn(x): exists[sample=2] y: parent(x, y)")
    for name, said in (
        ("good", r"made of relations, comparisons, `exists` and `forall`; `P\(y\)` is none of them"),
        ("counted", r"`exactly 2 y: parent\(x, y\)` is none of them"),
        ("drawn", r"`exists\[sample=2\] y: parent\(x, y\)` is none of them"),
    ):
        with pytest.raises(LogicValueError, match=said):
            theory.query(f"forall x where {name}(x): P(x)")
    with pytest.raises(
        LogicValueError, match=r"'leaf' is a relation .* it binds 'y', whose individuals come with"
    ):
        theory.query("forall x where leaf(x): P(x)", y=["ann"])
    things = theory.domain("things", shape=2)
    theory.constants("one two", things, trainable=True)
    theory.variables("a, b", things)
    theory.relation("near", (things, things), [("one", "two")])
    theory.define("alike(a): exists b: near(a, b) & norm(a - b) < 1")
    with pytest.raises(LogicValueError, match=r"'alike' is a relation .* compares what is learned"):
        theory.query("forall a where alike(a): near(a, a)")
