"""Definitions: they mean what their body means, with the arguments in place of the variables."""

import html
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ltn
import ltn.plot
from ltn.evaluation.quantifiers import Quantify
from ltn.language import And, Apply, Name, Node, Not, Number, Quantifier, parse
from ltn.language.statements import Definition, Parameter
from tests.theory.by_loops import LogProductLoops, Loops, StableProductLoops
from tests.theory.random_formulas import fewer, free, open_formulas, with_options_of
from tests.theory.worlds import CLASSES, CONSTANTS, LABELS, POINTS, VARIABLES, World, declared, worlds
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


class _Defining(Loops):
    """A definition is its body, where its variables are the values of the arguments: nothing is renamed."""

    definitions: dict[str, Definition]
    given: dict[str, Any]

    def term(self, node: Node, rows: dict[str, int]) -> Any:
        if isinstance(node, Name) and node.name in self.given and node.name not in rows:
            return self.given[node.name]
        return super().term(node, rows)

    def truth(self, node: Node, rows: dict[str, int], *signs: bool, **named: bool) -> Any:
        signs = (*signs, *named.values())
        if not isinstance(node, Apply) or node.symbol not in self.definitions:
            return super().truth(node, rows, *signs)  # type: ignore[misc]
        definition, around = self.definitions[node.symbol], self.given
        values = [self.term(argument, rows) for argument in node.arguments]
        self.given = {p.name: value for p, value in zip(definition.parameters, values, strict=True)}
        found = self.truth(definition.body, {}, *signs)
        self.given = around
        return found


class DefiningStableProduct(_Defining, StableProductLoops):
    pass


class DefiningLogProduct(_Defining, LogProductLoops):
    pass


def _argument(draw: st.DrawFn, variable: str, scope: list[str], any_point: bool) -> Node:
    """A term of the domain of a variable; for points one of the declared individuals, unless any will do."""
    for kind, others in (
        (POINTS, [*map(Name, CONSTANTS), *([parse("f(a)")] if any_point else [])]),
        (LABELS, [Number(1.0), parse("first(a)")]),
        (CLASSES, [Number(1)]),
    ):
        if variable in kind:
            return draw(st.sampled_from([Name(each) for each in kind if each in scope] * 2 + others))
    return draw(st.sampled_from([*(Name("h") for _ in "h" if "h" in scope), parse("at(a)")]))


@st.composite
def with_definitions(draw: st.DrawFn, semantics: Any) -> tuple[list[Definition], Node]:
    """Two definitions, the second of which uses the first; and a formula that uses both, also bound."""
    bodies = [with_options_of(semantics, draw(open_formulas()), None) for _ in range(2)]
    # `at` makes a class of a number, which only those of declared points are.
    symbols = {node.symbol for body in bodies for node in body.walk() if isinstance(node, Apply)}
    any_point = "at" not in symbols

    def use(definition: Definition, scope: list[str]) -> Node:
        arguments = tuple(
            _argument(draw, parameter.name, scope, any_point) for parameter in definition.parameters
        )
        return Apply(definition.name, arguments)

    first = Definition("first_one", tuple(map(Parameter, free(bodies[0]))), bodies[0])
    scope = free(bodies[1])
    inner = draw(st.sampled_from([x for x in VARIABLES if x not in scope]))
    bound = Quantifier("exists", ((inner,),), And(use(first, [inner]), Not(use(first, [*scope, inner]))))
    body = And(bodies[1], bound if inner in free(bound.body) else use(first, scope))
    second = Definition("second one", tuple(map(Parameter, free(body))), body)
    scope = draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True))
    formula: Node = And(Not(use(second, scope)), use(first, scope))
    for variable in scope[:1]:
        if variable in free(formula):
            formula = Quantifier(draw(st.sampled_from(["forall", "exists"])), ((variable,),), formula)
    return [first, second], formula


CASES = {
    "stable_product": (DefiningStableProduct, ltn.semantics.stable_product, 1e-5),
    "log_product": (DefiningLogProduct, ltn.semantics.log_product, 1e-4),
}


