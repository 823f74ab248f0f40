"""Texts that fit: lines end at the joints of a formula, and nothing is lost or too wide."""

import pytest

from ltn.plot.texts import fit_text, shorten

FORMULAS = [
    "∀diag(x, label) where label = virginica: petals(x, label) > 2.5 ∧ sepals(x) = 3 + width(x) → P(x)",
    "forall x, y: (likes(x, y) & knows(y, x)) -> exists z where norm(x - z) < 0.5: likes(x, z) | likes(z, y)",
    "a_name_without_any_place_to_break_it_that_is_longer_than_a_line: ∀x: P(x)",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("width", [24, 40, 60])
def test_lines_are_not_too_wide_and_nothing_is_lost(formula: str, width: int) -> None:
    lines = fit_text(formula, width, lines=20).splitlines()
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == formula.replace(" ", "")


@pytest.mark.parametrize("formula", FORMULAS[:2])
@pytest.mark.parametrize("width", [36, 48, 60])
def test_an_operator_is_not_separated_from_its_operands(formula: str, width: int) -> None:
    lines = fit_text(formula, width, lines=20).splitlines()
    for line in lines:
        assert not line.endswith((" =", " <", " >", " +", " -", " ∧", " →", " &", " ->", " |", " where"))
    for line in lines[1:]:
        assert not line.startswith(("= ", "< ", "> ", "+ ", "- "))


def test_text_that_does_not_fit_ends_in_an_ellipsis() -> None:
    cut = fit_text(FORMULAS[1], 30, lines=2)
    assert cut.endswith("…")
    assert max(map(len, cut.splitlines())) <= 30
    assert fit_text("", 10) == ""


@pytest.mark.parametrize("width", [5, 6, 18, 24])
def test_long_names_keep_beginning_and_end(width: int) -> None:
    short = shorten("an_individual_with_a_long_name_17", width)
    assert len(short) == width
    assert short.startswith("an")
    assert short.endswith("7")
    assert shorten("short", 5) == "short"
