"""Checking formulas against a signature: what is well-typed, and what is said of what is not."""

import re

import pytest

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Apply, Domain, Name, Not, Signature, negation_normal_form, parse, parse_many
from tests.language.signatures import example

SIGNATURE = example()


@pytest.mark.parametrize(
    "formula",
    [
        "A",
        "lives_in(Alice, Rome)",
        "lives_in(father(Bob), u)",
        "lives_in(home)",
        "lives_in(at(x))",
        "at(x) = home",
        "near(v, w)",
        "near(v - w, -v)",
        "near(2 * v, v / w)",
        "digit(i, 7)",
        "digit(i, d1 + d2)",
        "old(30)",
        "old(30.5)",
        "old(norm(v))",
        "x = father(y)",
        "v = 0",
        "v != w + 1",
        "i - j = 0",
        "age(x) + 1 <= n",
        "abs(n - age(x)) < 5",
        "norm(abs(v)) >= -1",
        "d1 < 11",
        "Smokes(x) > 0.5",
        "0.5 <= Smokes(x)",
        "Smokes(x) = 1 - 0.5",
        "forall x: Smokes(x)",
        "forall x where age(x) > age(y) & ~(Smokes(x) -> x = y): A & Smokes(x)",
        "forall x, y where Smokes(x) <-> y = x: A",
        "forall diag(i, d1): digit(i, d1)",
        "(forall x: Smokes(x)) & (exists x: Smokes(x))",
        "Smokes(x) & forall x: Smokes(x)",
    ],
)
def test_well_typed(formula: str) -> None:
    SIGNATURE.check_formula(parse(formula), formula)
    SIGNATURE.check_formula(parse(formula))
    assert SIGNATURE.check(parse(formula)).is_formula
    with pytest.raises(LogicTypeError, match=r"Expected a term, .* is a formula"):
        SIGNATURE.check_term(parse(formula))


@pytest.mark.parametrize(
    ("term", "shape", "domain"),
    [
        ("x", (4,), "people"),
        ("Rome", (1,), "towns"),
        ("age(x)", (1,), "ages"),
        ("at(x)", (5,), "people * towns"),
        ("3", (1,), None),
        ("-i", (28, 28, 1), None),
        ("d1 * i", (28, 28, 1), None),
        ("v + w", (2,), None),
        ("norm(i)", (1,), None),
        ("abs(i)", (28, 28, 1), None),
    ],
)
def test_the_sort_of_a_term(term: str, shape: tuple[int, ...], domain: str | None) -> None:
    sort = SIGNATURE.check_term(parse(term), term)
    assert not sort.is_formula
    assert (sort.shape, sort.domain and sort.domain.name) == (shape, domain)
    with pytest.raises(LogicTypeError, match=r"Expected a formula, .* is a term"):
        SIGNATURE.check_formula(parse(term))


TYPES = LogicTypeError
VALUES = LogicValueError
COMPARES = "compares terms, or the truth of a predicate with a number, as in `P(x) > 0.5`"