@pytest.mark.parametrize("semantics", CASES)
@fewer(3)
@given(world=worlds(fewest=1), data=st.data())
def test_a_definition_means_its_body(semantics: str, world: World, data: st.DataObject) -> None:
    kind, operators, tolerance = CASES[semantics]
    definitions, formula = data.draw(with_definitions(operators))
    theory = declared(world, semantics).theory
    for definition in definitions:
        theory.define(definition)
    loops: Any = kind(world)
    loops.definitions, loops.given = {definition.name: definition for definition in definitions}, {}
    expected = loops.over(free(formula), lambda rows: float(loops.truth(formula, rows)))
    for chunk in (None, 5):
        theory.chunk = chunk
        found = theory.query(formula, world.data)
        assert found.free_vars == free(formula)
        assert_close(found.tensor, expected, tolerance, tolerance)


def family(semantics: str = "product", **settings: Any) -> ltn.Theory:
    """Four people, each the parent of the next."""
    theory = ltn.Theory(semantics, **settings)
    people = theory.domain("people", values=["ann", "bob", "cem", "dan"])
    theory.variables("x, y, z, w", people)
    table = keras.layers.Embedding(4, 4)
    table.build()
    table.set_weights([np.eye(4, k=1, dtype=np.float32) * 30.0 - 15.0])
    network = keras.Sequential([keras.Input((1,)), table, keras.layers.Flatten()])
    theory.predicate("parent", (people, people), ltn.Predicate.FromLogits(network, "sigmoid"))
    theory.predicate("S", people, ltn.Predicate.MLP([1], (2,)))
    return theory


KNOWLEDGE = """
    great_first: forall x: S(x) -> exists y: great(x, y)
    define great(x, z): exists y: grandparent(x, y) & parent(y, z)
    define grandparent(u: people, z):
        exists y: parent(u, y) & parent(y, z)  # two steps
    near_ones: forall y, z where near(y, z): S(y) <-> S(z)
    define near(x, y): x != y
    define 'is a parent'(x): exists y: parent(x, y)
    parents: forall x where near(x, dan): 'is a parent'(x)
"""


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    made = family()
    made.axioms(KNOWLEDGE)
    return made


def test_the_variables_of_a_definition_never_capture_arguments(theory: ltn.Theory) -> None:
    """`y` is bound in the definitions, in the formula, and an argument."""
    steps = np.eye(4, k=1)
    two, three = steps @ steps, steps @ steps @ steps
    for text, expected in (
        ("grandparent(x, z)", two),
        ("grandparent(y, x)", two),
        ("grandparent(x, y)", two),
        ("grandparent(y, w)", two),
        ("great(y, z)", three),
        ("exists z: grandparent(y, z) & grandparent(z, x)", two @ two),
        ("grandparent(y, y)", np.diag(two)),
        ("exists y: great(ann, y)", np.max(three[0])),
        ("great(ann, dan)", 1.0),
    ):
        np.testing.assert_allclose(theory.query(text, p=500).tensor, expected, atol=0.01)


def test_files_and_copies_keep_definitions(theory: ltn.Theory, tmp_path: Path) -> None:
    truths = theory.report()["satisfaction"]
    theory.save(tmp_path / "family.keras")
    theory.write(tmp_path / "family.txt")
    again = family()
    assert len(again.axioms(tmp_path / "family.txt")) == 3
    again.set_weights(theory.get_weights())
    for twin in (ltn.load(tmp_path / "family.keras"), again, theory.copy()):
        assert list(twin.signature.definitions.items()) == list(theory.signature.definitions.items())
        np.testing.assert_allclose(twin.report()["satisfaction"], truths, rtol=1e-6)
        assert [str(axiom) for axiom in twin.axiom_list] == [str(axiom) for axiom in theory.axiom_list]


def test_they_are_shown_by_name(theory: ltn.Theory, capsys: pytest.CaptureFixture[str]) -> None:
    line = "define grandparent(u: people, z): exists y: parent(u, y) & parent(y, z)"
    theory.summary()
    assert f"  {line}\n" in capsys.readouterr().out
    assert "4 definitions" in repr(theory)
    assert html.escape(line) in theory._repr_html_()
    assert str(theory["great_first"]) == "forall x: S(x) -> exists y: great(x, y)"
    assert list(theory.explain("great_first").columns) == ["x", "truth"]
    assert theory.query("great(ann, x)").text == "great(ann, x)"


