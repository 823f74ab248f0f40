# ruff: noqa: E501
"""Pictures: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'plot.tree(theory, "P(x)", points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'plot.tree(theory, "A", 0)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('plot.surface(3, "right(q)")', LogicTypeError, "A picture is of an ltn.Theory"),
    ("plot.surface(theory, 3)", LogicTypeError, "A query is text, or a syntax tree"),
    (
        'plot.surface(theory, "right(q)", resolution=1)',
        LogicValueError,
        "`resolution` must be a whole number, at least 2",
    ),
    (
        'plot.surface(theory, "right(q)", resolution=5, data=points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'plot.surface(theory, "right(q)", resolution=5, data=3)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('plot.relation(3, "R(x, y)")', LogicTypeError, "A picture is of an ltn.Theory"),
    (
        'plot.relation(theory, "R(x, y)", data=points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('plot.embeddings(3, "people")', LogicTypeError, "A picture is of an ltn.Theory"),
    (
        'plot.embeddings(theory, "people", colour="P", data=0)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'plot.embeddings(theory, "people", colour="P", data=points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('plot.histogram(3, "P(x)")', LogicTypeError, "A picture is of an ltn.Theory"),
    (
        'plot.histogram(theory, "all", points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n", values=range(61)); own.variables("i, j", n); own.predicate("S", (n, n), lambda pair: pair[0] < pair[1]); plot.relation(own, "S")',
        LogicValueError,
        "The domain 'n' has 61 individuals, and a graph of more than 60",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n"); own.constant("k", n); own.individuals[0].table.assign([[math.nan]]); plot.embeddings(own, "n")',
        LogicValueError,
        "Individuals of 'n' have features that are not finite: k. Train",
    ),
    (
        "plot.compare(theory.report(x=points).iloc[:1], theory.report(x=points).iloc[1:])",
        LogicValueError,
        "The reports have no axiom in common: before there were all",
    ),
    (
        "plot.compare(pd.concat([theory.report(x=points)] * 2), theory.report(x=points))",
        LogicValueError,
        "The report before has the axiom 'all' twice: compare two",
    ),
    (
        'plot.embeddings(theory, "people", colour="short")',
        LogicValueError,
        "Points of the domain 'people' are coloured by a formula over",
    ),
    (
        'plot.relation(theory, "R(x, y)", nodes="short")',
        LogicValueError,
        "Individuals of 'people' are coloured by a formula over that",
    ),
    (
        'plot.relation(theory, "R(x, y)", nodes="less")',
        LogicValueError,
        "Individuals are coloured by a formula with one free variable",
    ),
    (
        'plot.relation(theory, "short(u) & P(x)")',
        LogicValueError,
        "A graph shows a formula with two free variables over one",
    ),
    (
        'plot.heat_map(ltn.Formula(np.zeros((0,)), ["x"]))',
        LogicValueError,
        "There is nothing to draw: the formula has no individuals for x",
    ),
    (
        'plot.histogram(theory, "forall x where x = x + 1: P(x)", x=points)',
        LogicValueError,
        "There is nothing to draw: the guards of `forall x where x = x +",
    ),
    (
        'plot.histogram(theory, "forall d where d > 7: less(d, d)")',
        LogicValueError,
        "There is nothing to draw: the guards of `forall d where d > 7",
    ),
    (
        'plot.relation(theory, "alone")',
        LogicValueError,
        "The predicate 'alone' is applied to variables of the domain",
    ),
    (
        'plot.embeddings(theory, "lone", colour="alone")',
        LogicValueError,
        "The predicate 'alone' is applied to variables of the domain",
    ),
    ('plot.surface(theory, "q")', LogicTypeError, "A surface shows the truth of a formula; `q` is a term"),
    (
        'plot.surface(theory, "right(q)", variable="x")',
        LogicValueError,
        "The free variable of `right(q)` is 'q'",
    ),
    (
        'plot.surface(theory, "right(q)", points=[[1.0, 2.0, 3.0]])',
        LogicValueError,
        "Points have the shape (n, 2), or are a dictionary of such",
    ),
    (
        "plot.report(theory.report(x=points).iloc[:0])",
        LogicValueError,
        "A report has no rows: there is no axiom to draw",
    ),
    (
        'plot.tree(theory, " & ".join(["A"] * 200))',
        LogicValueError,
        "The formula has 399 parts, and a tree of more than 150 cannot",
    ),
    ('plot.tree(theory, "x + y")', LogicTypeError, "A tree shows the truth of a formula; `x + y` is a term"),
    (
        'plot.surface(theory, "A")',
        LogicValueError,
        "A surface shows a formula with one free variable; `A` has none",
    ),
    (
        'plot.surface(theory, "u > 0.5", resolution=5)',
        LogicValueError,
        "A surface is drawn over a rectangle of individuals with two",
    ),
    (
        'plot.surface(theory, "P(x)", resolution=5, bounds=3)',
        LogicValueError,
        "`bounds` are ((low, high), (low, high)) of the two features, or",
    ),
    (
        'plot.surface(theory, "P(x)", resolution=5, bounds=((0,1),("a","b")))',
        LogicValueError,
        "`bounds` are ((low, high), (low, high)) of the two features, or",
    ),
    (
        'plot.relation(theory, "R(x, y)", threshold="a")',
        LogicValueError,
        "`threshold` is the least truth of an arrow, a number from 0 to 1",
    ),
    ('plot.relation(theory, "R(x, y)", layout=3)', LogicValueError, "`layout` is one of 'springs', 'circle'"),
    (
        'plot.relation(theory, "R(x, y)", layout=["springs"])',
        LogicValueError,
        "`layout` is one of 'springs', 'circle'",
    ),
    (
        'plot.relation(theory, "P(x)")',
        LogicValueError,
        "A graph shows a formula with two free variables; `P(x)` has 1",
    ),
    (
        'plot.relation(theory, "x + y")',
        LogicTypeError,
        "A graph shows the truth of a formula; `x + y` is a term",
    ),
    ("plot.embeddings(theory, 3)", LogicTypeError, "`domain` is a domain of the theory, or its name"),
    (
        'plot.embeddings(theory, "nope")',
        LogicValueError,
        "The theory has no domain 'nope'; its domains are: people",
    ),
    (
        'plot.embeddings(theory, lang.Domain("foreign", shape=2))',
        LogicValueError,
        "The domain 'foreign' has no individuals of its own to draw",
    ),
    (
        'plot.embeddings(theory, "unit")',
        LogicValueError,
        "The domain 'unit' has no individuals of its own to draw",
    ),
    (
        'plot.embeddings(theory, "people", most="a")',
        LogicValueError,
        "`most` is how many names are drawn, a whole number of at least 1",
    ),
    (
        'plot.embeddings(theory, "people", most=-1)',
        LogicValueError,
        "`most` is how many names are drawn, a whole number of at least 1",
    ),
    ("plot.heat_map(3)", LogicTypeError, "A heat map shows truth: it takes the answer of theory.query to"),
    ("plot.heat_map(v)", LogicTypeError, "A heat map shows truth: it takes the answer of theory.query to"),
    ("plot.heat_map(a)", LogicValueError, "A heat map shows a formula over one or two free variables; this"),
    ("plot.heat_map(phi, title=3)", LogicTypeError, "`title` is a text"),
    (
        'plot.histogram(theory, "x + y")',
        LogicTypeError,
        "A histogram shows the truth of a formula; `x + y` is a term",
    ),
    (
        'plot.histogram(theory, "P(x)", 0)',
        LogicValueError,
        "A histogram shows an axiom, which has no free variables; `P(x)`",
    ),
    (
        'plot.histogram(theory, "P(x)", points)',
        LogicValueError,
        "A histogram shows an axiom, which has no free variables; `P(x)`",
    ),
    ("plot.report(3)", LogicTypeError, "A report is the table that theory.report(data) returns"),
    ("plot.report(None)", LogicTypeError, "A report is the table that theory.report(data) returns"),
    (
        "plot.report(pd.DataFrame())",
        LogicValueError,
        "A report has the columns axiom, formula, satisfaction; this",
    ),
    ("plot.violations(3)", LogicTypeError, "Violations are the table that theory.violations(data) returned"),
    (
        'plot.violations(theory.report({"x": points}))',
        LogicTypeError,
        "some of its rows do not tell how many there were; got a Report",
    ),
    (
        'plot.violations(theory.violations({"x": points}), most=0)',
        LogicValueError,
        "`most` is how many axioms are drawn",
    ),
    ("plot.training(3)", LogicTypeError, "`history` is what theory.fit returned, or its `.history`"),
    ("plot.training({})", LogicValueError, "The history of a theory holds its 'satisfaction' in each epoch"),
    ('plot.training({"satisfaction": 3})', LogicTypeError, "A history holds a number for each epoch"),
    ('plot.training({"satisfaction": "abc"})', LogicTypeError, "A history holds a number for each epoch"),
    ('plot.training({"satisfaction": [.5]}, axioms=3)', LogicTypeError, "`axioms` are names of axioms"),
    (
        'plot.training({"satisfaction": [.5]}, axioms=["nope"])',
        LogicValueError,
        "The history has no axiom 'nope'; they are: none",
    ),
    ("plot.search(3)", LogicTypeError, "A search is drawn from its verdict, which theory.entails(...)"),
    ("plot.search(None)", LogicTypeError, "A search is drawn from its verdict, which theory.entails(...)"),
    ("plot.penalty(3)", LogicTypeError, "`settings` are pairs (alpha, beta), as ((1.0, 1.0), (0.5, 2.0))"),
    ('plot.penalty("a")', LogicTypeError, "`settings` are pairs (alpha, beta), as ((1.0, 1.0), (0.5, 2.0))"),
    (
        "plot.penalty([(1,2,3)])",
        LogicTypeError,
        "`settings` are pairs (alpha, beta), as ((1.0, 1.0), (0.5, 2.0))",
    ),
    ("plot.penalty([])", LogicValueError, "`settings` are pairs (alpha, beta), as ((1.0, 1.0), (0.5, 2.0))"),
    ("plot.penalty([(-1,2)])", LogicValueError, "`alpha` and `beta` must be at least 0, and finite"),
]
