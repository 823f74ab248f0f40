"""What a mistake in the syntax says, and where it points."""

import pytest

from ltn.errors import LogicValueError
from ltn.language import parse, parse_many
from ltn.language.diagnostics import locate
from ltn.language.tree import Span


def complaint(source: str, many: bool = False) -> str:
    with pytest.raises(LogicValueError) as caught:
        parse_many(source) if many else parse(source)
    assert caught.value.__cause__ is None
    return str(caught.value)


AFTER = "Expected an operator or the end of the formula"
BEGIN = "Expected a formula or a term"
END = "found the end of the formula."
COUNT = "A count is a whole number from 0 to 1000000"
WHOLE = "A count is a whole number from 0 up, as in `at least 2 x: P(x)`."

# The source, the column of the first caret, the number of carets, and the message.
MISTAKES = [
    ("P(x", 3, 1, f"Expected ',', ')' or an operator, {END} The '(' of `P(x` is not closed."),
    ("forall[p=6", 10, 1, f"Expected ',' or ']', {END} The '[' of `forall[p=6` is not closed."),
    ("A &", 3, 1, f"{BEGIN}, {END}"),
    (": A", 0, 1, f"{BEGIN}, found ':'."),
    ("A B", 2, 1, f"{AFTER}, found 'B'."),
    ("A)", 1, 1, f"{AFTER}, found ')'."),
    ("(A]", 2, 1, "Expected ')' or an operator, found ']'."),
    ("A $ B", 2, 1, f"{AFTER}, found '$'."),
    ("x + forall x: A", 4, 6, "Expected a term, found 'forall'."),
    ("x < ~A", 4, 1, "Expected a term, found '~'."),
    ("forall x P(x)", 9, 1, "Expected ',', 'where' or ':', found 'P'."),
    ("forall x where A", 16, 1, f"Expected ':' or an operator, {END}"),
    ("forall: A", 6, 1, "Expected a variable, 'diag' or '[', found ':'."),
    ("forall diag(x, 1): A", 15, 1, "Expected a name, found '1'."),
    ("forall diag x: A", 12, 1, "Expected '(', found 'x'."),
    ("forall[p] x: A", 8, 1, "Expected '=', found ']'."),
    ("forall[p=q] x: A", 9, 1, "Expected a number, found 'q'."),
    ("forall[p=1, p=2] x: A", 12, 1, "The option 'p' is given twice; keep one of them."),
    ("P(1e999)", 2, 5, "The number 1e999 is too large; the largest is about 1.8e308."),
    ("A && B", 3, 1, f"{BEGIN}, found '&'. Instead of `&&` write `&`."),
    ("x == y", 3, 1, "Expected a term, found '='. Instead of `==` write `=`."),
    ("A <=> B", 4, 1, "Expected a term, found '>'. Instead of `<=>` write `<->`."),
    ("A ⊕ B", 2, 1, f"{AFTER}, found '⊕'. Instead of `⊕` write `xor`."),
    ("A XOR B", 2, 3, f"{AFTER}, found 'XOR'. Keywords have small letters: write `xor`."),
    ("A xor", 5, 1, f"{BEGIN}, {END}"),
    ("⊻", 0, 1, f"{BEGIN}, found '⊻'."),
    ("&& A", 0, 1, f"{BEGIN}, found '&'. Instead of `&&` write `&`."),
    ("A implies B", 2, 7, f"{AFTER}, found 'implies'. Instead of `implies` write `->`."),
    ("exactly 1.5 x: P(x)", 8, 3, f"{COUNT}; got 1.5."),
    ("exactly .5 x: P(x)", 8, 2, f"{COUNT}; got .5."),
    ("at most 1e1 x: P(x)", 8, 3, f"{COUNT}; got 1e1."),
    ("at least 10000000 x: P(x)", 9, 8, f"{COUNT}; got 10000000."),
    ("A & exactly -1 x: P(x)", 12, 2, f"{COUNT}; got -1."),
    ("at least -1 x: P(x)", 9, 1, f"Expected a number, found '-'. {WHOLE}"),
    ("at most x: P(x)", 8, 1, f"Expected a number, found 'x'. {WHOLE}"),
    ("exactly x: P(x)", 8, 1, f"{AFTER}, found 'x'. {WHOLE}"),
    ("exactly 1: P(x)", 9, 1, "Expected a variable, 'diag' or '[', found ':'."),
    ("Exactly 1 x: P(x)", 8, 1, f"{AFTER}, found '1'. Keywords have small letters: write `exactly`."),
    ("exists? k: P(k)", 6, 1, "Expected a variable, 'diag' or '[', found '?'."),
    ("!A", 0, 1, f"{BEGIN}, found '!'. Instead of `!` write `~`."),
    ("Forall x: A", 7, 1, f"{AFTER}, found 'x'. Keywords have small letters: write `forall`."),
    ("Not(x) B", 7, 1, f"{AFTER}, found 'B'."),
    ("A AND B", 2, 3, f"{AFTER}, found 'AND'. Keywords have small letters: write `and`."),
    ("P()", 2, 1, f"{BEGIN}, found ')'. Without arguments, write `P`."),
    ("A & P()", 6, 1, f"{BEGIN}, found ')'. Without arguments, write `P`."),
    (
        "x < y < z",
        6,
        1,
        "Expected a connective or the end of the formula, found '<'. Comparisons do not chain: join two with "
        "`&`.",
    ),
    (
        "forall x in people: P(x)",
        9,
        2,
        "Expected ',', 'where' or ':', found 'in'. The domain of a variable is told where the variable is "
        "declared: leave it out here.",
    ),
    ("label: A", 5, 1, f"{AFTER}, found ':'. A label is read in texts of many formulas only."),
]