def test_a_definition_for_all_is_not_at_the_front(theory: ltn.Theory) -> None:
    """`explain` takes off what the formula quantifies, not what its definitions do."""
    twin = theory.copy()
    twin.define("loved(x): forall y: parent(y, x)")
    assert list(twin.explain("forall x: loved(x)").columns) == ["x", "truth"]


@pytest.mark.parametrize("semantics", ["product", "log_product"])
def test_trees_show_the_name_or_what_it_stands_for(semantics: str) -> None:
    theory = family(semantics)
    theory.axioms(KNOWLEDGE)

    def words(**settings: Any) -> list[str]:
        figure = ltn.plot.tree(theory, "forall x: ~grandparent(x, ann)", **settings)
        return [text.get_text() for text in figure.axes[0].texts]

    named, unfolded = words(), words(unfold=True)
    assert any("grandparent" in word and "of" not in word for word in named)
    assert "parent" not in named
    assert unfolded.count("parent") == 2
    assert named[:2] == unfolded[:2]
    truth = float(theory.query("forall x: ~grandparent(x, ann)"))
    assert float(named[1]) == pytest.approx(truth, abs=1e-3)


def test_pictures_take_them_by_name(theory: ltn.Theory) -> None:
    figure = ltn.plot.relation(theory, "grandparent")
    assert {"ann", "bob", "cem", "dan"} <= {text.get_text() for text in figure.axes[0].texts}


def test_consequence_and_training_see_through_them() -> None:
    theory = ltn.Theory("stable_product")
    points = theory.domain("points", shape=1)
    theory.constants("a, b", points, values=[[0.0], [1.0]])
    theory.variable("x", points)
    theory.predicate("P", points, ltn.Predicate.MLP([1], (4,)))
    theory.axioms("""
        define all_of(x): P(x)
        a: all_of(a)
        b: ~all_of(b)
    """)
    theory.compile(keras.optimizers.Adam(0.1))
    history = theory.fit(epochs=60, verbose=0).history
    assert history["satisfaction"][-1] > 0.9
    assert not theory.entails("all_of(b)", restarts=1)


def test_data_reach_the_variables_of_a_definition() -> None:
    """What a definition binds ranges over the data of the variable that it names, and needs them."""
    theory = ltn.Theory("product")
    points = theory.domain("points", shape=1)
    theory.variables("x, y", points)
    theory.predicate("P", (points, points), lambda pair: (pair[0][:, 0] + pair[1][:, 0]) / 10)
    theory.axioms("define most(x): forall[p=1] y: P(x, y)\nall: forall[p=1] x: most(x)")
    data = {"x": [[1.0], [2.0]], "y": [[3.0], [4.0], [5.0]]}
    np.testing.assert_allclose(theory.query("most(x)", data).tensor, [0.5, 0.6], rtol=1e-6)
    np.testing.assert_allclose(theory.query("most(y)", data).tensor, [0.7, 0.8, 0.9], rtol=1e-6)
    np.testing.assert_allclose(theory.report(data)["satisfaction"], [0.55], rtol=1e-6)
    assert theory.knowledge.open_variables() == ["x", "y"]
    with pytest.raises(
        ltn.LogicValueError, match=r"The variable 'y' has no individuals: give data .*'y': array"
    ):
        theory.query("most(x)", x=data["x"])
    theory.set_hyperparameters(p_forall=2)
    with pytest.raises(ltn.LogicValueError, match="has no quantifier whose `p_forall` could change"):
        theory.set_hyperparameters("all", p_forall=3)


def quantifiers(theory: ltn.Theory, text: str) -> int:
    plan = theory.evaluation(theory.space, {}).plan([parse(text)])
    return sum(isinstance(step, Quantify) for step in plan.steps)


def test_equal_uses_are_computed_once(theory: ltn.Theory) -> None:
    assert quantifiers(theory, "forall x, z: grandparent(x, z)") == 2
    both = "forall x, z: grandparent(x, z) & (S(x) -> grandparent(x, z))"
    assert quantifiers(theory, both) == quantifiers(theory, "forall x, z: grandparent(x, z)")
    plan = theory.plan("forall x: S(x) -> exists y: great(x, y)")
    assert plan.rows == {"S": 4, "parent": 4}


