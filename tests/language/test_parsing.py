"""The written language: notation, comments, and texts of many formulas."""

import re
from typing import Any

import pytest

from ltn.language import Apply, Name, Number, Quantifier, Signature, parse, parse_many, text
from ltn.language.names import KEYWORDS, NAME, SOFT_KEYWORDS
from ltn.language.parser import _parser


def test_the_examples_of_the_manual() -> None:
    friends = parse("forall[p=6] x, y where norm(x - y) < 0.2: F(x, y) -> F(y, x)")
    assert isinstance(friends, Quantifier)
    assert friends.groups == (("x",), ("y",))
    assert friends.options == (("p", 6.0),)
    assert friends.guard == parse("norm(x - y) < 0.2")
    assert friends.body == parse("F(x, y) -> F(y, x)")
    addition = parse("forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)")
    assert isinstance(addition, Quantifier)
    assert addition.groups == (("x", "y", "n"),)
    assert addition.guard is None
    assert addition.options == ()
    inner = addition.body
    assert isinstance(inner, Quantifier)
    assert (inner.kind, inner.guard, inner.body) == (
        "exists",
        parse("d1 + d2 = n"),
        parse("digit(x, d1) & digit(y, d2)"),
    )


@pytest.mark.parametrize(
    "name", ["forallx", "order", "android", "nothing", "diagonal", "whereabouts", "existsy"]
)
def test_a_name_may_begin_with_a_keyword(name: str) -> None:
    assert parse(name) == Name(name)
    assert parse(f"{name}(x)") == Apply(name, (Name("x"),))


@pytest.mark.parametrize("name", ["x'", "f''", "ü", "東京", "x₁", "_", "a1_b"])
def test_names(name: str) -> None:
    assert parse(name) == Name(name)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_is_no_name(keyword: str) -> None:
    for source in (
        f"P({keyword})",
        f"forall {keyword}: A",
        f"forall diag({keyword}): A",
        f"forall[{keyword}=1] x: A",
    ):
        with pytest.raises(ValueError, match=r"^Expected .*, found"):
            parse(source)


@pytest.mark.parametrize("word", SOFT_KEYWORDS)
def test_a_soft_keyword_is_a_name_where_names_stand(word: str) -> None:
    for source in (
        word,
        f"P({word})",
        f"{word}(x)",
        f"{word} & {word}({word})",
        f"forall {word} where {word} > 1: {word}({word}) -> A",
        f"forall diag({word}, x): {word}(x)",
        f"forall[{word}=1] x: A",
        f"define {word}({word}: {word}): {word}({word})",
        f"{word}({word}, x) for diag({word}, x)",
    ):
        assert text(parse(source)) == source
    Signature().check_new(word, "a predicate")


def test_the_grammar_and_the_signature_agree_on_names() -> None:
    assert _parser().get_terminal("NAME").pattern.value == NAME
    patterns = [terminal.pattern.value for terminal in _parser().terminals]
    words = {
        word for pattern in patterns for word in re.findall(r"(?:\b|\\s\+)([a-z]+)(?=\(\?[!=]|\\s)", pattern)
    }
    assert words == {*KEYWORDS, *SOFT_KEYWORDS}


@pytest.mark.parametrize(
    ("written", "value"),
    [("3", 3.0), ("0.25", 0.25), (".5", 0.5), ("1e-3", 1e-3), ("2.5E+2", 250.0), ("007", 7.0)],
)
def test_numbers(written: str, value: float) -> None:
    assert parse(written) == Number(value)
    formula = parse(f"forall[p=-{written}] x: A")
    assert isinstance(formula, Quantifier)
    assert formula.options == (("p", -value),)


def test_spaces_lines_and_comments_separate_only() -> None:
    spaced = """
        forall x , y :   # for all of them: (
            P ( x )      # unless & ~
            ->Q(y)"""
    assert text(parse(spaced)) == "forall x, y: P(x) -> Q(y)"
    assert parse("∀x:¬P(x)∧x≤3→A") == parse("forall x: ~P(x) & x <= 3 -> A")
    assert parse("x<-y") == parse("x < -y")
    assert parse("A<->B") == parse("A <-> B")
    assert parse("x--y") == parse("x - (-y)")


def test_diag_of_one_variable_is_the_variable() -> None:
    assert parse("forall diag(x): P(x)") == parse("forall x: P(x)")


MANY = """
    # Knowledge about smokers.
    symmetric: forall x, y:
        F(x, y)
        -> F(y, x)          # friendship

    S(a)  # a fact
 # a comment with less indentation
    long_one:  # what follows is indented
        forall x where ~S(x):

          # also in between
            exists y:
                F(x, y)
    ¬S(b)
"""


def test_many_formulas() -> None:
    found = parse_many(MANY)
    assert [(label, str(formula)) for label, formula, _ in found] == [
        ("symmetric", "forall x, y: F(x, y) -> F(y, x)"),
        (None, "S(a)"),
        ("long_one", "forall x where ~S(x): exists y: F(x, y)"),
        (None, "~S(b)"),
    ]
    assert [source for _, _, source in found] == [
        "forall x, y:\n    F(x, y)\n    -> F(y, x)",
        "S(a)",
        "forall x where ~S(x):\n\n\n        exists y:\n            F(x, y)",
        "¬S(b)",
    ]


def test_each_formula_reads_back_from_its_own_text() -> None:
    for _, formula, source in parse_many(MANY):
        assert parse(source) == formula
        assert [node.span for node in parse(source).walk()] == [node.span for node in formula.walk()]


@pytest.mark.parametrize("empty", ["", "  \n\n", "# nothing\n   # at all"])
def test_a_text_may_hold_no_formula(empty: str) -> None:
    assert parse_many(empty) == []


def test_lines_may_end_as_on_windows() -> None:
    assert [str(formula) for _, formula, _ in parse_many("A\r\n  & B\r\nC\r\n")] == ["A & B", "C"]


def test_a_file_of_facts() -> None:
    found = parse_many("\n".join(f"fact{i}: P(a{i}, {i})" for i in range(300)))
    assert [label for label, _, _ in found] == [f"fact{i}" for i in range(300)]
    assert [source for _, _, source in found] == [str(formula) for _, formula, _ in found]


@pytest.mark.parametrize("wrong", [None, 3, b"A", ["A"]])
def test_only_strings_are_read(wrong: Any) -> None:
    for read in (parse, parse_many):
        with pytest.raises(TypeError, match="read from a string; got a"):
            read(wrong)
