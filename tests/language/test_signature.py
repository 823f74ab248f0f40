"""The signature: what may be declared, and what is said of what may not."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Domain, Signature, parse
from ltn.language.names import written
from tests.language.signatures import example
from tests.language.trees import names

Declare = Callable[[Signature, Any], None]


def people_of(signature: Signature) -> Domain:
    return signature.domains["people"]


DECLARATIONS: dict[str, Declare] = {
    "a domain": lambda signature, name: signature.add_domain(Domain(name)),
    "a constant": lambda signature, name: signature.add_constant(name, people_of(signature)),
    "a variable": lambda signature, name: signature.add_variable(name, people_of(signature)),
    "a function": lambda signature, name: signature.add_function(
        name, people_of(signature), people_of(signature)
    ),
    "a predicate": lambda signature, name: signature.add_predicate(name, people_of(signature)),
    "a proposition": lambda signature, name: signature.add_proposition(name),
    "an individual of the domain 'new'": lambda signature, name: signature.add_domain(
        Domain("new", values=["first", name])
    ),
}


@pytest.fixture
def signature() -> Signature:
    return example()


@pytest.mark.parametrize("what", DECLARATIONS)
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("New\nYork", "a name has at least one character, and neither line breaks"),
        ("New\u2028York", "a name has at least one character, and neither line breaks"),
        ("New\tYork", "a name has at least one character, and neither line breaks nor other control"),
        ("\ud83d", "a name has at least one character, and neither line breaks nor other control"),
    ],
)
def test_names_must_be_names(signature: Signature, what: str, name: str, problem: str) -> None:
    before = signature.get_config()
    with pytest.raises(LogicValueError, match=f"cannot name {what}: {problem}"):
        DECLARATIONS[what](signature, name)
    assert signature.get_config() == before


@pytest.mark.parametrize("what", [what for what in DECLARATIONS if what != "a domain"])
@pytest.mark.parametrize(
    ("name", "is_already"),
    [
        ("x", "a variable of the domain 'people'"),
        ("home", r"a variable of the domain 'people \* towns'"),
        ("Bob", "a constant of the domain 'people'"),
        ("Rome", "a constant of the domain 'towns'"),
        ("age", "a function"),
        ("Smokes", "a predicate"),
        ("A", "a proposition"),
        ("norm", "a built-in function"),
        ("abs", "a built-in function"),
    ],
)
def test_a_name_is_declared_once(signature: Signature, what: str, name: str, is_already: str) -> None:
    before = signature.get_config()
    with pytest.raises(LogicValueError, match=f"'{name}' cannot name {what}: it is already {is_already}"):
        DECLARATIONS[what](signature, name)
    assert signature.get_config() == before


def test_domains_have_their_own_names_but_for_variables(signature: Signature) -> None:
    signature.add_predicate("people", people_of(signature))
    assert signature.kind("people") == "predicate"
    signature.add_domain(Domain("Bob"))
    with pytest.raises(LogicValueError, match="'towns' cannot name a variable: it is already a domain"):
        signature.add_variable("towns", people_of(signature))
    with pytest.raises(
        LogicValueError, match="'x' cannot name a domain: it is already a variable of the domain 'people'"
    ):
        signature.add_domain(Domain("x"))
    with pytest.raises(LogicValueError, match="There is already a domain 'people'"):
        signature.add_domain(people_of(signature))


def test_kinds(signature: Signature) -> None:
    kinds = {
        "x": "variable",
        "Bob": "constant",
        "Rome": "constant",
        "age": "function",
        "Smokes": "predicate",
        "A": "proposition",
        "norm": "built-in function",
        "people": None,
        "nobody": None,
    }
    assert {name: signature.kind(name) for name in kinds} == kinds


def test_named_individuals_are_constants_and_numbers_are_not(signature: Signature) -> None:
    assert signature.constants["Seoul"] is signature.domains["towns"]
    assert list(signature.constants) == ["Rome", "Seoul", "Alice", "Bob", "Charlie"]
    assert signature.domains["digits"].names is not None
    assert not set(signature.domains["digits"].names) & set(signature.constants)


def test_places_follow_the_constants_from_the_first_one_on() -> None:
    signature, people = Signature(), Domain("people", shape=2)
    signature.add_domain(people)
    for number, name in enumerate(["Alice", "Bob"]):
        signature.add_constant(name, people)
        assert signature.places(people)[name] == number


def test_products_are_flattened_into_inputs(signature: Signature) -> None:
    people, towns, points = (signature.domains[name] for name in ("people", "towns", "points"))
    assert signature.predicates["near"] == (points, points)
    signature.add_predicate("R", (people * towns, points))
    assert signature.predicates["R"] == (people, towns, points)
    inputs, output = signature.functions["at"]
    assert inputs == (people,)
    assert output.parts == (people, towns)


def test_domains_must_be_declared_ones(signature: Signature) -> None:
    people = people_of(signature)
    with pytest.raises(
        LogicTypeError, match="domain of the variable 'q' must be a Domain object; got a str: 'people'"
    ):
        signature.add_variable("q", "people")  # type: ignore[arg-type]
    with pytest.raises(LogicValueError, match="domain 'animals' of the constant 'q' is not declared"):
        signature.add_constant("q", Domain("animals"))
    with pytest.raises(
        LogicValueError, match="domain 'animals' of an input of the predicate 'q' is not declared"
    ):
        signature.add_predicate("q", (people, people * Domain("animals")))
    with pytest.raises(LogicValueError, match="'people' of the output of the function 'q' is another object"):
        signature.add_function("q", people, Domain("people", shape=4))
    with pytest.raises(
        LogicTypeError, match="an input of the function 'q' must be a Domain object; got a int: 4"
    ):
        signature.add_function("q", (people, 4), people)  # type: ignore[arg-type]
    with pytest.raises(
        LogicTypeError, match=r"inputs of the predicate 'q' must be a Domain or a sequence.*got a str"
    ):
        signature.add_predicate("q", "people")  # type: ignore[arg-type]
    with pytest.raises(LogicTypeError, match="Expected a Domain; got a str: 'people'"):
        signature.add_domain("people")  # type: ignore[arg-type]
    with pytest.raises(LogicValueError, match=r"The product 'people \* people' needs no declaration"):
        signature.add_domain(people * people)
    assert signature.kind("q") is None


def test_without_inputs(signature: Signature) -> None:
    with pytest.raises(
        LogicValueError, match="no input of the predicate 'q'; without inputs, declare a proposition"
    ):
        signature.add_predicate("q", ())
    with pytest.raises(
        LogicValueError, match="no input of the function 'q'; without inputs, declare a constant"
    ):
        signature.add_function("q", [], people_of(signature))


@pytest.mark.parametrize("what", [what for what in DECLARATIONS if "domain" not in what])
def test_names_are_strings(signature: Signature, what: str) -> None:
    with pytest.raises(LogicTypeError, match=f"The name of {what} must be a string; got a int: 3"):
        DECLARATIONS[what](signature, 3)


@pytest.mark.parametrize("text", ["x, y, z", "x y z", " x,y ,\n z,", "x,,y z"])
def test_names_of_a_text(text: str) -> None:
    assert Signature.names_of(text) == ["x", "y", "z"]
    assert Signature().names_of(text) == ["x", "y", "z"]


def test_no_names() -> None:
    for empty in ("", "  ", " , "):
        with pytest.raises(LogicValueError, match=r"There is no name in .*; write names with commas"):
            Signature.names_of(empty)
    with pytest.raises(LogicTypeError, match=r"as 'a, b', or a list; got a int: 3"):
        Signature.names_of(3)  # type: ignore[arg-type]
    with pytest.raises(LogicValueError, match="There is no name in the list"):
        Signature.names_of([])


def test_names_of_a_list_stand_as_they_are() -> None:
    names = ["x", "New York", "a, b", "'c'", "or"]
    assert Signature.names_of(names) == names


@given(st.lists(names(), min_size=1))
def test_written_names_are_read_from_a_list_with_commas(names: list[str]) -> None:
    assert Signature.names_of(", ".join(map(written, names))) == names
    assert Signature.names_of(" ".join(map(written, names))) == names


@pytest.mark.parametrize(
    ("text", "piece"),
    [("x, New-York", "'New-York'"), ("a, 2x", "'2x'"), ("and, or", "'and'"), ("'a b'c", '"\'a"')],
)
def test_names_in_a_text_need_quotes(text: str, piece: str) -> None:
    with pytest.raises(LogicValueError, match=f"^{piece} in .* needs quotes"):
        Signature.names_of(text)


@pytest.mark.parametrize(("count", "shown"), [(1, "0"), (8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, ..., 8")])
def test_long_lists_are_shortened(count: int, shown: str) -> None:
    signature = Signature()
    signature.add_domain(Domain("digits", values=range(count)))
    signature.add_predicate("even", signature.domains["digits"])
    with pytest.raises(LogicValueError) as caught:
        signature.check(parse("even(100)"))
    assert str(caught.value).split("\n")[0] == f"100 is not an individual of 'digits' ({shown})."


def test_restored_from_json(signature: Signature) -> None:
    # Declared after constants, so that the order is not that of the kinds.
    signature.add_domain(Domain("colours", values={"red": [1, 0, 0], "blue": [0, 0, 1]}))
    signature.add_constant("Dave", people_of(signature))
    signature.add_constant("pair", people_of(signature) * signature.domains["towns"])
    config = signature.get_config()
    restored = Signature.from_config(json.loads(json.dumps(config)))
    assert json.dumps(restored.get_config()) == json.dumps(config)
    assert repr(restored) == repr(signature)
    assert list(restored.constants) == list(signature.constants)
    assert restored.constants["red"] is restored.domains["colours"]
    assert restored.domains["people"] is not signature.domains["people"]
    inputs, output = restored.functions["at"]
    assert (inputs, output.parts) == (
        (restored.domains["people"],),
        (restored.domains["people"], restored.domains["towns"]),
    )
    restored.check_formula(
        parse("lives_in(at(x)) & lives_in(pair) & at(x) = home & digit(i, 3) & lives_in(Dave, Rome)")
    )
    with pytest.raises(LogicTypeError, match="Argument 2"):
        restored.check_formula(parse("lives_in(Bob, red)"))


def test_repr(signature: Signature) -> None:
    assert repr(Signature()) == "Signature()"
    assert repr(signature) == (
        "Signature(domains: people, towns, digits, images, ages, points; constants: Rome, Seoul, Alice, Bob, "
        "Charlie; variables: x, y, z, u, d1, d2, i, j, n, v, w, home; functions: age(people) -> ages, "
        "father(people) -> people, at(people) -> people * towns; predicates: lives_in(people, towns), "
        "Smokes(people), digit(images, digits), old(ages), near(points, points); propositions: A, B)"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domains": 3}, r"`signature\.domains` must be a list; got 3"),
        ({"domains": [{"name": "people"}]}, "`domain` has no 'shape'"),
        ({"constants": {"a": "nobody"}}, "no domain 'nobody'"),
        ({"variables": {"v": []}}, "the names of its parts"),
        ({"functions": {"f": {"inputs": ["people"]}}}, r"`signature\.functions\.f` has no 'output'"),
        ({"predicates": {"P": "people"}}, r"`signature\.predicates\.P` must be a list; got 'people'"),
        ({"propositions": ["a\nb"]}, r"'a\\nb' cannot name a proposition"),
    ],
)
def test_a_configuration_of_another_form_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LogicValueError, match=said):
        Signature.from_config(example().get_config() | change)


def test_an_empty_configuration_is_refused() -> None:
    with pytest.raises(LogicValueError, match="`signature` has no 'domains'"):
        Signature.from_config({})