def test_a_long_chain_grows_with_its_square() -> None:
    """Written out as text, sixteen levels would have 2^16 uses of `parent`."""
    theory = family()
    theory.define("d1(x, z): exists y: parent(x, y) & parent(y, z)")
    for level in range(2, 17):
        theory.define(f"d{level}(x, z): exists y: d{level - 1}(x, y) & d{level - 1}(y, z)")
    counts = [quantifiers(theory, f"d{level}(ann, dan)") for level in (4, 8, 16)]
    assert counts == [n * n - n + 1 for n in (4, 8, 16)]
    assert float(theory.query("d3(ann, bob)")) < 1e-3


def test_what_grows_all_the_same_is_refused() -> None:
    theory = ltn.Theory("product")
    domain = theory.domain("numbers")
    theory.variable("x", domain)
    theory.predicate("P", domain, lambda x: x[:, 0])
    theory.function("f", domain, domain, lambda x: x)
    theory.function("g", domain, domain, lambda x: x)
    theory.define("d0(x): P(x)")
    for level in range(1, 30):
        theory.define(f"d{level}(x): d{level - 1}(f(x)) & d{level - 1}(g(x))")
    with pytest.raises(
        ltn.LogicValueError, match=r"has more than 200,000 parts: 'd\d+' is used on [\d,]+ different"
    ):
        theory.query("d29(x)", x=[0.5])
    np.testing.assert_allclose(theory.query("d3(x)", x=[0.5]).tensor, [0.5**8])


def test_a_chain_of_hundreds_needs_no_recursion() -> None:
    theory = family()
    theory.define("d0(x): S(x)")
    for level in range(1, 400):
        theory.define(f"d{level}(x): ~d{level - 1}(x)")
    np.testing.assert_allclose(theory.query("d399(x)").tensor, 1 - theory.query("S(x)").tensor, rtol=1e-5)


DEFINED = """
    define alike(x, y): P(x) <-> P(y)
    define has_friends(x): exists y where norm(x - y) < 0.9: alike(x, y)
    all: forall y: has_friends(y) | P(y)
    close: forall x where near(x): ~has_friends(x)
    define near(x): norm(x) < 0.7
"""
BY_HAND = """
    all: forall y: (exists z where norm(y - z) < 0.9: P(y) <-> P(z)) | P(y)
    close: forall x where norm(x) < 0.7: ~exists z where norm(x - z) < 0.9: P(x) <-> P(z)
"""


@pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
@pytest.mark.parametrize("how", [{"run_eagerly": True}, {"jit_compile": False}, {"jit_compile": True}])
def test_training_is_that_of_the_formulas_by_hand(semantics: str, how: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.uniform(-1, 1, (6, 2)).astype(np.float32) for name in "xy"}
    data["z"] = data["y"]
    histories = []
    for text in (DEFINED, BY_HAND):
        keras.utils.set_random_seed(0)
        theory = ltn.Theory(semantics)
        points = theory.domain("points", shape=2)
        theory.variables("x, y, z", points)
        theory.predicate("P", points, ltn.Predicate.MLP([2], (4,)))
        theory.axioms(text)
        theory.compile(keras.optimizers.SGD(0.5), **how)
        histories.append(theory.fit(data, batch_size=6, shuffle=False, epochs=3, verbose=0).history)
    for name in histories[0]:
        np.testing.assert_allclose(histories[0][name], histories[1][name], rtol=1e-5)


def test_names_of_copies_are_free() -> None:
    theory = family()
    theory.variable("y of grandparent", theory.signature.domains["people"])
    theory.define("grandparent(x, z): exists y: parent(x, y) & parent(y, z)")
    found = theory.query("grandparent('y of grandparent', x)", p=500)
    np.testing.assert_allclose(found.tensor, np.eye(4, k=2), atol=0.01)


