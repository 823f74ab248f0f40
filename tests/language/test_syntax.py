"""The tree itself: equality, invariants, and depth."""

import copy
import pickle

import pytest
from hypothesis import given

from ltn.language import (
    And,
    Apply,
    Arithmetic,
    Comparison,
    Name,
    Node,
    Not,
    Number,
    Quantifier,
    Span,
    negation_normal_form,
    parse,
    text,
)
from ltn.language.tree import fold
from tests.language.trees import trees


def test_equality_is_by_value_without_regard_to_place() -> None:
    one, two = parse("P(x) & A"), parse("  (P( x )) and A")
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert one.span != two.span


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("A & B", "A | B"),
        ("A & B", "B & A"),
        ("P(x)", "P(x, x)"),
        ("P(x)", "Q(x)"),
        ("x < y", "x <= y"),
        ("x + y", "x - y"),
        ("1", "2"),
        ("~x", "-x"),
        ("forall x: A", "exists x: A"),
        ("forall x: A", "forall y: A"),
        ("forall x, y: A", "forall diag(x, y): A"),
        ("forall x: A", "forall[p=1] x: A"),
        ("forall x where A: A", "forall x: A"),
    ],
)
def test_different_trees_differ(one: str, two: str) -> None:
    assert parse(one) != parse(two)
    assert parse(one) != one


@given(trees())
def test_a_copy_is_equal_and_hashes_alike(tree: Node) -> None:
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert other == tree
        assert hash(other) == hash(tree)


@given(trees())
def test_walk_is_from_the_top_and_the_left(tree: Node) -> None:
    def recursively(node: Node) -> list[Node]:
        return [node, *(below for child in node.children for below in recursively(child))]

    assert [id(node) for node in tree.walk()] == [id(node) for node in recursively(tree)]
    entered: list[int] = []
    assert fold(tree, lambda node, below: 1 + sum(below), lambda node: entered.append(id(node))) == len(
        entered
    )
    assert entered == [id(node) for node in tree.walk()]


@pytest.mark.parametrize("name", ["", "a\n", "\x00", "a\tb", "\u2029", "\ud800"])
def test_names_that_cannot_be_written(name: str) -> None:
    for make in (
        Name,
        lambda name: Apply(name, (Name("x"),)),
        lambda name: Quantifier("forall", ((name,),), Name("x")),
    ):
        with pytest.raises(ValueError, match="cannot name"):
            make(name)


def test_nodes_that_cannot_be_written() -> None:
    x = Name("x")
    for value in (-1.0, float("nan"), float("inf"), 10**400):
        with pytest.raises(ValueError, match="finite and at least 0"):
            Number(value)
    with pytest.raises(ValueError, match="without arguments use a Name"):
        Apply("P", ())
    with pytest.raises(ValueError, match=r"one of the operators \+ - \* /; got '\*\*'"):
        Arithmetic("**", x, x)
    with pytest.raises(ValueError, match="got '=='"):
        Comparison("==", x, x)
    with pytest.raises(ValueError, match="'at least' or 'at most'; got 'all'"):
        Quantifier("all", (("x",),), x)
    for groups in ((), ((),)):
        with pytest.raises(ValueError, match="at least one variable"):
            Quantifier("forall", groups, x)
    with pytest.raises(ValueError, match="options of a quantifier are distinct; got p, p"):
        Quantifier("forall", (("x",),), x, options=(("p", 1), ("p", 2)))
    with pytest.raises(ValueError, match="'p' must be a finite number; got nan"):
        Quantifier("forall", (("x",),), x, options=(("p", float("nan")),))
    with pytest.raises(TypeError, match="Not is built of nodes; got a str: 'A'"):
        Not("A")  # type: ignore[arg-type]


def test_spans_leave_out_only_the_own_parentheses() -> None:
    source = "forall x, y: ((P(x)) -> (x + 1) * 2 = y)"
    formula = parse(source)
    assert isinstance(formula, Quantifier)
    shown = {str(node): source[node.span.start : node.span.end] for node in formula.walk() if node.span}
    assert shown["P(x) -> (x + 1) * 2 = y"] == "(P(x)) -> (x + 1) * 2 = y"
    assert shown["P(x)"] == "P(x)"
    assert shown["x + 1"] == "x + 1"
    assert shown["(x + 1) * 2"] == "(x + 1) * 2"
    assert formula.variable_spans == (Span(7, 8), Span(10, 11))


DEEP = [
    " & ".join(f"P(a{i})" for i in range(2000)),
    " -> ".join(f"P(a{i})" for i in range(2000)),
    "~" * 3000 + "A",
    "-" * 3000 + "x",
    "(" * 3000 + "A" + ")" * 3000,
    "f(" * 3000 + "x" + ")" * 3000,
    "".join(f"forall x{i}: " for i in range(1000)) + "A",
]


@pytest.mark.parametrize("source", DEEP, ids=[source[:9] for source in DEEP])
def test_depth_is_no_limit(source: str) -> None:
    tree = parse(source)
    again = parse(text(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert len(repr(tree)) > len(text(tree))
    assert sum(1 for _ in tree.walk()) == sum(1 for _ in again.walk())


def test_a_deep_normal_form() -> None:
    negated = negation_normal_form(Not(parse(DEEP[0])))
    assert text(negated) == " | ".join(f"~P(a{i})" for i in range(2000))
    assert isinstance(negation_normal_form(Not(negated)), And)
