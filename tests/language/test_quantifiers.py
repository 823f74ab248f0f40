"""The table of quantifier kinds: each row agrees with the grammar, the text of trees and the semantics."""

import pytest
import tensorflow as tf

import ltn
from ltn.language import Quantifier, negation_normal_form, parse, text
from ltn.language.names import KEYWORDS, QUANTIFIERS, QuantifierKind
from tests.tolerance import assert_close

KINDS = pytest.mark.parametrize("kind", QUANTIFIERS.values(), ids=lambda kind: kind.name)


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
    assert QUANTIFIERS[kind.dual].dual == kind.name
    assert QUANTIFIERS[kind.dual].neutral == 1.0 - kind.neutral


@KINDS
@pytest.mark.parametrize("preset", ["stable_product", "product", "godel", "lukasiewicz"])
def test_it_is_neutral_where_nothing_is_selected(kind: QuantifierKind, preset: str) -> None:
    semantics = ltn.semantics.get(preset)
    x = ltn.Variable("x", [0.3, 0.6])
    nobody = ltn.Formula(tf.zeros(2), ["x"])
    quantifier = ltn.Wrapper_Quantifier(getattr(semantics, kind.operator), kind.name)
    assert_close(quantifier(x, ltn.Formula([0.3, 0.6], ["x"]), mask=nobody).tensor, kind.neutral)


@KINDS
def test_every_semantics_has_its_operator(kind: QuantifierKind) -> None:
    assert callable(getattr(ltn.semantics.log_product, kind.operator))
    wrapper = getattr(ltn.semantics.product.wrap(), kind.operator)
    assert wrapper.semantics == kind.name
