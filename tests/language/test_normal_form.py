"""Negation normal form."""

import pytest
from hypothesis import given

from ltn.language import (
    Apply,
    Comparison,
    Iff,
    Implies,
    Name,
    Node,
    Not,
    Quantifier,
    Xor,
    negation_normal_form,
    parse,
    text,
)
from tests.language.trees import Model, formulas, models, truth


@given(formulas(), models())
def test_it_is_classically_equivalent(formula: Node, model: Model) -> None:
    assert truth(negation_normal_form(formula), model) == truth(formula, model)
    assert truth(negation_normal_form(Not(formula)), model) != truth(formula, model)


@given(formulas())
def test_negations_stand_on_atoms_and_counts_only(formula: Node) -> None:
    pending = [negation_normal_form(formula)]
    while pending:
        node = pending.pop()
        assert not isinstance(node, Implies | Iff | Xor)
        if isinstance(node, Not):
            is_count = isinstance(node.operand, Quantifier) and node.operand.count is not None
            assert is_count or isinstance(node.operand, Name | Apply | Comparison)
        pending += [node.body] if isinstance(node, Quantifier) else node.children


@given(formulas())
def test_it_is_its_own_normal_form(formula: Node) -> None:
    normal = negation_normal_form(formula)
    assert negation_normal_form(normal) is normal


@pytest.mark.parametrize(
    ("formula", "normal"),
    [
        ("A -> B", "~A | B"),
        ("A <-> B", "(~A | B) & (~B | A)"),
        ("~(A <-> B)", "A & ~B | B & ~A"),
        ("A xor B", "(A | B) & (~A | ~B)"),
        ("~(A xor B)", "~A & ~B | A & B"),
        ("~~A", "A"),
        ("~(x = y)", "~x = y"),
        (
            "~forall[p=6] diag(x, y) where ~(x < y -> A): P(x) -> Q(y)",
            "exists[p=6] diag(x, y) where ~(x < y -> A): P(x) & ~Q(y)",
        ),
        ("~exists x: ~P(x)", "forall x: P(x)"),
    ],
)
def test_by_hand(formula: str, normal: str) -> None:
    assert str(negation_normal_form(parse(formula))) == normal


def test_places_are_kept() -> None:
    source = "~(A -> P(x))"
    normal = negation_normal_form(parse(source))
    shown = [source[node.span.start : node.span.end] for node in normal.walk() if node.span is not None]
    assert shown == ["A -> P(x)", "A", "P(x)", "P(x)", "x"]


def test_terms_have_none() -> None:
    with pytest.raises(TypeError, match=r"`x \+ 1` is a term"):
        negation_normal_form(parse("A & (x + 1)"))


def test_a_chain_of_equivalences_takes_as_long_as_it_is() -> None:
    """Written out, this normal form has 10^30 nodes; what its parts share is there once."""
    source = "A <-> (B <-> " * 50 + "A" + ")" * 50
    one, two = (negation_normal_form(parse(source)) for _ in range(2))
    assert sum(1 for _ in one.walk()) < 1000
    assert one == two
    assert one != negation_normal_form(parse(source.replace("A", "C", 1)))
    assert text(one, most=40) == text(one, most=90)[:40] + "..."
