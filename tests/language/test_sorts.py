"""Sorts of checked trees, found without checking them again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltn.errors import LogicError
from ltn.language import And, Arithmetic, Name, Negative, Node, Number, parse
from ltn.language.names import BUILT_INS
from tests.language.signatures import example
from tests.language.trees import trees

SIGNATURE = example()
NAMES = [*SIGNATURE.variables, *SIGNATURE.constants, *SIGNATURE.propositions]
SYMBOLS = [*SIGNATURE.predicates, *SIGNATURE.functions, *BUILT_INS]


@given(trees(of_names=st.sampled_from(NAMES), of_symbols=st.sampled_from(SYMBOLS)))
def test_it_is_what_checking_finds(tree: Node) -> None:
    for node in tree.walk():
        try:
            checked = SIGNATURE.check(node)
        except LogicError:
            continue
        assert SIGNATURE.sort_of(node) == checked


@pytest.mark.parametrize(
    ("expression", "shape", "domain"),
    [
        ("3", (1,), None),
        ("x", (4,), "people"),
        ("Rome", (1,), "towns"),
        ("home", (5,), "people * towns"),
        ("father(father(x))", (4,), "people"),
        ("at(Bob)", (5,), "people * towns"),
        ("-n", (1,), None),
        ("2 * abs(v - w)", (2,), None),
        ("abs(i)", (28, 28, 1), None),
        ("norm(i) + age(x)", (1,), None),
        ("A", None, None),
        ("old(age(x))", None, None),
        ("norm(v) < 3", None, None),
        ("~A <-> B", None, None),
        ("forall x where age(x) > n: Smokes(x)", None, None),
    ],
)
def test_sorts_with_free_variables(
    expression: str, shape: tuple[int, ...] | None, domain: str | None
) -> None:
    sort = SIGNATURE.sort_of(parse(expression))
    assert sort == SIGNATURE.check(parse(expression), expression)
    assert (sort.shape, sort.domain and sort.domain.name) == (shape, domain)
    assert sort.is_formula == (shape is None)


def test_nothing_is_printed_or_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = parse("old(2 * age(x) + 1) & ~(v = -w)")
    monkeypatch.setattr("ltn.language.parser.read", lambda source: pytest.fail(f"parsed {source}"))
    monkeypatch.setattr("ltn.language.tree.text", lambda node: pytest.fail("printed"))
    assert [SIGNATURE.sort_of(node).is_formula for node in tree.walk()].count(True) == 4


def test_any_depth() -> None:
    depth = 20_000
    term: Node = Name("v")
    formula: Node = Name("A")
    for _ in range(depth):
        term = Arithmetic("+", Negative(term), Number(1))
        formula = And(formula, Name("B"))
    assert SIGNATURE.sort_of(term).shape == (2,)
    assert SIGNATURE.sort_of(formula).is_formula
