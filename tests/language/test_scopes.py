"""Free variables, and formulas without any."""

import pytest

from ltn.errors import LogicValueError
from ltn.language import parse
from tests.language.signatures import example

SIGNATURE = example()


@pytest.mark.parametrize(
    ("expression", "free"),
    [
        ("Smokes(x)", ["x"]),
        ("lives_in(Alice, Rome) & A", []),
        ("near(w, v) & near(v, w) & Smokes(x)", ["w", "v", "x"]),
        ("forall x: lives_in(x, u)", ["u"]),
        ("forall x where age(x) > n: lives_in(x, u) & x = y", ["n", "u", "y"]),
        ("(forall x: Smokes(x)) & Smokes(x)", ["x"]),
        ("forall diag(x, y): x = y", []),
        ("norm(v - w) + d1", ["v", "w", "d1"]),
    ],
)
def test_free_variables(expression: str, free: list[str]) -> None:
    assert SIGNATURE.free_variables(parse(expression)) == free


def test_an_axiom_is_closed() -> None:
    SIGNATURE.check_closed(parse("forall x: Smokes(x) -> exists y: x = y"))
    SIGNATURE.check_closed(parse("A & lives_in(Bob, Rome)"))
    source = "A & forall x: lives_in(x, u) & x = y & lives_in(y, u)"
    with pytest.raises(LogicValueError) as caught:
        SIGNATURE.check_closed(parse(source), source)
    assert str(caught.value) == (
        "The formula has the free variables u, y, but must be closed. Bind them with a quantifier, as in "
        "`forall u, y: ...`.\n"
        f"    {source}\n"
        "                              ^"
    )
    with pytest.raises(LogicValueError, match=r"free variable x, .* Bind it with .* `forall x: \.\.\.`"):
        SIGNATURE.check_closed(parse("Smokes(x)"))
