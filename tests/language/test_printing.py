"""Printing and parsing: one is the inverse of the other, in both notations."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltn.language import (
    And,
    Apply,
    Arithmetic,
    Comparison,
    Iff,
    Implies,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Quantifier,
    Xor,
    parse,
    text,
)
from ltn.language import text as tree_text
from ltn.language.names import NAME
from ltn.language.statements import Definition, Parameter
from tests.language.trees import names, trees

A, B, C = Name("A"), Name("B"), Name("C")
x, y = Name("x"), Name("y")
Px = Apply("P", (x,))


def forall(body: Node) -> Node:
    return Quantifier("forall", (("x",),), body)


@given(trees())
def test_text_parses_to_the_same_tree(tree: Node) -> None:
    assert parse(text(tree)) == tree
    assert parse(text(tree, unicode=True)) == tree
    assert str(tree) == text(tree)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("co-occurs_with", "'co-occurs_with'"),
        ("/m/08966", "'/m/08966'"),
        ("∀x → y", "'∀x → y'"),
        ("forall", "'forall'"),
        ("define", "define"),
        ("2", "'2'"),
        ("x''", "x''"),
        ("x'y", r"'x\'y'"),
        ("\\", r"'\\'"),
        ("'", r"'\''"),
        (" # ", "' # '"),
        ("New\u00a0York", "'New\u00a0York'"),
    ],
)
def test_names_stand_in_quotes_where_they_need_them(name: str, text: str) -> None:
    assert str(Name(name)) == text
    assert parse(text) == Name(name)
    assert str(Apply(name, (Name(name),))) == f"{text}({text})"
    for unicode in (False, True):
        quantified = Quantifier("forall", ((name,), (name, "x")), Name(name))
        assert parse(tree_text(quantified, unicode=unicode)) == quantified


def test_names_in_quotes_need_none() -> None:
    assert parse("'P'('x')") == parse("P(x)")


parameters = st.builds(Parameter, names(), st.none() | names())


@given(names(), st.lists(parameters, min_size=1, max_size=3).map(tuple), trees())
def test_definitions_parse_to_the_same(name: str, head: tuple[Parameter, ...], body: Node) -> None:
    definition = Definition(name, head, body)
    assert parse(str(definition)) == definition
    assert parse(tree_text(definition, unicode=True)) == definition


@given(trees())
def test_ascii_is_ascii_but_for_names(tree: Node) -> None:
    assert not set("∀∃¬∧∨⊻→↔≠≤≥") & set(text(tree))


@given(trees(quantified_guards=False))
def test_no_parentheses_are_superfluous(tree: Node) -> None:
    written = text(tree)
    opened = []
    # Names in quotes may hold parentheses.
    for position, character in enumerate(re.sub(NAME, lambda name: "x" * len(name[0]), written)):
        if character == "(":
            opened.append(position)
        if character == ")":
            start = opened.pop()
            if start and re.match(r"[\w']", written[start - 1]):
                continue  # an application or a diagonal
            without = written[:start] + " " + written[start + 1 : position] + " " + written[position + 1 :]
            try:
                other: Node | None = parse(without)
            except ValueError:
                other = None
            assert other != tree, without


# What is written, and the tree by hand.
PRECEDENCE: list[tuple[str, Node]] = [
    ("A <-> B <-> C", Iff(Iff(A, B), C)),
    ("A <-> (B <-> C)", Iff(A, Iff(B, C))),
    ("A <-> B -> C", Iff(A, Implies(B, C))),
    ("A -> B -> C", Implies(A, Implies(B, C))),
    ("A -> B | C", Implies(A, Or(B, C))),
    ("A -> (B <-> C)", Implies(A, Iff(B, C))),
    ("(A -> B) -> C", Implies(Implies(A, B), C)),
    ("A -> B <-> C", Iff(Implies(A, B), C)),
    ("A | B -> C", Implies(Or(A, B), C)),
    ("A | B | C", Or(Or(A, B), C)),
    ("A & (B & C)", And(A, And(B, C))),
    ("A | B & C", Or(A, And(B, C))),
    ("(A | B) & C", And(Or(A, B), C)),
    ("A xor B xor C", Xor(Xor(A, B), C)),
    ("A xor (B xor C)", Xor(A, Xor(B, C))),
    ("A | B xor C & A", Or(A, Xor(B, And(C, A)))),
    ("A xor B | C", Or(Xor(A, B), C)),
    ("(A | B) xor C", Xor(Or(A, B), C)),
    ("(A xor B) & C", And(Xor(A, B), C)),
    ("A xor ~B", Xor(A, Not(B))),
    ("xor xor xor", Xor(Name("xor"), Name("xor"))),
    ("xor(x, xor) xor xor", Xor(Apply("xor", (x, Name("xor"))), Name("xor"))),
    ("A & (B | C)", And(A, Or(B, C))),
    ("A | (B -> C)", Or(A, Implies(B, C))),
    ("~A & B", And(Not(A), B)),
    ("A & ~B", And(A, Not(B))),
    ("A & x = y", And(A, Comparison("=", x, y))),
    ("A = (x < y)", Comparison("=", A, Comparison("<", x, y))),
    ("(A & B) = x", Comparison("=", And(A, B), x)),
    ("-(~A)", Negative(Not(A))),
    ("~(A & B)", Not(And(A, B))),
    ("~~A", Not(Not(A))),
    ("~x = y", Not(Comparison("=", x, y))),
    ("x + 1 < y & A", And(Comparison("<", Arithmetic("+", x, Number(1)), y), A)),
    ("x - y - 1", Arithmetic("-", Arithmetic("-", x, y), Number(1))),
    ("x - (y - 1)", Arithmetic("-", x, Arithmetic("-", y, Number(1)))),
    ("x + y * 2", Arithmetic("+", x, Arithmetic("*", y, Number(2)))),
    ("(x + y) * 2", Arithmetic("*", Arithmetic("+", x, y), Number(2))),
    ("x / y * 2", Arithmetic("*", Arithmetic("/", x, y), Number(2))),
    ("-x * y", Arithmetic("*", Negative(x), y)),
    ("-(x * y)", Negative(Arithmetic("*", x, y))),
    ("x - -y", Arithmetic("-", x, Negative(y))),
    ("x * -y", Arithmetic("*", x, Negative(y))),
    ("x * (y / 2)", Arithmetic("*", x, Arithmetic("/", y, Number(2)))),
    ("--x", Negative(Negative(x))),
    ("x < -y + 1", Comparison("<", x, Arithmetic("+", Negative(y), Number(1)))),
    ("P(A & B, -x)", Apply("P", (And(A, B), Negative(x)))),
    ("forall x: P(x) -> A", forall(Implies(Px, A))),
    ("(forall x: P(x)) -> A", Implies(forall(Px), A)),
    ("A & forall x: P(x) -> B", And(A, forall(Implies(Px, B)))),
    ("A & (forall x: P(x)) -> B", Implies(And(A, forall(Px)), B)),
    ("~forall x: P(x) & A", Not(forall(And(Px, A)))),
    ("~(forall x: P(x)) & A", And(Not(forall(Px)), A)),
    ("A -> forall x: P(x) <-> B", Implies(A, forall(Iff(Px, B)))),
    ("forall x: forall y: A", forall(Quantifier("forall", (("y",),), A))),
]


@pytest.mark.parametrize(("written", "tree"), PRECEDENCE, ids=[written for written, _ in PRECEDENCE])
def test_precedence(written: str, tree: Node) -> None:
    assert parse(written) == tree
    assert text(tree) == written


def test_both_notations() -> None:
    formula = parse(
        "forall[p=6] x, y where norm(x - y) <= 0.2 & x != y: ~F(x, y) | G(x) -> A xor B <-> exists z: P(z)"
    )
    signs = "∀[p=6] x, y where norm(x - y) ≤ 0.2 ∧ x ≠ y: ¬F(x, y) ∨ G(x) → A ⊻ B ↔ ∃z: P(z)"
    assert text(formula, unicode=True) == signs
    assert parse(signs) == formula
    words = (
        "forall[p=6] x, y where norm(x - y) ≤ 0.2 and x ≠ y: not F(x, y) or G(x) → A xor B ↔ exists z: P(z)"
    )
    assert parse(words) == formula


@pytest.mark.parametrize(
    ("value", "written"),
    [(3.0, "3"), (0.1, "0.1"), (1e22, "1e+22"), (5e-324, "5e-324"), (2.5, "2.5"), (123456789.0, "123456789")],
)
def test_numbers_print_exactly(value: float, written: str) -> None:
    assert text(Number(value)) == written
    assert parse(written) == Number(value)


def test_options_groups_and_guards() -> None:
    formula = Quantifier(
        "exists", (("x", "y"), ("z",)), A, guard=Comparison("<", x, y), options=(("p", 6.0), ("q", -0.5))
    )
    assert text(formula) == "exists[p=6, q=-0.5] diag(x, y), z where x < y: A"
    assert parse(text(formula)) == formula
    assert parse("exists [ p = 6 , q = -5e-1 ] diag( x,y ),z where x<y:A") == formula
