"""The table of quantifier kinds: each row agrees with the grammar, the text of trees and the semantics."""

from collections.abc import Sequence
from typing import Any

import pytest
import tensorflow as tf

import ltn
from ltn.errors import LogicError
from ltn.language import Quantifier, negation_normal_form, parse, text
from ltn.language.names import (
    COUNTING,
    KEYWORDS,
    LARGEST_COUNT,
    PLAIN_QUANTIFIERS,
    QUANTIFIERS,
    QuantifierKind,
)
from tests.tolerance import assert_close


def kinds(names: Sequence[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", [QUANTIFIERS[name] for name in names], ids=lambda kind: kind.name)


KINDS, COUNTS = kinds(PLAIN_QUANTIFIERS), kinds(COUNTING)


@KINDS
def test_it_is_written_by_its_name_and_by_its_sign(kind: QuantifierKind) -> None:
    assert kind.name in KEYWORDS
    by_name, by_sign = parse(f"{kind.name} x: P(x)"), parse(f"{kind.sign}x: P(x)")
    assert by_name == by_sign
    assert isinstance(by_name, Quantifier)
    assert by_name.kind == kind.name
    assert (text(by_name), text(by_name, unicode=True)) == (f"{kind.name} x: P(x)", f"{kind.sign}x: P(x)")


@KINDS
def test_its_dual_is_what_its_negation_becomes(kind: QuantifierKind) -> None:
    assert str(negation_normal_form(parse(f"~{kind.name} x: P(x)"))) == f"{kind.dual} x: ~P(x)"
    assert kind.dual is not None
    assert QUANTIFIERS[kind.dual].dual == kind.name
    assert QUANTIFIERS[kind.dual].of_nothing(None) == 1.0 - kind.of_nothing(None)


@KINDS
@pytest.mark.parametrize("preset", ["stable_product", "product", "godel", "lukasiewicz"])
def test_it_is_neutral_where_nothing_is_selected(kind: QuantifierKind, preset: str) -> None:
    semantics = ltn.semantics.get(preset)
    x = ltn.Variable("x", [0.3, 0.6])
    nobody = ltn.Formula(tf.zeros(2), ["x"])
    quantifier = ltn.Wrapper_Quantifier(getattr(semantics, kind.operator), kind.name)
    assert_close(quantifier(x, ltn.Formula([0.3, 0.6], ["x"]), mask=nobody).tensor, kind.of_nothing(None))


@KINDS
def test_every_semantics_has_its_operator(kind: QuantifierKind) -> None:
    assert callable(getattr(ltn.semantics.log_product, kind.operator))
    wrapper = getattr(ltn.semantics.product.wrap(), kind.operator)
    assert wrapper.semantics == kind.name


@COUNTS
def test_a_count_is_written_by_name_and_by_sign(kind: QuantifierKind) -> None:
    by_name, by_sign = parse(f"{kind.name} 2 x: P(x)"), parse(f"{kind.sign}2x: P(x)")
    assert by_name == by_sign
    assert isinstance(by_name, Quantifier)
    assert (by_name.kind, by_name.count) == (kind.name, 2)
    assert text(by_name) == f"{kind.name} 2 x: P(x)"
    assert text(by_name, unicode=True) == f"{kind.sign}2 x: P(x)"
    assert by_name != parse(f"{kind.name} 3 x: P(x)")
    guarded = f"{kind.name} 12[p=3] diag(x, y), z where x < z: P(x)"
    assert text(parse(guarded)) == guarded


@pytest.mark.parametrize(
    "written", ["exists! x: P(x)", "exists ! x: P(x)", "∃!x: P(x)", "exactly 01 x: P(x)"]
)
def test_exactly_one_has_a_sign_of_its_own(written: str) -> None:
    assert parse(written) == parse("exactly 1 x: P(x)")


def test_words_of_counts_are_names_elsewhere() -> None:
    for source in (
        "at(x) & exactly(y) -> least | most(at, least, exactly)",
        "exactly - 1 < least",
        "forall at, least where exactly > 0: exactly(at, least)",
        "exactly 2 exactly, at: at(exactly)",
    ):
        assert text(parse(source)) == source


@COUNTS
def test_a_count_keeps_its_negation(kind: QuantifierKind) -> None:
    normal = negation_normal_form(parse(f"~{kind.name} 2 x: ~forall y: P(x) -> R(x, y)"))
    assert str(normal) == f"~{kind.name} 2 x: exists y: P(x) & ~R(x, y)"
    assert negation_normal_form(normal) == normal


@pytest.mark.parametrize(
    ("kind", "count", "message"),
    [
        ("forall", 1, "'forall' has no count; got 1"),
        ("exactly", None, "'exactly' has a count, a whole number; got None"),
        ("exactly", 1.0, "'exactly' has a count, a whole number; got 1.0"),
        ("at least", -1, "from 0 to 1000000; got -1"),
        ("at most", LARGEST_COUNT + 1, "from 0 to 1000000; got 1000001"),
        ("some", 1, "'forall', 'exists', 'exactly', 'at least' or 'at most'; got 'some'"),
    ],
)
def test_impossible_counts(kind: str, count: Any, message: str) -> None:
    with pytest.raises(LogicError, match=message):
        Quantifier(kind, (("x",),), parse("P(x)"), count=count)


@pytest.mark.parametrize(
    ("kind", "truths"), [("exactly", (1.0, 0.0)), ("at least", (1.0, 0.0)), ("at most", (1.0, 1.0))]
)
@pytest.mark.parametrize("preset", ["stable_product", "product", "godel", "lukasiewicz"])
def test_of_nothing_the_count_is_zero(kind: str, truths: tuple[float, float], preset: str) -> None:
    x, nobody = ltn.Variable("x", [0.3, 0.6]), ltn.Formula(tf.zeros(2), ["x"])
    quantifier = ltn.Wrapper_Count(ltn.semantics.get(preset).Count, kind)
    for count, expected in enumerate(truths):
        value = quantifier(count, x, ltn.Formula([0.3, 0.6], ["x"]), mask=nobody)
        assert_close(value.tensor, expected)
        assert QUANTIFIERS[kind].of_nothing(count) == expected
