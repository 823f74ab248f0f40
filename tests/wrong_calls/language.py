# ruff: noqa: E501
"""The written language: domains, signatures, texts, trees: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"constants": {}})',
        LogicValueError,
        "The constants of the domain 'colours' must be its individuals",
    ),
    (
        'lang.Domain.from_config(digits.get_config() | {"names": ["0"]})',
        LogicValueError,
        "The domain 'digits' needs a name for each individual; got 1 for 3.",
    ),
    (
        "lang.Signature.from_config({})",
        LogicValueError,
        "`signature` has no 'domains'.",
    ),
    (
        "lang.Signature.from_config(3)",
        LogicValueError,
        "`signature` must be a dictionary; got 3.",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"domains": []})',
        LogicValueError,
        "There is no domain 'colours'; none is declared.",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"constants": {"a": "nope"}})',
        LogicValueError,
        "There is no domain 'nope'; there are: people, digits,",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"variables": {"x": []}})',
        LogicValueError,
        "A product of domains needs the names of its parts",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"functions": {"a": 3}})',
        LogicValueError,
        "`signature.functions.a` must be a dictionary; got 3.",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"propositions": ["A", "A"]})',
        LogicValueError,
        "'A' cannot name a proposition: it is already a proposition",
    ),
    (
        "lang.Domain.from_config({})",
        LogicValueError,
        "`domain` has no 'name'.",
    ),
    (
        "lang.Domain.from_config(3)",
        LogicValueError,
        "`domain` must be a dictionary; got 3.",
    ),
    (
        'lang.Domain.from_config(digits.get_config() | {"names": 3})',
        LogicValueError,
        "`domain.names` must be null or a list; got 3.",
    ),
    (
        'lang.Domain("d", alpha=10**400)',
        LogicValueError,
        "The `alpha` of the domain 'd' must be a number above 0",
    ),
    (
        'lang.Domain("d", alpha=1e39)',
        LogicValueError,
        "The `alpha` of the domain 'd' must be a number above 0",
    ),
    (
        'lang.Domain("d", equality=np.array(["strict", "smooth"]))',
        LogicValueError,
        "The `equality` of the domain 'd' must be 'strict' or 'smooth'",
    ),
    ("theory.signature.free_variables(3)", LogicTypeError, "Expected a part of a formula"),
    ("theory.signature.sort_of(3)", LogicTypeError, "Expected a part of a formula"),
    ('lang.negation_normal_form("A")', LogicTypeError, "Expected a part of a formula"),
    ("lang.Number(None)", LogicValueError, "A number in a formula is finite and at least 0"),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), count=1)',
        LogicValueError,
        "'forall' has no count; got 1.",
    ),
    (
        'lang.Quantifier("exactly", (("x",),), lang.Name("A"))',
        LogicTypeError,
        "'exactly' has a count, a whole number; got None.",
    ),
    (
        'lang.Quantifier("at most", (("x",),), lang.Name("A"), count=-1)',
        LogicValueError,
        "A count is a whole number from 0 to 1000000; got -1.",
    ),
    (
        'lang.parse("exactly 1.5 x: P(x)")',
        LogicValueError,
        "A count is a whole number from 0 to 1000000; got 1.5.",
    ),
    (
        'lang.parse("forall[p=2, sample=0] x: P(x)")',
        LogicValueError,
        "`sample` is how many tuples are drawn in a training step, a whole number from 1 to 134,217,728; got 0. "
        "Leave it out to take all of them.\n    forall[p=2, sample=0] x: P(x)\n                ^",
    ),
    ('theory.axiom("forall[sample=2.5] x: P(x)")', LogicValueError, "`sample` is how many tuples are drawn"),
    ('theory.axiom("exists[sample=-3] x: P(x)")', LogicValueError, "134,217,728; got -3."),
    (
        'theory.axiom("exactly 1[sample=3] x: P(x)")',
        LogicValueError,
        "`exactly` counts all that there are: leave out `sample`.",
    ),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), options=(("sample", 0.5),))',
        LogicValueError,
        "got 0.5. Leave it out to take all of them.",
    ),
    (
        'theory.axiom("at least 2[p=3] x: P(x)")',
        LogicTypeError,
        "Count_Prod has no hyper-parameter `p`",
    ),
    (
        'lang.Quantifier("forall", 3, lang.Name("A"))',
        LogicTypeError,
        "The `groups` of a quantifier are a tuple of tuples",
    ),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), options=3)',
        LogicTypeError,
        "The `options` of a quantifier are a tuple of tuples",
    ),
    (
        'lang.parse_many("a: A &\\nb: A")',
        LogicValueError,
        "Expected a formula or a term, found the end of the formula. If",
    ),
    (
        'lang.parse("forall[p=2, p=3] x: P(x)")',
        LogicValueError,
        "The option 'p' is given twice; keep one of them",
    ),
    (
        'lang.parse("x < 1" + 400 * "0")',
        LogicValueError,
        "The number 10000000000000000000... is too large; the largest is",
    ),
    (
        'S = lang.Signature(); S.add_domain(lang.Domain("people", shape=2)); S.add_constant("a", people)',
        LogicValueError,
        "The domain 'people' of the constant 'a' is another object than",
    ),
    ("lang.Domain(3)", LogicTypeError, "The name of a domain must be a non-empty string"),
    ('lang.Domain("")', LogicTypeError, "The name of a domain must be a non-empty string"),
    (
        'lang.Domain("d", shape="a")',
        LogicTypeError,
        "The `shape` of the domain 'd' must be an int, or a tuple of",
    ),
    (
        'lang.Domain("d", shape=2.5)',
        LogicTypeError,
        "The `shape` of the domain 'd' must be an int, or a tuple of",
    ),
    (
        'lang.Domain("d", shape=-1)',
        LogicValueError,
        "The sizes in the `shape` of the domain 'd' must be at least 1",
    ),
    (
        'lang.Domain("d", shape=0)',
        LogicValueError,
        "The sizes in the `shape` of the domain 'd' must be at least 1",
    ),
    (
        'lang.Domain("d", shape=10**12)',
        LogicValueError,
        "The `shape` of the domain 'd' has more than 268435456 features",
    ),
    (
        'lang.Domain("d", values=3)',
        LogicTypeError,
        "The `values` of the domain 'd' are a range or list of numbers",
    ),
    ('lang.Domain("d", values=[])', LogicValueError, "The domain 'd' needs at least one individual"),
    (
        'lang.Domain("d", values="abc")',
        LogicTypeError,
        "The `values` of the domain 'd' are a range or list of numbers",
    ),
    ('lang.Domain("d", values=["a", 3])', LogicTypeError, "The names of individuals of 'd' must be strings"),
    (
        'lang.Domain("d", values=["a","a"])',
        LogicValueError,
        "The individuals of 'd' must be distinct; repeated: a",
    ),
    (
        'lang.Domain("d", values=[1,1])',
        LogicValueError,
        "The individuals of 'd' must be distinct; repeated: 1",
    ),
    (
        'lang.Domain("d", values=[[1.],[1.,2.]])',
        LogicValueError,
        "The individuals of 'd' must have one shape",
    ),
    (
        'lang.Domain("d", values=[float("nan")])',
        LogicValueError,
        "The features of the domain 'd' must be finite float32",
    ),
    ('lang.Domain("d", values=[1j])', LogicTypeError, "The features of the domain 'd' must be numbers"),
    (
        'lang.Domain("d", values={"a": [1.], "b": [1.,2.]})',
        LogicValueError,
        "The individuals of 'd' must have one shape",
    ),
    ('lang.Domain("d", values={"a": "b"})', LogicTypeError, "The features of the domain 'd' must be numbers"),
    ('lang.Domain("d", values={1: [1.]})', LogicTypeError, "The names of individuals of 'd' must be strings"),
    (
        'lang.Domain("d", values=np.array(3.0))',
        LogicTypeError,
        "The `values` of the domain 'd' are a range or list of numbers",
    ),
    (
        'lang.Domain("d", values=np.ones((2,2)), shape=3)',
        LogicValueError,
        "The domain 'd' has the `shape` (3,), but its `values` have the",
    ),
    ('lang.Domain("d", values=[[]])', LogicValueError, "The individuals of 'd' need features"),
    (
        'lang.Domain("d", bounds=3)',
        LogicValueError,
        "The `bounds` of the domain 'd' are two numbers, (low, high), or",
    ),
    (
        'lang.Domain("d", bounds=(1,0))',
        LogicValueError,
        "The `bounds` of the domain 'd' are two numbers, (low, high), or",
    ),
    (
        'lang.Domain("d", shape=(2,2), bounds="simplex")',
        LogicValueError,
        "A simplex has one axis of features; the domain 'd' has the",
    ),
    (
        'lang.Domain("d", values=[3.], bounds=(0,1))',
        LogicValueError,
        "Individuals of 'd' lie outside its bounds (0.0, 1.0): 3",
    ),
    (
        'lang.Domain("d", equality=3)',
        LogicValueError,
        "The `equality` of the domain 'd' must be 'strict' or 'smooth'",
    ),
    ("people * 3", LogicTypeError, "The product is of domains"),
    ("people * None", LogicTypeError, "The product is of domains"),
    (
        'lang.Domain("a", shape=(None,)) * people',
        LogicValueError,
        "A product needs domains of known shapes; 'a' has the shape",
    ),
    ("people.contains(3)", LogicValueError, "Individuals of 'people' have the features (2,), n of them an"),
    ('people.contains("a")', LogicTypeError, "Individuals of 'people' are numbers of one shape"),
    ('people.contains([["a","b"]])', LogicTypeError, "Individuals of 'people' are numbers of one shape"),
    (
        "people.contains([[1.,2.,3.]])",
        LogicValueError,
        "Individuals of 'people' have the features (2,), n of them an",
    ),
    (
        'lang.Domain.from_config({"parts": ["a"]})',
        LogicValueError,
        "A product is made of the domains ['a'] themselves: restore it",
    ),
    ("S = lang.Signature(); S.add_domain(3)", LogicTypeError, "Expected a Domain"),
    (
        "S = lang.Signature(); S.add_domain(people*people)",
        LogicValueError,
        "The product 'people * people' needs no declaration: its parts",
    ),
    (
        "S = lang.Signature(); S.add_domain(people); S.add_domain(people)",
        LogicValueError,
        "There is already a domain 'people'; choose another name",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_constant("a", 3)',
        LogicTypeError,
        "The domain of the constant 'a' must be a Domain object",
    ),
    (
        'S = lang.Signature(); S.add_constant("a", people)',
        LogicValueError,
        "The domain 'people' of the constant 'a' is not declared",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_constant("\\n", people)',
        LogicValueError,
        "cannot name a constant: a name has at least one character",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_variable("people", people)',
        LogicValueError,
        "'people' cannot name a variable: it is already a domain, and",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_predicate("p", [])',
        LogicValueError,
        "There is no input of the predicate 'p'; without inputs, declare",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_predicate("p", 3)',
        LogicTypeError,
        "The inputs of the predicate 'p' must be a Domain or a sequence",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_predicate("p", "people")',
        LogicTypeError,
        "The inputs of the predicate 'p' must be a Domain or a sequence",
    ),
    (
        'S = lang.Signature(); S.add_domain(people); S.add_predicate("p", [3])',
        LogicTypeError,
        "The domain of an input of the predicate 'p' must be a Domain",
    ),
    ('theory.signature.written("nope")', LogicValueError, "There is no predicate or function 'nope'"),
    ('theory.signature.written("A")', LogicValueError, "There is no predicate or function 'A'"),
    ("theory.define(3)", LogicTypeError, "A definition is text, as `old(x): age(x) > 66`; got 3"),
    ('theory.define(lang.parse("P(x)"))', LogicTypeError, "A definition is text, as `old(x): age(x) > 66`"),
    ('theory.define("P(x): A")', LogicValueError, "'P' cannot be defined: it is already a predicate"),
    (
        'theory.define("loud(z): P(z)")',
        LogicValueError,
        "There is no variable 'z': declare it, or tell its domain",
    ),
    ('theory.define("loud(x): forall[q=2] y: R(x, y)")', LogicTypeError, "has no hyper-parameter `q`"),
    (
        'theory.define("loud(x): loud(x)")',
        LogicValueError,
        "'loud' is defined by itself; a definition cannot be",
    ),
    (
        'lang.Definition("loud", [], lang.Name("A"))',
        LogicTypeError,
        "The `parameters` of a definition are a tuple of them; got []",
    ),
    (
        'lang.Definition("loud", (), lang.Name("A"))',
        LogicValueError,
        "The definition 'loud' has no variables",
    ),
    (
        'lang.Diagonals(lang.Name("A"), [])',
        LogicTypeError,
        "The `groups` of diagonals are a tuple of tuples; got []",
    ),
    (
        'lang.Diagonals(lang.Name("A"), (("x",),))',
        LogicValueError,
        "A diagonal pairs at least two variables; got the groups (('x',),)",
    ),
    (
        'theory.entails("P(x) & P(y) for diag(x, y)")',
        LogicValueError,
        "diagonals are for queries, plans and explanations; leave out `for ...`.",
    ),
    (
        'lang.Not(lang.parse("A for diag(x, y)"))',
        LogicTypeError,
        "`A for diag(x, y)` is no formula or term, and stands in none.",
    ),
    (
        'theory.axiom("define loud(x): P(x)")',
        LogicValueError,
        "A definition is no formula: give it to theory.define, or to theory.axioms as a text.",
    ),
    (
        'theory.query("R(x, y) for diag(x, y)", x=points, y=points[:2])',
        LogicValueError,
        "The variables of diag(x, y) must have the same number of individuals; got 3, 2",
    ),
    (
        'lang.Signature.from_config(theory.signature.get_config() | {"definitions": ["P(x)"]})',
        LogicValueError,
        "Among the definitions stands the formula `P(x)`.",
    ),
    ("theory.signature.names_of(3)", LogicTypeError, "Names are one string, as 'a, b', or a list"),
    (
        'theory.signature.names_of("x, a-b")',
        LogicValueError,
        "'a-b' in 'x, a-b' needs quotes, 'a-b': without them a name begins with a letter",
    ),
    (
        "lang.parse(r\"'a\\q'\")",
        LogicValueError,
        "In quotes a backslash stands before a quote or a backslash; for a backslash write two.",
    ),
    (
        "lang.parse_many(r\"'a\\q': A\")",
        LogicValueError,
        "In quotes a backslash stands before a quote or a backslash; for a backslash write two.",
    ),
    (
        'theory.signature.names_of("")',
        LogicValueError,
        "There is no name in ''; write names with commas between them",
    ),
    ("lang.parse(3)", LogicTypeError, "A formula is read from a string"),
    ("lang.parse(None)", LogicTypeError, "A formula is read from a string"),
    (
        'lang.parse_many("a: a: A")',
        LogicValueError,
        "Expected an operator or the end of the formula, found ':'. A",
    ),
    (
        'lang.negation_normal_form(lang.parse("x + y"))',
        LogicTypeError,
        "Only formulas have a negation normal form; `x + y` is a term",
    ),
    ("lang.Number(-1)", LogicValueError, "A number in a formula is finite and at least 0"),
    ('lang.Apply("f", ())', LogicValueError, "'f' is applied to nothing; without arguments use a Name"),
    ('lang.Apply("f", 3)', LogicTypeError, "Apply is built of a tuple of nodes"),
    ('lang.Apply("f", (3,))', LogicTypeError, "Apply is built of nodes"),
    ("lang.Not(3)", LogicTypeError, "Not is built of nodes"),
    (
        'lang.Comparison("~", lang.Name("x"), lang.Name("y"))',
        LogicValueError,
        "Comparison has one of the operators = != < <= > >=",
    ),
    (
        'lang.Arithmetic(3, lang.Name("x"), lang.Name("y"))',
        LogicValueError,
        "Arithmetic has one of the operators + - * /",
    ),
    (
        'lang.Quantifier("all", (("x",),), lang.Name("A"))',
        LogicValueError,
        "A quantifier is 'forall', 'exists', 'exactly', 'at least' or 'at most'",
    ),
    (
        'lang.Quantifier(["forall"], (("x",),), lang.Name("A"))',
        LogicValueError,
        "A quantifier is 'forall', 'exists', 'exactly', 'at least' or 'at most'",
    ),
    (
        'lang.Quantifier("forall", (), lang.Name("A"))',
        LogicValueError,
        "A quantifier binds at least one variable",
    ),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), options=(("p", "a"),))',
        LogicValueError,
        "The option 'p' must be a finite number",
    ),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), options=(("p", float("inf")),))',
        LogicValueError,
        "The option 'p' must be a finite number",
    ),
    (
        'lang.Quantifier("forall", (("x",),), lang.Name("A"), options=(("p", 2.),("p", 3.)))',
        LogicValueError,
        "The options of a quantifier are distinct",
    ),
    (
        'lang.parse_many("  A\\nB")',
        LogicValueError,
        "An indented line continues the formula above it, and there is none",
    ),
    ('lang.parse_many("a:\\nb: A")', LogicValueError, "The label 'a' stands alone"),
]