@pytest.mark.parametrize(("source", "column", "width", "message"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_one_line(source: str, column: int, width: int, message: str) -> None:
    assert complaint(source) == f"{message}\n    {source}\n    {' ' * column}{'^' * width}"


def test_an_empty_text() -> None:
    assert complaint("  ") == "There is no formula in the text; write one, as in `forall x: P(x)`."


def test_the_line_is_told_when_there_are_several() -> None:
    assert complaint("forall x:\n    P(x) &\n    Q(x))") == (
        "Expected an operator or the end of the formula, found ')'.\n"
        "    line 3:     Q(x))\n"
        "                    ^"
    )
    assert complaint("\nA B") == f"{AFTER}, found 'B'.\n    line 2: A B\n              ^"
    assert complaint("A\n\n  # fine\nlabel: P(x) Q(x)\nB", many=True) == (
        "Expected an operator or the end of the formula, found 'Q'.\n"
        "    line 4: label: P(x) Q(x)\n"
        "                        ^"
    )


def test_a_line_that_should_be_indented() -> None:
    assert complaint("A\n& B", many=True) == (
        "Expected a formula or a term, found '&'. To continue the formula above, indent the line.\n"
        "    line 2: & B\n"
        "            ^"
    )
    assert complaint("forall x:\nP(x)", many=True) == (
        f"{BEGIN}, {END} If it continues on the next line, indent that line.\n"
        "    line 1: forall x:\n"
        "                     ^"
    )
    # There is nothing above to continue, and no line below.
    assert "indent" not in complaint("& B", many=True)
    assert "indent" not in complaint("B &", many=True)


def test_a_line_that_should_not_be_indented() -> None:
    assert complaint("A\n  B", many=True) == (
        f"{AFTER}, found 'B'. An indented line continues the formula above it: a new one begins at the start "
        "of a line.\n"
        "    line 2:   B\n"
        "              ^"
    )
    assert complaint("  A\nB", many=True) == (
        "An indented line continues the formula above it, and there is none. Begin each formula at the start "
        "of a line.\n"
        "    line 1:   A\n"
        "              ^"
    )


def test_a_label_alone() -> None:
    assert complaint("A\nlonely:\nB", many=True) == (
        "The label 'lonely' stands alone; write its formula behind it, or below it and indented.\n"
        "    line 2: lonely:\n"
        "            ^^^^^^"
    )


def test_long_lines_are_cut_around_the_place() -> None:
    facts = " & ".join(f"P(a{i})" for i in range(300))
    _, line, carets = complaint(facts.replace("P(a150)", "P a150)")).split("\n")
    assert len(line) < 120
    assert line.startswith("    ...")
    assert line.endswith("...")
    assert line[carets.index("^") :].startswith("a150) & P(a151)")
    assert len(carets.strip()) == len("a150")

    message, line, carets = complaint(facts + " &").split("\n")
    assert line.startswith("    ...")
    assert line.endswith("P(a299) &")
    assert len(carets) == len(line) + 1
    message, _, _ = complaint(facts.replace("a0)", "a0")).split("\n")
    assert message.endswith("The '(' of `P(a0 & P(a1) & P(a2) & P(a3) &...` is not closed.")


def test_carets_stay_below_the_place_behind_tabs_and_on_one_line() -> None:
    assert locate("m", "\tA B", Span(3, 4)) == "m\n    \tA B\n    \t  ^"
    assert locate("m", "A\nB C\nD", Span(2, 7)) == "m\n    line 2: B C\n            ^^^"
    assert locate("m", "A", None) == "m\n    A"


@pytest.mark.parametrize("depth", [500, 3000])
def test_deep_mistakes_are_told_too(depth: int) -> None:
    assert complaint("(" * depth + "A").startswith("Expected ')' or an operator, found the end")