WRONG = [
    (
        "define f(x): g(x)\ndefine g(x): h(x)\ndefine h(x): f(x)",
        "'f' is defined by itself: f, g, h, f",
        "line 1",
    ),
    (
        "S(ann)\ndefine f(x): S(x) & f(x)",
        "'f' is defined by itself; a definition cannot be recursive",
        "line 2",
    ),
    ("define f(x, x): S(x)", "'f' has the variable 'x' twice", "            ^"),
    ("define f(q): S(q)", "There is no variable 'q': declare it, or tell its domain", "         ^"),
    ("define f(q: peopel): S(q)", "There is no domain 'peopel'; did you mean 'people'", "            ^^^^^^"),
    ("define f(ann): S(ann)", "A definition has variables in its head; 'ann' is a constant", "         ^^^"),
    ("define f(x): S(y)", "The variable 'y' is free in the definition of 'f'", "               ^"),
    ("define f(x, y): S(x)", "The variable 'y' does not occur in the body", "            ^"),
    ("define f(x): forall x: S(x)", "The variable 'x' is already bound around here", "                    ^"),
    ("define f(x): x", "A definition names a formula; 'x' is a term", "             ^"),
    ("define S(x): S(x)", "'S' cannot be defined: it is already a predicate", "       ^"),
    ("define f(x): S(x)\ndefine f(y): S(y)", "'f' cannot be defined: it is already a definition", "line 2"),
    ("n: define f(x): S(x)", "A definition has no other name: leave out 'n:'", "^"),
    ("define f(x):\n    forall[q=2] y: parent(x, y)", "has no hyper-parameter `q`", "line 2"),
    ("great(ann)", r"'great' takes 2 arguments, great\(people, people\); got 1", "^^^^^^^^^^"),
    ("great(ann, 7)", "7 is not an individual of 'people'", "           ^"),
    (
        "great(ann, S(bob))",
        r"Argument 2 of 'great' must be a term; `S\(bob\)` is a formula",
        "           ^^^^^^",
    ),
    ("great", r"'great' is a definition: write it with its arguments, great\(people, people\)", "^^^^^"),
    ("forall great: S(great)", "A quantifier binds variables; 'great' is a definition", "       ^^^^^"),
    ("greet(ann, bob)", "There is no predicate or function 'greet'; did you mean 'great'", "^^^^^"),
    (
        "forall x where grandparent(x, dan): S(x)",
        "A guard has no quantifiers, and 'grandparent' stands",
        "   ^",
    ),
    ("great(ann, bob) > 0.5", "compares terms, or the truth of a predicate with a number", "^^^^^^^^^^^^^^^"),
]


@pytest.mark.parametrize(("text", "message", "place"), WRONG)
def test_wrong_ones_are_shown_at_their_place(theory: ltn.Theory, text: str, message: str, place: str) -> None:
    before = dict(theory.signature.definitions), len(theory.axiom_list)
    with pytest.raises(ltn.LogicError, match=message) as caught:
        theory.axioms(text)
    assert place in str(caught.value)
    assert (dict(theory.signature.definitions), len(theory.axiom_list)) == before


def test_arguments_are_of_the_domain() -> None:
    theory = family()
    towns = theory.domain("towns", values=["Rome"])
    prices = theory.domain("prices", equality="smooth")
    theory.variables("t", towns)
    theory.variables("price, other", prices)
    theory.define("loves(x): S(x)")
    theory.define("cheap(price): exists other: price = other")
    with pytest.raises(
        ltn.LogicTypeError, match=r"Argument 1 of 'loves' must be of the domain 'people'; 'Rome' is"
    ):
        theory.query("loves(Rome)")
    with pytest.raises(ltn.LogicTypeError, match=r"whose equality is smooth; `price \+ 1` has no domain"):
        theory.query("cheap(price + 1)", price=[1.0], other=[1.0])


def test_a_variable_of_a_product_is_one_argument() -> None:
    theory = family()
    people = theory.signature.domains["people"]
    theory.variable("pair", people * people)
    theory.define("related(pair): parent(pair)")
    found = theory.query("related(pair)", pair=[[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(found.tensor, [1.0, 0.0], atol=1e-3)
    with pytest.raises(
        ltn.LogicTypeError, match=r"'related' takes 1 argument, related\(people \* people\); got 2"
    ):
        theory.query("related(x, y)")