# The formula with marks around the place where the carets stand, the kind of error, and its message.
MISTAKES: list[tuple[str, type[Exception], str]] = [
    (
        "lives_in(Bob, «Charlie»)",
        TYPES,
        "Argument 2 of 'lives_in' must be of the domain 'towns'; 'Charlie' is of the domain 'people'.",
    ),
    (
        "A & lives_in(«Rome», father(x))",
        TYPES,
        "Argument 1 of 'lives_in' must be of the domain 'people'; 'Rome' is of the domain 'towns'.",
    ),
    (
        "near(«home»)",
        TYPES,
        "Argument 1 of 'near' must be of the domain 'points'; 'home' is of the domain 'people * towns'.",
    ),
    ("A | «lives_in(Bob)»", TYPES, "'lives_in' takes 2 arguments, lives_in(people, towns); got 1."),
    ("«Smokes(x, y)»", TYPES, "'Smokes' takes 1 argument, Smokes(people); got 2."),
    ("«lives_in(at(x), u)»", TYPES, "'lives_in' takes 2 arguments, lives_in(people, towns); got 3."),
    ("«norm(v, w)» = 1", TYPES, "'norm' takes 1 argument, norm(t); got 2."),
    ("Smokes(«A»)", TYPES, "Argument 1 of 'Smokes' must be a term; 'A' is a formula."),
    ("Smokes(«Smokes(x)»)", TYPES, "Argument 1 of 'Smokes' must be a term; `Smokes(x)` is a formula."),
    ("digit(i, «11»)", VALUES, "11 is not an individual of 'digits' (0, 1, ..., 9)."),
    ("digit(i, «-1»)", VALUES, "-1 is not an individual of 'digits' (0, 1, ..., 9)."),
    ("digit(i, «1e300»)", VALUES, "1e+300 is not an individual of 'digits' (0, 1, ..., 9)."),
    ("lives_in(x, «2»)", VALUES, "2 is not an individual of 'towns' (Rome, Seoul)."),
    ("old(«200»)", VALUES, "200 is outside the bounds (0.0, 120.0) of the domain 'ages'."),
    (
        "Smokes(«3»)",
        TYPES,
        "Argument 1 of 'Smokes' must be of the domain 'people', with the shape (4,); `3` has the shape (1,).",
    ),
    (
        "near(v, «i + 1»)",
        TYPES,
        "Argument 2 of 'near' must be of the domain 'points', with the shape (2,); `i + 1` has the shape "
        "(28, 28, 1).",
    ),
    (
        "norm(i + «v») = 0",
        TYPES,
        "`+` combines terms of one shape, or a term and a number; 'i' has the shape (28, 28, 1), 'v' (2,).",
    ),
    ("norm(v * («w = v»)) = 0", TYPES, "`*` combines terms; `w = v` is a formula."),
    ("norm(-«A») = 0", TYPES, "`-` negates terms; 'A' is a formula."),
    (
        "x = «u»",
        TYPES,
        "`=` compares terms of one domain; 'x' is of the domain 'people', 'u' of 'towns'. To relate two "
        "domains, declare a predicate or a function on them.",
    ),
    (
        "v + 1 != «i»",
        TYPES,
        "`!=` compares terms of one shape, or a term and a number; `v + 1` has the shape (2,), "
        "'i' (28, 28, 1).",
    ),
    (
        "0 < «v»",
        TYPES,
        "`<` compares numbers; 'v' has the shape (2,). Compare its norm, or another function of it.",
    ),
    ("«A» > 0.5", TYPES, f"`>` {COMPARES}; 'A' is a formula."),
    ("«Smokes(y)» > age(x)", TYPES, f"`>` {COMPARES}; `Smokes(y)` is a formula."),
    (
        "«Smokes(y)» = Smokes(x)",
        TYPES,
        f"`=` {COMPARES}; `Smokes(y)` is a formula. For the equivalence of formulas write `<->`.",
    ),
    ("A & «x + 1»", TYPES, "`&` connects formulas; `x + 1` is a term."),
    ("«x + 1» <-> A", TYPES, "`<->` connects formulas; `x + 1` is a term."),
    ("~«x»", TYPES, "`~` negates formulas; 'x' is a term."),
    ("forall x: «x»", TYPES, "The body of a quantifier must be a formula; 'x' is a term."),
    ("forall x where «y»: Smokes(x)", TYPES, "A guard must be a formula; 'y' is a term."),
    ("A -> «Smoke»(x)", VALUES, "There is no predicate or function 'Smoke'; did you mean 'Smokes'?"),
    ("«smokes»(x)", VALUES, "There is no predicate or function 'smokes'; did you mean 'Smokes'?"),
    ("old(«norn»(v))", VALUES, "There is no predicate or function 'norn'; did you mean 'norm'?"),
    (
        "Smokes(«Charly»)",
        VALUES,
        "There is no variable, constant or proposition 'Charly'; did you mean 'Charlie'?",
    ),
    ("Smokes(«q»)", VALUES, "There is no variable, constant or proposition 'q'; declared: x, y, ..., B."),
    (
        "Smokes(«people»)",
        VALUES,
        "There is no variable, constant or proposition 'people'; it is a domain: declare a variable of it.",
    ),
    ("forall «q»: Smokes(q)", VALUES, "There is no variable 'q'; declared: x, y, ..., home."),
    ("forall «hom»: Smokes(hom)", VALUES, "There is no variable 'hom'; did you mean 'home'?"),
    ("forall «Bob»: Smokes(Bob)", TYPES, "A quantifier binds variables; 'Bob' is a constant."),
    ("«Smokes»", TYPES, "'Smokes' is a predicate: write it with its arguments, Smokes(people)."),
    ("«norm» = 1", TYPES, "'norm' is a built-in function: write it with its arguments, norm(t)."),
    ("«x»(y)", TYPES, "'x' is a variable: write it without arguments."),
    ("«A»(y)", TYPES, "'A' is a proposition: write it without arguments."),
    ("exists y, «y»: Smokes(y)", VALUES, "The variable 'y' is bound twice by one quantifier."),
    ("forall diag(y, «y»): Smokes(y)", VALUES, "The variable 'y' is bound twice by one quantifier."),
    (
        "forall x: Smokes(x) & exists y, «x»: x = y",
        VALUES,
        "The variable 'x' is already bound around here; use another variable of the domain 'people'.",
    ),
    (
        "exists y, «x»: Smokes(y)",
        VALUES,
        "The variable 'x' is bound here but does not occur below: leave it out.",
    ),
    (
        "Smokes(z) & exists «z»: (forall y: Smokes(y)) & A",
        VALUES,
        "The variable 'z' is bound here but does not occur below: leave it out.",
    ),
    (
        "forall x where «exists y: x = y»: Smokes(x)",
        VALUES,
        "A guard has no quantifiers: move them into the formula; or give what is made of relations "
        "a name, by `define`, and use that.",
    ),
    (
        "forall x where x = y & ~«A»: Smokes(x)",
        VALUES,
        "A guard is crisp, and the proposition 'A' is not: move it into the formula.",
    ),
]


@pytest.mark.parametrize(("marked", "kind", "message"), MISTAKES, ids=[mistake[0] for mistake in MISTAKES])
def test_ill_typed(marked: str, kind: type[Exception], message: str) -> None:
    before, part, after = re.split("[«»]", marked)
    formula = before + part + after
    with pytest.raises(kind) as caught:
        SIGNATURE.check_formula(parse(formula), formula)
    assert str(caught.value) == f"{message}\n    {formula}\n    {' ' * len(before)}{'^' * len(part)}"


def test_without_a_source_the_tree_is_shown_as_printed() -> None:
    tree = Not(Apply("lives_in", (Name("Bob"), Name("Charlie"))))
    with pytest.raises(LogicTypeError, match="Argument 2") as caught:
        SIGNATURE.check_formula(tree)
    assert str(caught.value).split("\n")[1:] == ["    ~lives_in(Bob, Charlie)", "                   ^^^^^^^"]


def test_a_normal_form_is_checked_against_the_source_of_the_formula() -> None:
    source = "~(A -> lives_in(Bob, Charlie))"
    with pytest.raises(LogicTypeError) as caught:
        SIGNATURE.check_formula(negation_normal_form(parse(source)), source)
    assert str(caught.value).split("\n")[1:] == [f"    {source}", "                         ^^^^^^^"]


def test_long_operands_are_shortened() -> None:
    long = " + ".join(["d1"] * 50)
    with pytest.raises(LogicTypeError) as caught:
        SIGNATURE.check_formula(parse(f"A & {long}"))
    message = str(caught.value).split("\n")[0]
    assert message.endswith("d1 +...` is a term.")
    assert len(message) < 100


def test_nothing_declared() -> None:
    with pytest.raises(
        LogicValueError, match="There is no variable, constant or proposition 'A'; none is declared"
    ):
        Signature().check(parse("A"))


def test_the_place_in_a_formula_of_several_lines() -> None:
    _, formula, source = parse_many("A\nl: forall x:\n    Smokes(x)\n    & lives_in(x, x)\n")[1]
    with pytest.raises(LogicTypeError) as caught:
        SIGNATURE.check_formula(formula, source)
    assert str(caught.value).split("\n")[1:] == [
        "    line 3:     & lives_in(x, x)",
        "                              ^",
    ]


@pytest.mark.parametrize("count", [300, 2000])
def test_many_facts_in_one_formula(count: int) -> None:
    facts = " & ".join(f"digit(i, {k % 10})" for k in range(count))
    formula = parse(facts)
    SIGNATURE.check_formula(formula, facts)
    assert SIGNATURE.free_variables(formula) == ["i"]
    SIGNATURE.check_closed(parse(f"forall i: {facts}"))
    with pytest.raises(
        LogicValueError, match="There is no predicate or function 'dgit'; did you mean 'digit'"
    ):
        SIGNATURE.check_formula(parse(f"{facts} & dgit(i, 1)"))


def test_unknown_sizes_may_be_any() -> None:
    signature = Signature()
    for name, shape in {"walk": (None, 3), "pair": (2, 3), "four": (2, 4)}.items():
        signature.add_domain(Domain(f"{name}s", shape=shape))
        signature.add_variable(name, signature.domains[f"{name}s"])
        signature.add_predicate(f"is_{name}", signature.domains[f"{name}s"])
    for term in ("walk + pair", "pair - walk"):
        assert signature.check_term(parse(term)).shape == (2, 3)
    assert signature.check_term(parse("2 * walk")).shape == (None, 3)
    signature.check_formula(parse("is_walk(2 * pair) & is_pair(walk + 1) & walk + 1 = pair"))
    for wrong in ("walk * four", "is_four(1 - walk)", "walk + 1 = four"):
        with pytest.raises(LogicTypeError, match="has the shape"):
            signature.check(parse(wrong))
